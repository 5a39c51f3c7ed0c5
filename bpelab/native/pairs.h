/* Pairs of tokens while merges are learned: their counts, their positions, and a heap with the most frequent one on top.

   A pair is entered by the merge that makes one of its tokens, if it is frequent enough then: nothing later can make it
   more frequent. All its positions are known at that moment too, so they are a run in one array. An entry of the heap may
   claim too much; it is put right when it surfaces (a lazy heap). Cost: one cache line for a count, and one more in
   passing for a position. Chapter: Incremental training. Source: Sennrich's subword-nmt; Hugging Face tokenizers. */
#ifndef BPELAB_PAIRS_H
#define BPELAB_PAIRS_H

#include "common.h"

typedef struct {
    uint64_t key; /* left << 32 | right; 0 in a free row */
    int64_t count;
    int64_t start, number; /* of the run of positions, some of which may be out of date */
} PairRow;

typedef struct {
    int64_t count;
    uint64_t key;
} HeapEntry;

typedef struct {
    PairRow *rows;
    uint64_t mask;
    int32_t *positions;
    HeapEntry *heap;
    int64_t taken, positions_used, positions_size, heap_used, heap_size;
} Pairs;

static void pairs_free(Pairs *pairs) {
    free(pairs->rows);
    free(pairs->positions);
    free(pairs->heap);
}

/* The row of a pair, or the free one where it belongs. */
INLINE PairRow *pair_row(const Pairs *pairs, uint64_t key) {
    uint64_t row = spread(key) >> 32 & pairs->mask;
    while (pairs->rows[row].key && pairs->rows[row].key != key) row = (row + 1) & pairs->mask;
    return pairs->rows + row;
}

/* An array, or a longer one, for `wanted` items of `size` bytes. NULL for no memory: the array is as before. */
static void *longer(void *array, int64_t *items, int64_t wanted, size_t size) {
    if (wanted <= *items) return array;
    wanted += wanted / 2;
    void *made = (uint64_t)wanted > SIZE_MAX / size ? NULL : realloc(array, (size_t)wanted * size);
    if (!made) return NULL;
    ask_for_large_pages(made, (size_t)wanted * size);
    *items = wanted;
    return made;
}

/* Have room for `more` pairs with so many positions in all; pairs rarer than `least` are dropped from a table that is
   made anew. 0 for no memory. */
static int pairs_reserve(Pairs *pairs, int64_t more, int64_t positions, int64_t least) {
    if (!pairs->rows || 4 * (uint64_t)(pairs->taken + more) > 3 * (pairs->mask + 1)) {
        PairRow *old = pairs->rows;
        uint64_t rows = old ? pairs->mask + 1 : 0;
        int64_t alive = 0;
        for (uint64_t i = 0; i < rows; i++) alive += old[i].key && old[i].count >= least;
        uint64_t wanted = power_of_two(2 * (uint64_t)(alive + more));
        PairRow *made = calloc(wanted, sizeof *made);
        if (!made) return 0;
        ask_for_large_pages(made, wanted * sizeof *made);
        pairs->rows = made;
        pairs->mask = wanted - 1;
        pairs->taken = alive;
        for (uint64_t i = 0; i < rows; i++)
            if (old[i].key && old[i].count >= least) *pair_row(pairs, old[i].key) = old[i];
        free(old);
    }
    int64_t wanted = pairs->positions_used + positions;
    void *made = longer(pairs->positions, &pairs->positions_size, wanted, sizeof *pairs->positions);
    if (!made) return 0;
    pairs->positions = made;
    if (!(made = longer(pairs->heap, &pairs->heap_size, pairs->heap_used + more, sizeof *pairs->heap))) return 0;
    pairs->heap = made;
    return 1;
}

/* Whether a pair is merged before another: it is more frequent, or as frequent and its tokens are smaller. */
INLINE int wins(HeapEntry one, HeapEntry other) {
    return one.count > other.count || (one.count == other.count && one.key < other.key);
}

/* Put an entry in place of the top one. */
static void replace_top(HeapEntry *heap, int64_t size, HeapEntry entry) {
    int64_t at = 0;
    for (int64_t child = 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && wins(heap[child + 1], heap[child])) child++;
        if (wins(entry, heap[child])) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

static void pop_top(Pairs *pairs) {
    pairs->heap_used--;
    if (pairs->heap_used) replace_top(pairs->heap, pairs->heap_used, pairs->heap[pairs->heap_used]);
}

/* Enter a new pair, for which there is room; where its `number` positions are to be written. */
static int64_t add_pair(Pairs *pairs, uint64_t key, int64_t count, int64_t number) {
    HeapEntry *heap = pairs->heap, entry = {count, key};
    int64_t at = pairs->heap_used++, start = pairs->positions_used;
    *pair_row(pairs, key) = (PairRow){key, count, start, number};
    for (; at > 0 && wins(entry, heap[(at - 1) >> 1]); at = (at - 1) >> 1) heap[at] = heap[(at - 1) >> 1];
    heap[at] = entry;
    pairs->taken++;
    pairs->positions_used += number;
    return start;
}

#endif
