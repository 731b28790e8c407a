/* advice.c - ranks kinds for a need.
 */
#include <bloomery.h>
#include <bloomery/advice.h>

#include <err.h>
#include <stdio.h>

static void advise(void)
{
    /* example */
    bly_need need = { .capacity = 50000000, .rate = 0.01,
                      .can = BLY_CAN_ADD | BLY_CAN_REMOVE };
    bly_ranking *ranking;
    size_t fit = 0;
    if (bly_advise(&ranking, &need) < 0)
        errx(1, "%s", bly_why());
    for (; fit < bly_ranking_count(ranking); fit++) {
        const bly_advice *a = bly_ranking_at(ranking, fit);
        if (!a->fits)
            break;
        printf("%s: %.1f bits per key, %.0f ns per lookup\n", a->kind,
               a->plan.bits_per_key, a->ns_lookup);
    }
    printf("%zu kinds fit\n", fit);
    bly_ranking_free(ranking);
    /* end */
    if (fit < 2)
        errx(1, "%zu kinds fit", fit);
}

static void threshold(void)
{
    /* example */
    bly_threshold need = { .capacity = 1000000, .rate = 0.01, .times = 3 };
    bly_threshold_plan plan;
    bly_filter *f;
    if (bly_plan_threshold(&plan, &need) < 0 ||
        bly_new(&f, plan.kind, &(bly_spec){ .capacity = need.capacity }) < 0)
        errx(1, "%s", bly_why());
    for (int i = 0; i < 3; i++)
        bly_add(f, "10.0.0.7", 8);
    if (bly_count(f, "10.0.0.7", 8) >= need.times)
        puts("seen three times");
    /* end */
    if (bly_count(f, "10.0.0.7", 8) < need.times)
        errx(1, "an add is lost");
    bly_free(f);
}

int main(void)
{
    advise();
    threshold();
}
