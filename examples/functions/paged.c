/* paged.c - makes a filter in a file, without holding it in memory.
 */
#include <bloomery.h>
#include <bloomery/paged.h>

#include <err.h>
#include <stdio.h>

static void create(void)
{
    /* example */
    bly_filter *f;
    bly_spec want = { .capacity = 100000 };
    if (bly_create(&f, "large.bly", "buffered", &want) < 0 ||
        bly_buffer(f, 1 << 20) < 0)
        errx(1, "%s", bly_why());
    for (uint64_t i = 0; i < want.capacity; i++)
        if (bly_add_hash(f, bly_mix64(i)) < 0)
            errx(1, "%s", bly_why());
    if (bly_seal(f) < 0)                /* the file appears now            */
        errx(1, "%s", bly_why());
    bly_free(f);
    /* end */
}

int main(void)
{
    bly_filter *f;
    create();
    if (bly_open(&f, "large.bly", BLY_PAGED, NULL) < 0)
        errx(1, "%s", bly_why());
    if (!bly_contains_hash(f, bly_mix64(4711)))
        errx(1, "a key is lost");
    bly_free(f);
    remove("large.bly");
}
