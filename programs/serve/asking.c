/* asking.c - a batch of requests -> their answers.
 *
 * Each filter that is asked gets all its keys at once. Requests of all filters
 * are answered as `bloomery query` does with several -F: a key is there if it
 * is perhaps in any of them, or, if that is wanted, in all. Floor 8; includes
 * serve.h only.
 */
#include "serve/serve.h"

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
    bytes_free(&asker->forms);
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

/* ==== Keys ============================================================== */

/* As --ignore-case has it everywhere: A to Z stand for a to z. */
static void asking_fold(serve_asker *asker, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        serve_request *r = &asker->requests[i];

        if (r->text != NULL)
            forms_fold(r->text, r->text, r->length);
    }
}

static void asking_fault(serve_request *r, const char *fault, bool passing)
{
    r->text = NULL;
    r->fault = fault;
    r->passing = passing;
}

/* Room for what all keys stand for, at once: it must not move any more. */
static bool asking_forms_room(serve_asker *asker, size_t n, uint64_t as)
{
    size_t needed = 0;

    for (size_t i = 0; i < n; i++)
        if (asker->requests[i].text != NULL)
            needed += bly_form_room(as, asker->requests[i].length);
    bytes_free(&asker->forms);
    return bytes_room(&asker->forms, needed);
}

static void asking_form(serve_asker *asker, serve_request *r, uint64_t as)
{
    cli_bytes *forms = &asker->forms;
    unsigned char *to = forms->data + forms->to;
    bly_key key = forms_key(as, (bly_key){ r->text, r->length }, to);

    if (key.data == NULL) {
        asking_fault(r, "the key is not of the form that --as says", false);
        return;
    }
    r->text = to;
    r->length = key.length;
    forms->to += key.length;
}

/* Keys become the bytes that they stand for. */
static void asking_forms(serve_asker *asker, size_t n, uint64_t as)
{
    bool fits = asking_forms_room(asker, n, as);

    for (size_t i = 0; i < n; i++) {
        serve_request *r = &asker->requests[i];

        if (r->text != NULL && fits)
            asking_form(asker, r, as);
        else if (r->text != NULL)
            asking_fault(r, "the server is out of memory", true);
    }
}

/* ==== Filters =========================================================== */

/* The keys for filter `which`, or for all; how many. */
static size_t asking_choose(serve_asker *asker, size_t n, size_t which)
{
    size_t chosen = 0;

    for (size_t i = 0; i < n; i++) {
        const serve_request *r = &asker->requests[i];

        if (r->text == NULL || r->filter != which)
            continue;
        asker->keys[chosen] = (bly_key){ r->text, r->length };
        asker->places[chosen++] = i;
    }
    return chosen;
}

/* Of all filters, what one says joins what those before it said. */
static void asking_join(serve_asker *asker, size_t n, bool first)
{
    for (size_t i = 0; i < n; i++)
        asker->there[i] = first ? asker->one[i]
                        : asker->how->all ? asker->there[i] && asker->one[i]
                                          : asker->there[i] || asker->one[i];
}

/* False: the answers are none. */
static bool asking_filter(serve_asker *asker, size_t f, size_t n, bool first)
{
    const bly_keys keys = { .n = n, .keys = asker->keys };
    const served_filter *filter = asker->set->filters[f];

    if (!guard_ask(&filter->guard, filter->filter, &keys, asker->one))
        return false;
    asking_join(asker, n, first);
    return true;
}

static void asking_tell(serve_request *r, bool whole, bool there)
{
    if (whole)
        r->there = there;
    else
        asking_fault(r, "the file of the filter is being written over: ask "
                        "again in some seconds", true);
}

static void asking_which(serve_asker *asker, size_t n, size_t which)
{
    size_t chosen = asking_choose(asker, n, which);
    bool whole = true;

    if (chosen == 0)
        return;
    if (which != SERVED_ALL)
        whole = asking_filter(asker, which, chosen, true);
    for (size_t f = 0; which == SERVED_ALL && whole && f < asker->set->n; f++)
        whole = asking_filter(asker, f, chosen, f == 0);
    for (size_t i = 0; i < chosen; i++)
        asking_tell(&asker->requests[asker->places[i]], whole,
                    asker->there[i]);
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
    if (asker->how->fold)
        asking_fold(asker, n);
    if (forms_changes(as))
        asking_forms(asker, n, as);
    asking_which(asker, n, SERVED_ALL);
    for (size_t f = 0; f < asker->set->n; f++)
        asking_which(asker, n, f);
    asking_count(asker, n, counts);
}
