/* Decode: concatenate the bytes of many tokens, sixteen at a time.

   A token of up to 15 bytes is stored in its row, with its length; the row of a longer one has the offset of its bytes.
   A first pass over the ids adds up the lengths and finds ids that don't exist, a second one copies; what it writes
   past a token's end is overwritten by the next token. Cost: 3 ns a token, and 3 more where ids come in a list.
   Chapter: Compiled. */
#ifndef BPELAB_DECODE_H
#define BPELAB_DECODE_H

#include "common.h"

/* a row's last byte: a length up to INLINE_BYTES, or one of the others */
enum { INLINE_BYTES = 15, OUT_OF_LINE = 16, NO_TOKEN = 255 };

typedef struct {
    uint8_t bytes[16]; /* the token and its length; or the offset of its bytes, their length, and OUT_OF_LINE */
} TokenRow;

typedef struct {
    TokenRow *rows;
    int64_t count;    /* of rows: the highest id plus one */
    uint8_t *content; /* the bytes of all tokens, padded with PAD bytes */
} TokenTable;

/* The length of a token in bytes, or -1 if there is no such token. */
INLINE int64_t token_length(const TokenRow *row) {
    uint32_t length;
    if (LIKELY(row->bytes[15] <= INLINE_BYTES)) return row->bytes[15];
    if (row->bytes[15] == NO_TOKEN) return -1;
    memcpy(&length, row->bytes + 8, 4);
    return length;
}

/* The number of bytes that the ids decode to, or -1 if one of them has no token. */
static int64_t decoded_size(const TokenTable *tokens, const int64_t *ids, int64_t count) {
    int64_t total = 0;
    for (int64_t i = 0; i < count; i++) {
        if ((uint64_t)ids[i] >= (uint64_t)tokens->count) return -1;
        int64_t length = token_length(tokens->rows + ids[i]);
        if (length < 0) return -1;
        total += length;
    }
    return total;
}

/* Copy the bytes of the ids to `out`, which has `total` bytes: what `decoded_size` returned. */
static void copy_tokens(const TokenTable *tokens, const int64_t *ids, int64_t count, uint8_t *out, int64_t total) {
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        const TokenRow *row = tokens->rows + ids[i];
        int64_t length = token_length(row);
        if (LIKELY(length <= INLINE_BYTES && row->bytes[15] <= INLINE_BYTES && at + 16 <= total)) {
            memcpy(out + at, row->bytes, 16);
        } else if (row->bytes[15] <= INLINE_BYTES) {
            memcpy(out + at, row->bytes, (size_t)length);
        } else {
            uint64_t start;
            memcpy(&start, row->bytes, 8);
            memcpy(out + at, tokens->content + start, (size_t)length);
        }
        at += length;
    }
}

#endif
