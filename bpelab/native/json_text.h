/* JSON text: read strings and numbers, and skip values, in bytes from a file that nobody has checked.

   Strings are checked as Python's json does; what is skipped isn't, because Python reads it. Nothing recurses, and each
   function stops at the end of the bytes. Chapter: File formats. Source: RFC 8259. */
#ifndef BPELAB_JSON_TEXT_H
#define BPELAB_JSON_TEXT_H

#include "common.h"

typedef struct {
    const uint8_t *at, *end;
} Cursor;

INLINE void skip_spaces(Cursor *text) {
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\n' || *text->at == '\r' || *text->at == '\t'))
        text->at++;
}

/* Whether a character comes next, after white space; the cursor is then after it. */
INLINE int takes(Cursor *text, uint8_t character) {
    skip_spaces(text);
    if (text->at == text->end || *text->at != character) return 0;
    text->at++;
    return 1;
}

/* The value of four hexadecimal digits, or -1. */
static int32_t read_hex(Cursor *text) {
    int32_t value = 0;
    if (text->end - text->at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        uint8_t digit = *text->at++, letter = digit | 32;
        if (digit >= '0' && digit <= '9') value = value << 4 | (digit - '0');
        else if (letter >= 'a' && letter <= 'f') value = value << 4 | (letter - 'a' + 10);
        else return -1;
    }
    return value;
}

/* Write the character of the escape after a backslash as UTF-8; its bytes, or 0 for none, or half a surrogate pair. */
static int read_escape(Cursor *text, uint8_t *out) {
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (text->at == text->end) return 0;
    uint8_t name = *text->at++;
    if (name != 'u') {
        const char *found = name ? strchr(names, name) : NULL;
        if (found) *out = (uint8_t)meanings[found - names];
        return found != NULL;
    }
    int32_t code = read_hex(text), low;
    if (code < 0 || (code >= 0xDC00 && code < 0xE000)) return 0;
    if (code >= 0xD800 && code < 0xDC00) {
        if (text->end - text->at < 6 || text->at[0] != '\\' || text->at[1] != 'u') return 0;
        text->at += 2;
        if ((low = read_hex(text)) < 0xDC00 || low > 0xDFFF) return 0;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t first[] = {0, 0xC0, 0xE0, 0xF0};
    *out++ = (uint8_t)(first[more] | code >> 6 * more);
    for (int left = more; left--;) *out++ = (uint8_t)(0x80 | (code >> 6 * left & 0x3F));
    return more + 1;
}

/* Write the string that comes next to `out`, which has space for as many bytes as it has in the text; returns its
   size, or -1 if there is none. */
static int64_t read_string(Cursor *text, uint8_t *out) {
    uint8_t *start = out;
    if (!takes(text, '"')) return -1;
    while (text->at < text->end) {
        uint8_t byte = *text->at++;
        if (byte == '"') return out - start;
        if (byte < 0x20) return -1;
        if (byte != '\\') {
            *out++ = byte;
        } else {
            int size = read_escape(text, out);
            if (!size) return -1;
            out += size;
        }
    }
    return -1;
}

/* The number that comes next, an integer from 0 to 2^32 - 1, or -1. */
static int64_t read_uint32(Cursor *text) {
    int64_t value = 0;
    skip_spaces(text);
    const uint8_t *start = text->at;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9' && value <= UINT32_MAX)
        value = 10 * value + (*text->at++ - '0');
    int64_t digits = text->at - start;
    return digits && (digits == 1 || *start != '0') && value <= UINT32_MAX ? value : -1;
}

/* Skip the string that comes next; 0 if there is none. */
static int skip_string(Cursor *text) {
    if (!takes(text, '"')) return 0;
    while (text->at < text->end) {
        uint8_t byte = *text->at++;
        if (byte == '"') return 1;
        if (byte == '\\' && text->at < text->end) text->at++;
    }
    return 0;
}

/* Skip the value that comes next, whatever it is; 0 if the text ends before. */
static int skip_value(Cursor *text) {
    int64_t depth = 0;
    do {
        skip_spaces(text);
        if (text->at == text->end) return 0;
        uint8_t byte = *text->at;
        if (byte == '"') {
            if (!skip_string(text)) return 0;
        } else {
            if (!depth && (byte == ',' || byte == ':' || byte == ']' || byte == '}')) return 0;
            depth += (byte == '{' || byte == '[') - (byte == '}' || byte == ']');
            text->at++;
            if (!depth && byte != ']' && byte != '}') /* a number, or a word */
                while (text->at < text->end && !strchr(",]} \n\r\t", *text->at)) text->at++;
        }
    } while (depth);
    return 1;
}

/* Skip to the value of a key of the object that comes next; 0 if it hasn't got the key, spelled without escapes. */
static int find_key(Cursor *text, const char *key) {
    int64_t size = (int64_t)strlen(key);
    if (!takes(text, '{')) return 0;
    do {
        skip_spaces(text);
        const uint8_t *start = text->at + 1;
        if (!skip_string(text) || !takes(text, ':')) return 0;
        if (text->end - start > size && !memcmp(start, key, (size_t)size) && start[size] == '"') return 1;
    } while (skip_value(text) && takes(text, ','));
    return 0;
}

#endif
