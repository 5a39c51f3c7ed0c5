/* PreTokenCounter, the Python type of count.h: texts go in, distinct pre-tokens and their counts come out.

   `feed` returns what Python has to split: texts with lone surrogates, and the rest of a text that needs too much
   look-ahead. The interpreter's lock is released while it counts, so several threads count at once, each with its own
   counter. module.c includes this file after what the types share. Cost: that of count.h. Chapter: Incremental
   training. */
#ifndef BPELAB_PRETOKEN_COUNTER_H
#define BPELAB_PRETOKEN_COUNTER_H

#include "count.h"

typedef struct {
    PyObject_HEAD
    Scan scan;
    Counts *counts;
    int scans, busy, stopped; /* guarded by the interpreter's lock */
} PreTokenCounter;

static PyObject *counter_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"scan", NULL};
    PyObject *scan;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O", names, &scan)) return NULL;
    PreTokenCounter *self = (PreTokenCounter *)type->tp_alloc(type, 0); /* zeroed */
    if (!self) return NULL;
    self->scans = scan != Py_None;
    if (self->scans && !PyTuple_Check(scan)) value_error("the table of a pattern must be a tuple or None");
    else if ((!self->scans || read_scan(&self->scan, scan)) && !(self->counts = counts_new())) PyErr_NoMemory();
    if (!PyErr_Occurred()) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}

static void counter_dealloc(PreTokenCounter *self) {
    PyTypeObject *type = Py_TYPE(self);
    counts_free(self->counts);
    free(self->scan.steps);
    free(self->scan.stage1);
    free(self->scan.stage2);
    readers_free(self->scan.readers);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static int counter_begin(PreTokenCounter *self) {
    if (self->busy)
        PyErr_SetString(PyExc_RuntimeError, "another thread is using this counter; each thread needs its own");
    return self->busy ? 0 : (self->busy = 1);
}

static PyObject *counting_failed(int64_t state) {
    if (state == NO_MEMORY) return PyErr_NoMemory();
    if (state == COUNT_OVERFLOW)
        PyErr_SetString(PyExc_OverflowError, "the count of a pre-token does not fit into 64 bits");
    return NULL;
}

/* Concatenate the UTF-8 of texts, padded, and write where each ends to `stops`; those with a surrogate go to the list
   `left`. NULL with an exception set. */
static uint8_t *join_texts(PyObject *texts, int64_t *stops, int64_t *number, PyObject *left) {
    int64_t used = 0, room = 0;
    uint8_t *joined = malloc(PAD);
    for (Py_ssize_t i = 0; joined && i < PyTuple_GET_SIZE(texts); i++) {
        Text text;
        int opened = open_text(PyTuple_GET_ITEM(texts, i), &text);
        if (opened < 0 || (!opened && PyList_Append(left, PyTuple_GET_ITEM(texts, i)) < 0)) {
            free(joined);
            return NULL;
        }
        if (!opened) continue;
        if (used + text.size > room) {
            room = used + text.size + used / 2;
            uint8_t *larger = realloc(joined, (size_t)room + PAD);
            if (!larger) free(joined);
            joined = larger;
        }
        if (joined) memcpy(joined + used, text.bytes, (size_t)text.size);
        free(text.copy);
        stops[(*number)++] = used += text.size;
    }
    if (joined) memset(joined + used, 0, PAD);
    else PyErr_NoMemory();
    return joined;
}

/* Count the pre-tokens of a list of texts; returns those, or their rests, that Python has to split. */
static PyObject *counter_feed(PreTokenCounter *self, PyObject *given) {
    int64_t number = 0, texts = 0, begin = 0;
    if (!PyList_Check(given)) return PyErr_Format(PyExc_TypeError, "expected a list of texts");
    if (!counter_begin(self)) return NULL;
    PyObject *items = PyList_AsTuple(given), *left = PyList_New(0); /* a tuple that nobody changes meanwhile */
    int64_t *stops = items ? malloc(((size_t)PyTuple_GET_SIZE(items) + 1) * sizeof *stops) : NULL;
    uint8_t *joined = stops && left ? join_texts(items, stops, &texts, left) : NULL;
    if (items && !stops) PyErr_NoMemory();
    Py_XDECREF(items);
    while (number < texts && !self->stopped && !PyErr_Occurred()) {
        int64_t state;
        Py_BEGIN_ALLOW_THREADS
        state = count_texts(self->counts, self->scans ? &self->scan : NULL, joined, stops, texts, &number, &begin);
        Py_END_ALLOW_THREADS
        if (state == LOOKAHEAD_EXCEEDED) {
            PyObject *rest = PyUnicode_DecodeUTF8((const char *)joined + begin, (Py_ssize_t)(stops[number] - begin),
                                                  NULL);
            if (rest) PyList_Append(left, rest);
            Py_XDECREF(rest);
            begin = stops[number++];
        } else if (state < 0) {
            counting_failed(state);
        } else {
            PyErr_CheckSignals();
        }
    }
    self->busy = 0;
    free(stops);
    free(joined);
    if (PyErr_Occurred()) Py_CLEAR(left);
    return left;
}

/* Read three buffers: concatenated pre-tokens, the end of each and its count (int64). Returns the number of pre-tokens,
   or -1 with an exception set. */
static int64_t read_words(PyObject *args, uint8_t **content, int64_t **ends, int64_t **counts) {
    PyObject *given[3];
    int64_t size, number, same, before = 0;
    if (!PyArg_ParseTuple(args, "OOO", given, given + 1, given + 2)) return -1;
    if (!(*content = copy_buffer(given[0], 1, &size)) || !(*ends = copy_buffer(given[1], 8, &number)) ||
        !(*counts = copy_buffer(given[2], 8, &same)))
        return -1;
    int right = number == same;
    for (int64_t i = 0; right && i < number; before = (*ends)[i++])
        right = (*ends)[i] > before && (*ends)[i] <= size && (*counts)[i] >= 0;
    if (!right) value_error("the pre-tokens have impossible ends or counts");
    return right ? number : -1;
}

/* Add pre-tokens with their counts. */
static PyObject *counter_add(PreTokenCounter *self, PyObject *args) {
    uint8_t *content = NULL;
    int64_t *ends = NULL, *counts = NULL, state = 0, begin = 0, number;
    if (!counter_begin(self)) return NULL;
    number = read_words(args, &content, &ends, &counts);
    Py_BEGIN_ALLOW_THREADS
    for (int64_t first = 0; first < number && state >= 0; first += CHUNK) {
        int64_t several = number - first < CHUNK ? number - first : CHUNK;
        state = count_pieces(self->counts, content, begin, ends + first, counts + first, several);
        begin = ends[first + several - 1];
    }
    Py_END_ALLOW_THREADS
    self->busy = 0;
    free(content);
    free(ends);
    free(counts);
    if (number >= 0 && state < 0) counting_failed(state);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* (content, ends, counts) of the pre-tokens that occur at least `min_count` times. */
static PyObject *counter_words(PreTokenCounter *self, PyObject *args) {
    long long min_count = 1;
    int64_t bytes, number;
    if (!PyArg_ParseTuple(args, "|L", &min_count) || !counter_begin(self)) return NULL;
    number = count_frequent(self->counts, min_count, &bytes);
    PyObject *content = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    PyObject *ends = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)number * 8);
    PyObject *counts = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)number * 8);
    if (content && ends && counts)
        list_pieces(self->counts, min_count, (uint8_t *)PyBytes_AS_STRING(content),
                    (int64_t *)(void *)PyByteArray_AS_STRING(ends), (int64_t *)(void *)PyByteArray_AS_STRING(counts));
    self->busy = 0;
    if (content && ends && counts) return Py_BuildValue("NNN", content, ends, counts);
    Py_XDECREF(content);
    Py_XDECREF(ends);
    Py_XDECREF(counts);
    return NULL;
}

static PyObject *counter_stop(PreTokenCounter *self, PyObject *unused) {
    (void)unused;
    self->stopped = 1;
    Py_RETURN_NONE;
}

static PyObject *counter_nbytes(PreTokenCounter *self, void *unused) {
    (void)unused;
    return PyLong_FromLongLong((int64_t)((self->counts->mask + 1) * sizeof(CountRow)) + self->counts->arena_capacity);
}

static PyObject *counter_scans(PreTokenCounter *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(self->scans);
}

static PyMethodDef counter_methods[] = {
    {"feed", (PyCFunction)counter_feed, METH_O, "Count the pre-tokens of texts; returns what Python has to split."},
    {"add", (PyCFunction)counter_add, METH_VARARGS,
     "add(content, ends, counts): add concatenated pre-tokens with their counts."},
    {"words", (PyCFunction)counter_words, METH_VARARGS,
     "words(min_count=1): (content, ends, counts) of the pre-tokens that occur at least so often."},
    {"stop", (PyCFunction)counter_stop, METH_NOARGS,
     "Make `feed` return as soon as it can; for another thread to call."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef counter_attributes[] = {
    {"scans", (getter)counter_scans, NULL, "Whether it has the table of a pattern.", NULL},
    {"nbytes", (getter)counter_nbytes, NULL, "Bytes of memory used by the counts so far.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot counter_slots[] = {
    {Py_tp_doc, "PreTokenCounter(scan)\n--\n\n"
                "Count the pre-tokens of texts, split by the table of a pattern; whole texts if it is None."},
    {Py_tp_new, counter_new},
    {Py_tp_dealloc, counter_dealloc},
    {Py_tp_methods, counter_methods},
    {Py_tp_getset, counter_attributes},
    {0, NULL}};

static PyType_Spec counter_spec = {"bpelab.native._core.PreTokenCounter", sizeof(PreTokenCounter), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, counter_slots};

#endif
