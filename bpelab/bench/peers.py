"""The libraries to measure, in the order of the table, each with the code that calls it in its fastest way.

tiktoken has the reference ids, and Hugging Face's tokenizers for files that tiktoken can't load. Calls are those for
plain text (`encode_ordinary` and the like): no text of a benchmark contains special tokens.
"""

from . import trainers
from .library import Library
from .tokenizers_1 import FOLDER_1, Tokenizers1

DECODE = {"decode list": "tokenizer.decode", "decode array": "lambda ids: tokenizer.decode(ids.tolist())"}
"""Most libraries read a list several times as fast as an array."""
SHIPPED = "has cl100k_base and o200k_base built in, and loads no other"
OURS = "from bpelab import BPETokenizer"
LATE = ("bpelab.tokenizer", "bpelab.formats.tiktoken_registry")


def _calls_with_array_batches(method: str) -> dict[str, str]:
    """Return the calls of a library whose `method` alone gives arrays: (texts, threads) -> (ids, offsets)."""
    return {
        "list": "tokenizer.encode_ordinary",
        "array": f"lambda text: tokenizer.{method}([text], 1)[0]",
        "batch list": f"lambda texts, threads: rows(*tokenizer.{method}(texts, threads))",
        "batch array": f"tokenizer.{method}",
        **DECODE,
    }


LIBRARIES = (
    Library(
        "tiktoken",
        "import tiktoken",
        {
            "published": "tiktoken.registry.ENCODINGS.clear()\ntokenizer = tiktoken.get_encoding(NAME)",  # a new object
            "ranks": f"{OURS}\ntokenizer = BPETokenizer.from_pretrained(FOLDER).to_tiktoken(NAME)",
        },
        {
            "list": "tokenizer.encode_ordinary",
            "array": "lambda text: tokenizer.encode_to_numpy(text, disallowed_special=())",
            "batch list": "lambda texts, threads: tokenizer.encode_ordinary_batch(texts, num_threads=threads)",
            **DECODE,
        },
        refusal="gives other ids: it has no normalizer, and byte-level vocabularies only",
    ),
    Library(
        "bpelab",
        OURS,
        {
            "published": "tokenizer = BPETokenizer.from_tiktoken(NAME)",
            "ranks": "tokenizer = BPETokenizer.from_pretrained(FOLDER)",
            "file": "tokenizer = BPETokenizer.from_pretrained(FOLDER).with_options(post_processor=None)",
        },
        {
            "list": "tokenizer.encode",
            "array": "tokenizer.encode_array",
            "batch list": "lambda texts, threads: tokenizer.encode_batch(texts, threads=threads)",
            "batch array": "lambda texts, threads: tokenizer.encode_batch_array(texts, threads=threads)",
            "decode list": "tokenizer.decode",
            "decode array": "tokenizer.decode",
        },
        late=(*LATE, "bpelab.native._core"),
        trainers={"train": trainers.bpelab, "superwords": trainers.superwords},
    ),
    Library(
        "bpelab (Python)",
        OURS,
        {
            "published": "tokenizer = BPETokenizer.from_tiktoken(NAME, encoder='heap')",
            "ranks": "tokenizer = BPETokenizer.from_pretrained(FOLDER, encoder='heap')",
            "file": "tokenizer = BPETokenizer.from_pretrained(FOLDER, encoder='heap')\n"
            "tokenizer = tokenizer.with_options(post_processor=None)",
        },
        {"list": "tokenizer.encode"},
        package="bpelab",
        late=LATE,
        fresh=None,
        trainers={"train": trainers.bpelab_python, "superwords": trainers.superwords_python},
    ),
    Library(
        "gigatoken",
        "import gigatoken",
        {
            "pattern": "tokenizer = gigatoken.Tokenizer.from_tiktoken(RANKS, PATTERN, SPECIAL)",
            "file": "tokenizer = gigatoken.Tokenizer(FOLDER + '/tokenizer.json')",
        },
        {
            "list": "lambda text: tokenizer.encode(text).tolist()",  # faster than encode_batch_list([text])[0]
            "array": "tokenizer.encode",
            "batch list": "lambda texts, threads: tokenizer.encode_batch_list(texts, parallel=threads > 1)",
            "batch array": "lambda texts, threads: awkward(tokenizer.encode_batch(texts, parallel=threads > 1))",
            "decode list": "lambda ids: tokenizer.decode(ids).decode()",
            "decode array": "lambda ids: tokenizer.decode(ids).decode()",
        },
        refusal="has the patterns of known tokenizers built in, and takes no other",
        trainers={"train": trainers.gigatoken},
    ),
    Library(
        "fastokens",
        "from fastokens import Tokenizer",
        {  # it knows two encodings by name, and splits by other patterns with a regex engine, which has no possessives
            "shipped": "tokenizer = Tokenizer.from_tiktoken(RANKS, special_tokens=SPECIAL, encoding=NAME)",
            "ranks": "tokenizer = Tokenizer.from_tiktoken(RANKS, special_tokens=SPECIAL, pattern=REGEX)",
            "file": "tokenizer = Tokenizer.from_file(FOLDER + '/tokenizer.json')",
        },
        {
            "list": "lambda text: tokenizer.encode_ordinary(text).ids",
            "array": "lambda text: buffers(*tokenizer.encode_batch_flat([text], split_special_tokens=True))[0]",
            "batch list": "lambda texts, threads: "
            "[row.ids for row in tokenizer.encode_batch(texts, split_special_tokens=True)]",
            "batch array": "lambda texts, threads: "
            "buffers(*tokenizer.encode_batch_flat(texts, split_special_tokens=True))",
            **DECODE,
        },
    ),
    Library(
        "snaptokens",
        "from snaptokens import Tokenizer",
        {"any": "tokenizer = Tokenizer.from_file(FOLDER + '/plain.json')"},
        {
            "list": "lambda text: tokenizer.encode(text).ids",
            "array": "lambda text: buffers(*tokenizer.encode_batch_flat([text]))[0]",
            "batch list": "lambda texts, threads: [row.ids for row in tokenizer.encode_batch(texts)]",
            "batch array": "lambda texts, threads: buffers(*tokenizer.encode_batch_flat(texts))",
            **DECODE,
        },
    ),
    Library(
        "splintr",
        "import splintr",
        {  # it drops what a pattern doesn't match, and its regular expressions lack tiktoken's syntax
            "shipped": "tokenizer = splintr.Tokenizer.from_pretrained(NAME)",
            "cl100k": "tokenizer = splintr.Tokenizer(RANKS, splintr.CL100K_BASE_PATTERN, SPECIAL)",
            "gpt2": "tokenizer = splintr.Tokenizer(RANKS, splintr.GPT2_PATTERN, SPECIAL)",
        },
        {
            "list": "tokenizer.encode_ordinary",
            "array": "lambda text: np.frombuffer(tokenizer.encode_flat(text), np.uint32)",
            "batch list": "lambda texts, threads: tokenizer.encode_batch(texts)",
            "batch array": "lambda texts, threads: buffers(*tokenizer.encode_batch_flat(texts))",
            **DECODE,
        },
        refusal="reads .tiktoken files only, and has a few patterns built in",
        package="splintr-rs",
    ),
    Library(
        "quicktok",
        "import quicktok",
        {"shipped": "tokenizer = quicktok.Tokenizer(NAME, '')"},  # get_encoding gives the same object each time
        _calls_with_array_batches("encode_batch"),
        refusal=SHIPPED,
        package="quicktok-v1",
    ),
    Library(
        "toktok",
        "from toktok._toktok import Tokenizer",  # its public functions only count
        {"shipped": "tokenizer = Tokenizer(NAME, '')"},
        _calls_with_array_batches("encode_batch_to_numpy"),
        refusal=SHIPPED,
        package="toktok-rs",
    ),
    Library(
        "rs-bpe",
        "from rs_bpe.bpe import openai",  # `rs_bpe.openai` is a module of the same name that fails to import some names
        {"shipped": "tokenizer = getattr(openai, NAME)()"},  # loads once a process, and keeps no cache of pieces
        {
            "list": "tokenizer.encode",
            "batch list": "lambda texts, threads: tokenizer.encode_batch_parallel(texts, "
            "openai.ParallelOptions(1, max(1, len(texts) // threads), threads))[0] "
            "if threads > 1 else [tokenizer.encode(text) for text in texts]",  # it starts at least two threads
            **DECODE,
        },
        refusal=SHIPPED,
    ),
    Library(
        "bpe-openai",
        "import bpe_openai",
        {"shipped": "tokenizer = bpe_openai.get_encoding(NAME)"},  # keeps no cache of pieces
        {
            "list": "tokenizer.encode_ordinary",  # no array: encode_to_numpy makes a list first
            "batch list": "lambda texts, threads: tokenizer.encode_ordinary_batch(texts, num_threads=threads)",
            **DECODE,
        },
        refusal=SHIPPED,
    ),
    Library(
        "iree",
        "from iree.tokenizer import Tokenizer",
        {"published": "tokenizer = Tokenizer.from_tiktoken(RANKS, encoding=NAME)"},
        {
            "list": "tokenizer.encode",
            "array": "lambda text: tokenizer.encode_to_array(text).view('uint32')",
            "batch list": "lambda texts, threads: tokenizer.encode_batch(texts)",  # in one thread
            **DECODE,
        },
        refusal="knows the patterns of OpenAI's encodings by name; its own engine lacks their lookahead",
        package="iree-tokenizer",
    ),
    Library(
        "kitoken",
        "from kitoken import Kitoken",
        {"any": "tokenizer = Kitoken.from_tokenizers_file(FOLDER + '/tokenizer.json')"},
        {
            "list": "tokenizer.encode",
            "batch list": "lambda texts, threads: tokenizer.encode_all(texts)",  # in one thread
            "decode list": "lambda ids: tokenizer.decode(ids).decode()",
            "decode array": "lambda ids: tokenizer.decode(ids.tolist()).decode()",
        },
    ),
    Library(
        "tokie",
        "from tokie import Tokenizer",
        {"any": "tokenizer = Tokenizer.from_json(FOLDER + '/tokenizer.json')"},
        {
            "list": "lambda text: tokenizer.encode(text, add_special_tokens=False).ids",
            "batch list": "lambda texts, threads: "
            "[row.ids for row in tokenizer.encode_batch(texts, add_special_tokens=False)]",
            "decode list": "lambda ids: tokenizer.decode(ids) or ''",  # None for invalid UTF-8
            "decode array": "lambda ids: tokenizer.decode(ids.tolist()) or ''",
        },
    ),
    Library(
        "tokenizers",
        "from tokenizers import Tokenizer",
        {"any": "tokenizer = Tokenizer.from_file(FOLDER + '/tokenizer.json')"},
        {  # encode_batch_fast is faster than encode: it keeps no offsets
            "list": "lambda text: tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids",
            "batch list": "lambda texts, threads: "
            "[row.ids for row in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]",
            "decode list": "lambda ids: tokenizer.decode(ids, skip_special_tokens=False)",
            "decode array": "lambda ids: tokenizer.decode(ids.tolist(), skip_special_tokens=False)",
        },
        trainers={"train": trainers.tokenizers},
    ),
    Tokenizers1(
        "tokenizers 1.0",
        "from bpelab.bench.tokenizers_1 import tokenizers_1\nTokenizer = tokenizers_1().Tokenizer",
        {"any": "tokenizer = Tokenizer.from_file(FOLDER + '/plain.json')"},
        {
            "list": "lambda text: tokenizer.encode(text, add_special_tokens=False).ids",
            "array": "lambda text: tokenizer.encode(text, add_special_tokens=False).ids_array",
            "batch list": "lambda texts, threads: "
            "[row.ids for row in tokenizer.encode_batch(texts, add_special_tokens=False)]",
            "decode list": "lambda ids: tokenizer.decode(ids, skip_special_tokens=False)",
            "decode array": "lambda ids: tokenizer.decode(ids, skip_special_tokens=False)",
        },
        package="tokenizers",
        fresh=f"import os, sys\nsys.path.insert(0, os.environ['{FOLDER_1}'])\nfrom tokenizers import Tokenizer",
    ),
    Library(
        "rustbpe", "import rustbpe", refusal="trains, and loads no vocabulary", trainers={"train": trainers.rustbpe}
    ),
    Library("gigabpe", "import gigabpe", refusal="trains, and encodes nothing", trainers={"train": trainers.gigabpe}),
    Library(
        "naive Python",  # bpelab's naive encoder, like minbpe's: it scans each piece for the best pair, with no cache
        OURS,
        {
            "ranks": "model = BPETokenizer.from_pretrained(FOLDER).model\n"
            "tokenizer = BPETokenizer(model, pattern=PATTERN, encoder='naive', cache_size=0)"
        },
        {"list": "tokenizer.encode"},
        refusal="measured with byte-level vocabularies only",
        package="bpelab",
        fresh=None,
        part=16,
    ),
)

PEERS = {library.name: library for library in LIBRARIES}
