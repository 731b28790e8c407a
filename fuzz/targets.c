/* targets.c - inputs of several targets: an image to be forged, a file. */
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bloomery.h"

target_totals target_did;

/* ---- Images ------------------------------------------------------------ */

/* Plans with more levels inside than the kinds' defaults. */
static const char *const target_plans[] = {
    "compressed:of=partitioned", "compressed:m=20,k=1", "scalable:of=split",
    "scalable:of=deletable", "aging:of=split", "layered:of=partitioned",
    "attenuated:of=split", "invertible:key=9", "buffered:k=2",
};

enum { TARGET_PLANS = sizeof target_plans / sizeof *target_plans };

static const bly_spec target_spec = { .capacity = 12, .rate = 0.05, .seed = 7 };

static const char *target_plan(size_t choice)
{
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    return choice < n ? kinds[choice]->name : target_plans[choice - n];
}

/* Returns an empty filter of a plan. It is cached, as planning takes longer
 * than the test. */
static bly_status target_empty(bly_filter **out, size_t choice)
{
    static bly_filter *empty[256];
    bly_status status = BLY_OK;
    if (empty[choice] == NULL)
        status = bly_new(&empty[choice], target_plan(choice), &target_spec);
    return status == BLY_OK ? bly_copy(out, empty[choice], NULL) : status;
}

static uint64_t target_hash(uint64_t i)
{
    return bly_mix64(i * UINT64_C(0x9E3779B97F4A7C15));
}

/* Returns a filter for few keys, with up to 255 in it, so that growing kinds
 * have grown. */
static bly_filter *target_filter(target_input *in)
{
    uint64_t hashes[256];
    size_t kinds;
    (void)bly_kinds(&kinds);
    size_t choice = (size_t)target_take(in, 1) % (kinds + TARGET_PLANS);
    size_t n = (size_t)target_take(in, 1);
    uint64_t from = target_take(in, 1);
    bly_filter *filter = NULL;
    for (size_t i = 0; i < n; i++)
        hashes[i] = target_hash(from + i);
    if (target_empty(&filter, choice) == BLY_OK)
        (void)bly_add_hashes(filter, hashes, n, NULL, NULL);
    else if (bly_build(&filter, target_plan(choice), &target_spec,
                       &(bly_keys){ .n = n, .hashes = hashes }) != BLY_OK)
        return NULL;
    return filter;
}

uint8_t *target_image(target_input *in, bool packed, size_t *bytes)
{
    bly_filter *filter = target_filter(in);
    if (filter == NULL)
        return NULL;
    const void *image = bly_image(filter, bytes);
    uint8_t *copy = malloc(*bytes);
    if (copy != NULL)
        memcpy(copy, image, *bytes);
    if (copy != NULL && packed
        && bly_pack(filter, copy, *bytes, bytes) != BLY_OK) {
        free(copy);
        copy = NULL;
    }
    bly_free(filter);
    return copy;
}

/* Reads a place, a width of 1 or 8 bytes, and a value to write, to add or, for
 * a bit, to flip. */
void target_edit(target_input *in, uint8_t *image, size_t bytes, size_t most)
{
    for (size_t i = 0; i < most && target_left(in) > 0; i++) {
        uint8_t how = (uint8_t)target_take(in, 1);
        size_t at = (size_t)target_take(in, 2) % bytes;
        size_t width = (how & 1) != 0 && bytes - at >= 8 ? 8 : 1;
        uint64_t value = target_take(in, width);
        for (size_t j = 0; j < width; j++, value >>= 8)
            image[at + j] = (uint8_t)((how & 2) != 0 ? image[at + j] + value
                                    : (how & 4) != 0 ? image[at + j] ^ value
                                                     : value);
    }
}

/* ---- Files ------------------------------------------------------------- */

const char *target_file(const uint8_t *bytes, size_t n)
{
    static int file = -1;
    static char path[40];
    if (file >= 0)
        close(file);
    file = memfd_create("fuzz", 0);
    if (file < 0 || write(file, bytes, n) != (ssize_t)n)
        return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return path;
}
