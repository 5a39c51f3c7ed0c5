"""Models to chat with: found by name, folder or repository, checked before loading. Begin with `find.py`."""
