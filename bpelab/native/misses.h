/* Misses: merge the pieces that the cache lacks, eight at a time.

   A merge waits for two look-ups in a table of megabytes, and the next merge of the same piece waits for it. So misses
   are put off until some are together: each in turn makes one merge and prefetches what its next one reads. What comes
   after a missing piece in `out` is moved up when its ids are known. Cost: 0.15 us for a piece, half of what it costs
   alone. Chapter: Native code. */
#ifndef BPELAB_MISSES_H
#define BPELAB_MISSES_H

#include "cuts.h"
#include "merge.h"
#include "piece_cache.h"

enum { MAX_PENDING = 64, LANES = 8 };
enum { MIN_DEFERRED = 512 }; /* bytes of a text in which misses wait for others; a shorter one has too few */

typedef struct {
    int64_t begin, size; /* of the piece, in the text */
    int64_t offset;      /* ids written before it, without those of other misses that are pending */
    uint32_t *ids;       /* its own */
    int64_t count;
} Miss;

typedef struct {
    Miss pieces[MAX_PENDING];
    int64_t number, next; /* pieces that are pending; the first of them that was not begun */
    int deferring;        /* whether pieces are left pending at all */
    Merging lanes[LANES];
    Miss *piece_of[LANES];
    uint32_t ids[MAX_PENDING * MAX_LONG + 8]; /* with space for a full row after the last */
} Misses;

/* Begin to encode a text of `size` bytes: nothing is pending. */
INLINE void begin_misses(const Vocabulary *v, Misses *misses, int64_t size) {
    misses->number = 0;
    misses->deferring = size >= MIN_DEFERRED && !v->unit_entries;
}

INLINE int is_ascii(const uint8_t *text, int64_t size) {
    uint64_t bits = 0;
    for (; size > 8; size -= 8, text += 8) bits |= load64(text);
    return !((bits | first_bytes(text, size)) & 0x8080808080808080u);
}

/* Prefetch where a piece will be looked up. */
INLINE void prefetch_miss(const Vocabulary *v, const Cache *cache, const uint8_t *piece, int64_t size) {
    uint64_t key[4];
    long_key(piece, size, key);
    PREFETCH(cache->long_pieces.rows + 8 * long_slot(key, cache->long_pieces.mask));
    if (size > MAX_SHORT) return;
    short_key(piece, size, key);
    PREFETCH(v->short_tokens + (hash_pair(key[0], key[1]) >> 32 & v->short_mask));
}

/* Find a piece in the long table or among the tokens, and write its ids. 0 if it has to be merged. */
INLINE int find_miss(const Vocabulary *v, Cache *cache, const uint8_t *piece, Miss *miss) {
    uint64_t key[4];
    long_key(piece, miss->size, key);
    const uint64_t *row = find_long(&cache->long_pieces, key);
    uint32_t token = row || !v->ignore_merges ? NONE : find_token(v, piece, miss->size);
    if (row) {
        miss->count = copy_long(row, miss->ids);
    } else if (token != NONE) {
        miss->ids[0] = v->ids[token];
        miss->count = 1;
        cache_store(cache, piece, miss->size, miss->ids, 1);
    } else {
        return 0;
    }
    return 1;
}

/* Begin to merge the next piece that has to be merged. 0 if none is left. */
static int start_lane(const Vocabulary *v, Cache *cache, Misses *misses, const uint8_t *text, int lane) {
    while (misses->next < misses->number) {
        Miss *miss = misses->pieces + misses->next;
        miss->ids = misses->ids + MAX_LONG * misses->next++;
        if (find_miss(v, cache, text + miss->begin, miss)) continue;
        misses->piece_of[lane] = miss;
        start_with_bytes(v, misses->lanes + lane, text + miss->begin, miss->size);
        begin_merging(misses->lanes + lane, miss->size);
        return 1;
    }
    return 0;
}

/* Encode all pending pieces to `misses->ids`. */
static void encode_pending(const Vocabulary *v, Cache *cache, Misses *misses, const uint8_t *text) {
    int active = 0;
    for (int64_t i = 0; i < misses->number; i++)
        prefetch_miss(v, cache, text + misses->pieces[i].begin, misses->pieces[i].size);
    misses->next = 0;
    while (active < LANES && start_lane(v, cache, misses, text, active)) active++;
    while (active)
        for (int lane = 0; lane < active; lane++) {
            Merging *merging = misses->lanes + lane;
            Miss *miss = misses->piece_of[lane];
            rank_neighbours(v, merging);
            if (merge_next(v, merging)) continue;
            miss->count = write_tokens(merging, miss->ids);
            if (!v->ids_are_indices)
                for (int64_t i = 0; i < miss->count; i++) miss->ids[i] = v->ids[miss->ids[i]];
            cache_store(cache, text + miss->begin, miss->size, miss->ids, miss->count);
            if (start_lane(v, cache, misses, text, lane)) continue;
            if (--active > lane) { /* the last lane takes this one's turn */
                *merging = misses->lanes[active];
                misses->piece_of[lane] = misses->piece_of[active];
            }
            lane--;
        }
}

/* Encode what is pending and insert it into the `written` ids of `out`; returns their number then. */
NOINLINE int64_t insert_misses(const Vocabulary *v, Cache *cache, Misses *misses, const uint8_t *text, uint32_t *out,
                               int64_t written) {
    int64_t number = misses->number, end = written;
    encode_pending(v, cache, misses, text);
    misses->number = 0;
    for (int64_t i = 0; i < number; i++) written += misses->pieces[i].count;
    for (int64_t i = number - 1, to = written; i >= 0; i--) { /* the last first, so that nothing is overwritten */
        const Miss *miss = misses->pieces + i;
        to -= end - miss->offset;
        memmove(out + to, out + miss->offset, (size_t)(end - miss->offset) * sizeof *out);
        to -= miss->count;
        memcpy(out + to, miss->ids, (size_t)miss->count * sizeof *out);
        end = miss->offset;
    }
    return written;
}

/* Append the ids of a piece that is not in the short table to the `written` ids of `out`; returns their number then, or
   less than 0: see `merge_piece`. What has to be merged is left pending, part by part; once all parts are in the cache,
   so is the piece when it is met again. */
NOINLINE int64_t encode_miss(const Vocabulary *v, Cache *cache, Misses *misses, const uint8_t *text, int64_t begin,
                             int64_t end, uint32_t *out, int64_t written) {
    int64_t size = end - begin, first = written;
    int ascii = size <= MAX_LONG && !v->unit_entries && is_ascii(text + begin, size), pending = 0;
    if (size <= MAX_LONG && !(size <= MAX_SHORT && ascii && misses->deferring)) {
        uint64_t key[4];
        long_key(text + begin, size, key);
        const uint64_t *row = find_long(&cache->long_pieces, key);
        if (row) return written + copy_long(row, out + written);
    }
    cache->misses++;
    for (int64_t start = begin, stop = end, turns = 1; start < end; start = stop, turns++) {
        const uint64_t *row = NULL;
        if (stopped_by_user(turns)) return INTERRUPTED;
        if (!ascii && (stop = next_boundary(v, text, start, end)) < 0) return stop;
        int64_t part = stop - start;
        if (part <= MAX_SHORT && part < size) {
            uint64_t key[2];
            short_key(text + start, part, key);
            row = find_short(&cache->short_pieces, short_slot(key, cache->short_pieces.mask), key);
        }
        if (row) {
            written += copy_short(row, out + written);
        } else if (misses->deferring && part > 1 && part <= MAX_LONG) {
            if (misses->number == MAX_PENDING) written = insert_misses(v, cache, misses, text, out, written);
            misses->pieces[misses->number++] = (Miss){start, part, written, NULL, 0};
            pending = 1;
        } else {
            int64_t more = merge_piece(v, text + start, part, out + written);
            if (more < 0) return more;
            if (part < size) cache_store(cache, text + start, part, out + written, more);
            written += more;
        }
    }
    if (!pending) cache_store(cache, text + begin, size, out + first, written - first);
    return written;
}

#endif
