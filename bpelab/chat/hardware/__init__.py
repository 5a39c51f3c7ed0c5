"""Hardware detection: which devices this machine has, and which backend can use them.

`host` and `pci` read the system's own files. `tools` and `libraries` are asked by `processes`, each in a process of its
own: a driver that crashes or hangs ends that process only. `backend_status` and `install` say what each backend can do
here, `machine` chooses one. Begin with `detect.py`. Chapter: Chat on your hardware.
"""
