/* thrift.c - the compact protocol of Apache Thrift, read from memory. */
#include "formats/thrift.h"

/* ---- Bytes -------------------------------------------------------------- */

static void thrift_fail(thrift *t)
{
    if (t->bad == NULL)
        t->bad = t->at;
    t->at = t->end;
}

static uint8_t thrift_byte(thrift *t)
{
    if (t->at == t->end) {
        thrift_fail(t);
        return 0;
    }
    return *t->at++;
}

static void thrift_pass(thrift *t, uint64_t n)
{
    if (n > (uint64_t)(t->end - t->at))
        thrift_fail(t);
    else
        t->at += n;
}

/* Reads a varint of at most 64 bits, in 10 bytes. */
static uint64_t thrift_varint(thrift *t)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = thrift_byte(t);
        value |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
    thrift_fail(t);
    return 0;
}

static int64_t thrift_zigzag(thrift *t)
{
    uint64_t v = thrift_varint(t);
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* ---- Fields ------------------------------------------------------------- */

bool thrift_next(thrift *t, thrift_field *field)
{
    uint8_t byte = thrift_byte(t);
    field->type = (thrift_type)(byte & 15);
    if (t->bad != NULL || field->type == THRIFT_STOP)
        return false;
    if (byte >> 4 != 0)
        field->id += byte >> 4;
    else
        field->id = thrift_zigzag(t);
    if (field->id < INT16_MIN || field->id > INT16_MAX
        || field->type > THRIFT_UUID)
        thrift_fail(t);
    return t->bad == NULL;
}

static uint64_t thrift_count(thrift *t, thrift_type *type)
{
    uint8_t byte = thrift_byte(t);
    uint64_t n = byte >> 4 < 15 ? byte >> 4 : thrift_varint(t);
    *type = (thrift_type)(byte & 15);
    if (*type == THRIFT_STOP || *type > THRIFT_UUID
        || n > (uint64_t)(t->end - t->at))
        thrift_fail(t);
    return t->bad != NULL ? 0 : n;
}

static void thrift_skip_element(thrift *t, thrift_type type, unsigned depth);

static void thrift_skip_map(thrift *t, unsigned depth)
{
    uint64_t n = thrift_varint(t);
    uint8_t types = n > 0 ? thrift_byte(t) : 0;
    for (; n > 0 && t->bad == NULL; n--) {
        thrift_skip_element(t, (thrift_type)(types >> 4), depth);
        thrift_skip_element(t, (thrift_type)(types & 15), depth);
    }
}

/* Skips the value of a field; a bool is part of its type. */
static void thrift_skip_value(thrift *t, thrift_type type, unsigned depth)
{
    thrift_field field = { .id = 0 };
    thrift_type of;

    if (depth == 0) {
        thrift_fail(t);
        return;
    }
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        return;
    case THRIFT_BYTE:
        thrift_pass(t, 1);
        return;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        thrift_varint(t);
        return;
    case THRIFT_DOUBLE:
        thrift_pass(t, 8);
        return;
    case THRIFT_BINARY:
        thrift_pass(t, thrift_varint(t));
        return;
    case THRIFT_LIST:
    case THRIFT_SET:
        for (uint64_t n = thrift_count(t, &of); n > 0 && t->bad == NULL; n--)
            thrift_skip_element(t, of, depth - 1);
        return;
    case THRIFT_MAP:
        thrift_skip_map(t, depth - 1);
        return;
    case THRIFT_STRUCT:
        while (thrift_next(t, &field))
            thrift_skip_value(t, field.type, depth - 1);
        return;
    case THRIFT_UUID:
        thrift_pass(t, 16);
        return;
    case THRIFT_STOP:
        break;
    }
    thrift_fail(t);
}

/* Skips an element of a list, in which a bool is a byte. */
static void thrift_skip_element(thrift *t, thrift_type type, unsigned depth)
{
    if (type == THRIFT_TRUE || type == THRIFT_FALSE)
        thrift_pass(t, 1);
    else
        thrift_skip_value(t, type, depth);
}

void thrift_skip(thrift *t, thrift_type type)
{
    thrift_skip_value(t, type, THRIFT_DEPTH);
}

/* ---- Values ------------------------------------------------------------- */

void thrift_integer(thrift *t, const thrift_field *field, int64_t *out)
{
    if (field->type < THRIFT_I16 || field->type > THRIFT_I64)
        thrift_skip(t, field->type);
    else
        *out = thrift_zigzag(t);
}

size_t thrift_element(thrift *t, const uint8_t **text)
{
    uint64_t n = thrift_varint(t);
    *text = t->at;
    thrift_pass(t, n);
    return t->bad != NULL ? 0 : (size_t)n;
}

uint64_t thrift_list(thrift *t, const thrift_field *field, thrift_type of)
{
    const uint8_t *begin = t->at;
    thrift_type type;

    if (field->type == THRIFT_LIST) {
        uint64_t n = thrift_count(t, &type);
        if (n == 0 || type == of)
            return n;
        t->at = begin;
    }
    thrift_skip(t, field->type);
    return 0;
}
