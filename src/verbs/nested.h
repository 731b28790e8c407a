/* nested.h - what the verbs share about keys that lie within others. */
#ifndef BLY_VERBS_NESTED_H
#define BLY_VERBS_NESTED_H

#include "bloomery/nested.h"

/* A network's key: its length, and the address. */
enum { NESTED_CIDR = 17 };

/* The longest name of a domain, and how many times its text it is at most:
 * "ü." becomes "xn--tda.". */
enum { NESTED_DOMAIN = 253, NESTED_DOMAIN_TIMES = 4 };

/* Strips blanks at both ends, and the CR of a line that ended with CR LF. */
bool    nested_is_blank(uint8_t byte);
bly_key nested_strip(const bly_value *text);

/* Write the key of a text and return its size; SIZE_MAX if the text is not such
 * a name, network or path. */
size_t nested_put_domain(uint8_t *to, const bly_value *text);
size_t nested_put_cidr(uint8_t *to, const bly_value *text);
size_t nested_put_path(uint8_t *to, const bly_value *text);

/* Returns BLY_EUNSUPPORTED if keys of a form lie within others: a label would
 * not be found through the keys within. (form.c) */
bly_status form_labels_check(uint64_t form);

#endif /* BLY_VERBS_NESTED_H */
