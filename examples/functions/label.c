/* label.c - stores labels with keys, and lists and unites them.
 */
#include <bloomery.h>

#include <err.h>
#include <stdio.h>

static void put(void)
{
    /* example */
    bly_filter *shelves;
    bly_spec want = { .capacity = 1000 };
    uint64_t shelf;
    if (bly_new(&shelves, "approximator", &want) < 0 ||
        bly_put(shelves, "Moby-Dick", 9, 49) < 0)
        errx(1, "%s", bly_why());
    if (bly_get(shelves, "Moby-Dick", 9, &shelf))
        printf("perhaps on shelf %ju\n", (uintmax_t)shelf);
    /* end */
    if (shelf < 49)
        errx(1, "a worse label");
    bly_free(shelves);
}

/* example */
static bool print_label(void *context, const bly_label_t *label)
{
    (void)context;
    printf("label %ju: %.1f %% full\n", (uintmax_t)label->label,
           100 * label->fill);
    return true;
}

static void print_labels(const bly_filter *f)
{
    if (bly_list_labels(f, print_label, NULL) < 0)
        errx(1, "%s", bly_why());
}
/* end */

static void unite(bly_filter *here, const bly_filter *neighbour)
{
    /* example */
    uint64_t hops = 1;                  /* from here to the neighbour      */
    if (bly_unite_at(here, neighbour, hops) < 0)
        errx(1, "%s", bly_why());
    /* end */
}

int main(void)
{
    bly_filter *here, *neighbour;
    bly_spec want = { .capacity = 100 };
    uint64_t hops;
    put();
    if (bly_new(&here, "attenuated", &want) < 0 ||
        bly_new(&neighbour, "attenuated", &want) < 0 ||
        bly_put(neighbour, "song", 4, 1) < 0)
        errx(1, "%s", bly_why());
    unite(here, neighbour);
    print_labels(here);
    if (!bly_get(here, "song", 4, &hops) || hops > 2)
        errx(1, "the song is lost");
    bly_free(here);
    bly_free(neighbour);
}
