/* vectors.h - files written by other systems, for tests of formats.
 *
 * Small ones are in the tests, as hex. Larger ones are read if present
 * (TEST_VECTORS); otherwise the test is skipped. Include test.h first.
 */
#ifndef BLY_TEST_VECTORS_H
#define BLY_TEST_VECTORS_H

#include "bits/digest.h"

#define TEST_VECTORS TEST_SOURCE_DIR "/../shared/data/"

typedef struct { uint8_t *bytes; size_t n; } vector;

/* Returns whether the library lacks digests that a format's tests need. */
static inline bool vector_no_digests(void)
{
    bool none = digest_check("the test") != BLY_OK;
    if (none)
        printf("skipped: %s\n", bly_why());
    return none;
}

static inline uint8_t vector_digit(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Decodes hexadecimal digits; returns the number of bytes. */
static inline size_t vector_hex(uint8_t *out, const char *text)
{
    size_t n = strlen(text) / 2;
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(vector_digit(text[2 * i]) << 4
                           | vector_digit(text[2 * i + 1]));
    return n;
}

/* Checks that exactly these bits of the file, behind its first bytes, are set;
 * -1 ends the list. */
static inline void vector_bits(const bly_filter *filter, size_t from,
                               const int *bits)
{
    size_t bytes, set = 0, listed = 0;
    const uint8_t *row = bly_image(filter, &bytes);
    row += BLY_HEADER_BYTES + from;
    bytes -= BLY_HEADER_BYTES + from;
    for (; bits[listed] >= 0; listed++)
        assert_true(row[bits[listed] / 8] >> bits[listed] % 8 & 1);
    for (size_t i = 0; i < 8 * bytes; i++)
        set += row[i / 8] >> i % 8 & 1;
    assert_int_equal(set, listed);
}

/* Opens a file, or skips the test before it allocates anything. */
static inline FILE *vector_file(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s%s", TEST_VECTORS, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        skip();
    return file;
}

static inline void vector_needs(const char *name)
{
    fclose(vector_file(name));
}

/* Reads a whole file, to be freed, or skips the test. */
static inline vector vector_read(const char *name)
{
    FILE *file = vector_file(name);
    vector v = { malloc(1 << 20), 0 };
    assert_non_null(v.bytes);
    v.n = fread(v.bytes, 1, 1 << 20, file);
    assert_true(v.n < 1 << 20);
    fclose(file);
    return v;
}

/* Joins the chunks of a Redis dump: lines of a number, a tab and hexadecimal
 * digits. */
static inline vector vector_chunks(const char *name)
{
    vector text = vector_read(name), v = { malloc(text.n), 0 };
    assert_non_null(v.bytes);
    text.bytes[text.n - 1] = '\0';
    for (char *line = strtok((char *)text.bytes, "\n"); line != NULL;
         line = strtok(NULL, "\n"))
        v.n += vector_hex(v.bytes + v.n, strchr(line, '\t') + 1);
    free(text.bytes);
    return v;
}

/* Opens bytes in a format, or returns the error. */
static inline bly_status vector_open(bly_filter **out, const vector *v,
                                     const char *format)
{
    bly_options options = { .format = format };
    return bly_unpack(out, v->bytes, v->n, &options);
}

/* Checks that its file consists of these bytes. */
static inline void vector_is(const bly_filter *filter, const vector *v)
{
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    assert_int_equal(bytes - BLY_HEADER_BYTES, v->n);
    assert_memory_equal(image + BLY_HEADER_BYTES, v->bytes, v->n);
}

/* Writes probe i of a vector; returns its length. */
typedef size_t vector_probe(char text[64], uint64_t i);

/* The filter of one file answers the keys of `probe` as the other file says, a
 * 1 or 0 for each; and `ours`, with the first n of them, makes the same file.
 * `ours` may be NULL, and is freed. */
static inline void vector_probes(const char *file, const char *answers,
                                 const char *format, vector_probe *probe,
                                 bly_filter *ours, size_t n)
{
    vector v = vector_read(file), said = vector_read(answers);
    bly_filter *filter = NULL;
    char text[64];
    assert_status(vector_open(&filter, &v, format), BLY_OK);
    for (size_t i = 0; i < said.n && (said.bytes[i] | 1) == '1'; i++) {
        size_t length = probe(text, i);
        assert_int_equal(bly_contains(filter, text, length),
                         said.bytes[i] == '1');
    }
    for (size_t i = 0; i < n; i++) {
        size_t length = probe(text, i);
        assert_true(bly_add(ours, text, length) >= 0);
    }
    if (ours != NULL)
        vector_is(ours, &v);
    bly_free(filter);
    bly_free(ours);
    free(v.bytes);
    free(said.bytes);
}

/* Returns a new filter of a format. */
static inline bly_filter *vector_new(const char *kind, uint64_t n, double rate)
{
    bly_filter *filter = NULL;
    bly_spec spec = { .capacity = n, .rate = rate };
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

/* Checks that these bytes are refused with a matching message. */
static inline void vector_refused(const uint8_t *bytes, size_t n,
                                  const char *format, bly_status wanted,
                                  const char *says)
{
    bly_options options = { .format = format };
    bly_filter *filter = NULL;
    assert_status(bly_unpack(&filter, bytes, n, &options), wanted);
    if (strstr(bly_why(), says) == NULL)
        fail_msg("'%s' does not say '%s'", bly_why(), says);
}

#endif /* BLY_TEST_VECTORS_H */
