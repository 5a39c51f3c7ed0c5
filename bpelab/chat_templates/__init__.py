"""Chat templates: conversations rendered by a sandboxed Jinja in which every character knows where it came from.

Only what the template itself wrote may become a control token; what a user wrote never does. Begin with `apply.py`.
`tainted_string.py` has the idea; `sandbox.py` and `resource_limits.py` contain a hostile template. This package may
import `core` and jinja2. `bpelab.chat` has the public names.
"""
