/* Building: from tokens and merges to the tables of vocabulary.h.

   For ranks without merges, as in tiktoken's files, every split of a token into two tokens is a merge. Then the one
   pair that makes each token is recovered, as in `merge_recovery.recover_merges`; if all tokens have one, the table of
   merges holds only these. Cost: 0.1 s for 100,000 tokens. Chapter: Compiled. */
#ifndef BPELAB_BUILDING_H
#define BPELAB_BUILDING_H

#include "cuts.h"
#include "neighbours.h"

#define MAX_SPLIT_BYTES ((int64_t)1 << 31) /* bytes hashed to enumerate all splits; o200k needs 2^25 */

typedef struct {
    int32_t left, right, merge;
} Pair;

static void vocabulary_free(Vocabulary *v) {
    void *tables[] = {v->ids, v->content, v->offsets, v->byte_merges, v->merge_table, v->result, v->short_tokens,
                      v->long_tokens, v->splits, v->trie, v->longest_prefix, v->context_filter, v->unit_rows,
                      v->unit_tokens, v->adjacency};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) free(tables[i]);
    memset(v, 0, sizeof *v);
}

/* Build the hash tables of the tokens' bytes. 0 if memory runs out. */
static int index_tokens(Vocabulary *v) {
    uint64_t shorts = 0;
    for (int64_t t = 0; t < v->token_count; t++) shorts += v->offsets[t + 1] - v->offsets[t] <= MAX_SHORT;
    v->short_mask = next_power_of_two(2 * shorts) - 1;
    v->long_mask = next_power_of_two(2 * ((uint64_t)v->token_count - shorts)) - 1;
    v->short_tokens = calloc(v->short_mask + 1, sizeof *v->short_tokens);
    v->long_tokens = malloc((v->long_mask + 1) * sizeof *v->long_tokens);
    if (!v->short_tokens || !v->long_tokens) return 0;
    memset(v->long_tokens, 0xFF, (v->long_mask + 1) * sizeof *v->long_tokens);
    for (int64_t t = 0; t < v->token_count; t++) {
        const uint8_t *bytes = v->content + v->offsets[t];
        int64_t count = v->offsets[t + 1] - v->offsets[t];
        if (count <= MAX_SHORT) {
            uint64_t key[2];
            short_key(bytes, count, key);
            uint64_t at = hash_pair(key[0], key[1]) >> 32 & v->short_mask;
            while (v->short_tokens[at].key[1]) at = (at + 1) & v->short_mask;
            /* member by member, so that the padding between them stays 0 in files */
            memcpy(v->short_tokens[at].key, key, sizeof key);
            v->short_tokens[at].token = (uint32_t)t;
        } else {
            uint64_t at = hash_bytes(bytes, count) >> 32 & v->long_mask;
            while (v->long_tokens[at] != NONE) at = (at + 1) & v->long_mask;
            v->long_tokens[at] = (uint32_t)t;
        }
    }
    return 1;
}

/* All splits of the tokens from index `first` on into two tokens, in order; NULL if memory runs out, or the tokens are
   so long and so many that enumerating them would take seconds. */
static Pair *enumerate_splits(const Vocabulary *v, int64_t first, int64_t *count) {
    int64_t capacity = 4 * v->token_count + 16, found = 0, work = 0;
    Pair *splits = malloc((size_t)capacity * sizeof *splits);
    for (int64_t t = first; splits && t < v->token_count; t++) {
        const uint8_t *bytes = v->content + v->offsets[t];
        int64_t size = v->offsets[t + 1] - v->offsets[t];
        if ((work += size * size) > MAX_SPLIT_BYTES) {
            free(splits);
            return NULL;
        }
        for (int64_t cut = 1; cut < size; cut++) {
            uint32_t left = find_token(v, bytes, cut);
            uint32_t right = left == NONE ? NONE : find_token(v, bytes + cut, size - cut);
            if (right == NONE) continue;
            if (found == capacity) {
                Pair *more = NULL;
                if (capacity < (int64_t)1 << 26) more = realloc(splits, (size_t)(capacity *= 2) * sizeof *splits);
                if (!more) {
                    free(splits);
                    return NULL;
                }
                splits = more;
            }
            splits[found++] = (Pair){(int32_t)left, (int32_t)right, (int32_t)t};
        }
    }
    *count = found;
    return splits;
}

/* Allocate an empty table for `count` merges. 0 if memory runs out. */
static int new_merge_table(Vocabulary *v, int64_t count) {
    uint64_t size = next_power_of_two(2 * (uint64_t)count);
    free(v->merge_table);
    v->merge_table = malloc(size * sizeof *v->merge_table);
    if (!v->merge_table) return 0;
    memset(v->merge_table, 0xFF, size * sizeof *v->merge_table);
    v->merge_mask = size - 1;
    v->merge_shift = 64 - highest_bit(size);
    return 1;
}

/* Enter the one pair that makes each token into `splits` and the table of merges; returns whether merging needs no
   other pair. `reachable` says which tokens merging makes. `pairs` are in the order of merges, those of one merge in a
   row. */
static int recover_splits(Vocabulary *v, const Pair *pairs, int64_t count, uint8_t *reachable) {
    int exact = 1;
    for (int64_t at = 0; at < count;) {
        uint32_t token = v->result[pairs[at].merge];
        int late = 0, found = 0;
        for (; at < count && v->result[pairs[at].merge] == token; at++) {
            int32_t left = pairs[at].left, right = pairs[at].right;
            if (found) continue;
            if (!reachable[left] || !reachable[right]) {
                late = 1;
            } else if (compatible(v, left, right)) {
                found = reachable[token] = 1;
                v->splits[2 * (int64_t)token] = left;
                v->splits[2 * (int64_t)token + 1] = right;
                insert_merge(v, (uint32_t)left, (uint32_t)right, (uint32_t)pairs[at].merge);
            }
        }
        if (late && !found) exact = 0;
    }
    return exact;
}

static const Vocabulary *sorted_by; /* qsort passes no context; the interpreter's lock is held while tables are built */

static int compare_bytes(const void *one, const void *two) {
    int32_t a = *(const int32_t *)one, b = *(const int32_t *)two;
    int32_t a_size = sorted_by->offsets[a + 1] - sorted_by->offsets[a];
    int32_t b_size = sorted_by->offsets[b + 1] - sorted_by->offsets[b];
    int order = memcmp(sorted_by->content + sorted_by->offsets[a], sorted_by->content + sorted_by->offsets[b],
                       (size_t)(a_size < b_size ? a_size : b_size));
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

typedef struct {
    int32_t first, last, depth; /* tokens order[first:last] share their first `depth` bytes */
} Branch;

/* Build the trie of the tokens that merging makes, breadth first, and the longest prefix of each. 0 if memory runs
   out. */
static int build_trie(Vocabulary *v, const uint8_t *reachable) {
    int32_t *order = malloc((size_t)v->token_count * sizeof *order);
    Branch *branches = NULL;
    int64_t count = 0, nodes = 1, made = 1;
    if (!order) return 0;
    for (int64_t t = 0; t < v->token_count; t++)
        if (reachable[t]) {
            order[count++] = (int32_t)t;
            nodes += v->offsets[t + 1] - v->offsets[t];
        }
    sorted_by = v;
    qsort(order, (size_t)count, sizeof *order, compare_bytes);
    branches = malloc((size_t)nodes * sizeof *branches);
    v->longest_prefix = malloc((size_t)v->token_count * sizeof *v->longest_prefix);
    v->trie = calloc((size_t)nodes + 1, sizeof *v->trie);
    int allocated = nodes < INT32_MAX && branches && v->longest_prefix && v->trie;
    v->node_count = 0;
    if (allocated) branches[0] = (Branch){0, (int32_t)count, 0};
    for (int64_t node = 0; allocated && node < made; node++) {
        Branch here = branches[node];
        v->trie[node].first_child = (int32_t)made;
        v->trie[node].token = -1;
        if (here.first < here.last && v->offsets[order[here.first] + 1] - v->offsets[order[here.first]] == here.depth)
            v->trie[node].token = order[here.first++];
        for (int32_t i = here.first; i < here.last; i++) {
            uint8_t byte = v->content[v->offsets[order[i]] + here.depth];
            if (i == here.first || byte != v->trie[made - 1].byte) {
                v->trie[made].byte = byte;
                branches[made++] = (Branch){i, i, here.depth + 1};
            }
            branches[made - 1].last = i + 1;
        }
        v->trie[node + 1].first_child = (int32_t)made;
    }
    if (allocated) v->node_count = made;
    for (int64_t t = 0; allocated && t < v->token_count; t++) v->longest_prefix[t] = -1;
    for (int64_t i = 0; allocated && i < count; i++) {
        int32_t token = order[i], start = v->offsets[token];
        v->longest_prefix[token] = (int32_t)longest_token(v, v->content + start, v->offsets[token + 1] - start - 1);
    }
    free(branches);
    free(order);
    return allocated;
}

/* Build all tables from `content`, `offsets`, `ids`, `token_count`, `ignore_merges`, the units and, if the model lists
   merges, `result` and the `given` pairs in the order of their merges; else merges follow from the ranks. The first
   `alphabet_size` tokens are the alphabet. 0 if memory runs out. */
static int vocabulary_build(Vocabulary *v, const Pair *given, int64_t count, int one_pair_each, int64_t alphabet_size) {
    Pair *splits = NULL;
    uint8_t *reachable = calloc((size_t)v->token_count + 1, 1);
    int built = 0, all = 1;
    v->splits = malloc((size_t)v->token_count * 2 * sizeof *v->splits);
    if (!reachable || !v->splits || !index_tokens(v)) goto end;
    for (int64_t t = 0; t < v->token_count; t++) v->splits[2 * t] = v->splits[2 * t + 1] = (int32_t)t;
    memset(reachable, 1, (size_t)alphabet_size);
    if (!given) {
        if (!(splits = enumerate_splits(v, alphabet_size, &count))) goto end;
        given = splits;
        v->merge_count = v->token_count;
        if (!(v->result = malloc((size_t)v->merge_count * sizeof *v->result))) goto end;
        for (int64_t t = 0; t < v->token_count; t++) v->result[t] = (uint32_t)t;
    }
    v->result_offset = v->merge_count ? v->result[0] : 0;
    for (int64_t i = 0; i < v->merge_count; i++)
        if (v->result[i] - (uint32_t)i != v->result_offset) v->result_offset = NONE;
    if (!new_merge_table(v, v->token_count > count ? v->token_count : count)) goto end;
    if (one_pair_each && recover_splits(v, given, count, reachable)) {
        if (!build_trie(v, reachable)) goto end;
    } else {
        if (!new_merge_table(v, count)) goto end;
        for (int64_t i = 0; i < count; i++)
            insert_merge(v, (uint32_t)given[i].left, (uint32_t)given[i].right, (uint32_t)given[i].merge);
    }
    if (v->unit_entries) {
        built = v->boundary_rule == NO_BOUNDARIES || build_adjacency(v);
        goto end;
    }
    for (int64_t t = 0; t < v->token_count; t++) all = all && reachable[t];
    if (!v->ignore_merges || (v->trie && all)) {
        if (!(v->context_filter = calloc(1, (size_t)1 << (CONTEXT_BITS - 3)))) goto end;
        fill_context_filter(v, v->context_filter);
        v->has_context_filter = 1;
    }
    if (!(v->byte_merges = malloc(65536 * sizeof *v->byte_merges))) goto end;
    for (uint32_t left = 0; left < 256; left++)
        for (uint32_t right = 0; right < 256; right++)
            v->byte_merges[left << 8 | right] = find_merge(v, v->byte_tokens[left], v->byte_tokens[right]);
    built = 1;
end:
    free(splits);
    free(reachable);
    return built;
}

#endif
