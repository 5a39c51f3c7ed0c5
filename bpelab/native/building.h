/* Building: from tokens and merges to the tables of vocabulary.h.

   For ranks without merges, as tiktoken has them, every way in which a token is two tokens is a merge. Then one pair is
   looked for that makes each token, as `recover.recover_merges` does; if all have one, pairs hold these alone. Cost:
   0.1 s for 100,000 tokens. Chapter: Compiled. */
#ifndef BPELAB_BUILDING_H
#define BPELAB_BUILDING_H

#include "cuts.h"
#include "neighbours.h"

#define MOST_WORK ((int64_t)1 << 31) /* bytes that are hashed to list all ways; o200k needs 2^25 */

typedef struct {
    int32_t left, right, merge;
} Pair;

static void vocabulary_free(Vocabulary *v) {
    void *tables[] = {v->ids,   v->content, v->starts, v->byte_pairs, v->pairs,   v->made,
                      v->shorts, v->longs,  v->halves, v->trie,       v->shorter, v->crossings,
                      v->unit_rows, v->unit_tokens, v->neighbours};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) free(tables[i]);
    memset(v, 0, sizeof *v);
}

/* Hash tables of the tokens' bytes. 0 for no memory. */
static int index_tokens(Vocabulary *v) {
    uint64_t shorts = 0;
    for (int64_t t = 0; t < v->tokens; t++) shorts += v->starts[t + 1] - v->starts[t] <= SHORT;
    v->shorts_mask = power_of_two(2 * shorts) - 1;
    v->longs_mask = power_of_two(2 * ((uint64_t)v->tokens - shorts)) - 1;
    v->shorts = calloc(v->shorts_mask + 1, sizeof *v->shorts);
    v->longs = malloc((v->longs_mask + 1) * sizeof *v->longs);
    if (!v->shorts || !v->longs) return 0;
    memset(v->longs, 0xFF, (v->longs_mask + 1) * sizeof *v->longs);
    for (int64_t t = 0; t < v->tokens; t++) {
        const uint8_t *bytes = v->content + v->starts[t];
        int64_t count = v->starts[t + 1] - v->starts[t];
        if (count <= SHORT) {
            uint64_t key[2];
            short_key(bytes, count, key);
            uint64_t at = hash_pair(key[0], key[1]) >> 32 & v->shorts_mask;
            while (v->shorts[at].key[1]) at = (at + 1) & v->shorts_mask;
            memcpy(v->shorts[at].key, key, sizeof key); /* member by member: what lies between them stays 0 in files */
            v->shorts[at].token = (uint32_t)t;
        } else {
            uint64_t at = hash_bytes(bytes, count) >> 32 & v->longs_mask;
            while (v->longs[at] != NONE) at = (at + 1) & v->longs_mask;
            v->longs[at] = (uint32_t)t;
        }
    }
    return 1;
}

/* All ways in which the tokens from number `first` on are two tokens, in order; NULL for no memory, and for tokens so
   long and so many that listing them would take seconds. */
static Pair *list_ways(const Vocabulary *v, int64_t first, int64_t *count) {
    int64_t room = 4 * v->tokens + 16, found = 0, work = 0;
    Pair *ways = malloc((size_t)room * sizeof *ways);
    for (int64_t t = first; ways && t < v->tokens; t++) {
        const uint8_t *bytes = v->content + v->starts[t];
        int64_t size = v->starts[t + 1] - v->starts[t];
        if ((work += size * size) > MOST_WORK) {
            free(ways);
            return NULL;
        }
        for (int64_t cut = 1; cut < size; cut++) {
            uint32_t left = find_token(v, bytes, cut), right = left == NONE ? NONE : find_token(v, bytes + cut, size - cut);
            if (right == NONE) continue;
            if (found == room) {
                Pair *more = room < (int64_t)1 << 26 ? realloc(ways, (size_t)(room *= 2) * sizeof *ways) : NULL;
                if (!more) {
                    free(ways);
                    return NULL;
                }
                ways = more;
            }
            ways[found++] = (Pair){(int32_t)left, (int32_t)right, (int32_t)t};
        }
    }
    *count = found;
    return ways;
}

static int make_pairs(Vocabulary *v, int64_t count) {
    uint64_t size = power_of_two(2 * (uint64_t)count);
    free(v->pairs);
    v->pairs = malloc(size * sizeof *v->pairs);
    if (!v->pairs) return 0;
    memset(v->pairs, 0xFF, size * sizeof *v->pairs);
    v->pairs_mask = size - 1;
    v->pairs_shift = 64 - highest_bit(size);
    return 1;
}

/* Fill `halves` and `pairs` with the one pair of each token; whether that is all that merging needs. `known` says which
   tokens merging makes. `pairs` of one merge stand together, in the order of merges. */
static int find_halves(Vocabulary *v, const Pair *pairs, int64_t count, uint8_t *known) {
    int exact = 1;
    for (int64_t at = 0; at < count;) {
        uint32_t token = v->made[pairs[at].merge];
        int late = 0, found = 0;
        for (; at < count && v->made[pairs[at].merge] == token; at++) {
            int32_t left = pairs[at].left, right = pairs[at].right;
            if (found) continue;
            if (!known[left] || !known[right]) {
                late = 1;
            } else if (compatible(v, left, right)) {
                found = known[token] = 1;
                v->halves[2 * (int64_t)token] = left;
                v->halves[2 * (int64_t)token + 1] = right;
                put_pair(v, (uint32_t)left, (uint32_t)right, (uint32_t)pairs[at].merge);
            }
        }
        if (late && !found) exact = 0;
    }
    return exact;
}

static const Vocabulary *sorted_by; /* qsort hands nothing on; the interpreter's lock is held while tables are built */

static int by_bytes(const void *one, const void *two) {
    int32_t a = *(const int32_t *)one, b = *(const int32_t *)two;
    int32_t a_size = sorted_by->starts[a + 1] - sorted_by->starts[a], b_size = sorted_by->starts[b + 1] - sorted_by->starts[b];
    int order = memcmp(sorted_by->content + sorted_by->starts[a], sorted_by->content + sorted_by->starts[b],
                       (size_t)(a_size < b_size ? a_size : b_size));
    return order ? order : (a_size > b_size) - (a_size < b_size);
}

typedef struct {
    int32_t first, last, depth; /* tokens order[first:last] have the same first `depth` bytes */
} Branch;

/* The trie of the tokens that merging makes, breadth first, and for each the longest one that it begins with. 0: no
   memory. */
static int build_trie(Vocabulary *v, const uint8_t *known) {
    int32_t *order = malloc((size_t)v->tokens * sizeof *order);
    Branch *branches = NULL;
    int64_t count = 0, nodes = 1, made = 1;
    if (!order) return 0;
    for (int64_t t = 0; t < v->tokens; t++)
        if (known[t]) {
            order[count++] = (int32_t)t;
            nodes += v->starts[t + 1] - v->starts[t];
        }
    sorted_by = v;
    qsort(order, (size_t)count, sizeof *order, by_bytes);
    branches = malloc((size_t)nodes * sizeof *branches);
    v->shorter = malloc((size_t)v->tokens * sizeof *v->shorter);
    v->trie = calloc((size_t)nodes + 1, sizeof *v->trie);
    int enough = nodes < INT32_MAX && branches && v->shorter && v->trie;
    v->nodes = 0;
    if (enough) branches[0] = (Branch){0, (int32_t)count, 0};
    for (int64_t node = 0; enough && node < made; node++) {
        Branch here = branches[node];
        v->trie[node].first = (int32_t)made;
        v->trie[node].token = -1;
        if (here.first < here.last && v->starts[order[here.first] + 1] - v->starts[order[here.first]] == here.depth)
            v->trie[node].token = order[here.first++];
        for (int32_t place = here.first; place < here.last; place++) {
            uint8_t byte = v->content[v->starts[order[place]] + here.depth];
            if (place == here.first || byte != v->trie[made - 1].byte) {
                v->trie[made].byte = byte;
                branches[made++] = (Branch){place, place, here.depth + 1};
            }
            branches[made - 1].last = place + 1;
        }
        v->trie[node + 1].first = (int32_t)made;
    }
    if (enough) v->nodes = made;
    for (int64_t t = 0; enough && t < v->tokens; t++) v->shorter[t] = -1;
    for (int64_t i = 0; enough && i < count; i++) {
        int32_t token = order[i], start = v->starts[token];
        v->shorter[token] = (int32_t)longest_token(v, v->content + start, v->starts[token + 1] - start - 1);
    }
    free(branches);
    free(order);
    return enough;
}

/* Build all tables from `content`, `starts`, `ids`, `tokens`, `whole`, units and, where the model lists them, `given`
   pairs in the order of their merges with `made`; else ranks rule. The first `letters` tokens are the alphabet. 0: no
   memory. */
static int vocabulary_build(Vocabulary *v, const Pair *given, int64_t count, int one_way, int64_t letters) {
    Pair *ways = NULL;
    uint8_t *known = calloc((size_t)v->tokens + 1, 1);
    int built = 0, all = 1;
    v->halves = malloc((size_t)v->tokens * 2 * sizeof *v->halves);
    if (!known || !v->halves || !index_tokens(v)) goto end;
    for (int64_t t = 0; t < v->tokens; t++) v->halves[2 * t] = v->halves[2 * t + 1] = (int32_t)t;
    memset(known, 1, (size_t)letters);
    if (!given) {
        if (!(ways = list_ways(v, letters, &count))) goto end;
        given = ways;
        v->merges = v->tokens;
        if (!(v->made = malloc((size_t)v->merges * sizeof *v->made))) goto end;
        for (int64_t t = 0; t < v->tokens; t++) v->made[t] = (uint32_t)t;
    }
    if (!make_pairs(v, v->tokens > count ? v->tokens : count)) goto end;
    if (one_way && find_halves(v, given, count, known)) {
        if (!build_trie(v, known)) goto end;
    } else {
        if (!make_pairs(v, count)) goto end;
        for (int64_t i = 0; i < count; i++) put_pair(v, (uint32_t)given[i].left, (uint32_t)given[i].right, (uint32_t)given[i].merge);
    }
    if (v->units) {
        built = v->cuts == NO_CUTS || list_neighbours(v);
        goto end;
    }
    for (int64_t t = 0; t < v->tokens; t++) all = all && known[t];
    if (!v->whole || (v->trie && all)) {
        if (!(v->crossings = calloc(1, (size_t)1 << (CROSSING_BITS - 3)))) goto end;
        enter_crossings(v, v->crossings);
        v->has_crossings = 1;
    }
    if (!(v->byte_pairs = malloc(65536 * sizeof *v->byte_pairs))) goto end;
    for (uint32_t left = 0; left < 256; left++)
        for (uint32_t right = 0; right < 256; right++)
            v->byte_pairs[left << 8 | right] = find_pair(v, v->byte_tokens[left], v->byte_tokens[right]);
    built = 1;
end:
    free(ways);
    free(known);
    return built;
}

#endif
