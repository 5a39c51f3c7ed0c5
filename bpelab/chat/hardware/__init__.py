"""Hardware detection: each probe runs in its own process, and its output is validated.

`processes` runs the probes; `host` and `libraries` are the ones written in Python. `nvidia`, `amd`, `apple` and
`vulkan` parse what system tools print; `backend_status` and `install` derive from it what each backend can do here.
Chapter: Chat on your hardware.
"""
