/* Learn: repeatedly merge the most frequent pair.

   One pass lays out the words and counts the pairs of bytes, a second one writes their positions; from then on only
   what a merge changes is visited. Cost: a fortieth of that of `trainers/incremental.py`; 8 bytes of memory for each
   byte of the distinct words, and 4 for each position. Chapter: Incremental training. */
#ifndef BPELAB_LEARN_H
#define BPELAB_LEARN_H

#include "count.h"
#include "replace.h"

enum { BYTE_PAIRS = 1 << 16 };
#define MAX_WORD_BYTES (INT32_MAX - 258) /* of the words and their borders: positions and tokens have 31 bits */

typedef struct {
    int32_t left, right;
    int64_t count;
} Merge;

/* Of each pair of bytes: its count, and its number of positions. */
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

/* Fill the cells with the words, which end at `ends`, and count the pairs of bytes. */
static int64_t init_words(
    Words *w, const uint8_t *content, const int64_t *ends, const int64_t *counts, int64_t number, BytePairs *bytes) {
    int64_t at = 1, start = 0, seen = 0;
    for (int64_t word = 0; word < number; word++, at++) {
        uint32_t count = counts[word] < LARGE_COUNT ? (uint32_t)counts[word] : LARGE_COUNT;
        if (count == LARGE_COUNT) w->frequent[w->frequents++] = (FrequentWord){at, counts[word]};
        for (; start < ends[word]; start++, at++) {
            w->cells[at] = (Cell){content[start] + 1, count};
            if (w->cells[at - 1].token != BORDER) {
                int pair = content[start - 1] << 8 | content[start];
                bytes->weight[pair] += counts[word];
                bytes->number[pair]++;
            }
            if (++seen % POLL_POSITIONS == 0 && interrupted && interrupted()) return INTERRUPTED;
        }
    }
    return 0;
}

/* Insert the pairs of bytes, and write their positions. */
static int64_t init_pairs(Words *w, BytePairs *bytes) {
    int64_t kept = 0, positions = 0;
    for (int pair = 0; pair < BYTE_PAIRS; pair++)
        if (bytes->weight[pair] >= w->min_count) {
            kept++;
            positions += bytes->number[pair];
            if (bytes->number[pair] > w->capacity) w->capacity = bytes->number[pair];
        }
    w->replaced = malloc((size_t)(w->capacity + 1) * sizeof *w->replaced);
    if (!w->replaced || !pairs_reserve(&w->pairs, kept + 1, positions + 1, w->min_count)) return NO_MEMORY;
    for (uint64_t pair = 0; pair < BYTE_PAIRS; pair++)
        if (bytes->weight[pair] >= w->min_count)
            bytes->number[pair] =
                insert_pair(&w->pairs, ((pair >> 8) + 1) << 32 | ((pair & 255) + 1), bytes->weight[pair],
                            bytes->number[pair]);
    for (int64_t at = 1; at < w->size - 1; at++) {
        int32_t token = w->cells[at].token, next = w->cells[at + 1].token;
        if (token != BORDER && next != BORDER) {
            int pair = (token - 1) << 8 | (next - 1);
            if (bytes->weight[pair] >= w->min_count) w->pairs.positions[bytes->number[pair]++] = (int32_t)at;
        }
        if (at % POLL_POSITIONS == 0 && interrupted && interrupted()) return INTERRUPTED;
    }
    return 0;
}

/* Prepare to learn at most `max_merges` merges, of pairs that occur at least `min_count` times, from words of `size`
   bytes in all. Returns 0, or less than 0. */
static int64_t words_new(
    Words *w, const uint8_t *content, int64_t size, const int64_t *ends, const int64_t *counts, int64_t number,
    int64_t max_merges, int64_t min_count) {
    w->size = size + number + 1;
    w->max_merges = max_merges < w->size ? max_merges : w->size; /* each merge removes a token, at least */
    w->min_count = min_count;
    size_t tokens = (size_t)w->max_merges + 258;
    BytePairs *bytes = calloc(1, sizeof *bytes);
    int64_t frequents = 1;
    for (int64_t word = 0; word < number; word++) frequents += counts[word] >= LARGE_COUNT;
    w->frequent = malloc((size_t)frequents * sizeof *w->frequent);
    w->cells = calloc((size_t)w->size + 1, sizeof *w->cells);
    w->lengths = malloc(tokens * sizeof *w->lengths);
    w->changes = calloc(tokens, sizeof *w->changes);
    w->neighbours[BEFORE] = malloc(tokens * sizeof(int32_t));
    w->neighbours[AFTER] = malloc(tokens * sizeof(int32_t));
    int64_t state = NO_MEMORY;
    if (bytes && w->cells && w->frequent && w->lengths && w->changes && w->neighbours[BEFORE] && w->neighbours[AFTER]) {
        advise_huge_pages(w->cells, (size_t)w->size * sizeof *w->cells);
        for (int token = 0; token <= 256; token++) w->lengths[token] = 1;
        state = init_words(w, content, ends, counts, number, bytes);
        if (!state) state = init_pairs(w, bytes);
    }
    free(bytes);
    return state;
}

/* Learn merges for some 20 ms, at most `capacity` of them; returns their number, 0 at the end, or less than 0. */
static int64_t learn_some(Words *w, Merge *merges, int64_t capacity) {
    PairTable *pairs = &w->pairs;
    int64_t learned = 0, seen = 0;
    while (learned < capacity && w->learned < w->max_merges && pairs->heap_size && seen < POLL_POSITIONS) {
        HeapEntry top = pairs->heap[0];
        PairRow *row = pair_row(pairs, top.key);
        if (row->count != top.count) {
            if (row->count >= w->min_count)
                replace_top(pairs->heap, pairs->heap_size, (HeapEntry){row->count, top.key});
            else pop_heap(pairs);
            continue;
        }
        int64_t start = row->start, number = row->number, new = 257 + w->learned;
        int32_t left = (int32_t)(top.key >> 32), right = (int32_t)(top.key & 0xFFFFFFFF);
        if (!pairs_reserve(pairs, 2 * (number < new ? number : new), 2 * number, w->min_count)) return NO_MEMORY;
        pop_heap(pairs);
        pair_row(pairs, top.key)->count = 0;
        w->lengths[new] = w->lengths[left] + w->lengths[right];
        int64_t encode_failed = apply_merge(w, start, number, left, right, (int32_t)new);
        if (encode_failed) return encode_failed;
        merges[learned++] = (Merge){left - 1, right - 1, top.count};
        seen += number;
        w->learned++;
    }
    return learned;
}

#endif
