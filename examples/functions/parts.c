/* parts.c - finds the parts of a filter, and saves a filter from its parts.
 */
#include <bloomery.h>
#include <bloomery/parts.h>

#include <err.h>
#include <stdio.h>
#include <string.h>

static void places(const bly_filter *f, unsigned processes)
{
    /* example */
    uint64_t hash = bly_hash(f, "swordfish", 9), place;
    size_t bytes, all;
    bly_raw(f, &all);
    if (bly_places(f, &hash, 1, &place, &bytes) < 0)
        errx(1, "%s", bly_why());
    printf("process %ju holds this key\n",
           (uintmax_t)(place * processes / all));
    /* end */
    if (place + bytes > all)
        errx(1, "the place is outside the image");
}

/* example */
static bool part(void *context, uint64_t from, void *into, size_t n)
{
    const char *image = context;        /* or receive it from a process    */
    memcpy(into, image + from, n);
    return true;
}

static void save(const bly_filter *f, uint64_t items)
{
    size_t bytes;
    void *image = (void *)(uintptr_t)bly_raw(f, &bytes);
    if (bly_save_parts(f, "parts.bly", items, part, image) < 0)
        errx(1, "%s", bly_why());
}
/* end */

static void count(bly_filter *f)
{
    /* example */
    if (bly_set_items(f, 1000) < 0)     /* after uniting parts             */
        errx(1, "%s", bly_why());
    /* end */
}

int main(void)
{
    bly_filter *f;
    bly_info_t stat;
    if (bly_new(&f, "blocked", &(bly_spec){ .capacity = 1000,
                                            .flags = BLY_SPARSE }) < 0)
        errx(1, "%s", bly_why());
    bly_add(f, "swordfish", 9);
    places(f, 4);
    save(f, 1);
    count(f);
    if (bly_info(&stat, f) < 0 || stat.items != 1000)
        errx(1, "another count");
    bly_free(f);
    if (bly_open(&f, "parts.bly", 0, NULL) < 0 ||
        !bly_contains(f, "swordfish", 9))
        errx(1, "the key is lost");
    bly_free(f);
    remove("parts.bly");
}
