/* save.c - saves, opens and changes files of filters.
 */
#include <bloomery.h>

#include <err.h>
#include <stdio.h>

static void save(const bly_filter *f)
{
    /* example */
    if (bly_save(f, "blocklist.bly") < 0)
        errx(1, "%s", bly_why());
    /* end */
}

static void open_mapped(void)
{
    /* example */
    bly_filter *f;
    if (bly_open(&f, "blocklist.bly", BLY_MAP, NULL) < 0)
        errx(1, "%s", bly_why());
    if (!bly_contains(f, "example.com", 11))
        puts("certainly not on the list");
    bly_free(f);
    /* end */
}

static void reload(bly_filter *f)
{
    /* example */
    bool replaced;
    if (bly_replaced(&replaced, f, "blocklist.bly") < 0)
        errx(1, "%s", bly_why());
    if (replaced) {
        bly_free(f);
        if (bly_open(&f, "blocklist.bly", BLY_MAP, NULL) < 0)
            errx(1, "%s", bly_why());
    }
    /* end */
    if (!replaced)
        errx(1, "the file was replaced");
    bly_free(f);
}

static void change(void)
{
    /* example */
    bly_filter *f;
    if (bly_open(&f, "blocklist.bly", BLY_MAP | BLY_WRITE, NULL) < 0)
        errx(1, "%s", bly_why());
    bly_add(f, "example.org", 11);
    if (bly_sync(f) < 0)                /* survives a crash from now on    */
        errx(1, "%s", bly_why());
    bly_add(f, "example.net", 11);
    if (bly_seal(f) < 0)                /* reports what bly_free cannot    */
        errx(1, "%s", bly_why());
    bly_free(f);
    /* end */
}

static void peek(void)
{
    /* example */
    bly_header is;
    if (bly_peek_file(&is, "blocklist.bly") < 0)
        errx(1, "%s", bly_why());
    printf("a %s filter for %ju keys\n", is.kind, (uintmax_t)is.capacity);
    /* end */
    if (is.capacity != 1000 || !is.sealed)
        errx(1, "another header");
}

/* example */
static int report(void *context, uint64_t done, uint64_t total)
{
    const bool *stop = context;
    fprintf(stderr, "\r%3.0f %%", 100 * (double)done / (double)total);
    return *stop;                       /* true: BLY_ECANCELED             */
}

static void save_slowly(bly_filter *f, bool *stop)
{
    bly_progress progress = { .report = report, .context = stop };
    bly_progress_set(f, &progress);
    if (bly_save(f, "blocklist.bly") < 0)
        warnx("%s", bly_why());
    bly_progress_set(f, NULL);
}
/* end */

int main(void)
{
    bly_filter *f, *mapped;
    bool stop = false;
    if (bly_new(&f, "standard", &(bly_spec){ .capacity = 1000 }) < 0)
        errx(1, "%s", bly_why());
    save(f);
    open_mapped();
    if (bly_open(&mapped, "blocklist.bly", BLY_MAP, NULL) < 0)
        errx(1, "%s", bly_why());
    save_slowly(f, &stop);
    reload(mapped);
    change();
    peek();
    bly_free(f);
    if (bly_open(&f, "blocklist.bly", 0, NULL) < 0 ||
        !bly_contains(f, "example.net", 11))
        errx(1, "a change is lost");
    bly_free(f);
    remove("blocklist.bly");
}
