/* Runs: byte-pair encoding of a piece that is one byte over and over, such as a ruled line or a million spaces.

   All its tokens are runs of that byte, and neighbours are mostly equal, so the sequence is kept as (token, count)
   pairs, and a merge is done at all its positions at once: half as many of the new token, and one left over. That is
   exact as long as no pair that the new token forms has a lower rank, which is checked; else the piece goes another
   way. Cost: O(merges), whatever the length, and writing the ids. Chapter: Compiled. */
#ifndef BPELAB_RUNS_H
#define BPELAB_RUNS_H

#include "vocabulary.h"

enum { MAX_RUNS = 64 };

typedef struct {
    uint32_t token;
    int64_t count;
} Run;

/* Append `count` of a token, to the last run if it is of the same token. 0 if there are too many runs. */
INLINE int add_run(Run *runs, int *size, uint32_t token, int64_t count) {
    if (!count) return 1;
    if (*size && runs[*size - 1].token == token) {
        runs[*size - 1].count += count;
        return 1;
    }
    if (*size == MAX_RUNS) return 0;
    runs[(*size)++] = (Run){token, count};
    return 1;
}

/* Write the tokens of `size` times the byte to `out`; returns their number, -1 if it has to be done another way, or
   INTERRUPTED. */
static int64_t merge_run(const Vocabulary *v, uint8_t byte, int64_t size, uint32_t *out) {
    Run runs[MAX_RUNS] = {{v->byte_tokens[byte], size}}, merged[MAX_RUNS];
    int count = 1;
    for (int64_t turns = 1;; turns++) {
        if (stopped_by_user(turns)) return INTERRUPTED;
        uint32_t best = NONE, left = 0, right = 0;
        for (int i = 0; i < count; i++)
            for (int next = i; next < i + 2 && next < count; next++) {
                if (next == i && runs[i].count < 2) continue;
                uint32_t merge = find_merge(v, runs[i].token, runs[next].token);
                if (merge < best) best = merge, left = runs[i].token, right = runs[next].token;
            }
        if (best == NONE) break;
        uint32_t made = made_by(v, best);
        if (find_merge(v, made, made) < best) return -1;
        for (int i = 0; i < count; i++)
            if (find_merge(v, made, runs[i].token) < best || find_merge(v, runs[i].token, made) < best) return -1;
        int merged_count = 0, complete = 1;
        for (int i = 0; i < count; i++) {
            if (left == right && runs[i].token == left) {
                complete &= add_run(merged, &merged_count, made, runs[i].count / 2);
                complete &= add_run(merged, &merged_count, left, runs[i].count & 1);
                continue;
            }
            int joins = left != right && runs[i].token == left && i + 1 < count && runs[i + 1].token == right;
            complete &= add_run(merged, &merged_count, runs[i].token, runs[i].count - joins);
            complete &= add_run(merged, &merged_count, made, joins);
            if (joins) runs[i + 1].count--;
        }
        if (!complete) return -1;
        count = merged_count;
        memcpy(runs, merged, sizeof runs);
    }
    int64_t written = 0;
    for (int i = 0; i < count; i++)
        for (int64_t k = 0; k < runs[i].count; k++) out[written++] = runs[i].token;
    return written;
}

#endif
