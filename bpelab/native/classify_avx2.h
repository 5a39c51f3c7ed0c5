/* Classify with AVX2: 32 bytes are classified by two look-ups in byte_halves.h, and a shift moves the bit of one class
   to the top of each byte, from where one instruction collects it. Cost: 30 instructions for 32 bytes. Chapter: Native
   code. */
#ifndef BPELAB_CLASSIFY_AVX2_H
#define BPELAB_CLASSIFY_AVX2_H

#include "byte_halves.h"
#include "classify.h"

#ifdef BPELAB_AVX2

/* Bit `bit` of each of the 32 bytes. */
BPELAB_AVX2 INLINE uint64_t bit_of_32(__m256i bytes, int bit) {
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(bytes, 7 - bit));
}

BPELAB_AVX2 INLINE Masks classify_avx2(const uint8_t *text) {
    const __m256i low = _mm256_loadu_si256((const __m256i *)LOW_HALF);
    const __m256i high = _mm256_loadu_si256((const __m256i *)HIGH_HALF);
    Masks m = {0};
    UNROLL
    for (int i = 0; i < 64; i += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(text + i)); /* a shuffle gives 0 for those beyond ASCII */
        __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
        __m256i classes = _mm256_and_si256(_mm256_shuffle_epi8(low, bytes), _mm256_shuffle_epi8(high, upper));
        __m256i letters = _mm256_or_si256(_mm256_slli_epi16(classes, 7), _mm256_slli_epi16(classes, 6));
        m.letter |= bit_of_32(letters, 7) << i;
        m.small |= bit_of_32(bytes, 5) << i;
        m.digit |= bit_of_32(classes, 2) << i;
        m.space |= bit_of_32(classes, 3) << i;
        m.tab |= bit_of_32(classes, 4) << i;
        m.line |= bit_of_32(classes, 5) << i;
        m.quote |= bit_of_32(classes, 6) << i;
        m.slash |= bit_of_32(classes, 7) << i;
        m.beyond |= bit_of_32(bytes, 7) << i;
    }
    return m;
}

#endif
#endif
