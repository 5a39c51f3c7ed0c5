/* Piece cache: pre-tokens and their ids in two 4-way set-associative hash tables, without a lock: each thread has its
   own.

   A row of the short table is half a cache line: a piece of up to 15 bytes, which is its own key, and up to four ids.
   Pieces of up to 31 bytes and eight ids go into the long table, one cache line a row. A short piece is in one of the
   two rows of its line, which are compared without a branch, or in the adjacent line; a long one within four rows of
   its slot. If all four are used it replaces one, so nothing is ever cleared, and text without repetitions costs no
   more. Tables begin small and grow fourfold when half full. Cost: one cache line for a hit. Chapter: Native code. */
#ifndef BPELAB_PIECE_CACHE_H
#define BPELAB_PIECE_CACHE_H

#include "common.h"

enum { WAYS = 4, MIN_ROWS = 1 << 12, MAX_ROWS = 1 << 18 };
/* the key's bits of its last integer; above them is the number of ids less one */
#define KEY_MASK (((uint64_t)1 << 61) - 1)

typedef struct {
    uint64_t *rows; /* `width` integers each: the key, then the ids, two an integer */
    void *memory;
    uint64_t mask;
    int64_t used;
    int width;
} Table;

typedef struct {
    Table short_pieces, long_pieces;
    uint64_t misses; /* pieces that were not found: picks the row to replace */
} Cache;

/* Allocate an empty table whose rows are aligned to cache lines. 0 if memory runs out. */
static int table_new(Table *table, uint64_t rows, int width) {
    size_t size = (rows + WAYS) * (size_t)width * 8 + 64;
    table->memory = calloc(1, size);
    if (!table->memory) return 0;
    advise_huge_pages(table->memory, size);
    table->rows = (uint64_t *)(((uintptr_t)table->memory + 63) & ~(uintptr_t)63);
    table->mask = rows - 1;
    table->used = 0;
    table->width = width;
    return 1;
}

static int cache_new(Cache *cache) {
    cache->misses = 0;
    cache->long_pieces.memory = NULL;
    return table_new(&cache->short_pieces, MIN_ROWS, 4) && table_new(&cache->long_pieces, MIN_ROWS / 4, 8);
}

static void cache_free(Cache *cache) {
    free(cache->short_pieces.memory);
    free(cache->long_pieces.memory);
}

INLINE uint64_t short_slot(const uint64_t key[2], uint64_t mask) {
    return hash_pair(key[0], key[1]) >> 32 & mask & ~(uint64_t)1;
}

INLINE uint64_t long_slot(const uint64_t key[4], uint64_t mask) {
    return hash_pair(hash_pair(key[0], key[1]), hash_pair(key[2], key[3])) >> 32 & mask & ~(uint64_t)(WAYS - 1);
}

/* Pack up to 31 bytes into four integers, with the length in the last. */
INLINE void long_key(const uint8_t *text, int64_t count, uint64_t key[4]) {
    if (count <= MAX_SHORT) {
        short_key(text, count, key);
        key[1] &= ((uint64_t)1 << 56) - 1;
        key[2] = key[3] = 0;
    } else {
        key[0] = load64(text);
        key[1] = load64(text + 8);
        key[2] = count > 16 ? first_bytes(text + 16, count < 24 ? count - 16 : 8) : 0;
        key[3] = count > 24 ? first_bytes(text + 24, count - 24) : 0;
    }
    key[3] |= (uint64_t)count << 56;
}

INLINE int row_matches(const uint64_t *row, const uint64_t key[2]) {
    return ((row[0] ^ key[0]) | ((row[1] & KEY_MASK) ^ key[1])) == 0;
}

/* The row of a key, in the line at its slot or in the adjacent one, or NULL. */
INLINE const uint64_t *find_short(const Table *table, uint64_t slot, const uint64_t key[2]) {
    const uint64_t *line = table->rows + 4 * slot;
    int second = row_matches(line + 4, key);
    if (LIKELY(second | row_matches(line, key))) return line + 4 * second;
    line = table->rows + 4 * (slot ^ 2);
    second = row_matches(line + 4, key);
    return second | row_matches(line, key) ? line + 4 * second : NULL;
}

static const uint64_t *find_long(const Table *table, const uint64_t key[4]) {
    const uint64_t *row = table->rows + 8 * long_slot(key, table->mask);
    for (int i = 0; i < WAYS; i++, row += 8)
        if (((row[0] ^ key[0]) | (row[1] ^ key[1]) | (row[2] ^ key[2]) | ((row[3] & KEY_MASK) ^ key[3])) == 0)
            return row;
    return NULL;
}

/* Copy the ids of a row to `out`, which has space for a full row; returns how many of them are valid. */
INLINE int64_t copy_short(const uint64_t *row, uint32_t *out) {
    memcpy(out, row + 2, 16);
    return (int64_t)(row[1] >> 61) + 1;
}

INLINE int64_t copy_long(const uint64_t *row, uint32_t *out) {
    memcpy(out, row + 4, 32);
    return (int64_t)(row[3] >> 61) + 1;
}

/* The row to write a new piece to: a free one of the four, those of its own line first, or else one to replace. */
static uint64_t *claim_row(Table *table, uint64_t slot, uint64_t misses) {
    for (uint64_t i = 0; i < WAYS; i++) {
        uint64_t *row = table->rows + (uint64_t)table->width * (slot ^ i);
        if (row[table->width / 2 - 1] == 0) {
            table->used++;
            return row;
        }
    }
    return table->rows + (uint64_t)table->width * (slot ^ (misses & (WAYS - 1)));
}

/* Store a piece with its ids, if it has any, and both fit into a row. */
static void cache_store(Cache *cache, const uint8_t *text, int64_t size, const uint32_t *ids, int64_t count) {
    uint64_t key[4], *row;
    if (!count) return;
    if (size <= MAX_SHORT && count <= 4) {
        short_key(text, size, key);
        row = claim_row(&cache->short_pieces, short_slot(key, cache->short_pieces.mask), cache->misses);
        memset(row, 0, 32);
        memcpy(row, key, 16);
        row[1] |= (uint64_t)(count - 1) << 61;
        memcpy(row + 2, ids, (size_t)count * 4);
    } else if (size <= MAX_LONG && count <= 8) {
        long_key(text, size, key);
        row = claim_row(&cache->long_pieces, long_slot(key, cache->long_pieces.mask), cache->misses);
        memset(row, 0, 64);
        memcpy(row, key, 32);
        row[3] |= (uint64_t)(count - 1) << 61;
        memcpy(row + 4, ids, (size_t)count * 4);
    }
}

INLINE int wants_to_grow(const Table *table, int64_t max_rows) {
    return table->used * 2 > (int64_t)table->mask + 1 && (int64_t)table->mask + 1 < max_rows;
}

/* Rehash a table that is half full into one four times as large. If memory runs out it stays, and works as before. */
static void table_grow(Table *table, int64_t max_rows, uint64_t misses) {
    Table larger;
    uint64_t rows = table->mask + 1, wanted = 4 * rows < (uint64_t)max_rows ? 4 * rows : (uint64_t)max_rows;
    int width = table->width;
    if (!wants_to_grow(table, max_rows) || !table_new(&larger, wanted, width)) return;
    for (uint64_t i = 0; i < rows + WAYS; i++) {
        const uint64_t *old = table->rows + i * (uint64_t)width;
        uint64_t key[4];
        if (!old[width / 2 - 1]) continue;
        memcpy(key, old, (size_t)width * 4);
        key[width / 2 - 1] &= KEY_MASK;
        uint64_t slot = width == 4 ? short_slot(key, larger.mask) : long_slot(key, larger.mask);
        memcpy(claim_row(&larger, slot, misses), old, (size_t)width * 8);
    }
    free(table->memory);
    *table = larger;
}

static void cache_grow(Cache *cache) {
    table_grow(&cache->short_pieces, MAX_ROWS, cache->misses);
    table_grow(&cache->long_pieces, MAX_ROWS / 4, cache->misses);
}

#endif
