/* Neighbours: cuts between characters that no token has side by side, for vocabularies of characters.

   No merge crosses such a place, so the ids of the parts are those of the whole, and the piece cache can keep the parts:
   most such models come without a pre-tokenizer. Pairs of ASCII have a table, others a Bloom filter of one hash, whose
   false positives only miss a cut. Where missing characters could tell, text is cut before `▁` alone, as
   `pretokenizers/implied.py` does it. Cost: 2 ns a character. Chapters: File formats; Compiled. */
#ifndef BPELAB_NEIGHBOURS_H
#define BPELAB_NEIGHBOURS_H

#include "units.h"

enum { NO_CUTS, AT_PAIRS, AT_SPACES, AT_KNOWN_SPACES }; /* the last: before `▁` after a character that has a token */
enum { ASCII_PAIRS = 128 * 128, PAIR_BITS = 20, NEIGHBOURS = ASCII_PAIRS + (1 << (PAIR_BITS - 3)), SPACE = 0x2581 };

INLINE uint64_t pair_bit(uint32_t left, uint32_t right) {
    return spread((uint64_t)left << 21 | right) >> (64 - PAIR_BITS);
}

INLINE int side_by_side(const uint8_t *neighbours, uint32_t left, uint32_t right) {
    if (left < 128 && right < 128) return neighbours[left << 7 | right];
    uint64_t bit = pair_bit(left, right);
    return neighbours[ASCII_PAIRS + (bit >> 3)] >> (bit & 7) & 1;
}

/* Enter the neighbours in all tokens. 0 for no memory. */
static int list_neighbours(Vocabulary *v) {
    if (!(v->neighbours = calloc(1, NEIGHBOURS))) return 0;
    for (int64_t t = 0; t < v->tokens; t++) {
        uint32_t left = 0, right;
        for (int64_t start = v->starts[t], at = start, end = v->starts[t + 1]; at < end; left = right) {
            int64_t stop = at + character(v->content + at, &right), here = at;
            for (at++; at < stop && at < end && (v->content[at] & 0xC0) == 0x80; at++) continue;
            if (at < stop) right = 0xFFFD; /* bytes that are no UTF-8 */
            if (here == start) continue;
            if (left < 128 && right < 128) {
                v->neighbours[left << 7 | right] = 1;
            } else {
                uint64_t bit = pair_bit(left, right);
                v->neighbours[ASCII_PAIRS + (bit >> 3)] |= (uint8_t)(1 << (bit & 7));
            }
        }
    }
    return 1;
}

INLINE int may_cut(const Vocabulary *v, uint32_t left, uint32_t right) {
    if (v->cuts != AT_PAIRS) {
        if (right != SPACE || left == SPACE) return 0;
        if (v->cuts == AT_KNOWN_SPACES && unit_token(v, left, 0) == NONE) return 0;
    }
    return !side_by_side(v->neighbours, left, right);
}

/* The ends of the parts of text[begin:end] into `ends`, `most` of them at most; how many. The last part is left out where
   what follows may belong to it, unless this is the end, `final`. INTERRUPTED. */
static int64_t cut_at_neighbours(const Vocabulary *v, const uint8_t *text, int64_t begin, int64_t end, int final,
                                 int64_t *ends, int64_t most) {
    int64_t count = 0, at = begin;
    uint32_t left = 0, right;
    for (; at < end && count < most; left = right) {
        int width = character(text + at, &right);
        if (at > begin && may_cut(v, left, right)) ends[count++] = at;
        if (at > begin && stopped_by_user(at - begin)) return INTERRUPTED;
        at += width;
    }
    if (final && at >= end && count < most) ends[count++] = end;
    return count;
}

#endif
