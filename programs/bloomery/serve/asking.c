/* asking.c - answers a batch of requests.
 *
 * Each filter that is queried gets all its keys in one batch, in the form that
 * it states. Answers are combined as in `bloomery query` with several -F: a key
 * is present if any filter may hold it or, with --all, if all of them may.
 *
 * A filter that cannot read a key gives no answer for it. If the other filters
 * do not decide the request on their own, its answer is an error.
 */
#include "bloomery/serve/serve.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

serve_asker *asking_new(const serve_how *how)
{
    serve_asker *asker = calloc(1, sizeof *asker);

    if (asker == NULL) {
        report_no_memory();
        return NULL;
    }
    asker->how = how;
    asking_renew(asker);
    return asker;
}

void asking_free(serve_asker *asker)
{
    if (asker == NULL)
        return;
    served_give(asker->set);
    bytes_free(&asker->bytes);
    free(asker);
}

void asking_renew(serve_asker *asker)
{
    uint64_t age = served_age();

    if (asker->set != NULL && asker->age == age)
        return;
    if (asker->set != NULL)
        served_give(asker->set);
    asker->set = served_take();
    asker->age = age;
}

static void asking_fault(serve_request *r, const char *fault, bool passing)
{
    r->text = NULL;
    r->fault = fault;
    r->passing = passing;
}

/* ==== Forms ============================================================= */

/* Why a filter cannot read a key, by the class of its form. */
static const char *const asking_unread[BLY_KEYS_CLASSES] = {
    [BLY_KEYS_TEXT] = "the filter ignores the case of UTF-8 text, and the key "
                      "is not UTF-8: convert it",
    [BLY_KEYS_NUMBER] = "the filter holds numbers, and the key is not one: "
                        "write it in digits, such as 42 or -1.5",
    [BLY_KEYS_INT32] = "the filter holds integers of 32 bits, and the key is "
                       "not one: write it in digits, such as 42",
    [BLY_KEYS_INT64] = "the filter holds integers of 64 bits, and the key is "
                       "not one: write it in digits, such as 42",
    [BLY_KEYS_FLOAT] = "the filter holds real numbers, and the key is not one: "
                       "write it in digits, such as 42 or -1.5",
    [BLY_KEYS_DOUBLE] = "the filter holds real numbers, and the key is not "
                        "one: write it in digits, such as 42 or -1.5",
    [BLY_KEYS_UTF16] = "the filter holds text in UTF-16, and the key is not "
                       "text: write it in UTF-8",
    [BLY_KEYS_HEX] = "the filter holds bytes that are written in hexadecimal, "
                     "and the key is not: write two digits for each byte",
    [BLY_KEYS_DOMAIN] = "the filter holds names of domains, and the key is not "
                        "one: write it like example.com",
    [BLY_KEYS_CIDR] = "the filter holds networks, and the key is not an "
                      "address: write it like 192.0.2.7 or 2001:db8::7",
    [BLY_KEYS_PATH] = "the filter holds paths, and the key is not one: write "
                      "it without '..'",
};

/* Returns the form for a filter that states none. */
static uint64_t asking_unstated(uint64_t as, bool fold)
{
    bool text = as == BLY_KEYS_UNSTATED || as == BLY_KEYS_TEXT
             || as == BLY_KEYS_UTF16;
    uint64_t class = as == BLY_KEYS_UNSTATED ? BLY_KEYS_TEXT : as;

    return text && fold ? class | BLY_FORM_LOWER : class;
}

/* Chooses the form in which a filter reads the keys of a batch. Returns false
 * if the filter states a form that contradicts `as`. */
static bool asking_form(uint64_t *form, const served_filter *filter,
                        uint64_t as, bool fold)
{
    uint64_t class = filter->stated & BLY_FORM_CLASS;

    *form = filter->form;
    if (as == FORMS_UNSAID)
        return true;
    if (class == BLY_KEYS_UNSTATED)
        *form = asking_unstated(as, fold);
    else if (bly_form_same(as, class))
        *form = as == BLY_KEYS_BYTES || as == BLY_KEYS_HEX ? as
                                                           : filter->stated;
    else
        return false;
    return true;
}

/* Returns whether keys of the form are not of the type that a format's option
 * names, and writes the reason. */
static bool asking_mistyped(serve_asker *asker, const served_filter *filter,
                            uint64_t form)
{
    bly_header header;

    bly_header_of(&header, filter->filter);
    return typed_against(header.kind, header.geometry, form, asker->why,
                         sizeof asker->why);
}

/* Checks the filters from `first` up to `end` against `as`. Returns NULL, or
   the reason why one contradicts it. */
static const char *asking_against(serve_asker *asker, size_t first, size_t end,
                                  uint64_t as)
{
    uint64_t form;

    for (size_t f = first; as != FORMS_UNSAID && f < end; f++) {
        const served_filter *filter = asker->set->filters[f];
        bool follows = asking_form(&form, filter, as, asker->how->open.fold);

        if (follows && !asking_mistyped(asker, filter, form))
            continue;
        if (follows)
            return asker->why;
        snprintf(asker->why, sizeof asker->why, "the filter's keys have the "
                 "form %s, which differs from as=%s: leave out as=, or name "
                 "another filter", forms_name(filter->stated).text,
                 forms_name(as).text);
        return asker->why;
    }
    return NULL;
}

/* ==== Keys ============================================================== */

/* Lists the requests for filter `which`, or for all, with their keys as they
 * were written. Returns their number. */
static size_t asking_choose(serve_asker *asker, size_t n, size_t which)
{
    size_t chosen = 0;
    bool returns = false;

    for (size_t i = 0; i < n; i++) {
        const serve_request *r = &asker->requests[i];

        if (r->text == NULL || r->filter != which)
            continue;
        asker->keys[chosen] = (bly_key){ r->text, r->length };
        asker->places[chosen++] = i;
        returns |= r->returns;
    }
    asker->form = BLY_KEYS_TEXT;
    asker->cut_cr = false;
    asker->returns = returns;
    asker->lacking = 0;
    return chosen;
}

/* Restores the chosen keys as they were written, with or without the CR of
 * their line. */
static void asking_written(serve_asker *asker, size_t n, bool cut_cr)
{
    for (size_t i = 0; i < n; i++) {
        const serve_request *r = &asker->requests[asker->places[i]];

        asker->keys[i] = (bly_key){ r->text, r->length - (cut_cr
                                                          && r->returns) };
    }
}

/* Converts the keys to a form. Returns false if out of memory. */
static bool asking_change(serve_asker *asker, size_t n, uint64_t form)
{
    size_t needed = 1;          /* so that an empty key has a place        */
    unsigned char *to;

    for (size_t i = 0; i < n; i++)
        needed += bly_form_room(form, asker->keys[i].length);
    bytes_free(&asker->bytes);
    if (!bytes_room(&asker->bytes, needed))
        return false;
    to = asker->bytes.data;
    for (size_t i = 0; i < n; i++) {
        bly_key key = forms_key(form, asker->keys[i], to);

        asker->lacks[i] = key.data == NULL;
        asker->lacking += key.data == NULL;
        to += bly_form_room(form, asker->keys[i].length);
        asker->keys[i] = key.data != NULL ? key : (bly_key){ to, 0 };
    }
    return true;
}

/* Prepares the chosen keys for a filter unless they are prepared already.
 * Returns false if out of memory. */
static bool asking_make(serve_asker *asker, size_t n, uint64_t form,
                        bool cut_cr)
{
    bool changes = forms_changes(form), cut = cut_cr && asker->returns;

    form = changes ? form : BLY_KEYS_TEXT;
    if (asker->form == form && asker->cut_cr == cut)
        return true;
    asker->form = form;
    asker->cut_cr = cut;
    asker->lacking = 0;
    asking_written(asker, n, cut);
    return !changes || asking_change(asker, n, form);
}

/* ==== Filters =========================================================== */

/* Returns whether a key is an address of IPv4 or IPv6. */
static bool asking_is_address(const serve_request *r, bool cut_cr)
{
    enum { LONGEST = 64 };
    unsigned char room[6 * LONGEST];
    bly_key key = { r->text, r->length - (cut_cr && r->returns) };

    return key.length <= LONGEST && memchr(key.data, '/', key.length) == NULL
        && bly_form_room(BLY_KEYS_CIDR, key.length) <= sizeof room
        && forms_key(BLY_KEYS_CIDR, key, room).data != NULL;
}

/* Returns whether a key may be an address with a zone: fe80::1%eth0. */
static bool asking_has_zone(const serve_request *r)
{
    return memchr(r->text, ':', r->length) != NULL
        && memchr(r->text, '%', r->length) != NULL;
}

/* Returns whether a key that cannot be read as a network or domain lies within
 * none: it is ASCII and no address, or an address of mail, or part of one of
 * IPv4 or IPv6. An address with a zone may lie within a network. */
static bool asking_outside(const serve_request *r, uint8_t class)
{
    bool ascii = !asking_has_zone(r), v4 = true, v6 = true;

    for (size_t i = 0; i < r->length; i++) {
        ascii &= r->text[i] < 0x80;
        v4 &= isdigit(r->text[i]) || r->text[i] == '.';
        v6 &= isxdigit(r->text[i]) || r->text[i] == ':';
    }
    return class == BLY_KEYS_CIDR ? ascii
         : class == BLY_KEYS_DOMAIN
        && (v4 || v6 || memchr(r->text, '@', r->length) != NULL);
}

/* Notes that a filter could not read request number i of the chosen ones. Of
 * several filters, the reason is that of one in which the key may be. */
static void asking_note(serve_asker *asker, size_t i)
{
    const serve_request *r = &asker->requests[asker->places[i]];

    if (asker->unread[i] == 0 || asking_outside(r, asker->unread[i]))
        asker->unread[i] = (uint8_t)(asker->form & BLY_FORM_CLASS);
}

/* Notes the keys that a filter could not read. An address lies within no
 * domain, so for a filter of domains it is absent. */
static void asking_lack(serve_asker *asker, size_t n)
{
    bool domains = (asker->form & BLY_FORM_CLASS) == BLY_KEYS_DOMAIN;

    if (asker->lacking == 0)
        return;
    if (!asker->some_unread)
        memset(asker->unread, 0, n);
    asker->some_unread = true;
    for (size_t i = 0; i < n; i++)
        if (asker->lacks[i] && domains
            && asking_is_address(&asker->requests[asker->places[i]],
                                 asker->cut_cr))
            asker->one[i] = false;
        else if (asker->lacks[i]) {
            asker->one[i] = asker->how->all;
            asking_note(asker, i);
        }
}

/* Combines the answers of one filter with those of the filters before it. */
static void asking_join(serve_asker *asker, size_t n, bool first)
{
    for (size_t i = 0; i < n; i++)
        asker->there[i] = first ? asker->one[i]
                        : asker->how->all ? asker->there[i] && asker->one[i]
                                          : asker->there[i] || asker->one[i];
}

/* Queries filter `f`. Returns NULL, or the reason why there are no answers. */
static const char *asking_filter(serve_asker *asker, size_t f, size_t n,
                                 uint64_t as, bool first)
{
    const bly_keys keys = { .n = n, .keys = asker->keys };
    const served_filter *filter = asker->set->filters[f];
    uint64_t form;

    asking_form(&form, filter, as, asker->how->open.fold);
    if (!asking_make(asker, n, form, filter->cut_cr))
        return "the server is out of memory";
    if (!guard_ask(&filter->guard, filter->filter, form, &keys, asker->one))
        return "the filter's file is being overwritten: try again in a few "
               "seconds";
    asking_lack(asker, n);
    asking_join(asker, n, first);
    return NULL;
}

/* Stores the answer or the fault in each chosen request. */
static void asking_tell(serve_asker *asker, size_t n, const char *fault)
{
    for (size_t i = 0; i < n; i++) {
        serve_request *r = &asker->requests[asker->places[i]];

        if (fault != NULL)
            asking_fault(r, fault, fault != asker->why);
        else if (asker->some_unread && asker->unread[i] != 0
                 && asker->there[i] == asker->how->all) {
            r->outside = asking_outside(r, asker->unread[i]);
            asking_fault(r, asking_unread[asker->unread[i]], false);
        } else
            r->there = asker->there[i];
    }
}

static void asking_which(serve_asker *asker, size_t n, size_t which,
                         uint64_t as)
{
    size_t chosen = asking_choose(asker, n, which);
    size_t first = which != SERVED_ALL ? which : 0;
    size_t end = which != SERVED_ALL ? which + 1 : asker->set->n;
    const char *fault;

    if (chosen == 0)
        return;
    asker->some_unread = false;
    fault = asking_against(asker, first, end, as);
    for (size_t f = first; f < end && fault == NULL; f++)
        fault = asking_filter(asker, f, chosen, as, f == first);
    asking_tell(asker, chosen, fault);
}

static void asking_count(const serve_asker *asker, size_t n,
                         serve_counts *counts)
{
    uint64_t keys = 0, positives = 0;

    for (size_t i = 0; i < n; i++) {
        keys += asker->requests[i].text != NULL;
        positives += asker->requests[i].there;
    }
    counts_add(&counts->keys, keys);
    counts_add(&counts->positives, positives);
}

void asking_batch(serve_asker *asker, size_t n, uint64_t as,
                  serve_counts *counts)
{
    if (n == 0)
        return;
    asking_which(asker, n, SERVED_ALL, as);
    for (size_t f = 0; f < asker->set->n; f++)
        asking_which(asker, n, f, as);
    asking_count(asker, n, counts);
}
