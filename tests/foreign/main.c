/* main.c - a program in another project, with a function whose name the library
 * uses internally.
 */
#include <bloomery.h>

#include <stdio.h>

int hash_find(void);

int hash_find(void)
{
    return 7;
}

int main(void)
{
    bly_spec want = { .capacity = 100 };
    bly_filter *f;
    bool there;

    if (bly_new(&f, "standard", &want) < 0 || bly_add(f, "key", 3) < 0)
        return 1;
    there = bly_contains(f, "key", 3) && !bly_contains(f, "other", 5);
    bly_free(f);
    puts(there ? bly_version() : "wrong");
    return !(there && hash_find() == 7);
}
