/* Classify with SSE2, which every x86-64 processor has: 16 bytes are compared with one byte, or one range, at a time,
   and the highest bit of each is moved into a mask. A range takes a subtraction and a minimum: of unsigned bytes b,
   b - 'a' is at most 25 only for lower-case letters. Cost: 16 comparisons for 16 bytes. Chapter: Native code. */
#ifndef BPELAB_CLASSIFY_SSE2_H
#define BPELAB_CLASSIFY_SSE2_H

#include "classify.h"

#ifdef BPELAB_SSE2

INLINE uint64_t mask_of_16(__m128i bytes) { return (uint64_t)(uint32_t)_mm_movemask_epi8(bytes); }

INLINE uint64_t equal_16(__m128i bytes, char byte) { return mask_of_16(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte))); }

/* Which bytes are `first` or one of the `more` after it. */
INLINE uint64_t in_range_16(__m128i bytes, char first, char more) {
    __m128i above = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
    return mask_of_16(_mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(more)), above));
}

INLINE Masks classify_sse2(const uint8_t *text) {
    Masks m = {0};
    UNROLL
    for (int i = 0; i < 64; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(text + i));
        uint64_t line = equal_16(bytes, '\n') | equal_16(bytes, '\r');
        m.letter |= in_range_16(_mm_or_si128(bytes, _mm_set1_epi8(32)), 'a', 25) << i;
        m.small |= mask_of_16(_mm_slli_epi16(bytes, 2)) << i;
        m.digit |= in_range_16(bytes, '0', 9) << i;
        m.space |= equal_16(bytes, ' ') << i;
        m.tab |= (in_range_16(bytes, '\t', '\r' - '\t') & ~line) << i;
        m.line |= line << i;
        m.quote |= equal_16(bytes, '\'') << i;
        m.slash |= equal_16(bytes, '/') << i;
        m.beyond |= mask_of_16(bytes) << i;
    }
    return m;
}

#endif
#endif
