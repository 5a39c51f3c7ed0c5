/* Vocabulary: tokens and merges in flat tables that are built once and never change.

   Tokens have dense numbers in the order of their ranks, the 256 bytes first, so that of two merges the one that ranks
   before has the lower number. A pair and its merge are one entry of 64 bits in a hash table, so a lookup touches one
   line of memory. Where each token is made by one pair, a trie of the tokens and that pair serve exact backtracking.
   Cost: 0.1 s for 100,000 tokens, some 150 bytes a token. Chapter: Compiled. */
#ifndef BPELAB_VOCABULARY_H
#define BPELAB_VOCABULARY_H

#include "common.h"

enum { TOKEN_BITS = 21, MERGE_BITS = 22, CROSSING_BITS = 22 };
enum { UNIT_BLOCKS = 1 << 13 }; /* of 256 code points, as many as four bytes of any value can name */
#define EMPTY (~(uint64_t)0)

typedef struct {
    int32_t first; /* its children are the nodes from this number up to that of the next node */
    int32_t token; /* the token that ends here, or -1 */
    uint8_t byte;  /* that leads here; children are in its order */
} Node;

typedef struct {
    uint64_t key[2];
    uint32_t token;
} ShortToken;

typedef struct {
    int64_t tokens, numbers; /* with those of ids that missing units become and that are no tokens, as `<unk>` mostly */
    uint32_t *ids;
    uint8_t *content; /* the bytes of all tokens; token t's are content[starts[t]:starts[t + 1]] */
    int32_t *starts;
    uint32_t byte_tokens[256]; /* where units are others, the tokens that spell what is missing, or NONE */
    uint32_t *byte_pairs; /* (65536,) the merge of two bytes, or NONE; NULL where units are others */
    uint64_t *pairs;      /* (left << 21 | right) << 22 | merge, or EMPTY */
    uint64_t pairs_mask;
    int pairs_shift;
    uint32_t *made; /* the token that a merge makes */
    int64_t merges;
    ShortToken *shorts; /* tokens of up to 15 bytes by their key; key[1] is 0 where there is none */
    uint64_t shorts_mask;
    uint32_t *longs; /* tokens beyond by the hash of their bytes, or NONE */
    uint64_t longs_mask;
    int32_t *halves; /* (tokens, 2) the two that one is made of, itself twice if of none */
    Node *trie;         /* NULL where a token has several pairs, or its parts rank after it */
    int32_t *shorter;   /* the longest token that one begins with, or -1 */
    uint8_t *crossings; /* NULL where parts of a piece don't merge as pieces of their own: see cuts.h */
    int has_crossings;
    uint16_t *unit_rows;  /* (4, UNIT_BLOCKS) of unit_tokens; NULL where units are the 256 bytes: see units.h */
    uint32_t *unit_tokens; /* (rows, 256) the token of a unit, or NONE */
    uint8_t *neighbours;  /* NULL without cuts: see neighbours.h */
    int64_t units;        /* numbers in unit_tokens, 0 where units are the 256 bytes */
    uint32_t unknown;     /* the token of what is missing and can't be spelled, or NONE */
    int characters, fuse; /* whether units are characters; whether several unknown ones in a row are one */
    int cuts;             /* where text may be cut as the tokens alone say: see neighbours.h */
    int64_t content_size, nodes; /* bytes of all tokens; nodes of the trie, 0 without one */
    int whole;          /* whether a piece that is a token is that token */
    int same_ids;       /* whether a token's id is its number */
} Vocabulary;

INLINE uint64_t pair_home(const Vocabulary *vocabulary, uint32_t left, uint32_t right) {
    return spread((uint64_t)left << TOKEN_BITS | right) >> vocabulary->pairs_shift;
}

/* The merge of two tokens, or NONE. */
INLINE uint32_t find_pair(const Vocabulary *vocabulary, uint32_t left, uint32_t right) {
    uint64_t key = (uint64_t)left << TOKEN_BITS | right, at = spread(key) >> vocabulary->pairs_shift;
    for (;;) {
        uint64_t entry = vocabulary->pairs[at];
        if (entry >> MERGE_BITS == key) return (uint32_t)(entry & ((1u << MERGE_BITS) - 1));
        if (entry == EMPTY) return NONE;
        at = (at + 1) & vocabulary->pairs_mask;
    }
}

static void put_pair(Vocabulary *vocabulary, uint32_t left, uint32_t right, uint32_t merge) {
    uint64_t at = pair_home(vocabulary, left, right);
    while (vocabulary->pairs[at] != EMPTY) at = (at + 1) & vocabulary->pairs_mask;
    vocabulary->pairs[at] = ((uint64_t)left << TOKEN_BITS | right) << MERGE_BITS | merge;
}

/* The token that is these bytes, or NONE. `text` is readable PAD bytes beyond. */
static uint32_t find_token(const Vocabulary *vocabulary, const uint8_t *text, int64_t count) {
    if (count <= SHORT) {
        uint64_t key[2];
        short_key(text, count, key);
        uint64_t at = hash_pair(key[0], key[1]) >> 32 & vocabulary->shorts_mask;
        for (const ShortToken *slot; (slot = vocabulary->shorts + at)->key[1]; at = (at + 1) & vocabulary->shorts_mask)
            if (slot->key[0] == key[0] && slot->key[1] == key[1]) return slot->token;
        return NONE;
    }
    uint64_t at = hash_bytes(text, count) >> 32 & vocabulary->longs_mask;
    for (uint32_t token; (token = vocabulary->longs[at]) != NONE; at = (at + 1) & vocabulary->longs_mask) {
        int32_t start = vocabulary->starts[token];
        if (vocabulary->starts[token + 1] - start == count && !memcmp(vocabulary->content + start, text, (size_t)count))
            return token;
    }
    return NONE;
}

/* Whether merging the bytes of two tokens, side by side, ends with these two: see `recover.compatible` in Python. */
static int compatible(const Vocabulary *vocabulary, int64_t left, int64_t right) {
    int64_t limit = INT64_MAX;
    for (;;) {
        uint32_t merge = find_pair(vocabulary, (uint32_t)left, (uint32_t)right);
        if (merge != NONE && (int64_t)vocabulary->made[merge] < limit) return 0;
        if (left > right) {
            int64_t half = vocabulary->halves[2 * left + 1];
            if (half == left) return 1;
            limit = left;
            left = half;
        } else {
            int64_t half = vocabulary->halves[2 * right];
            if (half == right) return 1;
            limit = right + 1;
            right = half;
        }
    }
}

/* The longest token that text[0:count] begins with, or -1. */
static int64_t longest_token(const Vocabulary *vocabulary, const uint8_t *text, int64_t count) {
    const Node *trie = vocabulary->trie;
    int64_t node = 0, found = -1;
    for (int64_t at = 0; at < count; at++) {
        int64_t low = trie[node].first, high = trie[node + 1].first, last = high;
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (trie[middle].byte < text[at])
                low = middle + 1;
            else
                high = middle;
        }
        if (low == last || trie[low].byte != text[at]) break;
        node = low;
        if (trie[node].token >= 0) found = trie[node].token;
    }
    return found;
}

#endif
