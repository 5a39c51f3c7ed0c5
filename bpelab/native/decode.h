/* Decode: the bytes of many tokens, end to end, sixteen at a time.

   A token of up to 15 bytes is in its row, with its length; of a longer one the row says where its bytes are. One pass
   over the ids adds up the lengths and finds ids that don't exist, a second one copies; what it writes beyond a token's
   end the next token overwrites. Cost: 3 ns a token, and 3 more where ids come in a list. Chapter: Compiled. */
#ifndef BPELAB_DECODE_H
#define BPELAB_DECODE_H

#include "common.h"

enum { IN_ROW = 15, ELSEWHERE = 16, NOWHERE = 255 }; /* of a row's last byte: more than IN_ROW is no length */

typedef struct {
    uint8_t bytes[16]; /* the token and its length; or where it is and its length, and ELSEWHERE */
} Row;

typedef struct {
    Row *rows;
    int64_t count;    /* of rows: the highest id plus one */
    uint8_t *content; /* of long tokens, PAD bytes beyond */
} Tokens;

INLINE int64_t length_of(const Row *row) {
    uint32_t length;
    if (LIKELY(row->bytes[15] <= IN_ROW)) return row->bytes[15];
    if (row->bytes[15] == NOWHERE) return -1;
    memcpy(&length, row->bytes + 8, 4);
    return length;
}

/* The bytes of all ids, or -1 if one has no token. */
static int64_t measure(const Tokens *tokens, const int64_t *ids, int64_t count) {
    int64_t total = 0;
    for (int64_t i = 0; i < count; i++) {
        if ((uint64_t)ids[i] >= (uint64_t)tokens->count) return -1;
        int64_t length = length_of(tokens->rows + ids[i]);
        if (length < 0) return -1;
        total += length;
    }
    return total;
}

/* Copy what was measured to `out`, which has `total` bytes. */
static void copy_tokens(const Tokens *tokens, const int64_t *ids, int64_t count, uint8_t *out, int64_t total) {
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        const Row *row = tokens->rows + ids[i];
        int64_t length = length_of(row);
        if (LIKELY(length <= IN_ROW && row->bytes[15] <= IN_ROW && at + 16 <= total)) {
            memcpy(out + at, row->bytes, 16);
        } else if (row->bytes[15] <= IN_ROW) {
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
