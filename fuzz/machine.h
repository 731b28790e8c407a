/* machine.h - internals of the machine of model.h: its state, and functions
 * shared by its files.
 */
#ifndef BLY_FUZZ_MACHINE_H
#define BLY_FUZZ_MACHINE_H

#include "bloomery.h"
#include "exact.h"
#include "model.h"

enum {
    MODEL_BATCH = 600,                  /* more than the library's own chunk */
    MODEL_KEY = 40,                     /* bytes of the longest key          */
    MODEL_PATH = 512,
    MODEL_IMAGE = 1 << 16,              /* bytes of the largest filter used  */
    MODEL_WORK = 1 << 19,               /* keys touched by one program       */
    MODEL_CACHE = 4096                  /* plans kept between runs           */
};

typedef struct {
    bly_filter *filter;
    exact      *set;
} model_side;

typedef struct {
    const uint8_t *begin, *at, *end;    /* the program                       */
    unsigned       flags;
    model_report  *report;
    const char    *verb;                /* the current instruction           */
    const bly_kind_info *kind;
    bly_spec       spec;
    bly_options    options;             /* its secret and allocator          */
    const bly_filter *empty;            /* NULL if it must be built          */
    model_side     a, b;
    long           work;                /* what is left of MODEL_WORK        */
    bool           over;
    bool           lossy;               /* keys may be lost by now: bly_info's
                                           `lost` is not 0 for this kind     */
    bool           resized;             /* the plans of A and B may differ   */
    bly_status     each[MODEL_BATCH];
    uint64_t       count[MODEL_BATCH];
    uint64_t       hash[MODEL_BATCH];
    bool           answer[MODEL_BATCH];
    bly_key        key[MODEL_BATCH];
    uint8_t        text[MODEL_BATCH][MODEL_KEY];
} model;

/* Records a mismatch unless `good`, or a lost key unless `found`. */
void model_expect(model *m, bool good, const char *what);
void model_found(model *m, bool found, const char *by);

/* Returns whether the kind has this ability. */
bool model_can(const model *m, uint64_t ability);

/* Reads operands from the program. */
uint8_t  model_u8(model *m);
uint32_t model_u16(model *m);
uint64_t model_u64(model *m);

/* Returns number i of a pseudorandom stream of hashes. */
uint64_t model_mix(uint64_t i);

/* Returns false for kinds that forget by design, and for kind twin once a key
 * was removed. */
bool model_keeps(const model *m);

/* If the filter's kind has a view (bloomery/inline.h), compares it with the
 * library on the first n of m->hash. */
void model_viewed(model *m, const bly_filter *filter, size_t n);

/* Checks that every key of the set is found in the filter. */
void model_law(model *m, const bly_filter *filter, const exact *set);

/* Makes an empty filter of this program's plan and its set, or one of a hundred
 * keys if the kind must be built. Returns false if it could not be made. */
bool model_fresh(model *m, model_side *side);

/* ---- Shared by instructions (model_base.c) ----------------------------- */

/* Draws `n` hashes into m->hash; every eighth is a key of A. */
void model_draw_hashes(model *m, uint64_t from, size_t n);

/* Returns key i: 0 .. 39 bytes, some of them NUL. */
bly_key model_draw_key(uint8_t text[MODEL_KEY], uint64_t i);

/* Draws keys from, from + 1, … into m->key, and their hashes. */
void model_draw_keys(model *m, uint64_t from, size_t n);

/* Returns the size of a batch: short ones are frequent. */
size_t model_batch(model *m);

/* Draws valid labels. */
void model_draw_labels(model *m, uint64_t *labels, size_t n);

/* Checks that two handles agree in bytes and answers; in the payload. */
void model_same(model *m, const bly_filter *x, const bly_filter *y);
bool model_same_payload(const bly_filter *x, const bly_filter *y);

/* Replaces a filter by another. */
void model_replace(bly_filter **old, bly_filter *fresh);

/* Returns whether the filter is full: or, if it grows, has reached the memory
 * limit of the machine; or, for integers, a key is out of range. */
bool model_full(const model *m, bly_status status);

/* Returns `items` of A. */
uint64_t model_items(const model *m);

/* Puts the first of m->hash, as many as the filter accepted, into the set; it
 * had `items` before. */
void model_added_many(model *m, size_t n, uint64_t items, bly_status status);

/* Checks the status of removing a key that is present. */
void model_removed(model *m, bly_status status);

/* Makes a new file's name; false if programs have no files. The second one
 * saves A there. */
bool model_file(const model *m, char path[MODEL_PATH]);
bool model_saved(model *m, char path[MODEL_PATH]);

/* Opens the file and compares it with A, which it replaces if read into
 * memory. */
void model_reopen(model *m, const char *path, int flags);

/* Returns whether a verb for two filters may be refused: the kind lacks it, or
 * a change of size has separated the two. */
bool model_refused(bly_status status);
bool model_apart(const model *m, bly_status status);

/* ---- The instructions -------------------------------------------------- */


typedef struct {
    const char *name;
    void (*run)(model *m);
} model_op;

extern const model_op model_ops[];
extern const size_t model_ops_count;

/* Instructions in other files: keys in every form (model_keys.c), */
void model_op_ask_forms(model *m);
void model_op_add_forms(model *m);
void model_op_remove_keys(model *m);
void model_op_label_keys(model *m);
void model_op_add_by_view(model *m);

/* whole filters and their contents (model_sets.c), */
void model_op_renew_by(model *m);
void model_op_resize_here(model *m);
void model_op_unite_at(model *m);
void model_op_subtract(model *m);
void model_op_list_keys(model *m);
void model_op_list_fingerprints(model *m);
void model_op_list_labels(model *m);
void model_op_peek(model *m);
void model_op_places(model *m);
void model_op_set_items(model *m);

/* and ways to save and to open (model_ways.c). */
void model_op_pack(model *m);
void model_op_parts(model *m);
void model_op_map_write(model *m);
void model_op_page(model *m);
void model_op_create(model *m);
void model_op_handles(model *m);
void model_op_threads(model *m);

/* The instructions that also end every program, and the swap of A and B. The
 * last two are in model_base.c, as others call them. */
void model_op_check(model *m);
void model_op_stat(model *m);
void model_op_swap(model *m);

#endif /* BLY_FUZZ_MACHINE_H */
