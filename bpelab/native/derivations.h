/* Derivations: merge the symbols of each token on their own, and say which two tokens were last, as
   `core/derivations.py` does where merges rank before their own parts.

   Cost: some look-ups for each symbol, and the square of a token's symbols in comparisons; half a second for 128,000
   tokens. Chapter: New words for an old model. */
#ifndef BPELAB_DERIVATIONS_H
#define BPELAB_DERIVATIONS_H

#include "common.h"

#define MAX_DERIVATION_WORK ((int64_t)1 << 30) /* comparisons: a second */

typedef struct {
    uint64_t *pairs; /* hash table of left << 32 | right, or EMPTY */
    uint32_t *numbers; /* of the merge of each pair */
    uint64_t mask;
    int shift;
} MergeIndex;

/* The number of the merge of two tokens, or NONE. */
INLINE uint32_t number_of_merge(const MergeIndex *index, uint32_t left, uint32_t right) {
    uint64_t pair = (uint64_t)left << 32 | right, at = fibonacci_hash(pair) >> index->shift;
    while (index->pairs[at] != EMPTY && index->pairs[at] != pair) at = (at + 1) & index->mask;
    return index->pairs[at] == pair ? index->numbers[at] : NONE;
}

/* Index merges by their pairs, of two equal ones the last. 0 if memory runs out. */
static int index_merges(MergeIndex *index, const uint32_t *left, const uint32_t *right, int64_t count) {
    uint64_t size = next_power_of_two(2 * (uint64_t)count + 1);
    index->pairs = malloc(size * sizeof *index->pairs);
    index->numbers = malloc(size * sizeof *index->numbers);
    if (!index->pairs || !index->numbers) return 0;
    memset(index->pairs, 0xFF, size * sizeof *index->pairs);
    index->mask = size - 1;
    index->shift = hash_shift(size);
    for (int64_t i = 0; i < count; i++) {
        uint64_t pair = (uint64_t)left[i] << 32 | right[i], at = fibonacci_hash(pair) >> index->shift;
        while (index->pairs[at] != EMPTY && index->pairs[at] != pair) at = (at + 1) & index->mask;
        index->pairs[at] = pair;
        index->numbers[at] = (uint32_t)i;
    }
    return 1;
}

/* Merge `count` symbols in place, lowest rank first and of equal ones the leftmost; returns how many are left, and the
   last merge's number in `last`. `merges` has space for their merges. */
static int64_t merge_on_its_own(const MergeIndex *index, const uint32_t *new, uint32_t *symbols, uint32_t *merges,
                             int64_t count, uint32_t *last) {
    for (int64_t i = 0; i + 1 < count; i++) merges[i] = number_of_merge(index, symbols[i], symbols[i + 1]);
    for (*last = NONE; count > 1;) {
        int64_t best = 0;
        for (int64_t i = 1; i + 1 < count; i++)
            if (merges[i] < merges[best]) best = i;
        if (merges[best] == NONE) break;
        *last = merges[best];
        symbols[best] = new[merges[best]];
        size_t after = (size_t)(count - best - 2);
        memmove(symbols + best + 1, symbols + best + 2, after * sizeof *symbols);
        if (after) memmove(merges + best + 1, merges + best + 2, (after - 1) * sizeof *merges);
        count--;
        if (best) merges[best - 1] = number_of_merge(index, symbols[best - 1], symbols[best]);
        if (best + 1 < count) merges[best] = number_of_merge(index, symbols[best], symbols[best + 1]);
    }
    return count;
}

/* last_merges(left, right, new, symbols, ends, ids): see its docstring. */
static PyObject *last_merges(PyObject *module, PyObject *args) {
    PyObject *given[6], *result = NULL;
    uint32_t *columns[6] = {NULL}, *merges = NULL;
    int64_t counts[6], longest = 0, work = 0, start = 0;
    MergeIndex index = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOO", given, given + 1, given + 2, given + 3, given + 4, given + 5)) return NULL;
    for (int c = 0; c < 6; c++)
        if (!(columns[c] = copy_buffer(given[c], 4, counts + c))) goto end;
    uint32_t *symbols = columns[3], *ends = columns[4], *ids = columns[5];
    int fits = counts[0] == counts[1] && counts[0] == counts[2] && counts[0] < NONE && counts[4] == counts[5];
    for (int64_t t = 0; fits && t < counts[4]; start = ends[t++]) {
        fits = ends[t] >= start && ends[t] <= counts[3];
        int64_t size = (int64_t)ends[t] - start;
        work += size * size;
        if (size > longest) longest = size;
    }
    if (!fits) {
        value_error("the columns don't fit each other");
        goto end;
    }
    if (work > MAX_DERIVATION_WORK) {
        result = Py_NewRef(Py_None);
        goto end;
    }
    if (!(merges = malloc(((size_t)longest + 1) * sizeof *merges)) ||
        !index_merges(&index, columns[0], columns[1], counts[0])) {
        PyErr_NoMemory();
        goto end;
    }
    start = 0;
    for (int64_t t = 0; t < counts[4]; t++) {
        int64_t end = ends[t];
        uint32_t last = NONE;
        int64_t left = merge_on_its_own(&index, columns[2], symbols + start, merges, end - start, &last);
        if (left != 1 || symbols[start] != ids[t]) last = NONE;
        ends[t] = last;
        start = end;
        if (stopped_by_user(t)) goto end;
    }
    result = PyBytes_FromStringAndSize((const char *)ends, (Py_ssize_t)(4 * counts[4]));
end:
    free(index.pairs);
    free(index.numbers);
    free(merges);
    for (int c = 0; c < 6; c++) free(columns[c]);
    return result;
}

#endif
