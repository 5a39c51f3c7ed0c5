/* UTF-8: write the code points of a str, which Python stores in one, two or four bytes each.

   Most text is ASCII with a few other characters, so sixteen characters are tested and packed at a time, and only what
   fails the test is encoded one by one. Cost: 0.1 ns a character of ASCII, 1 ns of another; Python's own encoder takes
   0.4 and 2. Chapter: Text is bytes. */
#ifndef BPELAB_UTF8_H
#define BPELAB_UTF8_H

#include "common.h"

enum { BLOCK_CHARS = 16 }; /* characters that are tested together */

/* Pack the 16 code points at `from`, of `kind` bytes each, into bytes at `to`; 0 if one of them is not ASCII. */
INLINE int pack_ascii(const uint8_t *from, int kind, uint8_t *to) {
#ifdef BPELAB_SSE2
    const __m128i *block = (const __m128i *)from;
    __m128i zero = _mm_setzero_si128(), packed, beyond;
    if (kind == 1) {
        packed = beyond = _mm_loadu_si128(block);
        if (_mm_movemask_epi8(beyond)) return 0;
    } else if (kind == 2) {
        __m128i a = _mm_loadu_si128(block), b = _mm_loadu_si128(block + 1);
        beyond = _mm_and_si128(_mm_or_si128(a, b), _mm_set1_epi16((short)0xFF80));
        packed = _mm_packus_epi16(a, b);
        if (_mm_movemask_epi8(_mm_cmpeq_epi8(beyond, zero)) != 0xFFFF) return 0;
    } else {
        __m128i a = _mm_loadu_si128(block), b = _mm_loadu_si128(block + 1), c = _mm_loadu_si128(block + 2),
                d = _mm_loadu_si128(block + 3);
        beyond = _mm_and_si128(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d)), _mm_set1_epi32(~0x7F));
        packed = _mm_packus_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
        if (_mm_movemask_epi8(_mm_cmpeq_epi8(beyond, zero)) != 0xFFFF) return 0;
    }
    _mm_storeu_si128((__m128i *)to, packed);
    return 1;
#else
    (void)from, (void)kind, (void)to;
    return 0;
#endif
}

/* The code point at index `at`. */
INLINE uint32_t code_point(const uint8_t *from, int kind, int64_t at) {
    uint16_t two;
    uint32_t four;
    if (kind == 1) return from[at];
    if (kind == 2) return memcpy(&two, from + 2 * at, 2), two;
    return memcpy(&four, from + 4 * at, 4), four;
}

/* Write the UTF-8 of `count` code points of `kind` bytes each to `to`, which has space for `utf8_bound`; returns its
   size, or -1 if there is a surrogate, which has no UTF-8. */
INLINE int64_t write_utf8_of(const uint8_t *from, int64_t count, int kind, uint8_t *to) {
    uint8_t *begin = to;
    int64_t at = 0;
    while (at < count) {
        for (; at + BLOCK_CHARS <= count && pack_ascii(from + at * kind, kind, to); at += BLOCK_CHARS) to += BLOCK_CHARS;
        int64_t stop = count - at < BLOCK_CHARS ? count : at + BLOCK_CHARS;
        for (; at < stop; at++) {
            uint32_t code = code_point(from, kind, at);
            if (code < 0x80) {
                *to++ = (uint8_t)code;
            } else if (code < 0x800) {
                *to++ = (uint8_t)(0xC0 | code >> 6);
                *to++ = (uint8_t)(0x80 | (code & 63));
            } else if (code < 0x10000) {
                if (code >> 11 == 0x1B) return -1;
                *to++ = (uint8_t)(0xE0 | code >> 12);
                *to++ = (uint8_t)(0x80 | (code >> 6 & 63));
                *to++ = (uint8_t)(0x80 | (code & 63));
            } else {
                *to++ = (uint8_t)(0xF0 | code >> 18);
                *to++ = (uint8_t)(0x80 | (code >> 12 & 63));
                *to++ = (uint8_t)(0x80 | (code >> 6 & 63));
                *to++ = (uint8_t)(0x80 | (code & 63));
            }
        }
    }
    return to - begin;
}

/* The most bytes that `count` code points of `kind` bytes each can take. */
INLINE int64_t utf8_bound(int64_t count, int kind) { return count * (kind == 1 ? 2 : kind == 2 ? 3 : 4); }

static int64_t write_utf8(const uint8_t *from, int64_t count, int kind, uint8_t *to) {
    if (kind == 1) return write_utf8_of(from, count, 1, to);
    return kind == 2 ? write_utf8_of(from, count, 2, to) : write_utf8_of(from, count, 4, to);
}

#endif
