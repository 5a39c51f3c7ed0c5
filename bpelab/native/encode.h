/* Encode: text to ids, in chunks of a thousand pieces.

   The scanner writes the ends of the pieces of a chunk. Their keys and cache slots are computed all at once, and rows
   are prefetched some pieces ahead. Only what is not in the cache is merged, part by part where it has boundaries.
   Cost: 5 ns a byte of English that was encoded before, 7 to 9 of other text. Chapter: Compiled. */
#ifndef BPELAB_ENCODE_H
#define BPELAB_ENCODE_H

#include "cuts.h"
#include "merge.h"
#include "piece_cache.h"
#include "readers.h"

enum { PREFETCH_DISTANCE = 32 }; /* pieces between prefetching a row and reading it */
typedef struct {
    Cache cache;
    ReaderState readers;
    int64_t ends[MAX_ENDS];
    uint64_t keys[MAX_ENDS][2], slots[MAX_ENDS];
} Workspace; /* scratch memory of one call at a time */

/* Write the ids of a piece that is not in the short table to `out`; returns their number, or less than 0: see
   `merge_piece`. */
NOINLINE int64_t encode_miss(const Vocabulary *v, Cache *cache, const uint8_t *text, int64_t begin, int64_t end,
                             uint32_t *out) {
    int64_t size = end - begin, count = 0;
    if (size <= MAX_LONG) {
        uint64_t key[4];
        long_key(text + begin, size, key);
        const uint64_t *row = find_long(&cache->long_pieces, key);
        if (row) return copy_long(row, out);
    }
    cache->misses++;
    for (int64_t start = begin, stop, turns = 1; start < end; start = stop, turns++) {
        const uint64_t *row = NULL;
        if (stopped_by_user(turns)) return INTERRUPTED;
        if ((stop = next_boundary(v, text, start, end)) < 0) return stop;
        if (stop - start <= MAX_SHORT && stop - start < size) {
            uint64_t key[2];
            short_key(text + start, stop - start, key);
            row = find_short(&cache->short_pieces, short_slot(key, cache->short_pieces.mask), key);
        }
        if (row) {
            count += copy_short(row, out + count);
            continue;
        }
        int64_t more = merge_piece(v, text + start, stop - start, out + count);
        if (more < 0) return more;
        if (stop - start < size) cache_store(cache, text + start, stop - start, out + count, more);
        count += more;
    }
    cache_store(cache, text + begin, size, out, count);
    return count;
}

/* Write the ids of `count` pieces, the first of which begins at `begin`, to `out`; returns their number, or less than
   0. */
static int64_t encode_pieces(const Vocabulary *v, Workspace *w, const uint8_t *text, int64_t begin, int64_t count,
                             uint32_t *out) {
    Cache *cache = &w->cache;
    uint32_t *to = out;
    int64_t start = begin;
    for (int64_t i = 0; i < count; i++) {
        int64_t end = w->ends[i], size = end - start;
        if (size <= MAX_SHORT) {
            short_key(text + start, size, w->keys[i]);
            w->slots[i] = short_slot(w->keys[i], cache->short_pieces.mask);
        } else {
            w->slots[i] = 0;
            w->keys[i][0] = 0;
            w->keys[i][1] = 1; /* a key that no row has */
        }
        start = end;
    }
    for (int64_t i = 0; i < PREFETCH_DISTANCE && i < count; i++) PREFETCH(cache->short_pieces.rows + 4 * w->slots[i]);
    for (int64_t i = 0; i < count; i++) {
        if (i + PREFETCH_DISTANCE < count) PREFETCH(cache->short_pieces.rows + 4 * w->slots[i + PREFETCH_DISTANCE]);
        const uint64_t *row = find_short(&cache->short_pieces, w->slots[i], w->keys[i]);
        if (LIKELY(row != NULL)) {
            to += copy_short(row, to);
        } else {
            int64_t more = encode_miss(v, cache, text, begin, w->ends[i], to);
            if (more < 0) return more;
            to += more;
        }
        begin = w->ends[i];
    }
    return to - out;
}

/* Write the ids of text[*offset:end] to `out`; returns their number. `*offset` moves to the end of what was encoded:
   `end` if the text is `final`, else as far as the text that follows can't change the ids. Less than 0: `out` is
   invalid. */
static int64_t encode_range(
    const Vocabulary *v, const Scan *scan, Workspace *w, const uint8_t *text, int64_t *offset, int64_t end, int final,
    uint32_t *out) {
    int64_t written = 0;
    while (*offset < end) {
        int64_t count = find_pieces(text, *offset, end, final, scan, &w->readers, w->ends);
        if (count < 0) return count;
        if (!count) break;
        int64_t more = encode_pieces(v, w, text, *offset, count, out + written);
        if (more < 0) return more;
        written += more;
        *offset = w->ends[count - 1];
        cache_grow(&w->cache);
    }
    return written;
}

#endif
