/* image.c - sends filters as bytes, and checks and opens such bytes.
 */
#include <bloomery.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static void image(const bly_filter *f, FILE *out)
{
    /* example */
    size_t bytes;
    const void *image = bly_image(f, &bytes);
    if (image == NULL || fwrite(image, 1, bytes, out) != bytes)
        errx(1, "cannot write the filter");
    /* end */
}

static void wrap(const void *image, size_t bytes)
{
    /* example */
    bly_filter *f;                      /* the image was compiled in       */
    if (bly_wrap(&f, image, bytes, NULL) < 0)
        errx(1, "%s", bly_why());
    if (bly_contains(f, "swordfish", 9))
        puts("perhaps there");
    bly_free(f);
    /* end */
}

static void check(const void *received, size_t bytes)
{
    /* example */
    bly_header is;
    if (bly_peek(&is, received, bytes) < 0 ||
        bly_check(received, bytes, NULL) < 0)
        errx(1, "not a filter: %s", bly_why());
    printf("a whole and undamaged filter of kind %s\n", is.kind);
    /* end */
}

static void *pack(const bly_filter *f, size_t *length)
{
    /* example */
    size_t room, bytes;
    bly_image(f, &room);
    void *packed = malloc(room);
    if (packed == NULL || bly_pack(f, packed, room, &bytes) < 0)
        errx(1, "%s", bly_why());
    /* end */
    *length = bytes;
    return packed;
}

static void unpack(const void *packed, size_t bytes)
{
    /* example */
    bly_filter *f;                      /* the bytes came from a network   */
    bly_options options = { .memory_limit = 1 << 30 };
    if (bly_unpack(&f, packed, bytes, &options) < 0)
        errx(1, "%s", bly_why());
    /* end */
    if (!bly_contains(f, "swordfish", 9))
        errx(1, "the key is lost");
    bly_free(f);
}

int main(void)
{
    bly_filter *f;
    size_t bytes, packed_bytes;
    FILE *out = tmpfile();
    if (bly_new(&f, "compressed", &(bly_spec){ .capacity = 1000 }) < 0 ||
        bly_add(f, "swordfish", 9) < 0 || out == NULL)
        errx(1, "%s", bly_why());
    image(f, out);
    const void *bare = bly_image(f, &bytes);
    wrap(bare, bytes);
    check(bare, bytes);
    void *packed = pack(f, &packed_bytes);
    unpack(packed, packed_bytes);
    if (packed_bytes >= bytes)
        errx(1, "it is not packed");
    free(packed);
    bly_free(f);
    fclose(out);
}
