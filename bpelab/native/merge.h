/* Merge: one piece to tokens, as byte-pair encoding defines it.

   A short piece is an array of tokens and an array of (merge, place) for each pair; the lowest is taken again and again,
   and which places are still there is one number of 64 bits. A long piece goes to exact backtracking: the longest token
   that fits, one step back where byte-pair encoding cuts otherwise; and where that goes back too often, or tokens have
   several pairs, to a heap. Cost: 0.3 us for a short piece; linear for long ones, on the heap O(n log n).
   Chapters: A heap of merges; A trie, and exact backtracking; Compiled. */
#ifndef BPELAB_MERGE_H
#define BPELAB_MERGE_H

#include "units.h"

enum { SCANNED = 40 }; /* bytes of a piece whose pairs are scanned for the lowest */

/* A merge with the place of its pair below it; at least NO_PAIR where there is none. */
#define RANK(merge, place) ((uint32_t)(merge) << 6 | (uint32_t)(place))
#define NO_PAIR 0xFFFFFFC0u

INLINE uint32_t lowest(const uint32_t *ranks, int64_t count) {
    uint32_t best = ranks[0];
    for (int64_t i = 1; i < count; i++) best = ranks[i] < best ? ranks[i] : best;
    return best;
}

/* Merge 2 to SCANNED tokens, the lowest first, into `out`; how many are left. `ranks` has those of all pairs, and both
   have room for a multiple of 8. */
INLINE int64_t merge_lowest(const Vocabulary *v, uint32_t *tokens, uint32_t *ranks, int64_t size, uint32_t *out) {
    uint64_t there = ~(uint64_t)0 >> (64 - size); /* which places still begin a token */
    int64_t padded = (size + 7) & ~(int64_t)7, count = 0;
    for (int64_t i = size - 1; i < padded; i++) ranks[i] = NONE;
    for (uint32_t best; (best = lowest(ranks, padded)) < NO_PAIR;) {
        int place = best & 63, gone;
        uint64_t before = there & (((uint64_t)1 << place) - 1), after = there & (~(uint64_t)0 << place);
        after &= after - 1;
        gone = lowest_bit(after);
        after &= after - 1;
        there ^= (uint64_t)1 << gone;
        tokens[place] = v->made[best >> 6];
        ranks[gone] = ranks[place] = NONE;
        if (after) ranks[place] = RANK(find_pair(v, tokens[place], tokens[lowest_bit(after)]), place);
        if (before) {
            int left = highest_bit(before);
            ranks[left] = RANK(find_pair(v, tokens[left], tokens[place]), left);
        }
    }
    for (; there; there &= there - 1) out[count++] = tokens[lowest_bit(there)];
    return count;
}

/* The tokens of a piece of 2 to SCANNED bytes into `out`; how many. */
static int64_t merge_by_scanning(const Vocabulary *v, const uint8_t *text, int64_t size, uint32_t *out) {
    uint32_t tokens[64], ranks[64];
    for (int64_t i = 0; i < size; i++) tokens[i] = v->byte_tokens[text[i]];
    for (int64_t i = 0; i < size - 1; i++) ranks[i] = RANK(v->byte_pairs[text[i] << 8 | text[i + 1]], i);
    return merge_lowest(v, tokens, ranks, size, out);
}

/* Tokens by exact backtracking; -1 if that takes too long, or without memory; INTERRUPTED. */
static int64_t merge_by_backtracking(const Vocabulary *v, const uint8_t *text, int64_t size, uint32_t *out) {
    int64_t count = 0, place = 0, furthest = 0, patience = 1000;
    uint8_t *dead = calloc(1, (size_t)size + 1); /* ends that no way leads on from */
    if (!dead) return -1;
    int64_t token = longest_token(v, text, size);
    for (int64_t turns = 1; token >= 0; turns++) {
        if (--patience < 0 || stopped_by_user(turns)) {
            count = patience < 0 ? -1 : INTERRUPTED;
            break;
        }
        int64_t stop = place + v->starts[token + 1] - v->starts[token];
        if (!dead[stop] && (!count || compatible(v, out[count - 1], token))) {
            out[count++] = (uint32_t)token;
            place = stop;
            if (place > furthest) { /* every byte that is gained may cost three tries */
                patience += 3 * (place - furthest);
                furthest = place;
            }
            token = place < size ? longest_token(v, text + place, size - place) : -1;
            continue;
        }
        int64_t shorter = v->shorter[token];
        while (shorter < 0 && count) { /* nothing fits here: the token before was wrong */
            dead[place] = 1;
            token = out[--count];
            place -= v->starts[token + 1] - v->starts[token];
            shorter = v->shorter[token];
        }
        if (shorter < 0) { /* never for tokens with all bytes */
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

/* Merge the `size` tokens in `out` by a heap of (merge, place); how many are left, or NO_MEMORY, or INTERRUPTED. An entry
   is stale if the tokens there merge otherwise by now. */
static int64_t merge_on_heap(const Vocabulary *v, int64_t size, uint32_t *out) {
    if (size > INT32_MAX) return NO_MEMORY;
    int32_t *next = malloc((size_t)size * sizeof *next), *previous = malloc((size_t)size * sizeof *previous);
    uint64_t *heap = malloc((size_t)size * 2 * sizeof *heap); /* a merge takes one entry and adds two at most */
    int64_t waiting = 0, count = NO_MEMORY;
    if (!next || !previous || !heap) goto end;
    for (int64_t i = 0; i < size; i++) {
        next[i] = (int32_t)(i + 1);
        previous[i] = (int32_t)(i - 1);
        if (i + 1 == size) break;
        if (stopped_by_user(i + 1)) {
            count = INTERRUPTED;
            goto end;
        }
        uint32_t merge = find_pair(v, out[i], out[i + 1]);
        if (merge != NONE) waiting = heap_push(heap, waiting, (uint64_t)merge << 32 | (uint64_t)i);
    }
    for (int64_t turns = 1; waiting; turns++) {
        if (stopped_by_user(turns)) {
            count = INTERRUPTED;
            goto end;
        }
        uint32_t merge = (uint32_t)(heap[0] >> 32);
        int64_t place = (int64_t)(heap[0] & 0xFFFFFFFFu), right = next[place];
        waiting = heap_pop(heap, waiting);
        if (out[place] == NONE || right >= size || find_pair(v, out[place], out[right]) != merge) continue;
        out[place] = v->made[merge];
        out[right] = NONE;
        int64_t after = next[place] = next[right], before = previous[place];
        if (after < size) {
            previous[after] = (int32_t)place;
            uint32_t found = find_pair(v, out[place], out[after]);
            if (found != NONE) waiting = heap_push(heap, waiting, (uint64_t)found << 32 | (uint64_t)place);
        }
        if (before >= 0) {
            uint32_t found = find_pair(v, out[before], out[place]);
            if (found != NONE) waiting = heap_push(heap, waiting, (uint64_t)found << 32 | (uint64_t)before);
        }
    }
    count = 0;
    for (int64_t place = 0; place < size; place = next[place]) out[count++] = out[place];
end:
    free(next);
    free(previous);
    free(heap);
    return count;
}

/* The tokens of a piece whose units are not the 256 bytes; how many, or less than 0 as `merge_on_heap`. */
static int64_t merge_units(const Vocabulary *v, const uint8_t *text, int64_t size, uint32_t *out) {
    uint32_t tokens[64], ranks[64];
    int complete;
    int64_t count = initial_tokens(v, text, size, out, &complete);
    if (count < 2) return count;
    if (count <= SCANNED) {
        memcpy(tokens, out, (size_t)count * sizeof *out);
        for (int64_t i = 0; i < count - 1; i++) ranks[i] = RANK(find_pair(v, tokens[i], tokens[i + 1]), i);
        return merge_lowest(v, tokens, ranks, count, out);
    }
    if (complete && v->trie) {
        int64_t made = merge_by_backtracking(v, text, size, out);
        if (made >= 0 || made == INTERRUPTED) return made;
        initial_tokens(v, text, size, out, &complete);
    }
    return merge_on_heap(v, count, out);
}

/* The tokens of a piece of at least two bytes, where units are these; how many, or less than 0 as `merge_on_heap`. */
INLINE int64_t merge_bytes(const Vocabulary *v, const uint8_t *text, int64_t size, uint32_t *out) {
    if (size <= SCANNED) return merge_by_scanning(v, text, size, out);
    int64_t count = v->trie ? merge_by_backtracking(v, text, size, out) : -1;
    if (count >= 0 || count == INTERRUPTED) return count;
    for (int64_t i = 0; i < size; i++) out[i] = v->byte_tokens[text[i]];
    return merge_on_heap(v, size, out);
}

/* The ids of a piece of at least one byte into `out`, which has room for as many; how many, or less than 0 as
   `merge_on_heap`. None where the vocabulary lacks all of it and has no token for that. */
static int64_t merge_piece(const Vocabulary *v, const uint8_t *text, int64_t size, uint32_t *out) {
    uint32_t token = v->whole ? find_token(v, text, size) : NONE;
    if (size == 1 && !v->units) token = v->byte_tokens[text[0]];
    if (token != NONE) {
        out[0] = v->ids[token];
        return 1;
    }
    int64_t count = v->units ? merge_units(v, text, size, out) : merge_bytes(v, text, size, out);
    if (!v->same_ids)
        for (int64_t i = 0; i < count; i++) out[i] = v->ids[out[i]];
    return count;
}

#endif
