/* foreign.c - reads and writes filters of other systems.
 */
#include <bloomery.h>
#include <bloomery/foreign.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void list(void)
{
    /* example */
    size_t n;
    const bly_format_info *const *formats = bly_formats(&n);
    for (size_t i = 0; i < n; i++)
        printf("%-14s %s\n", formats[i]->kind->name, formats[i]->writer);
    /* end */
    if (n < 10)
        errx(1, "%zu formats", n);
}

static void save(const bly_filter *f)
{
    /* example */
    if (bly_save_as(f, "keys.dcso", "dcso") < 0)
        errx(1, "%s", bly_why());
    /* end */
}

static void pack(const bly_filter *f)
{
    /* example */
    size_t room, n;
    bly_image(f, &room);
    void *bytes = malloc(room);
    if (bytes == NULL || bly_pack_as(f, "dcso", bytes, room, &n) < 0)
        errx(1, "%s", bly_why());
    printf("%zu bytes to send\n", n);
    free(bytes);
    /* end */
    if (n >= room)
        errx(1, "%zu bytes", n);
}

static void recognise(const char *path)
{
    /* example */
    char head[4096];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        err(1, "%s", path);
    size_t n = fread(head, 1, sizeof head, file);
    fseek(file, 0, SEEK_END);
    const char *format = bly_recognise(head, n, (uint64_t)ftell(file));
    printf("%s: %s\n", path, format != NULL ? format : "not recognised");
    fclose(file);
    /* end */
    if (format == NULL || strcmp(format, "dcso") != 0)
        errx(1, "another format");
}

static void attach(bly_filter *f)
{
    /* example */
    const void *data;
    size_t bytes;
    if (bly_attach(f, "version 7", 9) < 0 ||
        bly_attached(&data, &bytes, f) < 0)
        errx(1, "%s", bly_why());
    printf("attached: %.*s\n", (int)bytes, (const char *)data);
    /* end */
    if (bytes != 9)
        errx(1, "%zu bytes", bytes);
}

/* The certificates of one issuer, of which every 50th is revoked. */
static bly_status certificates(void *revoked, bly_take_keys *take, void *into)
{
    bly_status status = BLY_OK;
    for (int i = 0; i < 10000 && status == BLY_OK; i++) {
        char text[64];
        bly_key key = { text, (size_t)snprintf(text, sizeof text, "an issuer,"
                                               "%d", i) };
        if ((i % 50 == 0) == (revoked != NULL))
            status = take(into, &(bly_keys){ .n = 1, .keys = &key });
    }
    return status;
}

static void clubcard(void)
{
    /* example */
    /* certificates() calls `take` for each key, "issuer,number". */
    bly_filter *card;
    bly_clubcard_spec spec = {
        .kind = "clubcard:keys=comma",
        .members = { certificates, "revoked" },
        .others = { certificates, NULL },
    };
    bly_status status = bly_build_clubcard(&card, &spec);
    if (status == BLY_OK && bly_contains(card, "an issuer,150", 13))
        puts("certificate 150 is revoked");
    /* end */
    if (status == BLY_EUNSUPPORTED)     /* by a library without digests */
        return;
    if (status < 0)
        errx(1, "%s", bly_why());
    if (bly_contains(card, "an issuer,151", 13))
        errx(1, "certificate 151 is not");
    bly_free(card);
}

int main(void)
{
    bly_filter *f;
    clubcard();
    list();
    if (bly_new(&f, "dcso", &(bly_spec){ .capacity = 1000 }) < 0)
        errx(1, "%s", bly_why());
    bly_add(f, "swordfish", 9);
    attach(f);
    save(f);
    pack(f);
    recognise("keys.dcso");
    bly_free(f);
    remove("keys.dcso");
}
