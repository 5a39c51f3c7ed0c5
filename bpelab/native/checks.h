/* Checks: what is wrong with the arrays from which a vocabulary is built, as a sentence; NULL if nothing is.

   Lengths and indices are compared here, before anything is read through them, so that no caller of either front,
   module.c for Python or wasm.c for JavaScript, can lead outside the tables. Cost: linear in the arrays. Chapter:
   Native code. */
#ifndef BPELAB_CHECKS_H
#define BPELAB_CHECKS_H

#include "building.h"
#include "piece_cache.h"

/* Of the tokens, once the initial symbols are there, if they aren't the 256 bytes. */
static const char *tokens_fault(const Vocabulary *v, int64_t alphabet_size) {
    if (v->token_count < 1 || v->id_count > 1 << TOKEN_BITS || v->id_count < v->token_count ||
        (v->id_count > v->token_count && !v->symbol_entries) || v->offsets[0] ||
        v->offsets[v->token_count] != v->content_size || alphabet_size < 0 || alphabet_size > v->token_count)
        return "the tokens have an impossible size";
    for (int64_t t = 0; t < v->token_count; t++)
        if (v->offsets[t + 1] <= v->offsets[t]) return "a token has no bytes";
    for (int i = 0; i < 256; i++)
        if (v->byte_tokens[i] >= v->id_count && !(v->symbol_entries && v->byte_tokens[i] == NONE))
            return "a byte has a token that does not exist";
    return NULL;
}

/* Of the ids, which the cache of pieces keeps in fewer bits. */
static const char *ids_fault(const Vocabulary *v) {
    for (int64_t t = 0; t < v->id_count; t++)
        if (v->ids[t] >> ID_BITS) return "an id is 2^28 or more";
    return NULL;
}

/* Of the initial symbols; `rows` is the length of `symbol_rows`. */
static const char *symbols_fault(const Vocabulary *v, int64_t rows) {
    int right = rows == 4 * SYMBOL_BLOCKS && v->symbol_entries >= 256 && v->symbol_entries <= 256 << 16 &&
                v->symbol_entries % 256 == 0 && v->boundary_rule >= NO_BOUNDARIES &&
                v->boundary_rule <= AT_KNOWN_SPACES && (v->char_level || v->boundary_rule == NO_BOUNDARIES) &&
                (v->unk == NONE || v->unk < v->id_count);
    for (int64_t i = 0; right && i < rows; i++) right = v->symbol_rows[i] < v->symbol_entries / 256;
    for (int64_t i = 0; right && i < v->symbol_entries; i++)
        right = v->symbol_tokens[i] == NONE || v->symbol_tokens[i] < v->token_count;
    return right ? NULL : "the initial symbols have a table or a token that does not exist";
}

/* Of `count` pairs and the merges that they belong to. */
static const char *merges_fault(const Vocabulary *v, const Pair *pairs, int64_t count) {
    int right = v->merge_count <= 1 << MERGE_BITS && count <= 1 << MERGE_BITS;
    for (int64_t i = 0; right && i < v->merge_count; i++) right = v->result[i] < v->token_count;
    for (int64_t i = 0; right && i < count; i++)
        right = pairs[i].left >= 0 && pairs[i].left < v->token_count && pairs[i].right >= 0 &&
                pairs[i].right < v->token_count && pairs[i].merge >= 0 && pairs[i].merge < v->merge_count;
    return right ? NULL : "a merge has a token that does not exist";
}

#endif
