/* power.c - the power is cut at every moment of every job that writes a file;
 * the disk then holds the old filter, the new one, or a file marked as
 * unfinished.
 *
 * A job is a typical use: save, over an old file or not; add to a mapped or
 * paged file, with syncs and close; create; repair what another cut has left.
 * Each runs once per kind on a disk of disk.h, which describes the states after
 * a cut and which are examined. Each state is laid out as a file and opened in
 * every way:
 *
 *  - The file is, byte for byte, one of the images that the job makes in turn,
 *    computed beforehand in memory, and all of its keys are found. Once a verb
 *    has returned BLY_OK, no earlier image will do.
 *  - Or it opens with BLY_EUNSEALED, in every way, but only if the job works in
 *    the file itself, and not between a BLY_OK that closes it and the next
 *    change. A paged file then opens for its next writer with every key of a
 *    successful bly_sync, and can be closed.
 *  - The file is missing only if it did not exist before, and no verb has
 *    returned BLY_OK.
 *  - Any other file has a hidden name, and the next save removes it.
 *
 * All of this also holds if each flush fails in turn and the verb that reported
 * it is called once more: its BLY_OK must be true. Pages are read by system
 * calls, not by a ring, which never writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bloomery/paged.h>
#include <bloomery/parts.h>
#include <bloomery/replace.h>

#include "test.h"
#include "disk.h"
#include "folder.h"

#include "bits/hash.h"
#include "verbs/registry.h"

enum {
    POWER_ROOM = 6000, POWER_OLD = 500, POWER_BATCH = 24, POWER_ALL = 600,
    POWER_IMAGES = 8, POWER_SEEN = 1 << 16
};

/* A possible image of the file, in the order in which they arise. */
typedef struct {
    uint8_t *bytes;
    size_t   n;
    size_t   first, end;                /* its keys                          */
} power_image;

/* The result of examining a file. */
typedef struct {
    uint64_t hash;                      /* of its bytes; 0: empty entry      */
    int      image;                     /* -1: not one of them               */
    size_t   mended;                    /* keys found after repair */
} power_found;

static struct {
    const char *kind, *job;
    bool        pages;                  /* the next writer repairs it        */
    power_image images[POWER_IMAGES];
    size_t      n_images;
    /* The states that verbs' promises allow. */
    bool        nothing, unsealed;
    size_t      least;                  /* the first image allowed           */
    size_t      kept;                   /* keys that repair restores         */
    size_t      n_seen;
    uint64_t    left;                   /* leftovers examined                */
    uint64_t    unfinished;             /* unfinished; one is kept           */
    uint8_t    *torn;
    size_t      n_torn;
} power;

static power_found power_seen[POWER_SEEN];
static disk_counts power_total;
static uint64_t power_different;
static uint64_t power_keys[POWER_ALL];

#define power_fail(...)                                                        \
    do {                                                                       \
        print_error("%s, %s: ", power.kind, power.job);                        \
        fail_msg(__VA_ARGS__);                                                 \
    } while (0)

/* ---- Files --------------------------------------------------------------- */

static void power_put(const char *path, const uint8_t *bytes, size_t n)
{
    int file = open(path, O_WRONLY | O_CREAT, 0644);
    assert_true(file >= 0 && pwrite(file, bytes, n, 0) == (ssize_t)n
                && ftruncate(file, (off_t)n) == 0);
    close(file);
}

/* Counts the leading keys that are found. */
static size_t power_row(const bly_filter *filter, size_t first)
{
    bool there[POWER_ALL];
    size_t n = 0, most = POWER_ALL - first;
    bly_contains_hashes(filter, power_keys + first, most, there);
    while (n < most && there[n])
        n++;
    return first + n;
}

/* ---- Examining a state --------------------------------------------------- */

static const char power_here[] = "found.bly";

/* Opens it this way: an image with its keys, or BLY_EUNSEALED. */
static void power_open(int image, int flags)
{
    bly_filter *filter = NULL;
    bly_status status = bly_open(&filter, power_here, flags, NULL);
    if (status != (image >= 0 ? BLY_OK : BLY_EUNSEALED))
        power_fail("opened with flags %d, %s is: %s", flags,
                   image >= 0 ? "an image" : "what is no image",
                   status == BLY_OK ? "a filter" : bly_why());
    if (status != BLY_OK)
        return;
    const power_image *is = &power.images[image];
    size_t end = power_row(filter, is->first);
    bly_free(filter);
    if (end < is->end)
        power_fail("opened with flags %d, image %d has lost key %zu", flags,
                   image, end);
}

/* The next writer opens it, and closes it properly. */
static size_t power_mend(void)
{
    bly_filter *filter = NULL;
    bly_status status = bly_open(&filter, power_here, BLY_PAGED | BLY_WRITE,
                                 NULL);
    if (status != BLY_OK)
        power_fail("cannot be mended: %s", bly_why());
    size_t row = power_row(filter, 0);
    assert_status(bly_seal(filter), BLY_OK);
    bly_free(filter);
    assert_status(bly_open(&filter, power_here, 0, NULL), BLY_OK);
    assert_true(power_row(filter, 0) >= row);
    bly_free(filter);
    return row;
}

static int power_which(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < power.n_images; i++)
        if (power.images[i].n == n
            && memcmp(power.images[i].bytes, bytes, n) == 0)
            return (int)i;
    return -1;
}

static power_found power_examine(const uint8_t *bytes, size_t n)
{
    power_found is = { .image = power_which(bytes, n) };
    power_put(power_here, bytes, n);
    power_open(is.image, 0);
    power_open(is.image, BLY_MAP);
    power_open(is.image, BLY_MAP | BLY_VERIFY);
    if (power.pages)
        power_open(is.image, BLY_PAGED);
    assert_status(bly_check(bytes, n, NULL),
                  is.image >= 0 ? BLY_OK : BLY_EUNSEALED);
    is.mended = POWER_ALL;
    if (power.pages && power.n_seen % test_work(1, 2, 4) == 0)
        is.mended = power_mend();
    return is;
}

/* Caches the result for equal bytes. */
static const power_found *power_look(const uint8_t *bytes, size_t n)
{
    uint64_t hash = hash_xxh3(bytes, n, n) | 1;
    size_t at = (size_t)(hash >> 20) % POWER_SEEN;
    while (power_seen[at].hash != 0 && power_seen[at].hash != hash)
        at = (at + 1) % POWER_SEEN;
    if (power_seen[at].hash == 0) {
        assert_true(++power.n_seen < POWER_SEEN);
        power_seen[at] = power_examine(bytes, n);
        power_seen[at].hash = hash;
    }
    return &power_seen[at];
}

/* ---- Leftovers ----------------------------------------------------------- */

static const struct timespec power_old_times[2] = { { .tv_sec = 1 },
                                                    { .tv_sec = 1 } };

/* The next save of the same file removes the unfinished one. */
static void power_take_away(const disk_state *state)
{
    bly_filter *filter = NULL;
    char left[320];
    const char *slash = strrchr(state->left, '/');
    const char *name = slash == NULL ? state->left : slash + 1;
    if (strncmp(name, ".bloomery-", 10) != 0)
        power_fail("%s lies there", state->left);
    if (strcmp(power.kind, "standard") != 0 || power.left++ >= 4)
        return;
    snprintf(left, sizeof left, "after/%s", name);
    assert_int_equal(mkdir("after", 0755), 0);
    power_put(left, (const uint8_t *)"bloomery", 8);
    assert_int_equal(utimensat(AT_FDCWD, left, power_old_times, 0), 0);
    assert_status(bly_new(&filter, "standard", &(bly_spec){ .capacity = 9 }),
                  BLY_OK);
    assert_status(bly_save(filter, slash == NULL ? "after/power.bly"
                                                 : "after/target.bly"), BLY_OK);
    bly_free(filter);
    if (folder_entries("after") != 1)
        power_fail("%s stays for ever", state->left);
    assert_int_equal(system("rm -r after"), 0);
}

static void power_judge(const disk_state *state)
{
    if (state->left != NULL)
        power_take_away(state);
    if (!state->there) {
        if (!power.nothing)
            power_fail("the file is gone");
        return;
    }
    const power_found *is = power_look(state->bytes, state->n);
    if (is->image >= 0 && (size_t)is->image < power.least)
        power_fail("image %d is there, and not %zu, which was said to be",
                   is->image, power.least);
    if (is->image < 0 && !power.unsealed)
        power_fail("the file is unfinished");
    if (is->image < 0 && power.pages && is->mended < power.kept)
        power_fail("key %zu of %zu was not flushed", is->mended, power.kept);
}

/* ---- Filters ------------------------------------------------------------- */

static const char power_path[] = "power.bly";

static bool power_can(uint64_t abilities)
{
    return (bly_kind_find(power.kind)->can & abilities) == abilities;
}

static bly_spec power_spec(void)
{
    return (bly_spec){ .capacity = power_can(BLY_CAN_ADD) ? POWER_ROOM : 0,
                       .threads = 1 };
}

static bly_filter *power_make(size_t n)
{
    bly_spec spec = power_spec();
    bly_filter *filter = NULL;
    assert_status(bly_build(&filter, power.kind, &spec,
                            &(bly_keys){ .n = n, .hashes = power_keys }),
                  BLY_OK);
    return filter;
}

/* The filter at the time of saving is one more possible image. Kinds that
 * forget may have lost keys. */
static void power_expect(const bly_filter *filter, size_t first, size_t end)
{
    size_t room, row = power_row(filter, first);
    assert_true(row >= end || power_can(BLY_CAN_FORGET));
    end = row < end ? row : end;
    assert_true(power.n_images < POWER_IMAGES);
    power_image *is = &power.images[power.n_images++];
    assert_non_null(bly_image(filter, &room));
    *is = (power_image){ .bytes = malloc(room), .first = first, .end = end };
    assert_non_null(is->bytes);
    assert_status(bly_pack(filter, is->bytes, room, &is->n), BLY_OK);
}

/* Sets what verbs have promised so far, and cuts the power. */
static void power_promise(size_t least, bool unsealed, size_t kept)
{
    power.least = least;
    power.unsealed = unsealed;
    power.kept = kept;
    power.nothing = power.nothing && least == 0;
    disk_cut();
}

/* ---- Changes ------------------------------------------------------------- */

/* A change, with its turn among several, and the keys present after it. */
typedef struct {
    void (*make)(bly_filter *filter, size_t turn);
    size_t first, end;                  /* keys before the first turn        */
    size_t gone, come;                  /* by each                           */
} power_change;

static void power_add(bly_filter *filter, size_t turn)
{
    for (size_t i = 0; i < POWER_BATCH; i++) {
        size_t key = POWER_OLD + turn * POWER_BATCH + i;
        bly_status status = bly_add_hash(filter, power_keys[key]);
        if (status == BLY_EIO)          /* after a failed flush */
            return;
        assert_true(status >= 0);
        if (i % 8 == 0)
            disk_cut();
    }
}

static void power_remove(bly_filter *filter, size_t turn)
{
    for (size_t i = 0; i < POWER_BATCH; i++) {
        size_t key = turn * POWER_BATCH + i;
        assert_status(bly_remove_hash(filter, power_keys[key]), BLY_OK);
        if (i % 8 == 0)
            disk_cut();
    }
}

static void power_unite(bly_filter *filter, size_t turn)
{
    bly_filter *other = NULL;
    size_t from = POWER_OLD + turn * POWER_BATCH;
    if (bly_like(&other, filter, NULL) != BLY_OK)
        assert_status(bly_unpack(&other, power.images[0].bytes,
                                 power.images[0].n, NULL), BLY_OK);
    assert_status(bly_add_hashes(other, power_keys + from, POWER_BATCH, NULL,
                                 NULL), BLY_OK);
    assert_status(bly_unite(filter, other), BLY_OK);
    bly_free(other);
    disk_cut();
}

static const power_change power_adding = {
    power_add, 0, POWER_OLD, 0, POWER_BATCH
};
static const power_change power_removing = {
    power_remove, 0, POWER_OLD, POWER_BATCH, 0
};
static const power_change power_uniting = {
    power_unite, 0, POWER_OLD, 0, POWER_BATCH
};

/* Records the images that `turns` changes make of a filter in memory, and frees
 * it. */
static void power_foresee(bly_filter *filter, const power_change *change,
                          size_t turns)
{
    for (size_t i = 0; i < turns; i++) {
        change->make(filter, i);
        power_expect(filter, change->first + (i + 1) * change->gone,
                     change->end + (i + 1) * change->come);
    }
    bly_free(filter);
}

/* ---- Saving -------------------------------------------------------------- */

static void power_save(const disk_how *how)
{
    bly_filter *filter = power_make(POWER_ALL);
    power_expect(filter, 0, POWER_ALL);
    disk_begin(power_path, how, power_judge);
    bly_status status = bly_save(filter, power_path);
    if (status == BLY_OK)
        power_promise(power.n_images - 1, false, 0);
    disk_cut();
    bly_free(filter);
    assert_said(status, how->flush_file == 1 ? BLY_EIO
                        : how->flush_folder == EIO ? BLY_EUNFLUSHED : BLY_OK);
}

/* As programs write their own files. */
static void power_replace(const disk_how *how)
{
    bly_filter *filter = power_make(POWER_ALL);
    bly_replacement *whole;
    size_t n;
    int file;
    const void *image = bly_image(filter, &n);
    power_expect(filter, 0, POWER_ALL);
    disk_begin(power_path, how, power_judge);
    assert_status(bly_replace(&whole, &file, power_path), BLY_OK);
    assert_true(write(file, image, n) == (ssize_t)n);
    bly_status status = bly_replace_end(whole);
    if (status == BLY_OK)
        power_promise(power.n_images - 1, false, 0);
    disk_cut();
    bly_free(filter);
    assert_said(status, how->flush_file == 1 ? BLY_EIO : BLY_OK);
}

/* Reads a part of an image in memory. */
static bool power_part(void *context, uint64_t from, void *into, size_t n)
{
    memcpy(into, (const uint8_t *)context + from, n);
    return true;
}

/* The image arrives in parts, its header unfinished at first. */
static void power_save_parts(const disk_how *how)
{
    size_t n;
    bly_filter *filter = power_make(POWER_ALL);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    power_expect(filter, 0, POWER_ALL);
    void *image = power.images[power.n_images - 1].bytes;
    assert_non_null(bly_image(filter, &n));
    disk_begin(power_path, how, power_judge);
    bly_status status = bly_save_parts(filter, power_path, stat.items,
                                       power_part, image);
    if (status == BLY_OK)
        power_promise(power.n_images - 1, false, 0);
    else
        assert_said(status, BLY_EUNSUPPORTED);
    bly_free(filter);
}

/* Saves through a link to another folder. */
static void power_save_behind(const disk_how *how)
{
    bly_filter *filter = power_make(POWER_ALL);
    power_expect(filter, 0, POWER_ALL);
    disk_begin("behind/target.bly", how, power_judge);
    assert_status(bly_save(filter, "link.bly"), BLY_OK);
    power_promise(power.n_images - 1, false, 0);
    bly_free(filter);
}

/* ---- In the file itself -------------------------------------------------- */

/* A flush may fail once; the answer of the second call is true. */
static bool power_settles(bly_status (*verb)(bly_filter *), bly_filter *filter,
                          const disk_how *how)
{
    bly_status status = verb(filter);
    if (how->flush_file == 0 && how->flush_folder == 0)
        assert_said(status, BLY_OK);
    return status == BLY_OK || verb(filter) == BLY_OK;
}

static bly_filter *power_open_twin(void)
{
    bly_filter *twin = NULL;
    assert_status(bly_open(&twin, power_path, 0, NULL), BLY_OK);
    return twin;
}

/* Maps the file, or reports that it cannot be mapped. */
static bool power_map_it(bly_filter **out, const disk_how *how)
{
    disk_begin(power_path, how, power_judge);
    bly_status status = bly_open(out, power_path, BLY_MAP | BLY_WRITE, NULL);
    if (status != BLY_EUNSUPPORTED)
        assert_said(status, BLY_OK);
    return status == BLY_OK;
}

/* Makes three changes: one synced, one inspected, one closed. If the next
 * writer can repair the file page by page, it finds what was synced. */
static void power_map(const power_change *change, const disk_how *how)
{
    size_t n, kept = change->gone == 0 ? change->end : 0;
    bly_filter *filter = NULL;
    power_foresee(power_open_twin(), change, 3);
    if (!power_map_it(&filter, how))
        return;
    power_promise(0, true, kept);
    change->make(filter, 0);
    if (power_settles(bly_sync, filter, how))
        power_promise(1, false, kept + change->come);
    power.unsealed = true;
    change->make(filter, 1);
    assert_non_null(bly_image(filter, &n));
    disk_cut();
    change->make(filter, 2);
    if (power_settles(bly_seal, filter, how))
        power_promise(3, false, 0);
    bly_free(filter);
    disk_cut();
}

static void power_map_add(const disk_how *how)
{
    power_map(&power_adding, how);
}

static void power_map_remove(const disk_how *how)
{
    power_map(&power_removing, how);
}

static void power_map_unite(const disk_how *how)
{
    power_map(&power_uniting, how);
}

/* ---- Page by page -------------------------------------------------------- */

static void power_pages_add(const disk_how *how)
{
    bly_filter *filter = NULL;
    power_foresee(power_open_twin(), &power_adding, 3);
    disk_begin(power_path, how, power_judge);
    assert_status(bly_open(&filter, power_path, BLY_PAGED | BLY_WRITE, NULL),
                  BLY_OK);
    power_promise(0, true, POWER_OLD);
    power_add(filter, 0);
    if (power_settles(bly_sync, filter, how))
        power_promise(1, true, POWER_OLD + POWER_BATCH);
    power_add(filter, 1);
    if (power_settles(bly_seal, filter, how))
        power_promise(2, false, POWER_OLD + 2 * POWER_BATCH);
    power.unsealed = true;
    power_add(filter, 2);
    bly_free(filter);
    if (how->flush_file == 0)
        power_promise(3, false, 0);
}

/* Whichever writer was last: nothing promised is lost, and a closed file is
 * complete. */
static void power_judge_row(const disk_state *state)
{
    bly_filter *filter = NULL;
    assert_true(state->there);
    power_put(power_here, state->bytes, state->n);
    bly_status status = bly_open(&filter, power_here, 0, NULL);
    if (status != BLY_OK && status != BLY_EUNSEALED)
        power_fail("what the next writer left: %s", bly_why());
    size_t row = status == BLY_OK ? power_row(filter, 0) : power_mend();
    bly_free(filter);
    if (row < power.kept)
        power_fail("key %zu of %zu was not flushed", row, power.kept);
}

/* Writers follow each other while the machine runs: data that the first could
 * not flush are in the file for the next, but not on the disk. */
static void power_pages_again(const disk_how *how)
{
    disk_begin(power_path, how, power_judge_row);
    power_promise(0, true, POWER_OLD);
    for (size_t turn = 0; turn < 4; turn++) {
        bly_filter *filter = NULL;
        bly_status status = bly_open(&filter, power_path,
                                     BLY_PAGED | BLY_WRITE, NULL);
        if (status == BLY_EIO && how->flush_file > 0)
            continue;
        assert_said(status, BLY_OK);
        for (size_t i = 0; i <= turn && i < 3; i++)
            power_add(filter, i);
        if (bly_sync(filter) == BLY_OK)
            power_promise(0, true, POWER_OLD + (turn < 3 ? turn + 1 : 3)
                                             * POWER_BATCH);
        bly_free(filter);
        disk_cut();
    }
}

/* Adds many keys, in batches that do not fit in memory. */
static void power_fill(bly_filter *filter, size_t turn)
{
    size_t some = POWER_ALL / 3;
    bly_status status = bly_add_hashes(filter, power_keys + turn * some, some,
                                       NULL, NULL);
    if (status != BLY_EIO)
        assert_said(status, BLY_OK);
    disk_cut();
}

static const power_change power_filling = {
    power_fill, 0, 0, 0, POWER_ALL / 3
};

/* A new file appears at its first sync or seal, with its keys so far. */
static void power_create(bly_status (*first)(bly_filter *), const disk_how *how)
{
    bly_filter *filter = NULL, *twin = NULL;
    bly_spec spec = power_spec();
    size_t old = power.n_images;
    assert_status(bly_new(&twin, power.kind, &spec), BLY_OK);
    power_foresee(twin, &power_filling, 3);
    disk_begin(power_path, how, power_judge);
    assert_status(bly_create(&filter, power_path, power.kind, &spec), BLY_OK);
    assert_status(bly_buffer(filter, 4096), BLY_OK);
    power_fill(filter, 0);
    power.unsealed = true;
    power.kept = POWER_ALL / 3;
    if (power_settles(first, filter, how))
        power_promise(old, first == bly_sync, POWER_ALL / 3);
    power.unsealed = true;
    power_fill(filter, 1);
    if (power_settles(bly_sync, filter, how))
        power_promise(old + 1, true, 2 * POWER_ALL / 3);
    power_fill(filter, 2);
    if (power_settles(bly_seal, filter, how))
        power_promise(old + 2, false, POWER_ALL);
    bly_free(filter);
    disk_cut();
}

static void power_create_sync(const disk_how *how)
{
    power_create(bly_sync, how);
}

static void power_create_seal(const disk_how *how)
{
    power_create(bly_seal, how);
}

/* The next writer repairs a file left by a cut, and may be cut off, too. */
static void power_mended(const char *path)
{
    bly_filter *filter = NULL;
    assert_status(bly_open(&filter, path, BLY_PAGED | BLY_WRITE, NULL), BLY_OK);
    disk_cut();
    power_add(filter, 1);
    assert_status(bly_sync(filter), BLY_OK);
    power_promise(0, true, POWER_OLD + 2 * POWER_BATCH);
    assert_status(bly_seal(filter), BLY_OK);
    power_promise(0, false, 0);
    bly_free(filter);
}

/* Keeps one of the unfinished files. */
static void power_harvest(const disk_state *state)
{
    if (power_which(state->bytes, state->n) >= 0
        || (test_random(7, power.unfinished++) % 4 != 0
            && power.n_torn > 0))
        return;
    power.torn = realloc(power.torn, state->n);
    assert_non_null(power.torn);
    memcpy(power.torn, state->bytes, state->n);
    power.n_torn = state->n;
}

/* Keys of the first turn are flushed; some of the second may be. */
static void power_tear(const disk_how *how)
{
    bly_filter *filter = power_open_twin();
    power_foresee(filter, &power_adding, 2);
    disk_begin(power_path, how, power_harvest);
    assert_status(bly_open(&filter, power_path, BLY_PAGED | BLY_WRITE, NULL),
                  BLY_OK);
    power_add(filter, 0);
    assert_status(bly_sync(filter), BLY_OK);
    power.n_torn = 0;
    power_add(filter, 1);
    bly_free(filter);
    (void)disk_end();
    assert_non_null(power.torn);
}

static void power_forget_images(void)
{
    for (size_t i = 0; i < power.n_images; i++)
        free(power.images[i].bytes);
    power.n_images = 0;
}

static void power_mend_torn(const disk_how *how)
{
    bly_filter *filter = NULL;
    power_tear(how);
    power_forget_images();
    power_put("twin.bly", power.torn, power.n_torn);
    power_mended("twin.bly");
    assert_status(bly_open(&filter, "twin.bly", 0, NULL), BLY_OK);
    power_expect(filter, 0, POWER_OLD + 2 * POWER_BATCH);
    bly_free(filter);
    power_put(power_path, power.torn, power.n_torn);
    free(power.torn);
    power.torn = NULL;
    power.unsealed = true;
    power.kept = POWER_OLD + POWER_BATCH;
    disk_begin(power_path, how, power_judge);
    power_mended(power_path);
}

/* ---- Jobs ---------------------------------------------------------------- */

typedef struct {
    const char *name;
    const char *of;                     /* a single kind; or NULL: every …   */
    uint64_t    needs;                  /* … kind with these abilities       */
    bool        old, makes;             /* a file exists; it makes another   */
    void      (*run)(const disk_how *how);
    disk_how    how;                    /* injected failures                 */
} power_job;

#define POWER_WELL { .harsh = false }
#define POWER_EACH { .flush_file = 1 }  /* flush of a file fails in turn     */
#define POWER_PAGE BLY_CAN_PAGE

static const power_job power_jobs[] = {
    { "save", NULL, 0, true, true, power_save, POWER_WELL },
    { "save in parts", NULL, 0, true, true, power_save_parts, POWER_WELL },
    { "save, nothing there", "standard", 0, false, true, power_save,
      POWER_WELL },
    { "replace", "standard", 0, true, true, power_replace, POWER_EACH },
    { "replace, nothing there", "standard", 0, false, true, power_replace,
      POWER_WELL },
    { "save, link", "standard", 0, true, true, power_save_behind, POWER_WELL },
    { "save, no flush", "standard", 0, true, true, power_save, POWER_EACH },
    { "save, no flush of the folder", "standard", 0, true, true, power_save,
      { .flush_folder = EIO } },
    { "save, folder flushes nothing", "standard", 0, true, true, power_save,
      { .flush_folder = EINVAL } },
    { "save, folder not to be read", "standard", 0, true, true, power_save,
      { .open_folder = EACCES } },
    { "map, add", NULL, BLY_CAN_ADD, true, false, power_map_add, POWER_WELL },
    { "map, add, no flush", "cuckoo", BLY_CAN_ADD, true, false, power_map_add,
      POWER_EACH },
    { "map, remove", NULL, BLY_CAN_REMOVE, true, false, power_map_remove,
      POWER_WELL },
    { "map, unite", NULL, BLY_CAN_UNITE, true, false, power_map_unite,
      POWER_WELL },
    { "paged", NULL, POWER_PAGE, true, false, power_pages_add, POWER_WELL },
    { "paged, no flush", NULL, POWER_PAGE, true, false, power_pages_add,
      POWER_EACH },
    { "paged, again", NULL, POWER_PAGE, true, false, power_pages_again,
      POWER_EACH },
    { "paged, mend", NULL, POWER_PAGE, true, false, power_mend_torn,
      POWER_WELL },
    { "create, sync", NULL, POWER_PAGE, true, true, power_create_sync,
      POWER_WELL },
    { "create, sync, no flush", NULL, POWER_PAGE, true, true,
      power_create_sync, POWER_EACH },
    { "create, sync, no flush of the folder", NULL, POWER_PAGE, true, true,
      power_create_sync, { .flush_folder = EIO } },
    { "create, seal", NULL, POWER_PAGE, false, true, power_create_seal,
      POWER_WELL },
    { "create, seal, no flush", NULL, POWER_PAGE, false, true,
      power_create_seal, POWER_EACH },
};

/* Removes what the last job left. */
static void power_tidy(void)
{
    static const char *const names[] = {
        power_path, power_here, "twin.bly", "link.bly", "behind/target.bly",
        "behind"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(names[i]);
    assert_int_equal(folder_entries("."), 0);
}

static void power_prepare(const char *kind, const power_job *job)
{
    power_forget_images();
    if (power.n_seen > 0)
        memset(power_seen, 0, sizeof power_seen);
    memset(&power, 0, sizeof power);
    power.kind = kind;
    power.job = job->name;
    power.pages = power_can(BLY_CAN_PAGE);
    power.nothing = !job->old;
    for (uint64_t i = 0; i < POWER_ALL; i++)
        power_keys[i] = strncmp(kind, "egh", 3) == 0 ? i + 1
                                                     : test_random(1, i);
    power_tidy();
    if (!job->old)
        return;
    bly_filter *filter = power_make(POWER_OLD);
    power_expect(filter, 0, POWER_OLD);
    assert_status(bly_save(filter, power_path), BLY_OK);
    bly_free(filter);
    assert_true(mkdir("behind", 0755) == 0
                && link(power_path, "behind/target.bly") == 0
                && symlink("behind/target.bly", "link.bly") == 0);
}

/* Runs a job and returns the number of flushes. */
static int power_run(const char *kind, const power_job *job,
                     const disk_how *how)
{
    power_prepare(kind, job);
    job->run(how);
    disk_counts counts = disk_end();
    power_total.cuts += counts.cuts;
    power_total.states += counts.states;
    power_different += power.n_seen;
    return counts.flushes;
}

/* Runs a job on every disk, or, in a short run, on every other one; and with
 * each flush failing in turn. */
static void power_run_all(const char *kind, const power_job *job, size_t turn)
{
    disk_how how = job->how;
    size_t step = job->of != NULL ? 1 : (size_t)test_work(1, 1, 2);
    for (size_t i = turn % step; i < (job->makes ? 4 : 2); i += step) {
        how.harsh = i & 1;
        how.named = i >> 1;
        how.flush_file = job->how.flush_file;
        while (power_run(kind, job, &how) >= how.flush_file
               && how.flush_file > 0)
            how.flush_file++;
    }
}

static void power_run_jobs(const char *kind, size_t turn)
{
    for (size_t i = 0; i < sizeof power_jobs / sizeof *power_jobs; i++) {
        power.kind = kind;
        const char *of = power_jobs[i].of;
        if (power_can(power_jobs[i].needs)
            && (of == NULL || strcmp(of, kind) == 0))
            power_run_all(kind, &power_jobs[i], turn + i);
    }
}

static void test_every_cut(void **state)
{
    (void)state;
    for (size_t i = 0; registry_kinds[i] != NULL; i++) {
        const char *kind = registry_kinds[i]->name;
        power_run_jobs(strcmp(kind, "egh") == 0 ? "egh:universe=65536" : kind,
                       i);
    }
    power_run_jobs("buffered:page=8192", 0);
}

/* If its file could not be flushed, a mapped filter can be saved only as a copy
 * from memory. */
static void test_unflushed_is_not_saved(void **state)
{
    (void)state;
    size_t n;
    uint8_t bytes[8192];
    bly_filter *filter = NULL, *copy = NULL;
    static const power_job job = { .name = "map, not saved", .old = true };
    power_prepare("standard", &job);
    disk_begin(power_path, &(disk_how){ .flush_file = 2 }, power_judge);
    power.unsealed = true;
    assert_status(bly_open(&filter, power_path, BLY_MAP | BLY_WRITE, NULL),
                  BLY_OK);
    power_add(filter, 0);
    for (size_t i = 0; i < 2; i++) {
        assert_status(bly_sync(filter), BLY_EIO);
        assert_non_null(strstr(bly_why(), strerror(EIO)));
        assert_status(bly_add_hash(filter, power_keys[POWER_ALL - 1]), BLY_EIO);
        errno = 0;
    }
    (void)disk_end();
    assert_status(bly_pack(filter, bytes, sizeof bytes, &n), BLY_EIO);
    assert_status(bly_save(filter, "twin.bly"), BLY_EIO);
    const void *image = bly_image(filter, &n);
    assert_status(bly_check(image, n, NULL), BLY_EUNSEALED);
    assert_status(bly_copy(&copy, filter, NULL), BLY_OK);
    assert_status(bly_save(copy, "twin.bly"), BLY_OK);
    bly_free(copy);
    bly_free(filter);
    assert_status(bly_open(&filter, power_path, 0, NULL), BLY_EUNSEALED);
    assert_status(bly_open(&copy, "twin.bly", 0, NULL), BLY_OK);
    assert_true(power_row(copy, 0) >= POWER_OLD + POWER_BATCH);
    bly_free(copy);
}

/* A paged one accepts no more keys. */
static void test_unflushed_takes_nothing(void **state)
{
    (void)state;
    bool seen;
    size_t done = 9;
    bly_filter *filter = NULL;
    static const power_job job = { .name = "paged, not flushed", .old = true };
    power_prepare("buffered", &job);
    disk_begin(power_path, &(disk_how){ .flush_file = 2 }, power_judge_row);
    assert_status(bly_open(&filter, power_path, BLY_PAGED | BLY_WRITE, NULL),
                  BLY_OK);
    power_add(filter, 0);
    assert_status(bly_sync(filter), BLY_EIO);
    assert_null(strstr(bly_why(), "try again"));
    assert_status(bly_add_hash(filter, power_keys[POWER_ALL - 1]), BLY_EIO);
    assert_status(bly_add_hashes(filter, power_keys, 2, NULL, &done), BLY_EIO);
    assert_int_equal(done, 0);
    assert_status(bly_add_hashes(filter, power_keys, 1, &seen, NULL), BLY_EIO);
    assert_status(bly_sync(filter), BLY_EIO);
    bly_free(filter);
    (void)disk_end();
}

/* If the first change is refused, or only the checksums were not flushed, the
 * image is complete and can be saved. */
static void test_whole_is_saved(void **state)
{
    (void)state;
    static const power_job job = { .name = "map, saved", .old = true };
    for (int fails = 1; fails <= 3; fails += 2) {
        bly_filter *filter = NULL, *copy = NULL;
        size_t n, end = fails == 1 ? POWER_OLD : POWER_OLD + POWER_BATCH;
        power_prepare("standard", &job);
        power_foresee(power_open_twin(), &power_adding, 1);
        disk_begin(power_path, &(disk_how){ .flush_file = fails }, power_judge);
        power.unsealed = true;
        assert_status(bly_open(&filter, power_path, BLY_MAP | BLY_WRITE, NULL),
                      BLY_OK);
        power_add(filter, 0);
        assert_status(bly_sync(filter), BLY_EIO);
        disk_cut();
        (void)disk_end();
        assert_status(bly_add_hash(filter, 1), BLY_EIO);
        assert_status(bly_seal(filter), BLY_EIO);
        const void *image = bly_image(filter, &n);
        assert_status(bly_check(image, n, NULL), BLY_OK);
        assert_status(bly_save(filter, "twin.bly"), BLY_OK);
        bly_free(filter);
        assert_status(bly_open(&copy, "twin.bly", 0, NULL), BLY_OK);
        assert_true(power_row(copy, 0) >= end);
        bly_free(copy);
        assert_status(bly_open(&copy, power_path, 0, NULL), BLY_OK);
        assert_true(power_row(copy, 0) >= end);
        bly_free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_whole_is_saved),
        cmocka_unit_test(test_unflushed_takes_nothing),
        cmocka_unit_test(test_unflushed_is_not_saved),
    };
    int failed = cmocka_run_group_tests_name("power", tests, folder_enter,
                                             folder_leave);
    printf("  %llu different states\n"
           "total cuts %llu\ntotal states %llu\n",
           (unsigned long long)power_different,
           (unsigned long long)power_total.cuts,
           (unsigned long long)power_total.states);
    return failed;
}
