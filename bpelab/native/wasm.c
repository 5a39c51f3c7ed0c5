/* The module for JavaScript, compiled to WebAssembly without a runtime: what module.c is for Python.

   JavaScript copies arrays into this memory (`allocate`), and hands them over; what a function keeps is said with it.
   Functions that check return the address of a sentence about what is wrong, or 0. Texts and ids are shorter than
   2 GB, as all of this memory is. Nothing here is imported: there is no file, no clock, and no network.
   `javascript/core.js` calls these functions. `make wasm` compiles them. Chapter: Native code. */
#include "checks.h"
#include "decode.h"
#include "scan_table.h"
#include "scratch.h"
#include "split_steps.h"
#include "trace.h"

#define EXPORT(name) __attribute__((export_name(#name), used))

enum { EXTRA_IDS = LONGER }; /* ids beyond its bytes that the output of a text has space for: a row is copied whole */
enum { DECODED_AT_ONCE = 1024 };

typedef struct {
    Vocabulary vocabulary;
    int alphabet_size, pair_count, one_pair_each;
    Pair *pairs; /* until the tables are built */
    Level levels[MAX_LEVELS];
    int level_count;
    Workspace workspace;
    Refiner refiner;
    TokenTable tokens; /* for decoding */
    Scratch result;    /* of the last call that has one */
} Core;

/* ---- Memory ---- */

/* Memory for `size` bytes, and PAD bytes after them; 0 if there is none left. */
EXPORT(allocate) void *allocate(size_t size) { return size > SIZE_MAX - PAD ? NULL : malloc(size + PAD); }
EXPORT(release) void release(void *memory) { free(memory); }

EXPORT(core_free) void core_free(Core *c) {
    for (int i = 0; i < c->level_count; i++) {
        scan_free(&c->levels[i].scan);
        free(c->levels[i].required);
    }
    vocabulary_free(&c->vocabulary);
    cache_free(&c->workspace.cache);
    scratch_trim(&c->result, 0);
    free(c->refiner.ends);
    free(c->refiner.compacted);
    free(c->tokens.rows);
    free(c->pairs);
    free(c);
}

EXPORT(core_new) Core *core_new(void) {
    Core *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->refiner.vocabulary = &c->vocabulary;
    c->refiner.workspace = &c->workspace;
    c->refiner.ends = malloc((MAX_LEVELS + 1) * sizeof *c->refiner.ends);
    c->vocabulary.unk = NONE;
    c->one_pair_each = 1;
    if (cache_new(&c->workspace.cache) && c->refiner.ends) return c;
    core_free(c);
    return NULL;
}

/* Where the ids, the ends or the bytes are that the last call wrote. */
EXPORT(result) void *result(Core *c) { return c->result.memory; }

/* ---- Building: patterns, tokens, symbols, merges, and then `build` ---- */

/* Add a pattern, which splits the pieces of those before it. Keeps `required`, `stage1` (0x1100 uint16) and `stage2`
   (uint8). `rules` are six int32, or NULL. */
EXPORT(add_pattern) const char *add_pattern(Core *c, int keep, uint8_t *required, int required_size,
                                            const int32_t *transitions, int entries, int width, int start,
                                            uint16_t *stage1, uint8_t *stage2, int classes, const SplitRules *rules) {
    if (c->level_count >= MAX_LEVELS - 1) return "there are more patterns than the encoder has levels";
    Level *level = c->levels + c->level_count++;
    level->kind = PATTERN;
    level->keep = keep;
    level->required = required;
    level->required_size = required_size;
    level->scan.stage1 = stage1;
    level->scan.stage2 = stage2;
    if (keep < ALL || keep > GAPS) return "a level must keep all, matches or gaps";
    return scan_build(&level->scan, transitions, entries, width, start, 0x1100, classes, rules);
}

/* Set the tokens, the alphabet first: `offsets` (int32) has one entry more than there are tokens. Keeps `content`,
   `offsets` and `ids` (uint32), but not `byte_tokens` (256 uint32). */
EXPORT(set_tokens) void set_tokens(Core *c, uint8_t *content, int32_t *offsets, uint32_t *ids, int tokens,
                                   int id_count, const uint32_t *byte_tokens, int alphabet_size, int ignore_merges) {
    Vocabulary *v = &c->vocabulary;
    v->content = content;
    v->offsets = offsets;
    v->ids = ids;
    v->token_count = tokens;
    v->id_count = id_count;
    v->content_size = offsets[tokens];
    v->ignore_merges = ignore_merges;
    memcpy(v->byte_tokens, byte_tokens, sizeof v->byte_tokens);
    c->alphabet_size = alphabet_size;
}

/* Set the initial symbols, if they aren't the 256 bytes. Keeps `rows` (uint16) and `tokens` (uint32). */
EXPORT(set_symbols) void set_symbols(Core *c, uint16_t *rows, uint32_t *tokens, int entries, int char_level,
                                     uint32_t unk, int fuse_unk, int boundary_rule) {
    Vocabulary *v = &c->vocabulary;
    v->symbol_rows = rows;
    v->symbol_tokens = tokens;
    v->symbol_entries = entries;
    v->char_level = char_level;
    v->unk = unk;
    v->fuse_unk = fuse_unk;
    v->boundary_rule = boundary_rule;
}

/* Set the merges; without them they follow from the ranks. Keeps `pairs` and `made` (uint32). */
EXPORT(set_merges) void set_merges(Core *c, Pair *pairs, int pair_count, uint32_t *made, int merges,
                                   int one_pair_each) {
    c->pairs = pairs;
    c->pair_count = pair_count;
    c->vocabulary.result = made;
    c->vocabulary.merge_count = merges;
    c->one_pair_each = one_pair_each;
}

/* Check what was set, and build the tables. */
EXPORT(build) const char *build(Core *c) {
    Vocabulary *v = &c->vocabulary;
    const char *fault = v->symbol_entries ? symbols_fault(v, 4 * SYMBOL_BLOCKS) : NULL;
    if (!fault) fault = tokens_fault(v, c->alphabet_size);
    if (!fault) fault = ids_fault(v);
    if (!fault && c->pairs) fault = merges_fault(v, c->pairs, c->pair_count);
    if (fault) return fault;
    memset(v->content + v->content_size, 0, PAD);
    if (!vocabulary_build(v, c->pairs, c->pair_count, c->one_pair_each, c->alphabet_size)) return OUT_OF_MEMORY;
    free(c->pairs);
    c->pairs = NULL;
    if (v->boundary_rule != NO_BOUNDARIES) c->levels[c->level_count++].kind = ADJACENCY;
    c->tokens.content = v->content;
    return token_rows(&c->tokens, (const uint32_t *)v->offsets + 1, v->ids, v->token_count, v->content_size);
}

/* ---- Text and ids ---- */

/* Encode a text that PAD bytes follow, which are overwritten; the ids are the `result`. Returns their number, or less
   than 0. */
EXPORT(encode) int encode(Core *c, uint8_t *text, int size) {
    Refiner *refiner = &c->refiner;
    int64_t offset = 0;
    uint32_t *ids = scratch_reserve(&c->result, (int64_t)size + EXTRA_IDS, sizeof *ids);
    if (!ids) return NO_MEMORY;
    memset(text + size, 0, PAD);
    choose_levels(refiner, c->levels, c->level_count, text, size);
    if (!is_single_pattern(refiner)) return (int)encode_by_levels(refiner, text, &offset, size, 1, ids);
    return (int)encode_range(&c->vocabulary, &refiner->levels[0]->scan, &c->workspace, text, &offset, size, 1, ids);
}

/* Write the ends (int32, in bytes) of the pieces by the first pattern; arguments and result as for `encode`. */
EXPORT(piece_ends) int piece_ends(Core *c, uint8_t *text, int size) {
    int32_t *ends = scratch_reserve(&c->result, (int64_t)size + 1, sizeof *ends);
    int64_t at = 0, number = 0;
    if (!ends) return NO_MEMORY;
    if (!c->level_count || c->levels[0].kind != PATTERN) return size ? (ends[0] = size, 1) : 0;
    memset(text + size, 0, PAD);
    while (at < size) {
        int64_t count = find_pieces(text, at, size, 1, &c->levels[0].scan, &c->workspace.readers, c->workspace.ends);
        if (count < 0) return (int)count;
        for (int64_t i = 0; i < count; i++) ends[number++] = (int32_t)c->workspace.ends[i];
        at = c->workspace.ends[count - 1];
    }
    return (int)number;
}

/* Write the merges of a text, see trace.h: the number of symbols and of steps, the symbols' ids, and the four numbers of
   each step (uint32). Arguments and result as for `encode`. */
EXPORT(trace) int trace(Core *c, uint8_t *text, int size) {
    Refiner *refiner = &c->refiner;
    uint32_t *numbers = scratch_reserve(&c->result, 6 * (int64_t)size + 2, sizeof *numbers);
    if (!numbers) return NO_MEMORY;
    Trace t = {numbers + 2, numbers + 2 + 5 * (int64_t)size, (TraceStep *)(numbers + 2 + size), 0, 0};
    memset(text + size, 0, PAD);
    choose_levels(refiner, c->levels, c->level_count, text, size);
    int64_t state = trace_range(&t, refiner, 0, text, 0, size);
    if (state < 0) return (int)state;
    numbers[0] = (uint32_t)t.symbol_count;
    numbers[1] = (uint32_t)t.step_count;
    memmove(t.symbols + t.symbol_count, t.steps, (size_t)t.step_count * sizeof *t.steps);
    return (int)(2 + t.symbol_count + 4 * t.step_count);
}

/* Decode ids; the bytes are the `result`. Returns their number, or less than 0: -1 if an id has no token. */
EXPORT(decode) int decode(Core *c, const uint32_t *ids, int count) {
    int64_t block[DECODED_AT_ONCE], total = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint8_t *bytes = pass ? scratch_reserve(&c->result, total + 1, 1) : NULL;
        if (pass && !bytes) return NO_MEMORY;
        total = 0;
        for (int done = 0, number; done < count; done += number) {
            number = count - done < DECODED_AT_ONCE ? count - done : DECODED_AT_ONCE;
            for (int i = 0; i < number; i++) block[i] = ids[done + i];
            int64_t size = decoded_size(&c->tokens, block, number);
            if (size < 0) return -1;
            if (pass) copy_tokens(&c->tokens, block, number, bytes + total, size);
            total += size;
            if (total > INT32_MAX) return NO_MEMORY;
        }
    }
    return (int)total;
}
