/* Huge pages: large allocations in pages of 2 MB, so that random look-ups miss the processor's TLB less often.

   The system provides huge pages on request (madvise), and only as whole, aligned pages, so allocations here start at a
   multiple of that size. On other systems, and below the size of one page, it is ordinary memory.
   Cost: none; up to 2 MB of addresses, not of memory. Chapter: Native code. */
#ifndef BPELAB_HUGE_PAGES_H
#define BPELAB_HUGE_PAGES_H

#include "common.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#define HUGE_PAGE ((size_t)1 << 21)
#define CACHE_LINE ((size_t)64)

/* Ask for huge pages for memory that was not written to yet, as far as it has whole ones. */
INLINE void advise_huge_pages(void *memory, size_t size) {
#if defined(MADV_HUGEPAGE)
    uintptr_t start = (uintptr_t)memory, begin = (start + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    uintptr_t end = (start + size) & ~(uintptr_t)(HUGE_PAGE - 1);
    if (begin < end) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)memory, (void)size;
#endif
}

/* Allocate zeros that begin at a cache line or, where there is space for one, at a huge page; `*memory` is what is to be
   freed. NULL if memory runs out. */
INLINE void *calloc_aligned(size_t size, void **memory) {
    size_t alignment = size >= HUGE_PAGE ? HUGE_PAGE : CACHE_LINE;
    *memory = calloc(1, size + alignment);
    if (!*memory) return NULL;
    uint8_t *aligned = (uint8_t *)(((uintptr_t)*memory + alignment - 1) & ~(uintptr_t)(alignment - 1));
    if (size >= HUGE_PAGE) advise_huge_pages(aligned, size);
    return aligned;
}

#endif
