"""What asks a machine about itself, one file a question: each in a process of its own, and each answer read with care.

`processes` runs the questions, `host` and `libraries` are what Python processes run, `nvidia`, `amd`, `apple` and
`vulkan` read what system tools print, `backends` and `install` say what that means for the backends. Chapter: Chat on
your hardware.
"""
