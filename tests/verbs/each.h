/* each.h - every kind and each of its choices, for tests of common laws; and
 * filters of them.
 *
 * Include test.h first.
 */
#ifndef BLY_TEST_EACH_H
#define BLY_TEST_EACH_H

enum { EACH_NAME = 96 };

typedef void each_visit(const char *kind, const bly_kind_info *info);

/* Appends a word of an option to the kind, and a size for 2000 keys if it has
 * no rate. False: it takes no hashes (rehash:key=whole, tested in
 * tests/kinds/rehash.c). */
static inline bool each_named(char name[EACH_NAME], const char *kind,
                              const char *option, const char *word)
{
    bool sized = strcmp(option, "index") == 0 || strcmp(word, "murmur2") == 0;
    snprintf(name, EACH_NAME, "%s:%s=%s%s", kind, option, word,
             sized ? ",m=20000,k=7" : "");
    return strcmp(word, "whole") != 0;
}

/* Visits each word of an option except the default. */
static inline void each_words(const bly_kind_info *info,
                              const bly_option_info *option, each_visit *visit)
{
    char range[256], name[EACH_NAME], *rest = range;
    snprintf(range, sizeof range, "%s", option->range);
    for (char *word; (word = strtok_r(rest, " |", &rest)) != NULL; ) {
        bool named = each_named(name, info->name, option->name, word);
        if (named && strcmp(word, option->standard) != 0)
            visit(name, info);
    }
}

/* Visits each kind without options. */
static inline void each_kind(each_visit *visit)
{
    for (const bly_kind_info *const *k = bly_kinds(NULL); *k != NULL; k++)
        visit((*k)->name, *k);
}

/* Visits each kind, and each word of its options, also for the inner kinds of
 * compound ones. */
static inline void each_choice(each_visit *visit)
{
    for (const bly_kind_info *const *k = bly_kinds(NULL); *k != NULL; k++) {
        visit((*k)->name, *k);
        const bly_option_info *const *option = (*k)->options;
        for (; *option != NULL; option++)
            if (strchr((*option)->range, '|') != NULL)
                each_words(*k, *option, visit);
    }
}

/* Returns n, halved until the kind can be planned with 300 probes per key and
 * 64 MiB. (egh rises with the square of its keys.) Some plans take long, so the
 * last answer is kept. */
static inline uint64_t each_room(const char *kind, uint64_t n)
{
    static char last[EACH_NAME];
    static uint64_t asked, room;
    if (asked == n && strcmp(kind, last) == 0)
        return room;
    snprintf(last, sizeof last, "%s", kind);
    for (asked = n; n > 1; n /= 2) {
        bly_spec spec = { .capacity = n };
        bly_plan_t plan;
        if (bly_plan(&plan, kind, &spec) == BLY_OK && plan.probes <= 300
            && plan.bytes <= UINT64_C(64) << 20)
            break;
    }
    room = n;
    return room;
}

static inline bool each_adds(const bly_kind_info *info)
{
    return (info->can & BLY_CAN_ADD) != 0;
}

/* Returns a filter that bly_build makes from n hashes of a stream. */
static inline bly_filter *each_built(const char *kind, const bly_spec *spec,
                                     uint64_t stream, size_t n)
{
    bly_filter *filter = NULL;
    uint64_t *hashes = malloc((n + 1) * sizeof *hashes);
    assert_non_null(hashes);
    for (size_t i = 0; i < n; i++)
        hashes[i] = test_random(stream, i);
    bly_status status = bly_build(&filter, kind, spec,
                                  &(bly_keys){ .n = n, .hashes = hashes });
    free(hashes);
    if (status != BLY_OK)
        fail_msg("%s: %s", kind, bly_why());
    return filter;
}

/* Returns whether the images are equal, byte for byte. */
static inline bool each_same(const bly_filter *a, const bly_filter *b)
{
    size_t a_bytes, b_bytes;
    const void *a_image = bly_image(a, &a_bytes);
    const void *b_image = bly_image(b, &b_bytes);
    return a_bytes == b_bytes && memcmp(a_image, b_image, a_bytes) == 0;
}

/* Fails with the kind's name in the message. */
#define each_true(kind, condition)                                             \
    do {                                                                       \
        if (!(condition))                                                      \
            fail_msg("%s: not so: %s (%s)", (kind), #condition, bly_why());    \
    } while (0)

#define each_status(kind, got, wanted)                                         \
    do {                                                                       \
        bly_status each_got = (got);                                           \
        if (each_got != (wanted))                                              \
            fail_msg("%s: %s: status %d (%s), not %d", (kind), #got,           \
                     (int)each_got, bly_why(), (int)(wanted));                 \
    } while (0)

#endif /* BLY_TEST_EACH_H */
