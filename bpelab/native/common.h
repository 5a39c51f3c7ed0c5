/* Unaligned loads, hash functions and bit tricks that every stage shares.

   Nothing here knows about text or tokens. Builtins of GCC and Clang have portable versions for other compilers.
   Source: Knuth (multiplicative hashing by the golden ratio). */
#ifndef BPELAB_COMMON_H
#define BPELAB_COMMON_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define BPELAB_SSE2 1
#endif

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define PREFETCH(address) __builtin_prefetch((address), 0, 3)
INLINE int lowest_bit(uint64_t bits) { return __builtin_ctzll(bits); } /* bits != 0 */
INLINE int highest_bit(uint64_t bits) { return 63 - __builtin_clzll(bits); }
#else
#define INLINE static inline
#define NOINLINE static
#define LIKELY(x) (x)
#define PREFETCH(address) ((void)(address))
static inline int lowest_bit(uint64_t bits) {
    int bit = 0;
    while (!(bits >> bit & 1)) bit++;
    return bit;
}
static inline int highest_bit(uint64_t bits) {
    int bit = 63;
    while (!(bits >> bit & 1)) bit--;
    return bit;
}
#endif

enum { LOOKAHEAD_EXCEEDED = -1, NO_MEMORY = -2, INTERRUPTED = -3 }; /* returned in place of a count */

/* Called by long loops now and then: nonzero if they should end, after Ctrl-C for example. NULL outside Python. */
static int (*interrupted)(void);

/* Whether a loop should end; checked every 65,536 iterations, some milliseconds. */
INLINE int stopped_by_user(int64_t iteration) { return !(iteration & 0xFFFF) && interrupted && interrupted(); }

#define NONE 0xFFFFFFFFu /* no token, no merge */
#define PAD 64           /* readable bytes after a text: loads take up to 32 at once */
#define MAX_SHORT 15     /* bytes of the longest piece that is its own hash key */
#define MAX_LONG 31      /* bytes of the longest piece that is cached */

/* Load eight bytes as little-endian on every machine, so that keys are masked alike. */
INLINE uint64_t load64(const uint8_t *from) {
    uint64_t value;
    memcpy(&value, from, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* Load the first `count` bytes, 1 to 8, zero-extended. */
INLINE uint64_t first_bytes(const uint8_t *from, int64_t count) {
    return load64(from) & (~(uint64_t)0 >> (64 - 8 * count));
}

INLINE uint64_t fibonacci_hash(uint64_t key) { return key * 0x9E3779B97F4A7C15u; } /* by the golden ratio */
INLINE uint64_t hash_pair(uint64_t one, uint64_t two) { return fibonacci_hash(one ^ (two * 0xFF51AFD7ED558CCDu)); }

INLINE uint64_t hash_bytes(const uint8_t *from, int64_t count) {
    uint64_t mixed = fibonacci_hash((uint64_t)count);
    for (; count >= 8; count -= 8, from += 8) {
        mixed = (mixed ^ load64(from)) * 0xFF51AFD7ED558CCDu;
        mixed ^= mixed >> 32;
    }
    if (count > 0) {
        mixed = (mixed ^ first_bytes(from, count)) * 0xFF51AFD7ED558CCDu;
        mixed ^= mixed >> 32;
    }
    return fibonacci_hash(mixed);
}

#define M(bytes) (~(uint64_t)0 >> (64 - 8 * (bytes)))
static const uint64_t LOW_MASK[16] =
    {0, M(1), M(2), M(3), M(4), M(5), M(6), M(7), M(8), M(8), M(8), M(8), M(8), M(8), M(8), M(8)};
static const uint64_t HIGH_MASK[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, M(1), M(2), M(3), M(4), M(5), M(6), M(7)};
#undef M

/* Pack up to 15 bytes into two integers, with the length in the second, whose three highest bits stay free. Never both
   zero. */
INLINE void short_key(const uint8_t *from, int64_t count, uint64_t key[2]) {
    key[0] = load64(from) & LOW_MASK[count];
    key[1] = (load64(from + 8) & HIGH_MASK[count]) | (uint64_t)count << 56;
}

/* Ask for huge pages (2 MB) for memory that was not written to yet, if it is large enough and the system has them:
   random look-ups then need fewer entries of the processor's TLB. */
INLINE void advise_huge_pages(void *memory, size_t size) {
#if defined(MADV_HUGEPAGE)
    uintptr_t page = (uintptr_t)1 << 21, start = (uintptr_t)memory;
    uintptr_t begin = (start + page - 1) & ~(page - 1), end = (start + size) & ~(page - 1);
    if (begin < end) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)memory, (void)size;
#endif
}

/* The smallest power of two that is at least `minimum` and 16. */
INLINE uint64_t next_power_of_two(uint64_t minimum) {
    uint64_t size = 16;
    while (size < minimum) size *= 2;
    return size;
}

#endif
