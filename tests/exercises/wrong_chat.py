"""Plausible wrong answers to the exercises of *Chat on your hardware*."""


def first_backend_there(preference, listed, refuses):
    for backend, kinds in listed.items():
        if backend not in refuses:
            return next(((backend, kind) for name, wanted in preference for kind in kinds if kind in wanted), None)
    return None


def without_refusals(preference, listed, refuses):
    for backend, kinds in preference:
        for kind in listed.get(backend, []):
            if kind in kinds:
                return backend, kind
    return None


def each_backend_once(preference, listed, refuses):
    seen = set(refuses)
    for backend, kinds in preference:
        if backend not in seen:
            seen.add(backend)
            for kind in listed.get(backend, []):
                if kind in kinds:
                    return backend, kind
    return None


def any_device(preference, listed, refuses):
    for backend, _ in preference:
        if listed.get(backend) and backend not in refuses:
            return backend, listed[backend][0]
    return None


def up_to_the_shorter(ours, theirs):
    return next((index for index, (one, two) in enumerate(zip(ours, theirs)) if one != two), None)


def the_longer_end(ours, theirs):
    for index in range(min(len(ours), len(theirs))):
        if ours[index] != theirs[index]:
            return index
    return None if ours == theirs else max(len(ours), len(theirs))


def the_last_one(ours, theirs):
    places = [index for index, (one, two) in enumerate(zip(ours, theirs)) if one != two]
    return places[-1] if places else None if len(ours) == len(theirs) else min(len(ours), len(theirs))


def as_sets(ours, theirs):
    return next((index for index, token in enumerate(ours) if token not in theirs), None)


def only_keys(config, tokens, number_bytes):
    heads = config["num_attention_heads"]
    size = config.get("head_dim", config["hidden_size"] // heads)
    return config["num_hidden_layers"] * config.get("num_key_value_heads", heads) * size * number_bytes * tokens


def all_heads(config, tokens, number_bytes):
    heads = config["num_attention_heads"]
    size = config.get("head_dim", config["hidden_size"] // heads)
    return 2 * config["num_hidden_layers"] * heads * size * number_bytes * tokens


def the_width(config, tokens, number_bytes):
    return 2 * config["num_hidden_layers"] * config["hidden_size"] * number_bytes * tokens


def size_by_groups(config, tokens, number_bytes):
    heads = config.get("num_key_value_heads", config["num_attention_heads"])
    size = config.get("head_dim", config["hidden_size"] // heads)
    return 2 * config["num_hidden_layers"] * heads * size * number_bytes * tokens


WRONG = {
    "chat.1": [first_backend_there, without_refusals, each_backend_once, any_device],
    "chat.2": [up_to_the_shorter, the_longer_end, the_last_one, as_sets],
    "chat.3": [only_keys, all_heads, the_width, size_by_groups],
}
