/* key.c - the bytes that are the key of a value of SQL, as they are elsewhere:
 * text in UTF-8, bytes as they are, numbers so that equal ones have one key.
 */
#include "filter.h"
#include "key.h"

#include <string.h>

#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
#include "utils/uuid.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include <bloomery.h>

void key_bytea(key *out, Datum value)
{
    struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
    out->data = VARDATA_ANY(v);
    out->length = VARSIZE_ANY_EXHDR(v);
}

/* What SQL_ASCII holds is of no known encoding: its bytes are the key. */
void key_text(key *out, Datum value)
{
    int encoding = GetDatabaseEncoding();
    char *text;
    key_bytea(out, value);
    if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII)
        return;
    text = pg_server_to_any(out->data, (int)out->length, PG_UTF8);
    if (text != out->data) {
        out->data = text;
        out->length = strlen(text);
    }
}

static void key_of_integer(key *out, int64 value)
{
    bly_integer_key(out->number, value);
    out->data = out->number;
    out->length = sizeof out->number;
}

static void key_of_real(key *out, double value)
{
    bly_real_key(out->number, value);
    out->data = out->number;
    out->length = sizeof out->number;
}

void key_int8(key *out, Datum value)
{
    key_of_integer(out, DatumGetInt64(value));
}

void key_int4(key *out, Datum value)
{
    key_of_integer(out, DatumGetInt32(value));
}

void key_float8(key *out, Datum value)
{
    key_of_real(out, DatumGetFloat8(value));
}

static bool numeric_compares(PGFunction how, Datum a, Datum b)
{
    return DatumGetBool(DirectFunctionCall2(how, a, b));
}

/* A numeric holds integers that no double does: those of 64 bits are keys as
 * the integers are, and what is left is compared as a double in SQL, too. */
void key_numeric(key *out, Datum value)
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
            key_of_integer(out, DatumGetInt64(DirectFunctionCall1(numeric_int8,
                                                                  value)));
            return;
        }
    }
    key_of_real(out, DatumGetFloat8(DirectFunctionCall1(numeric_float8,
                                                        value)));
}

void key_uuid(key *out, Datum value)
{
    out->data = DatumGetUUIDP(value)->data;
    out->length = UUID_LEN;
}
