/* Superwords: text in two stages, words first, then the merges that go on over the ends of words.

   A token such as ` of the` makes sentences of the pieces, and no cache has sentences. But merges of words rank before
   it, and none of them joins two bytes that no token of a word has side by side. So a piece is cut between such bytes,
   and its parts are encoded as words are, with a cache, by an encoder of the tokens before the first superword. Few
   pairs of these tokens are side by side inside a superword: the bonds. A run of bonds is a window, in which the
   remaining merges are made, the lowest rank first; nothing merges across what is no bond. Exact where each token is
   made by one pair, of tokens before it.
   Cost: 10 ns a byte of English, three times that of words. Chapters: Native code; Superwords. */
#ifndef BPELAB_SUPERWORDS_H
#define BPELAB_SUPERWORDS_H

#include "levels.h"

/* tokens between prefetching a bond and reading it; chunks between two checks for signals, some milliseconds */
enum { BOND_DISTANCE = 24, POLL_CHUNKS = 64 };
#define NO_MERGE (((uint32_t)1 << MERGE_BITS) - 1) /* of two tokens that are side by side inside a superword only */

typedef struct {
    const Vocabulary *words; /* the first tokens; NULL if the vocabulary has no superwords */
    uint8_t *apart;          /* (65536,) whether no token of a word has two bytes side by side */
    uint64_t *bonds;         /* hash table of (left << 21 | right) << 22 | merge or NO_MERGE, or EMPTY */
    uint64_t mask;
    int shift;
} Superwords;

typedef struct {
    int64_t ends[MAX_ENDS]; /* of the pieces */
    uint32_t *merges;       /* of each token and the next one */
    int64_t capacity;
} SuperwordScratch; /* scratch memory of one call at a time */

INLINE uint64_t bond_slot(const Superwords *s, uint32_t left, uint32_t right) {
    return fibonacci_hash((uint64_t)left << TOKEN_BITS | right) >> s->shift;
}

/* The merge of two tokens that are side by side inside a superword, or NO_MERGE, or NONE if they never are. */
INLINE uint32_t find_bond(const Superwords *s, uint32_t left, uint32_t right, uint64_t slot) {
    uint64_t key = (uint64_t)left << TOKEN_BITS | right;
    for (;; slot = (slot + 1) & s->mask) {
        uint64_t entry = s->bonds[slot];
        if (entry >> MERGE_BITS == key) return (uint32_t)(entry & NO_MERGE);
        if (entry == EMPTY) return NONE;
    }
}

static void superwords_free(Superwords *s) {
    free(s->apart);
    free(s->bonds);
}

/* Find the bonds of a vocabulary whose first tokens are `words`. 1, 0 if the two stages would not be exact, or
   NO_MEMORY. */
static int superwords_build(Superwords *s, const Vocabulary *v, const Vocabulary *words) {
    int64_t count = v->token_count, first = words->token_count;
    if (!v->trie || v->ignore_merges || v->unit_entries || words->unit_entries || words->ignore_merges ||
        !words->ids_are_indices || first >= count || v->offsets[first] != words->content_size ||
        v->merge_count >= NO_MERGE || memcmp(v->byte_tokens, words->byte_tokens, sizeof v->byte_tokens) ||
        memcmp(v->content, words->content, (size_t)words->content_size) ||
        memcmp(v->offsets, words->offsets, (size_t)first * sizeof *v->offsets) ||
        memcmp(v->splits, words->splits, (size_t)first * 2 * sizeof *v->splits))
        return 0;
    uint64_t size = next_power_of_two(3 * (uint64_t)(count - first));
    uint32_t *edges = malloc((size_t)count * 2 * sizeof *edges); /* the first and the last word token of each token */
    s->apart = malloc(65536);
    s->bonds = malloc(size * sizeof *s->bonds);
    s->mask = size - 1;
    s->shift = 64 - highest_bit(size);
    int done = edges && s->apart && s->bonds ? 1 : NO_MEMORY;
    if (done == 1) {
        memset(s->apart, 1, 65536);
        memset(s->bonds, 0xFF, size * sizeof *s->bonds);
        for (int64_t t = 0; t < first; t++) {
            edges[2 * t] = edges[2 * t + 1] = (uint32_t)t;
            for (int32_t at = v->offsets[t] + 1; at < v->offsets[t + 1]; at++)
                s->apart[v->content[at - 1] << 8 | v->content[at]] = 0;
        }
    }
    for (int64_t t = first; done == 1 && t < count; t++) {
        int64_t left = v->splits[2 * t], right = v->splits[2 * t + 1];
        edges[2 * t] = edges[2 * t + 1] = NONE;
        if (left == t) continue; /* no merge makes it */
        if (left > t || right >= t || edges[2 * left] == NONE || edges[2 * right] == NONE) {
            done = 0;
            break;
        }
        uint32_t before = edges[2 * left + 1], after = edges[2 * right];
        edges[2 * t] = edges[2 * left];
        edges[2 * t + 1] = edges[2 * right + 1];
        uint64_t key = (uint64_t)before << TOKEN_BITS | after, slot = bond_slot(s, before, after);
        while (s->bonds[slot] != EMPTY && s->bonds[slot] >> MERGE_BITS != key) slot = (slot + 1) & s->mask;
        uint32_t merge = find_merge(v, before, after);
        s->bonds[slot] = key << MERGE_BITS | (merge == NONE ? NO_MERGE : merge);
    }
    free(edges);
    if (done == 1) s->words = words;
    return done;
}

/* Append the tokens of the parts that end at w->ends[0:*number], the first of which begins at `*from`. */
INLINE int64_t look_up_words(const Superwords *s, Workspace *w, const uint8_t *text, int64_t *from, int64_t *number,
                             uint32_t *out, int64_t written) {
    written = look_up_pieces(s->words, w, text, *from, *number, out, written);
    *from = w->ends[*number - 1];
    *number = 0;
    cache_grow(&w->cache);
    return written;
}

/* Write the word tokens of the pieces that end at `pieces` to `out`; returns their number, or less than 0. */
static int64_t encode_words(const Superwords *s, Workspace *w, const uint8_t *text, int64_t begin,
                            const int64_t *pieces, int64_t count, uint32_t *out) {
    int64_t written = 0, number = 0, from = begin, offset = begin + 1, chunks = 0;
    begin_misses(s->words, &w->misses, pieces[count - 1] - begin);
    for (int64_t i = 0; i < count; offset = pieces[i++] + 1) {
        while (offset < pieces[i]) {
            int64_t left = MAX_ENDS - 1 - number, stop = pieces[i] - offset < left ? pieces[i] : offset + left;
            for (; offset < stop; offset++) {
                w->ends[number] = offset;
                number += s->apart[text[offset - 1] << 8 | text[offset]];
            }
            if (number < CHUNK) continue;
            written = look_up_words(s, w, text, &from, &number, out, written);
            if (written < 0) return written;
            if (++chunks % POLL_CHUNKS == 0 && interrupted && interrupted()) return INTERRUPTED;
        }
        w->ends[number++] = pieces[i];
        if (number < CHUNK && i + 1 < count) continue;
        written = look_up_words(s, w, text, &from, &number, out, written);
        if (written < 0) return written;
    }
    return w->misses.number ? insert_misses(s->words, &w->cache, &w->misses, text, out, written) : written;
}

/* Merge the tokens of a window, `size` of them with the `merges` of each and the next, to `out`, which may overlap
   them; returns the number that is left, or less than 0. */
static int64_t merge_window(const Vocabulary *v, const uint32_t *tokens, const uint32_t *merges, int64_t size,
                            uint32_t *out) {
    Merging merging;
    if (size > MAX_SCANNED) {
        memmove(out, tokens, (size_t)size * sizeof *out);
        return merge_with_heap(v, size, out);
    }
    for (int64_t i = 0; i < size; i++) {
        merging.tokens[i] = tokens[i];
        merging.ranks[i] = merges[i] >= NO_MERGE ? NONE : RANK(merges[i], i);
    }
    return merge_lowest(v, &merging, size, out);
}

/* Make the merges of superwords among the `count` word tokens in `out`, of pieces that end at `ends`; returns the
   number of tokens that are left, or less than 0. */
static int64_t merge_superwords(const Superwords *s, const Vocabulary *v, SuperwordScratch *scratch, int64_t begin,
                                const int64_t *ends, uint32_t *out, int64_t count) {
    if (count > scratch->capacity) {
        uint32_t *more = realloc(scratch->merges, (size_t)count * sizeof *more);
        if (!more) return NO_MEMORY;
        scratch->merges = more;
        scratch->capacity = count;
    }
    uint32_t *merges = scratch->merges;
    int64_t written = 0;
    for (int64_t i = 0; i < count - 1; i++) {
        if (i + BOND_DISTANCE + 1 < count)
            PREFETCH(s->bonds + bond_slot(s, out[i + BOND_DISTANCE], out[i + BOND_DISTANCE + 1]));
        begin += v->offsets[out[i] + 1] - v->offsets[out[i]];
        if (begin == *ends) {
            merges[i] = NONE;
            ends++;
        } else {
            merges[i] = find_bond(s, out[i], out[i + 1], bond_slot(s, out[i], out[i + 1]));
        }
    }
    if (count) merges[count - 1] = NONE;
    for (int64_t i = 0, stop; i < count; i = stop) {
        uint32_t lowest = NO_MERGE;
        for (stop = i; merges[stop] != NONE; stop++)
            if (merges[stop] < lowest) lowest = merges[stop];
        stop++;
        if (lowest == NO_MERGE) {
            while (i < stop) out[written++] = out[i++];
        } else if (stop - i == 2) {
            out[written++] = made_by(v, lowest);
        } else {
            int64_t left = merge_window(v, out + i, merges + i, stop - i, out + written);
            if (left < 0) return left;
            written += left;
        }
    }
    return written;
}

/* As `encode_range`, in two stages. */
static int64_t encode_superwords(const Superwords *s, const Vocabulary *v, const Scan *scan, Workspace *w,
                                 SuperwordScratch *scratch, const uint8_t *text, int64_t *offset, int64_t end,
                                 int final, uint32_t *out) {
    int64_t written = 0;
    while (*offset < end) {
        int64_t count = find_pieces(text, *offset, end, final, scan, &w->readers, w->ends), begin = *offset;
        if (count < 0) return count;
        if (!count) break;
        memcpy(scratch->ends, w->ends, (size_t)count * sizeof *w->ends);
        *offset = scratch->ends[count - 1];
        int64_t more = encode_words(s, w, text, begin, scratch->ends, count, out + written);
        if (more >= 0) more = merge_superwords(s, v, scratch, begin, scratch->ends, out + written, more);
        if (more < 0) return more;
        for (int64_t i = 0; !v->ids_are_indices && i < more; i++) out[written + i] = v->ids[out[written + i]];
        written += more;
    }
    return written;
}

#endif
