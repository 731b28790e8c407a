/* rowfile.h - kinds whose file is a few numbers and one row of bits.
 *
 * THE PICTURE
 *
 *      | numbers | row of bits, in whole units | numbers | attached data |
 *      0         head
 *
 * A format is a table of its numbers (rowfile), two functions that place the
 * bits of a key (bodies/probes.h), and one that plans. Everything else a kind
 * needs is made of them by ROWFILE and ROWFILE_KIND. The geometry begins with
 * m, the bits of the row, and k, the bits of a key. Numbers whose widths vary
 * are read and written by functions (read_head). A format of several forms,
 * such as versions, has a rowfile for each; the fourth field of the geometry
 * says which.
 *
 * A file is valid if and only if (1) each number is in its range, (2) `settle`
 * accepts them, (3) the row has a bit, and ends where the numbers behind it
 * begin, (4) bits of the row from m on are clear.
 */
#ifndef BLY_BODIES_ROWFILE_H
#define BLY_BODIES_ROWFILE_H

#include <string.h>

#include "image/kind_foreign.h"

#include "bodies/probes.h"

/* The meaning of a number: field 0 to 3 of the geometry (all numbers of one
 * field must be equal), or */
enum {
    ROWFILE_M, ROWFILE_K, ROWFILE_THIRD, ROWFILE_FOURTH,
    ROWFILE_VERSION,                    /* of the format, else BLY_EVERSION;
                                           `most` where we write             */
    ROWFILE_OTHER,                      /* nothing; `unit` where we write    */
    ROWFILE_KEYS,                       /* planned keys                      */
    ROWFILE_RATE,                       /* planned rate, a double            */
    ROWFILE_ADDED                       /* number of keys that were added    */
};

enum {
    ROWFILE_BEHIND = 1 << 15,           /* added to `at`: behind the row     */
    ROWFILE_BIG_WORDS = 56,             /* `turn` of words of 8 bytes that have
                                           the highest byte first            */
    ROWFILE_WITH_THIRD = 0,             /* where probes_row has these fields */
    ROWFILE_WITH_FOURTH = 1,
    ROWFILE_HEAD = 32                   /* bytes of a head that varies, most */
};

typedef struct {
    const char *name;                   /* "the number of hash functions";
                                           NULL: the table ends              */
    uint16_t    at;                     /* its first byte                    */
    uint8_t     width;                  /* bytes, 1 .. 8; 0: it has no fixed
                                           place, and a meaning from 0 to 3:
                                           it is in a head that varies, or is
                                           told by an option                 */
    bool        big;                    /* the highest byte is first         */
    uint8_t     meaning;
    uint64_t    unit;                   /* the geometry counts so many to one
                                           of the file                       */
    uint64_t    least, most;            /* in the file                       */
    uint64_t    plus;                   /* and so many more                  */
} rowfile_number;

typedef struct {
    uint8_t               forms;        /* in the array that this is the first
                                           of; 0 counts as 1                 */
    const char           *what;         /* "a filter of Guava"               */
    const rowfile_number *numbers;
    uint16_t              head, tail;   /* bytes in front of and behind it;
                                           the least, if the head varies     */
    uint8_t               unit;         /* bytes of which the row has a whole
                                           number                            */
    uint8_t               turn;         /* as in probes_row                  */
    uint64_t              from;         /* where it begins inside a larger file,
                                           for messages                      */
    bool                  attaches;     /* as in kind_foreign                */
    bool                  shows;        /* the numbers in front show the format,
                                           even of a file that is cut short  */
    bool                  counts_new;   /* ROWFILE_ADDED is the number of keys
                                           that changed a bit                */
    uint64_t              m_most;
    const char           *limit;        /* m_most in words: "2^31 - 1 longs" */

    /* Returns the bytes of a head that varies with the geometry, and writes
     * them unless `to` is NULL. Such a format has no numbers behind the row,
     * and its bytes do not show it. NULL: the head does not vary. */
    size_t (*write_head)(uint8_t *to, const uint64_t *geometry);

    /* Reads the geometry from such a head, which must then be as write_head
     * writes it. Returns false if it is not one. */
    bool (*read_head)(uint64_t *geometry, const uint8_t *file, uint64_t bytes);

    /* Checks fields of the geometry that are told by options against each
     * other. NULL: any that are in their ranges fit. */
    bool (*fits)(const uint64_t *geometry);

    /* How places are made of a hash; its m may be less than that of the row, if
     * keys have no places behind it. NULL: independently. */
    strides (*strides)(const uint64_t *geometry);

    /* Sets m, k and the rest of the geometry, with the form: that of the first
     * form is called. rowfile_whole makes numbers of doubles. Afterwards the
     * ranges are checked. BLY_EPARAM. */
    bly_status (*size)(uint64_t *geometry, const kind_spec *spec);

    /* Checks numbers against each other, and sets m if no number is m.
     * BLY_ECORRUPT, by rowfile_wrong. NULL: there is nothing to check, and if
     * no number is m, the row is all that is left. */
    bly_status (*settle)(kind_found *found, const uint8_t *file,
                         uint64_t bytes);

    /* Writes what follows from the numbers, once they are written. May be
     * NULL. */
    void (*finish)(uint8_t *file, const uint64_t *geometry,
                   const kind_spec *spec);
} rowfile;

/* A double as a number; UINT64_MAX if it is larger than all. */
static inline uint64_t rowfile_whole(double x)
{
    return x < 1 ? 0 : x < 18446744073709549568.0 ? (uint64_t)x : UINT64_MAX;
}

/* At least one unit of bits, and at least as many as this. */
static inline uint64_t rowfile_row_of(double bits, uint64_t unit)
{
    uint64_t m = rowfile_whole(bits), most = UINT64_MAX / unit;
    uint64_t units = m / unit + (m % unit != 0);
    return units > most ? UINT64_MAX : units == 0 ? unit : units * unit;
}

/* Bytes of a row. */
static inline uint64_t rowfile_bytes(const rowfile *f, uint64_t m)
{
    return (m / 8 + f->unit - (m % 8 == 0)) / f->unit * f->unit;
}

/* BLY_ECORRUPT: what is wrong at a byte of the file. */
bly_status rowfile_wrong(const rowfile *f, uint64_t at, const char *what);

/* Reads the numbers in front of the row, which are all there. */
bly_status rowfile_numbers(const rowfile *f, kind_found *out,
                           const uint8_t *file);

/* The slots of kind_foreign and of bly_kind. */
bool       rowfile_looks (const rowfile *f, const uint8_t *bytes, size_t n,
                          uint64_t all);
bly_status rowfile_read  (const rowfile *f, kind_found *out,
                          const uint8_t *file, uint64_t bytes);
double     rowfile_rate  (const rowfile *f, const kind_found *found);
uint64_t   rowfile_reach (const rowfile *f, const uint64_t *geometry);
bly_status rowfile_plan  (const rowfile *f, bly_plan_t *plan,
                          const kind_spec *spec);
bly_status rowfile_format(const rowfile *f, void *image, const kind_spec *spec);
void       rowfile_like  (const rowfile *f, void *image, const void *other);

/* `check`: is the payload such a file, of this geometry? And `told`, for a form
 * that no number says: read as the first form, it is taken as this one. */
bly_status rowfile_check(const rowfile *f, const kind_foreign *foreign,
                         const void *image);
bly_status rowfile_told (const rowfile *f, uint64_t *geometry, uint64_t form);

/* Adds to the number of keys added, if the file has one; it ends at its
 * largest. */
void     rowfile_count(const rowfile *f, void *image, uint64_t more);
uint64_t rowfile_added(const rowfile *f, const void *image);

/* Returns whether two images of one geometry have equal numbers, but for the
 * number of keys added. */
bool rowfile_alike(const rowfile *f, const void *a, const void *b);

/* The form of an image. */
PLATFORM_INLINE const rowfile *rowfile_form(const rowfile *f, const void *image)
{
    return f->forms > 1 ? f + image_geometry(image, ROWFILE_FOURTH) : f;
}

/* Bytes in front of the row of an image. */
PLATFORM_INLINE size_t rowfile_head_in(const rowfile *f, const void *image)
{
    if (f->write_head == NULL)
        return f->head;
    const uint64_t geometry[IMAGE_GEOMETRY_FIELDS] = {
        image_geometry(image, ROWFILE_M), image_geometry(image, ROWFILE_K),
        image_geometry(image, ROWFILE_THIRD),
        image_geometry(image, ROWFILE_FOURTH),
    };
    return f->write_head(NULL, geometry);
}

/* The row of an image, with the third and fourth field of the geometry for the
 * kind; and with how places are made. */
PLATFORM_INLINE probes_row rowfile_row(const rowfile *f, const void *image)
{
    uint64_t m = image_geometry(image, ROWFILE_M);
    f = rowfile_form(f, image);
    return (probes_row){
        .row = probes_bytes(image_payload(image)) + rowfile_head_in(f, image),
        .m = m, .inverse = probes_inverse(m),
        .k = image_geometry(image, ROWFILE_K), .turn = f->turn,
        .with = { image_geometry(image, ROWFILE_THIRD),
                  image_geometry(image, ROWFILE_FOURTH) },
    };
}

probes_row rowfile_set(const rowfile *f, const void *image);

/* Defines the functions of a kind but for those of keys, from its name_file. */
#define ROWFILE(name)                                                          \
    static bly_status name##_read(kind_found *out, const uint8_t *file,        \
                                  uint64_t bytes)                              \
    {                                                                          \
        return rowfile_read(name##_file, out, file, bytes);                    \
    }                                                                          \
                                                                               \
    static double name##_rate(const kind_found *found, const uint8_t *file)    \
    {                                                                          \
        (void)file;                                                            \
        return rowfile_rate(name##_file, found);                               \
    }                                                                          \
                                                                               \
    static uint64_t name##_reach(const uint64_t *geometry)                     \
    {                                                                          \
        return rowfile_reach(name##_file, geometry);                           \
    }                                                                          \
                                                                               \
    static bly_status name##_plan(bly_plan_t *plan, const kind_spec *spec)     \
    {                                                                          \
        return rowfile_plan(name##_file, plan, spec);                          \
    }                                                                          \
                                                                               \
    static bly_status name##_format(void *image, const kind_spec *spec)        \
    {                                                                          \
        return rowfile_format(name##_file, image, spec);                       \
    }                                                                          \
                                                                               \
    static void name##_like(void *image, const void *other)                    \
    {                                                                          \
        rowfile_like(name##_file, image, other);                               \
    }                                                                          \
                                                                               \
    static probes_row name##_row(const void *image)                            \
    {                                                                          \
        return rowfile_row(name##_file, image);                                \
    }                                                                          \
                                                                               \
    static probes_row name##_set_row(const void *image)                        \
    {                                                                          \
        return rowfile_set(name##_file, image);                                \
    }                                                                          \
                                                                               \
    PROBES_LOOKS(name##_set)

/* And `looks`, for a format that its bytes show. */
#define ROWFILE_LOOKS(name)                                                    \
    static bool name##_looks(const uint8_t *bytes, size_t n, uint64_t all)     \
    {                                                                          \
        return rowfile_looks(name##_file, bytes, n, all);                      \
    }

/* The slots of its name_foreign that ROWFILE defines. */
#define ROWFILE_FOREIGN(name)                                                  \
    .read = name##_read, .rate = name##_rate, .reach = name##_reach

/* Defines kind `id`, from id_begin and id_next as well; the arguments that
 * follow are further slots of it. */
#define ROWFILE_KIND(id, ...)                                                  \
    static bly_status id##_check(const void *image)                            \
    {                                                                          \
        return rowfile_check(id##_file, &id##_foreign, image);                 \
    }                                                                          \
                                                                               \
    PROBES_WHOLE(id)                                                           \
    PROBES_PUT(id)                                                             \
                                                                               \
    static bly_status id##_add_key(void *image, uint64_t hash,                 \
                                     const void *bytes, size_t length)         \
    {                                                                          \
        bly_status status = id##_put(image, bytes, length);                    \
        (void)hash;                                                            \
        if (status == BLY_OK || !id##_file->counts_new)                        \
            rowfile_count(id##_file, image, 1);                                \
        return status;                                                         \
    }                                                                          \
                                                                               \
    static bool id##_alike(const void *a, const void *b)                       \
    {                                                                          \
        return rowfile_alike(id##_file, a, b);                                 \
    }                                                                          \
                                                                               \
    static bly_status id##_unite(void *into, const void *other)                \
    {                                                                          \
        rowfile_count(id##_file, into,                                         \
                      rowfile_added(id##_file, other));                        \
        return id##_set_unite(into, other);                                    \
    }                                                                          \
                                                                               \
    static const kind_whole id##_whole = {                                     \
        .contains      = id##_contains_key,                                    \
        .contains_many = id##_contains_keys,                                   \
        .add           = id##_add_key,                                         \
    };                                                                         \
                                                                               \
    static const kind_combining id##_combining = {                             \
        .alike   = id##_alike,                                                 \
        .unite   = id##_unite,                                                 \
        .overlap = id##_set_overlap,                                           \
    };                                                                         \
                                                                               \
    const bly_kind bly_kind_##id = {                                           \
        .name    = #id,                                                        \
        .family  = "foreign",                                                  \
        .plan    = id##_plan,                                                  \
        .format  = id##_format,                                                \
        .like    = id##_like,                                                  \
        .check   = id##_check,                                                 \
        .stat    = id##_set_stat,                                              \
        .contains      = kind_whole_contains,                                  \
        .contains_many = kind_whole_contains_many,                             \
        .add       = kind_whole_add,                                           \
        .whole     = &id##_whole,                                              \
        .combining = &id##_combining,                                          \
        .foreign   = &id##_foreign,                                            \
        __VA_ARGS__                                                            \
    };

#endif /* BLY_BODIES_ROWFILE_H */
