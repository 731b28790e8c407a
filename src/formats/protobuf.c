/* protobuf.c - messages of Protocol Buffers, read from memory. */
#include "formats/protobuf.h"

#include "image/image.h"

enum { PROTOBUF_VARINT, PROTOBUF_64, PROTOBUF_BYTES, PROTOBUF_32 = 5 };

void protobuf_fail(protobuf *p)
{
    if (p->bad == NULL)
        p->bad = p->at;
    p->at = p->end;
}

/* Reads a varint of at most 64 bits, in 10 bytes. */
static uint64_t protobuf_varint(protobuf *p)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && p->at < p->end; shift += 7) {
        uint8_t byte = *p->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
    protobuf_fail(p);
    return 0;
}

/* Passes n bytes, and returns where they are, or NULL. */
static const uint8_t *protobuf_pass(protobuf *p, uint64_t n)
{
    const uint8_t *from = p->at;
    if (n > (uint64_t)(p->end - p->at)) {
        protobuf_fail(p);
        return NULL;
    }
    p->at += n;
    return from;
}

bool protobuf_next(protobuf *p, protobuf_field *field)
{
    if (p->at == p->end)
        return false;
    uint64_t tag = protobuf_varint(p);
    unsigned type = tag & 7;
    *field = (protobuf_field){ .id = tag >> 3,
                               .is_number = type != PROTOBUF_BYTES };
    if (type == PROTOBUF_VARINT) {
        field->number = protobuf_varint(p);
    } else if (type == PROTOBUF_BYTES) {
        uint64_t n = protobuf_varint(p);
        field->bytes = protobuf_pass(p, n);
        field->n = field->bytes != NULL ? (size_t)n : 0;
    } else if (type == PROTOBUF_64 || type == PROTOBUF_32) {
        size_t width = type == PROTOBUF_64 ? 8 : 4;
        const uint8_t *from = protobuf_pass(p, width);
        if (from != NULL)
            field->number = width == 8 ? image_u64(from, 0)
                                       : image_u32(from, 0);
    } else {
        protobuf_fail(p);
    }
    if (field->id == 0)
        protobuf_fail(p);
    return p->bad == NULL;
}

protobuf protobuf_within(const protobuf_field *field)
{
    bool empty = field->bytes == NULL;
    return (protobuf){ .at = field->bytes,
                       .end = empty ? NULL : field->bytes + field->n };
}

bool protobuf_packed(protobuf *p, protobuf_field *field, uint64_t *out)
{
    protobuf within = protobuf_within(field);
    if (!field->is_number && within.at == within.end)
        return false;
    *out = field->is_number ? field->number : protobuf_varint(&within);
    field->is_number = false;
    field->n = (size_t)(within.end - within.at);
    field->bytes = field->n > 0 ? within.at : NULL;
    if (within.bad != NULL)
        protobuf_fail(p);
    return p->bad == NULL;
}
