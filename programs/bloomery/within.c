/* within.c - subtracts members from a list of keys that contains them, for
 * `build --within`.
 *
 * As in disjoint.c, only hashes are kept in memory. There a hash in both lists
 * is an error; here each member's hash must be in the list. A key of the list
 * that shares its hash with a member by accident would be mistaken for it. A
 * second hash function detects this; its values are dropped after the check.
 */
#include "bloomery/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t hash, check;
} within_pair;

static int within_compare(const void *a, const void *b)
{
    const within_pair *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->check > y->check) - (x->check < y->check);
}

/* Returns the first of the sorted pairs whose hash is not below this one. */
static size_t within_search(const within_pair *pairs, size_t n, uint64_t hash)
{
    size_t from = 0;

    while (n > 0) {
        size_t half = n / 2;

        if (pairs[from + half].hash < hash) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return from;
}

/* Returns whether a pair whose hash may be a member's belongs to another
 * key. */
static bool within_other(const within_pair *pairs, size_t n, uint64_t hash,
                         uint64_t check)
{
    size_t i = within_search(pairs, n, hash);

    if (i == n || pairs[i].hash != hash)
        return false;
    for (; i < n && pairs[i].hash == hash; i++)
        if (pairs[i].check == check)
            return false;
    return true;
}

/* Verifies that no other key of the list, behind the members, has a member's
 * hash. CLI_OK or CLI_ERROR. */
static int within_check(const cli_hashes *hashes, size_t members)
{
    within_pair *pairs = malloc((members + 1) * sizeof *pairs);
    bool two = false;

    if (pairs == NULL)
        return report_no_memory();
    for (size_t i = 0; i < members; i++)
        pairs[i] = (within_pair){ hashes->hashes[i], hashes->labels[i] };
    qsort(pairs, members, sizeof *pairs, within_compare);
    for (size_t i = members; !two && i < hashes->n; i++)
        two = within_other(pairs, members, hashes->hashes[i],
                           hashes->labels[i]);
    free(pairs);
    return !two ? CLI_OK
         : report_error("a member and another key have the same hash: choose "
                        "another seed (-s) or hash function (-H)");
}

/* Removes the n members from the list, both sorted, and returns how many other
 * hashes stay. Counts members that are not in it, and keeps the first of
 * them. */
static size_t within_subtract(const uint64_t *members, size_t n, uint64_t *list,
                              size_t m, size_t *lacking, uint64_t *first)
{
    size_t kept = 0, j = 0;

    *lacking = 0;
    for (size_t i = 0; i < n; i++) {
        while (j < m && list[j] < members[i])
            list[kept++] = list[j++];
        if (j < m && list[j] == members[i])
            j++;
        else if ((*lacking)++ == 0)
            *first = members[i];
    }
    while (j < m)
        list[kept++] = list[j++];
    return kept;
}

static int within_refuse(const cli_disjoint *lists, const cli_hashes *of,
                         uint64_t hash, size_t lacking)
{
    disjoint_found found;
    char more[64] = "";

    disjoint_find(&found, lists, lists->members, of, hash);
    if (lacking > 1)
        snprintf(more, sizeof more, ", nor are %s more",
                 report_count(lacking - 1).text);
    if (found.path == NULL)
        return report_error("a member is not in the list of --within%s: add it "
                            "there, or leave it out (with files instead of "
                            "pipes, this message names the member)", more);
    return report_error("the member '%s' (line %llu of '%s') is not in the "
                        "list of --within%s: add it there, or leave it out",
                        found.text, (unsigned long long)found.line, found.path,
                        more);
}

int within_run(cli_hashes *hashes, size_t *members, const cli_disjoint *lists)
{
    uint64_t *list = hashes->hashes + *members, first = 0;
    size_t n, m, others, lacking;

    if (hashes->checks && within_check(hashes, *members) != CLI_OK)
        return CLI_ERROR;
    m = disjoint_distinct(list, hashes->n - *members);
    n = disjoint_distinct(hashes->hashes, *members);
    others = within_subtract(hashes->hashes, n, list, m, &lacking, &first);
    if (lacking > 0)
        return within_refuse(lists, hashes, first, lacking);
    if (others > 0)
        memmove(hashes->hashes + n, list, others * sizeof *list);
    *members = n;
    hashes->n = n + others;
    return CLI_OK;
}
