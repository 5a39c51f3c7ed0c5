/* Classify with NEON, which every 64-bit ARM processor has: 16 bytes are classified by two look-ups in byte_halves.h.

   ARM has no instruction that collects one bit from each byte. Instead, each byte in the class keeps one bit, that of
   its place in a group of eight. Adding neighbours three times turns 64 bytes into 64 bits. Cost: 11 instructions a
   class for 64 bytes. Chapter: Native code. Source: Langdale and Lemire 2019 (simdjson, arm64/simd.h). */
#ifndef BPELAB_CLASSIFY_NEON_H
#define BPELAB_CLASSIFY_NEON_H

#include "byte_halves.h"
#include "classify.h"

#ifdef BPELAB_NEON

/* Which of the 64 bytes have a bit of `bits`. */
INLINE uint64_t any_of_64(const uint8x16_t bytes[4], uint8_t bits) {
    static const uint8_t PLACES[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t wanted = vdupq_n_u8(bits), place = vld1q_u8(PLACES), own[4];
    UNROLL
    for (int i = 0; i < 4; i++) own[i] = vandq_u8(vtstq_u8(bytes[i], wanted), place);
    uint8x16_t sum = vpaddq_u8(vpaddq_u8(own[0], own[1]), vpaddq_u8(own[2], own[3]));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
}

INLINE Masks classify_neon(const uint8_t *text) {
    const uint8x16_t low = vld1q_u8(LOW_HALF), high = vld1q_u8(HIGH_HALF);
    uint8x16_t bytes[4], classes[4];
    UNROLL
    for (int i = 0; i < 4; i++) {
        bytes[i] = vld1q_u8(text + 16 * i);
        classes[i] = vandq_u8(vqtbl1q_u8(low, vandq_u8(bytes[i], vdupq_n_u8(15))),
                              vqtbl1q_u8(high, vshrq_n_u8(bytes[i], 4))); /* the rows of bytes beyond ASCII are 0 */
    }
    Masks m = {0};
    m.letter = any_of_64(classes, A_TO_O | P_TO_Z);
    m.small = any_of_64(bytes, 32);
    m.digit = any_of_64(classes, IS_DIGIT);
    m.space = any_of_64(classes, IS_SPACE);
    m.tab = any_of_64(classes, IS_TAB);
    m.line = any_of_64(classes, IS_LINE);
    m.quote = any_of_64(classes, IS_QUOTE);
    m.slash = any_of_64(classes, IS_SLASH);
    m.beyond = any_of_64(bytes, 128);
    return m;
}

#endif
#endif
