"""Built-in templates: the six formats that most chat models were trained on.

Each is written from scratch after the format that its makers publish, with that format's special tokens. A model's own
template does more (tools, dates, reasoning): these are for models that come without one.

Chapter: Chat templates.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import TemplateError
from .tainted_string import TaintedStr, concat

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer


@dataclass(frozen=True)
class NamedTemplate:
    """A chat format with a name.

    Attributes:
        source: its Jinja source.
        tokens: the special tokens that it writes. A tokenizer that lacks one would encode it as ordinary text.
        stop: the special tokens that end a model's answer.
        after: who published the format, and where.
    """

    source: str
    tokens: tuple[str, ...]
    stop: tuple[str, ...]
    after: str

    def missing_tokens(self, tokenizer: "Tokenizer") -> list[str]:
        """Return the special tokens that a tokenizer lacks."""
        return [name for name in self.tokens if tokenizer.token_to_id(name) is None]


LLAMA3 = """\
{{- '<|begin_of_text|>' }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' }}
    {{- message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

CHATML = """\
{%- for message in messages %}
    {{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

# Alpaca has one instruction and one response. Several turns are written one after the other, as its users do.
ALPACA = """\
{%- set ns = namespace(preamble='Below is an instruction that describes a task. Write a response that appropriately \
completes the request.') %}
{%- if messages[0]['role'] == 'system' %}
    {%- set ns.preamble = messages[0]['content'] %}
{%- endif %}
{{- ns.preamble + '\\n\\n' }}
{%- for message in messages %}
    {%- if message['role'] == 'user' %}
        {{- '### Instruction:\\n' + message['content'] + '\\n\\n' }}
    {%- elif message['role'] == 'assistant' %}
        {{- '### Response:\\n' + message['content'] + (eos_token or '') + '\\n\\n' }}
    {%- elif not loop.first or message['role'] != 'system' %}
        {{- raise_exception('alpaca has one system message, the first, then user and assistant') }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '### Response:\\n' }}
{%- endif %}
"""

MISTRAL = """\
{%- set ns = namespace(system='', turns=0) %}
{{- '<s>' }}
{%- for message in messages %}
    {%- if message['role'] == 'system' and loop.first %}
        {%- set ns.system = message['content'] + '\\n\\n' %}
    {%- else %}
        {%- if message['role'] != ('user' if ns.turns % 2 == 0 else 'assistant') %}
            {{- raise_exception('after an optional system message, user and assistant take turns') }}
        {%- endif %}
        {%- set ns.turns = ns.turns + 1 %}
        {%- if message['role'] == 'user' %}
            {{- '[INST] ' + (ns.system if loop.last else '') + message['content'] + '[/INST]' }}
        {%- else %}
            {{- ' ' + message['content'] | trim + '</s>' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
"""

GEMMA = """\
{{- '<bos>' }}
{%- for message in messages %}
    {%- if message['role'] == 'system' %}
        {{- raise_exception('gemma has no system role: put it into the first user message') }}
    {%- endif %}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('user and assistant take turns') }}
    {%- endif %}
    {{- '<start_of_turn>' + ('model' if message['role'] == 'assistant' else message['role']) + '\\n' }}
    {{- message['content'] | trim + '<end_of_turn>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<start_of_turn>model\\n' }}
{%- endif %}
"""

PHI = """\
{%- for message in messages %}
    {%- if message['role'] not in ('system', 'user', 'assistant') %}
        {{- raise_exception('phi knows the roles system, user and assistant') }}
    {%- endif %}
    {{- '<|' + message['role'] + '|>\\n' + message['content'] + '<|end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|assistant|>\\n' }}
{%- endif %}
"""

_HEADER = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
NAMED = {
    "llama3": NamedTemplate(LLAMA3, _HEADER, ("<|eot_id|>",), "Meta, the model card of Llama 3 Instruct"),
    "chatml": NamedTemplate(CHATML, ("<|im_start|>", "<|im_end|>"), ("<|im_end|>",), "OpenAI's ChatML; Qwen"),
    "alpaca": NamedTemplate(ALPACA, (), (), "Stanford Alpaca, README"),
    "mistral": NamedTemplate(
        MISTRAL, ("<s>", "</s>", "[INST]", "[/INST]"), ("</s>",), "Mistral AI, Mistral 7B Instruct v0.3"
    ),
    "gemma": NamedTemplate(
        GEMMA, ("<bos>", "<start_of_turn>", "<end_of_turn>"), ("<end_of_turn>",), "Google, the model card of Gemma 2"
    ),
    "phi": NamedTemplate(
        PHI,
        ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>"),
        ("<|end|>",),
        "Microsoft, the model card of Phi-3.5",
    ),
}


def flatten(messages: Iterable[dict[str, Any]], name: str) -> None:
    """Turn each message's content into one string, as named templates need: parts are joined, None becomes empty.

    Raises TemplateError for tool calls and for parts that aren't text: these formats can't express them.
    """
    for index, message in enumerate(messages):
        if message.get("tool_calls"):
            raise TemplateError(
                f"messages[{index}] has tool calls, which {name} has no form for: give the template of the model"
            )
        content = message.get("content")
        if content is None:
            message["content"] = TaintedStr("")
        elif not isinstance(content, str):
            message["content"] = concat([_text(part, index, offset, name) for offset, part in enumerate(content)])


def _text(part: Any, index: int, offset: int, name: str) -> str:
    text = part.get("text") if isinstance(part, Mapping) and part.get("type", "text") == "text" else part
    if not isinstance(text, str):
        kind = f"of the type {part.get('type')!r}" if isinstance(part, Mapping) else type(part).__name__
        raise TemplateError(
            f'messages[{index}]["content"][{offset}] is {kind}, which {name} can\'t write: it takes text'
        )
    return text
