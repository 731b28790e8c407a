/* build.c - plans filters, hashes keys, and builds filters from all their keys.
 */
#include <bloomery.h>

#include <bloomery/fields.h>

#include <err.h>
#include <stdio.h>

static void plan(bly_plan_t *out)
{
    /* example */
    bly_spec want = { .capacity = 1000000, .rate = 0.001 };
    bly_plan_t plan;
    if (bly_plan(&plan, "blocked", &want) < 0)
        errx(1, "%s", bly_why());
    printf("%.1f bits per key, %.3f %% false positives\n", plan.bits_per_key,
           100 * plan.rate);
    /* end */
    if (plan.rate > 0.001001)
        errx(1, "a rate of %g", plan.rate);
    *out = plan;
}

static void grown(void)
{
    /* example */
    bly_plan_t plan;                    /* begins small, for a million later */
    if (bly_plan_grown(&plan, "expandable", NULL, 1000000) < 0)
        errx(1, "%s", bly_why());
    printf("%.1f bits per key by then\n", plan.bits_per_key);
    /* end */
    if (plan.bits_per_key > 17)
        errx(1, "%g bits per key", plan.bits_per_key);
}

static void planned(const bly_plan_t *plan)
{
    /* example */
    bly_filter *f;                      /* `plan` came from another machine */
    bly_spec spec = { .seed = 42 };
    if (bly_new_planned(&f, plan, &spec) < 0)
        errx(1, "%s", bly_why());
    /* end */
    bly_info_t stat;
    if (bly_info(&stat, f) < 0 || stat.bytes != plan->bytes || stat.seed != 42)
        errx(1, "another filter");
    bly_free(f);
}

static void keys(void)
{
    /* example */
    static const char names[] = "annbobeve";    /* three bytes a key       */
    bly_keys keys = { .n = 3, .data = names, .width = 3 };
    bly_filter *f;
    if (bly_build(&f, "fuse", NULL, &keys) < 0)
        errx(1, "%s", bly_why());
    /* end */
    if (!bly_contains(f, "bob", 3))
        errx(1, "bob is lost");
    bly_free(f);
}

static void hashes(void)
{
    /* example */
    static const char names[] = "annbobeve";
    bly_keys keys = { .n = 3, .data = names, .width = 3 };
    bly_spec spec = { .rate = 0.001 };
    uint64_t hashes[3];
    bly_filter *f;
    if (bly_hash_many(hashes, "ribbon", &spec, &keys) < 0 ||
        bly_build(&f, "ribbon", &spec,
                  &(bly_keys){ .n = 3, .hashes = hashes }) < 0)
        errx(1, "%s", bly_why());
    /* end */
    if (!bly_contains(f, "eve", 3))
        errx(1, "eve is lost");
    bly_free(f);
}

static void one_hash(bly_filter *f)
{
    /* example */
    uint64_t hash = bly_hash(f, "ann", 3);
    bly_add_hash(f, hash);
    if (bly_contains_hash(f, hash))
        puts("perhaps there");
    /* end */
    if (!bly_contains(f, "ann", 3))
        errx(1, "ann is lost");
}

static void integers(bly_filter *f)
{
    /* example */
    uint64_t ids[] = { 17, 18, 4711 }, hashes[3];
    for (size_t i = 0; i < 3; i++)
        hashes[i] = bly_mix64(ids[i]);
    if (bly_add_hashes(f, hashes, 3, NULL, NULL) < 0)
        errx(1, "%s", bly_why());
    /* end */
    if (!bly_contains_hash(f, bly_mix64(4711)))
        errx(1, "4711 is lost");
}

static void numbers(bly_filter *f)
{
    /* example */
    unsigned char key[8];
    bly_integer_key(key, 4711);
    bly_add(f, key, sizeof key);
    bly_real_key(key, 4711.0);          /* the same key                    */
    if (bly_contains(f, key, sizeof key))
        puts("perhaps there");
    /* end */
    if (!bly_contains(f, key, sizeof key))
        errx(1, "the number is lost");
}

int main(void)
{
    bly_filter *f;
    bly_plan_t made;
    plan(&made);
    planned(&made);
    grown();
    keys();
    hashes();
    if (bly_new(&f, "standard", &(bly_spec){ .capacity = 1000 }) < 0)
        errx(1, "%s", bly_why());
    one_hash(f);
    integers(f);
    numbers(f);
    bly_free(f);
}
