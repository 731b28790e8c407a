/* vectors.h - files that other systems have written, for tests of formats.
 *
 * Small ones stand in the tests, as hex; larger ones are read where they are
 * present (TEST_VECTORS), and the test is skipped elsewhere. Who includes this
 * includes test.h first.
 */
#ifndef BLY_TEST_VECTORS_H
#define BLY_TEST_VECTORS_H

#define TEST_VECTORS TEST_SOURCE_DIR "/../shared/data/"

typedef struct { uint8_t *bytes; size_t n; } vector;

/* All of a file, to be freed; the test is skipped where there is none. */
static inline vector vector_read(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s%s", TEST_VECTORS, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        skip();
    vector v = { malloc(1 << 20), 0 };
    assert_non_null(v.bytes);
    v.n = fread(v.bytes, 1, 1 << 20, file);
    assert_true(v.n < 1 << 20);
    fclose(file);
    return v;
}

/* A filter of bytes in a format, or what was said instead. */
static inline bly_status vector_open(bly_filter **out, const vector *v,
                                     const char *format)
{
    bly_options options = { .format = format };
    return bly_unpack(out, v->bytes, v->n, &options);
}

/* Its file is these bytes. */
static inline void vector_is(const bly_filter *filter, const vector *v)
{
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    assert_int_equal(bytes - BLY_HEADER_BYTES, v->n);
    assert_memory_equal(image + BLY_HEADER_BYTES, v->bytes, v->n);
}

#endif /* BLY_TEST_VECTORS_H */
