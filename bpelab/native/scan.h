/* Scan: run the DFA of the pre-tokenizer's pattern, one look-up a character, and write the ends of pieces without a
   branch.

   The table is that of `regex/dfa.py`, rewritten so that one integer has all that a character does: the next row,
   whether a match ends before it, and whether it begins the next piece at once, the usual case, which costs nothing
   extra. ASCII is classified by its byte, other characters by two look-ups; runs of letters are skipped 16 at a time.
   Look-ahead is limited, so the cost stays linear: what exceeds the limit is left to Python. Cost: 3 to 4 ns a byte.
   Chapter: Native code. Source: Reps 1998 for the cost of look-ahead. */
#ifndef BPELAB_SCAN_H
#define BPELAB_SCAN_H

#include "common.h"

enum { MATCH = 1, COMMIT = 2, STOP = 4, RUN = 8 };
enum { CHUNK = 1024 };         /* pieces found before they are encoded */
enum { POLL_BYTES = 1 << 20 }; /* bytes between two checks for signals */
/* Characters of look-ahead read a second time, for each character of the text; beyond it Python scans, which memoizes
   failures. */
enum { LOOKAHEAD_BUDGET = 20 };
enum { MAX_SKIPPED = 512 }; /* bytes of a gap that are passed over at once */

struct Readers;

typedef struct {
    int32_t *steps; /* transitions: steps[row + class] is 16 times the next row, plus flags */
    uint8_t byte_class[128];
    uint16_t *stage1; /* the class of c is stage2[stage1[c >> 8] * 256 + (c & 255)] */
    uint8_t *stage2;
    int32_t start, edge;     /* the start row; the class that stands for the end of the text */
    uint64_t barren[128][2]; /* bit b of barren[a]: no match begins at the byte a if b is the next one; both ASCII */
    int fold;                /* 32 if the pattern treats capitals like small letters, else 0 */
    struct Readers *readers; /* see readers.h; NULL for a pattern that only a single reader can scan */
} Scan;

/* Classify the character at `text`, which is valid UTF-8: its class to `class`; returns its length in bytes. */
INLINE int classify(const uint8_t *text, const Scan *scan, uint32_t *class) {
    uint32_t byte = *text, code;
    int width;
    if (LIKELY(byte < 128)) {
        *class = scan->byte_class[byte];
        return 1;
    }
    if (byte < 0xE0) {
        code = (byte & 31) << 6 | (text[1] & 63u);
        width = 2;
    } else if (byte < 0xF0) {
        code = (byte & 15) << 12 | (text[1] & 63u) << 6 | (text[2] & 63u);
        width = 3;
    } else {
        code = (byte & 7) << 18 | (text[1] & 63u) << 12 | (text[2] & 63u) << 6 | (text[3] & 63u);
        width = 4;
    }
    *class = scan->stage2[(uint32_t)scan->stage1[code >> 8] << 8 | (code & 255)];
    return width;
}

/* The length of the run of ASCII letters at `text`, 16 at most. */
INLINE int64_t letter_run(const uint8_t *text, int fold) {
#ifdef BPELAB_SSE2
    __m128i bytes = _mm_or_si128(_mm_loadu_si128((const __m128i *)text), _mm_set1_epi8((char)fold));
    bytes = _mm_sub_epi8(bytes, _mm_set1_epi8('a'));
    uint32_t found = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(25)), bytes));
    return lowest_bit(~(uint64_t)found);
#else
    int64_t count = 0;
    while (count < 16 && (uint8_t)((text[count] | fold) - 'a') < 26) count++;
    return count;
#endif
}

/* Fill `barren` from `steps`, in which the start is a row like the others. */
static void find_barren_bytes(Scan *scan) {
    memset(scan->barren, 0, sizeof scan->barren);
    for (int a = 0; a < 128; a++)
        for (int b = 0; b < 128; b++) {
            int32_t step = scan->steps[scan->start + scan->byte_class[a]];
            if (!(step & (COMMIT | STOP))) {
                step = scan->steps[(step >> 4) + scan->byte_class[b]];
                if (step & (MATCH | COMMIT)) continue;
            }
            if (step & (COMMIT | STOP)) scan->barren[a][b >> 6] |= (uint64_t)1 << (b & 63);
        }
}

/* The first offset from `at` on, of a few hundred, at which two bytes don't rule out that a match begins. */
INLINE int64_t skip_barren(const uint8_t *text, int64_t at, int64_t end, const Scan *scan) {
    int64_t stop = end - 1 - at < MAX_SKIPPED ? end - 1 : at + MAX_SKIPPED;
    for (; at < stop; at++) {
        uint32_t a = text[at], b = text[at + 1];
        if ((a | b) >= 128 || !(scan->barren[a][b >> 6] >> (b & 63) & 1)) break;
    }
    return at;
}

/* The end of the match that begins at `at`, or -1; `*read` is set to where the search ended. */
static int64_t match_at(const uint8_t *text, int64_t at, int64_t end, const Scan *scan, int64_t *read) {
    int64_t row = scan->start, last = -1;
    while (at < end) {
        uint32_t class;
        int width = classify(text + at, scan, &class);
        int32_t step = scan->steps[row + class];
        if (step & (MATCH | COMMIT)) last = at;
        if (step & (COMMIT | STOP)) {
            *read = at;
            return last;
        }
        row = step >> 4;
        at += width;
    }
    *read = at;
    return scan->steps[row + scan->edge] & MATCH ? at : last;
}

/* Write the ends of the pieces of text[begin:end] to `ends`, at most CHUNK or a few more; returns their number.

   If `final`, the text ends at `end` for the pattern too; else pieces that the following text may change are left out.
   A gap between matches is a piece too. On LOOKAHEAD_EXCEEDED and INTERRUPTED `ends` is invalid. */
static int64_t scan_pieces(const uint8_t *text, int64_t begin, int64_t end, int final, const Scan *scan,
                           int64_t *ends) {
    const int32_t *steps = scan->steps;
    int64_t count = 0, at = begin, row = scan->start, last = begin, budget = LOOKAHEAD_BUDGET * (end - begin) + 10000;
    int64_t stop = begin; /* where signals are checked next */
    for (;;) {
        if (at >= stop) {
            if (at > begin && interrupted && interrupted()) return INTERRUPTED;
            stop = end - at > POLL_BYTES ? at + POLL_BYTES : end;
        }
        while (at < stop && count < CHUNK) {
            uint32_t class;
            int width = classify(text + at, scan, &class);
            int32_t step = steps[row + class];
            if (step & (MATCH | COMMIT)) last = at;
            ends[count] = at;
            count += step >> 1 & 1;
            if (step & STOP) break;
            row = step >> 4;
            at += width;
            if (step & RUN && text[at] < 128) {
                int64_t run = letter_run(text + at, scan->fold);
                if (run) last = at + run - 1;
                at += run;
                while (run == 16 && at < end) {
                    run = letter_run(text + at, scan->fold);
                    at += run;
                    last = at - 1;
                }
                if (at > end) at = end;
                if (last > end - 1) last = end - 1;
            }
        }
        if (count >= CHUNK) return count;
        if (at >= stop && at < end) continue;
        int64_t settled = count ? ends[count - 1] : begin;
        if (at == end) {
            if (settled == end || !final) return count;
            if (steps[row + scan->edge] & MATCH) {
                ends[count] = end;
                return count + 1;
            }
        }
        budget -= at - (last > settled ? last : settled);
        if (last <= settled) { /* no match begins where the last piece ended: a gap, up to the next match */
            int64_t read = -1;
            at = settled;
            last = -1;
            for (int64_t turns = 1; at < end && last <= at; turns++) {
                uint32_t class;
                if (stopped_by_user(turns)) return INTERRUPTED;
                at += classify(text + at, scan, &class);
                at = skip_barren(text, at, end, scan);
                last = -1;
                if (at < end && budget >= 0) {
                    last = match_at(text, at, end, scan, &read);
                    budget -= read - (last > at ? last : at);
                    if (!final && read == end) return count; /* the following text may make it a match */
                }
            }
            if (!final && at == end) return count;
            ends[count++] = at;
            if (last <= at) return budget >= 0 ? count : LOOKAHEAD_EXCEEDED;
        }
        if (budget < 0) return LOOKAHEAD_EXCEEDED;
        ends[count++] = last;
        at = last;
        row = scan->start;
    }
}

#endif
