/* parts.c - one filter divided among many processes: where a key is, and saving
 * in parts.
 */
#include <unistd.h>

#include "test.h"
#include "bloomery/parts.h"

#include "image/image.h"

enum { PARTS_KEYS = 3000 };

static bly_filter *parts_new(const char *kind)
{
    bly_spec spec = { .capacity = PARTS_KEYS };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static bly_filter *parts_filter(const char *kind)
{
    bly_filter *filter = parts_new(kind);
    for (uint64_t i = 0; i < PARTS_KEYS; i++)
        bly_add_hash(filter, test_random(1, i));
    return filter;
}

/* ---- Where a key is ----------------------------------------------------- */

/* An add changes only the header and one part, and an image with nothing but
 * that part finds the key. */
static void parts_key(const char *kind, uint64_t hash)
{
    bly_filter *filter = parts_new(kind);
    uint64_t place = 0;
    size_t part = 0, bytes = 0;
    assert_status(bly_places(filter, &hash, 1, &place, &part), BLY_OK);
    uint8_t *image = (uint8_t *)(uintptr_t)bly_raw(filter, &bytes);
    uint8_t *empty = malloc(bytes);
    memcpy(empty, image, bytes);
    assert_true(part > 0 && place >= IMAGE_HEADER && place <= bytes - part);

    bly_add_hash(filter, hash);
    assert_true(bly_raw(filter, NULL) == image);
    assert_memory_equal(empty + IMAGE_HEADER, image + IMAGE_HEADER,
                        place - IMAGE_HEADER);
    assert_memory_equal(empty + place + part, image + place + part,
                        bytes - place - part);
    for (size_t i = IMAGE_HEADER; i < bytes; i++)
        if (i < place || i >= place + part)
            image[i] = (uint8_t)test_random(2, i);
    assert_true(bly_contains_hash(filter, hash));
    free(empty);
    bly_free(filter);
}

static void test_local_keys(void **state)
{
    (void)state;
    size_t local = 0, n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (size_t i = 0; i < n; i++)
        if ((kinds[i]->can & BLY_CAN_LOCAL) != 0) {
            local++;
            for (uint64_t j = 0; j < 20; j++)
                parts_key(kinds[i]->name, test_random(3, j));
        }
    assert_true(local >= 3);            /* blocked, split, buffered */
}

/* A batch gives the same places as single calls; places are whole parts
 * apart. */
static void test_places_many(void **state)
{
    (void)state;
    uint64_t hashes[500], places[500];
    for (size_t i = 0; i < 500; i++)
        hashes[i] = test_random(4, i);
    const char *kinds[] = { "blocked", "split", "buffered" };
    for (size_t k = 0; k < 3; k++) {
        bly_filter *filter = parts_new(kinds[k]);
        size_t part = 0, again = 0;
        assert_status(bly_places(filter, hashes, 500, places, &part), BLY_OK);
        for (size_t i = 0; i < 500; i++) {
            uint64_t place;
            assert_status(bly_places(filter, &hashes[i], 1, &place, &again),
                          BLY_OK);
            assert_true(place == places[i] && again == part);
            assert_int_equal((place - places[0]) % part, 0);
        }
        bly_free(filter);
    }
}

static void test_places_refused(void **state)
{
    (void)state;
    bly_filter *filter = parts_new("standard");
    uint64_t hash = 1, place = 7;
    size_t bytes = 7;
    assert_status(bly_places(filter, &hash, 1, &place, &bytes),
                  BLY_EUNSUPPORTED);
    assert_true(place == 7 && bytes == 7);
    bly_free(filter);
}

/* ---- Counts -------------------------------------------------------------- */

static void test_set_items(void **state)
{
    (void)state;
    bly_filter *all = parts_filter("blocked"), *half = parts_new("blocked");
    bly_filter *rest = parts_new("blocked"), *reader = NULL;
    for (uint64_t i = 0; i < PARTS_KEYS; i++)
        bly_add_hash(i % 2 == 0 ? half : rest, test_random(1, i));
    assert_status(bly_unite(half, rest), BLY_OK);
    assert_status(bly_set_items(half, PARTS_KEYS), BLY_OK);
    size_t bytes = 0, others = 0;
    const void *image = bly_image(all, &bytes);
    const void *united = bly_image(half, &others);
    assert_int_equal(bytes, others);
    assert_memory_equal(image, united, bytes);

    assert_status(bly_wrap(&reader, image, bytes, NULL), BLY_OK);
    assert_status(bly_set_items(reader, 1), BLY_EREADONLY);
    assert_status(bly_set_items(half, UINT64_MAX), BLY_OK);
    bly_info_t stat;
    bly_info(&stat, half);
    assert_false(stat.items_exact);
    bly_free(reader);
    bly_free(all);
    bly_free(half);
    bly_free(rest);
}

/* ---- Sparse memory
 * -------------------------------------------------------- */

static void *parts_allocate(void *context, size_t alignment, size_t bytes)
{
    (void)alignment;
    ++*(int *)context;
    return malloc(bytes);
}

static void parts_release(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

/* A filter far larger than memory; its last block works like the first. */
static void test_sparse(void **state)
{
    (void)state;
    int asked = 0;
    const bly_allocator own = { parts_allocate, parts_release, &asked };
    bly_spec spec = { .allocator = &own, .flags = BLY_SPARSE };
    const char *kind = "blocked:m=17592186044416,k=4";         /* 2 TiB */
    bly_filter *filter = NULL;
    bly_status made = bly_new(&filter, kind, &spec);
    if (made == BLY_ENOMEM || made == BLY_ETOOBIG)
        skip();                         /* a limit on address space */
    assert_status(made, BLY_OK);
    assert_int_equal(asked, 0);
    for (uint64_t i = 0; i < 100; i++)
        assert_status(bly_add_hash(filter, test_random(5, i)), BLY_OK);
    for (uint64_t i = 0; i < 100; i++)
        assert_true(bly_contains_hash(filter, test_random(5, i)));
    size_t bytes;
    assert_non_null(bly_raw(filter, &bytes));
    assert_true(bytes > UINT64_C(1) << 40);
    bly_free(filter);
}

/* ---- Saving ---------------------------------------------------------------
 */

static char parts_path[] = "parts-test-XXXXXX";

static int parts_setup(void **state)
{
    (void)state;
    int file = mkstemp(parts_path);
    return file < 0 || close(file) != 0;
}

static int parts_teardown(void **state)
{
    (void)state;
    return unlink(parts_path);
}

typedef struct {
    const uint8_t *image;
    uint64_t       next, end;           /* in order; none from end on        */
} parts_source;

static bool parts_give(void *context, uint64_t from, void *into, size_t n)
{
    parts_source *s = context;
    assert_int_equal(from, s->next);
    assert_true(n > 0);
    s->next += n;
    if (s->next > s->end)
        return false;
    memcpy(into, s->image + from, n);
    return true;
}

static void parts_file_is(const void *image, size_t bytes)
{
    uint8_t *read = malloc(bytes + 1);
    FILE *file = fopen(parts_path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(read, 1, bytes + 1, file), bytes);
    fclose(file);
    assert_memory_equal(read, image, bytes);
    free(read);
}

static void parts_save(const char *kind, uint64_t capacity)
{
    bly_spec spec = { .capacity = capacity };
    bly_filter *full = NULL, *like = NULL;
    assert_status(bly_new(&full, kind, &spec), BLY_OK);
    assert_status(bly_new(&like, kind, &spec), BLY_OK);
    for (uint64_t i = 0; i < PARTS_KEYS; i++)
        bly_add_hash(full, test_random(1, i));
    size_t bytes;
    const void *image = bly_image(full, &bytes);
    parts_source source = { image, IMAGE_HEADER, bytes };
    assert_status(bly_save_parts(like, parts_path, PARTS_KEYS, parts_give,
                                 &source), BLY_OK);
    assert_int_equal(source.next, bytes);
    parts_file_is(image, bytes);

    parts_source short_one = { image, IMAGE_HEADER, bytes - 1 };
    assert_status(bly_save_parts(like, parts_path, 1, parts_give, &short_one),
                  BLY_EIO);
    parts_file_is(image, bytes);        /* the old file is unchanged */
    bly_free(full);
    bly_free(like);
}

static void test_save_parts(void **state)
{
    (void)state;
    parts_save("blocked", 1);           /* one line */
    parts_save("blocked", PARTS_KEYS);
    parts_save("standard", 8000000);    /* more than two pieces */
    parts_save("split", PARTS_KEYS);
}

static void test_save_parts_refused(void **state)
{
    (void)state;
    bly_filter *paged = parts_new("buffered"), *plain = parts_new("blocked");
    parts_source source = { NULL, IMAGE_HEADER, 0 };
    assert_status(bly_save_parts(paged, parts_path, 0, parts_give, &source),
                  BLY_EUNSUPPORTED);
    assert_status(bly_save_parts(plain, "/dev/null", 0, parts_give, &source),
                  BLY_EIO);
    assert_status(bly_save_parts(plain, "no/such/folder", 0, parts_give,
                                 &source), BLY_EIO);
    assert_int_equal(source.next, IMAGE_HEADER);
    bly_free(paged);
    bly_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_local_keys),
        cmocka_unit_test(test_places_many),
        cmocka_unit_test(test_places_refused),
        cmocka_unit_test(test_set_items),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_save_parts),
        cmocka_unit_test(test_save_parts_refused),
    };
    return cmocka_run_group_tests(tests, parts_setup, parts_teardown);
}
