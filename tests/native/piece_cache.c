/* The piece cache and scratch memory alone, for `test_piece_cache.py`. */
#include "piece_cache.h"
#include "scratch.h"

void keys_of(const uint8_t *text, int64_t size, uint64_t *short_one, uint64_t *others) {
    short_key(text, size, short_one);
    piece_key(text, size, others, SHORT / 2);
    piece_key(text, size, others + SHORT / 2, LONG / 2);
    piece_key(text, size, others + (SHORT + LONG) / 2, LONGER / 2);
}

Cache *new_cache(void) {
    Cache *cache = malloc(sizeof *cache);
    return cache && cache_new(cache) ? cache : NULL;
}

void free_cache(Cache *cache) {
    cache_free(cache);
    free(cache);
}

void store(Cache *cache, const uint8_t *text, int64_t size, const uint32_t *ids, int64_t count) {
    cache->misses++;
    cache_store(cache, text, size, ids, count);
    cache_grow(cache);
}

/* As encoding looks a piece up; the number of its ids, 0 if it isn't there. */
int64_t look_up(Cache *cache, const uint8_t *text, int64_t size, uint32_t *ids) {
    uint64_t key[SHORT / 2];
    short_key(text, size, key);
    const uint64_t *row = find_short(&cache->short_pieces, slot_of(&cache->short_pieces, key, SHORT), key);
    return row ? copy_ids(row, SHORT, ids) : copy_cached(cache, text, size, ids);
}

static int64_t number_piece(uint8_t *piece, uint32_t number, int64_t size) {
    memset(piece, 0, MAX_LONGER + PAD);
    for (int i = 0; i < 4; i++) piece[size - 1 - i] = (uint8_t)(number >> 8 * i);
    return size;
}

/* Store the numbers below `count`, each as a piece of `size` bytes with itself as its id. */
void store_numbers(Cache *cache, int64_t count, int64_t size) {
    uint8_t piece[MAX_LONGER + PAD];
    for (uint32_t number = 0; number < count; number++)
        store(cache, piece, number_piece(piece, number, size), &number, 1);
}

/* How many of them are found; -1 if one has another id. */
int64_t find_numbers(Cache *cache, int64_t count, int64_t size) {
    uint8_t piece[MAX_LONGER + PAD];
    uint32_t ids[LONGER];
    int64_t found = 0;
    for (uint32_t number = 0; number < count; number++) {
        int64_t ids_found = look_up(cache, piece, number_piece(piece, number, size), ids);
        if (ids_found && (ids_found > 1 || ids[0] != number)) return -1;
        found += ids_found;
    }
    return found;
}

/* Rows from the first of its line to the row that a short piece is in, or -1. */
int64_t distance_from_line(const Cache *cache, const uint8_t *text, int64_t size) {
    uint64_t key[SHORT / 2], slot;
    short_key(text, size, key);
    slot = slot_of(&cache->short_pieces, key, SHORT);
    for (uint64_t i = 0; i < WAYS; i++)
        if (row_matches(cache->short_pieces.rows + SHORT * (slot ^ i), key, SHORT)) return (int64_t)i;
    return -1;
}

int64_t line_of(const Cache *cache, const uint8_t *text, int64_t size) {
    uint64_t key[SHORT / 2];
    short_key(text, size, key);
    return (int64_t)slot_of(&cache->short_pieces, key, SHORT);
}

int64_t row_number(const Cache *cache, int table) {
    const Table *tables[3] = {&cache->short_pieces, &cache->long_pieces, &cache->longer_pieces};
    return (int64_t)tables[table]->size;
}

/* Whether `sizes` items of a byte can be asked for one after the other; what is kept after each to `kept`. */
int reserve_and_trim(const int64_t *sizes, int64_t number, int64_t *kept) {
    Scratch scratch = {NULL, 0};
    for (int64_t i = 0; i < number; i++) {
        uint8_t *memory = scratch_reserve(&scratch, sizes[i], 1);
        if (!memory) return 0;
        memory[0] = memory[sizes[i] - 1] = 1;
        scratch_trim(&scratch, KEPT_BYTES);
        kept[i] = (int64_t)scratch.size;
    }
    int refused = !scratch_reserve(&scratch, -1, 1) && !scratch_reserve(&scratch, INT64_MAX, 16);
    scratch_trim(&scratch, 0);
    return refused && !scratch.memory;
}
