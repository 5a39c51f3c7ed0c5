/* Replace: apply one merge at all positions of its pair, in flat arrays instead of linked lists.

   All words are concatenated, a border after each, and a token is written at the first and at the last of its bytes:
   its neighbours are found from its length, and at a stale position there is another token. The changes of a merge are
   added up by neighbour, so that each pair's count is looked up once a merge and not once a position. Cost: a cache
   line or two for each position, prefetched. Chapter: Incremental training. */
#ifndef BPELAB_REPLACE_H
#define BPELAB_REPLACE_H

#include "pairs.h"

enum { BORDER = 0 };            /* between words and inside tokens; tokens count from 1 */
enum { BEFORE = 0, AFTER = 1 }; /* sides of the new token */
/* positions from prefetch to use; some 20 ms of them */
enum { REPLACE_PREFETCH = 16, POLL_POSITIONS = 1 << 20 };
/* instead of a count that doesn't fit into 32 bits */
#define LARGE_COUNT UINT32_MAX

/* One byte of the words. */
typedef struct {
    int32_t token;  /* the token that begins or ends here, or BORDER */
    uint32_t count; /* how often its word occurs, or LARGE_COUNT */
} Cell;

/* A word whose count doesn't fit into its cells. */
typedef struct {
    int64_t start, count;
} FrequentWord;

typedef struct {
    int64_t weight; /* the count of the new pair with this neighbour */
    int64_t next;   /* the number of its positions; later where the next one is to be written, or -1 */
} PairChange;

typedef struct {
    int32_t position, before, after;
} Replacement;

typedef struct {
    PairTable pairs;
    Cell *cells;
    FrequentWord *frequent;
    int32_t *lengths;         /* of each token, in bytes */
    PairChange (*changes)[2]; /* [token][side] */
    int32_t *neighbours[2];   /* of each side, the distinct neighbours */
    Replacement *replaced;
    int64_t size, frequents, capacity;      /* items of `cells` and `frequent`; capacity of `replaced` */
    int64_t max_merges, min_count, learned; /* learned: merges so far */
} Words;

/* The count of the frequent word at a position: the last one that starts there or before. */
NOINLINE int64_t frequent_count(const Words *w, int64_t at) {
    int64_t low = 0, high = w->frequents;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (w->frequent[middle].start <= at) low = middle;
        else high = middle;
    }
    return w->frequent[low].count;
}

/* Add a neighbour of the new token; returns the number of distinct ones. */
INLINE int64_t add_neighbour(Words *w, int side, int32_t token, int64_t weight, int64_t distinct) {
    PairChange *change = &w->changes[token][side];
    w->neighbours[side][distinct] = token;
    distinct += change->next == 0;
    change->weight += weight;
    change->next++;
    return distinct;
}

/* Replace a pair at its positions; returns how many were not stale, and in `distinct` the number of distinct neighbours
   on each side. */
static int64_t replace_all(
    Words *w, int64_t start, int64_t number, int32_t left, int32_t right, int32_t new, int64_t distinct[2]) {
    Cell *cells = w->cells;
    const int32_t *positions = w->pairs.positions + start;
    int64_t length = w->lengths[left], both = length + w->lengths[right], found = 0, before = 0, after = 0;
    for (int64_t i = 0; i < number; i++) {
        if (i + REPLACE_PREFETCH < number) PREFETCH(cells + positions[i + REPLACE_PREFETCH]);
        if (i % POLL_POSITIONS == POLL_POSITIONS - 1 && interrupted && interrupted()) return INTERRUPTED;
        Cell *first = cells + positions[i], *last = first + both - 1;
        if (first->token != left || first[length].token != right) continue; /* stale */
        first[length - 1].token = first[length].token = BORDER;
        first->token = last->token = new;
        int64_t count = LIKELY(first->count != LARGE_COUNT) ? (int64_t)first->count : frequent_count(w, positions[i]);
        w->replaced[found++] = (Replacement){positions[i], first[-1].token, last[1].token};
        before = add_neighbour(w, BEFORE, first[-1].token, count, before);
        after = add_neighbour(w, AFTER, last[1].token, count, after);
    }
    distinct[BEFORE] = before;
    distinct[AFTER] = after;
    return found;
}

/* Move the counts of the neighbours on one side from their pairs with `lost`, a half of the new token, to those with
   it. */
static void transfer_counts(Words *w, int side, int64_t distinct, int32_t lost, int32_t new) {
    for (int64_t i = 0; i < distinct; i++) {
        uint64_t token = (uint64_t)w->neighbours[side][i];
        PairChange *change = &w->changes[token][side];
        int64_t number = change->next;
        change->next = -1;
        if (token == BORDER) continue;
        uint64_t old = side == BEFORE ? token << 32 | (uint64_t)lost : (uint64_t)lost << 32 | token;
        PairRow *row = pair_row(&w->pairs, old);
        if (row->key) row->count -= change->weight;
        if (change->weight < w->min_count) continue;
        uint64_t key = side == BEFORE ? token << 32 | (uint64_t)new : (uint64_t)new << 32 | token;
        change->next = insert_pair(&w->pairs, key, change->weight, number);
    }
}

/* Write the positions of the new pairs. Returns 0 or INTERRUPTED. */
static int64_t record_positions(Words *w, int64_t found) {
    int32_t *positions = w->pairs.positions;
    for (int64_t i = 0; i < found; i++) {
        Replacement here = w->replaced[i];
        if (i % POLL_POSITIONS == POLL_POSITIONS - 1 && interrupted && interrupted()) return INTERRUPTED;
        PairChange *before = &w->changes[here.before][BEFORE], *after = &w->changes[here.after][AFTER];
        if (before->next >= 0) positions[before->next++] = here.position - w->lengths[here.before];
        if (after->next >= 0) positions[after->next++] = here.position;
    }
    return 0;
}

/* Merge a pair into `new` at a run of positions, and update counts and positions; there has to be space for new pairs.
   Returns 0 or INTERRUPTED: then the words are unusable. */
static int64_t apply_merge(Words *w, int64_t start, int64_t number, int32_t left, int32_t right, int32_t new) {
    int64_t distinct[2], found = replace_all(w, start, number, left, right, new, distinct);
    if (found < 0) return found;
    transfer_counts(w, AFTER, distinct[AFTER], right, new); /* first: in a run the new token is before itself */
    transfer_counts(w, BEFORE, distinct[BEFORE], left, new);
    if (record_positions(w, found) < 0) return INTERRUPTED;
    for (int side = BEFORE; side <= AFTER; side++)
        for (int64_t i = 0; i < distinct[side]; i++) w->changes[w->neighbours[side][i]][side] = (PairChange){0, 0};
    return 0;
}

#endif
