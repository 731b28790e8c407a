/* rowfile.c - files of a few numbers and one row of bits. */
#include "bodies/rowfile.h"

#include <stdio.h>

#include "base/status.h"

/* ==== Numbers =========================================================== */

/* Returns where a number is in a file with a row of so many bytes. */
static uint64_t rowfile_at(const rowfile *f, const rowfile_number *number,
                           uint64_t row)
{
    return (number->at & ROWFILE_BEHIND) == 0 ? number->at
         : f->head + row + (number->at & (ROWFILE_BEHIND - 1));
}

/* Returns the bytes in front of the row. */
static uint64_t rowfile_head(const rowfile *f, const uint64_t *geometry)
{
    return f->write_head == NULL ? f->head : f->write_head(NULL, geometry);
}

static uint64_t rowfile_get(const rowfile_number *number, const uint8_t *p)
{
    uint64_t v = 0;
    for (size_t i = 0; i < number->width; i++)
        v = v << 8 | p[number->big ? i : number->width - 1 - i];
    return v;
}

static void rowfile_put(const rowfile_number *number, uint8_t *p, uint64_t v)
{
    for (size_t i = 0; i < number->width; i++)
        p[number->big ? number->width - 1 - i : i] = (uint8_t)(v >> 8 * i);
}

/* A double of 8 bytes, as a number and back. */
static double rowfile_double(uint64_t v)
{
    double d;
    memcpy(&d, &v, sizeof d);
    return d;
}

static uint64_t rowfile_of_double(double d)
{
    uint64_t v;
    memcpy(&v, &d, sizeof v);
    return v;
}

static bool rowfile_in_range(const rowfile_number *number, uint64_t v)
{
    double rate = rowfile_double(v);
    return number->meaning == ROWFILE_RATE ? rate > 0 && rate < 1
         : v >= number->least && v <= number->most;
}

/* Returns the number of a meaning, or NULL. */
static const rowfile_number *rowfile_find(const rowfile *f, uint8_t meaning)
{
    for (const rowfile_number *n = f->numbers; n->name != NULL; n++)
        if (n->meaning == meaning)
            return n;
    return NULL;
}

/* ==== Reading =========================================================== */

bly_status rowfile_wrong(const rowfile *f, uint64_t at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as %s: byte %llu: %s: it is "
                       "damaged, or of another format: fetch it again, or name "
                       "another format", f->what,
                       (unsigned long long)(f->from + at), what);
}

static bly_status rowfile_out_of_range(const rowfile *f,
                                       const rowfile_number *number,
                                       uint64_t at, uint64_t v)
{
    char what[160];
    if (number->meaning == ROWFILE_VERSION)
        return status_fail(BLY_EVERSION, "read as %s: byte %llu: %s is %llu, "
                           "which is not known: name another format, or write "
                           "it again in a known one (%llu)", f->what,
                           (unsigned long long)(f->from + at), number->name,
                           (unsigned long long)v,
                           (unsigned long long)number->most);
    if (number->meaning == ROWFILE_RATE)
        snprintf(what, sizeof what, "%s is not between 0 and 1", number->name);
    else
        snprintf(what, sizeof what, "%s is %llu, not %llu .. %llu",
                 number->name, (unsigned long long)v,
                 (unsigned long long)number->least,
                 (unsigned long long)number->most);
    return rowfile_wrong(f, at, what);
}

/* Takes what a number means. Returns false if another number of this meaning,
 * in front of it, differs. */
static bool rowfile_take(const rowfile *f, const rowfile_number *number,
                         kind_found *out, uint64_t v)
{
    bool first = rowfile_find(f, number->meaning) == number;
    uint64_t field = v * number->unit + number->plus;
    if (number->meaning < IMAGE_GEOMETRY_FIELDS && !first)
        return out->geometry[number->meaning] == field;
    if (number->meaning < IMAGE_GEOMETRY_FIELDS)
        out->geometry[number->meaning] = field;
    if (number->meaning == ROWFILE_KEYS)
        out->capacity = v;
    if (number->meaning == ROWFILE_ADDED)
        out->items = v;
    return true;
}

static bly_status rowfile_unlike(const rowfile *f, const rowfile_number *number,
                                 uint64_t at)
{
    char what[160];
    snprintf(what, sizeof what, "%s is not %s", number->name,
             rowfile_find(f, number->meaning)->name);
    return rowfile_wrong(f, at, what);
}

/* Reads the numbers in front of the row, or those behind a row of so many
 * bytes. */
static bly_status rowfile_read_numbers(const rowfile *f, kind_found *out,
                                       const uint8_t *file, uint64_t row,
                                       bool behind)
{
    for (const rowfile_number *n = f->numbers; n->name != NULL; n++) {
        if (n->width == 0 || behind != ((n->at & ROWFILE_BEHIND) != 0))
            continue;
        uint64_t at = rowfile_at(f, n, row), v = rowfile_get(n, file + at);
        if (!rowfile_in_range(n, v))
            return rowfile_out_of_range(f, n, at, v);
        if (!rowfile_take(f, n, out, v))
            return rowfile_unlike(f, n, at);
    }
    return BLY_OK;
}

bly_status rowfile_numbers(const rowfile *f, kind_found *out,
                           const uint8_t *file)
{
    return rowfile_read_numbers(f, out, file, 0, false);
}

/* Checks that the row ends where it must. */
static bly_status rowfile_check_end(const rowfile *f, const uint64_t *geometry,
                                    uint64_t bytes)
{
    const rowfile_number *number = rowfile_find(f, ROWFILE_M);
    uint64_t m = geometry[ROWFILE_M];
    uint64_t end = rowfile_head(f, geometry) + rowfile_bytes(f, m) + f->tail;
    if (m >= 1 && m <= f->m_most
        && (end == bytes || (f->attaches && end <= bytes)))
        return BLY_OK;
    uint64_t at = f->from + (number != NULL ? number->at : 0);
    return status_fail(BLY_ECORRUPT, "read as %s: byte %llu: its %llu bits end "
                       "at byte %llu, but there are %llu bytes: it is cut "
                       "short, or damaged: fetch it again", f->what,
                       (unsigned long long)at, (unsigned long long)m,
                       (unsigned long long)(f->from + end),
                       (unsigned long long)(f->from + bytes));
}

/* Checks that the bits from m on, which only fill the last unit, are clear. */
static bly_status rowfile_check_spare(const rowfile *f,
                                      const uint64_t *geometry,
                                      const uint8_t *file)
{
    uint64_t m = geometry[ROWFILE_M], head = rowfile_head(f, geometry);
    for (uint64_t x = m; x < 8 * rowfile_bytes(f, m); x++)
        if (bits_test(file + head, x ^ f->turn))
            return rowfile_wrong(f, head + (x ^ f->turn) / 8,
                                 "bits beyond the last are set");
    return BLY_OK;
}

/* Returns the form whose version a file states; the first if none is. */
static const rowfile *rowfile_form_of(const rowfile *f, const uint8_t *file,
                                      uint64_t bytes)
{
    for (const rowfile *one = f; one < f + f->forms; one++) {
        const rowfile_number *n = rowfile_find(one, ROWFILE_VERSION);
        if (n != NULL && bytes >= one->head
            && rowfile_in_range(n, rowfile_get(n, file + n->at)))
            return one;
    }
    return f;
}

/* Returns whether a field of the geometry is one that a file may have. */
static bool rowfile_field(const rowfile *f, const uint64_t *geometry,
                          uint8_t field)
{
    const rowfile_number *n = rowfile_find(f, field);
    if (n == NULL)
        return true;
    uint64_t v = geometry[field] - n->plus;
    return geometry[field] >= n->plus && v % n->unit == 0
        && v / n->unit >= n->least && v / n->unit <= n->most;
}

/* Reads a head that varies. It is right if and only if it is what we write. */
static bly_status rowfile_read_head(const rowfile *f, kind_found *out,
                                    const uint8_t *file, uint64_t bytes)
{
    uint8_t head[ROWFILE_HEAD];
    char what[160];
    if (!f->read_head(out->geometry, file, bytes))
        return rowfile_wrong(f, 0, "the numbers in front of its bits are not "
                             "there");
    for (const rowfile_number *n = f->numbers; n->name != NULL; n++) {
        if (n->width > 0 || rowfile_field(f, out->geometry, n->meaning))
            continue;
        snprintf(what, sizeof what, "%s is out of range", n->name);
        return rowfile_wrong(f, n->at, what);
    }
    size_t n = f->write_head(head, out->geometry);
    return n <= bytes && memcmp(head, file, n) == 0 ? BLY_OK
         : rowfile_wrong(f, 0, "the numbers in front of its bits are not "
                         "written as they must be");
}

/* Reads a file as of this form. */
static bly_status rowfile_read_form(const rowfile *f, kind_found *out,
                                    const uint8_t *file, uint64_t bytes)
{
    unsigned least = f->head + f->tail;
    *out = (kind_found){ .items = IMAGE_ITEMS_UNKNOWN };
    if (bytes < least)
        return status_fail(BLY_ECORRUPT, "read as %s, which has %u bytes "
                           "beside its bits, but there are %llu bytes: it is "
                           "cut short: fetch it again", f->what, least,
                           (unsigned long long)bytes);
    if (rowfile_find(f, ROWFILE_M) == NULL)
        out->geometry[ROWFILE_M] = 8 * (bytes - least);
    bly_status status = f->read_head != NULL
                      ? rowfile_read_head(f, out, file, bytes) : BLY_OK;
    if (status == BLY_OK)
        status = rowfile_read_numbers(f, out, file, 0, false);
    if (status == BLY_OK && f->tail > 0)
        status = rowfile_read_numbers(f, out, file, bytes - least, true);
    if (status == BLY_OK && f->settle != NULL)
        status = f->settle(out, file, bytes);
    uint64_t m = out->geometry[ROWFILE_M];
    if (status == BLY_OK)
        status = rowfile_check_end(f, out->geometry, bytes);
    if (status == BLY_OK)
        status = rowfile_check_spare(f, out->geometry, file);
    if (status == BLY_OK && out->capacity == 0)
        out->capacity = probes_capacity(m, out->geometry[ROWFILE_K]);
    return status;
}

bly_status rowfile_read(const rowfile *f, kind_found *out, const uint8_t *file,
                        uint64_t bytes)
{
    const rowfile *form = rowfile_form_of(f, file, bytes);
    bly_status status = rowfile_read_form(form, out, file, bytes);
    if (form > f)
        out->geometry[ROWFILE_FOURTH] = (uint64_t)(form - f);
    return status;
}

/* Only what is in front of the row is looked at. */
bool rowfile_looks(const rowfile *f, const uint8_t *bytes, size_t n,
                   uint64_t all)
{
    kind_found found = { .capacity = 0 };
    f = rowfile_form_of(f, bytes, n);
    if (n < f->head || all < (uint64_t)f->head + f->tail)
        return false;
    for (const rowfile_number *number = f->numbers; number->name != NULL;
         number++) {
        if ((number->at & ROWFILE_BEHIND) != 0)
            continue;
        uint64_t v = rowfile_get(number, bytes + number->at);
        if (!rowfile_in_range(number, v)
            || !rowfile_take(f, number, &found, v))
            return false;
    }
    uint64_t m = found.geometry[ROWFILE_M];
    uint64_t end = f->head + rowfile_bytes(f, m) + f->tail;
    return f->shows || rowfile_find(f, ROWFILE_M) == NULL
        || (m >= 1 && m <= f->m_most
            && (end == all || (f->attaches && end < all)));
}

/* The form of a geometry, which must be one. */
static const rowfile *rowfile_form_in(const rowfile *f,
                                      const uint64_t *geometry)
{
    return f->forms > 1 ? f + geometry[ROWFILE_FOURTH] : f;
}

/* Plans a row of this geometry for n keys. */
static void rowfile_plan_row(const rowfile *f, bly_plan_t *plan,
                             const uint64_t *geometry, uint64_t n)
{
    uint64_t m = geometry[ROWFILE_M], bytes = rowfile_bytes(f, m);
    if (f->strides == NULL) {
        rows_plan_row(plan, m, (uint32_t)geometry[ROWFILE_K], n, bytes);
        return;
    }
    strides s = f->strides(geometry);
    rows_plan_strides(plan, &s, n, bytes);
}

double rowfile_rate(const rowfile *f, const kind_found *found)
{
    bly_plan_t plan;
    rowfile_plan_row(rowfile_form_in(f, found->geometry), &plan,
                     found->geometry, found->capacity);
    return plan.rate;
}

uint64_t rowfile_reach(const rowfile *f, const uint64_t *geometry)
{
    if (f->forms > 1 && geometry[ROWFILE_FOURTH] >= f->forms)
        return UINT64_MAX;
    f = rowfile_form_in(f, geometry);
    for (uint8_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        if (!rowfile_field(f, geometry, i))
            return UINT64_MAX;
    return geometry[ROWFILE_M] < 1 || geometry[ROWFILE_M] > f->m_most
           || (f->fits != NULL && !f->fits(geometry))
         ? UINT64_MAX
         : rowfile_head(f, geometry) + rowfile_bytes(f, geometry[ROWFILE_M])
           + f->tail;
}

static void rowfile_geometry(uint64_t geometry[IMAGE_GEOMETRY_FIELDS],
                             const void *image)
{
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        geometry[i] = image_geometry(image, i);
}

bly_status rowfile_check(const rowfile *f, const kind_foreign *foreign,
                         const void *image)
{
    bool told = (foreign->fields >> ROWFILE_FOURTH & 1) != 0;
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
    rowfile_geometry(geometry, image);
    if (rowfile_reach(f, geometry) == UINT64_MAX)
        return kind_bad_geometry(image);
    if (!told || f->forms < 2)
        return kind_check_foreign(image, foreign);
    uint64_t form = image_geometry(image, ROWFILE_FOURTH);
    if (form >= f->forms)
        return kind_bad_geometry(image);
    kind_found found;
    bly_status status = rowfile_read_form(f + form, &found,
                                          image_payload(image),
                                          image_payload_bytes(image));
    for (size_t i = 0; status == BLY_OK && i < ROWFILE_FOURTH; i++)
        if ((foreign->fields >> i & 1) == 0
            && found.geometry[i] != image_geometry(image, i))
            status = kind_bad_geometry(image);
    return status;
}

bly_status rowfile_told(const rowfile *f, uint64_t *geometry, uint64_t form)
{
    const rowfile_number *first = rowfile_find(f, ROWFILE_K);
    const rowfile_number *number = rowfile_find(f + form, ROWFILE_K);
    geometry[ROWFILE_K] += number->plus - first->plus;
    geometry[ROWFILE_FOURTH] = form;
    return geometry[ROWFILE_M] == 0     /* there is no file, only options    */
        || rowfile_field(f + form, geometry, ROWFILE_K) ? BLY_OK
         : rowfile_wrong(f + form, number->at, "this version cannot have "
                         "that number of hash functions");
}

/* ==== Making ============================================================ */

static bly_status rowfile_check_plan(const rowfile *f, const uint64_t *geometry,
                                     const kind_spec *spec)
{
    const rowfile_number *k = rowfile_find(f, ROWFILE_K);
    if (geometry[ROWFILE_M] > f->m_most)
        return kind_too_big(spec, f->limit);
    if (k != NULL && geometry[ROWFILE_K] > k->most)
        return status_fail(BLY_EPARAM, "a rate of %.3g needs %llu probes, but "
                           "%s has at most %llu: use a higher rate",
                           spec->rate,
                           (unsigned long long)geometry[ROWFILE_K], f->what,
                           (unsigned long long)k->most);
    return BLY_OK;
}

bly_status rowfile_plan(const rowfile *f, bly_plan_t *plan,
                        const kind_spec *spec)
{
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS] = { 0 };
    if (spec->capacity == 0)
        return kind_no_capacity();
    bly_status status = f->size(geometry, spec);
    const rowfile *first = f;
    f = rowfile_form_in(f, geometry);
    if (status == BLY_OK)
        status = rowfile_check_plan(f, geometry, spec);
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, rowfile_reach(first, geometry));
    if (status != BLY_OK)
        return status;
    rowfile_plan_row(f, plan, geometry, spec->capacity);
    memcpy(plan->geometry, geometry, sizeof geometry);
    return BLY_OK;
}

static uint64_t rowfile_value(const rowfile_number *number, const void *image,
                              const kind_spec *spec)
{
    return number->meaning < IMAGE_GEOMETRY_FIELDS
           ? (image_geometry(image, number->meaning) - number->plus)
             / number->unit
         : number->meaning == ROWFILE_VERSION ? number->most
         : number->meaning == ROWFILE_KEYS ? spec->capacity
         : number->meaning == ROWFILE_RATE ? rowfile_of_double(spec->rate)
         : number->meaning == ROWFILE_OTHER ? number->unit : 0;
}

bly_status rowfile_format(const rowfile *f, void *image, const kind_spec *spec)
{
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
    rowfile_geometry(geometry, image);
    f = rowfile_form_in(f, geometry);
    uint8_t *file = image_payload_mut(image);
    uint64_t row = rowfile_bytes(f, geometry[ROWFILE_M]);
    if (f->write_head != NULL)
        f->write_head(file, geometry);
    for (const rowfile_number *n = f->numbers; n->name != NULL; n++)
        rowfile_put(n, file + rowfile_at(f, n, row),
                    rowfile_value(n, image, spec));
    if (f->finish != NULL)
        f->finish(file, geometry, spec);
    return BLY_OK;
}

/* Copies the attached data as well: there is room for it, and zeros would be
 * data too. */
void rowfile_like(const rowfile *f, void *image, const void *other)
{
    f = rowfile_form(f, image);
    uint8_t *file = image_payload_mut(image);
    const uint8_t *from = image_payload(other);
    uint64_t row = rowfile_bytes(f, image_geometry(image, ROWFILE_M));
    size_t head = rowfile_head_in(f, image);
    uint64_t behind = head + row;
    const rowfile_number *added = rowfile_find(f, ROWFILE_ADDED);
    memcpy(file, from, head);
    memcpy(file + behind, from + behind,
           (size_t)(image_payload_bytes(other) - behind));
    if (added != NULL)
        rowfile_put(added, file + rowfile_at(f, added, row), 0);
}

/* ==== Keys ============================================================== */

probes_row rowfile_set(const rowfile *f, const void *image)
{
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS];
    probes_row row = rowfile_row(f, image);
    rowfile_geometry(geometry, image);
    f = rowfile_form_in(f, geometry);
    if (f->strides != NULL) {
        row.from = f->strides(geometry);
        row.m = row.from.m;
    }
    row.bytes = (size_t)rowfile_bytes(f, row.m);
    return row;
}

uint64_t rowfile_added(const rowfile *f, const void *image)
{
    f = rowfile_form(f, image);
    const rowfile_number *n = rowfile_find(f, ROWFILE_ADDED);
    uint64_t row = rowfile_bytes(f, image_geometry(image, ROWFILE_M));
    return n == NULL ? 0
         : rowfile_get(n, image_payload(image) + rowfile_at(f, n, row));
}

void rowfile_count(const rowfile *f, void *image, uint64_t more)
{
    f = rowfile_form(f, image);
    const rowfile_number *n = rowfile_find(f, ROWFILE_ADDED);
    if (n == NULL)
        return;
    uint64_t row = rowfile_bytes(f, image_geometry(image, ROWFILE_M));
    uint8_t *at = image_payload_mut(image) + rowfile_at(f, n, row);
    uint64_t had = rowfile_get(n, at);
    rowfile_put(n, at, more > n->most - had ? n->most : had + more);
}

bool rowfile_alike(const rowfile *f, const void *a, const void *b)
{
    f = rowfile_form(f, a);
    uint64_t row = rowfile_bytes(f, image_geometry(a, ROWFILE_M));
    for (const rowfile_number *n = f->numbers; n->name != NULL; n++) {
        uint64_t at = rowfile_at(f, n, row);
        if (n->meaning != ROWFILE_ADDED
            && memcmp(image_payload(a) + at, image_payload(b) + at, n->width)
               != 0)
            return false;
    }
    return true;
}
