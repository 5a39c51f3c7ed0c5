/* Counted allocations that fail on request: included before everything else by `-include`.

   `allocations_until_failure` counts down; at 0 this allocation and all later ones return NULL. Below 0 none fails. */
#include <stdlib.h>
#include <string.h>

static long allocations_live, allocations_until_failure = -1;

__attribute__((visibility("default"))) void fail_after(long count) { allocations_until_failure = count; }
__attribute__((visibility("default"))) long live_allocations(void) { return allocations_live; }

static inline int allocation_fails(void) {
    if (allocations_until_failure < 0) return 0;
    if (allocations_until_failure == 0) return 1;
    allocations_until_failure--;
    return 0;
}

static inline void *counted_malloc(size_t size) {
    void *made = allocation_fails() ? NULL : malloc(size);
    allocations_live += made != NULL;
    return made;
}

static inline void *counted_calloc(size_t count, size_t size) {
    void *made = allocation_fails() ? NULL : calloc(count, size);
    allocations_live += made != NULL;
    return made;
}

static inline void *counted_realloc(void *from, size_t size) {
    void *made = allocation_fails() ? NULL : realloc(from, size);
    allocations_live += made != NULL && from == NULL;
    return made;
}

static inline void counted_free(void *from) {
    allocations_live -= from != NULL;
    free(from);
}

#define malloc(size) counted_malloc(size)
#define calloc(count, size) counted_calloc(count, size)
#define realloc(from, size) counted_realloc(from, size)
#define free(from) counted_free(from)
