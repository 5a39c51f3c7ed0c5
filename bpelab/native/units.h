/* Units: the tokens that a piece begins with, where they are not simply those of its 256 bytes.

   A table in two stages, as for classes of characters, has the token of a character or byte. There are four of them in
   one, since a unit may be written with a prefix after the first one of a piece, and with a suffix at its end. What the
   vocabulary lacks is spelled in bytes, or unknown, or dropped, in the order of `units.py`. Cost: two lookups a
   character. Chapters: File formats; Compiled. */
#ifndef BPELAB_UNITS_H
#define BPELAB_UNITS_H

#include "vocabulary.h"

/* (code point, bytes) of the character at `text`; of bytes that are no UTF-8 some code below 2^21. */
INLINE int character(const uint8_t *text, uint32_t *code) {
    uint32_t byte = *text;
    if (byte < 128) {
        *code = byte;
        return 1;
    }
    if (byte < 0xE0) {
        *code = (byte & 31) << 6 | (text[1] & 63u);
        return 2;
    }
    if (byte < 0xF0) {
        *code = (byte & 15) << 12 | (text[1] & 63u) << 6 | (text[2] & 63u);
        return 3;
    }
    *code = (byte & 7) << 18 | (text[1] & 63u) << 12 | (text[2] & 63u) << 6 | (text[3] & 63u);
    return 4;
}

/* The token of a unit, or NONE. `form`: 1 where it has the prefix, plus 2 where it has the suffix. */
INLINE uint32_t unit_token(const Vocabulary *v, uint32_t code, int form) {
    return v->unit_tokens[(uint32_t)v->unit_rows[(uint32_t)form * UNIT_BLOCKS + (code >> 8)] << 8 | (code & 255)];
}

/* The tokens of a unit's bytes; 0 if one of them has none. */
INLINE int spell(const Vocabulary *v, const uint8_t *unit, int size, uint32_t out[4]) {
    for (int i = 0; i < size; i++)
        if ((out[i] = v->byte_tokens[unit[i]]) == NONE) return 0;
    return 1;
}

/* The tokens of a piece before any merge into `out`, no more than it has bytes; how many. `complete`: none is missing. */
static int64_t initial_tokens(const Vocabulary *v, const uint8_t *text, int64_t size, uint32_t *out, int *complete) {
    int64_t count = 0;
    int unknown = 0; /* whether an unknown token is still to be written: what is spelled comes before it */
    *complete = 1;
    for (int64_t at = 0, stop; at < size; at = stop) {
        uint32_t code = text[at], token, spelled[4];
        stop = at + (v->characters ? character(text + at, &code) : 1);
        if (stop > size) stop = size; /* no UTF-8 */
        token = unit_token(v, code, (at > 0) + (stop == size ? 2 : 0));
        if (token != NONE) {
            if (unknown) out[count++] = v->unknown;
            unknown = 0;
            out[count++] = token;
            continue;
        }
        *complete = 0;
        if (spell(v, text + at, (int)(stop - at), spelled)) {
            memcpy(out + count, spelled, (size_t)(stop - at) * sizeof *out);
            count += stop - at;
            continue;
        }
        if (v->unknown == NONE) continue;
        if (unknown && !v->fuse) out[count++] = v->unknown;
        unknown = 1;
    }
    if (unknown) out[count++] = v->unknown;
    return count;
}

#endif
