/* native.h - the declarations of the library and of native.c for cffi.
 *
 * build_native.py gives cffi the text after the next line.
 */
/* cffi: */
#define BLY_SEEN ...
#define BLY_EABSENT ...
#define BLY_EUNSAFE ...
#define BLY_MAP ...
#define BLY_WRITE ...
#define BLY_VERIFY ...
#define BLY_TEXT ...
#define BLY_BYTES ...
#define BLY_INTEGER ...
#define BLY_REAL ...
#define BLY_FIELD_TEXT ...
#define BLY_FIELD_COUNT ...
#define BLY_FIELD_REAL ...
#define BLY_FIELD_BOOL ...
#define BLY_FIELD_ARRAY ...
#define BLY_FIELD_OBJECT ...
#define BLY_FIELD_END ...
#define HELD_LARGE ...
#define HELD_UUID ...
#define HELD_CLOSED ...
#define HELD_MIXED ...
#define HELD_BEYOND ...
#define HELD_FALLS ...
#define HELD_BUSY ...
#define HELD_RAISED ...
#define HELD_MORE ...
#define HELD_OUTSIDE_V ...
#define HELD_NO_WORD ...
#define HELD_SURROGATE ...
#define HELD_CUT ...
#define HELD_PLAIN ...
#define HELD_NUMBERS ...
#define HELD_UCS4 ...
#define HELD_WORDS ...

typedef struct held held;
typedef struct held_batch {
                 size_t n; const void *data; const uint32_t *offsets32;
                 const uint64_t *offsets64; size_t width; uint64_t padded;
                 int type; const unsigned char *types, *valid;
                 size_t done, before; int layout; char number;
                 const struct held_batch *words; ...; } held_batch;
typedef struct { bool nan_missing; ...; } held_row;
typedef struct { held_batch batch; ...; } held_arrow;
typedef struct { size_t rows; ...; } held_building;
typedef struct held_schema {
                 const char *format; struct held_schema *dictionary; ...;
               } held_schema;
typedef struct { uint64_t capacity; double rate; uint64_t seed;
                 const char *hash; const void *secret; uint32_t threads;
                 uint64_t form; ...; } bly_spec;
typedef struct { const void *secret; uint32_t threads; const char *format;
                 uint64_t memory_limit; ...; } bly_options;
typedef struct { uint64_t bytes; double bits_per_key, rate; ...; } bly_plan_t;
typedef struct { const char *name, *help; int type; bool absent;
                 uint64_t count; double real; char text[64]; } held_field;
typedef struct { held_field *at; size_t n, room; } held_fields;
typedef struct { char kind[24], hash[16]; uint64_t bytes, items, capacity;
                 double rate; uint64_t form; ...; } bly_header;
typedef struct { double value, sd; } bly_estimate;
typedef struct { bly_estimate a, b, either, both, differ, jaccard; ...;
               } bly_overlap_t;
typedef struct { const char *name, *range, *standard, *help; ...;
               } bly_option_info;
typedef struct { const char *name, *family, *summary; uint64_t can;
                 const bly_option_info *const *options; const char *tier;
                 ...; } bly_kind_info;
typedef struct {
    uint64_t capacity; double rate, present; uint64_t can;
    bool fixed, unknown; int aim; uint64_t memory, others, label_most, times;
    ...;
} bly_need;
typedef struct {
    char kind[48]; bool fits, beaten; bly_plan_t plan; double ns_lookup,
    ns_add; char why[160], limit[96], lacks[128]; const char *tier;
    ...;
} bly_advice;
typedef struct bly_ranking bly_ranking;
typedef struct { uint64_t hash; size_t at, length; int side; } held_key;

static char *const BLY_DEFAULT_KIND;

const char *bly_version(void);
const char *bly_why_in(const char *language);
int bly_errno(void);
const char *bly_strerror(int status);
const char *bly_ability(uint64_t flag);
const bly_kind_info *const *bly_kinds(size_t *n);
int bly_plan_grown(bly_plan_t *out, const char *kind, const bly_spec *spec,
                   uint64_t keys);
int bly_form_read(uint64_t *form, const char *text);
char *bly_form_write(char *text, uint64_t form);
void bly_integer_key(unsigned char key[8], int64_t integer);
void bly_real_key(unsigned char key[8], double real);
int bly_advise(bly_ranking **out, const bly_need *need);
size_t bly_ranking_count(const bly_ranking *ranking);
const bly_advice *bly_ranking_at(const bly_ranking *ranking, size_t i);
void bly_ranking_free(bly_ranking *ranking);

extern "Python" int held_ask(void *task, uint64_t done, uint64_t total);
extern uint64_t held_every;

held *held_place(void);
int held_new(held *out, const char *kind, bly_spec *spec, bool any,
             void *task);
held_building *held_building_place(void);
void held_building_free(held_building *b);
void held_building_begin(held_building *b, const char *kind, bly_spec *spec,
                         bool any, uint64_t *labels, size_t n_labels);
int held_building_add(held_building *b, const held_batch *batch, void *task);
int held_building_end(held *out, held_building *b, void *task);
int held_hash_keys(uint64_t *hashes, const char *kind, const bly_spec *spec,
                   const held_batch *batch, void *task);
int held_open(held *out, const char *path, int flags, bly_options *options,
              void *task);
int held_unpack(held *out, const void *packed, size_t bytes,
                bly_options *options, void *task);
int held_like(held *out, held *from);
int held_copy(held *out, held *from, void *task);
int held_close(held *h);
void held_free(held *h);

int held_form(held *h, uint64_t *form, bool *any);
int held_state_form(held *h, uint64_t form);

int held_contains(held *h, int type, const char *data, size_t length);
int held_contains_text(held *h, const char *data, size_t length);
int held_contains_bytes(held *h, const char *data, size_t length);
int held_add(held *h, int type, const char *data, size_t length);
int held_remove(held *h, int type, const char *data, size_t length);
int held_count(held *h, int type, const char *data, size_t length,
               uint64_t *count);
int held_put(held *h, int type, const char *data, size_t length,
             uint64_t label);
int held_get(held *h, int type, const char *data, size_t length,
             uint64_t *label);

int held_contains_keys(held *h, held_batch *batch, bool *present);
int held_add_keys(held *h, held_batch *batch, bool *added);
int held_remove_keys(held *h, held_batch *batch);
int held_count_keys(held *h, held_batch *batch, uint64_t *counts);
int held_put_keys(held *h, held_batch *batch, const uint64_t *labels);
int held_get_keys(held *h, held_batch *batch, bool *found, uint64_t *labels);

int held_unite(held *into, held *other, void *task);
int held_intersect(held *into, held *other, void *task);
int held_subtract(held *into, held *other, void *task);
int held_overlap(held *a, held *b, bly_overlap_t *out, void *task);
int held_clear(held *h);
int held_resize(held *h, uint64_t capacity, void *task);
int held_fold(held *h, uint64_t times, void *task);
int held_sync(held *h);
int held_seal(held *h);

int held_stat(held *h, held_fields *out, void *task);
int held_header(held *h, bly_header *out);
int held_plan(held_fields *out, const bly_plan_t *plan);
held_fields *held_fields_place(void);
void held_fields_free(held_fields *all);
int held_can(held *h, uint64_t *can);
int held_save(held *h, const char *path, const char *format, void *task);
int held_image(held *h, char **image, size_t *bytes, bool packed, void *task);
int held_list(held *h, held_key **keys, size_t *n, char **bytes, void *task);
void held_give_at(void *memory);


size_t held_missing(const held_batch *batch);
held_row *held_row_place(void);
void held_row_free(held_row *row);
int held_layout(char number);
size_t held_labels(uint64_t *labels, const held_batch *batch);
void held_row_end(held_row *row, held_batch *out);
void held_row_clear(held_row *row);
int held_row_join(held_row *row, const held_batch *from);
intptr_t held_gather(held_row *row, void *items, intptr_t most, void *encode);
intptr_t held_gather_list(held_row *row, void *list, intptr_t from,
                          intptr_t most, void *encode);
intptr_t held_gather_array(held_row *row, void *items, intptr_t n,
                           void *encode);

held_arrow *held_arrow_place(void);
void held_arrow_free(held_arrow *arrow);
const char *held_arrow_read(held_arrow *to, const held_schema *schema,
                            const void *array);
void *held_arrow_own(held_arrow *arrow);
held_schema *held_schema_place(void);
void held_schema_free(held_schema *schema);
int held_stream_schema(void *stream, held_schema *out);
int held_stream_next(void *stream, held_arrow *out);
const char *held_stream_error(void *stream);
