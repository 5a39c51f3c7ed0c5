/* Table file: all tables of a vocabulary in one block of memory, which can be written to a file and mapped from it.

   The block is a header of sizes, then the arrays, each at a multiple of 64 bytes. A mapped file is shared by all
   processes that use it. A checksum detects damage: each step of it is a bijection, so that no single changed word goes
   unnoticed. It is no protection from somebody who may write to the file. Cost: reading it once, 2 ms for 16 MB.
   Chapter: Compiled. */
#ifndef BPELAB_TABLE_FILE_H
#define BPELAB_TABLE_FILE_H

#include <stddef.h>

#include "neighbours.h"

#define MAGIC "bpelab3\n"
enum { SECTIONS = 15, ENDIANNESS = 0x01020304 };

typedef struct {
    char magic[8];
    int32_t endianness, struct_sizes;
    int32_t merge_shift, ignore_merges, ids_are_indices, has_trie, has_context_filter, char_level, fuse_unk,
        boundary_rule;
    uint32_t unk, result_offset;
    int64_t token_count, id_count, unit_entries, merge_count, content_size, node_count;
    uint64_t merge_mask, short_mask, long_mask, checksum;
    uint32_t byte_tokens[256];
} Header;

enum { STRUCT_SIZES = (int)(sizeof(Header) << 16 | sizeof(ShortToken) << 8 | sizeof(Node)) };

typedef struct {
    void **array;
    size_t size; /* in bytes */
} Section;

static void list_sections(Vocabulary *v, Section sections[SECTIONS]) {
    size_t count = (size_t)v->token_count;
    Section all[SECTIONS] = {
        {(void **)&v->ids, (size_t)v->id_count * sizeof *v->ids},
        {(void **)&v->content, (size_t)v->content_size + PAD},
        {(void **)&v->offsets, (count + 1) * sizeof *v->offsets},
        {(void **)&v->byte_merges, v->unit_entries ? 0 : 65536 * sizeof *v->byte_merges},
        {(void **)&v->merge_table, (v->merge_mask + 1) * sizeof *v->merge_table},
        {(void **)&v->result, (size_t)v->merge_count * sizeof *v->result},
        {(void **)&v->short_tokens, (v->short_mask + 1) * sizeof *v->short_tokens},
        {(void **)&v->long_tokens, (v->long_mask + 1) * sizeof *v->long_tokens},
        {(void **)&v->splits, count * 2 * sizeof *v->splits},
        {(void **)&v->trie, v->node_count ? (size_t)(v->node_count + 1) * sizeof *v->trie : 0},
        {(void **)&v->longest_prefix, v->node_count ? count * sizeof *v->longest_prefix : 0},
        {(void **)&v->context_filter, v->has_context_filter ? (size_t)1 << (CONTEXT_BITS - 3) : 0},
        {(void **)&v->unit_rows, v->unit_entries ? 4 * UNIT_BLOCKS * sizeof *v->unit_rows : 0},
        {(void **)&v->unit_tokens, (size_t)v->unit_entries * sizeof *v->unit_tokens},
        {(void **)&v->adjacency, v->boundary_rule == NO_BOUNDARIES ? 0 : (size_t)ADJACENCY_BYTES},
    };
    memcpy(sections, all, sizeof all);
}

INLINE size_t align_64(size_t size) { return (size + 63) & ~(size_t)63; }

static size_t file_size(Vocabulary *v) {
    Section sections[SECTIONS];
    size_t size = align_64(sizeof(Header));
    list_sections(v, sections);
    for (int i = 0; i < SECTIONS; i++) size += align_64(sections[i].size);
    return size;
}

/* The checksum of `size` bytes, a multiple of 64. Four lanes, so that no multiplication waits for the one before. */
static uint64_t checksum(const uint8_t *from, size_t size, uint64_t seed) {
    uint64_t lanes[4] = {seed ^ 1, seed ^ 2, seed ^ 3, seed ^ 4}, all = size;
    for (size_t at = 0; at < size; at += 32)
        for (int lane = 0; lane < 4; lane++) {
            uint64_t mixed = fibonacci_hash(lanes[lane] ^ load64(from + at + 8 * lane));
            lanes[lane] = mixed ^ mixed >> 32;
        }
    for (int lane = 0; lane < 4; lane++) all = fibonacci_hash(all ^ lanes[lane]) ^ all >> 29;
    return all;
}

/* The checksum of a block, with zeros in place of the checksum itself. */
static uint64_t block_checksum(const uint8_t *block, size_t size) {
    uint8_t header[(sizeof(Header) + 63) / 64 * 64] = {0};
    memcpy(header, block, sizeof(Header));
    memset(header + offsetof(Header, checksum), 0, sizeof(uint64_t));
    return checksum(block + sizeof header, size - sizeof header, checksum(header, sizeof header, 0));
}

/* Serialize all tables to `to`, which has `file_size` bytes. */
static void write_tables(Vocabulary *v, uint8_t *to) {
    uint8_t *block = to;
    Section sections[SECTIONS];
    Header header = {MAGIC, ENDIANNESS, STRUCT_SIZES, v->merge_shift, v->ignore_merges, v->ids_are_indices,
                     v->node_count > 0, v->has_context_filter, v->char_level, v->fuse_unk, v->boundary_rule, v->unk,
                     v->result_offset,
                     v->token_count, v->id_count, v->unit_entries, v->merge_count, v->content_size, v->node_count,
                     v->merge_mask, v->short_mask, v->long_mask, 0, {0}};
    memcpy(header.byte_tokens, v->byte_tokens, sizeof header.byte_tokens);
    memset(to, 0, file_size(v));
    memcpy(to, &header, sizeof header);
    to += align_64(sizeof header);
    list_sections(v, sections);
    for (int i = 0; i < SECTIONS; i++) {
        if (sections[i].size) memcpy(to, *sections[i].array, sections[i].size);
        to += align_64(sections[i].size);
    }
    header.checksum = block_checksum(block, file_size(v));
    memcpy(block, &header, sizeof header);
}

INLINE int is_mask(uint64_t mask) { return mask >= 15 && mask < (uint64_t)1 << 32 && !(mask & (mask + 1)); }

/* Point the tables into a block that `write_tables` wrote. 0 if it didn't write it, or the block was damaged. */
static int map_tables(Vocabulary *v, const uint8_t *from, size_t size) {
    Header header;
    Section sections[SECTIONS];
    if (size < sizeof header || ((uintptr_t)from & 7)) return 0;
    memcpy(&header, from, sizeof header);
    if (memcmp(header.magic, MAGIC, 8) || header.endianness != ENDIANNESS || header.struct_sizes != STRUCT_SIZES ||
        header.token_count < 1 || header.id_count < header.token_count ||
        header.id_count > (int64_t)1 << TOKEN_BITS || header.unit_entries < 0 || header.unit_entries > 256 << 16 ||
        header.unit_entries % 256 || header.boundary_rule < NO_BOUNDARIES || header.boundary_rule > AT_KNOWN_SPACES ||
        (header.boundary_rule && !header.unit_entries) || header.merge_count < 0 ||
        header.merge_count > (int64_t)1 << MERGE_BITS || header.content_size < 0 || header.content_size > INT32_MAX ||
        header.node_count < 0 || header.node_count > INT32_MAX ||
        !is_mask(header.merge_mask) || !is_mask(header.short_mask) || !is_mask(header.long_mask) ||
        header.merge_shift != 64 - highest_bit(header.merge_mask + 1))
        return 0;
    v->merge_shift = header.merge_shift;
    v->ignore_merges = header.ignore_merges;
    v->ids_are_indices = header.ids_are_indices;
    v->result_offset = header.result_offset;
    v->has_context_filter = header.has_context_filter;
    v->char_level = header.char_level;
    v->fuse_unk = header.fuse_unk;
    v->boundary_rule = header.boundary_rule;
    v->unk = header.unk;
    v->token_count = header.token_count;
    v->id_count = header.id_count;
    v->unit_entries = header.unit_entries;
    v->merge_count = header.merge_count;
    v->content_size = header.content_size;
    v->node_count = header.node_count;
    v->merge_mask = header.merge_mask;
    v->short_mask = header.short_mask;
    v->long_mask = header.long_mask;
    memcpy(v->byte_tokens, header.byte_tokens, sizeof header.byte_tokens);
    if (file_size(v) != size || block_checksum(from, size) != header.checksum) return 0;
    from += align_64(sizeof header);
    list_sections(v, sections);
    for (int i = 0; i < SECTIONS; i++) {
        *sections[i].array = sections[i].size ? (void *)from : NULL;
        from += align_64(sections[i].size);
    }
    return 1;
}

#endif
