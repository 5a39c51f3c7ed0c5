/* Neighbours: boundaries between characters that are adjacent in no token, for vocabularies of characters.

   No merge spans such an offset, so the ids of the parts are those of the whole, and the piece cache can keep the
   parts: most such models come without a pre-tokenizer. Pairs of ASCII characters are in a table, others in a Bloom
   filter with one hash, whose false positives only miss a boundary. Where missing characters could make a difference,
   text is split before `▁` alone, as in `boundaries/from_vocabulary.py`. Cost: 2 ns a character. Chapters: File
   formats; Compiled. */
#ifndef BPELAB_NEIGHBOURS_H
#define BPELAB_NEIGHBOURS_H

#include "units.h"

/* the last: before `▁`, after a character that has a token */
enum { NO_BOUNDARIES, AT_UNSEEN_PAIRS, AT_SPACES, AT_KNOWN_SPACES };
enum { ASCII_TABLE = 128 * 128, ADJACENCY_BITS = 20, SPACE = 0x2581 };
enum { ADJACENCY_BYTES = ASCII_TABLE + (1 << (ADJACENCY_BITS - 3)) };

INLINE uint64_t adjacency_bit(uint32_t left, uint32_t right) {
    return fibonacci_hash((uint64_t)left << 21 | right) >> (64 - ADJACENCY_BITS);
}

INLINE int is_adjacent(const uint8_t *neighbours, uint32_t left, uint32_t right) {
    if (left < 128 && right < 128) return neighbours[left << 7 | right];
    uint64_t bit = adjacency_bit(left, right);
    return neighbours[ASCII_TABLE + (bit >> 3)] >> (bit & 7) & 1;
}

/* Enter the adjacent characters of all tokens. 0 if memory runs out. */
static int build_adjacency(Vocabulary *v) {
    if (!(v->adjacency = calloc(1, ADJACENCY_BYTES))) return 0;
    for (int64_t t = 0; t < v->token_count; t++) {
        uint32_t left = 0, right;
        for (int64_t start = v->offsets[t], at = start, end = v->offsets[t + 1]; at < end; left = right) {
            int64_t stop = at + decode_utf8(v->content + at, &right), here = at;
            for (at++; at < stop && at < end && (v->content[at] & 0xC0) == 0x80; at++) continue;
            if (at < stop) right = 0xFFFD; /* invalid UTF-8 */
            if (here == start) continue;
            if (left < 128 && right < 128) {
                v->adjacency[left << 7 | right] = 1;
            } else {
                uint64_t bit = adjacency_bit(left, right);
                v->adjacency[ASCII_TABLE + (bit >> 3)] |= (uint8_t)(1 << (bit & 7));
            }
        }
    }
    return 1;
}

/* Whether text may be split between two characters. */
INLINE int is_boundary(const Vocabulary *v, uint32_t left, uint32_t right) {
    if (v->boundary_rule != AT_UNSEEN_PAIRS) {
        if (right != SPACE || left == SPACE) return 0;
        if (v->boundary_rule == AT_KNOWN_SPACES && unit_token(v, left, 0) == NONE) return 0;
    }
    return !is_adjacent(v->adjacency, left, right);
}

/* Write the ends of the parts of text[begin:end] to `ends`, at most `capacity` of them; returns their number, or
   INTERRUPTED. The last part is left out, since what follows may belong to it, unless the text is `final`: ends
   here. */
static int64_t split_at_boundaries(const Vocabulary *v, const uint8_t *text, int64_t begin, int64_t end, int final,
                                   int64_t *ends, int64_t capacity) {
    int64_t count = 0, at = begin;
    uint32_t left = 0, right;
    for (; at < end && count < capacity; left = right) {
        int width = decode_utf8(text + at, &right);
        if (at > begin && is_boundary(v, left, right)) ends[count++] = at;
        if (at > begin && stopped_by_user(at - begin)) return INTERRUPTED;
        at += width;
    }
    if (final && at >= end && count < capacity) ends[count++] = end;
    return count;
}

#endif
