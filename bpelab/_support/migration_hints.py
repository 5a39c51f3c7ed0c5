"""Names from other libraries, and what to call here instead: the text of the AttributeError that users get.

The libraries are tiktoken (`Encoding`), Hugging Face's transformers (`PreTrainedTokenizerFast`, `BatchEncoding`) and
tokenizers (`Tokenizer`), and minbpe (`Tokenizer`). The tables list the names that programs use, not everything in these
classes. A name that bpelab has too does what it does there.
"""

from collections.abc import Mapping

ADD = "use tokenizer.with_special_tokens(names), which returns a new tokenizer"
FIXED = "pass it to the call, as in tokenizer(texts, "
PADDED, CUT = FIXED + "padding=True)", FIXED + "truncation=True, max_length=512)"
POSITIONS = "use tokenizer.encode_with_offsets(text), which says which characters each token stands for"
ROLE = 'use tokenizer.special_tokens["<the token\'s name>"]: the roles here are bos, eos, pad and unk'
WRITES = "use tokenizer.save(folder)"
OPENS = "use BPETokenizer.from_pretrained(path)"
PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder", "truncation", "padding", "dropout")

TOKENIZER: Mapping[str, str] = {
    # tiktoken
    "max_token_value": "use tokenizer.n_vocab - 1",
    "eot_token": "use tokenizer.eos_token_id",
    "special_tokens_set": "use set(tokenizer.special_tokens)",
    "encode_ordinary_batch": "use tokenizer.encode_batch(texts, add_special_tokens=False)",
    "encode_single_token": "use tokenizer.token_to_id(token)",
    "encode_to_numpy": "use tokenizer.encode_array(text)",
    "encode_with_unstable": "use StreamEncoder, which returns ids as soon as nothing can change them",
    "decode_single_token_bytes": "use tokenizer.id_to_token(token_id)",
    "decode_tokens_bytes": "use tokenizer.convert_ids_to_tokens(ids)",
    # transformers
    "added_tokens_decoder": "use {token.id: token for token in tokenizer.added_tokens}",
    "added_tokens_encoder": "use {token.content: token.id for token in tokenizer.added_tokens}",
    "additional_special_tokens": "use tokenizer.special_tokens",
    "all_special_ids": "use list(tokenizer.special_tokens.values())",
    "all_special_tokens": "use list(tokenizer.special_tokens)",
    "batch_encode_plus": "use tokenizer(texts)",
    "build_inputs_with_special_tokens": "use tokenizer.spec.post_processor, which says what is put around a text",
    "chat_template": 'use tokenizer.spec.metadata.get("chat_template")',
    "cls_token": ROLE,
    "cls_token_id": ROLE,
    "convert_tokens_to_string": 'use b"".join(tokens).decode(): tokens are bytes',
    "encode_plus": "use tokenizer(text)",
    "get_added_vocab": "use {token.content: token.id for token in tokenizer.added_tokens}",
    "mask_token": ROLE,
    "mask_token_id": ROLE,
    "metadata": "use tokenizer.spec.metadata",
    "model_max_length": 'use tokenizer.spec.metadata.get("model_max_length")',
    "padding_side": 'use tokenizer(texts, padding=True, padding_side="left")',
    "push_to_hub": "use bpelab publish and bpelab upload, or tokenizer.save(folder) and huggingface_hub.upload_folder",
    "save_vocabulary": WRITES,
    "sep_token": ROLE,
    "sep_token_id": ROLE,
    "special_tokens_map": "use tokenizer.special_tokens, and tokenizer.bos_token, eos_token, pad_token and unk_token",
    "train_new_from_iterator": "use BPETokenizer.train(texts, vocab_size)",
    "truncation_side": 'use tokenizer(texts, truncation=True, max_length=512, truncation_side="left")',
    "vocab": "use tokenizer.get_vocab(), token -> id, or tokenizer.model.tokens, id -> token",
    # tokenizers
    "add_special_tokens": ADD,
    "add_tokens": ADD,
    "enable_padding": PADDED,
    "enable_truncation": CUT,
    "encode_batch_fast": "use tokenizer.encode_batch(texts)",
    "from_file": OPENS,
    "from_str": OPENS,
    "get_vocab_size": "use len(tokenizer), or tokenizer.vocab_size without the added tokens",
    "to_str": WRITES,
    "train_from_iterator": "use BPETokenizer.train(texts, vocab_size)",
    **{
        name: f"use tokenizer.spec.{name}; tokenizer.with_options({name}=...) returns a new tokenizer" for name in PARTS
    },
    # minbpe
    "load": OPENS,
    "merges": "use tokenizer.model.merges",
    "register_special_tokens": ADD,
    # what is a function of a room here
    "from_gguf": OPENS,
    "extend": "use bpelab.editing.extend(tokenizer, corpus, new_tokens)",
    "prune": "use bpelab.editing.prune(tokenizer, keep=...)",
    "chat": "use bpelab.chat.ChatSession(model, tokenizer=tokenizer)",
}

BATCH: Mapping[str, str] = {
    "char_to_token": POSITIONS,
    "data": "use dict(batch): it is a dict",
    "encodings": POSITIONS,
    "ids": "use batch.input_ids",
    "offsets": "use the tokenizer with return_offsets=True, and batch.offset_mapping",
    "sequence_ids": "use the tokenizer with return_token_type_ids=True, and batch.token_type_ids",
    "to": 'use {name: tensor.to(device) for name, tensor in batch.items()}, with return_tensors="pt"',
    "token_to_chars": POSITIONS,
    "tokens": "use tokenizer.convert_ids_to_tokens(batch.input_ids)",
    "word_ids": POSITIONS,
}

KEYWORDS: Mapping[str, str] = {
    "num_workers": "all processors are used unasked, and client= takes a cluster",
    "clean_up_tokenization_spaces": "text is decoded as it is, and no space is cleaned up: leave it out",
}
"""Arguments from other libraries, and what to pass here instead: the text of the TypeError."""


def explained(what: str, name: str, table: Mapping[str, str]) -> str:
    """Return the message of an AttributeError.

    >>> explained("BPETokenizer", "eot_token", TOKENIZER)
    "BPETokenizer has no attribute 'eot_token': use tokenizer.eos_token_id"
    """
    advice = f": {table[name]}" if name in table else ""
    return f"{what} has no attribute {name!r}{advice}"
