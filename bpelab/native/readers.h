/* Four readers: scan four spans of a text at once, so that their look-ups overlap.

   A reader knows its next row only when its last look-up is done, some five cycles later; four readers at four offsets
   share this latency. A span begins between two ASCII characters where a piece ends in any state: whatever row the
   first one leads to, the second one commits there. Readers go byte by byte; characters beyond ASCII, and searches that
   stop, are handled one at a time. Cost: 1.5 ns a byte of English, a third of that of one reader. Chapter: Native
   code. */
#ifndef BPELAB_READERS_H
#define BPELAB_READERS_H

#include "scan.h"

enum { SPAN = 256, MAX_SEARCH = 96 }; /* bytes of a span; how many more are searched for its end */
enum { SPAN_ENDS = SPAN + MAX_SEARCH + 8, READERS = 4 };
enum { MAX_ENDS = READERS * SPAN_ENDS }; /* pieces found at once */
enum { BATCH_BYTES = READERS * (SPAN + MAX_SEARCH) + PAD };
enum { BACKOFF = 4 };          /* chunks left to a single reader after four have failed */
#define ENDS_PIECE 0x80000000u /* a piece ends before this byte */
#define SLOW 0x40000000u       /* the byte takes more than one look-up */
#define PRESENT 0x20000000u    /* `after_space` has an entry */

typedef struct Readers {
    uint32_t *steps; /* steps[state << 8 | byte]: the next state << 8, and flags */
    uint32_t *after_space; /* the same, if a search stops at the byte and its match ended before the preceding space */
    uint32_t boundary_after[32]; /* bit b of boundary_after[a]: in any state a piece ends between the classes a and b */
    uint8_t matched[256]; /* of each state: whether a match ends at the last character read */
    uint32_t start; /* the start state << 8 */
    int32_t width; /* of a row of `scan->steps` */
} Readers;

typedef struct {
    int32_t ends[READERS][SPAN_ENDS]; /* the ends of pieces, relative to the start of each span */
    int32_t *next[READERS];           /* where the next end is written */
    const uint8_t *text[READERS];     /* the spans */
    uint32_t state[READERS];          /* << 8 */
    int backoff;                      /* chunks still left to a single reader */
} ReaderState;

static void readers_free(Readers *r) {
    if (!r) return;
    free(r->steps);
    free(r->after_space);
    free(r);
}

/* Fill `boundary_after` and `matched`. */
static void find_boundary_classes(Readers *r, const Scan *scan, int64_t states) {
    memset(r->matched, 1, sizeof r->matched);
    r->matched[r->start >> 8] = 0;
    for (int32_t a = 0; a < scan->edge; a++) {
        uint32_t boundary = ~0u;
        int reached = 0;
        for (int64_t state = 0; state < states; state++) {
            int32_t step = scan->steps[state * r->width + a];
            if (step & STOP) continue;
            const int32_t *row = scan->steps + (step >> 4);
            reached = 1;
            for (int32_t b = 0; b < scan->edge; b++)
                if (!(row[b] & COMMIT)) boundary &= ~((uint32_t)1 << b);
            if (!(step & MATCH)) r->matched[(step >> 4) / r->width] = 0;
        }
        r->boundary_after[a] = reached ? boundary : 0;
    }
}

/* Build the readers' tables of a pattern; NULL if its own table is too large for them, or memory runs out. */
static Readers *readers_new(const Scan *scan, int64_t states, int32_t width) {
    if (states > 256 || scan->edge > 32) return NULL;
    Readers *r = calloc(1, sizeof *r);
    if (!r || !(r->steps = malloc((size_t)states * 256 * 4)) || !(r->after_space = calloc((size_t)states * 256, 4))) {
        readers_free(r);
        return NULL;
    }
    r->width = width;
    r->start = (uint32_t)(scan->start / width) << 8;
    find_boundary_classes(r, scan, states);
    for (uint32_t state = 0; state < states; state++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t to = state << 8 | (byte < 0xC0 ? 0 : SLOW); /* the first byte of a character reads all of them */
            if (byte < 128) {
                int32_t step = scan->steps[(int32_t)state * width + scan->byte_class[byte]];
                if (step & STOP)
                    to = state << 8 | SLOW;
                else
                    to = (uint32_t)((step >> 4) / width) << 8 | (step & COMMIT ? ENDS_PIECE : 0);
            }
            r->steps[state << 8 | byte] = to;
        }
    uint32_t spaced = r->steps[r->start | ' '];
    for (uint32_t at = 0; at < (uint32_t)states << 8 && !(spaced & (ENDS_PIECE | SLOW)); at++) {
        uint32_t to = r->steps[spaced | (at & 255)];
        if ((at & 255) >= 128 || !r->matched[at >> 8] || !(r->steps[at] & SLOW) || (to & SLOW)) continue;
        if (!(scan->steps[(int32_t)(at >> 8) * width + scan->byte_class[at & 255]] & MATCH))
            r->after_space[at] = to | PRESENT;
    }
    return r;
}

/* The first offset from `at` on at which a piece begins in any state, or -1. */
INLINE int64_t find_piece_start(const Readers *r, const Scan *scan, const uint8_t *text, int64_t at) {
    for (int64_t stop = at + MAX_SEARCH; at < stop; at++) {
        uint8_t before = text[at - 1], here = text[at];
        if ((before | here) < 128 && r->boundary_after[scan->byte_class[before]] >> scan->byte_class[here] & 1)
            return at;
    }
    return -1;
}

/* Run all four from byte `i` of their spans to byte `last`, or to the first byte at which one has to be handled alone;
   returns that byte. */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize"))) /* vectors of four spill registers here */
#endif
NOINLINE int64_t read_four(const uint32_t *steps, ReaderState *q, int64_t i, int64_t last) {
    uint64_t s0 = (uint16_t)q->state[0], s1 = (uint16_t)q->state[1], s2 = (uint16_t)q->state[2],
             s3 = (uint16_t)q->state[3];
    int32_t *e0 = q->next[0], *e1 = q->next[1], *e2 = q->next[2], *e3 = q->next[3];
    const uint8_t *t0 = q->text[0], *t1 = q->text[1], *t2 = q->text[2], *t3 = q->text[3];
    for (; i <= last; i++) {
        uint32_t f0 = steps[s0 | t0[i]], f1 = steps[s1 | t1[i]], f2 = steps[s2 | t2[i]], f3 = steps[s3 | t3[i]];
        if (!LIKELY(!((f0 | f1 | f2 | f3) & SLOW))) break;
        *e0 = *e1 = *e2 = *e3 = (int32_t)i; /* written at each byte, kept if a piece ends there: no branch */
        e0 += f0 >> 31;
        e1 += f1 >> 31;
        e2 += f2 >> 31;
        e3 += f3 >> 31;
        s0 = (uint16_t)f0;
        s1 = (uint16_t)f1;
        s2 = (uint16_t)f2;
        s3 = (uint16_t)f3;
    }
    q->state[0] = (uint32_t)s0, q->state[1] = (uint32_t)s1, q->state[2] = (uint32_t)s2, q->state[3] = (uint32_t)s3;
    q->next[0] = e0, q->next[1] = e1, q->next[2] = e2, q->next[3] = e3;
    return i;
}

/* Read the character at byte `i` of a reader's span by the table of classes. 0 if the pattern leaves a gap, or if more
   is read again than `budget` allows. */
NOINLINE int read_character(const Readers *r, const Scan *scan, ReaderState *q, int k, int64_t i, int64_t *budget) {
    const uint8_t *text = q->text[k];
    int64_t settled = q->next[k] == q->ends[k] ? 0 : q->next[k][-1], here = i;
    int32_t row = (int32_t)(q->state[k] >> 8) * r->width;
    while (here <= i) {
        uint32_t class;
        int width = classify(text + here, scan, &class);
        int32_t step = scan->steps[row + class];
        if (step & STOP) {
            int64_t last = i - 1, read;
            if (here < i || (step & MATCH) || !r->matched[row / r->width] || last <= settled || text[last] >= 128)
                last = match_at(text, settled, here + 8, scan, &read);
            if (last <= settled || (*budget -= here - settled) < 0) return 0;
            *q->next[k]++ = (int32_t)last;
            settled = here = last;
            row = scan->start;
            continue;
        }
        if (step & COMMIT) *q->next[k]++ = (int32_t)(settled = here);
        row = step >> 4;
        here += width;
    }
    q->state[k] = (uint32_t)(row / r->width) << 8;
    return 1;
}

/* Read byte `i` of one reader's span. 0 as for `read_character`. */
INLINE int read_one(const Readers *r, const Scan *scan, ReaderState *q, int k, int64_t i, int64_t *budget) {
    const uint8_t *text = q->text[k];
    uint32_t at = (uint16_t)q->state[k] | text[i], to = r->steps[at];
    if (to & SLOW) {
        if (i < 2 || text[i - 1] != ' ' || !(to = r->after_space[at])) return read_character(r, scan, q, k, i, budget);
        *q->next[k]++ = (int32_t)(i - 1);
    }
    *q->next[k] = (int32_t)i;
    q->next[k] += to >> 31;
    q->state[k] = to & 0xFFFF;
    return 1;
}

/* Write the ends of pieces from `begin` on to `ends`, at most MAX_ENDS; returns their number. The text needs
   BATCH_BYTES bytes from `begin` on. -1 if four readers can't do it; a single one can. */
static int64_t scan_by_readers(const Scan *scan, ReaderState *q, const uint8_t *text, int64_t begin, int64_t *ends) {
    const Readers *r = scan->readers;
    int64_t begins[READERS + 1] = {begin}, shortest = BATCH_BYTES, budget = 8 * BATCH_BYTES, count = 0;
    int beyond_ascii = 0;
    for (int k = 0; k < READERS; k++) beyond_ascii += (load64(text + begin + k * SPAN) & 0x8080808080808080u) != 0;
    if (beyond_ascii > 1) return -1; /* a single reader is faster on text beyond ASCII */
    for (int k = 0; k < READERS; k++) {
        begins[k + 1] = find_piece_start(r, scan, text, begins[k] + SPAN);
        if (begins[k + 1] < 0) return -1;
        if (begins[k + 1] - begins[k] < shortest) shortest = begins[k + 1] - begins[k];
        q->text[k] = text + begins[k];
        q->next[k] = q->ends[k];
        q->state[k] = r->start;
    }
    for (int64_t i = 0; (i = read_four(r->steps, q, i, shortest)) <= shortest; i++)
        for (int k = 0; k < READERS; k++)
            if (!read_one(r, scan, q, k, i, &budget)) return -1;
    for (int k = 0; k < READERS; k++) {
        int64_t size = begins[k + 1] - begins[k];
        for (int64_t i = shortest + 1; i <= size; i++)
            if (!read_one(r, scan, q, k, i, &budget)) return -1;
        if (q->next[k] == q->ends[k] || q->next[k][-1] != size) return -1;
        for (const int32_t *from = q->ends[k]; from < q->next[k]; from++) ends[count++] = begins[k] + *from;
    }
    return count;
}

/* As `scan_pieces`, by four readers if the text is long enough, with at most MAX_ENDS ends. */
static int64_t find_pieces(const uint8_t *text, int64_t begin, int64_t end, int final, const Scan *scan,
                           ReaderState *q, int64_t *ends) {
    if (scan->readers && end - begin >= BATCH_BYTES && q->backoff-- <= 0) {
        int64_t count = scan_by_readers(scan, q, text, begin, ends);
        q->backoff = count < 0 ? BACKOFF : 0;
        if (count >= 0) return count;
    }
    return scan_pieces(text, begin, end, final, scan, ends);
}

#endif
