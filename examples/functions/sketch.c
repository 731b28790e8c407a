/* sketch.c - lists what filters hold, and the difference of two sets.
 */
#include <bloomery.h>
#include <bloomery/sketch.h>

#include <err.h>
#include <inttypes.h>
#include <stdio.h>

/* example */
static bool print_key(void *context, const bly_listed *key)
{
    unsigned *keys = context;
    printf("%s %016" PRIx64 "\n", key->side > 0 ? "only here " : "only there",
           key->hash);
    ++*keys;
    return true;
}

static unsigned print_difference(bly_filter *here, const bly_filter *there)
{
    unsigned keys = 0;
    if (bly_subtract(here, there) < 0 ||
        bly_list_keys(here, print_key, &keys) < 0)
        errx(1, "%s", bly_why());
    return keys;
}
/* end */

/* example */
static bool print_fingerprint(void *context, uint64_t hash, unsigned bits,
                              uint64_t count)
{
    uint64_t *keys = context;
    printf("%016" PRIx64 " (%u bits) %ju times\n", hash, bits,
           (uintmax_t)count);
    *keys += count;
    return true;
}

static uint64_t print_fingerprints(const bly_filter *f)
{
    uint64_t keys = 0;
    if (bly_list_fingerprints(f, print_fingerprint, &keys) < 0)
        errx(1, "%s", bly_why());
    return keys;
}
/* end */

int main(void)
{
    bly_filter *here, *there, *quotient;
    bly_spec want = { .capacity = 100 };
    if (bly_new(&here, "invertible", &want) < 0 ||
        bly_like(&there, here, NULL) < 0 ||
        bly_new(&quotient, "quotient", &want) < 0)
        errx(1, "%s", bly_why());
    bly_add(here, "both", 4);
    bly_add(here, "here", 4);
    bly_add(there, "both", 4);
    bly_add(there, "there", 5);
    bly_add(quotient, "a", 1);
    if (print_difference(here, there) != 2 || print_fingerprints(quotient) != 1)
        errx(1, "other keys were listed");
    bly_free(here);
    bly_free(there);
    bly_free(quotient);
}
