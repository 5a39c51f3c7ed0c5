# Read in by CMake at project(llama.cpp), see test-backends in the Makefile. llama-cpp-python forces this option ON in
# CMake's cache, so no -D can turn it off, but a normal variable wins over the cache (policy CMP0077). What it
# leaves out, llama.cpp's argument parser, chat templates and HTTP client, is what its command line programs are made of;
# Python loads none of it, and it takes as long to compile as a good part of the rest.
set(LLAMA_BUILD_COMMON OFF)
