/* Scratch memory: a buffer that later calls reuse, so that the system needn't map and clear its pages again.

   It grows to the requested size, which loses its contents, and more than KEPT_BYTES is freed after the call. Cost:
   none if it is large enough. Chapter: Native code. */
#ifndef BPELAB_SCRATCH_H
#define BPELAB_SCRATCH_H

#include "common.h"

enum { KEPT_BYTES = (1 << 22) + 4096 }; /* the ids of 1 MB of text, if each byte were one */

typedef struct {
    void *memory;
    size_t size;
} Scratch;

/* The buffer with space for `number` items of `size` bytes; NULL if memory runs out. */
INLINE void *scratch_reserve(Scratch *scratch, int64_t number, size_t size) {
    if (number < 0 || (uint64_t)number > SIZE_MAX / size) return NULL;
    size_t wanted = (size_t)number * size;
    if (wanted <= scratch->size) return scratch->memory;
    free(scratch->memory);
    scratch->memory = malloc(wanted);
    scratch->size = scratch->memory ? wanted : 0;
    return scratch->memory;
}

/* Give back a buffer of more than `limit` bytes. */
INLINE void scratch_trim(Scratch *scratch, size_t limit) {
    if (scratch->size <= limit) return;
    free(scratch->memory);
    scratch->memory = NULL;
    scratch->size = 0;
}

#endif
