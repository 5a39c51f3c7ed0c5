"""Hardware detection: each probe runs in a process of its own, and its output is validated.

`processes` runs the probes; `host` and `libraries` are the programs of those that are written in Python. `nvidia`,
`amd`, `apple` and `vulkan` parse what system tools print; `backend_status` and `install` derive from it what each
backend can do here. Chapter: Chat on your hardware.
"""
