/* Classify: find which of 64 bytes are letters, digits, spaces and so on, as one 64-bit mask per class.

   Bit i of a mask says that byte i is in the class. Everything after that is arithmetic on a few integers instead of
   64 steps. This version runs anywhere, eight bytes at a time; classify_sse2.h, classify_avx2.h and classify_neon.h are
   faster. Cost: 70 operations for eight bytes. Chapter: Native code. Source: Langdale and Lemire 2019 (simdjson). */
#ifndef BPELAB_CLASSIFY_H
#define BPELAB_CLASSIFY_H

#include "instruction_sets.h"

typedef struct {
    uint64_t letter; /* of ASCII, as all classes here but `beyond` */
    uint64_t small;  /* a letter, and a small one; bits of other bytes mean nothing */
    uint64_t digit, space;
    uint64_t tab;  /* white space that is neither a space nor a line break */
    uint64_t line; /* \n and \r */
    uint64_t quote, slash;
    uint64_t beyond; /* a byte of a character beyond ASCII */
} Masks;

#define EACH(byte) (0x0101010101010101u * (uint64_t)(byte)) /* eight copies */

/* The highest bit of each of 8 bytes. The product has them side by side in its highest byte. */
INLINE uint64_t high_bits_of_8(uint64_t bytes) { return (bytes & EACH(0x80)) * 0x0002040810204081u >> 56; }

/* Which of 8 bytes are `first` to `last`, both of ASCII. What is added to the low 7 bits of a byte never carries into
   the next. */
INLINE uint64_t in_range_of_8(uint64_t bytes, int first, int last) {
    uint64_t low = bytes & EACH(0x7F);
    return high_bits_of_8((low + EACH(0x80 - first)) & ~(low + EACH(0x7F - last)) & ~bytes);
}

/* The masks of the 64 bytes at `text`. */
INLINE Masks classify_portable(const uint8_t *text) {
    Masks m = {0};
    UNROLL
    for (int i = 0; i < 64; i += 8) {
        uint64_t bytes = load64(text + i);
        uint64_t line = in_range_of_8(bytes, '\n', '\n') | in_range_of_8(bytes, '\r', '\r');
        m.letter |= in_range_of_8(bytes | EACH(32), 'a', 'z') << i;
        m.small |= high_bits_of_8(bytes << 2) << i;
        m.digit |= in_range_of_8(bytes, '0', '9') << i;
        m.space |= in_range_of_8(bytes, ' ', ' ') << i;
        m.tab |= (in_range_of_8(bytes, '\t', '\r') & ~line) << i;
        m.line |= line << i;
        m.quote |= in_range_of_8(bytes, '\'', '\'') << i;
        m.slash |= in_range_of_8(bytes, '/', '/') << i;
        m.beyond |= high_bits_of_8(bytes) << i;
    }
    return m;
}

#endif
