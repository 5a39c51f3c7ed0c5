"""Control tokens: tokens that only a template may write, and no message.

A file marks most of them as special. It often leaves out the markers of thinking and of tools: `<think>` isn't special
in Qwen 3, so its tokenizer finds it in any text. That is why a template's encoder goes by three rules:

1. A special token is a control token.
2. So is one with a name in `UNFLAGGED`, of which it is known that models publish it without the flag.
3. So is one that looks like markup, with a bracket at each end, whoever published it. HTML's tags aren't: Gemma has
   tokens for them, and a message that quotes a web page consists of them.

Chapter: Chat templates.
"""

from ..vocab.added_tokens import AddedToken

UNFLAGGED = {
    "DeepSeek V3": """
        <｜fim▁hole｜> <｜fim▁begin｜> <｜fim▁end｜> <｜User｜> <｜Assistant｜> <｜tool▁calls▁begin｜>
        <｜tool▁calls▁end｜> <｜tool▁call▁begin｜> <｜tool▁call▁end｜> <｜tool▁outputs▁begin｜>
        <｜tool▁outputs▁end｜> <｜tool▁output▁begin｜> <｜tool▁output▁end｜> <｜tool▁sep｜>""",
    "DeepSeek V4": """
        <think> </think> <|EOT|> ｜DSML｜ <dsml: </dsml: <｜begin▁of▁repo▁name｜> <｜end▁of▁repo▁name｜>
        <｜begin▁of▁file▁name｜> <｜end▁of▁file▁name｜> <｜begin▁of▁file｜> <｜end▁of▁file｜>
        <｜place▁holder▁for▁copy｜> <｜place▁holder▁for▁pointer▁replace｜> <｜begin▁sys｜> <｜end▁sys｜>
        <｜latest_reminder｜> <｜action｜> <｜query｜> <｜authority｜> <｜domain｜> <｜task｜> <｜political｜>
        <｜entity｜> <｜title｜> <｜safety｜> <｜answer｜> <｜search｜> <｜search▁begin｜> <｜search▁end｜>
        <｜extracted_url｜> <｜read_url｜> <｜image2｜> <｜/table>｜ <｜table｜> <｜/td｜> <｜td｜> <｜/tr｜>
        <｜tr｜>""",
    "Gemma 4": '<|tool_call> <tool_call|> <|tool_response> <tool_response|> <|"|> <|channel> <channel|>',
    "Hy3": """
        <answer> </answer> <tool_calls> </tool_calls> <tool_responses> </tool_responses> <tool_sep> <arg_key>
        </arg_key> <arg_value> </arg_value> <｜reasoning_mode｜> /think /no_think""",
    "Kimi K2": """
        <|tool_calls_section_begin|> <|tool_calls_section_end|> <|tool_call_begin|> <|tool_call_argument_begin|>
        <|tool_call_end|>""",
    "Qwen 3": """
        <think> </think> <tool_call> </tool_call> <tool_response> </tool_response> <|fim_prefix|> <|fim_middle|>
        <|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|>""",
}
"""Models, and control tokens that they publish without the flag. Some have those of others too."""
_NAMES = frozenset(" ".join(UNFLAGGED.values()).split())
_BRACKETS = frozenset(("<>", "[]", "{}", "()", "||", "｜｜", "◁▷", "⟨⟩", "«»"))
HTML = """
    a b blockquote body caption code div em footer h1 h2 h3 h4 h5 h6 html i iframe li span strong sub sup table tbody td
    tfoot th thead tr u ul"""
"""Names of HTML's tags for which Gemma has tokens. Not `<s>`, which begins a text elsewhere, nor `<img>`."""
_TAGS = frozenset(f"<{slash}{name}>" for name in HTML.split() for slash in ("", "/"))


def is_control(token: AddedToken) -> bool:
    """Return whether a token is a control token, which no message may produce.

    >>> names = ("<think>", "/no_think", "[INST]", "<table>", "   ", "covid")
    >>> [is_control(AddedToken(name, 9, special=False)) for name in names]
    [True, True, True, False, False, False]
    """
    word = token.content.strip()
    looks_like_markup = len(word) > 2 and word[0] + word[-1] in _BRACKETS and word not in _TAGS
    return token.special or word in _NAMES or looks_like_markup
