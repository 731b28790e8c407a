/* key.c - makes keys from values of SQL, with the same bytes as everywhere
 * else: text in UTF-8, bytes as they are, and numbers so that equal ones have
 * one key.
 */
#include "datum.h"
#include "key.h"
#include "moment.h"

#include <string.h>

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/uuid.h"

/* ---- Values -------------------------------------------------------------- */

static void key_bytea(bly_value *out, Datum value)
{
    struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
    out->type = BLY_BYTES;
    out->data = VARDATA_ANY(v);
    out->length = VARSIZE_ANY_EXHDR(v);
}

/* Converts text to UTF-8. The encoding of text in SQL_ASCII is unknown, so its
 * bytes are the key. */
static void key_encode(bly_value *out)
{
    int encoding = GetDatabaseEncoding();
    char *text;
    out->type = BLY_TEXT;
    if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII)
        return;
    text = pg_server_to_any(out->data, (int)out->length, PG_UTF8);
    if (text != out->data) {
        out->data = text;
        out->length = strlen(text);
    }
}

static void key_text(bly_value *out, Datum value)
{
    key_bytea(out, value);
    key_encode(out);
}

static void key_written(bly_value *out, Datum value)
{
    key_text(out, value);
    out->type = BLY_WRITTEN;
}

static void key_int8(bly_value *out, Datum value)
{
    out->type = BLY_INTEGER;
    out->integer = DatumGetInt64(value);
}

static void key_int4(bly_value *out, Datum value)
{
    out->type = BLY_INTEGER;
    out->integer = DatumGetInt32(value);
}

static void key_oid(bly_value *out, Datum value)
{
    out->type = BLY_INTEGER;
    out->integer = DatumGetObjectId(value);
}

static void key_float4(bly_value *out, Datum value)
{
    out->type = BLY_REAL;
    out->real = DatumGetFloat4(value);
}

static void key_float8(bly_value *out, Datum value)
{
    out->type = BLY_REAL;
    out->real = DatumGetFloat8(value);
}

static bool numeric_compares(PGFunction how, Datum a, Datum b)
{
    return DatumGetBool(DirectFunctionCall2(how, a, b));
}

/* A numeric may be an integer that no double equals. 64-bit integers are keys
 * as such; other numbers are compared as doubles, as in SQL. Values out of
 * range become infinite or 0, as in parsing. */
static void key_numeric(bly_value *out, Datum value)
{
    Datum least = NumericGetDatum(int64_to_numeric(PG_INT64_MIN));
    Datum most = NumericGetDatum(int64_to_numeric(PG_INT64_MAX));
    Numeric number = DatumGetNumeric(value);
    if (!numeric_is_nan(number) && !numeric_is_inf(number)
        && numeric_compares(numeric_ge, value, least)
        && numeric_compares(numeric_le, value, most)) {
        Datum whole = DirectFunctionCall2(numeric_trunc, value,
                                          Int32GetDatum(0));
        if (numeric_compares(numeric_eq, whole, value)) {
            key_int8(out, DirectFunctionCall1(numeric_int8, value));
            return;
        }
    }
    key_float8(out, DirectFunctionCall1(numeric_float8_no_overflow, value));
}

static void key_uuid(bly_value *out, Datum value)
{
    out->type = BLY_BYTES;
    out->data = DatumGetUUIDP(value)->data;
    out->length = UUID_LEN;
}

static void key_bool(bly_value *out, Datum value)
{
    out->type = BLY_INTEGER;
    out->integer = DatumGetBool(value);
}

/* Takes the text that the type's output function writes. It must not depend on
 * settings. */
static void key_output(bly_value *out, Datum value, PGFunction how)
{
    out->data = DatumGetCString(DirectFunctionCall1(how, value));
    out->length = strlen(out->data);
    key_encode(out);
}

static void key_enum(bly_value *out, Datum value)
{
    key_output(out, value, enum_out);
}

/* Reads a cidr like an inet, so that a single address has no "/32", and equal
 * ones have one key. */
static void key_inet(bly_value *out, Datum value)
{
    key_output(out, value, inet_out);
}

static void key_macaddr(bly_value *out, Datum value)
{
    key_output(out, value, macaddr_out);
}

static void key_macaddr8(bly_value *out, Datum value)
{
    key_output(out, value, macaddr8_out);
}

static void key_bit(bly_value *out, Datum value)
{
    key_output(out, value, varbit_out);
}

/* ---- Types --------------------------------------------------------------- */

/* A uuid is written in hexadecimal digits, which the class "hex" describes. A
 * real is written as 0.1, which differs from the double it equals, so such
 * columns have the class "float". A type that is not listed is cast to the
 * first one here to which PostgreSQL casts it implicitly, such as varchar to
 * text. */
static const struct {
    Oid         type;
    key_reader *read;
    uint64_t    class;
} key_types[] = {
    { TEXTOID,    key_text,    BLY_KEYS_TEXT },
    { BYTEAOID,   key_bytea,   BLY_KEYS_BYTES },
    { UUIDOID,    key_uuid,    BLY_KEYS_HEX },
    { INT8OID,    key_int8,    BLY_KEYS_NUMBER },
    { INT4OID,    key_int4,    BLY_KEYS_NUMBER },
    { FLOAT4OID,  key_float4,  BLY_KEYS_FLOAT },
    { FLOAT8OID,  key_float8,  BLY_KEYS_NUMBER },
    { NUMERICOID, key_numeric, BLY_KEYS_NUMBER },
    { BOOLOID,    key_bool,    BLY_KEYS_NUMBER },
    { OIDOID,     key_oid,     BLY_KEYS_NUMBER },
    { INETOID,    key_inet,    BLY_KEYS_TEXT },
    { MACADDROID, key_macaddr, BLY_KEYS_TEXT },
    { MACADDR8OID, key_macaddr8, BLY_KEYS_TEXT },
    { VARBITOID,  key_bit,     BLY_KEYS_TEXT },
    { DATEOID,    moment_date, BLY_KEYS_TEXT },
    { TIMESTAMPOID, moment_timestamp, BLY_KEYS_TEXT },
    { TIMESTAMPTZOID, moment_timestamptz, BLY_KEYS_TEXT },
    { TIMEOID,    moment_time, BLY_KEYS_TEXT },
    { TIMETZOID,  moment_timetz, BLY_KEYS_TEXT },
    { INTERVALOID, moment_interval, BLY_KEYS_NUMBER },
    { ANYENUMOID, key_enum,    BLY_KEYS_TEXT },
};

enum { KEY_TYPES = sizeof key_types / sizeof key_types[0] };

/* Looks for the type itself, or for one that it can be cast to. */
static int key_type_of(Oid type, Oid *cast)
{
    *cast = InvalidOid;
    if (type_is_enum(type))
        type = ANYENUMOID;
    for (int i = 0; i < KEY_TYPES; i++)
        if (key_types[i].type == type)
            return i;
    for (int i = 0; i < KEY_TYPES; i++) {
        CoercionPathType path = find_coercion_pathway(key_types[i].type, type,
                                                      COERCION_IMPLICIT, cast);
        if (path == COERCION_PATH_RELABELTYPE
            || (path == COERCION_PATH_FUNC && get_func_nargs(*cast) == 1))
            return i;
    }
    return KEY_TYPES;
}

bool key_find_type(key_source *source, Oid type, MemoryContext room)
{
    Oid cast;
    int at = key_type_of(getBaseType(type), &cast);
    if (at == KEY_TYPES)
        return false;
    *source = (key_source){ .read = key_types[at].read,
                            .class = key_types[at].class };
    if (cast != InvalidOid)
        fmgr_info_cxt(cast, &source->cast, room);
    return true;
}

void key_find(key_source *source, FunctionCallInfo fcinfo, int argument,
              bool written, MemoryContext room)
{
    Oid type = get_fn_expr_argtype(fcinfo->flinfo, argument);
    *source = (key_source){ .read = key_written, .class = BLY_KEYS_TEXT };
    if (written)
        return;
    if (type == InvalidOid)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("the type of the key is unknown: call this "
                               "function in a query")));
    if (!key_find_type(source, type, room))
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("a key cannot have the type %s",
                               format_type_be(type)),
                        errhint("Convert it, and do so in the same way "
                                "everywhere, for example x::text.")));
}

/* ---- Keys ---------------------------------------------------------------- */

static const char *key_hint(uint64_t form)
{
    switch (form & BLY_FORM_CLASS) {
    case BLY_KEYS_TEXT:
    case BLY_KEYS_UTF16: return "Convert the key to text, for example $1::text "
                                "or x::text.";
    case BLY_KEYS_BYTES:
    case BLY_KEYS_HEX:   return "Convert the key to bytes, for example "
                                "$1::bytea, $1::uuid or "
                                "convert_to(x, 'UTF8').";
    case BLY_KEYS_DOMAIN:
    case BLY_KEYS_CIDR:
    case BLY_KEYS_PATH:  return "Query the filter with the command bloomery.";
    default:             return "Convert the key to a number, for example "
                                "$1::bigint or x::numeric.";
    }
}

/* Reads '\x0123', which cannot be a uuid and is not what a text looks like. */
static void key_unquote(bly_value *value, uint64_t form)
{
    uint64_t class = form & BLY_FORM_CLASS;
    const char *text = value->data;
    char *copy;
    if ((class != BLY_KEYS_BYTES && class != BLY_KEYS_HEX)
        || value->length < 2 || text[0] != '\\' || text[1] != 'x')
        return;
    copy = pnstrdup(text, value->length);
    key_bytea(value, DirectFunctionCall1(byteain, CStringGetDatum(copy)));
}

static bly_status key_by_form(key *out, uint64_t form, bly_value *value)
{
    void *room = out->number;
    bly_status status;
    bly_key made;
    size_t bytes;
    if (value->type == BLY_WRITTEN)
        key_unquote(value, form);
    bytes = bly_form_room(form, value->length);
    if (bytes > sizeof out->number)
        room = datum_more(CurrentMemoryContext, NULL, 0, bytes);
    if (room == NULL)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY),
                        errmsg("out of memory for a key of %zu bytes",
                               value->length)));
    status = bly_form_key(&made, form, value, room);
    if (status >= 0) {
        out->data = made.data;
        out->length = made.length;
    }
    return status;
}

/* Returns whether the form keeps the bytes that a filter without a form would
 * have. */
static bool key_is_plain(const key_source *source, uint64_t form)
{
    return form == BLY_KEYS_UNSTATED
        || (form == source->class && form != BLY_KEYS_FLOAT);
}

/* Makes the key of a value for a filter without a form. */
static void key_plain(key *out, const bly_value *value)
{
    out->data = value->data;
    out->length = value->length;
    if (value->type != BLY_INTEGER && value->type != BLY_REAL)
        return;
    if (value->type == BLY_INTEGER)
        bly_integer_key(out->number, value->integer);
    else
        bly_real_key(out->number, value->real);
    out->data = out->number;
    out->length = sizeof out->number;
}

/* Returns whether the text begins with a shape: 0 is a digit, t is T, t or a
 * blank, and others are themselves. */
static bool key_has_shape(const char *text, size_t length, const char *shape)
{
    for (size_t i = 0; shape[i] != '\0'; i++)
        if (i == length
            || (shape[i] == '0' ? text[i] < '0' || text[i] > '9'
                : shape[i] == 't' ? strchr("Tt ", text[i]) == NULL
                : text[i] != shape[i]))
            return false;
    return true;
}

/* Returns whether a text begins like a timestamp, in another notation than that
 * of its key: 2026-11-27T08:00:00, with six digits of fractions if they are not
 * zero, and +00:00 if it has a zone. */
static bool key_looks_moment(const bly_value *value)
{
    const char *text = value->data, *end = text + value->length;
    if (!key_has_shape(text, value->length, "0000-00-00t0"))
        return false;
    if (!key_has_shape(text, value->length, "0000-00-00T00:00:00"))
        return true;
    text += strlen("0000-00-00T00:00:00");
    if (key_has_shape(text, (size_t)(end - text), ".000000")) {
        if (strncmp(text, ".000000", 7) == 0)
            return true;
        text += 7;
    }
    if (key_has_shape(text, (size_t)(end - text), "+00:00")
        && strncmp(text, "+00:00", 6) == 0)
        text += 6;
    return text != end;
}

/* Refuses an untyped timestamp for a filter of texts: it may stand for either,
 * and the two have different keys. */
static void key_refuse_moment(const bly_value *value, uint64_t form)
{
    if (value->type == BLY_WRITTEN
        && (form & BLY_FORM_CLASS) == BLY_KEYS_TEXT
        && key_looks_moment(value))
        ereport(ERROR, (errcode(ERRCODE_AMBIGUOUS_PARAMETER),
                        errmsg("a key that looks like a timestamp needs a "
                               "type"),
                        errhint("Write it as $1::timestamp or, if the filter "
                                "is of texts, as $1::text.")));
}

bly_status key_try(key *out, const key_source *source, uint64_t form,
                   Datum value)
{
    bly_value v = { .length = 0 };
    if (source->cast.fn_oid != InvalidOid)
        value = FunctionCall1(unconstify(FmgrInfo *, &source->cast), value);
    source->read(&v, value);
    key_refuse_moment(&v, form);
    if (!key_is_plain(source, form))
        return key_by_form(out, form, &v);
    key_plain(out, &v);
    return BLY_OK;
}

void key_read(key *out, const key_source *source, uint64_t form, Datum value)
{
    bly_status status = key_try(out, source, form, value);
    if (status < 0)
        datum_must_or(status, status == BLY_EFORM ? key_hint(form) : NULL);
}

uint64_t key_form(const char *name)
{
    uint64_t form = BLY_KEYS_UNSTATED;
    datum_must(bly_form_read(&form, name));
    return form;
}
