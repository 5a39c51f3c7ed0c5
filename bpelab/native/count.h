/* Count: how often each pre-token occurs, in a hash table with linear probing.

   A row is half a cache line. A piece of up to 15 bytes is its own key; the row of a longer one has a hash and the
   length, and its bytes are in an arena. The keys and slots of all pieces of a chunk are computed first, and rows are
   prefetched some pieces ahead. Cost: 1 to 2 ns a byte besides the scan; 48 to 96 bytes of memory for each distinct
   pre-token. Chapter: Incremental training. */
#ifndef BPELAB_COUNT_H
#define BPELAB_COUNT_H

#include "readers.h"

/* rows at first; pieces ahead; some 20 ms */
enum { MIN_COUNT_ROWS = 1 << 14, COUNT_PREFETCH = 24, CHUNKS_PER_POLL = 500 };
enum { COUNT_OVERFLOW = -4 }; /* a count above MAX_COUNT */
#define MAX_COUNT ((int64_t)1 << 62)
#define LONG_PIECE ((uint64_t)0xFF << 56) /* in the byte where a piece that is its own key has its length */

typedef struct {
    uint64_t key[2];       /* key[1] is 0 in a free row; of a long piece: its hash, LONG_PIECE | its length */
    int64_t count, offset; /* offset: of a long piece in the arena */
} CountRow;

typedef struct {
    CountRow *rows;
    void *memory;
    uint64_t mask;
    uint8_t *arena;
    int64_t used, arena_used, arena_capacity, bytes; /* used: rows; bytes: of all distinct pieces together */
    ReaderState readers;
    int64_t ends[MAX_ENDS];
    uint64_t keys[MAX_ENDS][2], slots[MAX_ENDS];
} Counts;

/* Allocate rows aligned to cache lines. 0 if memory runs out. */
static int count_rows_new(Counts *counts, uint64_t rows) {
    void *memory = calloc(1, rows * sizeof(CountRow) + 64);
    if (!memory) return 0;
    advise_huge_pages(memory, rows * sizeof(CountRow));
    counts->memory = memory;
    counts->rows = (CountRow *)(((uintptr_t)memory + 63) & ~(uintptr_t)63);
    counts->mask = rows - 1;
    return 1;
}

static Counts *counts_new(void) {
    Counts *counts = calloc(1, sizeof *counts);
    if (counts && count_rows_new(counts, MIN_COUNT_ROWS)) return counts;
    free(counts);
    return NULL;
}

static void counts_free(Counts *counts) {
    if (!counts) return;
    free(counts->memory);
    free(counts->arena);
    free(counts);
}

INLINE uint64_t count_slot(const uint64_t key[2], uint64_t mask) { return hash_pair(key[0], key[1]) >> 32 & mask; }

/* Make space for `more` rows at a load factor of two thirds. 0 if memory runs out: the counts stay as before. */
static int counts_reserve(Counts *counts, int64_t more) {
    uint64_t rows = counts->mask + 1, wanted = rows;
    CountRow *old = counts->rows;
    void *memory = counts->memory;
    while ((uint64_t)(counts->used + more) * 3 > wanted * 2) wanted *= 2;
    if (wanted == rows) return 1;
    if (!count_rows_new(counts, wanted)) return 0;
    for (uint64_t i = 0; i < rows; i++) {
        if (!old[i].key[1]) continue;
        uint64_t row = count_slot(old[i].key, counts->mask);
        while (counts->rows[row].key[1]) row = (row + 1) & counts->mask;
        counts->rows[row] = old[i];
    }
    free(memory);
    return 1;
}

/* Whether a row that has a piece's key is really that of the piece. */
INLINE int same_piece(const Counts *counts, const CountRow *row, const uint8_t *piece, int64_t size) {
    return row->key[1] < LONG_PIECE || memcmp(counts->arena + row->offset, piece, (size_t)size) == 0;
}

/* Insert a new piece into its row. 0 if memory runs out. */
NOINLINE int insert_piece(Counts *counts, CountRow *row, const uint64_t key[2], const uint8_t *piece, int64_t size) {
    if (key[1] >= LONG_PIECE) {
        if (counts->arena_used + size > counts->arena_capacity) {
            int64_t wanted = 2 * counts->arena_capacity + size + (1 << 12);
            uint8_t *arena = realloc(counts->arena, (size_t)wanted);
            if (!arena) return 0;
            counts->arena = arena;
            counts->arena_capacity = wanted;
        }
        memcpy(counts->arena + counts->arena_used, piece, (size_t)size);
        row->offset = counts->arena_used;
        counts->arena_used += size;
    }
    row->key[0] = key[0];
    row->key[1] = key[1];
    counts->used++;
    counts->bytes += size;
    return 1;
}

/* Count `number` pieces of a padded text, at most MAX_ENDS, the first of which begins at `begin`: once each, or as
   often as `weights` says. Returns 0, or less than 0: then some pieces were counted and the rest were not. */
static int64_t count_pieces(
    Counts *counts, const uint8_t *text, int64_t begin, const int64_t *ends, const int64_t *weights, int64_t number) {
    if (!counts_reserve(counts, number)) return NO_MEMORY;
    CountRow *rows = counts->rows;
    uint64_t mask = counts->mask;
    for (int64_t i = 0, start = begin; i < number; start = ends[i++]) {
        uint64_t *key = counts->keys[i];
        int64_t size = ends[i] - start;
        if (LIKELY(size <= MAX_SHORT)) {
            short_key(text + start, size, key);
        } else {
            key[0] = hash_bytes(text + start, size);
            key[1] = LONG_PIECE | (uint64_t)size;
        }
        counts->slots[i] = count_slot(key, mask);
    }
    for (int64_t i = 0; i < COUNT_PREFETCH && i < number; i++) PREFETCH(rows + counts->slots[i]);
    for (int64_t i = 0, start = begin; i < number; start = ends[i++]) {
        if (i + COUNT_PREFETCH < number) PREFETCH(rows + counts->slots[i + COUNT_PREFETCH]);
        const uint64_t *key = counts->keys[i];
        uint64_t at = counts->slots[i];
        CountRow *row = rows + at;
        while (row->key[1] && (((row->key[0] ^ key[0]) | (row->key[1] ^ key[1])) ||
                               !same_piece(counts, row, text + start, ends[i] - start)))
            row = rows + (at = (at + 1) & mask);
        if (!row->key[1] && !insert_piece(counts, row, key, text + start, ends[i] - start)) return NO_MEMORY;
        int64_t weight = weights ? weights[i] : 1;
        if (weights && row->count > MAX_COUNT - weight) return COUNT_OVERFLOW;
        row->count += weight;
    }
    return 0;
}

/* Count the pieces of concatenated, padded texts, which end at `stops`, from `*begin` in text `*index` on, for some 20
   ms; both move on. Without a scan each text is one piece. Less than 0: see `scan_pieces` and `count_pieces`. */
static int64_t count_texts(
    Counts *counts, const Scan *scan, const uint8_t *text, const int64_t *stops, int64_t texts, int64_t *index,
    int64_t *begin) {
    for (int chunk = 0; chunk < CHUNKS_PER_POLL && *index < texts;) {
        int64_t stop = stops[*index], found = 1, encode_failed;
        if (*begin == stop) {
            ++*index;
            continue;
        }
        if (!scan) counts->ends[0] = stop;
        else if ((found = find_pieces(text, *begin, stop, 1, scan, &counts->readers, counts->ends)) < 0) return found;
        if ((encode_failed = count_pieces(counts, text, *begin, counts->ends, NULL, found)) < 0) return encode_failed;
        *begin = counts->ends[found - 1];
        chunk++;
    }
    return 0;
}

/* The number of distinct pieces that occur at least `min_count` times; their total length to `*bytes`. */
static int64_t count_frequent(const Counts *counts, int64_t min_count, int64_t *bytes) {
    int64_t number = 0;
    *bytes = 0;
    for (uint64_t i = 0; i <= counts->mask; i++)
        if (counts->rows[i].key[1] && counts->rows[i].count >= min_count) {
            uint64_t high = counts->rows[i].key[1];
            *bytes += (int64_t)(high >= LONG_PIECE ? high ^ LONG_PIECE : high >> 56);
            number++;
        }
    return number;
}

/* Write those pieces, concatenated, to `content`, the end of each to `ends` and its count to `listed`. */
static void list_pieces(const Counts *counts, int64_t min_count, uint8_t *content, int64_t *ends, int64_t *listed) {
    int64_t end = 0;
    for (uint64_t i = 0; i <= counts->mask; i++) {
        const CountRow *row = counts->rows + i;
        uint64_t high = row->key[1];
        if (!high || row->count < min_count) continue;
        if (high >= LONG_PIECE) {
            memcpy(content + end, counts->arena + row->offset, (size_t)(high ^ LONG_PIECE));
            end += (int64_t)(high ^ LONG_PIECE);
        } else {
            for (uint64_t byte = 0; byte < high >> 56; byte++)
                content[end++] = (uint8_t)(row->key[byte >> 3] >> 8 * (byte & 7));
        }
        *ends++ = end;
        *listed++ = row->count;
    }
}

#endif
