/* Levels: a sequence of patterns, each of which splits the pieces of the one before, and may drop some.

   Pieces go from level to level a thousand at a time, as an array of their ends; a piece that is dropped has ~end
   instead. To a pattern, the end of the piece is the end of the text. After the last level the pieces are compacted:
   their bytes are moved together if one between them was dropped. Cost: a scan of the text for each level that may
   split it. Chapter: Native code. */
#ifndef BPELAB_LEVELS_H
#define BPELAB_LEVELS_H

#include "encode.h"
#include "neighbours.h"

enum { ALL, MATCHES, GAPS };            /* which pieces a level keeps */
enum { ONE_PIECE, PATTERN, ADJACENCY }; /* what splits: nothing, a pattern, the adjacency of characters in tokens */
enum { MAX_LEVELS = 16, BLOCK = 2 * CHUNK + 8 };

typedef struct {
    int kind, keep;
    Scan scan;
    uint8_t *required; /* a text without these bytes is not split by this level */
    int64_t required_size;
} Level;

typedef struct {
    const Vocabulary *vocabulary;
    Workspace *workspace;
    const Level *levels[MAX_LEVELS + 1]; /* those that may split the text */
    int count;
    int64_t (*ends)[BLOCK]; /* the ends of pieces at each level */
    uint8_t *compacted;     /* the bytes of pieces, without what was dropped between them */
    int64_t capacity;       /* of `compacted`, in bytes */
} Refiner; /* scratch memory of one call at a time */

static const Level WHOLE_TEXT = {ONE_PIECE, ALL, {0}, NULL, 0};

static int contains(const uint8_t *text, int64_t size, const uint8_t *wanted, int64_t count) {
    for (const uint8_t *at = text; size - (at - text) >= count; at++) {
        at = memchr(at, wanted[0], (size_t)(size - (at - text) - count + 1));
        if (!at) return 0;
        if (!memcmp(at, wanted, (size_t)count)) return 1;
    }
    return 0;
}

/* Choose the levels that may split a text. */
static void choose_levels(Refiner *r, const Level *levels, int count, const uint8_t *text, int64_t size) {
    r->count = 0;
    for (int i = 0; i < count; i++)
        if (!levels[i].required_size || contains(text, size, levels[i].required, levels[i].required_size))
            r->levels[r->count++] = levels + i;
    if (!r->count) r->levels[r->count++] = &WHOLE_TEXT;
}

/* Whether a single pattern splits the text and keeps all pieces: encode.h has a shorter path for that. */
INLINE int is_single_pattern(const Refiner *r) {
    return r->count == 1 && r->levels[0]->kind == PATTERN && r->levels[0]->keep == ALL;
}

/* Whether what begins at `at` is a match, not a gap. */
static int begins_match(const uint8_t *text, int64_t at, int64_t end, const Scan *scan) {
    int64_t row = scan->start;
    while (at < end) {
        uint32_t class;
        int width = classify(text + at, scan, &class);
        int32_t step = scan->steps[row + class];
        if (step & (MATCH | COMMIT)) return 1;
        if (step & STOP) return 0;
        row = step >> 4;
        at += width;
    }
    return scan->steps[row + scan->edge] & MATCH;
}

/* Write the ends of the pieces of text[begin:end] to `ends`, as `scan_pieces` does; ~end for a dropped piece. */
static int64_t split_level(const Level *level, const Refiner *r, const uint8_t *text, int64_t begin, int64_t end,
                           int final, int64_t *ends) {
    if (level->kind == ONE_PIECE) {
        ends[0] = end;
        return final;
    }
    if (level->kind == ADJACENCY) return split_at_boundaries(r->vocabulary, text, begin, end, final, ends, CHUNK);
    int64_t count = scan_pieces(text, begin, end, final, &level->scan, ends);
    for (int64_t i = 0; level->keep != ALL && i < count; i++) {
        int64_t stop = ends[i];
        if (begins_match(text, begin, end, &level->scan) != (level->keep == MATCHES)) ends[i] = ~stop;
        begin = stop;
    }
    return count;
}

/* Where a piece ends, dropped or not. */
INLINE int64_t end_offset(int64_t end) { return end < 0 ? ~end : end; }

/* Write the ids of `count` pieces, the first of which begins at `begin`, to `out`, without those that were dropped;
   returns the number of ids, or less than 0. */
static int64_t encode_compacted(Refiner *r, const uint8_t *text, int64_t begin, const int64_t *ends, int64_t count,
                                uint32_t *out) {
    Workspace *w = r->workspace;
    int64_t written = 0;
    for (int64_t done = 0, kept; done < count; done += kept) {
        int dropped = 0;
        for (kept = 0; kept < CHUNK && done + kept < count; kept++) {
            w->ends[kept] = ends[done + kept];
            dropped |= w->ends[kept] < 0;
        }
        int64_t stop = end_offset(w->ends[kept - 1]), pieces = kept, start = begin;
        const uint8_t *from = text;
        if (dropped) {
            int64_t size = stop - begin + PAD, at = 0;
            if (size > r->capacity) {
                uint8_t *more = realloc(r->compacted, (size_t)size);
                if (!more) return NO_MEMORY;
                r->compacted = more;
                r->capacity = size;
            }
            pieces = 0;
            for (int64_t i = 0, offset = begin; i < kept; i++) {
                int64_t end = w->ends[i];
                if (end >= 0) {
                    memcpy(r->compacted + at, text + offset, (size_t)(end - offset));
                    w->ends[pieces++] = at += end - offset;
                }
                offset = end_offset(end);
            }
            memset(r->compacted + at, 0, PAD);
            from = r->compacted;
            start = 0;
        }
        int64_t more = encode_pieces(r->vocabulary, w, from, start, pieces, out + written);
        if (more < 0) return more;
        written += more;
        begin = stop;
    }
    return written;
}

/* The same, of pieces that the levels from `depth` on still have to split. */
static int64_t refine(Refiner *r, int depth, const uint8_t *text, int64_t begin, const int64_t *ends, int64_t count,
                      uint32_t *out) {
    if (depth == r->count) return encode_compacted(r, text, begin, ends, count, out);
    int64_t *finer = r->ends[depth], found = 0, written = 0, at = begin;
    for (int64_t i = 0; i < count; i++) {
        int64_t end = end_offset(ends[i]);
        if (ends[i] < 0) {
            finer[found++] = ends[i];
            at = end;
        }
        while (at < end || (found && (found >= CHUNK || i + 1 == count))) {
            if (at < end) {
                int64_t more = split_level(r->levels[depth], r, text, at, end, 1, finer + found);
                if (more < 0) return more;
                found += more;
                at = end_offset(finer[found - 1]);
            }
            if (found >= CHUNK || (at == end && i + 1 == count)) {
                int64_t more = refine(r, depth + 1, text, begin, finer, found, out + written);
                if (more < 0) return more;
                written += more;
                begin = at;
                found = 0;
            }
        }
    }
    return written;
}

/* As `encode_range`, by all levels. */
static int64_t encode_by_levels(Refiner *r, const uint8_t *text, int64_t *offset, int64_t end, int final,
                                uint32_t *out) {
    int64_t written = 0, *ends = r->ends[0];
    while (*offset < end) {
        int64_t count = split_level(r->levels[0], r, text, *offset, end, final, ends);
        if (count < 0) return count;
        if (!count) break;
        int64_t more = refine(r, 1, text, *offset, ends, count, out + written);
        if (more < 0) return more;
        written += more;
        *offset = end_offset(ends[count - 1]);
        cache_grow(&r->workspace->cache);
    }
    return written;
}

#endif
