/* combine.c - copies, unites, compares, resizes and folds filters.
 */
#include <bloomery.h>

#include <err.h>
#include <stdio.h>

static void unite(bly_filter *monday, bly_filter *tuesday)
{
    /* example */
    bly_filter *either;
    if (bly_copy(&either, monday, NULL) < 0 || bly_unite(either, tuesday) < 0)
        errx(1, "%s", bly_why());
    /* end */
    if (!bly_contains(either, "mon", 3) || !bly_contains(either, "tue", 3))
        errx(1, "a key is lost");
    bly_free(either);
}

static void intersect(bly_filter *monday, const bly_filter *tuesday)
{
    /* example */
    if (bly_intersect(monday, tuesday) < 0)
        errx(1, "%s", bly_why());
    if (bly_contains(monday, "both", 4))
        puts("perhaps there on both days");
    /* end */
    if (!bly_contains(monday, "both", 4) || bly_contains(monday, "mon", 3))
        errx(1, "not the common keys");
}

static void overlap(const bly_filter *monday, const bly_filter *tuesday)
{
    /* example */
    bly_overlap_t is;
    if (bly_overlap(&is, monday, tuesday) < 0)
        errx(1, "%s", bly_why());
    printf("%.0f keys (+- %.0f) in both\n", is.both.value, is.both.sd);
    /* end */
    if (is.both.value < 0.5 || is.both.value > 1.5)
        errx(1, "%g keys in both", is.both.value);
}

static void like(const bly_filter *monday)
{
    /* example */
    bly_filter *wednesday;
    if (bly_like(&wednesday, monday, NULL) < 0)
        errx(1, "%s", bly_why());
    bly_add(wednesday, "wed", 3);
    /* end */
    if (bly_contains(wednesday, "mon", 3))
        errx(1, "it was not empty");
    bly_free(wednesday);
}

static void clear(bly_filter *monday)
{
    /* example */
    if (bly_clear(monday) < 0)
        errx(1, "%s", bly_why());
    /* end */
    if (bly_contains(monday, "both", 4))
        errx(1, "it is not empty");
}

static void resize(bly_filter *f)
{
    /* example */
    bly_status status = bly_add(f, "one more", 8);
    if (status == BLY_EFULL && bly_resize(f, 4000) == BLY_OK)
        status = bly_add(f, "one more", 8);
    if (status < 0)
        errx(1, "%s", bly_why());
    /* end */
}

/* Fills a small cuckoo filter, until it is full. */
static void grow(void)
{
    bly_filter *f;
    bly_status status = BLY_OK;
    if (bly_new(&f, "cuckoo", &(bly_spec){ .capacity = 1000 }) < 0)
        errx(1, "%s", bly_why());
    for (uint64_t i = 0; status >= 0; i++)
        status = bly_add(f, &i, sizeof i);
    if (status != BLY_EFULL)
        errx(1, "%s", bly_why());
    resize(f);
    if (!bly_contains(f, "one more", 8))
        errx(1, "a key is lost");
    bly_free(f);
}

static void fold(bly_filter *f)
{
    /* example */
    if (bly_fold(f, 4) < 0)             /* a quarter of the size           */
        errx(1, "%s", bly_why());
    /* end */
    if (!bly_contains(f, "a", 1))
        errx(1, "a key is lost");
}

int main(void)
{
    bly_filter *monday, *tuesday, *folded;
    if (bly_new(&monday, "standard", &(bly_spec){ .capacity = 1000 }) < 0 ||
        bly_like(&tuesday, monday, NULL) < 0 ||
        bly_new(&folded, "standard:m=4096,k=3", NULL) < 0)
        errx(1, "%s", bly_why());
    bly_add(monday, "mon", 3);
    bly_add(monday, "both", 4);
    bly_add(tuesday, "both", 4);
    bly_add(tuesday, "tue", 3);
    bly_add(folded, "a", 1);
    overlap(monday, tuesday);
    unite(monday, tuesday);
    like(monday);
    intersect(monday, tuesday);
    clear(monday);
    grow();
    fold(folded);
    bly_free(monday);
    bly_free(tuesday);
    bly_free(folded);
}
