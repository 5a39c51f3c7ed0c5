/* Table file: all tables of a vocabulary in one block of memory, which is written to a file and mapped from it.

   A head of sizes, then the arrays, each at a multiple of 64 bytes. What is mapped is shared by all processes that use
   it. A checksum finds what was damaged: each step of it is a bijection, so that no changed word goes unnoticed by
   itself; it is no protection from somebody who may write to the file. Cost: reading it once, 2 ms for 16 MB.
   Chapter: Compiled. */
#ifndef BPELAB_TABLE_FILE_H
#define BPELAB_TABLE_FILE_H

#include <stddef.h>

#include "neighbours.h"

#define MAGIC "bpelab2\n"
enum { PARTS = 15, ORDER = 0x01020304 };

typedef struct {
    char magic[8];
    int32_t order, sizes; /* of bytes in a number; of the structures */
    int32_t pairs_shift, whole, same_ids, has_trie, has_crossings, characters, fuse, cuts;
    uint32_t unknown, reserved;
    int64_t tokens, numbers, units, merges, content_size, nodes;
    uint64_t pairs_mask, shorts_mask, longs_mask, checksum;
    uint32_t byte_tokens[256];
} Head;

enum { SIZES = (int)(sizeof(Head) << 16 | sizeof(ShortToken) << 8 | sizeof(Node)) };

typedef struct {
    void **table;
    size_t size;
} Part;

static void list_parts(Vocabulary *v, Part parts[PARTS]) {
    size_t tokens = (size_t)v->tokens;
    Part all[PARTS] = {
        {(void **)&v->ids, (size_t)v->numbers * sizeof *v->ids},
        {(void **)&v->content, (size_t)v->content_size + PAD},
        {(void **)&v->starts, (tokens + 1) * sizeof *v->starts},
        {(void **)&v->byte_pairs, v->units ? 0 : 65536 * sizeof *v->byte_pairs},
        {(void **)&v->pairs, (v->pairs_mask + 1) * sizeof *v->pairs},
        {(void **)&v->made, (size_t)v->merges * sizeof *v->made},
        {(void **)&v->shorts, (v->shorts_mask + 1) * sizeof *v->shorts},
        {(void **)&v->longs, (v->longs_mask + 1) * sizeof *v->longs},
        {(void **)&v->halves, tokens * 2 * sizeof *v->halves},
        {(void **)&v->trie, v->nodes ? (size_t)(v->nodes + 1) * sizeof *v->trie : 0},
        {(void **)&v->shorter, v->nodes ? tokens * sizeof *v->shorter : 0},
        {(void **)&v->crossings, v->has_crossings ? (size_t)1 << (CROSSING_BITS - 3) : 0},
        {(void **)&v->unit_rows, v->units ? 4 * UNIT_BLOCKS * sizeof *v->unit_rows : 0},
        {(void **)&v->unit_tokens, (size_t)v->units * sizeof *v->unit_tokens},
        {(void **)&v->neighbours, v->cuts == NO_CUTS ? 0 : (size_t)NEIGHBOURS},
    };
    memcpy(parts, all, sizeof all);
}

INLINE size_t aligned(size_t size) { return (size + 63) & ~(size_t)63; }

static size_t file_size(Vocabulary *v) {
    Part parts[PARTS];
    size_t size = aligned(sizeof(Head));
    list_parts(v, parts);
    for (int i = 0; i < PARTS; i++) size += aligned(parts[i].size);
    return size;
}

/* Four lanes, so that no multiplication waits for the one before. The size is a multiple of 64. */
static uint64_t checksum(const uint8_t *from, size_t size, uint64_t seed) {
    uint64_t lanes[4] = {seed ^ 1, seed ^ 2, seed ^ 3, seed ^ 4}, all = size;
    for (size_t at = 0; at < size; at += 32)
        for (int lane = 0; lane < 4; lane++) {
            uint64_t mixed = spread(lanes[lane] ^ load64(from + at + 8 * lane));
            lanes[lane] = mixed ^ mixed >> 32;
        }
    for (int lane = 0; lane < 4; lane++) all = spread(all ^ lanes[lane]) ^ all >> 29;
    return all;
}

/* The checksum of a whole block, but for the place where it is written. */
static uint64_t block_checksum(const uint8_t *block, size_t size) {
    uint8_t head[(sizeof(Head) + 63) / 64 * 64] = {0};
    memcpy(head, block, sizeof(Head));
    memset(head + offsetof(Head, checksum), 0, sizeof(uint64_t));
    return checksum(block + sizeof head, size - sizeof head, checksum(head, sizeof head, 0));
}

/* Write all tables to `to`, which has `file_size` bytes. */
static void write_tables(Vocabulary *v, uint8_t *to) {
    uint8_t *block = to;
    Part parts[PARTS];
    Head head = {MAGIC, ORDER, SIZES, v->pairs_shift, v->whole, v->same_ids, v->nodes > 0, v->has_crossings,
                 v->characters, v->fuse, v->cuts, v->unknown, 0, v->tokens, v->numbers, v->units, v->merges, v->content_size, v->nodes, v->pairs_mask, v->shorts_mask, v->longs_mask, 0, {0}};
    memcpy(head.byte_tokens, v->byte_tokens, sizeof head.byte_tokens);
    memset(to, 0, file_size(v));
    memcpy(to, &head, sizeof head);
    to += aligned(sizeof head);
    list_parts(v, parts);
    for (int i = 0; i < PARTS; i++) {
        if (parts[i].size) memcpy(to, *parts[i].table, parts[i].size);
        to += aligned(parts[i].size);
    }
    head.checksum = block_checksum(block, file_size(v));
    memcpy(block, &head, sizeof head);
}

INLINE int is_mask(uint64_t mask) { return mask >= 15 && mask < (uint64_t)1 << 32 && !(mask & (mask + 1)); }

/* Point into a block that `write_tables` wrote; 0 for one that it didn't write, or that was damaged. */
static int map_tables(Vocabulary *v, const uint8_t *from, size_t size) {
    Head head;
    Part parts[PARTS];
    if (size < sizeof head || ((uintptr_t)from & 7)) return 0;
    memcpy(&head, from, sizeof head);
    if (memcmp(head.magic, MAGIC, 8) || head.order != ORDER || head.sizes != SIZES || head.tokens < 1 ||
        head.numbers < head.tokens ||
        head.numbers > (int64_t)1 << TOKEN_BITS || head.units < 0 || head.units > 256 << 16 || head.units % 256 ||
        head.cuts < NO_CUTS || head.cuts > AT_KNOWN_SPACES || (head.cuts && !head.units) || head.merges < 0 || head.merges > (int64_t)1 << MERGE_BITS ||
        head.content_size < 0 || head.content_size > INT32_MAX || head.nodes < 0 || head.nodes > INT32_MAX ||
        !is_mask(head.pairs_mask) || !is_mask(head.shorts_mask) || !is_mask(head.longs_mask) ||
        head.pairs_shift != 64 - highest_bit(head.pairs_mask + 1))
        return 0;
    v->pairs_shift = head.pairs_shift;
    v->whole = head.whole;
    v->same_ids = head.same_ids;
    v->has_crossings = head.has_crossings;
    v->characters = head.characters;
    v->fuse = head.fuse;
    v->cuts = head.cuts;
    v->unknown = head.unknown;
    v->tokens = head.tokens;
    v->numbers = head.numbers;
    v->units = head.units;
    v->merges = head.merges;
    v->content_size = head.content_size;
    v->nodes = head.nodes;
    v->pairs_mask = head.pairs_mask;
    v->shorts_mask = head.shorts_mask;
    v->longs_mask = head.longs_mask;
    memcpy(v->byte_tokens, head.byte_tokens, sizeof head.byte_tokens);
    if (file_size(v) != size || block_checksum(from, size) != head.checksum) return 0;
    from += aligned(sizeof head);
    list_parts(v, parts);
    for (int i = 0; i < PARTS; i++) {
        *parts[i].table = parts[i].size ? (void *)from : NULL;
        from += aligned(parts[i].size);
    }
    return 1;
}

#endif
