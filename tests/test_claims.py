"""ARCHITECTURE.md, sentence by sentence: each has a test here, or one elsewhere that is named, or is advice."""

import ast
import inspect
import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from bpelab import ENCODERS, PATTERNS, TRAINERS, BPEModel, BPETokenizer, native
from bpelab.bench.peers import PEERS
from bpelab.cli.main import COMMANDS
from bpelab.convert import TARGETS
from bpelab.core.tokenizer import Tokenizer
from bpelab.decoders import DECODERS, Decoder
from bpelab.errors import BPELabError
from bpelab.normalizers import NORMALIZERS
from bpelab.normalizers.base import BaseNormalizer
from bpelab.notebook import book_text
from bpelab.postprocessors import POST_PROCESSORS, PostProcessor
from bpelab.pretokenizers import PRE_TOKENIZERS, PreTokenizer
from bpelab.regex.dfa import dfa_for
from bpelab.regex.pattern_families import family_of
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from .conftest import ROOT, needs_extension
from .test_architecture import CONTRACTS, LAYERS, PAGE, TREE, import_graph, imported, modules

TABLE = re.compile(r"^\|.*$", re.MULTILINE)
CLAIMED = []
"""Quotes from the page that a test in this file checks."""
ADVICE = (
    "This page says where things are",
    "Every sentence here has a test",
    "There are always two implementations.",
    "`BPETokenizer.encode(text)`, step by step:",
    "Training answers two questions apart.",
    "**Don't ",
    "All else may change in any release.",
)
"""Beginnings of what states nothing that could be false of the code: what to do, and words that lead on."""
ELSEWHERE = {
    "A room may import the rooms listed above it": "test_architecture.py: test_a_room_imports_what_is_above_it",
    "Every room's `__init__.py` says": "test_architecture.py: test_every_room_says_what_lives_there",
    "`regex/bit_rules.py`, `native/split_rules.h` and": "test_architecture.py: test_every_path_that_it_names_is_there",
    "A pattern is compiled to a table": "native/test_scan.py: def test_",
    "Streams take the same road in stages": "streaming/test_encoder.py: def test_",
    "Ties are broken by one documented order": "trainers/test_trainers.py: test_the_hash_seed_is_nothing",
    "A fast path may only repeat": "native/test_families.py: def test_",
    "A pattern from a file runs on an automaton": "regex/test_matching.py: def test_",
    "Files are read with limits": "fuzz/test_fuzz.py: def test_",
    "Most of what a short program waits for": "test_package.py: test_the_first_text_imports_little",
    "The names in the API reference": "test_public.py: test_what_is_listed_is_explained",
    "All that a room's `__all__` exports": "test_public.py: test_what_is_exported_is_listed",
    "These rooms have nothing public:": "test_public.py: test_a_room_exports_names_or_is_private",
    "`_support`, `core`, `native`": "test_public.py: test_a_room_exports_names_or_is_private",
}
"""Beginnings of sentences -> where their test is."""


def sentences():
    """The sentences of the page, without its pictures and its table."""
    text = TABLE.sub("", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL))
    for paragraph in re.split(r"\n\s*\n|\n(?=- |\d\. )|^#.*$", text, flags=re.MULTILINE):
        flat = re.sub(r"^(?:- |\d\. )", "", " ".join(paragraph.split()))
        yield from filter(None, re.split(r"(?<=[.?:*])\s+(?=[A-Z`(])", flat))


def claim(*quotes):
    """Note that a test checks what these words of the page say."""
    CLAIMED.extend(quotes)
    return lambda test: test


def test_every_sentence_is_checked_or_is_advice():
    page = " ".join(PAGE.split())
    for quote in (*CLAIMED, *ELSEWHERE, *ADVICE):
        assert quote in page, f"no longer on the page: {quote}"
    for sentence in sentences():
        known = sentence.startswith((*ADVICE, *ELSEWHERE)) or any(quote in sentence for quote in CLAIMED)
        assert known, f"nothing checks: {sentence}"
    for place in ELSEWHERE.values():
        file, name = place.split(": ")
        assert name in (ROOT / "tests" / file).read_text(encoding="utf-8"), place


# -- the picture -----------------------------------------------------------------------------------------------------


@claim("bpelab is a library for byte-pair encoding, and a book whose chapters import it.")
def test_the_chapters_import_the_library():
    for path in (ROOT / "book").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert any("from bpelab" in line for cell in cells for line in cell["source"]), path


def noted(base, method, calls, name):
    """A component that notes what it is asked, and does nothing."""

    def do(self, given, *rest):
        calls.append((name, given))
        return [given] if name == "pre-tokenizer" else list(given)

    return type("Noted", (base,), {method: do})()


@claim(
    "A tokenizer is five components in a row, and each is a folder:",
    "The pre-tokenizer cuts the segment into pieces (`pretokenizers/`).",
    "The post-processor adds its tokens, and the ids go back.",
    "Otherwise `vocab/special_tokens.py` finds the added tokens that may occur in the text.",
    "or hands their strings to a decoder if the file has one.",
)
def test_components_in_a_row():
    """In the order of the picture, whose folders there are; each segment between added tokens goes through all."""
    picture = re.search(r"```\n(text .*?)```", PAGE, re.DOTALL)[1]
    folders = re.findall(r"(\w+)/", picture)
    assert {"vocab", "normalizers", "pretokenizers", "encoders", "postprocessors", "decoders"} < set(folders)
    assert all((ROOT / "bpelab" / folder).is_dir() for folder in folders)
    order = [word.strip() for word in picture.splitlines()[0].split("─▶")]
    assert order == ["text", "added tokens", "normalizer", "pre-tokenizer", "encoder", "post-processor", "ids"]

    calls = []
    tokenizer = BPETokenizer(
        BPEModel.from_merges([(b"a", b"b")]),
        pattern=None,
        normalizer=lambda text: calls.append(("normalizer", text)) or text.lower(),
        pre_tokenizer=noted(PreTokenizer, "split", calls, "pre-tokenizer"),
        post_processor=noted(PostProcessor, "process", calls, "post-processor"),
        decoder=noted(Decoder, "decode_chain", calls, "decoder"),
        special_tokens={"<X>": 257},
    )
    assert tokenizer.encode("<X>AB", allowed_special="all") == [257, 256]
    assert calls[:2] == [("normalizer", "AB"), ("pre-tokenizer", "ab")]
    assert [name for name, _ in calls[2:]] == ["post-processor"]
    assert tokenizer.decode([256]) == "ab" and calls[3:] == [("decoder", ["ab"])]


@claim("`model/` has what training learned: tokens, and merges in order.")
def test_the_model_has_tokens_and_merges():
    learned = [(b"l", b"o"), (b"lo", b"w")]
    model = BPEModel.from_merges(learned)
    assert {b"lo", b"low"} < set(model.tokens.values())
    assert [tuple(model.tokens[part] for part in pair) for pair in model.merges] == learned


@claim("puts a model and its components together and checks that they fit")
def test_names_are_where_it_says():
    """Also those of the table, and of the rules at the end: "`file` (`Name`)" and "`Name` in `file`"."""
    pairs = [(name, file) for file, name in re.findall(r"`([\w/]+\.py)` \(`(\w+)`\)", PAGE)]
    pairs += [*re.findall(r"`(\w+)` in `([\w/]+\.py)`", PAGE), ("write_atomically", "_support/textio.py")]
    assert len(pairs) > 9
    for name, file in pairs:
        module = import_module("bpelab." + file.removesuffix(".py").replace("/", ".").removesuffix(".__init__"))
        assert hasattr(module, name), (name, file)


@claim(
    "`core/tokenizer.py` (`Tokenizer`) encodes and decodes with them: its methods are in `core/text_to_ids.py` and "
    "`core/ids_to_text.py`, the work is done in `core/pipeline.py` and `core/decode_pipeline.py`.",
    "Everything meets there: streams, batches, templates, shards and editing take a `Tokenizer`",
    "`tokenizer.py` (`BPETokenizer`) lies above them all: it opens, trains and saves, and is what people import.",
)
def test_everything_meets_at_the_tokenizer():
    graph = import_graph()
    assert {"bpelab.core.pipeline", "bpelab.core.decode_pipeline"} < graph["bpelab.core.tokenizer"]
    homes = [inspect.unwrap(getattr(Tokenizer, name)).__module__ for name in ("encode", "encode_batch", "decode")]
    assert homes == ["bpelab.core.text_to_ids", "bpelab.core.text_to_ids", "bpelab.core.ids_to_text"]
    for room in ("streaming", "model_inputs", "chat_templates", "shards", "editing"):
        names = [name for name in graph if name.split(".")[1:2] == [room]]
        assert any("bpelab.core.tokenizer" in graph[name] for name in names), room
        assert not any("bpelab.tokenizer" in graph[name] for name in names), room
    height = [number for number, layer in enumerate(LAYERS) if "tokenizer" in layer]
    below = set().union(*LAYERS[height[0] + 1 :])
    assert {"streaming", "model_inputs", "chat_templates", "shards", "editing", "formats", "core"} < below
    assert issubclass(BPETokenizer, Tokenizer)
    assert {"train", "from_pretrained", "save"} <= set(dir(BPETokenizer)) - set(dir(Tokenizer))


@claim("and file formats read and write specifications.")
def test_writers_take_specifications_and_readers_return_them():
    """What `convert` calls to write, and every public `load` and `save` of a format."""
    writers = [target.save for target in TARGETS.values()]
    readers = []
    for path in (ROOT / "bpelab" / "formats").glob("*.py"):
        for name, value in vars(import_module(f"bpelab.formats.{path.stem}")).items():
            if inspect.isfunction(value) and re.fullmatch(r"(?:save|load)(?:_ranks|_listing)?|open_spec", name):
                (writers if name.startswith("save") else readers).append(value)
    assert len(writers) > 10 and len(readers) > 8
    for save in writers:
        assert next(iter(inspect.signature(save).parameters.values())).annotation in ("TokenizerSpec", SPEC), save
    for load in readers:
        assert inspect.signature(load).return_annotation in ("TokenizerSpec", SPEC), load


SPEC = import_module("bpelab.core.spec").TokenizerSpec


@claim("The encoders and trainers in Python are the definition: one algorithm a file, each the subject of a chapter.")
def test_each_algorithm_has_a_file_and_a_chapter():
    """Under its name; and the file names a chapter that there is."""
    titles = [first_line(path) for path in (ROOT / "book").glob("*.ipynb")]
    assert {cls.__module__ for cls in ENCODERS.values()} == {f"bpelab.encoders.{name}" for name in ENCODERS}
    assert {train.__module__ for train in TRAINERS.values()} == {f"bpelab.trainers.{name}" for name in TRAINERS}
    for algorithm in (*ENCODERS.values(), *TRAINERS.values()):
        chapter = re.search(r"Chapter: ([^.;]+)\.", import_module(algorithm.__module__).__doc__)[1]
        assert any(re.match(re.escape(chapter) + r"\b", title) for title in titles), chapter


def first_line(path):
    """The title of a chapter."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "".join(line for cell in cells if cell["cell_type"] == "markdown" for line in [*cell["source"], "\n"])
    return re.search(r"^# (.+)", text, re.MULTILINE)[1]


TEXT = book_text()[:20_000]
SMALL = BPETokenizer.train(TEXT, 400, special_tokens=["<X>"], progress=False)


@claim(
    "`native/` is the same in C, takes over from the first text if it was built, and is compared with Python in "
    "`tests/native/`.",
    "where no added token can occur and nothing is normalized, a text for a model that C serves goes straight to "
    "`native/` and comes back as a list.",
)
def test_c_takes_over_from_the_first_text(monkeypatch):
    """The encoder in Python isn't even made."""
    needs_extension()
    tokenizer = SMALL.with_options(encoder="auto")
    assert tokenizer.encode("low lower") == SMALL.encode("low lower")
    assert "encode_piece" not in vars(tokenizer.pipeline) and tokenizer.pipeline.cache.lookups == 0
    assert tokenizer.pipeline.encode_short == tokenizer.pipeline.native.encode
    assert type(tokenizer.pipeline.encode_short("low lower")) is list
    normalized = tokenizer.with_options(normalizer="NFC")
    assert normalized.encode("low") == tokenizer.encode("low")
    assert normalized.pipeline.encode_short != normalized.pipeline.native.encode  # its text is normalized first
    assert any("encode" in path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "native").glob("test_*.py"))


@claim("Ids never depend on which of them ran.")
def test_every_encoder_gives_the_same_ids():
    names = [*ENCODERS, "auto", *(["native"] if native.extension() else [])]
    assert len({tuple(SMALL.with_options(encoder=name).encode(TEXT)) for name in names}) == 1


@claim(
    "The C has two entry points:", "`native/module.c` for Python, and `native/wasm.c`, compiled to WebAssembly, for the"
)
def test_the_c_has_two_entry_points():
    """Both include the same headers, and beside them there is no other file in C."""
    folder = Path(native.__file__).parent
    included = {
        path.name: set(re.findall(r'#include "(.+)"', path.read_text(encoding="utf-8"))) for path in folder.glob("*.c")
    }
    assert set(included) == {"module.c", "wasm.c"}
    assert {"checks.h", "decode.h", "scan_table.h"} <= included["module.c"] & included["wasm.c"]
    assert (folder / "javascript" / "bpelab.js").exists()


# -- the rooms -------------------------------------------------------------------------------------------------------


def said_of(room):
    """What the tree says of a room."""
    return re.search(rf"^  {room}(?:/|\.py) +(.*)$", TREE, re.MULTILINE)[1]


def test_the_tree_names_what_is_there():
    for room in ("encoders", "trainers"):
        words = re.findall(r"\w+", said_of(room).partition(";")[0])
        assert words and all((ROOT / "bpelab" / room / f"{word}.py").exists() for word in words), room
    assert {"counting", "superwords"} <= {path.parent.name for path in (ROOT / "bpelab/trainers").glob("*/__init__.py")}
    for room, registry in (("normalizers", NORMALIZERS), ("pretokenizers", PRE_TOKENIZERS)):
        words = re.findall(r"\b[A-Z]\w+", said_of(room))
        assert words and set(words) <= set(registry), room
    for error in (value for value in vars(import_module("bpelab.errors")).values() if inspect.isclass(value)):
        assert issubclass(error, BPELabError)
    data = {path.name for path in (ROOT / "bpelab" / "data").rglob("*.py")}
    assert data == {"__init__.py"}, "no code but the path"


def test_tools_are_not_in_the_wheel():
    assert "not in the wheel" in TREE
    assert 'include = ["bpelab*"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_one_file_a_command():
    """Or for two: `decode` is with `encode`, `upload` with `publish`. What adds a command is in the list."""
    assert "one file a command, or for two that belong together" in TREE
    commands = {}

    def command(name, help_text, run):
        commands[module].append(name)
        return import_module("argparse").ArgumentParser()

    for module in dict.fromkeys(COMMANDS.values()):
        commands[module] = []
        import_module(f"bpelab.cli.{module}").add_commands(command)
        assert 1 <= len(commands[module]) <= 2, module
        assert commands[module] == [name for name, home in COMMANDS.items() if home == module]
    files = {
        ".".join(path.relative_to(ROOT / "bpelab" / "cli").with_suffix("").parts)
        for path in (ROOT / "bpelab" / "cli").rglob("*.py")
        if "def add_commands" in path.read_text(encoding="utf-8")
    }
    assert files == set(commands)


@claim(
    "The exact layers, and the neighbours that are apart, are the contract in `pyproject.toml` "
    "(`[tool.importlinter]`), which `make lint` checks.",
    "Imports inside functions, and those for type checkers, count as well.",
)
def test_the_contract_is_checked():
    lint = re.search(r"^lint:.*\n(?:\t.*\n)+", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert "lint-imports" in lint
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "exclude_type_checking_imports" not in text and CONTRACTS[0]["type"] == "layers"
    assert CONTRACTS[0]["ignore_imports"] == ["bpelab -> bpelab.**"]


@claim("A second contract keeps optional packages in their rooms")
def test_optional_packages_stay_in_their_rooms():
    homes = dict(re.findall(r"(\w+) in `(\w+)/`", " ".join(PAGE.split()).partition("A second contract")[2][:200]))
    assert set(homes) == {"jinja2", "pyarrow", "torch"} and homes.keys() <= set(CONTRACTS[1]["forbidden_modules"])
    for package, room in homes.items():
        users = {
            name.split(".")[1]
            for name, where in modules().items()
            if any(other.split(".")[0] == package for other in imported(name, *where))
        }
        assert users == {room}, package


# -- the road of a text ----------------------------------------------------------------------------------------------


@claim(
    "Only names that the caller allowed become ids: text is untrusted by default.",
    "Only the caller of `encode`, or the author of a chat template, may.",
)
def test_text_is_untrusted():
    control = SMALL.special_tokens["<X>"]
    assert control not in SMALL.encode("low <X>") and control in SMALL.encode("low <X>", allowed_special={"<X>"})
    spoken = SMALL.with_options(post_processor=None).with_special_tokens(["<|im_start|>", "<|im_end|>"])
    ids = spoken.apply_chat_template([{"role": "user", "content": "<|im_end|>"}], "chatml")
    assert ids.count(spoken.special_tokens["<|im_end|>"]) == 1


@claim(
    "Each segment between them is normalized (`normalizers/`), and searched once more for added tokens that match "
    "normalized text."
)
def test_added_tokens_that_match_normalized_text():
    special = SpecialTokens([AddedToken("<x>", 257, normalized=True), AddedToken("<Y>", 258, normalized=False)])
    tokenizer = BPETokenizer(BPEModel.from_merges([(b"a", b"b")]), normalizer=str.lower, special_tokens=special)
    assert tokenizer.encode("AB<X><Y>", allowed_special="all") == [256, 257, 258]


@claim(
    "The normalizer is called by `SpecialTokens.split`; for a text that is one segment, in `core/pipeline.py` or, on "
    "its way to C, in `core/short_texts.py`; for a batch, in `core/batch.py`; for a conversation, in "
    "`chat_templates/encode.py`; in training, in `trainers/counting/corpus.py`."
)
def test_who_calls_the_normalizer():
    """On a whole text; what aligns a text with its original, or streams it, is in the normalizers' own room."""
    callers = set()
    for path in (ROOT / "bpelab").rglob("*.py"):
        name = path.relative_to(ROOT / "bpelab").as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and not name.startswith(("normalizers/", "alignment/")):
                functions = node.func.values if isinstance(node.func, ast.BoolOp) else [node.func]
                names = {function.id for function in functions if isinstance(function, ast.Name)}
                attributes = {function.attr for function in functions if isinstance(function, ast.Attribute)}
                callers |= {name} if names & {"normalizer", "normalize"} or "normalizer" in attributes else set()
    sentence = re.search(r"The normalizer is called by .*?`\.\n", PAGE, re.DOTALL)[0]
    assert callers == {*re.findall(r"`([\w/]+\.py)`", sentence), "vocab/special_tokens.py"}


@claim("Nearly all published patterns belong to a few families (`regex/pattern_families.py`)")
def test_published_patterns_are_of_families():
    """All that cut words."""
    for pattern in PATTERNS.values():
        assert (family_of(dfa_for(pattern.regex)) is not None) == pattern.cuts_words, pattern.name


@claim("Each piece is looked up in a cache, or merged (`encoders/heap.py`; `native/encode.h`).")
def test_pieces_are_looked_up():
    tokenizer = SMALL.with_options(encoder="heap")
    tokenizer.encode("low low low")
    assert tokenizer.pipeline.cache.statistics()[:2] == (3, 2)


@claim(
    "A model's answer is shown this way while it is generated:",
    "`chat/response.py` hands each id to the `StreamDecoder` in `streaming/decoder.py`.",
)
def test_answers_are_shown_as_they_are_generated():
    """Half a character waits for its other half."""
    from bpelab.chat.generation import Generated
    from bpelab.chat.response import ActiveResponse

    answer = ActiveResponse(SMALL)
    texts = [[token.text for token in answer.add(Generated(byte, 1.0, 0.0))] for byte in "é".encode()]
    assert texts == [[], ["", "é"]]


@claim("Decoding joins the tokens' bytes (`core/detokenize.py`)")
def test_decoding_joins_bytes():
    ids = SMALL.encode("café")
    assert b"".join(SMALL.id_to_token(token_id) for token_id in ids) == "café".encode() == SMALL.decode_bytes(ids)


@claim(
    "Each component says where that is safe; `boundaries/` proves it for patterns and vocabularies.",
    "A component owns its facts: what it does, where a text may be cut, what C can do of it, where the characters of "
    "its result come from, how a stream may proceed.",
)
def test_components_own_their_facts():
    asked = {
        PreTokenizer: ("split", "boundary", "pattern_steps", "steps"),
        BaseNormalizer: ("__call__", "stages", "align"),
        Decoder: ("decode_chain", "token_stage"),
    }
    for base, names in asked.items():
        assert all(getattr(base, name).__doc__ for name in names), base
    for registry, base in ((PRE_TOKENIZERS, PreTokenizer), (NORMALIZERS, BaseNormalizer), (DECODERS, Decoder)):
        assert all(issubclass(component, base) for component in registry.values())


@claim(
    "Where are pre-tokens counted: in this process (`trainers/counting/corpus.py`), on its threads (`native/count.h`, "
    "which takes files as they are, without decoding them:",
    "or on a cluster (`client=`)?",
    "And which algorithm learns merges from the counts (`trainers/incremental.py`, `native/learn.h`)?",
)
def test_training_asks_two_questions():
    """Where to count is one argument, and what learns another; each answer to one goes with each to the other."""
    assert {"client", "trainer"} < inspect.signature(BPETokenizer.train).parameters.keys()
    learned = [BPETokenizer.train(TEXT, 300, trainer=name, progress=False) for name in (*TRAINERS, "auto")]
    assert len({tuple(tokenizer.get_vocab()) for tokenizer in learned}) == 1


# -- where your change goes, and what not to do ----------------------------------------------------------------------

ASKS_FOR_A_CLASS = {
    "acceleration/engine.py",
    "alignment/offsets.py",
    "comparison/candidates.py",
    "convert.py",
    "core/spec.py",
    "core/token_limit.py",
    "formats/gguf_pre_match.py",
    "formats/gguf_save.py",
    "formats/tokenizer_json_save.py",
    "prefix/served.py",
    "trainers/counting/by_tokenizer.py",
}
"""Files outside the components' rooms that ask whether a component is of one class: what writes a format has to name
it, others take a shorter way for a class, or print it otherwise, and covers refuse the others. Any other class takes
the longer way."""
HOMES = ("normalizers", "pretokenizers", "decoders", "postprocessors", "native")


@claim(
    "For the rest there are defaults, which are always right, but slow.",
    "So no other room needs to know a new component:",
    "`tests/test_adding_components.py` adds three and uses them everywhere.",
    "Some rooms still check for a class, such as the writers of formats.",
    "They are listed in `tests/test_claims.py`.",
)
def test_few_ask_for_a_class():
    registries = (NORMALIZERS, PRE_TOKENIZERS, DECODERS, POST_PROCESSORS)
    components = {component.__name__ for registry in registries for component in registry.values()} - {"Replace"}
    components |= {"Split", "UnicodeNormalizer", "SentencePieceNormalizer"}
    asking = set()
    for path in (ROOT / "bpelab").rglob("*.py"):
        name = path.relative_to(ROOT / "bpelab").as_posix()
        if name.split("/")[0] in (*HOMES, "exercises"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                classes = {leaf.id for leaf in ast.walk(node.args[1]) if isinstance(leaf, ast.Name)}
                asking |= {name} if classes & components else set()
    assert asking == ASKS_FOR_A_CLASS
    added = (ROOT / "tests" / "test_adding_components.py").read_text(encoding="utf-8")
    assert len(re.findall(r"^class \w+\((?:PreTokenizer|BaseNormalizer)\)", added.split("'''")[1], re.MULTILINE)) == 2


@claim("[CONTRIBUTING.md](CONTRIBUTING.md) has the steps, and a glossary of the words that the code uses.")
def test_contributing_has_the_steps():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for what in ("an encoder", "a pre-tokenizer", "a file format", "a chapter"):
        assert re.search(rf"^\| {what} \|", PAGE, re.MULTILINE) and re.search(rf"^## Adding {what}", text, re.MULTILINE)
    assert "\n## Words\n" in text


@claim("`_support/fork_safety.py` guards the one that threads share.")
def test_the_lock_that_threads_share_is_guarded():
    """A lock of a module is taken by every thread; a fork waits for the one of imports, and others aren't of `core`."""
    assert hasattr(import_module("bpelab._support.fork_safety"), "fork_guard")
    shared = {
        path.relative_to(ROOT / "bpelab").as_posix()
        for path in (ROOT / "bpelab").rglob("*.py")
        if re.search(r"^\w+ = R?Lock\(\)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert shared == {
        "_support/fork_safety.py",
        "chat/backends/__init__.py",
        "chat/hardware/detect.py",
        "tiktoken/registry.py",
    }


WRITES = {
    "_support/textio.py": "writes all or nothing",
    "_support/checked_files.py": "a note, whose absence is no loss",
    "adapt/tensor_files.py": "into a new folder, which gets its name when it is done",
    "publishing/folder.py": "into a new folder, which gets its name when it is done",
    "shards/array_files.py": "a temporary file, which gets its name when it is done",
    "shards/lock.py": "a lock without content",
    "trainers/counting/spill_runs.py": "runs in a temporary folder",
    "cli/bench.py": "a record, also to /dev/stdout",
    "cli/stdio.py": "standard output",
    "widgets/sphinx.py": "into the folder that Sphinx builds",
    "exercises/chapters/capstone.py": "into a temporary folder",
    "exercises/chapters/tiktoken.py": "what the reader is to write",
    "bench/machine.py": "Linux's /proc/self/clear_refs",
    "bench/worker.py": "a pipe",
    "bench/driver.py": "into a temporary folder",
    "bench/generated_text.py": "a text of any size to measure with, made again after an interruption",
    "bench/vocabularies.py": "into a temporary folder",
    "bench/runner.py": "into a temporary folder",
    "bench/isolated_measures.py": "into a temporary folder",
}
"""Files that open others for writing, and why none is left half-written under its name."""


def opens_for_writing(node):
    """Whether a call opens a file to write it."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    modes = [arg.value for arg in node.args[:2] if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return name in ("write_text", "write_bytes") or (
        name in ("open", "fdopen") and any(re.fullmatch(r"[wax]b?|r\+b?", mode) for mode in modes)
    )


@claim("`write_atomically` and `write_all_atomically` in `_support/textio.py` write all or nothing.")
def test_no_file_is_written_in_place():
    writing = {
        path.relative_to(ROOT / "bpelab").as_posix()
        for path in (ROOT / "bpelab").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and opens_for_writing(node)
    }
    assert writing == set(WRITES)


def test_a_write_is_all_or_nothing(tmp_path, monkeypatch):
    textio = import_module("bpelab._support.textio")
    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr("os.replace", lambda *names: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        textio.write_atomically(path, b"new")
    assert path.read_bytes() == b"old" and [other.name for other in Path(tmp_path).iterdir()] == ["file"]


@claim("`bpelab bench` measures, against other libraries in the same run.")
def test_bench_has_other_libraries():
    assert "bench" in COMMANDS
    assert len({library.package or library.name for library in PEERS.values()} - {"bpelab"}) > 14
