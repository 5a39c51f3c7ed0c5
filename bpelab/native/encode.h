/* Encode: text to ids, in chunks of a thousand pieces.

   The scanner writes the ends of the pieces of a chunk. Their keys and cache slots are computed all at once, and rows
   are prefetched some pieces ahead. Only what is not in the cache is merged: see misses.h.
   Cost: 3 ns a byte of English that was encoded before, 5 of other English. Chapter: Native code. */
#ifndef BPELAB_ENCODE_H
#define BPELAB_ENCODE_H

#include "misses.h"
#include "readers.h"

enum { PREFETCH_DISTANCE = 32 }; /* pieces between prefetching a row and reading it */
typedef struct {
    Cache cache;
    ReaderState readers;
    int64_t ends[MAX_ENDS];
    uint64_t keys[MAX_ENDS][2], slots[MAX_ENDS];
    Misses misses;
} Workspace; /* scratch memory of one call at a time */

/* Append the ids of `count` pieces, the first of which begins at `begin`, to the `written` ids of `out`, without those
   of misses that are left pending; returns the number of ids then, or less than 0. */
static int64_t look_up_pieces(const Vocabulary *v, Workspace *w, const uint8_t *text, int64_t begin, int64_t count,
                              uint32_t *out, int64_t written) {
    Cache *cache = &w->cache;
    uint32_t *to = out + written;
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
            int64_t done = encode_miss(v, cache, &w->misses, text, begin, w->ends[i], out, to - out);
            if (done < 0) return done;
            to = out + done;
        }
        begin = w->ends[i];
    }
    return to - out;
}

/* Write the ids of `count` pieces, the first of which begins at `begin`, to `out`; returns their number, or less than
   0. */
static int64_t encode_pieces(const Vocabulary *v, Workspace *w, const uint8_t *text, int64_t begin, int64_t count,
                             uint32_t *out) {
    begin_misses(v, &w->misses, count ? w->ends[count - 1] - begin : 0);
    int64_t written = look_up_pieces(v, w, text, begin, count, out, 0);
    return written >= 0 && w->misses.number ? insert_misses(v, &w->cache, &w->misses, text, out, written) : written;
}

/* Write the ids of text[*offset:end] to `out`; returns their number. `*offset` moves to the end of what was encoded:
   `end` if the text is `final`, else as far as the text that follows can't change the ids. Less than 0: `out` is
   invalid. */
static int64_t encode_range(
    const Vocabulary *v, const Scan *scan, Workspace *w, const uint8_t *text, int64_t *offset, int64_t end, int final,
    uint32_t *out) {
    int64_t written = 0;
    begin_misses(v, &w->misses, end - *offset);
    while (*offset < end) {
        int64_t count = find_pieces(text, *offset, end, final, scan, &w->readers, w->ends);
        if (count < 0) return count;
        if (!count) break;
        written = look_up_pieces(v, w, text, *offset, count, out, written);
        if (written < 0) return written;
        *offset = w->ends[count - 1];
        cache_grow(&w->cache);
    }
    return w->misses.number ? insert_misses(v, &w->cache, &w->misses, text, out, written) : written;
}

#endif
