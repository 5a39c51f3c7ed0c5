/* Piece ends: run a scanner on many short texts, for tests, with any instruction set or the automaton alone.

   module.c includes this file. Cost: that of the scan, plus building the table in each call. */
#ifndef BPELAB_PIECE_ENDS_H
#define BPELAB_PIECE_ENDS_H

#include "scan_table.h"

static int64_t scan_with_automaton(const uint8_t *text, int64_t begin, int64_t end, int final, const Scan *scan,
                                   int64_t *ends) {
    return scan_pieces(text, begin, end, final, scan, ends);
}

/* The instruction set of this name, or NULL if this machine has none. */
static BlockScanner scanner_named(const char *name) {
    const InstructionSet *set = find_instruction_set(name);
    return set ? set->scan : NULL;
}

/* Write the ends of the pieces of all texts to `out`; returns their number, or less than 0. */
static int64_t write_piece_ends(BlockScanner scan_with, const Scan *scan, const uint8_t *bytes, const int64_t *stops,
                                int64_t texts, int final, int64_t *out) {
    int64_t ends[MAX_ENDS], written = 0, begin = 0;
    for (int64_t i = 0; i < texts; begin = stops[i++])
        for (int64_t at = begin, count; at < stops[i]; at = ends[count - 1]) {
            if ((count = scan_with(bytes, at, stops[i], final, scan, ends)) < 0) return count;
            if (!count) break;
            memcpy(out + written, ends, (size_t)count * sizeof *ends);
            written += count;
        }
    return written;
}

static PyObject *piece_ends(PyObject *module, PyObject *args) {
    PyObject *table, *stops, *result = NULL;
    const char *text, *name;
    Py_ssize_t size;
    int64_t texts, written = NO_MEMORY;
    int final;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!s#Opz", &PyTuple_Type, &table, &text, &size, &stops, &final, &name)) return NULL;
    BlockScanner scan_with = name ? scanner_named(name) : scan_with_automaton;
    if (!scan_with) return value_error("this machine has no such instruction set"), NULL;
    Scan scan = {0};
    int64_t *offsets = copy_buffer(stops, sizeof *offsets, &texts), before = 0;
    int right = offsets && read_scan(&scan, table);
    for (int64_t i = 0; right && i < texts; before = offsets[i++])
        if (offsets[i] < before || offsets[i] > size || (text[offsets[i]] & 0xC0) == 0x80)
            right = value_error("a text ends before it begins, or in a character");
    if (right && name && !scan.family) right = value_error("this pattern has no rules");
    uint8_t *padded = right ? malloc((size_t)size + PAD) : NULL;
    int64_t *found = right ? malloc(((size_t)size + 1) * sizeof *found) : NULL;
    if (padded && found) {
        memcpy(padded, text, (size_t)size);
        memset(padded + size, 0, PAD);
        written = write_piece_ends(scan_with, &scan, padded, offsets, texts, final, found);
    }
    if (right) result = written < 0 ? encode_failed(written)
                                    : PyByteArray_FromStringAndSize((const char *)found, (Py_ssize_t)written * 8);
    free(padded);
    free(found);
    free(offsets);
    scan_free(&scan);
    return result;
}

#endif
