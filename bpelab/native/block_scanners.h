/* Block scanners: block_scan.h for each instruction set, and the choice among them on this machine.

   The fastest one is chosen when the module is imported. The environment variable BPELAB_SIMD can name another, for
   tests and comparisons; all find the same pieces. Chapter: Native code. */
#ifndef BPELAB_BLOCK_SCANNERS_H
#define BPELAB_BLOCK_SCANNERS_H

#include "beyond_ascii.h"
#include "classify_avx2.h"
#include "classify_neon.h"
#include "classify_sse2.h"

enum { BLOCK_ENDS = 256, MAX_BLOCK_ENDS = BLOCK_ENDS + CHUNK + 8 }; /* ends found at once; the most of them */
enum { MANY_BEYOND = 6, AUTOMATON_BYTES = 512 }; /* from so many bytes beyond ASCII on, the automaton reads so many */

/* Append `base` plus the position of each set bit; writes up to 7 more than it appends. */
INLINE int64_t *append_positions(uint64_t bits, int64_t base, int64_t *to) {
    int count = count_bits(bits);
    for (int64_t i = 0; i < count; i += 8) {
        UNROLL
        for (int j = 0; j < 8; j++) {
            to[i + j] = base + lowest_bit(bits | (uint64_t)1 << 63);
            bits &= bits - 1;
        }
    }
    return to + count;
}

/* Write the ends of pieces by the automaton, of some hundred bytes if `several`, else of one piece. Returns their
   number; 0 if the text ends before a piece surely does. */
NOINLINE int64_t scan_by_automaton(const uint8_t *text, int64_t at, int64_t end, int final, const Scan *scan,
                                   int several, int64_t *ends) {
    if (!several) {
        int64_t read = at, last = match_at(text, at, end, scan, &read);
        if (last > at && (final || read < end)) {
            *ends = last;
            return 1;
        }
    }
    int64_t stop = at + AUTOMATON_BYTES;
    if (stop < end) {
        while (stop > at && (text[stop] & 0xC0) == 0x80) stop--;
        int64_t count = scan_pieces(text, at, stop, 0, scan, ends);
        if (count) return count;
    }
    return scan_pieces(text, at, end, final, scan, ends);
}

#define SUFFIXED(name) name##_portable
#define CLASSIFY classify_portable
#include "block_scan.h"

#ifdef BPELAB_SSE2
#define SUFFIXED(name) name##_sse2
#define CLASSIFY classify_sse2
#include "block_scan.h"
#endif

#ifdef BPELAB_NEON
#define SUFFIXED(name) name##_neon
#define CLASSIFY classify_neon
#include "block_scan.h"
#endif

#ifdef BPELAB_AVX2
#define SUFFIXED(name) name##_avx2
#define CLASSIFY classify_avx2
#define TARGET BPELAB_AVX2
#define GATHERING places_only
#define GATHER gather_bmi2
#define SCATTER scatter_bmi2
#define MOST_GATHERED 64
#include "block_scan.h"

#define SUFFIXED(name) name##_avx2_no_pext /* for processors whose pext and pdep are slow */
#define CLASSIFY classify_avx2
#define TARGET BPELAB_AVX2
#include "block_scan.h"
#endif

typedef int64_t (*BlockScanner)(const uint8_t *, int64_t, int64_t, int, const Scan *, int64_t *);

typedef struct {
    const char *name;
    BlockScanner scan;
} InstructionSet;

/* Those that this library was compiled with, the slowest first. */
static const InstructionSet INSTRUCTION_SETS[] = {
    {"portable", scan_blocks_portable},
#ifdef BPELAB_SSE2
    {"sse2", scan_blocks_sse2},
#endif
#ifdef BPELAB_NEON
    {"neon", scan_blocks_neon},
#endif
#ifdef BPELAB_AVX2
    {"avx2_no_pext", scan_blocks_avx2_no_pext},
    {"avx2", scan_blocks_avx2},
#endif
};
enum { COMPILED_SETS = sizeof INSTRUCTION_SETS / sizeof *INSTRUCTION_SETS };

/* How many of them this machine can run; `*best` is the fastest. */
static int runnable_sets(const InstructionSet **best) {
    int sets = COMPILED_SETS;
    *best = INSTRUCTION_SETS + sets - 1;
#ifdef BPELAB_AVX2
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) *best -= 2, sets -= 2;
    else if (__builtin_cpu_is("amdfam17h")) *best -= 1; /* Zen 1 and 2 */
#endif
    return sets;
}

/* The one of this name, the best if it is NULL or empty; NULL if this machine has none of this name. */
static const InstructionSet *find_instruction_set(const char *name) {
    const InstructionSet *best;
    int sets = runnable_sets(&best);
    if (!name || !*name) return best;
    for (int i = 0; i < sets; i++)
        if (!strcmp(INSTRUCTION_SETS[i].name, name)) return INSTRUCTION_SETS + i;
    return NULL;
}

/* The one that runs; chosen at import. */
static const InstructionSet *instruction_set = INSTRUCTION_SETS;

#endif
