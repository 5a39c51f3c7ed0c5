/* Merge recovery: find the one merge of a list that makes each token, as `merge_recovery.recover_merges` in Python.

   Cost: 0.2 s for 500,000 merges. Chapter: A trie. */
#ifndef BPELAB_MERGE_RECOVERY_H
#define BPELAB_MERGE_RECOVERY_H

#include "common.h"

enum { MAX_UNDONE = 1 << 20 }; /* merges undone for one look: more than a token has bytes, unless the input is wrong */
#define NOT_MADE (-2)          /* ranks of tokens that nothing makes, and of the alphabet's */
#define NOT_MERGED (-1)

typedef struct {
    int64_t *rank_of;     /* (size,) by id */
    uint32_t *parts;      /* (size, 2) by id */
    uint64_t *pairs;      /* hash table of the pairs that were recovered, left << 32 | right, or EMPTY */
    int64_t *pair_ranks;
    uint64_t mask;
    int shift;
} Recovery;

static void recovery_free(Recovery *r) {
    free(r->rank_of);
    free(r->parts);
    free(r->pairs);
    free(r->pair_ranks);
}

/* Allocate for ids below `size`, and up to `count` pairs. 0 if memory runs out. */
static int recovery_new(Recovery *r, int64_t size, int64_t count) {
    uint64_t slots = next_power_of_two(2 * (uint64_t)(count < size ? count : size));
    r->rank_of = malloc((size_t)size * sizeof *r->rank_of);
    r->parts = malloc((size_t)size * 2 * sizeof *r->parts);
    r->pairs = malloc(slots * sizeof *r->pairs);
    r->pair_ranks = malloc(slots * sizeof *r->pair_ranks);
    if (!r->rank_of || !r->parts || !r->pairs || !r->pair_ranks) return 0;
    for (int64_t id = 0; id < size; id++) r->rank_of[id] = NOT_MADE;
    memset(r->pairs, 0xFF, slots * sizeof *r->pairs);
    r->mask = slots - 1;
    r->shift = hash_shift(slots);
    return 1;
}

/* The slot of a pair, or the free one where it would be. */
static uint64_t recovered_slot(const Recovery *r, uint32_t left, uint32_t right) {
    uint64_t pair = (uint64_t)left << 32 | right, at = fibonacci_hash(pair) >> r->shift;
    while (r->pairs[at] != EMPTY && r->pairs[at] != pair) at = (at + 1) & r->mask;
    return at;
}

/* Whether merging the bytes of two tokens, side by side, ends with these two: see `compatible` in Python. */
static int stay_apart(const Recovery *r, uint32_t left, uint32_t right) {
    int64_t limit = INT64_MAX; /* twice the rank, so that there is something between two ranks */
    for (int undone = 0; undone < MAX_UNDONE; undone++) {
        uint64_t at = recovered_slot(r, left, right);
        if (r->pairs[at] != EMPTY && 2 * r->pair_ranks[at] < limit) return 0;
        int64_t left_rank = r->rank_of[left], right_rank = r->rank_of[right];
        if (left_rank > right_rank) {
            limit = 2 * left_rank;
            left = r->parts[2 * (size_t)left + 1];
        } else if (right_rank >= 0) {
            limit = 2 * right_rank + 1;
            right = r->parts[2 * (size_t)right];
        } else {
            return 1;
        }
    }
    return 0;
}

enum { UNUSED_MERGE, USED_MERGE, LATE_MERGE }; /* late: one of its parts wasn't made yet when its rank came */

/* Say of each merge, in the order of ranks, which of these it is; 0 if the user stopped it. */
static int try_merges(Recovery *r, uint32_t *columns[4], int64_t count, uint8_t *kinds) {
    for (int64_t i = 0; i < count; i++) {
        uint32_t left = columns[1][i], right = columns[2][i], token = columns[3][i];
        int late = r->rank_of[left] == NOT_MADE || r->rank_of[right] == NOT_MADE;
        kinds[i] = late ? LATE_MERGE : UNUSED_MERGE;
        if (stopped_by_user(i)) return 0;
        if (late || r->rank_of[token] >= 0 || !stay_apart(r, left, right)) continue;
        uint64_t at = recovered_slot(r, left, right);
        kinds[i] = USED_MERGE;
        r->pairs[at] = (uint64_t)left << 32 | right;
        r->pair_ranks[at] = r->rank_of[token] = columns[0][i];
        r->parts[2 * (size_t)token] = left;
        r->parts[2 * (size_t)token + 1] = right;
    }
    return 1;
}

/* recover_merges(ranks, left, right, new, made): see its docstring. */
static PyObject *recover_merges(PyObject *module, PyObject *args) {
    PyObject *given[4], *result = NULL;
    Py_buffer made;
    uint32_t *columns[4] = {NULL, NULL, NULL, NULL};
    uint8_t *kinds = NULL;
    int64_t counts[4], used = 0;
    int fits = 1, complete = 1;
    Recovery r = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOy*", given, given + 1, given + 2, given + 3, &made)) return NULL;
    for (int c = 0; c < 4; c++) {
        if (!(columns[c] = copy_buffer(given[c], 4, counts + c))) goto end;
        fits = fits && counts[c] == counts[0];
    }
    for (int64_t i = 0; fits && i < counts[0]; i++) {
        fits = !i || columns[0][i - 1] < columns[0][i];
        for (int c = 1; c < 4; c++) fits = fits && columns[c][i] < made.len;
    }
    if (!fits) {
        value_error("the merges' ranks don't ascend, or an id is too high");
        goto end;
    }
    if (!(kinds = malloc((size_t)counts[0] + 1)) || !recovery_new(&r, made.len + 1, counts[0])) {
        PyErr_NoMemory();
        goto end;
    }
    for (int64_t id = 0; id < made.len; id++)
        if (((const uint8_t *)made.buf)[id]) r.rank_of[id] = NOT_MERGED;
    if (!try_merges(&r, columns, counts[0], kinds)) goto end;
    for (int64_t i = 0; i < counts[0]; i++) {
        if (kinds[i] == LATE_MERGE && r.rank_of[columns[3][i]] < 0 && r.rank_of[columns[1][i]] != NOT_MADE &&
            r.rank_of[columns[2][i]] != NOT_MADE)
            complete = 0;
        if (kinds[i] != USED_MERGE) continue;
        for (int c = 0; c < 4; c++) columns[c][used] = columns[c][i];
        used++;
    }
    Py_ssize_t size = (Py_ssize_t)(4 * used);
    result = Py_BuildValue("y#y#y#y#O", columns[0], size, columns[1], size, columns[2], size, columns[3], size,
                           complete ? Py_True : Py_False);
end:
    recovery_free(&r);
    free(kinds);
    for (int c = 0; c < 4; c++) free(columns[c]);
    PyBuffer_Release(&made);
    return result;
}

#endif
