/* Beyond ASCII: each character of a block becomes one bit, however many bytes it has, so the rules apply.

   The automaton's own table gives the class of a character; the rules treat it like the ASCII characters of that class.
   The rules don't know some classes: marks in a pattern that treats them like letters, letters without case in one that
   looks at case, and letters that a contraction may have. The block ends there. Cost: 2 ns a character, and up to 8
   masks to gather in each block. Chapter: Native code. */
#ifndef BPELAB_BEYOND_ASCII_H
#define BPELAB_BEYOND_ASCII_H

#include "bit_gather.h"
#include "scan.h"

enum { PUNCTUATION, BLANK, TAB, LINE, DIGIT, CAPITAL, SMALL, UNKNOWN }; /* what a class is to the rules: three bits */

/* Fill in the kinds of the automaton's classes, from the ASCII characters in them. What has the class of a letter that
   contractions have, of an apostrophe or of a slash, and of no other character, is unknown. */
static void find_kinds(Scan *scan) {
    memset(scan->kind, UNKNOWN, sizeof scan->kind);
    for (int byte = 0; byte < 128; byte++) {
        int letter = (uint8_t)((byte | 32) - 'a') < 26, digit = (uint8_t)(byte - '0') < 10;
        int line = byte == '\n' || byte == '\r', tab = byte >= '\t' && byte <= '\r' && !line;
        int kind = letter ? (byte & 32 ? SMALL : CAPITAL) : line ? LINE : tab ? TAB : digit ? DIGIT : PUNCTUATION;
        if (byte == ' ') kind = BLANK;
        if (!memchr("'/sdmtlvreSDMTLVRE", byte, 18)) scan->kind[scan->byte_class[byte]] = (uint8_t)kind;
    }
}

typedef struct {
    uint64_t of_kind[UNKNOWN]; /* the first bytes of characters */
    uint64_t more;           /* their other bytes */
    int count;               /* where the block ends: before a character that is unknown, or not whole */
} Characters;

/* Which of the 64 bytes at `text` begin a character beyond ASCII: their two highest bits are set. */
INLINE uint64_t leading_bytes(const uint8_t *text) {
    uint64_t mask = 0;
    UNROLL
    for (int i = 0; i < 64; i += 8) {
        uint64_t word = load64(text + i);
        mask |= high_bits_of_8(word & word << 1) << i;
    }
    return mask;
}

/* Classify the characters beyond ASCII among `count` bytes; `beyond` has their bytes. The three bits of a kind go to
   three masks: a branch on the kind would often be predicted wrong. */
INLINE Characters classify_beyond_ascii(uint64_t beyond, int count, const uint8_t *text, const Scan *scan) {
    Characters c = {{0}, 0, count};
    uint64_t leading = leading_bytes(text) & low_bits(count), bits[3] = {0};
    uint32_t class;
    if (leading && highest_bit(leading) + classify(text + highest_bit(leading), scan, &class) > count)
        c.count = highest_bit(leading);
    for (uint64_t rest = leading & low_bits(c.count); rest; rest &= rest - 1) {
        int at = lowest_bit(rest);
        classify(text + at, scan, &class);
        uint64_t kind = scan->kind[class];
        UNROLL
        for (int i = 0; i < 3; i++) bits[i] |= (kind >> i & 1) << at;
    }
    uint64_t unknown = bits[0] & bits[1] & bits[2];
    if (unknown) c.count = lowest_bit(unknown);
    leading &= low_bits(c.count);
    UNROLL
    for (int kind = 0; kind < UNKNOWN; kind++) {
        uint64_t of_kind = leading;
        UNROLL
        for (int i = 0; i < 3; i++) of_kind &= kind >> i & 1 ? bits[i] : ~bits[i];
        c.of_kind[kind] = of_kind;
    }
    c.more = beyond & ~leading & low_bits(c.count);
    return c;
}

#endif
