/* Pairs of tokens in training: a hash table of their counts, their positions, and a max-heap of the most frequent.

   A pair is inserted by the merge that makes one of its tokens, if it is frequent enough then: nothing later can make
   it more frequent. All its positions are known at that moment too, so they are one run in one array. The count of a
   heap entry may be too high; it is corrected when the entry reaches the top (a lazy heap). Cost: one cache line for a
   count, and one more in passing for a position. Chapter: Incremental training. Source: Sennrich's subword-nmt; Hugging
   Face tokenizers. */
#ifndef BPELAB_PAIRS_H
#define BPELAB_PAIRS_H

#include "common.h"

typedef struct {
    uint64_t key; /* left << 32 | right; 0 in a free row */
    int64_t count;
    int64_t start, number; /* the run of its positions, some of which may be stale */
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
    int64_t used, position_count, positions_capacity, heap_size, heap_capacity;
} PairTable;

static void pairs_free(PairTable *pairs) {
    free(pairs->rows);
    free(pairs->positions);
    free(pairs->heap);
}

/* The row of a pair, or the free row to insert it into. */
INLINE PairRow *pair_row(const PairTable *pairs, uint64_t key) {
    uint64_t row = fibonacci_hash(key) >> 32 & pairs->mask;
    while (pairs->rows[row].key && pairs->rows[row].key != key) row = (row + 1) & pairs->mask;
    return pairs->rows + row;
}

/* Grow an array to a capacity of `wanted` items of `size` bytes. NULL if memory runs out: the array stays as before. */
static void *grow_array(void *array, int64_t *items, int64_t wanted, size_t size) {
    if (wanted <= *items) return array;
    wanted += wanted / 2;
    void *made = (uint64_t)wanted > SIZE_MAX / size ? NULL : realloc(array, (size_t)wanted * size);
    if (!made) return NULL;
    advise_huge_pages(made, (size_t)wanted * size);
    *items = wanted;
    return made;
}

/* Make space for `more` pairs with `positions` positions in all; pairs rarer than `min_count` are dropped in a rehash.
   0 if memory runs out. */
static int pairs_reserve(PairTable *pairs, int64_t more, int64_t positions, int64_t min_count) {
    if (!pairs->rows || 4 * (uint64_t)(pairs->used + more) > 3 * (pairs->mask + 1)) {
        PairRow *old = pairs->rows;
        uint64_t rows = old ? pairs->mask + 1 : 0;
        int64_t alive = 0;
        for (uint64_t i = 0; i < rows; i++) alive += old[i].key && old[i].count >= min_count;
        uint64_t wanted = next_power_of_two(2 * (uint64_t)(alive + more));
        PairRow *made = calloc(wanted, sizeof *made);
        if (!made) return 0;
        advise_huge_pages(made, wanted * sizeof *made);
        pairs->rows = made;
        pairs->mask = wanted - 1;
        pairs->used = alive;
        for (uint64_t i = 0; i < rows; i++)
            if (old[i].key && old[i].count >= min_count) *pair_row(pairs, old[i].key) = old[i];
        free(old);
    }
    int64_t wanted = pairs->position_count + positions;
    void *made = grow_array(pairs->positions, &pairs->positions_capacity, wanted, sizeof *pairs->positions);
    if (!made) return 0;
    pairs->positions = made;
    if (!(made = grow_array(pairs->heap, &pairs->heap_capacity, pairs->heap_size + more, sizeof *pairs->heap)))
        return 0;
    pairs->heap = made;
    return 1;
}

/* Whether a pair is merged before another: it is more frequent, or as frequent and its tokens have lower indices. */
INLINE int precedes(HeapEntry one, HeapEntry other) {
    return one.count > other.count || (one.count == other.count && one.key < other.key);
}

/* Replace the top entry and sift it down. */
static void replace_top(HeapEntry *heap, int64_t size, HeapEntry entry) {
    int64_t at = 0;
    for (int64_t child = 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && precedes(heap[child + 1], heap[child])) child++;
        if (precedes(entry, heap[child])) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

static void pop_heap(PairTable *pairs) {
    pairs->heap_size--;
    if (pairs->heap_size) replace_top(pairs->heap, pairs->heap_size, pairs->heap[pairs->heap_size]);
}

/* Insert a new pair, for which there is space; returns where its `number` positions are to be written. */
static int64_t insert_pair(PairTable *pairs, uint64_t key, int64_t count, int64_t number) {
    HeapEntry *heap = pairs->heap, entry = {count, key};
    int64_t at = pairs->heap_size++, start = pairs->position_count;
    *pair_row(pairs, key) = (PairRow){key, count, start, number};
    for (; at > 0 && precedes(entry, heap[(at - 1) >> 1]); at = (at - 1) >> 1) heap[at] = heap[(at - 1) >> 1];
    heap[at] = entry;
    pairs->used++;
    pairs->position_count += number;
    return start;
}

#endif
