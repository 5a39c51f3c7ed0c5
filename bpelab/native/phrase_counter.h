/* PhraseCounter, the Python type of phrases.h: texts go in, pairs of tokens and their counts come out, or parts.

   At first pairs are counted. `count_parts` names the pairs that may be merged and the counter that takes the parts of
   what is fed from then on. `feed` returns what Python has to split, as that of PreTokenCounter does, and `add` takes
   what Python has split. module.c includes this file. Cost: that of phrases.h. Chapter: Superwords. */
#ifndef BPELAB_PHRASE_COUNTER_H
#define BPELAB_PHRASE_COUNTER_H

#include "parts.h"
#include "phrases.h"
#include "pretoken_counter.h"

enum { BATCHES_PER_POLL = 16 }; /* some 20 ms */

typedef struct {
    PyObject_HEAD
    PyObject *encoder, *counter; /* an Encoder, or NULL if Python splits; a PreTokenCounter, once parts are counted */
    Phrases phrases;
    PairCounts pairs;
    Parts parts;
    int busy, stopped; /* guarded by the interpreter's lock */
} PhraseCounter;

static PyObject *phrase_counter_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"encoder", "max_memory", "beyond", "letters", NULL};
    PyObject *encoder, *beyond = NULL, *letters = NULL;
    long long max_memory;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OL|O!O!", names, &encoder, &max_memory, &PyTuple_Type, &beyond,
                                     &PyTuple_Type, &letters))
        return NULL;
    PhraseCounter *self = (PhraseCounter *)type->tp_alloc(type, 0); /* zeroed */
    if (!self) return NULL;
    Phrases *p = &self->phrases;
    for (self->pairs.max_rows = MIN_PAIR_ROWS; (int64_t)self->pairs.max_rows <= max_memory / 2 / SIZE_OF_PAIR;)
        self->pairs.max_rows *= 2;
    p->boundless = beyond != NULL;
    if (Py_TYPE(encoder)->tp_dealloc == (destructor)encoder_dealloc) {
        Encoder *e = (Encoder *)encoder;
        int numbered = !e->vocabulary.unit_entries && e->vocabulary.id_count == e->vocabulary.token_count &&
                       e->level_count == 1 && e->levels[0].kind == PATTERN && e->levels[0].keep == ALL;
        for (int64_t t = 0; numbered && t < e->vocabulary.token_count; t++)
            numbered = e->vocabulary.ids[t] < e->vocabulary.token_count;
        if (!numbered) value_error("the encoder must have one pattern, and ids from 0 up");
        else if (!phrases_begin(p, &e->vocabulary, &e->levels[0].scan, &e->superwords)) PyErr_NoMemory();
        else if ((beyond != NULL) != (letters != NULL)) value_error("runs need two patterns");
        else if (!beyond || (read_scan(&p->beyond, beyond) && read_scan(&p->letters, letters)))
            self->encoder = Py_NewRef(encoder);
    } else if (encoder != Py_None) {
        value_error("the encoder must be an Encoder or None");
    }
    if (PyErr_Occurred()) Py_CLEAR(self);
    return (PyObject *)self;
}

static void free_scan(Scan *scan) {
    free(scan->steps);
    free(scan->stage1);
    free(scan->stage2);
    readers_free(scan->readers);
}

static void phrase_counter_dealloc(PhraseCounter *self) {
    PyTypeObject *type = Py_TYPE(self);
    phrases_free(&self->phrases);
    free_scan(&self->phrases.beyond);
    free_scan(&self->phrases.letters);
    free(self->pairs.rows);
    parts_free(&self->parts);
    Py_XDECREF(self->encoder);
    Py_XDECREF(self->counter);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static int phrase_counter_begin(PhraseCounter *self) {
    PreTokenCounter *counter = (PreTokenCounter *)self->counter;
    if (self->busy || (counter && counter->busy))
        PyErr_SetString(PyExc_RuntimeError, "another thread is using this counter; each thread needs its own");
    if (PyErr_Occurred()) return 0;
    if (counter) counter->busy = 1;
    return self->busy = 1;
}

static void phrase_counter_end(PhraseCounter *self) {
    if (self->counter) ((PreTokenCounter *)self->counter)->busy = 0;
    self->busy = 0;
}

/* Count the pairs or the parts of sequences. 0, or less. */
static int64_t count_sequences(PhraseCounter *self, const uint32_t *tokens, int64_t number) {
    if (self->counter) return count_parts(&self->parts, ((PreTokenCounter *)self->counter)->counts, tokens, number);
    return count_neighbours(&self->pairs, tokens, number) ? 0 : NO_MEMORY;
}

/* Count what is in a text from `*begin` to `stop`, for some 20 ms. 0, or less: then `*begin` is where it goes on. */
static int64_t count_phrases(PhraseCounter *self, CallContext *w, const uint8_t *text, int64_t *begin, int64_t stop,
                             int first) {
    Phrases *p = &self->phrases;
    int64_t state = 0, start = *begin;
    if (first) p->number = 0;
    if (first && p->boundless) state = find_divisions(p, &w->workspace, text, start, stop);
    for (int batch = 0; state >= 0 && batch < BATCHES_PER_POLL && *begin < stop; batch++) {
        state = append_phrases(p, &w->workspace, &w->scratch, text, begin, stop);
        if (state < 0 || (p->boundless && *begin < stop)) continue; /* a run may go on */
        if (p->number) p->tokens[p->number++] = BREAK;
        state = count_sequences(self, p->tokens, p->number);
        p->number = 0;
    }
    return state;
}

/* Count texts; returns those, or their rests, that Python has to split. */
static PyObject *phrase_counter_feed(PhraseCounter *self, PyObject *given) {
    if (!PyList_Check(given)) return PyErr_Format(PyExc_TypeError, "expected a list of texts");
    if (!self->encoder) return Py_NewRef(given);
    if (!phrase_counter_begin(self)) return NULL;
    int64_t number = 0, texts = 0, begin = 0;
    PyObject *items = PyList_AsTuple(given), *left = PyList_New(0); /* a tuple that nobody changes meanwhile */
    int64_t *stops = items ? malloc(((size_t)PyTuple_GET_SIZE(items) + 1) * sizeof *stops) : NULL;
    uint8_t *joined = stops && left ? join_texts(items, stops, &texts, left) : NULL;
    CallContext *w = joined ? acquire_context((Encoder *)self->encoder) : NULL;
    if (!PyErr_Occurred() && !w) PyErr_NoMemory();
    Py_XDECREF(items);
    for (int64_t start = 0; number < texts && !self->stopped && !PyErr_Occurred();) {
        int64_t state, stop = stops[number];
        if (begin == stop) {
            start = stop;
            number++;
            continue;
        }
        Py_BEGIN_ALLOW_THREADS
        state = count_phrases(self, w, joined, &begin, stop, begin == start);
        Py_END_ALLOW_THREADS
        if (state == LOOKAHEAD_EXCEEDED) { /* a run must not be divided where the reading stopped */
            int64_t from = self->phrases.boundless ? start : begin;
            PyObject *rest = PyUnicode_DecodeUTF8((const char *)joined + from, (Py_ssize_t)(stop - from), NULL);
            if (rest) PyList_Append(left, rest);
            Py_XDECREF(rest);
            begin = stop;
        } else if (state < 0) {
            counting_failed(state);
        } else {
            PyErr_CheckSignals();
        }
    }
    if (w) release_context((Encoder *)self->encoder, w);
    phrase_counter_end(self);
    free(stops);
    free(joined);
    if (PyErr_Occurred()) Py_CLEAR(left);
    return left;
}

/* Count sequences that Python has made: tokens (uint32), 0xFFFFFFFF after each sequence. */
static PyObject *phrase_counter_add(PhraseCounter *self, PyObject *given) {
    int64_t number = 0, state = 0;
    if (!phrase_counter_begin(self)) return NULL;
    uint32_t *tokens = copy_buffer(given, 4, &number);
    int right = 1;
    for (int64_t i = 0; tokens && right && i < number; i++) right = tokens[i] == BREAK || !(tokens[i] >> 24);
    if (!right) value_error("a token has an impossible number");
    else if (tokens && (state = count_sequences(self, tokens, number)) < 0) counting_failed(state);
    phrase_counter_end(self);
    free(tokens);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* A count that at least so many pairs have: a power of two, the highest one. */
static PyObject *phrase_counter_frequent(PhraseCounter *self, PyObject *args) {
    long long number;
    int64_t numbers[64] = {0}; /* of the pairs that have so many bits in their counts */
    int bit = 63;
    if (!PyArg_ParseTuple(args, "L", &number) || !phrase_counter_begin(self)) return NULL;
    for (uint64_t i = 0; self->pairs.rows && i <= self->pairs.mask; i++)
        if (self->pairs.rows[i].key) numbers[highest_bit((uint64_t)self->pairs.rows[i].count)]++;
    while (bit > 0 && (number -= numbers[bit]) > 0) bit--;
    phrase_counter_end(self);
    return PyLong_FromLongLong((int64_t)1 << (bit < 62 ? bit : 62));
}

/* (keys, counts) of the pairs that occur at least `least` times, as far as they were counted. */
static PyObject *phrase_counter_pairs(PhraseCounter *self, PyObject *args) {
    long long least;
    if (!PyArg_ParseTuple(args, "L", &least) || !phrase_counter_begin(self)) return NULL;
    const PairCounts *p = &self->pairs;
    Py_ssize_t number = 0;
    if (least < 1) least = 1;
    for (uint64_t i = 0; p->rows && i <= p->mask; i++) number += p->rows[i].count >= least;
    PyObject *keys = PyByteArray_FromStringAndSize(NULL, 8 * number);
    PyObject *counts = keys ? PyByteArray_FromStringAndSize(NULL, 8 * number) : NULL;
    if (counts) {
        uint64_t *key = (uint64_t *)(void *)PyByteArray_AS_STRING(keys);
        int64_t *count = (int64_t *)(void *)PyByteArray_AS_STRING(counts);
        for (uint64_t i = 0; p->rows && i <= p->mask; i++) {
            if (p->rows[i].count < least) continue;
            *key++ = p->rows[i].key;
            *count++ = p->rows[i].count;
        }
    }
    phrase_counter_end(self);
    if (counts) return Py_BuildValue("NN", keys, counts);
    Py_XDECREF(keys);
    return NULL;
}

/* Add the pairs of another counter. */
static PyObject *phrase_counter_add_pairs(PhraseCounter *self, PyObject *args) {
    PyObject *given;
    if (!PyArg_ParseTuple(args, "O!", Py_TYPE(self), &given)) return NULL;
    PhraseCounter *other = (PhraseCounter *)given;
    if (other == self || other->busy) return PyErr_Format(PyExc_RuntimeError, "that counter is in use");
    if (!phrase_counter_begin(self)) return NULL;
    int64_t added = 0;
    int done = 1;
    for (uint64_t i = 0; done && other->pairs.rows && i <= other->pairs.mask; i++) {
        const CountedPair *row = other->pairs.rows + i;
        if (!row->key) continue;
        if (added++ % PAIRS_AT_ONCE == 0) done = reserve_pairs(&self->pairs, PAIRS_AT_ONCE);
        if (done) add_pair(&self->pairs, row->key, row->count);
    }
    self->pairs.dropped += other->pairs.dropped;
    phrase_counter_end(self);
    return done ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

/* Count parts from now on. */
static PyObject *phrase_counter_count_parts(PhraseCounter *self, PyObject *args) {
    PyObject *counter, *given;
    int64_t number = 0;
    if (!PyArg_ParseTuple(args, "OO", &counter, &given)) return NULL;
    if (Py_TYPE(counter)->tp_dealloc != (destructor)counter_dealloc)
        return PyErr_Format(PyExc_TypeError, "parts are counted by a PreTokenCounter");
    if (!phrase_counter_begin(self)) return NULL;
    phrase_counter_end(self);
    uint64_t *keys = given == Py_None ? NULL : copy_buffer(given, 8, &number);
    int kept = keys ? keep_pairs(&self->parts, keys, number) : 1;
    free(keys);
    if (!kept) PyErr_NoMemory();
    if (PyErr_Occurred()) return NULL;
    if (given == Py_None) {
        free(self->parts.kept);
        self->parts.kept = NULL;
    }
    free(self->pairs.rows);
    self->pairs = (PairCounts){NULL, 0, self->pairs.max_rows, 0, 0};
    Py_XSETREF(self->counter, Py_NewRef(counter));
    Py_RETURN_NONE;
}

static PyObject *phrase_counter_stop(PhraseCounter *self, PyObject *unused) {
    (void)unused;
    self->stopped = 1;
    Py_RETURN_NONE;
}

static PyObject *phrase_counter_dropped(PhraseCounter *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong(self->pairs.dropped);
}

static PyMethodDef phrase_counter_methods[] = {
    {"feed", (PyCFunction)phrase_counter_feed, METH_O, "Count texts; returns what Python has to split."},
    {"add", (PyCFunction)phrase_counter_add, METH_O,
     "Count sequences of tokens (uint32), each with 0xFFFFFFFF after it."},
    {"frequent", (PyCFunction)phrase_counter_frequent, METH_VARARGS,
     "frequent(number): the highest power of two that the counts of so many pairs reach; 1 if there are fewer."},
    {"pairs", (PyCFunction)phrase_counter_pairs, METH_VARARGS,
     "pairs(least): (keys, counts) of the pairs that were counted so often; a key is (left + 1) << 32 | right + 1."},
    {"add_pairs", (PyCFunction)phrase_counter_add_pairs, METH_VARARGS, "Add the pairs of another counter."},
    {"count_parts", (PyCFunction)phrase_counter_count_parts, METH_VARARGS,
     "count_parts(counter, keys): from now on count, in a PreTokenCounter, the parts between pairs that are not among "
     "the keys; with None, whole sequences."},
    {"stop", (PyCFunction)phrase_counter_stop, METH_NOARGS,
     "Make `feed` return as soon as it can; for another thread to call."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef phrase_counter_attributes[] = {
    {"dropped", (getter)phrase_counter_dropped, NULL, "A pair occurs at most so much more often than `pairs` says.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot phrase_counter_slots[] = {
    {Py_tp_doc, "PhraseCounter(encoder, max_memory, beyond=None, letters=None)\n--\n\n"
                "Count pairs of neighbouring tokens in texts, in a table of `max_memory` bytes at most. Sequences are the "
                "pieces of the encoder; or, with the tables of two patterns, runs of those that are one token and have a "
                "match of `letters`, between cuts of `beyond`. Without an encoder only `add` counts."},
    {Py_tp_new, phrase_counter_new},
    {Py_tp_dealloc, phrase_counter_dealloc},
    {Py_tp_methods, phrase_counter_methods},
    {Py_tp_getset, phrase_counter_attributes},
    {0, NULL}};

static PyType_Spec phrase_counter_spec = {"bpelab.native._core.PhraseCounter", sizeof(PhraseCounter), 0,
                                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, phrase_counter_slots};

#endif
