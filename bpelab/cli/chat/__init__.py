"""`bpelab chat`: a conversation in a terminal, or answers for a file of messages. Start with `command.py`."""
