/* Byte halves: classify a byte by two look-ups, one for each of its 4-bit halves.

   Each class is one bit. One row of 16 bytes gives the classes that contain some byte with this low half, another row
   does the same for high halves. A shuffle looks up 16 or more bytes at once, and the class of a byte is the bit that
   both look-ups share. Letters take two bits, since the letters of columns 4 and 6 of the ASCII table don't end where
   those of 5 and 7 do.
   Source: Langdale and Lemire 2019, section 3.1.2. */
#ifndef BPELAB_BYTE_HALVES_H
#define BPELAB_BYTE_HALVES_H

enum {
    A_TO_O = 1, /* and a to o: 0x41 to 0x4F */
    P_TO_Z = 2, /* 0x50 to 0x5A */
    IS_DIGIT = 4,
    IS_SPACE = 8,
    IS_TAB = 16,
    IS_LINE = 32,
    IS_QUOTE = 64,
    IS_SLASH = 128
};

#define HALF_LETTERS (A_TO_O | P_TO_Z)
/* clang-format off */
#define LOW_HALVES \
    P_TO_Z | IS_DIGIT | IS_SPACE, HALF_LETTERS | IS_DIGIT, HALF_LETTERS | IS_DIGIT, HALF_LETTERS | IS_DIGIT, \
    HALF_LETTERS | IS_DIGIT, HALF_LETTERS | IS_DIGIT, HALF_LETTERS | IS_DIGIT, HALF_LETTERS | IS_DIGIT | IS_QUOTE, \
    HALF_LETTERS | IS_DIGIT, HALF_LETTERS | IS_DIGIT | IS_TAB, HALF_LETTERS | IS_LINE, A_TO_O | IS_TAB, \
    A_TO_O | IS_TAB, A_TO_O | IS_LINE, A_TO_O, A_TO_O | IS_SLASH
#define HIGH_HALVES \
    IS_TAB | IS_LINE, 0, IS_SPACE | IS_QUOTE | IS_SLASH, IS_DIGIT, A_TO_O, P_TO_Z, A_TO_O, P_TO_Z, \
    0, 0, 0, 0, 0, 0, 0, 0
/* clang-format on */

static const uint8_t LOW_HALF[32] = {LOW_HALVES, LOW_HALVES};
static const uint8_t HIGH_HALF[32] = {HIGH_HALVES, HIGH_HALVES};
#undef HALF_LETTERS
#undef LOW_HALVES
#undef HIGH_HALVES

#endif
