/* The Python module: an Encoder that holds tables, takes str, and returns lists or arrays of ids; a Decoder for the way
   back; and, in files of their own, the types that train.

   Calls of a few thousand bytes keep the interpreter's lock, longer ones release it and look for signals between slices.
   Each takes a workspace that no other call has. Ints are made once and shared by all lists. There is no lock and no
   thread here that a fork could leave behind. What an Encoder shares is changed with the interpreter's lock held: a
   Python that can do without one takes it while this is loaded (there is no Py_mod_gil), and an interpreter beside the
   first may import this if it shares its lock. Chapter: Compiled. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "building.h"
#include "decode.h"
#include "levels.h"
#include "table_file.h"

enum { BRIEF = 4096, SLICE = 1 << 22 };
enum { MOST_INTS = 1 << 21 };

typedef struct Free {
    Workspace workspace;
    Refiner refiner;
    struct Free *next;
} Free;

typedef struct {
    PyObject_HEAD
    Vocabulary vocabulary;
    Level levels[MOST_LEVELS];
    int level_count;
    Free *free; /* workspaces that no call has; changed with the interpreter's lock held */
    PyObject **ints;
    int64_t known_ints;
    Py_buffer mapped; /* the block that the tables are in; its `obj` is NULL where they are the Encoder's own */
} Encoder;

static int ask_for_signals(void) {
    PyGILState_STATE state = PyGILState_Ensure();
    int found = PyErr_CheckSignals();
    PyGILState_Release(state);
    return found;
}

static void workspace_free(Free *workspace) {
    cache_free(&workspace->workspace.cache);
    free(workspace->refiner.ends);
    free(workspace->refiner.kept);
    free(workspace);
}

static Free *take(Encoder *self) {
    Free *found = self->free;
    if (found) {
        self->free = found->next;
    } else if ((found = calloc(1, sizeof *found))) {
        Refiner *refiner = &found->refiner;
        refiner->vocabulary = &self->vocabulary;
        refiner->workspace = &found->workspace;
        refiner->ends = malloc(((size_t)self->level_count + 1) * sizeof *refiner->ends);
        if (!cache_new(&found->workspace.cache) || !refiner->ends) {
            workspace_free(found);
            found = NULL;
        }
    }
    return found;
}

static void give_back(Encoder *self, Free *workspace) {
    workspace->next = self->free;
    self->free = workspace;
}

static PyObject *failed(int64_t code) {
    if (code == IN_VAIN) Py_RETURN_NONE;
    return code == NO_MEMORY ? PyErr_NoMemory() : NULL;
}

/* ---- Making an Encoder ---- */

/* A copy of a buffer of numbers of `size` bytes; their number in `count`. NULL with an exception set. */
static void *copied(PyObject *from, size_t size, int64_t *count) {
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

static int wrong(const char *what) {
    PyErr_SetString(PyExc_ValueError, what);
    return 0;
}

/* The table of scan.h from that of `pretokenizers/dfa.py`: (transitions, width, start, stage1, stage2). */
static int read_scan(Scan *scan, PyObject *given) {
    PyObject *transitions, *stage1, *stage2;
    int width, start, done = 0;
    int64_t entries, blocks, classes;
    int32_t *old = NULL;
    if (!PyArg_ParseTuple(given, "OiiOO", &transitions, &width, &start, &stage1, &stage2)) return 0;
    if (!(old = copied(transitions, 4, &entries)) || !(scan->stage1 = copied(stage1, 2, &blocks)) ||
        !(scan->stage2 = copied(stage2, 1, &classes)))
        goto end;
    if (width < 1 || width > 256 || entries % width || entries / width > 1 << 15 || start < 0 || start >= entries / width ||
        blocks != 0x1100) {
        wrong("the table of the pattern has an impossible size");
        goto end;
    }
    int64_t states = entries / width, row = (int64_t)power_of_two((uint64_t)width);
    for (int64_t i = 0; i < entries; i++)
        if (old[i] < 0 || old[i] >> 1 >= states) {
            wrong("the table of the pattern leads to a state that is not there");
            goto end;
        }
    for (int64_t i = 0; i < blocks; i++)
        if ((int64_t)scan->stage1[i] * 256 + 255 >= classes) {
            wrong("the classes of characters have a block that is not there");
            goto end;
        }
    for (int64_t i = 0; i < classes; i++)
        if (scan->stage2[i] >= width) {
            wrong("a character has a class that is not there");
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
            int32_t begun = old[start * width + class] >> 1; /* the state after a character that begins a piece */
            int commits = !next && matched && begun;
            int32_t step = (int32_t)((commits ? begun : next) * row * 16) + (commits ? COMMIT : matched ? MATCH : 0);
            if (!next && !commits) step |= STOP;
            if (class == scan->edge) step = matched ? MATCH : STOP;
            scan->steps[state * row + class] = step;
        }
    memcpy(scan->byte_class, scan->stage2 + scan->stage1[0] * 256, 128);
    scan->fold = 32;
    for (int64_t state = 0; state < states; state++) { /* where letters leave the state as it is, many pass at once */
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

/* The levels: see the docstring of Encoder. Where the vocabulary itself says where text may be cut, that is the last. */
static int read_levels(Encoder *self, PyObject *given) {
    int implied = self->vocabulary.cuts != NO_CUTS;
    if (PyTuple_GET_SIZE(given) > MOST_LEVELS - implied) return wrong("there are more patterns than the encoder has levels");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(given); i++) {
        Level *level = self->levels + self->level_count++; /* zeroed */
        PyObject *item = PyTuple_GET_ITEM(given, i), *scan;
        const char *needs;
        Py_ssize_t size;
        if (!PyTuple_Check(item)) return wrong("a level is a tuple: see the docstring");
        if (!PyArg_ParseTuple(item, "iy#O!", &level->keep, &needs, &size, &PyTuple_Type, &scan)) return 0;
        if (level->keep < ALL || level->keep > GAPS) return wrong("a level keeps all, matches or gaps");
        level->kind = PATTERN;
        level->needs_size = size;
        if (size && !(level->needs = malloc((size_t)size))) return PyErr_NoMemory(), 0;
        if (size) memcpy(level->needs, needs, (size_t)size);
        if (!read_scan(&level->scan, scan)) return 0;
    }
    if (implied) self->levels[self->level_count++].kind = TOKENS;
    return 1;
}

/* What units become: (rows, tokens, characters, unknown, fuse, cuts), as `vocabulary.h` has them. */
static int read_units(Vocabulary *v, PyObject *given) {
    PyObject *rows, *tokens;
    int64_t entries;
    if (!PyArg_ParseTuple(given, "OOpIpi", &rows, &tokens, &v->characters, &v->unknown, &v->fuse, &v->cuts) ||
        !(v->unit_rows = copied(rows, 2, &entries)) || !(v->unit_tokens = copied(tokens, 4, &v->units)))
        return 0;
    int right = entries == 4 * UNIT_BLOCKS && v->units >= 256 && v->units <= 256 << 16 && v->units % 256 == 0 &&
                v->cuts >= NO_CUTS && v->cuts <= AT_KNOWN_SPACES && (v->characters || v->cuts == NO_CUTS) &&
                (v->unknown == NONE || v->unknown < v->numbers);
    for (int64_t i = 0; right && i < entries; i++) right = v->unit_rows[i] < v->units / 256;
    for (int64_t i = 0; right && i < v->units; i++) right = v->unit_tokens[i] == NONE || v->unit_tokens[i] < v->tokens;
    return right || wrong("units have a table or a token that is not there");
}

/* The vocabulary: see the docstring of Encoder. */
static int read_vocabulary(Vocabulary *v, PyObject *content, PyObject *starts, PyObject *ids, PyObject *bytes, PyObject *merges,
                           PyObject *units, int letters) {
    int64_t size, count, numbers, entries = 0;
    Pair *given = NULL;
    uint32_t *byte_tokens = NULL;
    int one_way = 1, done = 0;
    if (!(v->content = copied(content, 1, &size)) || !(v->starts = copied(starts, 4, &count)) ||
        !(v->ids = copied(ids, 4, &numbers)) || !(byte_tokens = copied(bytes, 4, &entries)))
        goto end;
    v->tokens = count - 1;
    v->numbers = numbers;
    v->content_size = size;
    if (count < 2 || numbers > 1 << TOKEN_BITS || numbers < v->tokens || (numbers > v->tokens && units == Py_None) ||
        v->starts[0] || v->starts[v->tokens] != size || letters < 0 || letters > v->tokens || entries != 256) {
        wrong("the tokens have an impossible size");
        goto end;
    }
    v->same_ids = 1;
    for (int64_t t = 0; t < v->tokens; t++)
        if (v->starts[t + 1] <= v->starts[t]) {
            wrong("a token has no bytes");
            goto end;
        }
    for (int64_t t = 0; t < numbers; t++) v->same_ids = v->same_ids && v->ids[t] == t;
    if (units != Py_None && !read_units(v, units)) goto end;
    for (int i = 0; i < 256; i++)
        if ((v->byte_tokens[i] = byte_tokens[i]) >= numbers && !(v->units && byte_tokens[i] == NONE)) {
            wrong("a byte has a token that is not there");
            goto end;
        }
    if (merges != Py_None) {
        PyObject *pairs, *made;
        if (!PyArg_ParseTuple(merges, "OOp", &pairs, &made, &one_way) || !(given = copied(pairs, sizeof *given, &entries)) ||
            !(v->made = copied(made, 4, &v->merges)))
            goto end;
        int right = v->merges <= 1 << MERGE_BITS && entries <= 1 << MERGE_BITS;
        for (int64_t i = 0; right && i < v->merges; i++) right = v->made[i] < v->tokens;
        for (int64_t i = 0; right && i < entries; i++)
            right = given[i].left >= 0 && given[i].left < v->tokens && given[i].right >= 0 && given[i].right < v->tokens &&
                    given[i].merge >= 0 && given[i].merge < v->merges;
        if (!right) {
            wrong("a merge is of tokens that are not there");
            goto end;
        }
    }
    if (!(done = vocabulary_build(v, given, entries, one_way, letters))) PyErr_NoMemory();
end:
    free(given);
    free(byte_tokens);
    return done;
}

/* Room for an int of each id, which are made when they are first met. */
static int make_room_for_ints(Encoder *self) {
    for (int64_t t = 0; t < self->vocabulary.numbers; t++)
        if ((int64_t)self->vocabulary.ids[t] >= self->known_ints) self->known_ints = (int64_t)self->vocabulary.ids[t] + 1;
    if (self->known_ints > MOST_INTS) self->known_ints = MOST_INTS;
    if ((self->ints = calloc((size_t)self->known_ints, sizeof *self->ints))) return 1;
    PyErr_NoMemory();
    return 0;
}

static PyObject *encoder_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"content", "starts", "ids", "byte_tokens", "letters", "merges", "whole", "levels", "units", NULL};
    PyObject *content, *starts, *ids, *bytes, *merges, *levels, *units = Py_None;
    int letters, whole;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOiOpO!|O", names, &content, &starts, &ids, &bytes, &letters, &merges,
                                     &whole, &PyTuple_Type, &levels, &units))
        return NULL;
    if (units != Py_None && !PyTuple_Check(units)) return PyErr_Format(PyExc_TypeError, "units are a tuple, or None");
    Encoder *self = (Encoder *)type->tp_alloc(type, 0); /* zeroed */
    if (!self) return NULL;
    self->vocabulary.whole = whole;
    if (read_vocabulary(&self->vocabulary, content, starts, ids, bytes, merges, units, letters) && read_levels(self, levels) &&
        make_room_for_ints(self))
        return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

/* Encoder.from_tables(tables, levels): with the block that `tables` returned, in a file that is mapped, say. */
static PyObject *encoder_from_tables(PyObject *type, PyObject *args) {
    PyObject *tables, *levels;
    if (!PyArg_ParseTuple(args, "OO!", &tables, &PyTuple_Type, &levels)) return NULL;
    Encoder *self = (Encoder *)((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
    if (!self) return NULL;
    if (PyObject_GetBuffer(tables, &self->mapped, PyBUF_SIMPLE) < 0) goto failure;
    if (!map_tables(&self->vocabulary, self->mapped.buf, (size_t)self->mapped.len)) {
        wrong("these are no tables of this version");
        goto failure;
    }
    if (read_levels(self, levels) && make_room_for_ints(self)) return (PyObject *)self;
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
    for (int64_t i = 0; self->ints && i < self->known_ints; i++) Py_XDECREF(self->ints[i]);
    free(self->ints);
    for (Free *next; self->free; self->free = next) {
        next = self->free->next;
        workspace_free(self->free);
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
        free(self->levels[i].needs);
    }
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

/* ---- Text in, ids out ---- */

typedef struct {
    const uint8_t *bytes;
    int64_t size;
    PyObject *owner; /* NULL where the str itself has the bytes */
} Text;

/* The UTF-8 of a str: 1, 0 for one with a surrogate, -1 with an exception set. */
static int open_text(PyObject *given, Text *text) {
    text->owner = NULL;
    if (!PyUnicode_Check(given)) {
        PyErr_Format(PyExc_TypeError, "text must be a str, not %.100s", Py_TYPE(given)->tp_name);
        return -1;
    }
    if (PyUnicode_IS_ASCII(given)) {
        text->bytes = PyUnicode_1BYTE_DATA(given);
        text->size = PyUnicode_GET_LENGTH(given);
        return 1;
    }
    if (!(text->owner = PyUnicode_AsUTF8String(given))) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    text->bytes = (const uint8_t *)PyBytes_AS_STRING(text->owner);
    text->size = PyBytes_GET_SIZE(text->owner);
    return 1;
}

/* As `encode_some`, by the levels that were chosen. */
static int64_t encode_slice(Free *w, const uint8_t *text, int64_t *place, int64_t end, int final, uint32_t *out) {
    Refiner *refiner = &w->refiner;
    if (!is_sole(refiner)) return encode_by_levels(refiner, text, place, end, final, out);
    return encode_some(refiner->vocabulary, &refiner->levels[0]->scan, &w->workspace, text, place, end, final, out);
}

/* All ids of a text to `out`, which has room for 8 more than its bytes; how many, or less than 0. Loads read beyond
   pieces, so the last PAD bytes, and what isn't settled before them, are encoded in a padded copy. */
static int64_t encode_text(const Encoder *self, Free *w, const uint8_t *bytes, int64_t size, uint32_t *out, int polls) {
    int64_t place = 0, written = 0, slice = SLICE, limit = size - PAD;
    uint8_t small[BRIEF + 2 * PAD], *rest = small;
    choose_levels(&w->refiner, self->levels, self->level_count, bytes, size);
    while (size > BRIEF && place < limit) {
        int64_t end = limit - place < slice ? limit : place + slice, begun = place;
        while (end > place && (bytes[end] & 0xC0) == 0x80) end--;
        int64_t more = encode_slice(w, bytes, &place, end, 0, out + written);
        if (more < 0) return more;
        written += more;
        if (polls && ask_for_signals()) return INTERRUPTED;
        if (place > begun) continue;
        if (end + 4 > limit) break;
        slice *= 2; /* a piece that is longer than the slice */
    }
    if (size - place > BRIEF + PAD && !(rest = malloc((size_t)(size - place) + PAD))) return NO_MEMORY;
    memcpy(rest, bytes + place, (size_t)(size - place));
    memset(rest + (size - place), 0, PAD);
    int64_t from = 0, more = encode_slice(w, rest, &from, size - place, 1, out + written);
    if (rest != small) free(rest);
    return more < 0 ? more : written + more;
}

static PyObject *list_of(Encoder *self, const uint32_t *ids, int64_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    if (list) PyObject_GC_UnTrack(list); /* nobody may find it before it is full */
    for (int64_t i = 0; list && i < count; i++) {
        uint32_t id = ids[i];
        PyObject *made;
        if (i + 16 < count && ids[i + 16] < self->known_ints) PREFETCH(self->ints[ids[i + 16]]);
        if ((int64_t)id >= self->known_ints) {
            made = PyLong_FromUnsignedLong(id);
        } else {
            if (!self->ints[id]) self->ints[id] = PyLong_FromUnsignedLong(id);
            made = self->ints[id];
            Py_XINCREF(made);
        }
        if (made) PyList_SET_ITEM(list, (Py_ssize_t)i, made);
        if (!made || ((i + 1) % (1 << 20) == 0 && PyErr_CheckSignals())) Py_CLEAR(list);
    }
    if (list) PyObject_GC_Track(list);
    return list;
}

/* A text's ids as a list, or as the bytes of uint32 where `array`; None for one with a surrogate, or read in vain. */
static PyObject *encode_one(Encoder *self, PyObject *given, int array) {
    Text text;
    uint32_t small[BRIEF + 8], *ids = small;
    int opened = open_text(given, &text);
    if (opened <= 0) return opened ? NULL : Py_NewRef(Py_None);
    PyObject *result = NULL;
    int64_t count = NO_MEMORY;
    int brief = text.size <= BRIEF;
    Free *w = take(self);
    if (w && (brief || (ids = malloc((size_t)(text.size + 8) * sizeof *ids)))) {
        if (brief) {
            count = encode_text(self, w, text.bytes, text.size, ids, 0);
        } else {
            Py_BEGIN_ALLOW_THREADS
            count = encode_text(self, w, text.bytes, text.size, ids, 1);
            Py_END_ALLOW_THREADS
        }
    }
    if (w) give_back(self, w);
    if (count < 0)
        result = failed(count);
    else
        result = array ? PyByteArray_FromStringAndSize((const char *)ids, (Py_ssize_t)count * 4) : list_of(self, ids, count);
    if (ids != small) free(ids);
    Py_XDECREF(text.owner);
    return result;
}

static PyObject *encoder_encode(Encoder *self, PyObject *text) { return encode_one(self, text, 0); }

static PyObject *encoder_encode_array(Encoder *self, PyObject *text) { return encode_one(self, text, 1); }

/* The ids of several texts end to end, and where those of each begin, as bytes of uint32 and of int64. None where one
   has a surrogate or is read in vain. */
static PyObject *encoder_encode_texts(Encoder *self, PyObject *given) {
    if (!PyList_Check(given)) return PyErr_Format(PyExc_TypeError, "expected a list of texts");
    Py_ssize_t number = PyList_GET_SIZE(given);
    Text *texts = calloc((size_t)number + 1, sizeof *texts);
    int64_t *stops = malloc(((size_t)number + 1) * sizeof *stops), size = 0, written = 0, more = 0;
    uint32_t *ids = NULL;
    PyObject *result = NULL, *items = NULL;
    Free *w = take(self);
    if (!texts || !stops || !w || !(items = PyList_AsTuple(given))) goto memory; /* nobody changes a tuple meanwhile */
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
        more = encode_text(self, w, texts[i].bytes, texts[i].size, ids + written, texts[i].size > BRIEF);
        stops[i + 1] = written += more > 0 ? more : 0;
    }
    Py_END_ALLOW_THREADS
    result = more < 0 ? failed(more)
                      : Py_BuildValue("NN", PyByteArray_FromStringAndSize((const char *)ids, (Py_ssize_t)written * 4),
                                      PyByteArray_FromStringAndSize((const char *)stops, (number + 1) * 8));
    goto end;
memory:
    if (!PyErr_Occurred()) PyErr_NoMemory();
end:
    if (w) give_back(self, w);
    for (Py_ssize_t i = 0; texts && i < number; i++) Py_XDECREF(texts[i].owner);
    Py_XDECREF(items);
    free(texts);
    free(stops);
    free(ids);
    return result;
}

/* The ids in a buffer of uint32, as lists: one for each two neighbours of a buffer of int64. */
static PyObject *encoder_lists(Encoder *self, PyObject *args) {
    Py_buffer ids, stops;
    if (!PyArg_ParseTuple(args, "y*y*", &ids, &stops)) return NULL;
    Py_ssize_t number = stops.len / 8 - 1;
    const int64_t *at = stops.buf;
    PyObject *lists = number < 0 ? PyErr_Format(PyExc_ValueError, "there are no stops") : PyList_New(number);
    for (Py_ssize_t i = 0; lists && i < number; i++) {
        PyObject *one = at[i] < 0 || at[i] > at[i + 1] || at[i + 1] > ids.len / 4
                            ? PyErr_Format(PyExc_ValueError, "stop %zd is beyond the ids", i + 1)
                            : list_of(self, (const uint32_t *)ids.buf + at[i], at[i + 1] - at[i]);
        if (one)
            PyList_SET_ITEM(lists, i, one);
        else
            Py_CLEAR(lists);
    }
    PyBuffer_Release(&ids);
    PyBuffer_Release(&stops);
    return lists;
}

/* The ids of bytes that are one piece; None where units are characters and these are no UTF-8. */
static PyObject *encoder_encode_piece(Encoder *self, PyObject *given) {
    Py_buffer view;
    if (PyObject_GetBuffer(given, &view, PyBUF_SIMPLE) < 0) return NULL;
    if (self->vocabulary.characters) {
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
    PyObject *list = count < 0 ? failed(count) : list_of(self, ids, count);
    free(text);
    free(ids);
    PyBuffer_Release(&view);
    return list;
}

static PyMethodDef encoder_methods[] = {
    {"encode", (PyCFunction)encoder_encode, METH_O, "The ids of a str; None for one with a surrogate, or read in vain."},
    {"encode_array", (PyCFunction)encoder_encode_array, METH_O, "The same as a bytearray of uint32."},
    {"encode_texts", (PyCFunction)encoder_encode_texts, METH_O, "(ids end to end, where each text's begin), or None."},
    {"lists", (PyCFunction)encoder_lists, METH_VARARGS, "Ids and stops, as `encode_texts` returns them, as lists."},
    {"tables", (PyCFunction)encoder_tables, METH_NOARGS, "All tables in one block of bytes."},
    {"from_tables", (PyCFunction)encoder_from_tables, METH_VARARGS | METH_CLASS, "from_tables(tables, levels): an Encoder."},
    {"encode_piece", (PyCFunction)encoder_encode_piece, METH_O, "The ids of bytes that are one piece."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot encoder_slots[] = {
    {Py_tp_doc, "Encoder(content, starts, ids, byte_tokens, letters, merges, whole, levels, units=None)\n--\n\n"
                "Tables of a model, and patterns. Tokens are numbered by rank, the alphabet of `letters` tokens first; "
                "`content` is the bytes of all, `starts` (int32) where each begins, `ids` (uint32) their ids, `byte_tokens` "
                "(uint32) the tokens of the 256 bytes. `merges` is None where ranks rule, else (triples of left, right and "
                "merge, the token that each merge makes, whether each token has one merge). `whole`: a piece that is a token "
                "is that token. `levels` are patterns, each of which cuts the pieces of the one before: (0 to keep all, 1 "
                "matches, 2 gaps; the bytes without which it cuts nothing, or none; its DFA as (transitions, width, start, "
                "stage1, stage2)). `units`, where they are not the 256 bytes, are (rows, tokens, whether they are characters, "
                "the unknown token, whether it fuses, the kind of cuts): see vocabulary.h; then `ids` may go on with those "
                "of what is no token, and a byte or the unknown token that is missing is 0xFFFFFFFF."},
    {Py_tp_new, encoder_new},
    {Py_tp_dealloc, encoder_dealloc},
    {Py_tp_methods, encoder_methods},
    {0, NULL}};

static PyType_Spec encoder_spec = {"bpelab.native._core.Encoder", sizeof(Encoder), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, encoder_slots};

/* ---- Decoder ---- */

typedef struct {
    PyObject_HEAD
    Tokens tokens;
} Decoder;

static PyObject *decoder_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"content", "lengths", "ids", NULL};
    PyObject *content, *lengths, *ids;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO", names, &content, &lengths, &ids)) return NULL;
    Decoder *self = (Decoder *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    Tokens *tokens = &self->tokens;
    int64_t size = 0, number = 0, same = 0, highest = -1, start = 0;
    uint32_t *sizes = copied(lengths, 4, &number), *numbers = sizes ? copied(ids, 4, &same) : NULL;
    if (!numbers || !(tokens->content = copied(content, 1, &size))) goto end;
    for (int64_t i = 0; i < number && i < same; i++) highest = numbers[i] > highest ? numbers[i] : highest;
    if (number != same || highest >= (int64_t)1 << 28) {
        wrong("the tokens have an impossible size");
        goto end;
    }
    tokens->count = highest + 1;
    if (!(tokens->rows = malloc((size_t)(tokens->count + 1) * sizeof *tokens->rows))) {
        PyErr_NoMemory();
        goto end;
    }
    memset(tokens->rows, NOWHERE, (size_t)tokens->count * sizeof *tokens->rows);
    for (int64_t i = 0; i < number; i++) {
        Row row = {{0}};
        if ((int64_t)sizes[i] > size - start) break;
        if (sizes[i] <= IN_ROW) {
            memcpy(row.bytes, tokens->content + start, sizes[i]);
            row.bytes[15] = (uint8_t)sizes[i];
        } else {
            memcpy(row.bytes, &start, 8);
            memcpy(row.bytes + 8, &sizes[i], 4);
            row.bytes[15] = ELSEWHERE;
        }
        tokens->rows[numbers[i]] = row;
        start += sizes[i];
    }
    if (start != size || !number) wrong("the tokens have an impossible size");
end:
    free(sizes);
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

/* The numbers of a list of int, or of a buffer of integers, as int64; NULL for anything else, without an exception. */
static int64_t *numbers_of(PyObject *ids, int64_t *count) {
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
    int is_signed = format[0] && strchr("bhilqn", format[0]) != NULL, is_unsigned = format[0] && strchr("HILQN", format[0]) != NULL;
    if (view.ndim == 1 && format[0] && !format[1] && (is_signed || is_unsigned)) {
        *count = view.shape[0];
        numbers = malloc((size_t)(*count + 1) * sizeof *numbers);
        for (int64_t i = 0; numbers && i < *count; i++) {
            const char *at = (const char *)view.buf + i * view.itemsize;
            if (view.itemsize == 8) {
                memcpy(numbers + i, at, 8); /* beyond 2^63 it is negative, and no token */
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
    int64_t count = 0, *numbers = numbers_of(ids, &count), total = numbers ? measure(&self->tokens, numbers, count) : -1;
    PyObject *bytes = total < 0 ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize(NULL, (Py_ssize_t)total);
    if (bytes && total > 0) copy_tokens(&self->tokens, numbers, count, (uint8_t *)PyBytes_AS_STRING(bytes), total);
    free(numbers);
    return bytes;
}

static PyMethodDef decoder_methods[] = {
    {"join", (PyCFunction)decoder_join, METH_O, "The bytes of a list or an array of ids; None where one is no id here."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot decoder_slots[] = {
    {Py_tp_doc, "Decoder(content, lengths, ids)\n--\n\n"
                "Tokens by their ids: the bytes of all, end to end, and of each its length and its id (uint32)."},
    {Py_tp_new, decoder_new},
    {Py_tp_dealloc, decoder_dealloc},
    {Py_tp_methods, decoder_methods},
    {0, NULL}};

static PyType_Spec decoder_spec = {"bpelab.native._core.Decoder", sizeof(Decoder), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, decoder_slots};

/* ---- Training: types of their own files, which use what is above ---- */

#include "pretoken_counter.h"
#include "merge_learner.h"

static int add_type(PyObject *module, PyType_Spec *spec) {
    PyObject *type = PyType_FromSpec(spec);
    int added = type && PyModule_AddType(module, (PyTypeObject *)type) == 0;
    Py_XDECREF(type);
    return added;
}

static int core_exec(PyObject *module) {
    interrupted = ask_for_signals;
    return add_type(module, &encoder_spec) && add_type(module, &decoder_spec) && add_type(module, &counter_spec) &&
                   add_type(module, &learner_spec)
               ? 0
               : -1;
}

static PyModuleDef_Slot core_slots[] = {{Py_mod_exec, core_exec}, {0, NULL}};
static struct PyModuleDef core = {PyModuleDef_HEAD_INIT, "bpelab.native._core", "Byte-pair encoding in C.", 0, NULL, core_slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&core); }
