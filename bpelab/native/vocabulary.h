/* Vocabulary: tokens and merges in flat, immutable tables.

   Tokens have dense indices in the order of their ranks, the 256 bytes first, so that the merge with the lower rank has
   the lower index. A pair and its merge are one entry of 64 bits in a hash table with open addressing, so a look-up
   touches one cache line. Where each token is made by one pair, a trie of the tokens and that pair serve exact
   backtracking. Cost: 0.1 s for 100,000 tokens, some 150 bytes a token. Chapter: Native code. */
#ifndef BPELAB_VOCABULARY_H
#define BPELAB_VOCABULARY_H

#include "common.h"

enum { TOKEN_BITS = 21, MERGE_BITS = 22, CONTEXT_BITS = 23 };
enum { UNIT_BLOCKS = 1 << 13 }; /* blocks of 256 code points: all that four bytes of any value can encode */
#define EMPTY (~(uint64_t)0)

typedef struct {
    int32_t first_child; /* its children are the nodes from this index up to the next node's first child */
    int32_t token;       /* the token that ends here, or -1 */
    uint8_t byte;        /* on the edge to this node; siblings are sorted by it */
} Node;

typedef struct {
    uint64_t key[2]; /* key[1] is 0 in a free slot */
    uint32_t token;
} ShortToken;

typedef struct {
    int64_t token_count, id_count; /* id_count: also ids that missing units become and that are not tokens: `<unk>` */
    uint32_t *ids;                 /* (id_count,) the id of each index */
    uint8_t *content;              /* the bytes of all tokens; token t is content[offsets[t]:offsets[t + 1]] */
    int32_t *offsets;              /* (token_count + 1,) */
    uint32_t byte_tokens[256];     /* the token of each byte; of a model with other units its byte fallback, or NONE */
    uint32_t *byte_merges;         /* (65536,) the merge of two bytes, or NONE; NULL if units are not the 256 bytes */
    uint64_t *merge_table;         /* hash table of (left << 21 | right) << 22 | merge, or EMPTY */
    uint64_t merge_mask;
    int merge_shift;
    uint32_t *result;       /* (merge_count,) the token that a merge makes */
    uint32_t result_offset; /* that token less the merge, if this is the same for all merges, or NONE */
    int64_t merge_count;
    ShortToken *short_tokens; /* hash table of tokens of up to 15 bytes */
    uint64_t short_mask;
    uint32_t *long_tokens; /* hash table of the other tokens, by a hash of their bytes, or NONE */
    uint64_t long_mask;
    int32_t *splits;         /* (token_count, 2) the pair that a token is made of; itself twice if of none */
    Node *trie;              /* NULL if a token has several pairs, or its parts rank after it */
    int32_t *longest_prefix; /* the longest token that is a proper prefix of each, or -1 */
    uint8_t *context_filter; /* Bloom filter, or NULL if parts of a piece don't merge on their own: see cuts.h */
    int has_context_filter;
    uint16_t *unit_rows;      /* (4, UNIT_BLOCKS) row of unit_tokens; NULL if units are the 256 bytes: see units.h */
    uint32_t *unit_tokens;    /* (rows, 256) the token of a unit, or NONE */
    uint8_t *adjacency;       /* pairs of characters inside tokens, or NULL: see neighbours.h */
    int64_t unit_entries;     /* entries of unit_tokens, 0 if units are the 256 bytes */
    uint32_t unk;             /* the token of what is missing and has no byte fallback, or NONE */
    int char_level, fuse_unk; /* whether units are characters; whether unknown ones in a row become one token */
    int boundary_rule;        /* where the tokens alone allow a split: see neighbours.h */
    int64_t content_size;     /* bytes of all tokens */
    int64_t node_count;       /* nodes of the trie, 0 without one */
    int ignore_merges;        /* whether a piece that is a token becomes that token */
    int ids_are_indices;      /* whether each token's id is its index */
} Vocabulary;

/* The token that a merge makes: by a sum where that does, since a merge that waits for memory takes twice as long. */
INLINE uint32_t made_by(const Vocabulary *vocabulary, uint32_t merge) {
    return vocabulary->result_offset != NONE ? merge + vocabulary->result_offset : vocabulary->result[merge];
}

INLINE uint64_t merge_slot(const Vocabulary *vocabulary, uint32_t left, uint32_t right) {
    return fibonacci_hash((uint64_t)left << TOKEN_BITS | right) >> vocabulary->merge_shift;
}

/* The merge of two tokens, or NONE. */
INLINE uint32_t find_merge(const Vocabulary *vocabulary, uint32_t left, uint32_t right) {
    uint64_t key = (uint64_t)left << TOKEN_BITS | right, slot = fibonacci_hash(key) >> vocabulary->merge_shift;
    for (;;) {
        uint64_t entry = vocabulary->merge_table[slot];
        if (entry >> MERGE_BITS == key) return (uint32_t)(entry & ((1u << MERGE_BITS) - 1));
        if (entry == EMPTY) return NONE;
        slot = (slot + 1) & vocabulary->merge_mask;
    }
}

/* Enter the merge of two tokens, for which the table has a free slot. */
static void insert_merge(Vocabulary *vocabulary, uint32_t left, uint32_t right, uint32_t merge) {
    uint64_t slot = merge_slot(vocabulary, left, right);
    while (vocabulary->merge_table[slot] != EMPTY) slot = (slot + 1) & vocabulary->merge_mask;
    vocabulary->merge_table[slot] = ((uint64_t)left << TOKEN_BITS | right) << MERGE_BITS | merge;
}

/* The token with these bytes, or NONE. `text` is readable for PAD bytes more. */
static uint32_t find_token(const Vocabulary *vocabulary, const uint8_t *text, int64_t count) {
    if (count <= MAX_SHORT) {
        uint64_t key[2];
        short_key(text, count, key);
        uint64_t at = hash_pair(key[0], key[1]) >> 32 & vocabulary->short_mask;
        for (const ShortToken *slot; (slot = vocabulary->short_tokens + at)->key[1];
             at = (at + 1) & vocabulary->short_mask)
            if (slot->key[0] == key[0] && slot->key[1] == key[1]) return slot->token;
        return NONE;
    }
    uint64_t slot = hash_bytes(text, count) >> 32 & vocabulary->long_mask;
    for (uint32_t token; (token = vocabulary->long_tokens[slot]) != NONE; slot = (slot + 1) & vocabulary->long_mask) {
        int32_t start = vocabulary->offsets[token];
        if (vocabulary->offsets[token + 1] - start == count &&
            !memcmp(vocabulary->content + start, text, (size_t)count))
            return token;
    }
    return NONE;
}

/* Whether merging the bytes of two adjacent tokens ends with these two: see `merge_recovery.compatible` in Python. */
static int compatible(const Vocabulary *vocabulary, int64_t left, int64_t right) {
    int64_t limit = INT64_MAX;
    for (;;) {
        uint32_t merge = find_merge(vocabulary, (uint32_t)left, (uint32_t)right);
        if (merge != NONE && (int64_t)made_by(vocabulary, merge) < limit) return 0;
        if (left > right) {
            int64_t part = vocabulary->splits[2 * left + 1];
            if (part == left) return 1;
            limit = left;
            left = part;
        } else {
            int64_t part = vocabulary->splits[2 * right];
            if (part == right) return 1;
            limit = right + 1;
            right = part;
        }
    }
}

/* The longest token that is a prefix of text[0:count], or -1. */
static int64_t longest_token(const Vocabulary *vocabulary, const uint8_t *text, int64_t count) {
    const Node *trie = vocabulary->trie;
    int64_t node = 0, found = -1;
    for (int64_t at = 0; at < count; at++) {
        int64_t child = trie[node].first_child, number = trie[node + 1].first_child - child;
        if (number == 256) { /* all bytes: mostly the root */
            child += text[at];
        } else {
            for (int64_t half; (half = number / 2); number -= half) /* without a branch that could be mispredicted */
                child += trie[child + half].byte <= text[at] ? half : 0;
            if (!number || trie[child].byte != text[at]) break;
        }
        node = child;
        if (trie[node].token >= 0) found = trie[node].token;
    }
    return found;
}

#endif
