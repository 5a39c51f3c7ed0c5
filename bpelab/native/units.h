/* Units: the initial symbols of a piece, for models whose symbols are not simply the 256 bytes.

   A two-stage table, as for classes of characters, maps a character or byte to its token. It is four tables in one,
   since a unit after the first of a piece may be written with a prefix, and the last one with a suffix. What the
   vocabulary lacks is spelled in bytes (byte fallback), or unknown, or dropped, in the order of `initial_symbols.py`.
   Cost: two look-ups a character. Chapters: File formats; Compiled. */
#ifndef BPELAB_UNITS_H
#define BPELAB_UNITS_H

#include "vocabulary.h"

/* Decode the character at `text`: its code point to `code`; returns its length in bytes. Invalid UTF-8 becomes some
   code below 2^21. */
INLINE int decode_utf8(const uint8_t *text, uint32_t *code) {
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

/* The token of a unit, or NONE. `form`: 1 if it takes the prefix, plus 2 if it takes the suffix. */
INLINE uint32_t unit_token(const Vocabulary *v, uint32_t code, int form) {
    return v->unit_tokens[(uint32_t)v->unit_rows[(uint32_t)form * UNIT_BLOCKS + (code >> 8)] << 8 | (code & 255)];
}

/* Write the tokens of a unit's bytes to `out`; 0 if a byte has none. */
INLINE int spell_in_bytes(const Vocabulary *v, const uint8_t *unit, int size, uint32_t out[4]) {
    for (int i = 0; i < size; i++)
        if ((out[i] = v->byte_tokens[unit[i]]) == NONE) return 0;
    return 1;
}

/* Write the tokens of a piece before any merge to `out`, at most one a byte; returns their number. `complete`: whether
   the vocabulary has all of its units. */
static int64_t initial_tokens(const Vocabulary *v, const uint8_t *text, int64_t size, uint32_t *out, int *complete) {
    int64_t count = 0;
    int unk_pending = 0; /* whether the unknown token is still to be written: what is spelled comes before it */
    *complete = 1;
    for (int64_t at = 0, stop; at < size; at = stop) {
        uint32_t code = text[at], token, spelled[4];
        stop = at + (v->char_level ? decode_utf8(text + at, &code) : 1);
        if (stop > size) stop = size; /* invalid UTF-8 */
        token = unit_token(v, code, (at > 0) + (stop == size ? 2 : 0));
        if (token != NONE) {
            if (unk_pending) out[count++] = v->unk;
            unk_pending = 0;
            out[count++] = token;
            continue;
        }
        *complete = 0;
        if (spell_in_bytes(v, text + at, (int)(stop - at), spelled)) {
            memcpy(out + count, spelled, (size_t)(stop - at) * sizeof *out);
            count += stop - at;
            continue;
        }
        if (v->unk == NONE) continue;
        if (unk_pending && !v->fuse_unk) out[count++] = v->unk;
        unk_pending = 1;
    }
    if (unk_pending) out[count++] = v->unk;
    return count;
}

#endif
