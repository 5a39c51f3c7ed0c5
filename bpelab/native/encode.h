/* Encode: text to ids, in chunks of a thousand pieces.

   The scanner writes the ends of pieces, their keys and rows in the cache are worked out all at once and prefetched some
   pieces ahead, and only what the cache doesn't have is merged, part by part where it may be cut. Cost: 5 ns a byte of
   English that was met before, 7 to 9 of other text. Chapter: Compiled. */
#ifndef BPELAB_ENCODE_H
#define BPELAB_ENCODE_H

#include "cuts.h"
#include "merge.h"
#include "piece_cache.h"
#include "readers.h"

enum { AHEAD = 32 }; /* pieces between asking for a row and looking at it */
typedef struct {
    Cache cache;
    Reading reading;
    int64_t ends[MOST_ENDS];
    uint64_t keys[MOST_ENDS][2], homes[MOST_ENDS];
} Workspace; /* what one call at a time writes to */

/* The ids of a piece that the narrow table doesn't have; how many, or less than 0: see `merge_piece`. */
NOINLINE int64_t missed(const Vocabulary *v, Cache *cache, const uint8_t *text, int64_t begin, int64_t end, uint32_t *out) {
    int64_t size = end - begin, count = 0;
    if (size <= LONG) {
        uint64_t key[4];
        wide_key(text + begin, size, key);
        const uint64_t *row = find_wide(&cache->wide, key);
        if (row) return write_wide(row, out);
    }
    cache->missed++;
    for (int64_t start = begin, stop, turns = 1; start < end; start = stop, turns++) {
        const uint64_t *row = NULL;
        if (stopped_by_user(turns)) return INTERRUPTED;
        if ((stop = next_cut(v, text, start, end)) < 0) return stop;
        if (stop - start <= SHORT && stop - start < size) {
            uint64_t key[2];
            short_key(text + start, stop - start, key);
            row = find_narrow(&cache->narrow, narrow_home(key, cache->narrow.mask), key);
        }
        if (row) {
            count += write_narrow(row, out + count);
            continue;
        }
        int64_t more = merge_piece(v, text + start, stop - start, out + count);
        if (more < 0) return more;
        if (stop - start < size) keep(cache, text + start, stop - start, out + count, more);
        count += more;
    }
    keep(cache, text + begin, size, out, count);
    return count;
}

/* The ids of `count` pieces, the first of which begins at `begin`, to `out`; how many, or less than 0. */
static int64_t encode_pieces(const Vocabulary *v, Workspace *w, const uint8_t *text, int64_t begin, int64_t count, uint32_t *out) {
    Cache *cache = &w->cache;
    uint32_t *to = out;
    int64_t start = begin;
    for (int64_t i = 0; i < count; i++) {
        int64_t end = w->ends[i], size = end - start;
        if (size <= SHORT) {
            short_key(text + start, size, w->keys[i]);
            w->homes[i] = narrow_home(w->keys[i], cache->narrow.mask);
        } else {
            w->homes[i] = 0;
            w->keys[i][0] = 0;
            w->keys[i][1] = 1; /* no row has it */
        }
        start = end;
    }
    for (int64_t i = 0; i < AHEAD && i < count; i++) PREFETCH(cache->narrow.rows + 4 * w->homes[i]);
    for (int64_t i = 0; i < count; i++) {
        if (i + AHEAD < count) PREFETCH(cache->narrow.rows + 4 * w->homes[i + AHEAD]);
        const uint64_t *row = find_narrow(&cache->narrow, w->homes[i], w->keys[i]);
        if (LIKELY(row != NULL)) {
            to += write_narrow(row, to);
        } else {
            int64_t more = missed(v, cache, text, begin, w->ends[i], to);
            if (more < 0) return more;
            to += more;
        }
        begin = w->ends[i];
    }
    return to - out;
}

/* The ids of text[*place:end] to `out`, as far as what follows can't change them unless this is the end, `final`; how
   many. `place` is moved to where the text was left. Less than 0: nothing that was written counts. */
static int64_t encode_some(
    const Vocabulary *v, const Scan *scan, Workspace *w, const uint8_t *text, int64_t *place, int64_t end, int final,
    uint32_t *out) {
    int64_t written = 0;
    while (*place < end) {
        int64_t count = find_pieces(text, *place, end, final, scan, &w->reading, w->ends);
        if (count < 0) return count;
        if (!count) break;
        int64_t more = encode_pieces(v, w, text, *place, count, out + written);
        if (more < 0) return more;
        written += more;
        *place = w->ends[count - 1];
        cache_grow(&w->cache);
    }
    return written;
}

#endif
