/* Split rules: where pieces start among 64 characters, by arithmetic on masks of character classes.

   The published patterns differ only in a few choices, the fields of SplitRules. `regex/pattern_families.py` finds
   those of a pattern; `regex/bit_rules.py` has the same rules in Python. A block starts where a piece starts, and these
   patterns look at nothing before it, so the starts in it depend only on its characters. "After" is a shift by one, a
   run is an addition that carries through it. Only starts that no following character can change are returned. Cost: 40
   to 60 operations for 64 characters. Chapter: Native code. */
#ifndef BPELAB_SPLIT_RULES_H
#define BPELAB_SPLIT_RULES_H

#include "classify.h"

enum { NO_CONTRACTIONS, SMALL_BEFORE_WORDS, BEFORE_WORDS, AFTER_WORDS }; /* where `'s`, `'ll` and so on are */
enum { NOTHING, LINE_BREAKS, LINE_BREAKS_AND_SLASHES };

/* The fields of `Family` in Python, in its order. */
typedef struct {
    int any_prefix;        /* before letters: any character but letters, digits and line breaks; else a space only */
    int digits;            /* in a piece: 1, 3, or 0 for any number */
    int lines;             /* whether white space up to its last line break is a piece */
    int after_punctuation; /* what belongs to the punctuation before it */
    int contractions;
    int cased; /* whether a capital after a small letter starts a piece */
} SplitRules;

/* The rules of most models. They are compiled one by one, so that the compiler makes their choices; the rules of other
   patterns run the same code and make them for each block. */
enum { NO_RULES, OTHER_RULES, GPT2, CL100K, QWEN2, O200K, FAMILIES };
static const SplitRules FAMILY[FAMILIES] = {
    [GPT2] = {0, 0, 0, NOTHING, SMALL_BEFORE_WORDS, 0},
    [CL100K] = {1, 3, 1, LINE_BREAKS, BEFORE_WORDS, 0},
    [QWEN2] = {1, 1, 1, LINE_BREAKS, BEFORE_WORDS, 0},
    [O200K] = {1, 3, 1, LINE_BREAKS_AND_SLASHES, AFTER_WORDS, 1},
};

/* The bits of `runs` from `first` on to the end of their run, `first` itself in any case. */
INLINE uint64_t through_runs(uint64_t runs, uint64_t first) { return (runs & ~(runs + first)) | first; }

/* The first digit of each piece. */
INLINE uint64_t digit_starts(const SplitRules rules, uint64_t digit, uint64_t space) {
    if (rules.digits == 1) return digit;
    uint64_t first = digit & ~((rules.any_prefix ? digit : digit | space) << 1), starts = first;
    if (rules.digits == 0) return starts;
    uint64_t after_three = digit & digit << 1;
    after_three &= after_three << 2;
    if (after_three)
        while ((first = first << 3 & after_three)) starts |= first;
    return starts;
}

/* Where pieces of white space start. `absorbed`: what belongs to punctuation before it. */
INLINE uint64_t white_starts(const SplitRules rules, uint64_t line, uint64_t blank, uint64_t absorbed) {
    uint64_t white = line | blank;
    if (!rules.lines) return white & ~(white << 1 & white >> 1); /* the first, and the last before anything else */
    uint64_t starts = (white & ~(white << 1) & ~absorbed) | (blank & (~(white >> 1) | absorbed << 1));
    /* What follows the last line break of a run is a piece or two. `others`: line breaks that end an indentation. */
    uint64_t indents = blank & (line & ~absorbed) << 1, others = ((blank + indents) & ~blank) & line;
    for (; others; others &= others - 1) {
        uint64_t below = (others & (0 - others)) - 1;
        indents &= ~((uint64_t)1 << highest_bit(indents & below));
    }
    return starts | indents;
}

/* The length of the contraction at an apostrophe, or 0. `fold`: 32 if its letters may be capitals, else 0. */
INLINE int contraction_size(const uint8_t *at, int fold) {
    int one = at[1] | fold, two = at[2] | fold;
    if (one == 's' || one == 't' || one == 'd' || one == 'm') return 2;
    return (one == 'l' && two == 'l') || ((one == 'v' || one == 'r') && two == 'e') ? 3 : 0;
}

/* The position of the set bit that has `number` others below it. */
INLINE int nth_bit(uint64_t bits, int number) {
    while (number--) bits &= bits - 1;
    return lowest_bit(bits);
}

/* The certain starts among the first `count` characters of a block; the lowest bit, where it begins, is always set.

   `text` has the bytes, and `first_bytes` where characters begin in them, or 0 if all are ASCII. `*complete`: whether
   the last one is a piece of its own if the text ends after these characters. */
INLINE uint64_t piece_starts(const SplitRules rules, const Masks m, int count, const uint8_t *text,
                             uint64_t first_bytes, int *complete) {
    const uint64_t blank = m.space | m.tab, white = blank | m.line;
    const uint64_t mark = ~(m.letter | m.digit | white | m.beyond); /* punctuation and all else */
    const int given = count;
#define AT(character) (text + (first_bytes ? nth_bit(first_bytes, character) : (character)))

    uint64_t attached = 0; /* apostrophes of contractions that belong to the word before */
    if (rules.contractions == AFTER_WORDS) {
        attached = m.quote & m.letter << 1 & low_bits(count);
        uint64_t late = attached & ~(low_bits(count) >> 2); /* what follows decides whether it is a contraction */
        if (late) count = lowest_bit(late);
        attached &= m.letter >> 1 & low_bits(count);
    }
    uint64_t absorbed = 0;
    if (rules.after_punctuation) {
        uint64_t slash = rules.after_punctuation == LINE_BREAKS_AND_SLASHES ? m.slash : 0;
        absorbed = through_runs(m.line | slash, m.line & mark << 1);
    }
    const uint64_t rest = mark & ~absorbed, punctuation = rest & ~((rest | m.space) << 1);
    uint64_t starts = 1 | punctuation | digit_starts(rules, m.digit, m.space) |
                      white_starts(rules, m.line, blank, absorbed);
    starts |= m.letter & ~((m.letter | (rules.any_prefix ? blank | punctuation : m.space)) << 1);
    if (rules.cased) starts |= (m.letter & ~m.small) & (m.letter & m.small) << 1;

    if (rules.contractions == AFTER_WORDS) {
        int end = -1; /* of the last contraction: a second one is a word of its own */
        for (; attached; attached &= attached - 1) {
            int at = lowest_bit(attached), size;
            if (at == end || !(size = contraction_size(AT(at), 32))) continue;
            end = at + size;
            starts &= ~(low_bits(size) << at);
            if (end < 64) starts |= (uint64_t)1 << end;
        }
    } else if (rules.contractions) {
        const int fold = rules.contractions == SMALL_BEFORE_WORDS ? 0 : 32;
        for (uint64_t quote = m.quote & punctuation & m.letter >> 1 & low_bits(count); quote; quote &= quote - 1) {
            int at = lowest_bit(quote), size = contraction_size(AT(at), fold);
            if (!rules.any_prefix && at + 3 > count) { /* whether its letters start a piece is not known yet */
                count = at + 1;
                break;
            }
            if (!size) continue;
            starts &= ~((uint64_t)2 << at);
            if (at + size < 64) starts |= (uint64_t)1 << (at + size);
        }
    }
#undef AT

    uint64_t solid = ~white & low_bits(count); /* white space at the end may go on: only its first start is certain */
    int last = solid ? highest_bit(solid) + 1 : 0;
    *complete = solid && last == given;
    return solid ? starts & low_bits(count) & low_bits(last + 1) : 1;
}

#endif
