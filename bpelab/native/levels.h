/* Levels: several patterns, each of which cuts the pieces of the one before, and pieces that are dropped.

   Pieces go from level to level by the thousand, as an array of their ends; a piece that is dropped has ~end instead. To
   a pattern the end of the piece is the end of the text. Of what is left at the last level the bytes are moved together
   where something between them was dropped. Cost: a scan of the text for every level that may find something in it.
   Chapter: Compiled. */
#ifndef BPELAB_LEVELS_H
#define BPELAB_LEVELS_H

#include "encode.h"
#include "neighbours.h"

enum { ALL, MATCHES, GAPS };        /* what a level keeps */
enum { ONE_PIECE, PATTERN, TOKENS }; /* what cuts: nothing, a pattern, what the tokens have side by side */
enum { MOST_LEVELS = 16, BLOCK = 2 * CHUNK + 8 };

typedef struct {
    int kind, keep;
    Scan scan;
    uint8_t *needs; /* where a text doesn't have these bytes, the level cuts nothing */
    int64_t needs_size;
} Level;

typedef struct {
    const Vocabulary *vocabulary;
    Workspace *workspace;
    const Level *levels[MOST_LEVELS + 1]; /* those that may cut something */
    int count;
    int64_t (*ends)[BLOCK]; /* those of each level */
    uint8_t *kept;          /* the bytes of pieces, without what was dropped between them */
    int64_t room;           /* bytes of `kept` */
} Refiner; /* what one call at a time writes to */

static const Level ONE = {ONE_PIECE, ALL, {0}, NULL, 0};

static int contains(const uint8_t *text, int64_t size, const uint8_t *wanted, int64_t count) {
    for (const uint8_t *at = text; size - (at - text) >= count; at++) {
        at = memchr(at, wanted[0], (size_t)(size - (at - text) - count + 1));
        if (!at) return 0;
        if (!memcmp(at, wanted, (size_t)count)) return 1;
    }
    return 0;
}

/* Choose the levels for a text. */
static void choose_levels(Refiner *r, const Level *levels, int count, const uint8_t *text, int64_t size) {
    r->count = 0;
    for (int i = 0; i < count; i++)
        if (!levels[i].needs_size || contains(text, size, levels[i].needs, levels[i].needs_size))
            r->levels[r->count++] = levels + i;
    if (!r->count) r->levels[r->count++] = &ONE;
}

/* Whether one pattern does it all, and keeps it all: encode.h has a shorter way for that. */
INLINE int is_sole(const Refiner *r) { return r->count == 1 && r->levels[0]->kind == PATTERN && r->levels[0]->keep == ALL; }

/* Whether a match begins at `at`, where one or a gap does. */
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

/* The ends of the pieces of text[begin:end] into `ends`, as `scan_pieces`. */
static int64_t cut_level(const Level *level, const Refiner *r, const uint8_t *text, int64_t begin, int64_t end, int final,
                         int64_t *ends) {
    if (level->kind == ONE_PIECE) {
        ends[0] = end;
        return final;
    }
    if (level->kind == TOKENS) return cut_at_neighbours(r->vocabulary, text, begin, end, final, ends, CHUNK);
    int64_t count = scan_pieces(text, begin, end, final, &level->scan, ends);
    for (int64_t i = 0; level->keep != ALL && i < count; i++) {
        int64_t stop = ends[i];
        if (begins_match(text, begin, end, &level->scan) != (level->keep == MATCHES)) ends[i] = ~stop;
        begin = stop;
    }
    return count;
}

INLINE int64_t place_of(int64_t end) { return end < 0 ? ~end : end; }

/* The ids of `count` pieces, the first of which begins at `begin`, without those that were dropped; how many, or less
   than 0. */
static int64_t encode_kept(Refiner *r, const uint8_t *text, int64_t begin, const int64_t *ends, int64_t count, uint32_t *out) {
    Workspace *w = r->workspace;
    int64_t written = 0;
    for (int64_t done = 0, kept; done < count; done += kept) {
        int dropped = 0;
        for (kept = 0; kept < CHUNK && done + kept < count; kept++) {
            w->ends[kept] = ends[done + kept];
            dropped |= w->ends[kept] < 0;
        }
        int64_t stop = place_of(w->ends[kept - 1]), pieces = kept, start = begin;
        const uint8_t *from = text;
        if (dropped) {
            int64_t size = stop - begin + PAD, at = 0;
            if (size > r->room) {
                uint8_t *more = realloc(r->kept, (size_t)size);
                if (!more) return NO_MEMORY;
                r->kept = more;
                r->room = size;
            }
            pieces = 0;
            for (int64_t i = 0, place = begin; i < kept; i++) {
                int64_t end = w->ends[i];
                if (end >= 0) {
                    memcpy(r->kept + at, text + place, (size_t)(end - place));
                    w->ends[pieces++] = at += end - place;
                }
                place = place_of(end);
            }
            memset(r->kept + at, 0, PAD);
            from = r->kept;
            start = 0;
        }
        int64_t more = encode_pieces(r->vocabulary, w, from, start, pieces, out + written);
        if (more < 0) return more;
        written += more;
        begin = stop;
    }
    return written;
}

/* The same, of pieces that the levels from `number` on are still to cut. */
static int64_t refine(Refiner *r, int number, const uint8_t *text, int64_t begin, const int64_t *ends, int64_t count, uint32_t *out) {
    if (number == r->count) return encode_kept(r, text, begin, ends, count, out);
    int64_t *finer = r->ends[number], found = 0, written = 0, at = begin;
    for (int64_t i = 0; i < count; i++) {
        int64_t end = place_of(ends[i]);
        if (ends[i] < 0) {
            finer[found++] = ends[i];
            at = end;
        }
        while (at < end || (found && (found >= CHUNK || i + 1 == count))) {
            if (at < end) {
                int64_t more = cut_level(r->levels[number], r, text, at, end, 1, finer + found);
                if (more < 0) return more;
                found += more;
                at = place_of(finer[found - 1]);
            }
            if (found >= CHUNK || (at == end && i + 1 == count)) {
                int64_t more = refine(r, number + 1, text, begin, finer, found, out + written);
                if (more < 0) return more;
                written += more;
                begin = at;
                found = 0;
            }
        }
    }
    return written;
}

/* As `encode_some`, by all levels. */
static int64_t encode_by_levels(Refiner *r, const uint8_t *text, int64_t *place, int64_t end, int final, uint32_t *out) {
    int64_t written = 0, *ends = r->ends[0];
    while (*place < end) {
        int64_t count = cut_level(r->levels[0], r, text, *place, end, final, ends);
        if (count < 0) return count;
        if (!count) break;
        int64_t more = refine(r, 1, text, *place, ends, count, out + written);
        if (more < 0) return more;
        written += more;
        *place = place_of(ends[count - 1]);
        cache_grow(&r->workspace->cache);
    }
    return written;
}

#endif
