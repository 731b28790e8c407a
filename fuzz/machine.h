/* machine.h - the inside of the machine of model.h: its state, and what its
 * files share.
 */
#ifndef BLY_FUZZ_MACHINE_H
#define BLY_FUZZ_MACHINE_H

#include "bloomery.h"
#include "exact.h"
#include "model.h"

enum {
    MODEL_BATCH = 600,                  /* above the library's own chunk     */
    MODEL_KEY = 40,                     /* bytes of the longest key          */
    MODEL_PATH = 512,
    MODEL_IMAGE = 1 << 16,              /* bytes of the largest filter run   */
    MODEL_WORK = 1 << 19,               /* keys touched by one program       */
    MODEL_CACHE = 4096                  /* plans kept from run to run        */
};

typedef struct {
    bly_filter *filter;
    exact      *set;
} model_side;

typedef struct {
    const uint8_t *begin, *at, *end;    /* the program                       */
    unsigned       flags;
    model_report  *report;
    const char    *verb;                /* the instruction under way         */
    const bly_kind_info *kind;
    bly_spec       spec;
    bly_options    options;             /* its secret and allocator          */
    const bly_filter *empty;            /* NULL where it must be built       */
    model_side     a, b;
    long           work;                /* what is left of MODEL_WORK        */
    bool           over;
    bool           lossy;               /* keys may be lost by now: bly_stat's
                                           `lost` is not 0 for this kind     */
    bool           resized;             /* A and B may be of unlike plans    */
    bly_status     each[MODEL_BATCH];
    uint64_t       count[MODEL_BATCH];
    uint64_t       hash[MODEL_BATCH];
    bool           answer[MODEL_BATCH];
    bly_key        key[MODEL_BATCH];
    uint8_t        text[MODEL_BATCH][MODEL_KEY];
} model;

/* Note a mismatch unless `good`; a lost key unless `found`. */
void model_expect(model *m, bool good, const char *what);
void model_found(model *m, bool found, const char *by);

/* Is that word among the kind's abilities? */
bool model_can(const model *m, uint64_t ability);

/* Operands, read from the program. */
uint8_t  model_u8(model *m);
uint32_t model_u16(model *m);
uint64_t model_u64(model *m);

/* Number i of a stream of random-looking hashes. */
uint64_t model_mix(uint64_t i);

/* False for the kinds that forget by design, and for kind twin once a key was
 * removed. */
bool model_keeps(const model *m);

/* Where the filter's kind has a view (bloomery/inline.h), it answers as the
 * library does of the first n of m->hash. */
void model_viewed(model *m, const bly_filter *filter, size_t n);

/* Every key of the set is found in the filter. */
void model_law(model *m, const bly_filter *filter, const exact *set);

/* An empty filter of this program's plan, and its set; one of a hundred keys
 * where the kind must be built. False: it could not be made. */
bool model_fresh(model *m, model_side *side);

/* ---- What instructions share (model_base.c) ---------------------------- */

/* Put `n` hashes into m->hash; every eighth is of a key that A holds. */
void model_draw_hashes(model *m, uint64_t from, size_t n);

/* Key number i: 0 .. 39 bytes, among them NULs. */
bly_key model_draw_key(uint8_t text[MODEL_KEY], uint64_t i);

/* Keys number from, from + 1, … into m->key, and their hashes. */
void model_draw_keys(model *m, uint64_t from, size_t n);

/* How many keys a batch has: short ones are frequent. */
size_t model_batch(model *m);

/* Labels of those there may be. */
void model_draw_labels(model *m, uint64_t *labels, size_t n);

/* Two handles of one content: the same bytes and answers; the same payload. */
void model_same(model *m, const bly_filter *x, const bly_filter *y);
bool model_same_payload(const bly_filter *x, const bly_filter *y);

/* Let a filter take the place of another. */
void model_replace(bly_filter **old, bly_filter *fresh);

/* Is the filter full: or, if it grows, has it reached the most memory that is
 * given here; or, if it is for integers, is a key outside their range? */
bool model_full(const model *m, bly_status status);

/* `items` of A. */
uint64_t model_items(const model *m);

/* Put the first of m->hash, as many as the filter took, into the set; `items`
 * were in it before. */
void model_added_many(model *m, size_t n, uint64_t items, bly_status status);

/* What a removal of a key that is there may say. */
void model_removed(model *m, bly_status status);

/* A new file's name; false: programs have none. Then with A in it. */
bool model_file(const model *m, char path[MODEL_PATH]);
bool model_saved(model *m, char path[MODEL_PATH]);

/* Open the file and compare it with A; read into memory it takes A's place. */
void model_reopen(model *m, const char *path, int flags);

/* What a verb for two filters says that the kind has not; and what one says of
 * two that a change of size has set apart. */
bool model_refused(bly_status status);
bool model_apart(const model *m, bly_status status);

/* ---- The instructions -------------------------------------------------- */


typedef struct {
    const char *name;
    void (*run)(model *m);
} model_op;

extern const model_op model_ops[];
extern const size_t model_ops_count;

/* Those that stand in files of their own: keys in every form (model_keys.c), */
void model_op_ask_forms(model *m);
void model_op_add_forms(model *m);
void model_op_remove_keys(model *m);
void model_op_label_keys(model *m);
void model_op_add_by_view(model *m);

/* whole filters and what is in them (model_sets.c), */
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

/* The instructions that also end every program; and what lets A and B change
 * places. The last two are in model_base.c, as others call them. */
void model_op_check(model *m);
void model_op_stat(model *m);
void model_op_swap(model *m);

#endif /* BLY_FUZZ_MACHINE_H */
