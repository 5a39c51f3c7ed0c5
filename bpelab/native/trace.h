/* Trace: the merges of a text one after the other, for figures: what `encoders/naive.py` does, and reports.

   Each piece begins as its initial symbols. The pair of the lowest rank merges, the leftmost among equals, until no pair
   has a merge. A piece that the model takes whole is one last step without a rank, if no merge makes it.
   Cost: quadratic in the symbols of a piece. Chapter: Native code. */
#ifndef BPELAB_TRACE_H
#define BPELAB_TRACE_H

#include "split_steps.h"

typedef struct {
    uint32_t rank, begin, stop, id; /* the symbols from `begin` up to `stop` became the token `id` */
} TraceStep;

typedef struct {
    uint32_t *symbols, *tokens; /* the ids of all initial symbols; each one's token now, or NONE inside a longer one */
    TraceStep *steps;           /* at most one a symbol */
    int64_t symbol_count, step_count;
} Trace;

/* The symbol at which the token after that of symbol `at` begins, or `stop`. */
INLINE int64_t next_token(const Trace *t, int64_t at, int64_t stop) {
    for (at++; at < stop && t->tokens[at] == NONE; at++) continue;
    return at;
}

static void trace_step(Trace *t, const Vocabulary *v, uint32_t rank, int64_t begin, int64_t stop, uint32_t token) {
    for (int64_t i = begin; i < stop; i++) t->tokens[i] = NONE;
    t->tokens[begin] = token;
    t->steps[t->step_count++] = (TraceStep){rank, (uint32_t)begin, (uint32_t)stop, v->ids[token]};
}

static void trace_piece(Trace *t, const Vocabulary *v, const uint8_t *text, int64_t size) {
    int64_t begin = t->symbol_count, count = size;
    int complete;
    if (v->symbol_entries) count = initial_tokens(v, text, size, t->tokens + begin, &complete);
    else for (int64_t i = 0; i < size; i++) t->tokens[begin + i] = v->byte_tokens[text[i]];
    int64_t stop = t->symbol_count += count;
    for (int64_t i = begin; i < stop; i++) t->symbols[i] = v->ids[t->tokens[i]];
    for (;;) {
        uint32_t best = NONE;
        int64_t at = 0;
        for (int64_t left = begin, right; (right = next_token(t, left, stop)) < stop; left = right) {
            uint32_t merge = find_merge(v, t->tokens[left], t->tokens[right]);
            if (merge >= best) continue;
            best = merge;
            at = left;
        }
        if (best == NONE) break;
        trace_step(t, v, best, at, next_token(t, next_token(t, at, stop), stop), made_by(v, best));
    }
    uint32_t whole = v->ignore_merges && count ? find_token(v, text, size) : NONE;
    if (whole != NONE && t->tokens[begin] != whole) trace_step(t, v, NONE, begin, stop, whole);
}

/* Trace text[begin:end], which the levels from `depth` on still have to split; less than 0 if that fails. */
static int64_t trace_range(Trace *t, Refiner *r, int depth, const uint8_t *text, int64_t begin, int64_t end) {
    int64_t *ends = r->ends[depth];
    if (depth == r->count) {
        trace_piece(t, r->vocabulary, text + begin, end - begin);
        return 0;
    }
    while (begin < end) {
        int64_t count = split_level(r->levels[depth], r, text, begin, end, 1, ends);
        if (count < 0) return count;
        for (int64_t i = 0; i < count; begin = end_offset(ends[i++])) {
            int64_t state = ends[i] < 0 ? 0 : trace_range(t, r, depth + 1, text, begin, ends[i]);
            if (state < 0) return state;
        }
    }
    return 0;
}

#endif
