/* Bit gathering: move the bits at chosen places of a mask next to each other, and back again.

   Two instructions of x86-64 do this (pext and pdep, in BMI2), but AMD's processors before Zen 3 take some hundred
   cycles for one. The portable way moves bits by 1, 2, 4 to 32 places in six steps. Which bits move in a step depends
   only on the places, so it is computed once for all masks. Cost: 24 operations a mask, instead of one.
   Chapter: Native code. Source: Warren 2012, Hacker's Delight, section 7-4. */
#ifndef BPELAB_BIT_GATHER_H
#define BPELAB_BIT_GATHER_H

#include "instruction_sets.h"

typedef struct {
    uint64_t places;
    uint64_t moves[6]; /* which bits are moved by 1 << i */
} Gathering;

INLINE Gathering gathering_of(uint64_t places) {
    Gathering g = {places, {0}};
    uint64_t unused = ~places << 1; /* bit i: place i - 1 is not wanted, so what is above moves down */
    UNROLL
    for (int i = 0; i < 6; i++) {
        uint64_t odd = unused; /* bit i: an odd number of such places is below */
        UNROLL
        for (int shift = 1; shift < 64; shift *= 2) odd ^= odd << shift;
        g.moves[i] = odd & places;
        places = (places ^ g.moves[i]) | g.moves[i] >> (1 << i);
        unused &= ~odd;
    }
    return g;
}

INLINE uint64_t gather_portable(uint64_t bits, const Gathering *g) {
    bits &= g->places;
    UNROLL
    for (int i = 0; i < 6; i++) {
        uint64_t moved = bits & g->moves[i];
        bits = (bits ^ moved) | moved >> (1 << i);
    }
    return bits;
}

INLINE uint64_t scatter_portable(uint64_t bits, const Gathering *g) {
    UNROLL
    for (int i = 5; i >= 0; i--) bits = (bits & ~g->moves[i]) | (bits << (1 << i) & g->moves[i]);
    return bits & g->places;
}

#ifdef BPELAB_AVX2
BPELAB_AVX2 INLINE Gathering places_only(uint64_t places) { return (Gathering){places, {0}}; }
BPELAB_AVX2 INLINE uint64_t gather_bmi2(uint64_t bits, const Gathering *g) { return _pext_u64(bits, g->places); }
BPELAB_AVX2 INLINE uint64_t scatter_bmi2(uint64_t bits, const Gathering *g) { return _pdep_u64(bits, g->places); }
#endif

#endif
