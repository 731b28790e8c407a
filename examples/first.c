/* first.c - the smallest useful program: makes a filter, adds, queries, saves,
 * opens.
 *
 *      cc first.c $(pkg-config --cflags --libs bloomery) && ./a.out
 */
#include <bloomery.h>

#include <stdio.h>
#include <string.h>

static int failed(const char *doing)
{
    fprintf(stderr, "first: %s: %s\n", doing, bly_why());
    return 1;
}

int main(void)
{
    static const char *const words[] = { "swordfish", "open sesame", "xyzzy" };
    bly_spec want = { .capacity = 1000, .rate = 0.01 };
    bly_filter *f;

    if (bly_new(&f, "standard", &want) < 0)
        return failed("make a filter");
    for (size_t i = 0; i < 3; i++)
        if (bly_add(f, words[i], strlen(words[i])) < 0)
            return failed("add a word");
    if (bly_save(f, "passwords.bly") < 0)
        return failed("save");
    bly_free(f);

    if (bly_open(&f, "passwords.bly", BLY_MAP, NULL) < 0)
        return failed("open");
    for (size_t i = 0; i < 3; i++)
        if (!bly_contains(f, words[i], strlen(words[i])))
            return failed("find a word again");
    printf("xyzzy: %s, plugh: %s\n",
           bly_contains(f, "xyzzy", 5) ? "perhaps there" : "certainly not",
           bly_contains(f, "plugh", 5) ? "perhaps there" : "certainly not");
    bly_free(f);
    remove("passwords.bly");
    return 0;
}
