/* Classify: which of 64 bytes are letters, digits, spaces and so on, as one mask of 64 bits for each class.

   Bit i of a mask says that byte i is of the class; from here on 64 bytes are decided by arithmetic on a few integers
   instead of 64 steps. This version runs anywhere and defines what the others do: classify_sse2.h, classify_avx2.h and
   classify_neon.h. Cost: 64 bytes in some 100 ns; SSE2 25, AVX2 8. Chapter: Native code. Source: Langdale and Lemire
   2019 (simdjson). */
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

/* The masks of the 64 bytes at `text`. */
INLINE Masks classify_portable(const uint8_t *text) {
    Masks m = {0};
    for (int i = 0; i < 64; i++) {
        uint8_t byte = text[i];
        m.letter |= (uint64_t)((uint8_t)((byte | 32) - 'a') < 26) << i;
        m.small |= (uint64_t)(byte >> 5 & 1) << i;
        m.digit |= (uint64_t)((uint8_t)(byte - '0') < 10) << i;
        m.space |= (uint64_t)(byte == ' ') << i;
        m.tab |= (uint64_t)(byte == '\t' || byte == '\v' || byte == '\f') << i;
        m.line |= (uint64_t)(byte == '\n' || byte == '\r') << i;
        m.quote |= (uint64_t)(byte == '\'') << i;
        m.slash |= (uint64_t)(byte == '/') << i;
        m.beyond |= (uint64_t)(byte >> 7) << i;
    }
    return m;
}

#endif
