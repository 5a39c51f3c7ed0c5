"""`bpelab chat`: a conversation in a terminal, or answers for a file of messages. Begin with `command.py`."""
