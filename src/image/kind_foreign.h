/* kind_foreign.h - the contract of a kind whose payload is another system's
 * file, byte for byte.
 *
 * The file becomes an image by a header in front of it, and the file is the
 * image without that header.
 */
#ifndef BLY_IMAGE_KIND_FOREIGN_H
#define BLY_IMAGE_KIND_FOREIGN_H

#include "bloomery/foreign.h"

#include "image/abilities.h"

enum { KIND_LOOK = 4096 };              /* bytes that show a file's format   */

/* The fields of an image's header that a file determines. */
typedef struct {
    uint64_t capacity, items;           /* as in image.h; a capacity of 0
                                           counts as 1                       */
    double   rate;
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
} kind_found;

struct kind_foreign {
    const char *writer;                 /* the programs that write the files:
                                           "what DCSO bloom and CIRCL
                                           hashlookup write"                 */
    bly_number_info numbers[IMAGE_GEOMETRY_FIELDS];     /* of the geometry   */

    /* Returns whether these bytes begin a file of this format, of `all` bytes.
     * n is at most KIND_LOOK. NULL: the bytes do not show it, so that the user
     * must name the format. */
    bool (*looks)(const uint8_t *bytes, size_t n, uint64_t all);

    /* Checks a file and reads the header's fields from it. It trusts nothing:
     * no verb leaves the bytes of a file that it accepts. BLY_ECORRUPT,
     * BLY_EVERSION, BLY_ETOOBIG, naming the wrong byte. */
    bly_status (*read)(kind_found *out, const uint8_t *file, uint64_t bytes);

    /* Returns the rate of a file that was read, at its capacity, if computing
     * it takes longer than reading. NULL: `read` fills it in. */
    double (*rate)(const kind_found *found, const uint8_t *file);

    /* Returns how many bytes of a file, from its first, verbs may access in a
     * filter of this geometry; UINT64_MAX: no filter has it. It is called after
     * `read`, because another process may change the file in between. */
    uint64_t (*reach)(const uint64_t *geometry);

    /* Returns the size of a filter that begins with these bytes inside a larger
     * file; 0: they are not a filter. NULL: the beginning does not show it. */
    uint64_t (*extent)(const uint8_t *bytes, size_t n);

    /* The kind of ours, if any, with the same bits when it hashes with `hash`
     * and seed 0, so that either can be made from the other. Its option `size`
     * is the number of bits. `head` writes the bytes in front of a filter of so
     * many bytes and returns their number; with NULL it only returns the
     * number, which is 0 if no file has that size. */
    struct {
        const char *kind, *hash, *size;
        size_t    (*head)(uint8_t *to, uint64_t bytes);
    } twin;

    bool attaches;                      /* bytes behind `reach` are data of any
                                           length that the owner attached    */
    bool plans;                         /* the file states its planned number
                                           of keys, or `read` computes it    */

    /* Sets the fields of the geometry that a file does not state, from the
     * options that the user opened it with. `read` leaves them 0; bit i of
     * `fields` is field i. NULL and 0: the file states all. BLY_EPARAM: an
     * option is missing. */
    bly_status (*told)(uint64_t *geometry, const uint64_t *option);
    unsigned fields;

    /* Returns the 64-bit hash that the format uses, for a kind that gets hashes
     * as our own kinds do. NULL: the kind gets whole keys, and 0 for their
     * hashes. */
    void (*hasher)(kind_hasher *out, const uint64_t *geometry);
};

/* Checks that verbs stay within so many bytes of a file in a filter of this
 * geometry. BLY_ECORRUPT. */
bly_status kind_check_reach(const kind_foreign *foreign,
                            const uint64_t *geometry, uint64_t bytes);

/* `check` of a foreign kind: is the payload such a file, and does the header
 * agree with it? */
bly_status kind_check_foreign(const void *image, const kind_foreign *foreign);

/* `contains`, `contains_many` and `add` of a kind that hashes whole keys. For a
 * hash alone, the first two answer true and the third refuses. */
bool       kind_whole_contains     (const void *image, uint64_t hash);
void       kind_whole_contains_many(const void *image, const uint64_t *hashes,
                                    size_t n, bool *present);
bly_status kind_whole_add          (void *image, uint64_t hash);

#endif /* BLY_IMAGE_KIND_FOREIGN_H */
