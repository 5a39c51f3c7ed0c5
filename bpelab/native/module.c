/* The Python module: an Encoder has the tables and turns str into lists or arrays of ids, a Decoder turns ids into
   bytes; the types that train are in files of their own.

   Calls for a few thousand bytes keep the interpreter's lock (the GIL), longer ones release it and check for signals
   between slices. Each call has its own context of scratch memory, taken from a pool. Ints are created once and shared
   by all lists. There is no lock of its own here, and no thread, that a fork could leave behind. What calls share is
   changed only with the interpreter's lock held: a free-threaded Python enables it when this is loaded (there is no
   Py_mod_gil), and a subinterpreter may import this if it shares the lock. Chapter: Native code. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "building.h"
#include "decode.h"
#include "superwords.h"
#include "table_file.h"
#include "utf8.h"

enum { MAX_SHORT_TEXT = 4096, SLICE = 1 << 22 }; /* bytes: encoded with the lock held; between two checks for signals */
enum { MAX_CACHED_INTS = 1 << 21 };

typedef struct CallContext {
    Workspace workspace;
    Refiner refiner;
    const Superwords *superwords;
    SuperwordScratch scratch;
    struct CallContext *next; /* in the pool */
} CallContext; /* scratch memory of one call */

typedef struct {
    PyObject_HEAD
    Vocabulary vocabulary;
    Level levels[MAX_LEVELS];
    int level_count;
    CallContext *pool; /* linked list of the contexts not in use; guarded by the interpreter's lock */
    PyObject **int_cache;
    int64_t int_cache_size;
    Py_buffer mapped; /* the block with the tables; its `obj` is NULL if they are the Encoder's own */
    PyObject *words;  /* the Encoder of words, for superwords, or NULL */
    Superwords superwords;
} Encoder;

static int check_signals(void) {
    PyGILState_STATE state = PyGILState_Ensure();
    int found = PyErr_CheckSignals();
    PyGILState_Release(state);
    return found;
}

static void context_free(CallContext *workspace) {
    cache_free(&workspace->workspace.cache);
    free(workspace->refiner.ends);
    free(workspace->refiner.compacted);
    free(workspace->scratch.merges);
    free(workspace);
}

static CallContext *acquire_context(Encoder *self) {
    CallContext *found = self->pool;
    if (found) {
        self->pool = found->next;
    } else if ((found = calloc(1, sizeof *found))) {
        Refiner *refiner = &found->refiner;
        refiner->vocabulary = &self->vocabulary;
        refiner->workspace = &found->workspace;
        found->superwords = &self->superwords;
        refiner->ends = malloc(((size_t)self->level_count + 1) * sizeof *refiner->ends);
        if (!cache_new(&found->workspace.cache) || !refiner->ends) {
            context_free(found);
            found = NULL;
        }
    }
    return found;
}

static void release_context(Encoder *self, CallContext *workspace) {
    workspace->next = self->pool;
    self->pool = workspace;
}

static PyObject *encode_failed(int64_t code) {
    if (code == LOOKAHEAD_EXCEEDED) Py_RETURN_NONE;
    return code == NO_MEMORY ? PyErr_NoMemory() : NULL;
}

/* ---- Making an Encoder ---- */

/* Copy a buffer of items of `size` bytes, padded; their number to `*count`. NULL with an exception set. */
static void *copy_buffer(PyObject *from, size_t size, int64_t *count) {
    Py_buffer view;
    if (PyObject_GetBuffer(from, &view, PyBUF_SIMPLE) < 0) return NULL;
    void *made = malloc((size_t)view.len + PAD);
    if (made) {
        memcpy(made, view.buf, (size_t)view.len);
        memset((char *)made + view.len, 0, PAD);
        *count = view.len / (Py_ssize_t)size;
    } else {
        PyErr_NoMemory();
    }
    PyBuffer_Release(&view);
    return made;
}

static int value_error(const char *what) {
    PyErr_SetString(PyExc_ValueError, what);
    return 0;
}

/* Build the table of scan.h from that of `regex/dfa.py`: (transitions, width, start, stage1, stage2). */
static int read_scan(Scan *scan, PyObject *given) {
    PyObject *transitions, *stage1, *stage2;
    int width, start, done = 0;
    int64_t entries, blocks, classes;
    int32_t *old = NULL;
    if (!PyArg_ParseTuple(given, "OiiOO", &transitions, &width, &start, &stage1, &stage2)) return 0;
    if (!(old = copy_buffer(transitions, 4, &entries)) || !(scan->stage1 = copy_buffer(stage1, 2, &blocks)) ||
        !(scan->stage2 = copy_buffer(stage2, 1, &classes)))
        goto end;
    if (width < 1 || width > 256 || entries % width || entries / width > 1 << 15 || start < 0 ||
        start >= entries / width || blocks != 0x1100) {
        value_error("the table of the pattern has an impossible size");
        goto end;
    }
    int64_t states = entries / width, row = (int64_t)next_power_of_two((uint64_t)width);
    for (int64_t i = 0; i < entries; i++)
        if (old[i] < 0 || old[i] >> 1 >= states) {
            value_error("the table of the pattern leads to a state that does not exist");
            goto end;
        }
    for (int64_t i = 0; i < blocks; i++)
        if ((int64_t)scan->stage1[i] * 256 + 255 >= classes) {
            value_error("the classes of characters have a block that does not exist");
            goto end;
        }
    for (int64_t i = 0; i < classes; i++)
        if (scan->stage2[i] >= width) {
            value_error("a character has a class that does not exist");
            goto end;
        }
    if (!(scan->steps = calloc((size_t)(states * row), 4))) {
        PyErr_NoMemory();
        goto end;
    }
    scan->edge = width - 1;
    scan->start = (int32_t)(start * row);
    for (int64_t state = 0; state < states; state++)
        for (int class = 0; class < width; class++) {
            int32_t next = old[state * width + class] >> 1, matched = old[state * width + class] & 1;
            int32_t begun = old[start * width + class] >> 1; /* the state after the first character of a piece */
            int commits = !next && matched && begun;
            int32_t step = (int32_t)((commits ? begun : next) * row * 16) + (commits ? COMMIT : matched ? MATCH : 0);
            if (!next && !commits) step |= STOP;
            if (class == scan->edge) step = matched ? MATCH : STOP;
            scan->steps[state * row + class] = step;
        }
    memcpy(scan->byte_class, scan->stage2 + scan->stage1[0] * 256, 128);
    find_barren_bytes(scan);
    scan->fold = 32;
    for (int64_t state = 0; state < states; state++) { /* a state that letters don't leave: runs of them are skipped */
        int small = 1, capitals = 1;
        for (int letter = 0; letter < 26; letter++) {
            int32_t here = (int32_t)(state * row * 16) + MATCH;
            small &= scan->steps[state * row + scan->byte_class['a' + letter]] == here;
            capitals &= scan->steps[state * row + scan->byte_class['A' + letter]] == here;
        }
        if (!small) continue;
        if (!capitals) scan->fold = 0;
        for (int64_t i = 0; i < states * row; i++)
            if (scan->steps[i] / (row * 16) == state) scan->steps[i] |= RUN;
    }
    scan->readers = readers_new(scan, states, (int32_t)row);
    done = 1;
end:
    free(old);
    return done;
}

/* Read the levels: see the docstring of Encoder. If the vocabulary itself has boundaries, they are one more, the
   last. */
static int read_levels(Encoder *self, PyObject *given) {
    int implied = self->vocabulary.boundary_rule != NO_BOUNDARIES;
    if (PyTuple_GET_SIZE(given) > MAX_LEVELS - implied)
        return value_error("there are more patterns than the encoder has levels");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); i++) {
        Level *level = self->levels + self->level_count++; /* zeroed */
        PyObject *item = PyTuple_GET_ITEM(given, i), *scan;
        const char *needs;
        Py_ssize_t size;
        if (!PyTuple_Check(item)) return value_error("a level must be a tuple: see the docstring");
        if (!PyArg_ParseTuple(item, "iy#O!", &level->keep, &needs, &size, &PyTuple_Type, &scan)) return 0;
        if (level->keep < ALL || level->keep > GAPS) return value_error("a level must keep all, matches or gaps");
        level->kind = PATTERN;
        level->required_size = size;
        if (size && !(level->required = malloc((size_t)size))) return PyErr_NoMemory(), 0;
        if (size) memcpy(level->required, needs, (size_t)size);
        if (!read_scan(&level->scan, scan)) return 0;
    }
    if (implied) self->levels[self->level_count++].kind = ADJACENCY;
    return 1;
}

/* Read the Encoder of words, or None. */
static int read_words_encoder(Encoder *self, PyObject *words) {
    if (words == Py_None) return 1;
    if (Py_TYPE(words) != Py_TYPE(self)) return value_error("words must be an Encoder");
    int built = self->level_count == 1 && self->levels[0].kind == PATTERN && self->levels[0].keep == ALL &&
                        !self->levels[0].required_size
                    ? superwords_build(&self->superwords, &self->vocabulary, &((Encoder *)words)->vocabulary)
                    : 0;
    if (built == NO_MEMORY) return PyErr_NoMemory(), 0;
    if (!built) return value_error("these words can't be the first stage of this vocabulary");
    self->words = Py_NewRef(words);
    return 1;
}

/* Read the units: (rows, tokens, char_level, unk, fuse_unk, boundary_rule), as in vocabulary.h. */
static int read_units(Vocabulary *v, PyObject *given) {
    PyObject *rows, *tokens;
    int64_t entries;
    if (!PyArg_ParseTuple(given, "OOpIpi", &rows, &tokens, &v->char_level, &v->unk, &v->fuse_unk, &v->boundary_rule) ||
        !(v->unit_rows = copy_buffer(rows, 2, &entries)) ||
        !(v->unit_tokens = copy_buffer(tokens, 4, &v->unit_entries)))
        return 0;
    int right = entries == 4 * UNIT_BLOCKS && v->unit_entries >= 256 && v->unit_entries <= 256 << 16 &&
                v->unit_entries % 256 == 0 && v->boundary_rule >= NO_BOUNDARIES &&
                v->boundary_rule <= AT_KNOWN_SPACES && (v->char_level || v->boundary_rule == NO_BOUNDARIES) &&
                (v->unk == NONE || v->unk < v->id_count);
    for (int64_t i = 0; right && i < entries; i++) right = v->unit_rows[i] < v->unit_entries / 256;
    for (int64_t i = 0; right && i < v->unit_entries; i++)
        right = v->unit_tokens[i] == NONE || v->unit_tokens[i] < v->token_count;
    return right || value_error("the units have a table or a token that does not exist");
}

/* Read the vocabulary and build its tables: see the docstring of Encoder. */
static int read_vocabulary(Vocabulary *v, PyObject *content, PyObject *offsets, PyObject *ids, PyObject *bytes,
                           PyObject *merges, PyObject *units, int alphabet_size) {
    int64_t size, count, numbers, entries = 0;
    Pair *given = NULL;
    uint32_t *byte_tokens = NULL;
    int one_pair_each = 1, done = 0;
    if (!(v->content = copy_buffer(content, 1, &size)) || !(v->offsets = copy_buffer(offsets, 4, &count)) ||
        !(v->ids = copy_buffer(ids, 4, &numbers)) || !(byte_tokens = copy_buffer(bytes, 4, &entries)))
        goto end;
    v->token_count = count - 1;
    v->id_count = numbers;
    v->content_size = size;
    if (count < 2 || numbers > 1 << TOKEN_BITS || numbers < v->token_count ||
        (numbers > v->token_count && units == Py_None) || v->offsets[0] || v->offsets[v->token_count] != size ||
        alphabet_size < 0 || alphabet_size > v->token_count || entries != 256) {
        value_error("the tokens have an impossible size");
        goto end;
    }
    v->ids_are_indices = 1;
    for (int64_t t = 0; t < v->token_count; t++)
        if (v->offsets[t + 1] <= v->offsets[t]) {
            value_error("a token has no bytes");
            goto end;
        }
    for (int64_t t = 0; t < numbers; t++) v->ids_are_indices = v->ids_are_indices && v->ids[t] == t;
    if (units != Py_None && !read_units(v, units)) goto end;
    for (int i = 0; i < 256; i++)
        if ((v->byte_tokens[i] = byte_tokens[i]) >= numbers && !(v->unit_entries && byte_tokens[i] == NONE)) {
            value_error("a byte has a token that does not exist");
            goto end;
        }
    if (merges != Py_None) {
        PyObject *pairs, *made;
        if (!PyArg_ParseTuple(merges, "OOp", &pairs, &made, &one_pair_each) ||
            !(given = copy_buffer(pairs, sizeof *given, &entries)) ||
            !(v->result = copy_buffer(made, 4, &v->merge_count)))
            goto end;
        int right = v->merge_count <= 1 << MERGE_BITS && entries <= 1 << MERGE_BITS;
        for (int64_t i = 0; right && i < v->merge_count; i++) right = v->result[i] < v->token_count;
        for (int64_t i = 0; right && i < entries; i++)
            right = given[i].left >= 0 && given[i].left < v->token_count && given[i].right >= 0 &&
                    given[i].right < v->token_count && given[i].merge >= 0 && given[i].merge < v->merge_count;
        if (!right) {
            value_error("a merge has a token that does not exist");
            goto end;
        }
    }
    if (!(done = vocabulary_build(v, given, entries, one_pair_each, alphabet_size))) PyErr_NoMemory();
end:
    free(given);
    free(byte_tokens);
    return done;
}

/* Allocate the cache of ints, one for each id; an int is created when its id is first needed. */
static int new_int_cache(Encoder *self) {
    for (int64_t t = 0; t < self->vocabulary.id_count; t++)
        if ((int64_t)self->vocabulary.ids[t] >= self->int_cache_size)
            self->int_cache_size = (int64_t)self->vocabulary.ids[t] + 1;
    if (self->int_cache_size > MAX_CACHED_INTS) self->int_cache_size = MAX_CACHED_INTS;
    if ((self->int_cache = calloc((size_t)self->int_cache_size, sizeof *self->int_cache))) return 1;
    PyErr_NoMemory();
    return 0;
}

static PyObject *encoder_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"content", "offsets", "ids", "byte_tokens", "alphabet_size", "merges", "ignore_merges",
                            "levels", "units", "words", NULL};
    PyObject *content, *offsets, *ids, *bytes, *merges, *levels, *units = Py_None, *words = Py_None;
    int alphabet_size, ignore_merges;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOiOpO!|OO", names, &content, &offsets, &ids, &bytes,
                                     &alphabet_size, &merges, &ignore_merges, &PyTuple_Type, &levels, &units, &words))
        return NULL;
    if (units != Py_None && !PyTuple_Check(units))
        return PyErr_Format(PyExc_TypeError, "units must be a tuple or None");
    Encoder *self = (Encoder *)type->tp_alloc(type, 0); /* zeroed */
    if (!self) return NULL;
    self->vocabulary.ignore_merges = ignore_merges;
    if (read_vocabulary(&self->vocabulary, content, offsets, ids, bytes, merges, units, alphabet_size) &&
        read_levels(self, levels) && new_int_cache(self) && read_words_encoder(self, words))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

/* Encoder.from_tables(tables, levels, words): from a block that `tables` returned, for example in a mapped file. */
static PyObject *encoder_from_tables(PyObject *type, PyObject *args) {
    PyObject *tables, *levels, *words = Py_None;
    if (!PyArg_ParseTuple(args, "OO!|O", &tables, &PyTuple_Type, &levels, &words)) return NULL;
    Encoder *self = (Encoder *)((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
    if (!self) return NULL;
    if (PyObject_GetBuffer(tables, &self->mapped, PyBUF_SIMPLE) < 0) goto failure;
    if (!map_tables(&self->vocabulary, self->mapped.buf, (size_t)self->mapped.len)) {
        value_error("these are not tables of this version");
        goto failure;
    }
    if (read_levels(self, levels) && new_int_cache(self) && read_words_encoder(self, words)) return (PyObject *)self;
failure:
    Py_DECREF(self);
    return NULL;
}

static PyObject *encoder_tables(Encoder *self, PyObject *unused) {
    (void)unused;
    PyObject *block = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)file_size(&self->vocabulary));
    if (block) write_tables(&self->vocabulary, (uint8_t *)PyBytes_AS_STRING(block));
    return block;
}

static void encoder_dealloc(Encoder *self) {
    PyTypeObject *type = Py_TYPE(self);
    superwords_free(&self->superwords);
    Py_XDECREF(self->words);
    for (int64_t i = 0; self->int_cache && i < self->int_cache_size; i++) Py_XDECREF(self->int_cache[i]);
    free(self->int_cache);
    for (CallContext *next; self->pool; self->pool = next) {
        next = self->pool->next;
        context_free(self->pool);
    }
    if (self->mapped.obj)
        PyBuffer_Release(&self->mapped);
    else
        vocabulary_free(&self->vocabulary);
    for (int i = 0; i < self->level_count; i++) {
        free(self->levels[i].scan.steps);
        free(self->levels[i].scan.stage1);
        free(self->levels[i].scan.stage2);
        readers_free(self->levels[i].scan.readers);
        free(self->levels[i].required);
    }
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

/* ---- Text in, ids out ---- */

typedef struct {
    const uint8_t *bytes;
    int64_t size;
    uint8_t *copy; /* NULL if the bytes are in the str itself */
} Text;

/* Get the UTF-8 of a str. Returns 1, 0 for a str with a surrogate, or -1 with an exception set. */
static int open_text(PyObject *given, Text *text) {
    text->copy = NULL;
    if (!PyUnicode_Check(given)) {
        PyErr_Format(PyExc_TypeError, "text must be a str, not %.100s", Py_TYPE(given)->tp_name);
        return -1;
    }
    if (PyUnicode_IS_ASCII(given)) {
        text->bytes = PyUnicode_1BYTE_DATA(given);
        text->size = PyUnicode_GET_LENGTH(given);
        return 1;
    }
    int64_t count = PyUnicode_GET_LENGTH(given);
    int kind = (int)PyUnicode_KIND(given);
    if (!(text->copy = malloc((size_t)utf8_bound(count, kind)))) return PyErr_NoMemory(), -1;
    text->bytes = text->copy;
    text->size = write_utf8(PyUnicode_DATA(given), count, kind, text->copy);
    if (text->size >= 0) return 1;
    free(text->copy);
    text->copy = NULL;
    return 0;
}

/* As `encode_range`, by the chosen levels. */
static int64_t encode_slice(CallContext *w, const uint8_t *text, int64_t *offset, int64_t end, int final,
                            uint32_t *out) {
    Refiner *refiner = &w->refiner;
    if (w->superwords->words)
        return encode_superwords(w->superwords, refiner->vocabulary, &refiner->levels[0]->scan, &w->workspace,
                                 &w->scratch, text, offset, end, final, out);
    if (!is_single_pattern(refiner)) return encode_by_levels(refiner, text, offset, end, final, out);
    return encode_range(refiner->vocabulary, &refiner->levels[0]->scan, &w->workspace, text, offset, end, final, out);
}

/* Write all ids of a text to `out`, which has space for 8 more than its bytes; returns their number, or less than 0.
   Loads read past the end of pieces, so the last PAD bytes, and what is pending before them, are encoded in a padded
   copy. */
static int64_t encode_text(const Encoder *self, CallContext *w, const uint8_t *bytes, int64_t size, uint32_t *out,
                           int polls) {
    int64_t offset = 0, written = 0, slice = SLICE, limit = size - PAD;
    uint8_t small[MAX_SHORT_TEXT + 2 * PAD], *rest = small;
    choose_levels(&w->refiner, self->levels, self->level_count, bytes, size);
    while (size > MAX_SHORT_TEXT && offset < limit) {
        int64_t end = limit - offset < slice ? limit : offset + slice, begun = offset;
        while (end > offset && (bytes[end] & 0xC0) == 0x80) end--;
        int64_t more = encode_slice(w, bytes, &offset, end, 0, out + written);
        if (more < 0) return more;
        written += more;
        if (polls && check_signals()) return INTERRUPTED;
        if (offset > begun) continue;
        if (end + 4 > limit) break;
        slice *= 2; /* a piece longer than the slice */
    }
    if (size - offset > MAX_SHORT_TEXT + PAD && !(rest = malloc((size_t)(size - offset) + PAD))) return NO_MEMORY;
    memcpy(rest, bytes + offset, (size_t)(size - offset));
    memset(rest + (size - offset), 0, PAD);
    int64_t from = 0, more = encode_slice(w, rest, &from, size - offset, 1, out + written);
    if (rest != small) free(rest);
    return more < 0 ? more : written + more;
}

static PyObject *int_list(Encoder *self, const uint32_t *ids, int64_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    if (list) PyObject_GC_UnTrack(list); /* the garbage collector must not see it half filled */
    for (int64_t i = 0; list && i < count; i++) {
        uint32_t id = ids[i];
        PyObject *made;
        if (i + 16 < count && ids[i + 16] < self->int_cache_size) PREFETCH(self->int_cache[ids[i + 16]]);
        if ((int64_t)id >= self->int_cache_size) {
            made = PyLong_FromUnsignedLong(id);
        } else {
            if (!self->int_cache[id]) self->int_cache[id] = PyLong_FromUnsignedLong(id);
            made = self->int_cache[id];
            Py_XINCREF(made);
        }
        if (made) PyList_SET_ITEM(list, (Py_ssize_t)i, made);
        if (!made || ((i + 1) % (1 << 20) == 0 && PyErr_CheckSignals())) Py_CLEAR(list);
    }
    if (list) PyObject_GC_Track(list);
    return list;
}

/* Encode a text to a list, or to the bytes of uint32 if `array`; None if it has a surrogate or needs too much
   look-ahead. */
static PyObject *encode_one(Encoder *self, PyObject *given, int array) {
    Text text;
    uint32_t small[MAX_SHORT_TEXT + 8], *ids = small;
    int opened = open_text(given, &text);
    if (opened <= 0) return opened ? NULL : Py_NewRef(Py_None);
    PyObject *result = NULL;
    int64_t count = NO_MEMORY;
    int brief = text.size <= MAX_SHORT_TEXT;
    CallContext *w = acquire_context(self);
    if (w && (brief || (ids = malloc((size_t)(text.size + 8) * sizeof *ids)))) {
        if (brief) {
            count = encode_text(self, w, text.bytes, text.size, ids, 0);
        } else {
            Py_BEGIN_ALLOW_THREADS
            count = encode_text(self, w, text.bytes, text.size, ids, 1);
            Py_END_ALLOW_THREADS
        }
    }
    if (w) release_context(self, w);
    if (count < 0)
        result = encode_failed(count);
    else
        result = array ? PyByteArray_FromStringAndSize((const char *)ids, (Py_ssize_t)count * 4)
                       : int_list(self, ids, count);
    if (ids != small) free(ids);
    free(text.copy);
    return result;
}

static PyObject *encoder_encode(Encoder *self, PyObject *text) { return encode_one(self, text, 0); }

static PyObject *encoder_encode_array(Encoder *self, PyObject *text) { return encode_one(self, text, 1); }

/* Encode several texts: the bytes of their ids, concatenated (uint32), and of the offset of each text in them (int64).
   None if one has a surrogate or needs too much look-ahead. */
static PyObject *encoder_encode_texts(Encoder *self, PyObject *given) {
    if (!PyList_Check(given)) return PyErr_Format(PyExc_TypeError, "expected a list of texts");
    Py_ssize_t number = PyList_GET_SIZE(given);
    Text *texts = calloc((size_t)number + 1, sizeof *texts);
    int64_t *stops = malloc(((size_t)number + 1) * sizeof *stops), size = 0, written = 0, more = 0;
    uint32_t *ids = NULL;
    PyObject *result = NULL, *items = NULL;
    CallContext *w = acquire_context(self);
    /* a tuple that nobody changes meanwhile */
    if (!texts || !stops || !w || !(items = PyList_AsTuple(given))) goto memory;
    for (Py_ssize_t i = 0; i < number; i++) {
        int opened = open_text(PyTuple_GET_ITEM(items, i), texts + i);
        if (opened <= 0) {
            result = opened ? NULL : Py_NewRef(Py_None);
            goto end;
        }
        size += texts[i].size;
    }
    if (!(ids = malloc((size_t)(size + 8) * sizeof *ids))) goto memory;
    stops[0] = 0;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < number && more >= 0; i++) {
        more = encode_text(self, w, texts[i].bytes, texts[i].size, ids + written, texts[i].size > MAX_SHORT_TEXT);
        stops[i + 1] = written += more > 0 ? more : 0;
    }
    Py_END_ALLOW_THREADS
    result = more < 0 ? encode_failed(more)
                      : Py_BuildValue("NN", PyByteArray_FromStringAndSize((const char *)ids, (Py_ssize_t)written * 4),
                                      PyByteArray_FromStringAndSize((const char *)stops, (number + 1) * 8));
    goto end;
memory:
    if (!PyErr_Occurred()) PyErr_NoMemory();
end:
    if (w) release_context(self, w);
    for (Py_ssize_t i = 0; texts && i < number; i++) free(texts[i].copy);
    Py_XDECREF(items);
    free(texts);
    free(stops);
    free(ids);
    return result;
}

/* Split a buffer of ids (uint32) into lists, at the offsets in a buffer of int64. */
static PyObject *encoder_lists(Encoder *self, PyObject *args) {
    Py_buffer ids, stops;
    if (!PyArg_ParseTuple(args, "y*y*", &ids, &stops)) return NULL;
    Py_ssize_t number = stops.len / 8 - 1;
    const int64_t *at = stops.buf;
    PyObject *lists = number < 0 ? PyErr_Format(PyExc_ValueError, "there are no offsets") : PyList_New(number);
    for (Py_ssize_t i = 0; lists && i < number; i++) {
        PyObject *one = at[i] < 0 || at[i] > at[i + 1] || at[i + 1] > ids.len / 4
                            ? PyErr_Format(PyExc_ValueError, "offset %zd is beyond the ids", i + 1)
                            : int_list(self, (const uint32_t *)ids.buf + at[i], at[i + 1] - at[i]);
        if (one)
            PyList_SET_ITEM(lists, i, one);
        else
            Py_CLEAR(lists);
    }
    PyBuffer_Release(&ids);
    PyBuffer_Release(&stops);
    return lists;
}

/* Encode bytes as a single piece; None if units are characters and the bytes are not UTF-8. */
static PyObject *encoder_encode_piece(Encoder *self, PyObject *given) {
    Py_buffer view;
    if (PyObject_GetBuffer(given, &view, PyBUF_SIMPLE) < 0) return NULL;
    if (self->vocabulary.char_level) {
        PyObject *decoded = PyUnicode_DecodeUTF8(view.buf, view.len, NULL);
        if (!decoded) {
            PyBuffer_Release(&view);
            if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) return NULL;
            PyErr_Clear();
            Py_RETURN_NONE;
        }
        Py_DECREF(decoded);
    }
    uint8_t *text = malloc((size_t)view.len + PAD);
    uint32_t *ids = malloc(((size_t)view.len + 8) * sizeof *ids);
    int64_t count = text && ids ? 0 : NO_MEMORY;
    if (!count && view.len) {
        memcpy(text, view.buf, (size_t)view.len);
        memset(text + view.len, 0, PAD);
        Py_BEGIN_ALLOW_THREADS
        count = merge_piece(&self->vocabulary, text, view.len, ids);
        Py_END_ALLOW_THREADS
    }
    PyObject *list = count < 0 ? encode_failed(count) : int_list(self, ids, count);
    free(text);
    free(ids);
    PyBuffer_Release(&view);
    return list;
}

static PyObject *encoder_words(Encoder *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->words ? self->words : Py_None);
}

static PyGetSetDef encoder_attributes[] = {
    {"words", (getter)encoder_words, NULL, "The Encoder of the first stage, or None.", NULL}, {NULL, NULL, NULL, NULL, NULL}};

static PyMethodDef encoder_methods[] = {
    {"encode", (PyCFunction)encoder_encode, METH_O,
     "Encode a str to a list; None if it has a surrogate or needs too much look-ahead."},
    {"encode_array", (PyCFunction)encoder_encode_array, METH_O, "The same, to a bytearray of uint32."},
    {"encode_texts", (PyCFunction)encoder_encode_texts, METH_O,
     "Encode several texts: (concatenated ids as uint32, the offset of each text as int64), or None."},
    {"lists", (PyCFunction)encoder_lists, METH_VARARGS,
     "lists(ids, offsets): split what `encode_texts` returned into lists."},
    {"tables", (PyCFunction)encoder_tables, METH_NOARGS, "Serialize all tables to one block of bytes."},
    {"from_tables", (PyCFunction)encoder_from_tables, METH_VARARGS | METH_CLASS,
     "from_tables(tables, levels, words=None): an Encoder with the tables of such a block."},
    {"encode_piece", (PyCFunction)encoder_encode_piece, METH_O,
     "Encode bytes as one piece; None if units are characters and the bytes are not UTF-8. A byte without a token, "
     "which no UTF-8 has, becomes any."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot encoder_slots[] = {
    {Py_tp_doc, "Encoder(content, offsets, ids, byte_tokens, alphabet_size, merges, ignore_merges, levels, units=None, "
                "words=None)\n--\n\n"
                "The tables of a model, and the patterns that split its text.\n\n"
                "Tokens have indices in the order of their ranks, the alphabet first. `content` is the concatenated "
                "bytes of all tokens, `offsets` (int32) where each begins, and the end; `ids` (uint32) their ids, "
                "`byte_tokens` (uint32) the tokens of the 256 bytes. `merges` is None if they follow from the ranks, "
                "else (triples of left, right and merge (int32), the token that each merge makes (uint32), whether "
                "each token has one merge). With `ignore_merges` a piece that is a token becomes that token. `levels` are "
                "patterns, each of which splits the pieces of the one before: (0 to keep all, 1 matches, 2 gaps; bytes "
                "without which it splits nothing, or none; its DFA as (transitions, width, start, stage1, stage2)). "
                "`units`, if they are not the 256 bytes, are (rows, tokens, char_level, unk, fuse_unk, boundary_rule): "
                "see vocabulary.h; then `ids` may go on with ids that are not tokens, and 0xFFFFFFFF stands for a byte "
                "or an unknown token that is missing. `words` is an Encoder of the first tokens, those before the first "
                "superword, with their indices as ids: then text is encoded in two stages."},
    {Py_tp_new, encoder_new},
    {Py_tp_dealloc, encoder_dealloc},
    {Py_tp_methods, encoder_methods},
    {Py_tp_getset, encoder_attributes},
    {0, NULL}};

static PyType_Spec encoder_spec = {"bpelab.native._core.Encoder", sizeof(Encoder), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, encoder_slots};

/* ---- Decoder ---- */

typedef struct {
    PyObject_HEAD
    TokenTable tokens;
} Decoder;

static PyObject *decoder_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"content", "ends", "ids", NULL};
    PyObject *content, *ends, *ids;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO", names, &content, &ends, &ids)) return NULL;
    Decoder *self = (Decoder *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    TokenTable *tokens = &self->tokens;
    int64_t size = 0, number = 0, same = 0, highest = -1, start = 0;
    uint32_t *stops = copy_buffer(ends, 4, &number), *numbers = stops ? copy_buffer(ids, 4, &same) : NULL;
    if (!numbers || !(tokens->content = copy_buffer(content, 1, &size))) goto end;
    for (int64_t i = 0; i < number && i < same; i++) highest = numbers[i] > highest ? numbers[i] : highest;
    if (number != same || highest >= (int64_t)1 << 28) {
        value_error("the tokens have an impossible size");
        goto end;
    }
    tokens->count = highest + 1;
    if (!(tokens->rows = malloc((size_t)(tokens->count + 1) * sizeof *tokens->rows))) {
        PyErr_NoMemory();
        goto end;
    }
    memset(tokens->rows, NO_TOKEN, (size_t)tokens->count * sizeof *tokens->rows);
    for (int64_t i = 0; i < number; i++) {
        TokenRow row = {{0}};
        int64_t end = stops[i];
        if (end < start || end > size) break;
        uint32_t length = (uint32_t)(end - start);
        if (length <= INLINE_BYTES) {
            memcpy(row.bytes, tokens->content + start, length);
            row.bytes[15] = (uint8_t)length;
        } else {
            memcpy(row.bytes, &start, 8);
            memcpy(row.bytes + 8, &length, 4);
            row.bytes[15] = OUT_OF_LINE;
        }
        tokens->rows[numbers[i]] = row;
        start = end;
    }
    if (start != size || !number) value_error("the tokens have an impossible size");
end:
    free(stops);
    free(numbers);
    if (PyErr_Occurred()) Py_CLEAR(self);
    return (PyObject *)self;
}

static void decoder_dealloc(Decoder *self) {
    PyTypeObject *type = Py_TYPE(self);
    free(self->tokens.rows);
    free(self->tokens.content);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

/* Convert a list of int, or a buffer of integers, to int64; NULL for anything else, without an exception. */
static int64_t *ids_as_int64(PyObject *ids, int64_t *count) {
    int64_t *numbers = NULL;
    if (PyList_CheckExact(ids)) {
        *count = PyList_GET_SIZE(ids);
        numbers = malloc((size_t)(*count + 1) * sizeof *numbers);
        for (int64_t i = 0; numbers && i < *count; i++) {
            PyObject *item = PyList_GET_ITEM(ids, (Py_ssize_t)i);
            int over = 0;
            numbers[i] = PyLong_CheckExact(item) ? PyLong_AsLongLongAndOverflow(item, &over) : -1;
            if (over || numbers[i] < 0) {
                free(numbers);
                return NULL;
            }
        }
        return numbers;
    }
    Py_buffer view;
    if (PyObject_GetBuffer(ids, &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0) {
        PyErr_Clear();
        return NULL;
    }
    const char *format = view.format ? view.format : "B";
    int is_signed = format[0] && strchr("bhilqn", format[0]) != NULL;
    int is_unsigned = format[0] && strchr("HILQN", format[0]) != NULL;
    if (view.ndim == 1 && format[0] && !format[1] && (is_signed || is_unsigned)) {
        *count = view.shape[0];
        numbers = malloc((size_t)(*count + 1) * sizeof *numbers);
        for (int64_t i = 0; numbers && i < *count; i++) {
            const char *at = (const char *)view.buf + i * view.itemsize;
            if (view.itemsize == 8) {
                memcpy(numbers + i, at, 8); /* 2^63 and above become negative: not a token */
            } else if (view.itemsize == 4) {
                uint32_t value;
                memcpy(&value, at, 4);
                numbers[i] = is_signed ? (int64_t)(int32_t)value : (int64_t)value;
            } else if (view.itemsize == 2) {
                uint16_t value;
                memcpy(&value, at, 2);
                numbers[i] = is_signed ? (int64_t)(int16_t)value : (int64_t)value;
            } else {
                numbers[i] = is_signed ? (int64_t)(signed char)*at : (int64_t)(unsigned char)*at;
            }
        }
    }
    PyBuffer_Release(&view);
    return numbers;
}

static PyObject *decoder_join(Decoder *self, PyObject *ids) {
    int64_t count = 0, *numbers = ids_as_int64(ids, &count);
    int64_t total = numbers ? decoded_size(&self->tokens, numbers, count) : -1;
    PyObject *bytes = total < 0 ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize(NULL, (Py_ssize_t)total);
    if (bytes && total > 0) copy_tokens(&self->tokens, numbers, count, (uint8_t *)PyBytes_AS_STRING(bytes), total);
    free(numbers);
    return bytes;
}

static PyMethodDef decoder_methods[] = {
    {"join", (PyCFunction)decoder_join, METH_O,
     "Concatenate the bytes of a list or an array of ids; None if one has no token."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot decoder_slots[] = {
    {Py_tp_doc, "Decoder(content, ends, ids)\n--\n\n"
                "Tokens by id, from their concatenated bytes, and where each ends there and its id (uint32)."},
    {Py_tp_new, decoder_new},
    {Py_tp_dealloc, decoder_dealloc},
    {Py_tp_methods, decoder_methods},
    {0, NULL}};

static PyType_Spec decoder_spec = {"bpelab.native._core.Decoder", sizeof(Decoder), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, decoder_slots};

/* ---- Training: types in files of their own, which use what is above ---- */

#include "pretoken_counter.h"
#include "merge_learner.h"
#include "phrase_counter.h"

static int add_type(PyObject *module, PyType_Spec *spec) {
    PyObject *type = PyType_FromSpec(spec);
    int added = type && PyModule_AddType(module, (PyTypeObject *)type) == 0;
    Py_XDECREF(type);
    return added;
}

static int core_exec(PyObject *module) {
    interrupted = check_signals;
    return add_type(module, &encoder_spec) && add_type(module, &decoder_spec) && add_type(module, &counter_spec) &&
                   add_type(module, &learner_spec) && add_type(module, &phrase_counter_spec)
               ? 0
               : -1;
}

static PyModuleDef_Slot core_slots[] = {{Py_mod_exec, core_exec}, {0, NULL}};
static struct PyModuleDef core = {PyModuleDef_HEAD_INIT, "bpelab.native._core", "Byte-pair encoding in C.", 0, NULL,
                                  core_slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&core); }
