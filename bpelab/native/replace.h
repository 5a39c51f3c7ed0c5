/* Replace: one merge at all positions of its pair, in flat arrays without links.

   All words lie end to end, a border after each, and a token is written at the first and at the last of its bytes: its
   neighbours are found from its length, and a position that is out of date shows another token. What a merge changes is
   added up by neighbour, so that each pair's count is looked up once a merge and not once a position. Cost: a few cache
   lines for each position, prefetched. Chapter: Incremental training. */
#ifndef BPELAB_REPLACE_H
#define BPELAB_REPLACE_H

#include "pairs.h"

enum { BORDER = 0 };                                         /* a word ends, or a token goes on: tokens count from 1 */
enum { BEFORE = 0, AFTER = 1 };                              /* sides of the new token */
enum { REPLACE_AHEAD = 16, LOOKED_AT = 1 << 20 };            /* positions between prefetch and use; of some 20 ms */

typedef struct {
    int64_t weight; /* what the pair with this neighbour has gained */
    int64_t next;   /* the number of its positions; then where the next is to be written, or -1 */
} Change;

typedef struct {
    int32_t position, before, after;
} Replaced;

typedef struct {
    Pairs pairs;
    int32_t *tokens, *lengths; /* of each byte of the words, see above; of each token */
    int64_t *counts;           /* how often the word of a byte occurs */
    Change (*changes)[2];      /* [token][side] */
    int32_t *neighbours[2];    /* of each side, those that were met */
    Replaced *replaced;
    int64_t size, room, most, least, done; /* of `tokens`, `replaced`; merges wanted, a pair's least count; merges so far */
} Words;

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
static int64_t replace_all(Words *w, int64_t start, int64_t number, int32_t left, int32_t right, int32_t new, int64_t met[2]) {
    int32_t *tokens = w->tokens;
    const int32_t *positions = w->pairs.positions + start;
    int64_t length = w->lengths[left], both = length + w->lengths[right], found = 0, before = 0, after = 0;
    for (int64_t i = 0; i < number; i++) {
        if (i + REPLACE_AHEAD < number) {
            PREFETCH(tokens + positions[i + REPLACE_AHEAD]);
            PREFETCH(w->counts + positions[i + REPLACE_AHEAD]);
        }
        if (i % LOOKED_AT == LOOKED_AT - 1 && interrupted && interrupted()) return INTERRUPTED;
        int32_t at = positions[i];
        if (tokens[at] != left || tokens[at + length] != right) continue; /* out of date */
        tokens[at + length - 1] = tokens[at + length] = BORDER;
        tokens[at] = tokens[at + both - 1] = new;
        w->replaced[found++] = (Replaced){at, tokens[at - 1], tokens[at + both]};
        before = meet(w, BEFORE, tokens[at - 1], w->counts[at], before);
        after = meet(w, AFTER, tokens[at + both], w->counts[at], after);
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

/* Write the positions of the new pairs. */
static void write_positions(Words *w, int64_t found) {
    int32_t *positions = w->pairs.positions;
    for (int64_t i = 0; i < found; i++) {
        Replaced here = w->replaced[i];
        Change *before = &w->changes[here.before][BEFORE], *after = &w->changes[here.after][AFTER];
        if (before->next >= 0) positions[before->next++] = here.position - w->lengths[here.before];
        if (after->next >= 0) positions[after->next++] = here.position;
    }
}

/* Make `new` of a pair at a run of positions, and bring all that follows from it up to date; there has to be room. 0, or
   INTERRUPTED: the words can't be used any more. */
static int64_t merge_words(Words *w, int64_t start, int64_t number, int32_t left, int32_t right, int32_t new) {
    int64_t met[2], found = replace_all(w, start, number, left, right, new, met);
    if (found < 0) return found;
    move_counts(w, AFTER, met[AFTER], right, new); /* first: in a run the new token is before itself */
    move_counts(w, BEFORE, met[BEFORE], left, new);
    write_positions(w, found);
    for (int side = BEFORE; side <= AFTER; side++)
        for (int64_t i = 0; i < met[side]; i++) w->changes[w->neighbours[side][i]][side] = (Change){0, 0};
    return 0;
}

#endif
