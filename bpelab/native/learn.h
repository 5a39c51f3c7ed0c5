/* Learn: merge after merge, each of the pair that is most frequent at that moment.

   The words are laid out and the pairs of bytes counted in one pass, and their positions written in a second one; from
   then on only what a merge changes is looked at. Cost: a fortieth of that of `trainers/incremental.py`; 8 bytes of
   memory for each byte of the distinct words, and 4 for each position. Chapter: Incremental training. */
#ifndef BPELAB_LEARN_H
#define BPELAB_LEARN_H

#include "count.h"
#include "replace.h"

enum { BYTE_PAIRS = 1 << 16 };
#define MOST_BYTES (INT32_MAX - 258) /* of the words with their borders: positions and tokens have 31 bits */

typedef struct {
    int32_t left, right;
    int64_t count;
} Merge;

/* Weights and numbers of positions of the pairs of bytes. */
typedef struct {
    int64_t weight[BYTE_PAIRS], number[BYTE_PAIRS];
} BytePairs;

static void words_free(Words *w) {
    pairs_free(&w->pairs);
    free(w->cells);
    free(w->frequent);
    free(w->lengths);
    free(w->changes);
    free(w->neighbours[BEFORE]);
    free(w->neighbours[AFTER]);
    free(w->replaced);
}

/* Fill the cells from words of which each ends at its `ends`, and count the pairs of bytes. */
static int64_t lay_out(
    Words *w, const uint8_t *content, const int64_t *ends, const int64_t *counts, int64_t number, BytePairs *bytes) {
    int64_t at = 1, start = 0, looked = 0;
    for (int64_t word = 0; word < number; word++, at++) {
        uint32_t count = counts[word] < MANY ? (uint32_t)counts[word] : MANY;
        if (count == MANY) w->frequent[w->frequents++] = (Frequent){at, counts[word]};
        for (; start < ends[word]; start++, at++) {
            w->cells[at] = (Cell){content[start] + 1, count};
            if (w->cells[at - 1].token != BORDER) {
                int pair = content[start - 1] << 8 | content[start];
                bytes->weight[pair] += counts[word];
                bytes->number[pair]++;
            }
            if (++looked % LOOKED_AT == 0 && interrupted && interrupted()) return INTERRUPTED;
        }
    }
    return 0;
}

/* Enter the pairs of bytes, and write their positions. */
static int64_t enter_pairs(Words *w, BytePairs *bytes) {
    int64_t kept = 0, positions = 0;
    for (int pair = 0; pair < BYTE_PAIRS; pair++)
        if (bytes->weight[pair] >= w->least) {
            kept++;
            positions += bytes->number[pair];
            if (bytes->number[pair] > w->room) w->room = bytes->number[pair];
        }
    w->replaced = malloc((size_t)(w->room + 1) * sizeof *w->replaced);
    if (!w->replaced || !pairs_reserve(&w->pairs, kept + 1, positions + 1, w->least)) return NO_MEMORY;
    for (uint64_t pair = 0; pair < BYTE_PAIRS; pair++)
        if (bytes->weight[pair] >= w->least)
            bytes->number[pair] =
                add_pair(&w->pairs, ((pair >> 8) + 1) << 32 | ((pair & 255) + 1), bytes->weight[pair], bytes->number[pair]);
    for (int64_t at = 1; at < w->size - 1; at++) {
        int32_t token = w->cells[at].token, next = w->cells[at + 1].token;
        if (token != BORDER && next != BORDER) {
            int pair = (token - 1) << 8 | (next - 1);
            if (bytes->weight[pair] >= w->least) w->pairs.positions[bytes->number[pair]++] = (int32_t)at;
        }
        if (at % LOOKED_AT == 0 && interrupted && interrupted()) return INTERRUPTED;
    }
    return 0;
}

/* Words of `size` bytes in all to learn `most` merges from, of pairs that occur `least` times. 0, or less. */
static int64_t words_new(
    Words *w, const uint8_t *content, int64_t size, const int64_t *ends, const int64_t *counts, int64_t number, int64_t most,
    int64_t least) {
    w->size = size + number + 1;
    w->most = most < w->size ? most : w->size; /* a merge takes a token away, at least */
    w->least = least;
    size_t tokens = (size_t)w->most + 258;
    BytePairs *bytes = calloc(1, sizeof *bytes);
    int64_t frequents = 1;
    for (int64_t word = 0; word < number; word++) frequents += counts[word] >= MANY;
    w->frequent = malloc((size_t)frequents * sizeof *w->frequent);
    w->cells = calloc((size_t)w->size + 1, sizeof *w->cells);
    w->lengths = malloc(tokens * sizeof *w->lengths);
    w->changes = calloc(tokens, sizeof *w->changes);
    w->neighbours[BEFORE] = malloc(tokens * sizeof(int32_t));
    w->neighbours[AFTER] = malloc(tokens * sizeof(int32_t));
    int64_t state = NO_MEMORY;
    if (bytes && w->cells && w->frequent && w->lengths && w->changes && w->neighbours[BEFORE] && w->neighbours[AFTER]) {
        ask_for_large_pages(w->cells, (size_t)w->size * sizeof *w->cells);
        for (int token = 0; token <= 256; token++) w->lengths[token] = 1;
        state = lay_out(w, content, ends, counts, number, bytes);
        if (!state) state = enter_pairs(w, bytes);
    }
    free(bytes);
    return state;
}

/* Learn merges for some 20 ms, `room` of them at most; how many, 0 at the end, or less. */
static int64_t learn_some(Words *w, Merge *merges, int64_t room) {
    Pairs *pairs = &w->pairs;
    int64_t learned = 0, looked = 0;
    while (learned < room && w->done < w->most && pairs->heap_used && looked < LOOKED_AT) {
        HeapEntry top = pairs->heap[0];
        PairRow *row = pair_row(pairs, top.key);
        if (row->count != top.count) {
            if (row->count >= w->least) replace_top(pairs->heap, pairs->heap_used, (HeapEntry){row->count, top.key});
            else pop_top(pairs);
            continue;
        }
        int64_t start = row->start, number = row->number, new = 257 + w->done;
        int32_t left = (int32_t)(top.key >> 32), right = (int32_t)(top.key & 0xFFFFFFFF);
        if (!pairs_reserve(pairs, 2 * (number < new ? number : new), 2 * number, w->least)) return NO_MEMORY;
        pop_top(pairs);
        pair_row(pairs, top.key)->count = 0;
        w->lengths[new] = w->lengths[left] + w->lengths[right];
        int64_t failed = merge_words(w, start, number, left, right, (int32_t)new);
        if (failed) return failed;
        merges[learned++] = (Merge){left - 1, right - 1, top.count};
        looked += number;
        w->done++;
    }
    return learned;
}

#endif
