/* Find pieces: choose the scanner that splits a text by a pattern.

   A pattern with known rules is scanned in blocks of 64 bytes. Any other is scanned by four readers of its automaton,
   or by a single one if the text is short or the four give up. All find the same pieces as the automaton.
   Chapter: Native code. */
#ifndef BPELAB_FIND_PIECES_H
#define BPELAB_FIND_PIECES_H

#include "block_scanners.h"
#include "parallel_scan.h"

_Static_assert((int)MAX_BLOCK_ENDS <= (int)MAX_ENDS, "a block scanner writes more ends than there is room for");

/* As `scan_pieces`, with at most MAX_ENDS ends. */
static int64_t find_pieces(const uint8_t *text, int64_t begin, int64_t end, int final, const Scan *scan,
                           ReaderState *q, int64_t *ends) {
    if (scan->family) return instruction_set->scan(text, begin, end, final, scan, ends);
    if (scan->readers && end - begin >= BATCH_BYTES && q->backoff-- <= 0) {
        int64_t count = scan_by_readers(scan, q, text, begin, ends);
        q->backoff = count < 0 ? BACKOFF : 0;
        if (count >= 0) return count;
    }
    return scan_pieces(text, begin, end, final, scan, ends);
}

#endif
