/* Beyond ASCII: each character of a block becomes one bit, whatever number of bytes it has, and the rules apply.

   The automaton's own table says of which class a character is; to the rules, a class is what its ASCII characters are.
   Some classes they don't know: marks in a pattern that treats them like letters, letters without case in one that looks
   at case, and letters that a contraction may have. There the block ends. Cost: 3 ns a character, and 9 masks to gather
   in each block. */
#ifndef BPELAB_BEYOND_ASCII_H
#define BPELAB_BEYOND_ASCII_H

#include "bit_gather.h"
#include "scan.h"

enum { PUNCTUATION, BLANK, TAB, LINE, DIGIT, CAPITAL, SMALL, UNKNOWN, KINDS }; /* what a class is to the rules */

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
    uint64_t of_kind[KINDS]; /* the first bytes of characters */
    uint64_t more;           /* their other bytes */
    int count;               /* where the block ends: before a character that is unknown, or not whole */
} Characters;

/* Classify the characters beyond ASCII among `count` bytes; `beyond` has their bytes. */
INLINE Characters classify_beyond_ascii(uint64_t beyond, int count, const uint8_t *text, const Scan *scan) {
    Characters c = {{0}, 0, count};
    for (beyond &= low_bits(count); beyond;) {
        uint32_t class;
        int at = lowest_bit(beyond), size = classify(text + at, scan, &class), kind = scan->kind[class];
        if (at + size > count || kind == UNKNOWN) {
            c.count = at;
            break;
        }
        c.of_kind[kind] |= (uint64_t)1 << at;
        c.more |= (low_bits(size) ^ 1) << at;
        beyond &= ~(low_bits(size) << at);
    }
    return c;
}

#endif
