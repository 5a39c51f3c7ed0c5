/* Model JSON: the vocabulary and the merges of a tokenizer.json, nearly all of a large one, as a dict and columns of
   ids.

   Only what every well-formed file has is served. For anything else the answer is None, and Python
   (`formats/tokenizer_json.py`) reads the file or says what is wrong with it. Look-ups wait for memory most of the
   time, so those of LOOKED_UP_AT_ONCE merges are started together. Cost: 0.3 s for 262,000 tokens and 515,000 merges in
   33 MB. Chapter: File formats. */
#ifndef BPELAB_MODEL_JSON_H
#define BPELAB_MODEL_JSON_H

#include "json_text.h"

enum { LOOKED_UP_AT_ONCE = 32 };
enum { SHORTEST_ENTRY = 4 }; /* bytes of the shortest token with its id, `"":0`, and of the shortest merge, `" ",` */
enum { MAX_PROBES = 1000 };  /* slots tried for one name: more, and somebody chose the names for it */

typedef struct {
    uint32_t tag, token; /* high bits of the hash; index, or NONE in a free slot */
    uint32_t start, size; /* of its bytes in `content` */
} NameSlot;

typedef struct {
    uint8_t *content; /* the tokens' bytes, end to end */
    uint32_t *ids;
    int64_t count;
    NameSlot *slots;
    uint64_t mask;
    int shift;
} NameTable;

static void names_free(NameTable *names) {
    free(names->content);
    free(names->ids);
    free(names->slots);
}

/* A hash of bytes, of which all but the last few are read eight at once. */
static uint64_t hash_name(const uint8_t *bytes, int64_t size) {
    uint64_t hash = fibonacci_hash((uint64_t)size + 1);
    for (; size >= 8; bytes += 8, size -= 8) hash = fibonacci_hash(hash ^ hash >> 32 ^ load64(bytes));
    uint64_t rest = 0;
    for (int64_t i = 0; i < size; i++) rest |= (uint64_t)bytes[i] << 8 * i;
    hash = fibonacci_hash(hash ^ hash >> 32 ^ rest);
    return fibonacci_hash(hash ^ hash >> 29);
}

/* The slot of a token, or the free one where it would be; NULL after MAX_PROBES. */
static NameSlot *find_name(const NameTable *names, const uint8_t *bytes, int64_t size, uint64_t hash) {
    uint64_t at = hash >> names->shift;
    for (int probes = 0; probes < MAX_PROBES; probes++, at = (at + 1) & names->mask) {
        NameSlot *slot = names->slots + at;
        if (slot->token == NONE || (slot->tag == (uint32_t)hash && slot->size == size &&
                                    !memcmp(names->content + slot->start, bytes, (size_t)size)))
            return slot;
    }
    return NULL;
}

/* Read the object of tokens and ids that comes next. `ends` gets where each token ends in `content`; both have as many
   bytes as the text. 0 if it is odd. */
static int read_names(NameTable *names, Cursor *text, uint32_t *ends) {
    uint8_t *out = names->content;
    if (!takes(text, '{')) return 0;
    if (takes(text, '}')) return 1;
    do {
        int64_t size = read_string(text, out), id = size >= 0 && takes(text, ':') ? read_uint32(text) : -1;
        if (id < 0) return 0;
        out += size;
        ends[names->count] = (uint32_t)(out - names->content);
        names->ids[names->count++] = (uint32_t)id;
    } while (takes(text, ','));
    return takes(text, '}');
}

/* Build the table of the names. 0 if memory runs out or one is there twice. */
static int index_names(NameTable *names, const uint32_t *ends) {
    uint64_t size = next_power_of_two(2 * (uint64_t)names->count);
    if (!(names->slots = malloc(size * sizeof *names->slots))) return 0;
    memset(names->slots, 0xFF, size * sizeof *names->slots);
    names->mask = size - 1;
    names->shift = hash_shift(size);
    for (int64_t t = 0; t < names->count; t++) {
        uint32_t start = t ? ends[t - 1] : 0, length = ends[t] - start;
        uint64_t hash = hash_name(names->content + start, length);
        NameSlot *slot = find_name(names, names->content + start, length, hash);
        if (!slot || slot->token != NONE) return 0;
        *slot = (NameSlot){(uint32_t)hash, (uint32_t)t, start, length};
    }
    return 1;
}

/* Read a merge, "a b" or ["a", "b"], to `out`, end to end; the size of both and, in `left_size`, of the first; or -1. */
static int64_t read_merge(Cursor *text, uint8_t *out, int64_t *left_size) {
    if (!takes(text, '[')) {
        int64_t size = read_string(text, out);
        uint8_t *space = size > 0 ? memchr(out, ' ', (size_t)size) : NULL;
        if (!space || (size >= 8 && !memcmp(out, "#version", 8))) return -1; /* it begins a merges.txt */
        *left_size = space - out;
        memmove(space, space + 1, (size_t)(out + size - space - 1));
        return memchr(space, ' ', (size_t)(out + size - space - 1)) ? -1 : size - 1;
    }
    if ((*left_size = read_string(text, out)) < 0 || !takes(text, ',')) return -1;
    int64_t right_size = read_string(text, out + *left_size);
    return right_size >= 0 && takes(text, ']') ? *left_size + right_size : -1;
}

typedef struct {
    const uint8_t *bytes; /* of the left and the right token */
    int64_t size, left_size;
    uint64_t hashes[3]; /* of the left, the right and the new token */
} WrittenMerge;

/* The token of each part of a merge, and of both joined, to `found`; 0 if one has none. */
static int find_merge_names(const NameTable *names, const WrittenMerge *merge, uint32_t found[3]) {
    const uint8_t *starts[3] = {merge->bytes, merge->bytes + merge->left_size, merge->bytes};
    int64_t sizes[3] = {merge->left_size, merge->size - merge->left_size, merge->size};
    for (int part = 0; part < 3; part++) {
        const NameSlot *slot = find_name(names, starts[part], sizes[part], merge->hashes[part]);
        if (!slot || (found[part] = slot->token) == NONE) return 0;
    }
    return 1;
}

/* Whether all pairs are different; 0 too if memory runs out, or the pairs were chosen to be slow. */
static int are_different(const uint32_t *left, const uint32_t *right, int64_t count) {
    uint64_t size = next_power_of_two(2 * (uint64_t)count), *pairs = malloc(size * sizeof *pairs);
    int different = pairs != NULL, shift = hash_shift(size);
    if (pairs) memset(pairs, 0xFF, size * sizeof *pairs);
    for (int64_t i = 0; different && i < count; i++) {
        uint64_t pair = (uint64_t)left[i] << 32 | right[i], at = fibonacci_hash(pair) >> shift;
        int probes = 0;
        while (pairs[at] != EMPTY && pairs[at] != pair && probes++ < MAX_PROBES) at = (at + 1) & (size - 1);
        different = pairs[at] == EMPTY && pair != EMPTY;
        pairs[at] = pair;
    }
    free(pairs);
    return different;
}

/* Read the list of merges that comes next, of at most `most`; their left, right and new ids to `columns`; their
   number, or -1. `space` has as many bytes as the text. */
static int64_t parse_merges(const NameTable *names, Cursor *text, int64_t most, uint8_t *space, uint32_t *columns[3]) {
    WrittenMerge merges[LOOKED_UP_AT_ONCE];
    int64_t count = 0;
    if (!takes(text, '[')) return -1;
    if (takes(text, ']')) return 0;
    for (int more = 1; more;) {
        uint8_t *out = space;
        int number = 0;
        while (more && number < LOOKED_UP_AT_ONCE) {
            WrittenMerge *merge = merges + number++;
            if ((merge->size = read_merge(text, out, &merge->left_size)) < 0) return -1;
            merge->bytes = out;
            out += merge->size;
            merge->hashes[0] = hash_name(merge->bytes, merge->left_size);
            merge->hashes[1] = hash_name(merge->bytes + merge->left_size, merge->size - merge->left_size);
            merge->hashes[2] = hash_name(merge->bytes, merge->size);
            for (int part = 0; part < 3; part++) PREFETCH(names->slots + (merge->hashes[part] >> names->shift));
            more = takes(text, ',');
        }
        if (count + number > most) return -1;
        for (int i = 0; i < number; i++, count++) {
            uint32_t found[3];
            if (!find_merge_names(names, merges + i, found)) return -1;
            for (int part = 0; part < 3; part++) columns[part][count] = names->ids[found[part]];
        }
        if (stopped_by_user(count)) return -1;
    }
    return takes(text, ']') ? count : -1;
}

/* The tokens and their ids as a dict; NULL with an exception set. */
static PyObject *names_dict(const NameTable *names, const uint32_t *ends) {
    PyObject *dict = PyDict_New();
    for (int64_t t = 0; dict && t < names->count; t++) {
        uint32_t start = t ? ends[t - 1] : 0;
        PyObject *name = PyUnicode_DecodeUTF8((const char *)names->content + start, ends[t] - start, NULL);
        PyObject *id = PyLong_FromUnsignedLong(names->ids[t]);
        if (!name || !id || PyDict_SetItem(dict, name, id) < 0) Py_CLEAR(dict);
        Py_XDECREF(name);
        Py_XDECREF(id);
    }
    return dict;
}

/* Read the vocabulary and the merges at the cursors, which end after them: (vocab, left, right, new); None if they
   are odd; NULL with an exception set. */
static PyObject *read_model_parts(NameTable *names, Cursor *vocab, Cursor *merges) {
    size_t vocab_size = (size_t)(vocab->end - vocab->at), merges_size = (size_t)(merges->end - merges->at);
    int64_t most = (int64_t)merges_size / SHORTEST_ENTRY + 1, count = -1;
    uint32_t *ends = malloc(vocab_size + 8), *columns[3];
    uint8_t *space = malloc(merges_size + PAD);
    PyObject *result = NULL, *dict;
    for (int part = 0; part < 3; part++) columns[part] = malloc((size_t)most * sizeof *columns[part]);
    names->content = malloc(vocab_size + PAD);
    names->ids = malloc(vocab_size + 8);
    if (!ends || !space || !columns[0] || !columns[1] || !columns[2] || !names->content || !names->ids) goto end;
    if (!read_names(names, vocab, ends) || !index_names(names, ends)) goto end;
    if ((count = parse_merges(names, merges, most, space, columns)) < 0 ||
        !are_different(columns[0], columns[1], count))
        goto end;
    if ((dict = names_dict(names, ends)))
        result = Py_BuildValue("Ny#y#y#", dict, columns[0], (Py_ssize_t)(4 * count), columns[1],
                               (Py_ssize_t)(4 * count), columns[2], (Py_ssize_t)(4 * count));
    else if (PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
        PyErr_Clear();
end:
    free(ends);
    free(space);
    for (int part = 0; part < 3; part++) free(columns[part]);
    return result || PyErr_Occurred() ? result : Py_NewRef(Py_None);
}

/* model_json(content): see its docstring. */
static PyObject *model_json(PyObject *module, PyObject *given) {
    (void)module;
    if (!PyBytes_CheckExact(given)) return PyErr_Format(PyExc_TypeError, "content must be bytes");
    const uint8_t *start = (const uint8_t *)PyBytes_AS_STRING(given);
    Cursor vocab = {start, start + PyBytes_GET_SIZE(given)}, merges;
    if (PyBytes_GET_SIZE(given) > UINT32_MAX || !find_key(&vocab, "model")) Py_RETURN_NONE;
    merges = vocab;
    if (!find_key(&vocab, "vocab") || !find_key(&merges, "merges")) Py_RETURN_NONE;
    NameTable names = {0};
    int64_t vocab_start = vocab.at - start, merges_start = merges.at - start;
    PyObject *parts = read_model_parts(&names, &vocab, &merges), *result = parts;
    names_free(&names);
    if (parts && parts != Py_None) {
        result = Py_BuildValue("O(LL)(LL)", parts, (long long)vocab_start, (long long)(vocab.at - start),
                               (long long)merges_start, (long long)(merges.at - start));
        Py_DECREF(parts);
    }
    return result;
}

#endif
