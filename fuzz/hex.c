/* hex.c - reading and writing bytes as hex text. */
#include "hex.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEX_LINE = 32 };                 /* bytes per line written */

/* Returns the next character outside blanks and comments; EOF at the end. */
static int hex_next(FILE *file)
{
    int c = getc(file);
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '#') {
        if (c == '#')
            while (c != '\n' && c != EOF)
                c = getc(file);
        else
            c = getc(file);
    }
    return c;
}

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* Decodes the text into `bytes` unless that is NULL; returns the number of
 * bytes, or -1. */
static long hex_decode(FILE *file, uint8_t *bytes)
{
    long n = 0;
    for (int c = hex_next(file); c != EOF; c = hex_next(file), n++) {
        int high = hex_digit(c), low = hex_digit(getc(file));
        if (high < 0 || low < 0)
            return -1;
        if (bytes != NULL)
            bytes[n] = (uint8_t)(high << 4 | low);
    }
    return ferror(file) ? -1 : n;
}

bool hex_read(const char *path, uint8_t **bytes, size_t *n)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    long count = hex_decode(file, NULL);
    uint8_t *block = count >= 0 ? malloc((size_t)count) : NULL;
    rewind(file);
    bool good = block != NULL && hex_decode(file, block) == count;
    fclose(file);
    if (!good) {
        free(block);
        return false;
    }
    *bytes = block;
    *n = (size_t)count;
    return true;
}

bool hex_write(const char *path, const char *comment, const uint8_t *bytes,
               size_t n)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    fprintf(file, "# %s\n", comment);
    for (size_t i = 0; i < n; i++)
        fprintf(file, "%02x%s", bytes[i],
                i % HEX_LINE == HEX_LINE - 1 || i == n - 1 ? "\n" : "");
    bool good = !ferror(file);
    return fclose(file) == 0 && good;
}
