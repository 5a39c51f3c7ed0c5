/* Cuts: boundaries inside a piece, offsets that no token can span, so that the parts before and after merge on their
   own.

   Words of some scripts, sentences of those without spaces, and letters at random are long pieces that hardly ever
   repeat, made of short parts that repeat all the time. For every offset inside every token, the one or two characters
   before and after it are entered into a Bloom filter with one hash. An offset of a text whose context is not in the
   filter is a boundary: the text may be split there without changing an id. A false positive only misses a boundary.
   Cost: up to eight look-ups for a character that isn't ASCII, four for one that is, in a piece of more than 31 bytes.
   Chapter: Native code. */
#ifndef BPELAB_CUTS_H
#define BPELAB_CUTS_H

#include "vocabulary.h"

enum { MAX_TRIES = 200 }; /* offsets between ASCII characters that are tried in a row */
enum { BYTE_CONTEXT = 4 }; /* kind of a context; 0 to 3: of characters, 1 if two before, plus 2 if two after */

/* The start of the character that ends at `offset`: the last leading byte, at most four bytes before. */
INLINE int64_t prev_char(const uint8_t *text, int64_t offset, int64_t start) {
    int64_t at = offset - 1, limit = offset - 4 > start ? offset - 4 : start;
    while (at > limit && (text[at] & 0xC0) == 0x80) at--;
    return at;
}

/* The end of the character that begins at `offset`, according to its first byte. */
INLINE int64_t next_char(const uint8_t *text, int64_t offset) {
    uint8_t first = text[offset];
    return offset + (first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4);
}

/* The bit of a context: text[begin:offset], text[offset:end] and its kind. */
INLINE uint64_t context_hash(const uint8_t *text, int64_t begin, int64_t offset, int64_t end, uint64_t kind) {
    uint64_t before = first_bytes(text + begin, offset - begin), after = first_bytes(text + offset, end - offset);
    return (hash_pair(before, after) ^ fibonacci_hash(kind)) >> (64 - CONTEXT_BITS);
}

INLINE int in_filter(const uint8_t *set, uint64_t bit) { return set[bit >> 3] >> (bit & 7) & 1; }

/* Enter the contexts of all offsets inside all tokens. */
static void fill_context_filter(const Vocabulary *vocabulary, uint8_t *set) {
    const uint8_t *content = vocabulary->content;
    for (int64_t token = 0; token < vocabulary->token_count; token++) {
        int64_t start = vocabulary->offsets[token], end = vocabulary->offsets[token + 1];
        for (int64_t offset = start + 1; offset < end; offset++) {
            if ((content[offset] & 0xC0) == 0x80) continue;
            int64_t begin = prev_char(content, offset, start), stop = next_char(content, offset);
            uint64_t kind = 0;
            if (begin > start && (content[begin] & 0xC0) != 0x80) {
                begin = prev_char(content, begin, start);
                kind = 1;
            }
            if (stop < end) {
                stop = next_char(content, stop);
                kind += 2;
            }
            if ((content[begin] & 0xC0) == 0x80 || stop > end) {
                begin = offset - 2 > start ? offset - 2 : start;
                stop = offset + 2 < end ? offset + 2 : end;
                kind = BYTE_CONTEXT;
            }
            uint64_t bit = context_hash(content, begin, offset, stop, kind);
            set[bit >> 3] |= (uint8_t)(1 << (bit & 7));
        }
    }
}

/* Whether a token may span an offset of the piece text[start:end] at which a character begins. */
static int may_merge_across(const uint8_t *text, int64_t offset, int64_t start, int64_t end, const uint8_t *set) {
    int64_t near = prev_char(text, offset, start), after = next_char(text, offset);
    if (after > end) after = end;
    int64_t far = near > start ? prev_char(text, near, start) : near, beyond = after;
    if (after < end && (beyond = next_char(text, after)) > end) beyond = end;
    for (int two_before = 0; two_before < 2; two_before++)
        for (int two_after = 0; two_after < 2; two_after++)
            if ((!two_before || far < near) && (!two_after || beyond > after)) {
                int64_t begin = two_before ? far : near, stop = two_after ? beyond : after;
                uint64_t kind = (uint64_t)(two_before + 2 * two_after);
                if (in_filter(set, context_hash(text, begin, offset, stop, kind))) return 1;
            }
    int64_t first = offset - 2 > start ? offset - 2 : start, last = offset + 2 < end ? offset + 2 : end;
    for (int64_t begin = first; begin < offset; begin++)
        for (int64_t stop = offset + 1; stop <= last; stop++)
            if (in_filter(set, context_hash(text, begin, offset, stop, BYTE_CONTEXT))) return 1;
    return 0;
}

/* The same, for an offset with two ASCII characters on either side. */
INLINE int may_merge_across_ascii(const uint8_t *text, int64_t offset, const uint8_t *set) {
    return in_filter(set, context_hash(text, offset - 2, offset, offset + 2, 3)) ||
           in_filter(set, context_hash(text, offset - 1, offset, offset + 1, 0)) ||
           in_filter(set, context_hash(text, offset - 2, offset, offset + 1, 1)) ||
           in_filter(set, context_hash(text, offset - 1, offset, offset + 2, 2));
}

/* The first boundary in text[start:end], or `end`, or INTERRUPTED. Between ASCII characters it is looked for in long
   pieces only, such as letters at random, and no further than MAX_TRIES: a word of English has hardly a boundary. */
static int64_t next_boundary(const Vocabulary *vocabulary, const uint8_t *text, int64_t start, int64_t end) {
    const uint8_t *set = vocabulary->context_filter;
    int tries = end - start > MAX_LONG ? MAX_TRIES : 0;
    if (!set) return end;
    for (int64_t offset = start + 1; offset < end; offset++) {
        uint8_t byte = text[offset], before = text[offset - 1];
        if (stopped_by_user(offset - start)) return INTERRUPTED;
        if (byte >= 0xC0 || (byte < 0x80 && before >= 0x80)) {
            if (!may_merge_across(text, offset, start, end, set)) return offset;
        } else if (tries && byte < 0x80 && offset - start >= 2 && end - offset >= 2 &&
                   (text[offset - 2] | text[offset + 1]) < 0x80) {
            if (!may_merge_across_ascii(text, offset, set)) return offset;
            tries--;
        }
    }
    return end;
}

#endif
