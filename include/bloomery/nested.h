/* bloomery/nested.h - keys that lie within others: names of domains, networks
 * of addresses, and paths.
 *
 * A list of blocked domains also blocks their subdomains, and a list of
 * networks all of their addresses. The *entries* of a key are the key itself
 * and everything that it lies within:
 *
 *      class     key              its entries
 *      domain    a.example.com    a.example.com  example.com  com
 *      cidr      192.0.2.7        192.0.2.7/32  192.0.2.6/31 … 0.0.0.0/0 … ::/0
 *      path      /srv/www/a.txt   /srv/www/a.txt  /srv/www  /srv  /
 *
 * The *level* of an entry is the number of its labels, of its leading bits as
 * an IPv6 address (an IPv4 address a.b.c.d is ::ffff:a.b.c.d), or of its
 * components: 0 .. 255. With each entry, a filter holds a *marker*, a key of 2
 * bytes that says that entries of its level occur. So a lookup asks only for
 * entries of these levels, which is faster, and finds fewer by mistake.
 *
 * These classes need the functions here: bly_form_key refuses them, since a
 * lookup of one key would miss what the key lies within. bly_count, bly_get and
 * bly_remove are about one entry: a key that was not added itself has the count
 * 0 and no label, although it may lie within one that was. All functions here
 * are thread-safe like the lookups and adds of <bloomery.h>. See also
 * docs/format.
 */
#ifndef BLOOMERY_NESTED_H
#define BLOOMERY_NESTED_H

#include <bloomery/form.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BLY_NESTED_LEVELS = 256,
    BLY_NESTED_TEXT   = 64,     /* room for a network as text                */
    BLY_NESTED_NONE   = 0xFFFF  /* no entry of a key is in the filter        */
};

/* Returns whether keys of the form lie within others. */
BLY_API bool bly_form_nests(uint64_t form);

/* Makes the bytes of a key from a value, like bly_form_key. The type of the
 * value is BLY_WRITTEN or BLY_TEXT. `room` has bly_form_room bytes.
 *
 * "domain" changes A to Z into a to z, and other alphabets into ASCII (IDNA, by
 * UTS #46). A dot at the end is removed, and so is `*.` or `.` at the front,
 * which many lists have, as well as the `||` and `^` of rules like
 * ||example.com^. An IPv4 address is no name. "cidr" reads addresses and
 * networks of IPv4 and IPv6, and ignores bits beyond the network's length. The
 * address may have the brackets of URLs and mail, [2001:db8::]/32, and the
 * "IPv6:" of mail.
 * "path" removes repeated slashes, a slash at the end, and components `.`.
 *
 * BLY_EFORM (another type; a form that does not nest), BLY_EPARAM: not such a
 * name, network or path, for example one with a component `..`, or with more
 * than 255 components. BLY_EUNSUPPORTED: a domain in another alphabet, and a
 * library without ICU. */
BLY_API bly_status bly_nested_key(bly_key *key, uint64_t form,
                                  const bly_value *value, void *room)
                                  BLY_MUST BLY_GIVEN(1, 3);

/* Returns the level of a key that bly_nested_key made. */
BLY_API unsigned bly_nested_level(uint64_t form, bly_key key);

/* Returns the marker of a level, written to `room`. A program that does not add
 * its keys by bly_nested_add adds the markers of all their levels too. */
BLY_API bly_key bly_nested_marker(unsigned char room[2], unsigned level)
                                  BLY_GIVEN(1);

/* Adds n keys that bly_nested_key made, and markers of their levels. Markers
 * that the filter lacks are added first. Returns what bly_add_many returns, or
 * BLY_EPARAM for a key that was made in another way; *done, which may be NULL,
 * is the number of keys that were added, without markers. */
BLY_API bly_status bly_nested_add(bly_filter *filter, uint64_t form,
                                  const bly_key *keys, size_t n, size_t *done)
                                  BLY_GIVEN(1);

/* Looks up n keys that bly_nested_key made. found[i] is the highest level of an
 * entry of keys[i] that is perhaps in the filter, or BLY_NESTED_NONE: certainly
 * no entry is. Cannot fail. A key whose data is NULL, or that was made in
 * another way, has no entries. Entries of all levels are asked for if the
 * filter may lack markers: it does not state this form, for example because
 * its file is in another system's format, or it can lose keys. */
BLY_API void bly_nested_find(const bly_filter *filter, uint64_t form,
                             const bly_key *keys, size_t n, uint16_t *found)
                             BLY_GIVEN(1);

/* Returns the entry of a key at a level, as text: part of the key, or a network
 * written to `room`. It is not terminated. Its data is NULL if the key has no
 * entry of this level. */
BLY_API bly_key bly_nested_entry(uint64_t form, bly_key key, unsigned level,
                                 char room[BLY_NESTED_TEXT]) BLY_GIVEN(4);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_NESTED_H */
