/* fuzz_formats.c - any bytes taken for another system's file are refused, or
 * give a filter that keeps them, answers alike in every way, finds keys added
 * to it, takes attached data if the format has them, and is saved and read back
 * unchanged.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "bloomery.h"
#include "bloomery/foreign.h"

enum { FORMATS_KEYS = 24, FORMATS_LONGEST = 300 };

static const char FORMATS_BLOCK[]
    = "bip158:block="
      "000000006c02c8ea6e4ff69651f7fcde348fb9d557a06e6957b65552002a7820";

/* Returns the format chosen by a byte, or NULL to recognise it. */
static const char *formats_name(uint64_t choice)
{
    size_t n;
    const bly_format_info *const *formats = bly_formats(&n);
    choice %= n + 1;
    if (choice == n)
        return NULL;
    const char *name = formats[choice]->kind->name;
    return strcmp(name, "bip158") == 0 ? FORMATS_BLOCK : name;
}

/* Draws keys of 0 to FORMATS_LONGEST bytes, some of 20 and 8. */
static void formats_keys(bly_key keys[FORMATS_KEYS])
{
    static uint8_t text[FORMATS_LONGEST];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i * 7 + i / 13);
    for (size_t i = 0; i < FORMATS_KEYS; i++) {
        size_t length = i < 21 ? i : 100 * (i - 20);
        keys[i] = (bly_key){ text + (FORMATS_LONGEST - length), length };
    }
}

static const char *formats_ask(const bly_filter *filter)
{
    bly_key list[FORMATS_KEYS];
    bly_keys keys = { .n = FORMATS_KEYS, .keys = list };
    bool present[FORMATS_KEYS];
    bly_info_t stat;
    formats_keys(list);
    if (bly_contains_many(filter, &keys, present) != BLY_OK)
        return "a batch of keys is refused";
    for (size_t i = 0; i < FORMATS_KEYS; i++)
        if (present[i] != bly_contains(filter, list[i].data, list[i].length)
            || (bly_count(filter, list[i].data, list[i].length) > 0)
               != present[i])
            return "a key is in one way and not in another";
    target_did.answers += 3 * FORMATS_KEYS;
    if (bly_info(&stat, filter) != BLY_OK)
        return "it tells nothing of itself";
    return stat.rate >= 0 && stat.rate <= 1 ? NULL : "the rate is no rate";
}

/* Returns whether the filter's file is unchanged. */
static bool formats_file_is(const bly_filter *filter, const uint8_t *bytes,
                            size_t n)
{
    size_t all;
    const uint8_t *image = bly_image(filter, &all);
    return all == n + BLY_HEADER_BYTES
        && (n == 0 || memcmp(image + BLY_HEADER_BYTES, bytes, n) == 0);
}

/* A changed filter's file is read back as the same. */
static const char *formats_again(const bly_filter *filter,
                                 const bly_options *options)
{
    size_t all;
    const uint8_t *image = bly_image(filter, &all);
    bly_filter *again = NULL;
    if (bly_check(image, all, NULL) != BLY_OK)
        return "its own image is refused";
    if (bly_unpack(&again, image + BLY_HEADER_BYTES, all - BLY_HEADER_BYTES,
                   options) != BLY_OK)
        return "what was changed is no file of the format any more";
    const char *found = NULL;
    if (!formats_file_is(again, image + BLY_HEADER_BYTES,
                         all - BLY_HEADER_BYTES))
        found = "what was changed is not what is read back";
    bly_free(again);
    return found;
}

static const char *formats_change(bly_filter *filter)
{
    bly_key list[FORMATS_KEYS];
    uint64_t can = bly_can(filter);
    formats_keys(list);
    for (size_t i = 0; i < FORMATS_KEYS && (can & BLY_CAN_ADD) != 0; i++)
        if (bly_add(filter, list[i].data, list[i].length) >= 0
            && !bly_contains(filter, list[i].data, list[i].length))
            return "a key that was added is not there";
    if ((can & BLY_CAN_REMOVE) != 0 && bly_add(filter, "x", 1) >= 0
        && bly_remove(filter, "x", 1) != BLY_OK)
        return "a key that was added cannot be removed";
    if ((can & BLY_CAN_UNITE) != 0 && bly_unite(filter, filter) < 0)
        return "it cannot be united with itself";
    target_did.operations += FORMATS_KEYS;
    return NULL;
}

/* Attached data end with the file; their second half can replace them. */
static const char *formats_attach(bly_filter *filter)
{
    const void *data;
    size_t n, all, left;
    bly_status status = bly_attached(&data, &n, filter);
    if (status != BLY_OK)
        return status == BLY_EUNSUPPORTED
            && bly_attach(filter, "x", 1) == BLY_EUNSUPPORTED
             ? NULL : "there is no place for data, or there is";
    const uint8_t *image = bly_image(filter, &all), *half = data;
    uint8_t last = n > 0 ? half[n - 1] : 0;
    half += n / 2;
    if (half + (n - n / 2) != image + all)
        return "what is attached does not end where its file does";
    if (bly_attach(filter, half, n - n / 2) != BLY_OK
        || bly_attached(&data, &left, filter) != BLY_OK
        || left != n - n / 2
        || (left > 0 && ((const uint8_t *)data)[left - 1] != last))
        return "what is attached is not what was to be";
    target_did.operations++;
    return NULL;
}

const char *fuzz_formats(const uint8_t *bytes, size_t n)
{
    target_input in = { bytes, bytes + n };
    bly_options options = { .format = formats_name(target_take(&in, 1)) };
    bly_filter *filter = NULL;
    if (bly_unpack(&filter, in.at, target_left(&in), &options) != BLY_OK)
        return *bly_why() != '\0' ? NULL : "it is refused without a word";
    if (options.format == NULL)
        options.format = strcmp(bly_kind_of(filter), "bip158") == 0
                       ? FORMATS_BLOCK : bly_kind_of(filter);
    const char *found = formats_file_is(filter, in.at, target_left(&in))
                      ? formats_ask(filter) : "its bytes are not kept";
    if (found == NULL)
        found = formats_change(filter);
    if (found == NULL)
        found = formats_attach(filter);
    if (found == NULL)
        found = formats_ask(filter);
    if (found == NULL)
        found = formats_again(filter, &options);
    bly_free(filter);
    target_did.images++;
    return found;
}
