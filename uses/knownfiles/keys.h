/* keys.h - makes keys of hashes as the filter's own keys were made. */
#ifndef KEYS_H
#define KEYS_H

#include <bloomery/form.h>
#include <openssl/evp.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static bly_filter *filter;
static uint64_t form;                   /* of its keys                       */
static size_t digits;                   /* of a hash                         */

static int stop(const char *what, const char *why);     /* the program's     */

/* Makes the key of a hash as the keys of the filter were made. */
static bly_status key_of(bly_key *key, const char *hash, char *room)
{
    const bly_value value = { .type = BLY_WRITTEN, .data = hash,
                              .length = digits };
    return bly_form_key(key, form, &value, room);
}

/* Finds out how to make keys. Filters of other systems do not say it: hashes of
 * CIRCL are text, in upper case. Ours of text say it if the case was changed,
 * and otherwise have what sha1sum prints. */
static int read_form(const char *name, const char *said)
{
    char room[4 * EVP_MAX_MD_SIZE], hash[2 * EVP_MAX_MD_SIZE + 1];
    bly_key key;
    form = bly_form_of(filter);
    if (form == BLY_KEYS_BYTES)
        form = BLY_KEYS_HEX;
    bool open = form == BLY_KEYS_UNSTATED ||
                (said != NULL && *said != 'b' && form == BLY_KEYS_TEXT);
    if (said != NULL && !open)
        return stop(name, "it records the form of its keys: leave out -k");
    if (open)
        form = said == NULL || *said == 'u' ? BLY_KEYS_TEXT | BLY_FORM_UPPER
             : *said == 'l' ? BLY_KEYS_TEXT | BLY_FORM_LOWER : BLY_KEYS_HEX;
    uint64_t class = form & BLY_FORM_CLASS;
    if (class != BLY_KEYS_TEXT && class != BLY_KEYS_UTF16 &&
        class != BLY_KEYS_HEX)
        return stop(name, "its keys are not hashes of files");
    memset(hash, '0', digits);
    return key_of(&key, hash, room) < 0 ? stop(name, bly_why()) : 0;
}

/* Returns whether the filter has a hash, perhaps. */
static bool is_known(const char *hash)
{
    char room[4 * EVP_MAX_MD_SIZE];
    bly_key key;
    return key_of(&key, hash, room) < 0 ||
           bly_contains(filter, key.data, key.length);
}

/* Returns whether a filter with none of the hashes explains how many are known:
 * the mean of its false positives and three standard deviations. */
static bool is_chance(uintmax_t known, uintmax_t all)
{
    bly_info_t about;
    double n = (double)all;
    return bly_info(&about, filter) >= 0 && all > 0 &&
           (double)known <= n * about.rate +
                            3 * sqrt(n * about.rate * (1 - about.rate));
}

#endif
