/* keyed.c - draws secrets, and hashes keys that strangers choose.
 */
#include <bloomery.h>
#include <bloomery/keyed.h>

#include <err.h>
#include <stdio.h>
#include <string.h>

static void secret(void)
{
    /* example */
    unsigned char secret[BLY_SECRET_BYTES];
    if (bly_draw(secret, sizeof secret) < 0)
        errx(1, "%s", bly_why());
    bly_spec want = { .capacity = 1000, .hash = "siphash", .secret = secret };
    bly_filter *f;
    if (bly_new(&f, "standard", &want) < 0)
        errx(1, "%s", bly_why());
    /* end */
    bly_free(f);
}

static void hash(const char *name)
{
    enum { SLOTS = 1024 };
    /* example */
    bly_keyed by;
    if (bly_keyed_draw(&by) < 0)
        errx(1, "%s", bly_why());
    uint64_t slot = bly_keyed_hash(&by, name, strlen(name)) % SLOTS;
    uint64_t other = bly_keyed_number(&by, 4711) % SLOTS;
    /* end */
    if (slot >= SLOTS || other >= SLOTS ||
        bly_keyed_number(&by, 1) == bly_keyed_number(&by, 2))
        errx(1, "a bad hash");
}

int main(void)
{
    secret();
    hash("ann");
}
