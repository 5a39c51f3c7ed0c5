/* Piece cache: pre-tokens that were met, with their ids, in two hash tables without a lock; every thread has its own.

   A row of the narrow table is half a cache line: a piece of up to 15 bytes, which is its own key, and up to four ids.
   What has up to 31 bytes and eight ids goes into the wide table, a line a row. A narrow piece is in one of the two rows
   of its line, which are compared without a branch, or in the line beside it, a wide one within four rows of its home;
   where all are taken it replaces one, so nothing is ever cleared and text without repetitions costs no more. Tables
   begin small and grow fourfold when half full. Cost: one cache line for a piece that is there. Chapter: Compiled. */
#ifndef BPELAB_PIECE_CACHE_H
#define BPELAB_PIECE_CACHE_H

#include "common.h"

enum { LONG = 31, WINDOW = 4, SMALLEST_ROWS = 1 << 12, MOST_ROWS = 1 << 18 };
#define KEY (((uint64_t)1 << 61) - 1) /* of a key's last number; above it is the number of ids less one */

typedef struct {
    uint64_t *rows; /* each `width` numbers: the key, then ids, two a number */
    void *memory;
    uint64_t mask;
    int64_t taken;
    int width;
} Table;

typedef struct {
    Table narrow, wide;
    uint64_t missed; /* pieces that were not found: says which row is given up */
} Cache;

/* An empty table whose rows begin where cache lines do. 0 for no memory. */
static int table_new(Table *table, uint64_t rows, int width) {
    size_t size = (rows + WINDOW) * (size_t)width * 8 + 64;
    table->memory = calloc(1, size);
    if (!table->memory) return 0;
    ask_for_large_pages(table->memory, size);
    table->rows = (uint64_t *)(((uintptr_t)table->memory + 63) & ~(uintptr_t)63);
    table->mask = rows - 1;
    table->taken = 0;
    table->width = width;
    return 1;
}

static int cache_new(Cache *cache) {
    cache->missed = 0;
    cache->wide.memory = NULL;
    return table_new(&cache->narrow, SMALLEST_ROWS, 4) && table_new(&cache->wide, SMALLEST_ROWS / 4, 8);
}

static void cache_free(Cache *cache) {
    free(cache->narrow.memory);
    free(cache->wide.memory);
}

INLINE uint64_t narrow_home(const uint64_t key[2], uint64_t mask) {
    return hash_pair(key[0], key[1]) >> 32 & mask & ~(uint64_t)1;
}

INLINE uint64_t wide_home(const uint64_t key[4], uint64_t mask) {
    return hash_pair(hash_pair(key[0], key[1]), hash_pair(key[2], key[3])) >> 32 & mask & ~(uint64_t)(WINDOW - 1);
}

/* Up to 31 bytes as four numbers, the length in the last. */
INLINE void wide_key(const uint8_t *text, int64_t count, uint64_t key[4]) {
    if (count <= SHORT) {
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

INLINE int is_row_of(const uint64_t *row, const uint64_t key[2]) {
    return ((row[0] ^ key[0]) | ((row[1] & KEY) ^ key[1])) == 0;
}

/* The row of a key in the line at its home or in the one beside it, or NULL. */
INLINE const uint64_t *find_narrow(const Table *table, uint64_t home, const uint64_t key[2]) {
    const uint64_t *line = table->rows + 4 * home;
    int second = is_row_of(line + 4, key);
    if (LIKELY(second | is_row_of(line, key))) return line + 4 * second;
    line = table->rows + 4 * (home ^ 2);
    second = is_row_of(line + 4, key);
    return second | is_row_of(line, key) ? line + 4 * second : NULL;
}

static const uint64_t *find_wide(const Table *table, const uint64_t key[4]) {
    const uint64_t *row = table->rows + 8 * wide_home(key, table->mask);
    for (int i = 0; i < WINDOW; i++, row += 8)
        if (((row[0] ^ key[0]) | (row[1] ^ key[1]) | (row[2] ^ key[2]) | ((row[3] & KEY) ^ key[3])) == 0) return row;
    return NULL;
}

/* The ids of a row to `out`, which has room for as many as a row has; how many count. */
INLINE int64_t write_narrow(const uint64_t *row, uint32_t *out) {
    memcpy(out, row + 2, 16);
    return (int64_t)(row[1] >> 61) + 1;
}

INLINE int64_t write_wide(const uint64_t *row, uint32_t *out) {
    memcpy(out, row + 4, 32);
    return (int64_t)(row[3] >> 61) + 1;
}

/* The row to write to: a free one of the four, those of the home's line first, or else one that is given up. */
static uint64_t *free_row(Table *table, uint64_t home, uint64_t missed) {
    for (uint64_t i = 0; i < WINDOW; i++) {
        uint64_t *row = table->rows + (uint64_t)table->width * (home ^ i);
        if (row[table->width / 2 - 1] == 0) {
            table->taken++;
            return row;
        }
    }
    return table->rows + (uint64_t)table->width * (home ^ (missed & (WINDOW - 1)));
}

/* Keep a piece with its ids if there are some, and a row for so many. */
static void keep(Cache *cache, const uint8_t *text, int64_t size, const uint32_t *ids, int64_t count) {
    uint64_t key[4], *row;
    if (!count) return;
    if (size <= SHORT && count <= 4) {
        short_key(text, size, key);
        row = free_row(&cache->narrow, narrow_home(key, cache->narrow.mask), cache->missed);
        memset(row, 0, 32);
        memcpy(row, key, 16);
        row[1] |= (uint64_t)(count - 1) << 61;
        memcpy(row + 2, ids, (size_t)count * 4);
    } else if (size <= LONG && count <= 8) {
        wide_key(text, size, key);
        row = free_row(&cache->wide, wide_home(key, cache->wide.mask), cache->missed);
        memset(row, 0, 64);
        memcpy(row, key, 32);
        row[3] |= (uint64_t)(count - 1) << 61;
        memcpy(row + 4, ids, (size_t)count * 4);
    }
}

INLINE int is_full(const Table *table, int64_t most) {
    return table->taken * 2 > (int64_t)table->mask + 1 && (int64_t)table->mask + 1 < most;
}

/* Make a table that is half full four times as large; without memory it stays, and works as before. */
static void grow(Table *table, int64_t most, uint64_t missed) {
    Table larger;
    uint64_t rows = table->mask + 1, wanted = 4 * rows < (uint64_t)most ? 4 * rows : (uint64_t)most;
    int width = table->width;
    if (!is_full(table, most) || !table_new(&larger, wanted, width)) return;
    for (uint64_t number = 0; number < rows + WINDOW; number++) {
        const uint64_t *old = table->rows + number * (uint64_t)width;
        uint64_t key[4];
        if (!old[width / 2 - 1]) continue;
        memcpy(key, old, (size_t)width * 4);
        key[width / 2 - 1] &= KEY;
        uint64_t home = width == 4 ? narrow_home(key, larger.mask) : wide_home(key, larger.mask);
        memcpy(free_row(&larger, home, missed), old, (size_t)width * 8);
    }
    free(table->memory);
    *table = larger;
}

static void cache_grow(Cache *cache) {
    grow(&cache->narrow, MOST_ROWS, cache->missed);
    grow(&cache->wide, MOST_ROWS / 4, cache->missed);
}

#endif
