"""Names that users of other libraries type, and what to call here: the text of the AttributeError that they get.

The libraries are tiktoken (`Encoding`), Hugging Face's transformers (`PreTrainedTokenizerFast`, `BatchEncoding`) and
tokenizers (`Tokenizer`), and minbpe (`Tokenizer`). What exists here under the same name does what it does there.
"""

from collections.abc import Mapping

ADD = "use tokenizer.with_special_tokens(names), which returns a new tokenizer"
CANT_CHANGE = "use tokenizer.with_options(...), which returns a new tokenizer: this one can't be changed"
OF_TEMPLATE = 'use tokenizer.metadata.get("chat_template")'
FIXED = "pass it to the call, as in tokenizer(texts, "
PADDED, CUT = FIXED + "padding=True)", FIXED + "truncation=True, max_length=512)"
ASYNC = ", in a thread of yours: asyncio.to_thread"
POSITIONS = "use tokenizer.encode_with_offsets(text), which says which characters each token stands for"
ROLE = 'use tokenizer.special_tokens["<the token\'s name>"]: the roles here are bos, eos, pad and unk'
WRITES = "use tokenizer.save(folder)"

TOKENIZER: Mapping[str, str] = {
    # tiktoken
    "name": "use a name of your own: a tokenizer has none",
    "max_token_value": "use tokenizer.n_vocab - 1",
    "eot_token": "use tokenizer.eos_token_id",
    "special_tokens_set": "use set(tokenizer.special_tokens)",
    "is_special_token": "use token_id in tokenizer.special_tokens.values()",
    "encode_single_token": "use tokenizer.token_to_id(token)",
    "encode_to_numpy": "use tokenizer.encode_array(text)",
    "encode_with_unstable": "use StreamEncoder, which returns ids as soon as nothing can change them",
    "decode_single_token_bytes": "use tokenizer.id_to_token(token_id)",
    "decode_tokens_bytes": "use tokenizer.convert_ids_to_tokens(ids)",
    "decode_bytes_batch": "use [tokenizer.decode_bytes(ids) for ids in batch]",
    "token_byte_values": "use sorted(tokenizer.model.ids)",
    # transformers
    "SPECIAL_TOKENS_ATTRIBUTES": "use tokenizer.special_tokens",
    "add_bos_token": "use tokenizer.post_processor, which says what is put around a text",
    "add_eos_token": "use tokenizer.post_processor, which says what is put around a text",
    "add_prefix_space": "use tokenizer.pre_tokenizer, which says how a text is cut",
    "added_tokens_decoder": "use {token.id: token for token in tokenizer.added_tokens}",
    "added_tokens_encoder": "use {token.content: token.id for token in tokenizer.added_tokens}",
    "additional_special_tokens": "use tokenizer.special_tokens",
    "additional_special_tokens_ids": "use list(tokenizer.special_tokens.values())",
    "all_special_ids": "use list(tokenizer.special_tokens.values())",
    "all_special_tokens": "use list(tokenizer.special_tokens)",
    "as_target_tokenizer": "use tokenizer(texts): targets are encoded as everything is",
    "backend": "there is one",
    "backend_tokenizer": "there is no tokenizer behind this one",
    "batch_encode_plus": "use tokenizer(texts)",
    "build_inputs_with_special_tokens": "use tokenizer.post_processor, which says what is put around a text",
    "can_save_slow_tokenizer": WRITES,
    "chat_template": OF_TEMPLATE,
    "clean_up_tokenization": "use tokenizer.decode(ids), which leaves spaces as they are",
    "clean_up_tokenization_spaces": "use tokenizer.decode(ids), which leaves spaces as they are",
    "cls_token": ROLE,
    "cls_token_id": ROLE,
    "convert_added_tokens": ADD,
    "convert_to_native_format": "use BPETokenizer.from_pretrained(path)",
    "create_token_type_ids_from_sequences": "use tokenizer(text, text_pair, return_token_type_ids=True)",
    "deprecation_warnings": "use warnings.filterwarnings",
    "encode_message_with_chat_template": "use tokenizer.apply_chat_template(messages)",
    "encode_plus": "use tokenizer(text)",
    "files_loaded": "a tokenizer does not keep the names of its files",
    "get_added_vocab": "use {token.content: token.id for token in tokenizer.added_tokens}",
    "get_chat_template": OF_TEMPLATE,
    "get_special_tokens_mask": 'use tokenizer(text, return_special_tokens_mask=True)["special_tokens_mask"]',
    "init_inputs": "use tokenizer.with_options(...)",
    "init_kwargs": "use tokenizer.with_options(...)",
    "is_fast": "there is one kind of tokenizer",
    "mask_token": ROLE,
    "mask_token_id": ROLE,
    "max_len_sentences_pair": 'use tokenizer.metadata.get("model_max_length")',
    "max_len_single_sentence": 'use tokenizer.metadata.get("model_max_length")',
    "model_input_names": "use list(tokenizer(text)), the names of what a call returns",
    "model_max_length": 'use tokenizer.metadata.get("model_max_length")',
    "name_or_path": "use a name of your own: a tokenizer has none",
    "num_special_tokens_to_add": 'use len(tokenizer.encode("")), which has what is put around a text',
    "pad_token_type_id": "it is 0",
    "padding_side": 'use tokenizer(texts, padding=True, padding_side="left")',
    "parse_response": "use json.loads or an expression of your own on the answer's text",
    "prepare_for_model": "use tokenizer(text)",
    "prepare_seq2seq_batch": "use tokenizer(texts)",
    "pretrained_vocab_files_map": "use BPETokenizer.from_huggingface(name)",
    "push_to_hub": "use bpelab publish and bpelab upload, or tokenizer.save(folder) and huggingface_hub.upload_folder",
    "register_for_auto_class": "use tokenizer.save(folder), which AutoTokenizer opens",
    "response_schema": "use json.loads or an expression of your own on the answer's text",
    "sanitize_special_tokens": ADD,
    "save_chat_templates": WRITES,
    "save_vocabulary": WRITES,
    "sep_token": ROLE,
    "sep_token_id": ROLE,
    "set_truncation_and_padding": FIXED + "padding=True, truncation=True)",
    "slow_tokenizer_class": "there is one kind of tokenizer",
    "special_tokens_map": "use tokenizer.special_tokens, and tokenizer.bos_token, eos_token, pad_token and unk_token",
    "special_tokens_map_extended": "use tokenizer.added_tokens",
    "split_special_tokens": "use tokenizer.encode(text, allowed_special=()), which is the default",
    "train_new_from_iterator": "use BPETokenizer.train(texts, vocab_size)",
    "truncate_sequences": CUT,
    "truncation_side": 'use tokenizer(texts, truncation=True, max_length=512, truncation_side="left")',
    "update_post_processor": CANT_CHANGE,
    "verbose": "use the module logging or warnings",
    "vocab": "use tokenizer.get_vocab(), token -> id, or tokenizer.model.tokens, id -> token",
    "vocab_files_names": WRITES,
    # tokenizers
    "add_special_tokens": ADD,
    "add_tokens": ADD,
    "async_decode_batch": "use tokenizer.decode_batch(batch)" + ASYNC,
    "async_encode": "use tokenizer.encode(text)" + ASYNC,
    "async_encode_batch": "use tokenizer.encode_batch(texts)" + ASYNC,
    "async_encode_batch_fast": "use tokenizer.encode_batch_fast(texts)" + ASYNC,
    "enable_padding": PADDED,
    "enable_truncation": CUT,
    "encode_special_tokens": 'use tokenizer.encode(text, allowed_special="all")',
    "from_buffer": "use BPETokenizer.from_pretrained(path)",
    "from_file": "use BPETokenizer.from_pretrained(path)",
    "from_str": "use BPETokenizer.from_pretrained(path)",
    "get_added_tokens_decoder": "use {token.id: token for token in tokenizer.added_tokens}",
    "get_vocab_size": "use len(tokenizer), or tokenizer.vocab_size without the added tokens",
    "no_padding": PADDED,
    "no_truncation": CUT,
    "post_process": "use tokenizer.post_processor, which says what is put around a text",
    "to_str": WRITES,
    "train_from_iterator": "use BPETokenizer.train(texts, vocab_size)",
    # minbpe
    "byte_shuffle": "use tokenizer.model.tokens, in which a byte's id may be any",
    "compiled_pattern": "use tokenizer.pattern",
    "inverse_byte_shuffle": "use tokenizer.model.tokens, in which a byte's id may be any",
    "inverse_special_tokens": "use {token_id: name for name, token_id in tokenizer.special_tokens.items()}",
    "load": "use BPETokenizer.from_pretrained(path)",
    "merges": "use tokenizer.model.merges",
    "register_special_tokens": ADD,
    "save_vocab": "use tokenizer.get_vocab()",
}

BATCH: Mapping[str, str] = {
    "char_to_token": POSITIONS,
    "char_to_word": POSITIONS,
    "convert_to_tensors": 'use the tokenizer with return_tensors="np" or "pt"',
    "data": "use dict(batch): it is a dict",
    "encodings": POSITIONS,
    "ids": "use batch.input_ids",
    "is_fast": "there is one kind of tokenizer",
    "n_sequences": "use len(batch.input_ids)",
    "offsets": "use the tokenizer with return_offsets=True, and batch.offset_mapping",
    "overflowing": "use the tokenizer with return_overflowing_tokens=True, which makes rows of them",
    "sequence_ids": "use the tokenizer with return_token_type_ids=True, and batch.token_type_ids",
    "to": 'use {name: tensor.to(device) for name, tensor in batch.items()}, with return_tensors="pt"',
    "token_to_chars": POSITIONS,
    "token_to_sequence": "use the tokenizer with return_token_type_ids=True, and batch.token_type_ids",
    "token_to_word": POSITIONS,
    "tokens": "use tokenizer.convert_ids_to_tokens(batch.input_ids)",
    "type_ids": "use the tokenizer with return_token_type_ids=True, and batch.token_type_ids",
    "word_ids": POSITIONS,
    "word_to_chars": POSITIONS,
    "word_to_tokens": POSITIONS,
    "words": POSITIONS,
}


def explained(what: str, name: str, table: Mapping[str, str]) -> str:
    """Return what an AttributeError says.

    >>> explained("BPETokenizer", "eot_token", TOKENIZER)
    "BPETokenizer has no attribute 'eot_token': use tokenizer.eos_token_id"
    """
    advice = f": {table[name]}" if name in table else ""
    return f"{what} has no attribute {name!r}{advice}"
