/* Cuts: places inside a piece where no token can stand across, so that what lies before and after merges alone.

   Words of some scripts, and sentences of those without spaces, are long pieces that never come again, made of short
   parts that come all the time. For every token and every place within it, the one or two characters before and after
   are entered into a Bloom filter of one hash; where a text has none of them, it may be cut without changing an id, and
   a false positive only misses a cut. Cost: up to eight lookups for a character that isn't ASCII, none for one that is.
   Chapter: Compiled. */
#ifndef BPELAB_CUTS_H
#define BPELAB_CUTS_H

#include "vocabulary.h"

enum { OF_BYTES = 4 }; /* kind of an entry; less than that: of characters, 1 for two before, 2 for two after */

/* Where the character that ends at `place` begins: at the last byte that begins one, four bytes before at most. */
INLINE int64_t char_before(const uint8_t *text, int64_t place, int64_t start) {
    int64_t at = place - 1, limit = place - 4 > start ? place - 4 : start;
    while (at > limit && (text[at] & 0xC0) == 0x80) at--;
    return at;
}

/* Where the character that begins at `place` ends, as its first byte says. */
INLINE int64_t char_after(const uint8_t *text, int64_t place) {
    uint8_t first = text[place];
    return place + (first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4);
}

INLINE uint64_t crossing(const uint8_t *text, int64_t begin, int64_t place, int64_t end, uint64_t kind) {
    uint64_t before = first_bytes(text + begin, place - begin), after = first_bytes(text + place, end - place);
    return (hash_pair(before, after) ^ spread(kind)) >> (64 - CROSSING_BITS);
}

INLINE int has_crossing(const uint8_t *set, uint64_t bit) { return set[bit >> 3] >> (bit & 7) & 1; }

static void enter_crossings(const Vocabulary *vocabulary, uint8_t *set) {
    const uint8_t *content = vocabulary->content;
    for (int64_t token = 0; token < vocabulary->tokens; token++) {
        int64_t start = vocabulary->starts[token], end = vocabulary->starts[token + 1];
        for (int64_t place = start + 1; place < end; place++) {
            if ((content[place] & 0xC0) == 0x80 || (content[place] < 0x80 && content[place - 1] < 0x80)) continue;
            int64_t begin = char_before(content, place, start), stop = char_after(content, place);
            uint64_t kind = 0;
            if (begin > start && (content[begin] & 0xC0) != 0x80) {
                begin = char_before(content, begin, start);
                kind = 1;
            }
            if (stop < end) {
                stop = char_after(content, stop);
                kind += 2;
            }
            if ((content[begin] & 0xC0) == 0x80 || stop > end) {
                begin = place - 2 > start ? place - 2 : start;
                stop = place + 2 < end ? place + 2 : end;
                kind = OF_BYTES;
            }
            uint64_t bit = crossing(content, begin, place, stop, kind);
            set[bit >> 3] |= (uint8_t)(1 << (bit & 7));
        }
    }
}

/* Whether a token may stand across a place of the piece text[start:end] at which a character begins. */
static int may_cross(const uint8_t *text, int64_t place, int64_t start, int64_t end, const uint8_t *set) {
    int64_t near = char_before(text, place, start), after = char_after(text, place);
    if (after > end) after = end;
    int64_t far = near > start ? char_before(text, near, start) : near, beyond = after;
    if (after < end && (beyond = char_after(text, after)) > end) beyond = end;
    for (int two_before = 0; two_before < 2; two_before++)
        for (int two_after = 0; two_after < 2; two_after++)
            if ((!two_before || far < near) && (!two_after || beyond > after)) {
                int64_t begin = two_before ? far : near, stop = two_after ? beyond : after;
                uint64_t kind = (uint64_t)(two_before + 2 * two_after);
                if (has_crossing(set, crossing(text, begin, place, stop, kind))) return 1;
            }
    int64_t first = place - 2 > start ? place - 2 : start, last = place + 2 < end ? place + 2 : end;
    for (int64_t begin = first; begin < place; begin++)
        for (int64_t stop = place + 1; stop <= last; stop++)
            if (has_crossing(set, crossing(text, begin, place, stop, OF_BYTES))) return 1;
    return 0;
}

/* The end of the first part of text[start:end] that merges alone; `end` if that is all of it; INTERRUPTED. Only places beside a
   character that is not ASCII are looked at: English has hardly one to cut at. */
static int64_t next_cut(const Vocabulary *vocabulary, const uint8_t *text, int64_t start, int64_t end) {
    if (!vocabulary->crossings) return end;
    for (int64_t place = start + 1; place < end; place++) {
        uint8_t byte = text[place];
        if (stopped_by_user(place - start)) return INTERRUPTED;
        if ((byte >= 0xC0 || (byte < 0x80 && text[place - 1] >= 0x80)) &&
            !may_cross(text, place, start, end, vocabulary->crossings))
            return place;
    }
    return end;
}

#endif
