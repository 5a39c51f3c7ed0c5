/* MergeLearner, the Python type of learn.h: counted pre-tokens go in, merges come out.

   A call takes some 20 ms, so that Ctrl-C works and a progress bar moves. module.c includes this file. Cost: that of
   learn.h. Chapter: Incremental training. */
#ifndef BPELAB_MERGE_LEARNER_H
#define BPELAB_MERGE_LEARNER_H

#include "learn.h"
#include "pretoken_counter.h"

enum { MERGES_AT_ONCE = 4096 };

typedef struct {
    PyObject_HEAD
    Words words;
    int busy; /* at work, or unusable since a merge was interrupted */
} MergeLearner;

static PyObject *learner_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    if (keywords && PyDict_GET_SIZE(keywords))
        return PyErr_Format(PyExc_TypeError, "MergeLearner takes no keyword arguments");
    uint8_t *content = NULL;
    int64_t *ends = NULL, *counts = NULL, max_merges = 0, min_count = 0, state = 0, start = 0;
    MergeLearner *self = (MergeLearner *)type->tp_alloc(type, 0); /* zeroed */
    int64_t number = self ? read_words(args, "OOOLL", &content, &ends, &counts, &max_merges, &min_count) : -1;
    int64_t size = number > 0 ? ends[number - 1] : 0, left = MAX_COUNT;
    for (int64_t i = 0; i < number && left > 0; start = ends[i++])
        left = counts[i] > left / (ends[i] - start) ? 0 : left - counts[i] * (ends[i] - start);
    if (number >= 0 && left <= 0)
        PyErr_SetString(PyExc_OverflowError, "the counts of the pre-tokens do not fit into 64 bits");
    else if (number >= 0 && (max_merges < 0 || min_count < 1 || size + number >= MAX_WORD_BYTES))
        value_error("the pre-tokens have an impossible size");
    if (self && !PyErr_Occurred()) {
        Py_BEGIN_ALLOW_THREADS
        state = words_new(&self->words, content, size, ends, counts, number, max_merges, min_count);
        Py_END_ALLOW_THREADS
        if (state) encode_failed(state);
    }
    free(content);
    free(ends);
    free(counts);
    if (PyErr_Occurred()) Py_CLEAR(self);
    return (PyObject *)self;
}

static void learner_dealloc(MergeLearner *self) {
    PyTypeObject *type = Py_TYPE(self);
    words_free(&self->words);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyObject *learner_learn(MergeLearner *self, PyObject *unused) {
    (void)unused;
    if (self->busy)
        return PyErr_Format(PyExc_RuntimeError, "another thread is using this learner, or it was interrupted");
    int64_t learned = NO_MEMORY;
    PyObject *list = NULL;
    Merge *merges = malloc(MERGES_AT_ONCE * sizeof *merges);
    self->busy = 1;
    if (merges) {
        Py_BEGIN_ALLOW_THREADS
        learned = learn_some(&self->words, merges, MERGES_AT_ONCE);
        Py_END_ALLOW_THREADS
    }
    self->busy = learned < 0;
    if (learned < 0) encode_failed(learned);
    else list = PyList_New((Py_ssize_t)learned);
    for (int64_t i = 0; list && i < learned; i++) {
        PyObject *made = Py_BuildValue("iiL", merges[i].left, merges[i].right, (long long)merges[i].count);
        if (made) PyList_SET_ITEM(list, (Py_ssize_t)i, made);
        else Py_CLEAR(list);
    }
    free(merges);
    return list;
}

static PyMethodDef learner_methods[] = {
    {"learn", (PyCFunction)learner_learn, METH_NOARGS,
     "Learn some merges: a list of (left, right, count), with the indices of tokens; empty at the end."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot learner_slots[] = {
    {Py_tp_doc, "MergeLearner(content, ends, counts, max_merges, min_count, /)\n--\n\n"
                "Learn at most `max_merges` merges, of pairs that occur at least `min_count` times, from concatenated "
                "pre-tokens, the end of each and its count (int64)."},
    {Py_tp_new, learner_new},
    {Py_tp_dealloc, learner_dealloc},
    {Py_tp_methods, learner_methods},
    {0, NULL}};

static PyType_Spec learner_spec = {"bpelab.native._core.MergeLearner", sizeof(MergeLearner), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, learner_slots};

#endif
