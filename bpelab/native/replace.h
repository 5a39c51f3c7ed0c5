/* Replace: one merge at all positions of its pair, in flat arrays without links.

   All words lie end to end, a border after each, and a token is written at the first and at the last of its bytes: its
   neighbours are found from its length, and a position that is out of date shows another token. What a merge changes is
   added up by neighbour, so that each pair's count is looked up once a merge and not once a position. Cost: a cache line
   or two for each position, prefetched. Chapter: Incremental training. */
#ifndef BPELAB_REPLACE_H
#define BPELAB_REPLACE_H

#include "pairs.h"

enum { BORDER = 0 };                                         /* a word ends, or a token goes on: tokens count from 1 */
enum { BEFORE = 0, AFTER = 1 };                              /* sides of the new token */
enum { REPLACE_AHEAD = 16, LOOKED_AT = 1 << 20 };            /* positions between prefetch and use; of some 20 ms */
#define MANY UINT32_MAX                                      /* in place of a count that has more than 32 bits */

/* A byte of the words. */
typedef struct {
    int32_t token;  /* that begins or ends here, or BORDER */
    uint32_t count; /* how often its word occurs, or MANY */
} Cell;

/* A word that occurs so often. */
typedef struct {
    int64_t start, count;
} Frequent;

typedef struct {
    int64_t weight; /* what the pair with this neighbour has gained */
    int64_t next;   /* the number of its positions; then where the next is to be written, or -1 */
} Change;

typedef struct {
    int32_t position, before, after;
} Replaced;

typedef struct {
    Pairs pairs;
    Cell *cells;
    Frequent *frequent;
    int32_t *lengths;       /* of tokens, in bytes */
    Change (*changes)[2];   /* [token][side] */
    int32_t *neighbours[2]; /* of each side, those that were met */
    Replaced *replaced;
    int64_t size, frequents, room; /* of `cells`, `frequent`, `replaced` */
    int64_t most, least, done;     /* merges wanted, a pair's least count; merges so far */
} Words;

/* The count of a frequent word, the last one that starts at a position or before it. */
NOINLINE int64_t frequent_count(const Words *w, int64_t at) {
    int64_t low = 0, high = w->frequents;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (w->frequent[middle].start <= at) low = middle;
        else high = middle;
    }
    return w->frequent[low].count;
}

/* A neighbour of the new token; how many different ones there are now. */
INLINE int64_t meet(Words *w, int side, int32_t token, int64_t weight, int64_t met) {
    Change *change = &w->changes[token][side];
    w->neighbours[side][met] = token;
    met += change->next == 0;
    change->weight += weight;
    change->next++;
    return met;
}

/* Replace a pair at its positions; how many they were, and in `met` how many different neighbours there are. */
static int64_t replace_all(
    Words *w, int64_t start, int64_t number, int32_t left, int32_t right, int32_t new, int64_t met[2]) {
    Cell *cells = w->cells;
    const int32_t *positions = w->pairs.positions + start;
    int64_t length = w->lengths[left], both = length + w->lengths[right], found = 0, before = 0, after = 0;
    for (int64_t i = 0; i < number; i++) {
        if (i + REPLACE_AHEAD < number) PREFETCH(cells + positions[i + REPLACE_AHEAD]);
        if (i % LOOKED_AT == LOOKED_AT - 1 && interrupted && interrupted()) return INTERRUPTED;
        Cell *first = cells + positions[i], *last = first + both - 1;
        if (first->token != left || first[length].token != right) continue; /* out of date */
        first[length - 1].token = first[length].token = BORDER;
        first->token = last->token = new;
        int64_t count = LIKELY(first->count != MANY) ? (int64_t)first->count : frequent_count(w, positions[i]);
        w->replaced[found++] = (Replaced){positions[i], first[-1].token, last[1].token};
        before = meet(w, BEFORE, first[-1].token, count, before);
        after = meet(w, AFTER, last[1].token, count, after);
    }
    met[BEFORE] = before;
    met[AFTER] = after;
    return found;
}

/* What the neighbours on one side formed with `lost`, half of the new token, they form with the new one. */
static void move_counts(Words *w, int side, int64_t met, int32_t lost, int32_t new) {
    for (int64_t i = 0; i < met; i++) {
        uint64_t token = (uint64_t)w->neighbours[side][i];
        Change *change = &w->changes[token][side];
        int64_t number = change->next;
        change->next = -1;
        if (token == BORDER) continue;
        PairRow *row = pair_row(&w->pairs, side == BEFORE ? token << 32 | (uint64_t)lost : (uint64_t)lost << 32 | token);
        if (row->key) row->count -= change->weight;
        if (change->weight < w->least) continue;
        uint64_t key = side == BEFORE ? token << 32 | (uint64_t)new : (uint64_t)new << 32 | token;
        change->next = add_pair(&w->pairs, key, change->weight, number);
    }
}

/* Write the positions of the new pairs. 0, or INTERRUPTED. */
static int64_t write_positions(Words *w, int64_t found) {
    int32_t *positions = w->pairs.positions;
    for (int64_t i = 0; i < found; i++) {
        Replaced here = w->replaced[i];
        if (i % LOOKED_AT == LOOKED_AT - 1 && interrupted && interrupted()) return INTERRUPTED;
        Change *before = &w->changes[here.before][BEFORE], *after = &w->changes[here.after][AFTER];
        if (before->next >= 0) positions[before->next++] = here.position - w->lengths[here.before];
        if (after->next >= 0) positions[after->next++] = here.position;
    }
    return 0;
}

/* Make `new` of a pair at a run of positions, and bring all that follows from it up to date; there has to be room. 0, or
   INTERRUPTED: the words can't be used any more. */
static int64_t merge_words(Words *w, int64_t start, int64_t number, int32_t left, int32_t right, int32_t new) {
    int64_t met[2], found = replace_all(w, start, number, left, right, new, met);
    if (found < 0) return found;
    move_counts(w, AFTER, met[AFTER], right, new); /* first: in a run the new token is before itself */
    move_counts(w, BEFORE, met[BEFORE], left, new);
    if (write_positions(w, found) < 0) return INTERRUPTED;
    for (int side = BEFORE; side <= AFTER; side++)
        for (int64_t i = 0; i < met[side]; i++) w->changes[w->neighbours[side][i]][side] = (Change){0, 0};
    return 0;
}

#endif
