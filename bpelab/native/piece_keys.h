/* Piece keys: the bytes of a piece, padded with zeros, with their number in the last byte, as integers to compare.

   Two pieces are equal exactly if their keys are, so a table needs no separate bytes, and no hash that could collide. A
   key has 16, 32 or 64 bytes, for a piece of up to 15, 31 or 63. Cost: 1 ns for up to 15 bytes, which are loaded and
   masked at once. Chapter: Native code. */
#ifndef BPELAB_PIECE_KEYS_H
#define BPELAB_PIECE_KEYS_H

#include "common.h"

#ifdef BPELAB_SSE2
/* From offset 16 - n on: which of 16 bytes are the first n. From offset 16 on: none. */
static const uint8_t FIRST_OF_16[32] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
#else
#define M(bytes) (~(uint64_t)0 >> (64 - 8 * (bytes)))
static const uint64_t LOW_MASK[17] =
    {0, M(1), M(2), M(3), M(4), M(5), M(6), M(7), M(8), M(8), M(8), M(8), M(8), M(8), M(8), M(8), 0};
static const uint64_t HIGH_MASK[17] = {0, 0, 0, 0, 0, 0, 0, 0, 0, M(1), M(2), M(3), M(4), M(5), M(6), M(7), 0};
#undef M
#endif

/* The key of a piece of up to 15 bytes; for any longer one a key that no piece has. 16 bytes are readable at `from`. */
INLINE void short_key(const uint8_t *from, int64_t size, uint64_t key[2]) {
    int64_t number = size <= MAX_SHORT ? size : MAX_SHORT + 1;
#ifdef BPELAB_SSE2
    int64_t own = size <= MAX_SHORT ? size : 0;
    __m128i bytes = _mm_loadu_si128((const __m128i *)from);
    __m128i mask = _mm_loadu_si128((const __m128i *)(FIRST_OF_16 + 16 - own));
    __m128i last = _mm_slli_si128(_mm_cvtsi32_si128((int)number), 15);
    _mm_storeu_si128((__m128i *)key, _mm_or_si128(_mm_and_si128(bytes, mask), last));
#else
    key[0] = load64(from) & LOW_MASK[number];
    key[1] = (load64(from + 8) & HIGH_MASK[number]) | (uint64_t)number << 56;
#endif
}

/* The key, of `words` integers, of a piece of fewer bytes than they have. */
INLINE void piece_key(const uint8_t *from, int64_t size, uint64_t *key, int words) {
    for (int i = 0; i < words; i++) {
        int64_t own = size - 8 * i;
        key[i] = own >= 8 ? load64(from + 8 * i) : own > 0 ? first_bytes(from + 8 * i, own) : 0;
    }
    key[words - 1] |= (uint64_t)size << 56;
}

/* The hash of a key. Its highest bits depend on all bits of the key, lower ones only on those that are lower still. */
INLINE uint64_t key_hash(const uint64_t *key, int words) {
    uint64_t hash = hash_pair(key[0], key[1]);
    for (int i = 2; i < words; i += 2) hash = hash_pair(hash ^ hash >> 32, hash_pair(key[i], key[i + 1]));
    return hash;
}

#endif
