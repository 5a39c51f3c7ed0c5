"""A conversation in a JSON file, in the form used by chat services and training data sets.

The file has either a list of messages, or an object with such a list as "messages" and optionally "tools".
Chapter: Chat templates.
"""

from pathlib import Path
from typing import Any

from ..._support.json_document import JSONFile


def read_conversation(path: Path) -> tuple[list[Any], list[Any] | None]:
    """Read the messages in a file, and its tools if it has any. Other keys of an object are ignored.

    Raises TokenizerFileError for a file that can't be read, naming the entry. The messages are validated when a
    template is applied.
    """
    file = JSONFile(path, lists=True)
    if isinstance(file.data, list):
        return file.data, None
    if "messages" not in file.data:
        raise file.wrong("", 'holds neither a list of messages nor an object with "messages"')
    tools = file.data.get("tools")
    return file.expect(file.data["messages"], list, "messages"), tools and file.expect(tools, list, "tools")
