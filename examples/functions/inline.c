/* inline.c - looks up and adds hashes by views.
 */
#include <bloomery.h>
#include <bloomery/inline.h>

#include <err.h>

enum { N = 1000 };

static void add(bly_filter *f, const uint64_t *hash)
{
    /* example */
    bly_inline_blocked view;
    if (bly_inline_blocked_of(&view, f) < 0 || bly_inline_begin(f) < 0)
        errx(1, "%s", bly_why());
    for (size_t i = 0; i < N; i++)
        bly_inline_blocked_add(&view, hash[i]);
    bly_inline_end(f, N);
    /* end */
}

static size_t blocked(const bly_filter *f, const uint64_t *hash)
{
    size_t hits = 0;
    /* example */
    bly_inline_blocked view;
    if (bly_inline_blocked_of(&view, f) < 0)
        errx(1, "%s", bly_why());
    for (size_t i = 0; i < N; i++) {
        bly_inline_blocked_prefetch(&view, hash[i + 8 < N ? i + 8 : i]);
        hits += bly_inline_blocked_contains(&view, hash[i]);
    }
    /* end */
    return hits;
}

static size_t blocked_of_six(const bly_filter *f, const uint64_t *hash)
{
    size_t hits = 0;
    /* example */
    bly_inline_blocked view;
    if (bly_inline_blocked_of_k(&view, f, 6) < 0)
        errx(1, "%s", bly_why());
    for (size_t i = 0; i < N; i++)
        hits += bly_inline_blocked_contains_k(&view, hash[i], 6);
    /* end */
    return hits;
}

static size_t split(const bly_filter *f, const uint64_t *hash)
{
    size_t hits = 0;
    /* example */
    bly_inline_split view;
    if (bly_inline_split_of(&view, f) < 0)
        errx(1, "%s", bly_why());
    for (size_t i = 0; i < N; i++) {
        bly_inline_split_prefetch(&view, hash[i + 8 < N ? i + 8 : i]);
        hits += bly_inline_split_contains(&view, hash[i]);
    }
    /* end */
    return hits;
}

static size_t standard(const bly_filter *f, const uint64_t *hash)
{
    size_t hits = 0;
    /* example */
    bly_inline_standard view;
    if (bly_inline_standard_of(&view, f) < 0)
        errx(1, "%s", bly_why());
    for (size_t i = 0; i < N; i++) {
        bly_inline_standard_prefetch(&view, hash[i + 8 < N ? i + 8 : i]);
        hits += bly_inline_standard_contains(&view, hash[i]);
    }
    /* end */
    return hits;
}

static size_t fuse(const bly_filter *f, const uint64_t *hash)
{
    size_t hits = 0;
    /* example */
    bly_inline_fuse view;
    if (bly_inline_fuse_of(&view, f) < 0)
        errx(1, "%s", bly_why());
    for (size_t i = 0; i < N; i++) {
        bly_inline_fuse_prefetch(&view, hash[i + 8 < N ? i + 8 : i]);
        hits += bly_inline_fuse_contains(&view, hash[i]);
    }
    /* end */
    return hits;
}

static size_t cuckoo(const bly_filter *f, const uint64_t *hash)
{
    size_t hits = 0;
    /* example */
    bly_inline_cuckoo view;
    if (bly_inline_cuckoo_of(&view, f) < 0)
        errx(1, "%s", bly_why());
    for (size_t i = 0; i < N; i++) {
        bly_inline_cuckoo_prefetch(&view, hash[i + 8 < N ? i + 8 : i]);
        hits += bly_inline_cuckoo_contains(&view, hash[i]);
    }
    /* end */
    return hits;
}

static size_t counting(const bly_filter *f, const uint64_t *hash)
{
    size_t hits = 0;
    /* example */
    bly_inline_counting view;
    if (bly_inline_counting_of(&view, f) < 0)
        errx(1, "%s", bly_why());
    for (size_t i = 0; i < N; i++) {
        bly_inline_counting_prefetch(&view, hash[i + 8 < N ? i + 8 : i]);
        hits += bly_inline_counting_contains(&view, hash[i]);
    }
    /* end */
    return hits;
}

/* Makes a filter of these hashes, and counts how many of them a view finds. */
static void check(const char *kind, const uint64_t *hash,
                  size_t (*by)(const bly_filter *f, const uint64_t *hash))
{
    bly_filter *f;
    if (bly_build(&f, kind, NULL, &(bly_keys){ .n = N, .hashes = hash }) < 0)
        errx(1, "%s", bly_why());
    if (by(f, hash) != N)
        errx(1, "%s: a key is lost", kind);
    bly_free(f);
}

int main(void)
{
    uint64_t hash[N];
    bly_filter *f;
    for (uint64_t i = 0; i < N; i++)
        hash[i] = bly_mix64(i);
    check("blocked", hash, blocked);
    check("blocked:k=6", hash, blocked_of_six);
    check("split", hash, split);
    check("standard", hash, standard);
    check("fuse", hash, fuse);
    check("cuckoo", hash, cuckoo);
    check("counting", hash, counting);
    if (bly_new(&f, "blocked", &(bly_spec){ .capacity = N }) < 0)
        errx(1, "%s", bly_why());
    add(f, hash);
    if (blocked(f, hash) != N)
        errx(1, "an added key is lost");
    bly_free(f);
}
