/* add.c - makes a filter and adds, looks up, counts and removes keys.
 */
#include <bloomery.h>

#include <err.h>
#include <stdio.h>

static void one_key(void)
{
    /* example: bly_new bly_add bly_contains bly_free */
    bly_filter *f;
    bly_spec want = { .capacity = 1000000, .rate = 0.01 };
    if (bly_new(&f, "standard", &want) < 0)
        errx(1, "%s", bly_why());
    if (bly_add(f, "swordfish", 9) < 0)
        errx(1, "%s", bly_why());
    if (bly_contains(f, "swordfish", 9))
        puts("perhaps there");
    bly_free(f);
    /* end */
}

static void many_keys(bly_filter *f)
{
    /* example */
    bly_key word[] = { { "open", 4 }, { "sesame", 6 }, { "xyzzy", 5 } };
    bly_keys words = { .n = 3, .keys = word };
    bool present[3];
    size_t done;
    if (bly_add_many(f, &words, NULL, &done) < 0)
        errx(1, "word %zu: %s", done, bly_why());
    if (bly_contains_many(f, &words, present) < 0)
        errx(1, "%s", bly_why());
    /* end */
    if (done != 3 || !present[0] || !present[1] || !present[2])
        errx(1, "a word is lost");
}

static void removal(bly_filter *f)
{
    /* example */
    bly_add(f, "xyzzy", 5);
    bly_add(f, "xyzzy", 5);
    printf("at most %ju times\n", (uintmax_t)bly_count(f, "xyzzy", 5));
    if (bly_remove(f, "xyzzy", 5) < 0)
        errx(1, "%s", bly_why());
    /* end */
    if (bly_count(f, "xyzzy", 5) != 1)
        errx(1, "%ju times", (uintmax_t)bly_count(f, "xyzzy", 5));
}

int main(void)
{
    bly_filter *f, *counting;
    bly_spec want = { .capacity = 1000 };
    one_key();
    if (bly_new(&f, "standard", &want) < 0 ||
        bly_new(&counting, "counting", &want) < 0)
        errx(1, "%s", bly_why());
    many_keys(f);
    removal(counting);
    bly_free(f);
    bly_free(counting);
}
