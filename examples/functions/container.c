/* container.c - asks the filters inside a Parquet file.
 */
#include <bloomery.h>
#include <bloomery/container.h>

#include <err.h>
#include <stdio.h>
#include <string.h>

/* A Parquet file with one row group, and a filter for its column "a". */
static const unsigned char parquet[] = {
    0x50, 0x41, 0x52, 0x31, 0x15, 0x40, 0x1C, 0x1C, 0x00, 0x00, 0x1C, 0x1C,
    0x00, 0x00, 0x1C, 0x1C, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x02, 0x01,
    0x00, 0x00, 0x20, 0x00, 0x00, 0xC0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x01,
    0x00, 0x00, 0x40, 0x00, 0x00, 0x80, 0x80, 0x00, 0x40, 0x10, 0x00, 0x80,
    0x00, 0x00, 0x20, 0x16, 0x04, 0x19, 0x1C, 0x48, 0x06, 0x73, 0x63, 0x68,
    0x65, 0x6D, 0x61, 0x00, 0x16, 0x9A, 0x01, 0x19, 0x1C, 0x19, 0x1C, 0x26,
    0x08, 0x1C, 0x16, 0x0C, 0x19, 0x25, 0x00, 0x00, 0x19, 0x18, 0x01, 0x61,
    0x16, 0x02, 0x16, 0x9A, 0x01, 0x7C, 0x71, 0x00, 0x26, 0x08, 0x00, 0x00,
    0x26, 0x9A, 0x01, 0x00, 0x1B, 0x00, 0x18, 0x0F, 0x77, 0x72, 0x69, 0x74,
    0x74, 0x65, 0x6E, 0x20, 0x62, 0x79, 0x20, 0x68, 0x61, 0x6E, 0x64, 0x00,
    0x45, 0x00, 0x00, 0x00, 0x50, 0x41, 0x52, 0x31,
};

static void recognise(const char *path)
{
    /* example */
    char tail[8];
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, -8, SEEK_END) != 0 ||
        fread(tail, 1, 8, file) != 8)
        err(1, "%s", path);
    const char *system = bly_container_recognise(tail, 8);
    printf("%s: %s\n", path, system != NULL ? system : "not a container");
    fclose(file);
    /* end */
    if (system == NULL || strcmp(system, "parquet") != 0)
        errx(1, "another system");
}

static void ask(void)
{
    /* example */
    bly_container *c;
    unsigned perhaps = 0;
    if (bly_container_open(&c, "a.parquet", NULL) < 0)
        errx(1, "%s", bly_why());
    const bly_contents *is = bly_container_contents(c);
    for (size_t i = 0; i < is->n; i++) {
        bly_filter *f;
        if (strcmp(is->filters[i].column, "a") != 0)
            continue;
        if (bly_container_filter(&f, c, i, NULL) < 0)
            errx(1, "%s", bly_why());
        if (bly_contains(f, "k0", 2)) {
            printf("read %s %ju\n", is->group,
                   (uintmax_t)is->filters[i].group);
            perhaps++;
        }
        bly_free(f);
    }
    if (perhaps == 0)
        puts("certainly not in this file");
    bly_container_free(c);
    /* end */
    if (perhaps != 1)
        errx(1, "%u groups", perhaps);
}

/* Decompresses a block by zlib's uncompress or the like. */
static bly_status block(void *context, const char *codec, const void *from,
                        size_t n, void *to, size_t room, size_t *made)
{
    (void)context, (void)codec, (void)from, (void)n, (void)to, (void)room;
    *made = 0;
    return BLY_EUNSUPPORTED;
}

static void open_with(void)
{
    /* example */
    const bly_decompressor with = { block, NULL };
    bly_container *c;
    if (bly_container_open_with(&c, "a.parquet", &with, NULL) < 0)
        errx(1, "%s", bly_why());
    printf("%s\n", bly_container_contents(c)->system);
    bly_container_free(c);
    /* end */
}

int main(void)
{
    FILE *file = fopen("a.parquet", "wb");
    if (file == NULL || fwrite(parquet, sizeof parquet, 1, file) != 1)
        err(1, "a.parquet");
    fclose(file);
    recognise("a.parquet");
    ask();
    open_with();
    remove("a.parquet");
}
