/* Block scan: the ends of the pieces of a text, 64 bytes at a time. This file is included for each instruction set.

   A block starts where a piece starts, so there is no carry into it. Its bytes are classified, the rules find where
   pieces start, and the last of these starts is where the next block starts. If a block has no start but its own, the
   rules are stuck: the piece is longer than 64 bytes, white space reaches the end of the block, or a character is
   unknown. Then the automaton, which handles any text, finds one piece, or those of some hundred bytes. Cost: 0.7 ns a
   byte of ASCII with AVX2, 1 ns with SSE2, 2 ns portable; 2.2 ns of most other scripts with AVX2, else 3, like the
   automaton. Chapter: Native code.

   Needs SUFFIXED(name) and CLASSIFY. TARGET names extra instructions that the compiler may use here. GATHERING, GATHER,
   SCATTER and MOST_GATHERED default to the portable versions. */

#ifndef TARGET
#define TARGET
#endif
#ifndef GATHERING
#define GATHERING gathering_of
#define GATHER gather_portable
#define SCATTER scatter_portable
#define MOST_GATHERED 24 /* in a block with more bytes beyond ASCII the automaton is as fast */
#endif

/* As `piece_starts`, of a block with characters beyond ASCII. */
TARGET INLINE uint64_t SUFFIXED(gathered_starts)(const SplitRules rules, const Masks *given, int count,
                                                 const uint8_t *text, const Scan *scan, int *complete) {
    Characters c = classify_beyond_ascii(given->beyond, count, text, scan);
    uint64_t first_bytes = low_bits(c.count) & ~c.more;
    Gathering g = GATHERING(first_bytes);
    uint64_t letter = given->letter | c.of_kind[CAPITAL] | c.of_kind[SMALL];
    Masks m = {
        .letter = GATHER(letter, &g),
        .small = rules.cased ? GATHER((given->small & ~given->beyond) | c.of_kind[SMALL], &g) : 0,
        .digit = GATHER(given->digit | c.of_kind[DIGIT], &g),
        .space = GATHER(given->space | c.of_kind[BLANK], &g),
        .tab = GATHER(given->tab | c.of_kind[TAB], &g),
        .line = GATHER(given->line | c.of_kind[LINE], &g),
        .quote = GATHER(given->quote, &g),
        .slash = rules.after_punctuation == LINE_BREAKS_AND_SLASHES ? GATHER(given->slash, &g) : 0,
    };
    uint64_t starts = piece_starts(rules, m, count_bits(first_bytes), text, first_bytes, complete);
    *complete &= c.count == count;
    return SCATTER(starts, &g);
}

TARGET NOINLINE uint64_t SUFFIXED(starts_beyond_ascii)(const Masks *given, int count, const uint8_t *text,
                                                       const Scan *scan, int *complete) {
    switch (scan->family) {
    case GPT2: return SUFFIXED(gathered_starts)(FAMILY[GPT2], given, count, text, scan, complete);
    case CL100K: return SUFFIXED(gathered_starts)(FAMILY[CL100K], given, count, text, scan, complete);
    case QWEN2: return SUFFIXED(gathered_starts)(FAMILY[QWEN2], given, count, text, scan, complete);
    case O200K: return SUFFIXED(gathered_starts)(FAMILY[O200K], given, count, text, scan, complete);
    default: return SUFFIXED(gathered_starts)(scan->rules, given, count, text, scan, complete);
    }
}

TARGET INLINE int64_t SUFFIXED(scan_by_rules)(const SplitRules rules, const uint8_t *text, int64_t begin, int64_t end,
                                              int final, const Scan *scan, int64_t *ends) {
    int64_t at = begin, *to = ends;
    while (at < end && to - ends < BLOCK_ENDS) {
        Masks m = CLASSIFY(text + at);
        int count = end - at < 64 ? (int)(end - at) : 64, complete;
        uint64_t starts = 0;
        if (LIKELY(!m.beyond)) starts = piece_starts(rules, m, count, text + at, 0, &complete);
        else if (count_bits(m.beyond) > MOST_GATHERED) complete = 0;
        else starts = SUFFIXED(starts_beyond_ascii)(&m, count, text + at, scan, &complete);
        starts &= ~(uint64_t)1; /* where it begins */
        if (final && complete && count == end - at) {
            to = append_positions(starts, at, to);
            *to++ = end;
            return to - ends;
        }
        if (LIKELY(starts != 0)) {
            to = append_positions(starts, at, to);
            at += highest_bit(starts);
            continue;
        }
        int64_t more = scan_by_automaton(text, at, end, final, scan, count_bits(m.beyond) >= MANY_BEYOND, to);
        if (more <= 0) return more < 0 ? more : to - ends;
        to += more;
        at = to[-1];
    }
    return to - ends;
}

/* As `scan_pieces`, with some BLOCK_ENDS ends, MAX_BLOCK_ENDS at most. */
TARGET NOINLINE int64_t SUFFIXED(scan_blocks)(const uint8_t *text, int64_t begin, int64_t end, int final,
                                              const Scan *scan, int64_t *ends) {
    switch (scan->family) {
    case GPT2: return SUFFIXED(scan_by_rules)(FAMILY[GPT2], text, begin, end, final, scan, ends);
    case CL100K: return SUFFIXED(scan_by_rules)(FAMILY[CL100K], text, begin, end, final, scan, ends);
    case QWEN2: return SUFFIXED(scan_by_rules)(FAMILY[QWEN2], text, begin, end, final, scan, ends);
    case O200K: return SUFFIXED(scan_by_rules)(FAMILY[O200K], text, begin, end, final, scan, ends);
    default: return SUFFIXED(scan_by_rules)(scan->rules, text, begin, end, final, scan, ends);
    }
}

#undef SUFFIXED
#undef TARGET
#undef CLASSIFY
#undef GATHERING
#undef GATHER
#undef SCATTER
#undef MOST_GATHERED
