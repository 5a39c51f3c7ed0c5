"""`/template` in a chat: a new conversation with the same model, in another format.

Chapter: Chat on your hardware. Cost: rendering one message; the model stays loaded.
"""

from ...chat.session import ChatSession
from .options import check_template, template_source


def with_template(session: ChatSession, name: str) -> ChatSession:
    """Return a session with the same model, settings and system message, and another template.

    `name` is as for --template; an empty one means the model's own. Raises BPELabError for one that can't be used.
    """
    template = template_source(name or None)
    called = "this model" if session.files is None else session.files.name
    check_template(called, session.tokenizer, template)
    system = [message["content"] for message in session.messages if message["role"] == "system"]
    return ChatSession(
        session.files,
        tokenizer=session.tokenizer,
        backend=session.backend,
        template=template,
        system=system[0] if system and (template or not session.is_base) else None,
        max_new_tokens=session.max_new_tokens,
        top_tokens=session.top_tokens,
        sampling=session.sampling,
    )
