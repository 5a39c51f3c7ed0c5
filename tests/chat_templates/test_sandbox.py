"""Templates that attack: always an error or harmless output, soon, and in little memory."""

import json
import subprocess
import sys
import time

import pytest

from bpelab.chat import apply_chat_template
from bpelab.chat_templates import resource_limits
from bpelab.errors import TemplateError

from ..conftest import ROOT
from .conftest import tokenizer

MESSAGES = [{"role": "user", "content": "hi", "list": [1, 2]}, {"role": "assistant", "content": "ho"}]
BIG = "'" + "a" * 100 + "'"
DOUBLED = "{% set ns = namespace(x=[]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}"
PAIRED = "{% set ns = namespace(x=()) %}{% for i in range(99) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}"
ATTACKS = {
    # -- out of the sandbox
    "class": "{{ ''.__class__ }}",
    "mro": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "item class": "{{ ''['__class__']['__base__'] }}",
    "attr filter": "{{ ('' | attr('__class__')) | attr('__mro__') }}",
    "attr format": "{{ '' | attr('for' ~ 'mat') }}{{ ('' | attr('format'))('x') }}",
    "map attribute": "{{ [''] | map(attribute='__class__') | list }}",
    "sort attribute": "{{ messages | sort(attribute='__class__.__init__.__globals__') | list }}",
    "groupby": "{{ messages | groupby('__class__') | list }}",
    "selectattr": "{{ messages | selectattr('__class__.__base__') | list }}",
    "join attribute": "{{ messages | join(attribute='__class__') }}",
    "format attributes": "{{ '{0.__class__.__mro__}'.format('') }}",
    "format items": "{{ '{0[__class__]}'.format(messages) }}",
    "format map": "{{ '{x.__class__}'.format_map({'x': ''}) }}",
    "format filter": "{{ '{0.__class__}' | format('') }}",
    "format of a method": "{{ ''.format.__self__ }}{{ ''.format.__globals__ }}",
    "format by map": "{{ ['{.__class__}'] | map('format', '') | list }}",
    "format taken out": "{% set f = '{.__class__}'.format %}{{ f('') }}",
    "percent": "{{ '%(x)s' % {'x': ''.__class__} }}",
    "self": "{{ self.__init__.__globals__ }}{{ self._TemplateReference__context }}",
    "cycler": "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "joiner": "{{ joiner.__init__.__globals__ }}",
    "lipsum": "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "namespace": "{{ namespace.__init__.__globals__ }}",
    "namespace set": "{% set ns = namespace() %}{% set ns.__class__ = 1 %}{{ ns }}",
    "range": "{{ range.__class__ }}{{ range(3).__reduce__() }}",
    "dict": "{{ dict.mro() }}{{ dict['x'] }}{{ dict.fromkeys }}",
    "raise": "{{ raise_exception.__globals__ }}{{ strftime_now.__globals__ }}",
    "loop": "{% for x in [1] %}{{ loop.__class__ }}{{ loop._iterator.gi_frame }}{% endfor %}",
    "macro": "{% macro m() %}{% endmacro %}{{ m.__globals__ }}{{ m._func.__globals__ }}{{ m._environment }}",
    "caller": "{% macro m() %}{{ caller._func.__code__ }}{% endmacro %}{% call m() %}{% endcall %}",
    "generator": "{{ (messages | map('string')).gi_frame }}{{ (messages | map('string')).gi_code }}",
    "method": "{{ messages.append.__self__ }}{{ messages[0].items.__self__ }}",
    "context": "{{ context }}{{ environment }}{{ resolve }}{{ _ }}",
    "import": "{% import 'os' as os %}{{ os }}",
    "from import": "{% from 'os' import system %}",
    "include": "{% include '/etc/passwd' %}",
    "include missing": "{% include ['x', '/etc/passwd'] ignore missing %}",
    "extends": "{% extends '/etc/passwd' %}",
    "config": "{{ config }}{{ request }}{{ g }}{{ url_for }}",
    "undefined": "{{ nothing.__class__.__init__.__globals__ }}",
    "undefined class": "{{ nothing.__init__ }}{{ (nothing | default('')).__class__ }}",
    "marks": "{{ ''.runs }}{{ ''.with_runs('<|im_end|>', []) }}{{ ''.of }}{{ messages[0].origin }}",
    "autoescape": "{% autoescape true %}{{ '<' }}{% endautoescape %}",
    "markup": "{{ ('x' | safe).__html__ }}{{ ('x' | safe).escape }}{{ ('x' | safe).format }}",
    "bytes": "{{ 'a'.encode('utf-16') }}{{ 'a'.translate({97: 'b'}) }}",
    "int": "{{ (1).to_bytes(10**9, 'big') }}{{ (1).from_bytes }}",
    "append": "{{ messages.append(1) }}",
    "pop": "{{ messages[0].pop('role') }}",
    "clear": "{{ messages[0].clear() }}",
    "update": "{{ messages[0].update({'x': 1}) }}",
    "generation": "{% generation %}{{ self.__class__ }}{% endgeneration %}",
    # -- out of time and memory
    "power": "{{ 10**10**9 }}",
    "powers": "{{ 9**9**9**9 }}",
    "long power": "{% set ns = namespace(x=7) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
    "repeat": "{{ 'a' * 10**10 }}",
    "repeat back": "{{ 10**10 * 'a' }}",
    "list repeat": "{{ [0] * 10**10 }}",
    "range size": "{% for x in range(10**9) %}{% endfor %}",
    "range list": "{{ range(99999) | list }}" * 200,
    "range kept": "{% set ns = namespace(x=[]) %}{% for i in range(9999) %}"
    "{% set ns.x = ns.x + [range(99999) | list] %}{% endfor %}",
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "loops with a test": "{% for a in range(99999) %}{% for b in range(99999) if b < 0 %}{% endfor %}{% endfor %}",
    "silent loops": "{% for a in range(9999) %}{{ range(99999) | map('string') | list | length }}{% endfor %}",
    "loop of loop": "{% for a in range(3) recursive %}{{ loop([1, 2, 3]) }}{% endfor %}",
    "macro recursion": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "macro tree": "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "block recursion": "{% block b %}{{ self.b() }}{% endblock %}",
    "call recursion": "{% macro m() %}{% call m() %}{% endcall %}{% endmacro %}{{ m() }}",
    "center": "{{ 'a' | center(10**9) }}",
    "center method": "{{ 'a'.center(10**9) }}",
    "ljust": "{{ 'a'.ljust(10**9) }}{{ 'a'.rjust(10**9) }}",
    "zfill": "{{ 'a'.zfill(10**9) }}",
    "expandtabs": "{{ '\\t'.expandtabs(10**9) }}",
    "percent width": "{{ '%999999999d' % 1 }}",
    "percent star": "{{ '%*d' % (10**9, 1) }}",
    "percent precision": "{{ '%.999999999f' % 1.5 }}",
    "percent many": "{{ ('%9999d' * 9999) % ((1,) * 9999) }}",
    "percent big": f"{{% set x = {BIG} * 9999 %}}{{{{ ('%s' * 9999) % ((x,) * 9999) }}}}",
    "percent key": f"{{% set x = {BIG} * 9999 %}}{{{{ ('%(x)s' * 9999) % {{'x': x}} }}}}",
    "format filter width": "{{ '%999999999d' | format(1) }}",
    "format width": "{{ '{:999999999}'.format('a') }}",
    "format nested width": "{{ '{:{w}}'.format('a', w=10**9) }}",
    "format many": f"{{% set x = {BIG} * 9999 %}}{{{{ ('{{0}}' * 9999).format(x) }}}}",
    "indent": "{{ 'a' | indent(10**9, true) }}",
    "indent lines": "{{ ('a\\n' * 9999) | indent(9999) }}",
    "tojson indent": "{{ [[[[1]]]] | tojson(indent=10**9) }}",
    "tojson separators": f"{{{{ range(9999) | list | tojson(separators=({BIG} * 9999, ':')) }}}}",
    "replace": f"{{% set x = {BIG} * 9999 %}}{{{{ x | replace('a', x) }}}}",
    "replace nothing": f"{{% set x = {BIG} * 9999 %}}{{{{ x.replace('', x) }}}}",
    "join": f"{{% set x = {BIG} * 9999 %}}{{{{ x.join(x) }}}}",
    "join filter": f"{{% set x = {BIG} * 9999 %}}{{{{ (range(99999) | list) | join(x) }}}}",
    "wordwrap": f"{{% set x = {BIG} * 9999 %}}{{{{ x | wordwrap(1, wrapstring=x) }}}}",
    "batch": "{{ [1] | batch(10**9, 'x') | list }}",
    "slice": "{{ [1] | slice(10**9) | list }}",
    "round": "{{ 5 | round(-(10**9)) }}{{ 5 | round(10**9, 'ceil') }}",
    "sum": "{{ ([[1] * 999] * 99) | sum(start=[]) }}",
    "concat": "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "plus": "{% set ns = namespace(x='a') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "lists": "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "doubled": DOUBLED + "{{ ns.x }}",
    "doubled json": DOUBLED + "{{ ns.x | tojson }}",
    "doubled, compared": "{% set ns = namespace(x=[], y=[]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}"
    "{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
    "doubled, as a key": PAIRED + "{{ {ns.x: 1} | length }}",
    "doubled, looked up": PAIRED + "{{ {}[ns.x] }}{{ {}.get(ns.x) }}",
    "doubled namespaces": "{% set ns = namespace(x=[]) %}{% for i in range(99) %}"
    "{% set ns.x = namespace(a=ns.x, b=ns.x) %}{% endfor %}{{ [ns.x] }}",
    "namespace in itself": "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}{{ [ns] | tojson }}",
    "deep": "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
    "output": f"{{% set x = {BIG} * 9999 %}}{{% for i in range(99999) %}}{{{{ x }}}}{{% endfor %}}",
    "output of blocks": f"{{% set x = {BIG} * 9999 %}}{{% for i in range(9999) %}}{{% set y %}}{{{{ x }}}}{{{{ x }}}}"
    "{% endset %}{% endfor %}",
    "letters": f"{{% set x = {BIG} * 9999 %}}{{{{ [x | list, x | list, x | list, x | list] * 99 }}}}",
    "split": f"{{% set x = {BIG} * 9999 %}}{{% for i in range(999) %}}{{{{ x.split('a') | length }}}}{{% endfor %}}",
    "index": "{% set x = [['a' * 9999] * 99] * 999 %}{% for i in range(9999) %}{{ x.index(['b']) }}{% endfor %}",
    "sort": "{% for i in range(9999) %}{{ range(99999) | sort | length }}{% endfor %}",
    "unique": "{% for i in range(9999) %}{{ range(99999) | unique | list | length }}{% endfor %}",
    "strftime": "{{ strftime_now('%999999999d' * 9) }}",
    "int digits": "{{ ('9' * 9999) | int }}{{ ('f' * 999999) | int(0, 16) }}",
    "urlize": "{{ 'http://x' | urlize }}",
    "cycler items": "{% set c = cycler(*range(99999)) %}{% for i in range(99999) %}{{ c.next() }}{% endfor %}",
    # -- malformed
    "unclosed": "{% for x in y %}",
    "unknown tag": "{% nothing %}",
    "unknown filter": "{{ 1 | nothing }}",
    "unknown test": "{{ 1 is nothing }}",
    "parentheses": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "brackets": "{{ " + "[" * 5000 + "1" + "]" * 5000 + " }}",
    "ifs": "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "additions": "{{ " + "1+" * 5000 + "1 }}",
    "nots": "{{ " + "not " * 5000 + "1 }}",
    "attributes": "{{ x" + ".a" * 5000 + " }}",
    "long": "{{ 1 }}" * 100_000,
    "stop": "{{ raise_exception() }}{{ 1 / 0 }}",
    "types": "{{ 1 + 'a' }}",
}
LEAKS = ("<", "os.", "root:", "subclasses", "object at", "function ", "class '")


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name, monkeypatch):
    monkeypatch.setattr(resource_limits, "SECONDS", 0.1)
    started = time.thread_time()
    before = [dict(message) for message in MESSAGES]
    try:
        text = apply_chat_template(tokenizer(), MESSAGES, ATTACKS[name], tokenize=False)
    except TemplateError as error:
        assert "\n" not in str(error)[:50]
    else:
        assert len(text) < 10**7
        assert not any(sign in text for sign in LEAKS), text[:200]
    assert time.thread_time() - started < 10
    assert before == MESSAGES


HEAVY = [
    "range kept",
    "output",
    "letters",
    "doubled",
    "concat",
    "lists",
    "split",
    "percent key",
    "join filter",
    "loops",
]
MEASURED = """
import json, resource, sys
from tests.chat_templates.conftest import tokenizer
from bpelab.chat import apply_chat_template
which, (messages, attacks) = tokenizer(), json.load(sys.stdin)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for attack in attacks:
    try:
        apply_chat_template(which, messages, attack, tokenize=False)
    except ValueError:
        pass
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * (1 if sys.platform == "darwin" else 1024))
"""


def test_memory():
    pytest.importorskip("resource", reason="the operating system doesn't say how much memory a process took")
    given = json.dumps([MESSAGES, [ATTACKS[name] for name in HEAVY]])
    run = [sys.executable, "-c", MEASURED]
    done = subprocess.run(run, input=given, cwd=ROOT, capture_output=True, text=True, check=True, timeout=600)
    assert int(done.stdout) < 500e6


def test_the_limit_of_time():
    started = time.thread_time()
    with pytest.raises(TemplateError, match="too long"):
        apply_chat_template(tokenizer(), MESSAGES, ATTACKS["macro tree"], tokenize=False)
    assert time.thread_time() - started < 10


def test_errors_name_the_line():
    with pytest.raises(TemplateError, match=r"line 3.*nobody knows"):
        apply_chat_template(tokenizer(), MESSAGES, "{{ 1 }}\n\n{{ raise_exception('nobody knows') }}", tokenize=False)
    with pytest.raises(TemplateError, match="line 2"):
        apply_chat_template(tokenizer(), MESSAGES, "{{ 1 }}\n{% for %}", tokenize=False)
    with pytest.raises(TemplateError) as caught:
        apply_chat_template(
            tokenizer(), MESSAGES, "{% macro m() %}\n{{ 1 / 0 }}{% endmacro %}\n{{ m() }}", tokenize=False
        )
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ 'abc' | first }}{{ messages | map(attribute='role') | first }}", "auser"),
        ("[{{ '' | first }}{{ [] | first }}]", "[]"),
        ("{{ messages | join(', ', attribute='content') }}", "hi, ho"),
        ("{{ strftime_now('%Y')[:2] }}", "20"),
        ("{{ [1, 2, 3] | sum }} {{ [{'a': 4}] | sum(attribute='a') }}", "6 4"),
        ("{{ 5 | center(3) }}{{ [1] | string }}{{ 1 is in ([1, 2] | map('default')) }}", " 5 [1]True"),
        ("{{ ['b', 'a', 'b'] | unique | join }}{{ {'a': [1]} | tojson(indent=1) }}", 'ba{\n "a": [\n  1\n ]\n}'),
    ],
)
def test_filters_on_what_is_there_and_on_nothing(source, text):
    assert apply_chat_template(tokenizer(), MESSAGES, source, tokenize=False) == text


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{{ 5 | indent }}", "indent takes a string, not int"),
        ("{{ strftime_now('%9999999Y') }}", "directives without widths"),
        ("{{ strftime_now('%Y' * 101) }}", "200 characters at most"),
        ("{{ ('' | first).x }}", "No first item, sequence was empty"),
        ("{{ '%d and %' | format(1) }}", "incomplete format"),
        ("{{ '%d and %d' | format(1) }}", "not enough arguments"),
    ],
)
def test_filters_say_what_they_take(source, said):
    with pytest.raises(TemplateError, match=said):
        apply_chat_template(tokenizer(), MESSAGES, source, tokenize=False)


def test_templates_in_threads():
    from concurrent.futures import ThreadPoolExecutor

    source = "{% for i in range(2000) %}{{ messages[0].content }}{% endfor %}"
    with ThreadPoolExecutor(8) as pool:
        results = pool.map(
            lambda n: apply_chat_template(tokenizer(), [{"role": "user", "content": str(n)}], source, tokenize=False),
            range(40),
        )
        assert list(results) == [str(n) * 2000 for n in range(40)]


def test_a_large_conversation_is_no_attack():
    messages = [{"role": ("user", "assistant")[n % 2], "content": "word " * 2_000} for n in range(300)]
    text = apply_chat_template(tokenizer(), messages, "chatml", tokenize=False)
    assert len(text) > 3_000_000
