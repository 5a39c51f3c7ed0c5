/* Positions: where each id of a column is in a list of ids, as `arrays.py` needs it of the merges' tokens.

   Cost: a look-up in a table for each; 1 ms for 500,000. Chapter: Native code. */
#ifndef BPELAB_POSITIONS_H
#define BPELAB_POSITIONS_H

#include "common.h"

#define HIGHEST_LISTED ((uint32_t)1 << 28) /* a row for each id takes memory */

/* Put the position in `order` in place of each id; 0 if an id isn't there. */
static int find_positions(const uint32_t *order, int64_t count, uint32_t *rows, int64_t size, uint32_t *ids,
                          int64_t number) {
    memset(rows, 0xFF, (size_t)size * sizeof *rows);
    for (int64_t i = 0; i < count; i++) rows[order[i]] = (uint32_t)i;
    for (int64_t i = 0; i < number; i++)
        if (ids[i] >= size || (ids[i] = rows[ids[i]]) == NONE) return 0;
    return 1;
}

/* positions(order, ids): see its docstring. */
static PyObject *positions(PyObject *module, PyObject *args) {
    PyObject *listed, *wanted, *result = NULL;
    uint32_t *order = NULL, *ids = NULL, *rows = NULL, highest = 0;
    int64_t count, number;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &listed, &wanted) || !(order = copy_buffer(listed, 4, &count)) ||
        !(ids = copy_buffer(wanted, 4, &number)))
        goto end;
    for (int64_t i = 0; i < count; i++)
        if (order[i] > highest) highest = order[i];
    if (highest >= HIGHEST_LISTED)
        value_error("an id is 2^28 or more");
    else if (!(rows = malloc(((size_t)highest + 1) * sizeof *rows)))
        PyErr_NoMemory();
    else if (!find_positions(order, count, rows, (int64_t)highest + 1, ids, number))
        PyErr_SetString(PyExc_KeyError, "an id isn't in the list");
    else
        result = PyBytes_FromStringAndSize((const char *)ids, (Py_ssize_t)(4 * number));
end:
    free(order);
    free(ids);
    free(rows);
    return result;
}

#endif
