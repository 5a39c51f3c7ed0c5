/* Scan table: convert an automaton's table, as `regex/dfa.py` has it, to that of scan.h, and to those of the faster
   scanners.

   Each entry is checked, so that no text can lead outside the table, whatever the caller passes. Cost: some
   microseconds a state. Chapter: Native code. */
#ifndef BPELAB_SCAN_TABLE_H
#define BPELAB_SCAN_TABLE_H

#include "find_pieces.h"

static void scan_free(Scan *scan) {
    free(scan->steps);
    free(scan->stage1);
    free(scan->stage2);
    readers_free(scan->readers);
}

/* What is wrong with a table, or NULL. `entries`, `blocks` and `classes` are the lengths of its three arrays. */
static const char *table_fault(const Scan *scan, const int32_t *transitions, int64_t entries, int width, int start,
                               int64_t blocks, int64_t classes) {
    if (width < 1 || width > 256 || entries % width || entries / width > 1 << 15 || start < 0 ||
        start >= entries / width || blocks != 0x1100)
        return "the table of the pattern has an impossible size";
    for (int64_t i = 0; i < entries; i++)
        if (transitions[i] < 0 || transitions[i] >> 1 >= entries / width)
            return "the table of the pattern leads to a state that does not exist";
    for (int64_t i = 0; i < blocks; i++)
        if ((int64_t)scan->stage1[i] * 256 + 255 >= classes)
            return "the classes of characters have a block that does not exist";
    for (int64_t i = 0; i < classes; i++)
        if (scan->stage2[i] >= width) return "a character has a class that does not exist";
    return NULL;
}

/* Fill `steps`, whose rows have `row` entries, from the transitions. */
static void fill_steps(Scan *scan, const int32_t *transitions, int64_t states, int width, int start, int64_t row) {
    for (int64_t state = 0; state < states; state++)
        for (int class = 0; class < width; class++) {
            int32_t next = transitions[state * width + class] >> 1, matched = transitions[state * width + class] & 1;
            int32_t begun = transitions[start * width + class] >> 1; /* after the first character of a piece */
            int commits = !next && matched && begun;
            int32_t step = (int32_t)((commits ? begun : next) * row * 16) + (commits ? COMMIT : matched ? MATCH : 0);
            if (!next && !commits) step |= STOP;
            if (class == scan->edge) step = matched ? MATCH : STOP;
            scan->steps[state * row + class] = step;
        }
}

/* Mark what leads to a state that letters don't leave: runs of them are skipped. */
static void mark_letter_runs(Scan *scan, int64_t states, int64_t row) {
    scan->fold = 32;
    for (int64_t state = 0; state < states; state++) {
        int small = 1, capitals = 1;
        for (int letter = 0; letter < 26; letter++) {
            int32_t here = (int32_t)(state * row * 16) + MATCH;
            small &= scan->steps[state * row + scan->byte_class['a' + letter]] == here;
            capitals &= scan->steps[state * row + scan->byte_class['A' + letter]] == here;
        }
        if (!small) continue;
        if (!capitals) scan->fold = 0;
        for (int64_t i = 0; i < states * row; i++)
            if (scan->steps[i] / (row * 16) == state) scan->steps[i] |= RUN;
    }
}

/* Set the rules of the pattern, a `Family` in Python; what is wrong with them, or NULL. */
static const char *set_rules(Scan *scan, const SplitRules *r) {
    if ((r->digits != 0 && r->digits != 1 && r->digits != 3) || r->after_punctuation < NOTHING ||
        r->after_punctuation > LINE_BREAKS_AND_SLASHES || r->contractions < NO_CONTRACTIONS ||
        r->contractions > AFTER_WORDS)
        return "the rules of the pattern have a choice that does not exist";
    scan->rules = *r;
    scan->family = OTHER_RULES;
    for (int family = OTHER_RULES + 1; family < FAMILIES; family++)
        if (!memcmp(r, FAMILY + family, sizeof *r)) scan->family = family;
    find_kinds(scan);
    return NULL;
}

/* Build the table from that of `regex/dfa.py`, whose classes are in `stage1`, of `blocks` entries, and `stage2`, of
   `classes`. `rules` is NULL for a pattern without any. Returns what is wrong, or NULL. */
static const char *scan_build(Scan *scan, const int32_t *transitions, int64_t entries, int width, int start,
                              int64_t blocks, int64_t classes, const SplitRules *rules) {
    const char *fault = table_fault(scan, transitions, entries, width, start, blocks, classes);
    if (fault) return fault;
    int64_t states = entries / width, row = (int64_t)next_power_of_two((uint64_t)width);
    if (!(scan->steps = calloc((size_t)(states * row), 4))) return OUT_OF_MEMORY;
    scan->edge = width - 1;
    scan->start = (int32_t)(start * row);
    fill_steps(scan, transitions, states, width, start, row);
    memcpy(scan->byte_class, scan->stage2 + scan->stage1[0] * 256, 128);
    find_barren_bytes(scan);
    mark_letter_runs(scan, states, row);
    if (rules) return set_rules(scan, rules);
    scan->readers = readers_new(scan, states, (int32_t)row);
    return NULL;
}

#endif
