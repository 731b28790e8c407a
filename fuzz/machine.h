/* machine.h - the inside of the machine of model.h: its state, and what its
 * two files share.
 */
#ifndef BLY_FUZZ_MACHINE_H
#define BLY_FUZZ_MACHINE_H

#include "bloomery.h"
#include "exact.h"
#include "model.h"

enum {
    MODEL_BATCH = 600,                  /* above the library's own chunk     */
    MODEL_KEY = 40,                     /* bytes of the longest key          */
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
    const bly_filter *empty;            /* NULL where it must be built       */
    model_side     a, b;
    long           work;                /* what is left of MODEL_WORK        */
    bool           over;
    bool           lossy;               /* keys may be lost by now: bly_stat's
                                           `lost` is not 0 for this kind     */
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

/* Every key of the set is found in the filter. */
void model_law(model *m, const bly_filter *filter, const exact *set);

/* An empty filter of this program's plan, and its set; one of a hundred keys
 * where the kind must be built. False: it could not be made. */
bool model_fresh(model *m, model_side *side);

/* The instructions (model_ops.c). */
typedef struct {
    const char *name;
    void (*run)(model *m);
} model_op;

extern const model_op model_ops[];
extern const size_t model_ops_count;

/* Two instructions that also end every program. */
void model_op_check(model *m);
void model_op_stat(model *m);

#endif /* BLY_FUZZ_MACHINE_H */
