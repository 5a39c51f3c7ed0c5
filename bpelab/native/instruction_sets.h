/* Instruction sets: extra instructions that the compiler may use in single functions.

   A function for newer processors is compiled with its own `target`, so no flag such as -march is needed, and one
   library runs on every machine. Which functions are called is decided once, when the module is imported: see
   block_scanners.h. Microsoft's compiler has no such attribute and stays with SSE2. */
#ifndef BPELAB_INSTRUCTION_SETS_H
#define BPELAB_INSTRUCTION_SETS_H

#include "common.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>
#define BPELAB_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#endif

#if defined(__aarch64__) && defined(__ORDER_LITTLE_ENDIAN__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_neon.h>
#define BPELAB_NEON 1
#endif

/* Before a loop of a few rounds that becomes straight code, as Clang does by itself. */
#if defined(__GNUC__) && !defined(__clang__)
#define UNROLL _Pragma("GCC unroll 16")
#else
#define UNROLL
#endif

#if defined(__GNUC__) || defined(__clang__)
INLINE int count_bits(uint64_t bits) { return __builtin_popcountll(bits); }
#else
INLINE int count_bits(uint64_t bits) {
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    return (int)(((bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
}
#endif

/* The `count` lowest bits, 0 to 64. */
INLINE uint64_t low_bits(int count) { return count >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1; }

#endif
