/* Merge: byte-pair encoding of one piece.

   A short piece is an array of tokens and an array of (merge, position) for each pair; the minimum is merged again and
   again, and a mask of 64 bits says at which positions a token still begins. A long piece goes to exact backtracking:
   take the longest token that fits, and step back where byte-pair encoding would split otherwise. Where that goes back
   too often, or tokens have several pairs, it goes to a heap. A long run of one byte has a way of its own, runs.h.
   Cost: 0.3 us for a short piece; linear for long ones, O(n log n) on the heap. Chapters: A heap; A trie; Compiled. */
#ifndef BPELAB_MERGE_H
#define BPELAB_MERGE_H

#include "runs.h"
#include "units.h"

enum { MAX_SCANNED = 40 }; /* bytes of the longest piece whose pairs are scanned for the minimum */

/* A merge and, in the six bits below it, the position of its pair; at least NO_RANK if the pair has no merge. */
#define RANK(merge, position) ((uint32_t)(merge) << 6 | (uint32_t)(position))
#define NO_RANK 0xFFFFFFC0u

/* A piece of 2 to MAX_SCANNED tokens that is being merged. */
typedef struct {
    uint32_t tokens[64], ranks[64]; /* `ranks`: of the pair at each position */
    uint64_t begins;                /* a bit for each position where a token begins */
    int64_t padded;                 /* the number of ranks, a multiple of 8: those of no pair are NONE */
    int position, left, right;      /* of the last merge, and of the tokens before and after it, or -1 */
} Merging;

INLINE uint32_t min_rank(const uint32_t *ranks, int64_t count) {
    uint32_t best[4] = {ranks[0], ranks[1], ranks[2], ranks[3]}; /* four chains, so that no comparison waits */
    for (int64_t i = 4; i < count; i += 4)
        for (int k = 0; k < 4; k++) best[k] = ranks[i + k] < best[k] ? ranks[i + k] : best[k];
    if (best[1] < best[0]) best[0] = best[1];
    if (best[3] < best[2]) best[2] = best[3];
    return best[0] < best[2] ? best[0] : best[2];
}

/* Begin to merge `size` tokens, whose ranks are those of the `size` - 1 pairs. */
INLINE void begin_merging(Merging *m, int64_t size) {
    m->begins = ~(uint64_t)0 >> (64 - size);
    m->position = 0;
    m->left = m->right = -1;
    m->padded = (size + 7) & ~(int64_t)7;
    for (int64_t i = size - 1; i < m->padded; i++) m->ranks[i] = NONE;
}

/* Merge the pair of the lowest rank. 0 if no pair has a merge. The new pairs have no rank before `rank_neighbours`; what
   that will read is prefetched. */
INLINE int merge_next(const Vocabulary *v, Merging *m) {
    uint32_t best = min_rank(m->ranks, m->padded);
    if (best >= NO_RANK) return 0;
    int position = best & 63;
    uint64_t before = m->begins & (((uint64_t)1 << position) - 1), after = m->begins & (~(uint64_t)0 << position);
    after &= after - 1;
    int gone = lowest_bit(after);
    uint32_t made = made_by(v, best >> 6);
    after &= after - 1;
    m->begins ^= (uint64_t)1 << gone;
    m->tokens[position] = made;
    m->ranks[gone] = m->ranks[position] = NONE;
    m->position = position;
    m->left = before ? highest_bit(before) : -1;
    m->right = after ? lowest_bit(after) : -1;
    if (before) PREFETCH(v->merge_table + merge_slot(v, m->tokens[m->left], made));
    if (after) PREFETCH(v->merge_table + merge_slot(v, made, m->tokens[m->right]));
    return 1;
}

/* Look up the ranks of the two pairs that the last merge made. */
INLINE void rank_neighbours(const Vocabulary *v, Merging *m) {
    uint32_t made = m->tokens[m->position];
    if (m->right >= 0) m->ranks[m->position] = RANK(find_merge(v, made, m->tokens[m->right]), m->position);
    if (m->left >= 0) m->ranks[m->left] = RANK(find_merge(v, m->tokens[m->left], made), m->left);
}

/* Write the tokens that are left to `out`; returns their number. */
INLINE int64_t write_tokens(const Merging *m, uint32_t *out) {
    int64_t count = 0;
    for (uint64_t begins = m->begins; begins; begins &= begins - 1) out[count++] = m->tokens[lowest_bit(begins)];
    return count;
}

/* Merge the `size` tokens of a piece, the lowest rank first, and write what is left to `out`; returns its number. */
INLINE int64_t merge_lowest(const Vocabulary *v, Merging *m, int64_t size, uint32_t *out) {
    begin_merging(m, size);
    while (merge_next(v, m)) rank_neighbours(v, m);
    return write_tokens(m, out);
}

/* Fill in the tokens and ranks of 2 to MAX_SCANNED bytes. */
INLINE void start_with_bytes(const Vocabulary *v, Merging *m, const uint8_t *text, int64_t size) {
    for (int64_t i = 0; i < size; i++) m->tokens[i] = v->byte_tokens[text[i]];
    for (int64_t i = 0; i < size - 1; i++) m->ranks[i] = RANK(v->byte_merges[text[i] << 8 | text[i + 1]], i);
}

/* Write the tokens of a piece of 2 to MAX_SCANNED bytes to `out`; returns their number. */
static int64_t merge_by_scan(const Vocabulary *v, const uint8_t *text, int64_t size, uint32_t *out) {
    Merging merging;
    start_with_bytes(v, &merging, text, size);
    return merge_lowest(v, &merging, size, out);
}

/* Write the tokens of a piece to `out` by exact backtracking; returns their number, -1 if that takes too long or memory
   runs out, or INTERRUPTED. */
static int64_t merge_by_backtracking(const Vocabulary *v, const uint8_t *text, int64_t size, uint32_t *out) {
    int64_t count = 0, position = 0, furthest = 0, budget = 1000;
    uint8_t *dead = calloc(1, (size_t)size + 1); /* offsets from which no tokenization reaches the end */
    if (!dead) return -1;
    int64_t token = longest_token(v, text, size);
    for (int64_t turns = 1; token >= 0; turns++) {
        if (--budget < 0 || stopped_by_user(turns)) {
            count = budget < 0 ? -1 : INTERRUPTED;
            break;
        }
        int64_t stop = position + v->offsets[token + 1] - v->offsets[token];
        if (!dead[stop] && (!count || compatible(v, out[count - 1], token))) {
            out[count++] = (uint32_t)token;
            position = stop;
            if (position > furthest) { /* each byte of progress allows three more tries */
                budget += 3 * (position - furthest);
                furthest = position;
            }
            token = position < size ? longest_token(v, text + position, size - position) : -1;
            continue;
        }
        int64_t shorter = v->longest_prefix[token];
        while (shorter < 0 && count) { /* nothing fits here: step back over the previous token */
            dead[position] = 1;
            token = out[--count];
            position -= v->offsets[token + 1] - v->offsets[token];
            shorter = v->longest_prefix[token];
        }
        if (shorter < 0) { /* never, for tokens that include all bytes */
            count = -1;
            break;
        }
        token = shorter;
    }
    free(dead);
    return count;
}

static int64_t heap_push(uint64_t *heap, int64_t size, uint64_t entry) {
    int64_t at = size;
    for (; at && heap[(at - 1) / 2] > entry; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = entry;
    return size + 1;
}

static int64_t heap_pop(uint64_t *heap, int64_t size) {
    uint64_t entry = heap[--size];
    int64_t at = 0;
    for (int64_t child; (child = 2 * at + 1) < size; at = child) {
        if (child + 1 < size && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= entry) break;
        heap[at] = heap[child];
    }
    heap[at] = entry;
    return size;
}

/* Merge the `size` tokens in `out` in place with a heap of (merge, position) over a doubly linked list; returns the
   number of tokens left, NO_MEMORY or INTERRUPTED. A heap entry is stale if the pair at its position has another merge
   by now. */
static int64_t merge_with_heap(const Vocabulary *v, int64_t size, uint32_t *out) {
    if (size > INT32_MAX) return NO_MEMORY;
    int32_t *next = malloc((size_t)size * sizeof *next), *previous = malloc((size_t)size * sizeof *previous);
    uint64_t *heap = malloc((size_t)size * 2 * sizeof *heap); /* a merge takes one entry and adds two at most */
    int64_t heap_size = 0, count = NO_MEMORY;
    if (!next || !previous || !heap) goto end;
    for (int64_t i = 0; i < size; i++) {
        next[i] = (int32_t)(i + 1);
        previous[i] = (int32_t)(i - 1);
        if (i + 1 == size) break;
        if (stopped_by_user(i + 1)) {
            count = INTERRUPTED;
            goto end;
        }
        uint32_t merge = find_merge(v, out[i], out[i + 1]);
        if (merge != NONE) heap_size = heap_push(heap, heap_size, (uint64_t)merge << 32 | (uint64_t)i);
    }
    for (int64_t turns = 1; heap_size; turns++) {
        if (stopped_by_user(turns)) {
            count = INTERRUPTED;
            goto end;
        }
        uint32_t merge = (uint32_t)(heap[0] >> 32);
        int64_t position = (int64_t)(heap[0] & 0xFFFFFFFFu), right = next[position];
        heap_size = heap_pop(heap, heap_size);
        if (out[position] == NONE || right >= size || find_merge(v, out[position], out[right]) != merge) continue;
        out[position] = made_by(v, merge);
        out[right] = NONE;
        int64_t after = next[position] = next[right], before = previous[position];
        if (after < size) {
            previous[after] = (int32_t)position;
            uint32_t found = find_merge(v, out[position], out[after]);
            if (found != NONE) heap_size = heap_push(heap, heap_size, (uint64_t)found << 32 | (uint64_t)position);
        }
        if (before >= 0) {
            uint32_t found = find_merge(v, out[before], out[position]);
            if (found != NONE) heap_size = heap_push(heap, heap_size, (uint64_t)found << 32 | (uint64_t)before);
        }
    }
    count = 0;
    for (int64_t position = 0; position < size; position = next[position]) out[count++] = out[position];
end:
    free(next);
    free(previous);
    free(heap);
    return count;
}

/* Write the tokens of a piece whose units are not the 256 bytes to `out`; returns what `merge_with_heap` does. */
static int64_t merge_units(const Vocabulary *v, const uint8_t *text, int64_t size, uint32_t *out) {
    Merging merging;
    int complete;
    int64_t count = initial_tokens(v, text, size, out, &complete);
    if (count < 2) return count;
    if (count <= MAX_SCANNED) {
        memcpy(merging.tokens, out, (size_t)count * sizeof *out);
        for (int64_t i = 0; i < count - 1; i++) merging.ranks[i] = RANK(find_merge(v, out[i], out[i + 1]), i);
        return merge_lowest(v, &merging, count, out);
    }
    if (complete && v->trie) {
        int64_t merged = merge_by_backtracking(v, text, size, out);
        if (merged >= 0 || merged == INTERRUPTED) return merged;
        initial_tokens(v, text, size, out, &complete);
    }
    return merge_with_heap(v, count, out);
}

/* Write the tokens of a piece of at least two bytes, the units, to `out`; returns what `merge_with_heap` does. */
INLINE int64_t merge_bytes(const Vocabulary *v, const uint8_t *text, int64_t size, uint32_t *out) {
    if (size <= MAX_SCANNED) return merge_by_scan(v, text, size, out);
    if (memcmp(text, text + 1, (size_t)size - 1) == 0) {
        int64_t merged = merge_run(v, text[0], size, out);
        if (merged != -1) return merged;
    }
    int64_t count = v->trie ? merge_by_backtracking(v, text, size, out) : -1;
    if (count >= 0 || count == INTERRUPTED) return count;
    for (int64_t i = 0; i < size; i++) out[i] = v->byte_tokens[text[i]];
    return merge_with_heap(v, size, out);
}

/* Write the ids of a piece of at least one byte to `out`, which has space for one a byte; returns what
   `merge_with_heap` does: 0 if the vocabulary lacks the whole piece and has no unknown token. */
static int64_t merge_piece(const Vocabulary *v, const uint8_t *text, int64_t size, uint32_t *out) {
    uint32_t token = v->ignore_merges ? find_token(v, text, size) : NONE;
    if (size == 1 && !v->unit_entries) token = v->byte_tokens[text[0]];
    if (token != NONE) {
        out[0] = v->ids[token];
        return 1;
    }
    int64_t count = v->unit_entries ? merge_units(v, text, size, out) : merge_bytes(v, text, size, out);
    if (!v->ids_are_indices)
        for (int64_t i = 0; i < count; i++) out[i] = v->ids[out[i]];
    return count;
}

#endif
