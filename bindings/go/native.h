/* native.h - the library's calls as Go makes them.
 *
 * A call of C from Go takes some 45 ns, and Go may make its next call in
 * another thread. So each function here does one operation completely, and
 * returns the reason of a failure (bly_why, which belongs to the thread) with
 * the status.
 *
 * Go memory is passed as plain arguments only, never inside structs: it has no
 * pointers, and no function keeps it.
 */
#ifndef BLOOMERY_GO_NATIVE_H
#define BLOOMERY_GO_NATIVE_H

#include <bloomery.h>
#include <bloomery/advice.h>
#include <bloomery/form.h>

/* A filter, and the form of its keys. `open`: it is empty and states no form,
 * so the first keys that are added set it. `any`: they do not, by choice or
 * because it is a file of another system. */
typedef struct {
    bly_filter *filter;
    uint64_t    form;
    bool        open, any;
} tie;

/* The result of a call. */
typedef struct {
    int      status;            /* a bly_status                              */
    int      number;            /* bly_errno, if status < 0                  */
    char    *why;               /* the reason, to be freed, if status < 0    */
    tie     *made;              /* a new filter                              */
    uint64_t value;             /* an answer, or the number of keys done     */
    void    *memory;            /* bytes or rows that Go copies and frees    */
} tie_answer;

/* Types of keys: those of bly_value_type for text, bytes, integers and reals,
 * and unsigned integers. Numbers have 8 bytes, the lowest first. */
enum { TIE_UNSIGNED = BLY_REAL + 1 };

enum { TIE_CONTAINS, TIE_ADD, TIE_REMOVE, TIE_COUNT, TIE_PUT, TIE_GET,
       TIE_HASH };

/* Looks up a text or bytes, or a number given as its 64 bits. Returns 1 if it
 * is perhaps there, 0 if not, and -1 if tie_one must convert or refuse the key.
 * Programs make these calls most, and a small result makes them cheaper. */
int tie_contains(const tie *t, int type, const char *data, size_t length);
int tie_contains_number(const tie *t, int type, uint64_t bits);

/* Does an operation for one key, a text or bytes. `label` is for TIE_PUT. */
tie_answer tie_one(tie *t, int verb, int type, const char *data, size_t length,
                   uint64_t label);

/* Does it for a number, given as its 64 bits. */
tie_answer tie_number(tie *t, int verb, int type, uint64_t bits,
                      uint64_t label);

/* Does it for n keys of one type. Key i is data[offsets[i] .. offsets[i + 1]);
 * without offsets, it is the number in bytes 8 * i up to 8 * (i + 1). `flags`
 * gets n answers of lookups, or of adds which keys were seen, unless NULL.
 * `numbers` has the labels to put, or gets counts or labels. */
tie_answer tie_many(tie *t, int verb, int type, size_t n, const char *data,
                    const uint64_t *offsets, bool *flags, uint64_t *numbers,
                    uint64_t before);

/* `keys` is the text of a form, "any", or NULL for that of the first keys. */
tie_answer tie_new(const char *kind, const bly_spec *spec, const char *keys);
tie_answer tie_build(const char *kind, const bly_spec *spec, const char *keys,
                     int type, size_t n, const char *data,
                     const uint64_t *offsets, const uint64_t *labels);
tie_answer tie_open(const char *path, int flags, const bly_options *options);
tie_answer tie_unpack(const char *data, size_t n, const bly_options *options);
tie_answer tie_plan(bly_plan_t *out, const char *kind, const bly_spec *spec);
tie_answer tie_advise(const bly_need *need);
void       tie_free(tie *t);
/* Seals a file that is open for writing, and frees the filter. */
tie_answer tie_close(tie *t);

tie_answer tie_copy(const tie *t);
tie_answer tie_like(const tie *t);
tie_answer tie_clear(tie *t);
tie_answer tie_resize(tie *t, uint64_t capacity);
tie_answer tie_fold(tie *t, uint64_t times);
tie_answer tie_sync(tie *t);
tie_answer tie_state_keys(tie *t, const char *keys);
tie_answer tie_info(bly_info_t *out, const tie *t);
tie_answer tie_save(const tie *t, const char *path);

/* Makes the bytes of a file: `value` bytes in `memory`. */
tie_answer tie_pack(const tie *t);

enum { TIE_UNITE, TIE_INTERSECT, TIE_SUBTRACT };
tie_answer tie_join(tie *into, const tie *other, int verb);
tie_answer tie_overlap(bly_overlap_t *out, const tie *a, const tie *b);

/* Lists the keys of a filter: `value` rows in `memory`. A key of a row that has
 * one must be freed. */
typedef struct {
    uint64_t hash;
    char    *key;               /* NULL: the filter does not keep it         */
    size_t   length;
    int      side;
} tie_listed;
tie_answer tie_list(const tie *t);

#endif
