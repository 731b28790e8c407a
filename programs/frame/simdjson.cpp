// simdjson.cpp - the module that finds members of JSON objects, with simdjson.
//
// It is a file of its own, which members.c loads when --json-field is given:
// simdjson is C++, and a command that is linked to it takes 2.0 ms to start and
// end instead of 1.0. Nothing else of the project is C++ behind plain C.
//
// On Demand walks through all members of the objects that NAME leads through,
// and steps over the values of others by their brackets and quotes. So a line
// that is cut, has something behind its object, or is not UTF-8 is known not to
// be JSON. members.c reads the values that were stepped over.
#include "frame/module.h"

#include <simdjson.h>

#include <cstdint>
#include <cstring>

using namespace simdjson;

static_assert(MEMBERS_PADDING >= SIMDJSON_PADDING, "room behind lines");

namespace {

// What of NAME is still to be followed.
struct rest {
    members_text name;
    bool pointer;
    bool tilde;                         // NAME has an escape of pointers
    members_same *same;
};

rest follow(members_text name, members_same *same)
{
    const bool pointer = name.at[0] == '/';

    return { name, pointer,
             pointer && memchr(name.at, '~', name.length) != nullptr, same };
}

// Cut the next part off: all of a plain name; of a pointer what stands between
// two slashes.
members_text step(rest &r)
{
    members_text part = r.name;

    if (!r.pointer) {
        r.name.length = 0;
        return part;
    }
    part.at++;
    part.length--;
    const void *slash = memchr(part.at, '/', part.length);
    if (slash != nullptr)
        part.length = size_t(static_cast<const char *>(slash) - part.at);
    r.name.at = part.at + part.length;
    r.name.length -= part.length + 1;
    return part;
}

// The place in an array that a part of a pointer is; false: it is none.
bool index_of(members_text part, uint64_t &index)
{
    if (part.length == 0 || part.length > 18
        || (part.length > 1 && part.at[0] == '0'))
        return false;
    index = 0;
    for (size_t i = 0; i < part.length; i++) {
        if (part.at[i] < '0' || part.at[i] > '9')
            return false;
        index = 10 * index + uint64_t(part.at[i] - '0');
    }
    return true;
}

// The text behind a quote, up to the next one, which simdjson has found.
members_text quoted(const char *at)
{
    size_t length = 0;

    while (at[length] != '"')
        length += at[length] == '\\' ? 2 : 1;
    return { at, length };
}

// Does the text behind this quote stand for the name?
bool is_named(const char *at, members_text name, const rest &r)
{
    const members_text text = quoted(at);

    return r.tilde || memchr(at, '\\', text.length) != nullptr
         ? r.same(text, name, r.pointer)
         : text.length == name.length && memcmp(at, name.at, text.length) == 0;
}

members_status in_value(ondemand::value value, rest r, members_text &out);

members_status in_object(ondemand::object object, rest r, members_text &out)
{
    const members_text part = step(r);
    members_status status = MEMBERS_NONE;

    for (auto member : object) {
        ondemand::field field;

        if (std::move(member).get(field) != SUCCESS)
            return MEMBERS_UNFIT;
        if (!is_named(field.key().raw(), part, r))
            continue;
        status = in_value(field.value(), r, out);
        if (status == MEMBERS_UNFIT)
            return status;
    }
    return status;
}

members_status in_array(ondemand::array array, rest r, members_text &out)
{
    const members_text part = step(r);
    members_status status = MEMBERS_NONE;
    uint64_t wanted = 0, at = 0;
    const bool any = index_of(part, wanted);

    for (auto element : array) {
        ondemand::value value;

        if (std::move(element).get(value) != SUCCESS)
            return MEMBERS_UNFIT;
        if (any && at++ == wanted)
            status = in_value(value, r, out);
        if (status == MEMBERS_UNFIT)
            return status;
    }
    return status;
}

bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

members_status in_value(ondemand::value value, rest r, members_text &out)
{
    ondemand::json_type type;
    ondemand::object object;
    ondemand::array array;

    if (value.type().get(type) != SUCCESS)
        return MEMBERS_UNFIT;
    if (type == ondemand::json_type::object && r.name.length > 0)
        return value.get_object().get(object) == SUCCESS
             ? in_object(object, r, out) : MEMBERS_UNFIT;
    if (type == ondemand::json_type::array && r.name.length > 0)
        return value.get_array().get(array) == SUCCESS
             ? in_array(array, r, out) : MEMBERS_UNFIT;
    if (r.name.length > 0 || type == ondemand::json_type::object
        || type == ondemand::json_type::array)
        return MEMBERS_NONE;
    const std::string_view text = value.raw_json_token();
    out = { text.data(), text.size() };
    while (out.length > 0 && is_blank(out.at[out.length - 1]))
        out.length--;
    return MEMBERS_FOUND;
}

// One for each thread. It keeps its room, which grows by doubling as long as it
// is small.
members_status open_line(members_text line, ondemand::document &document)
{
    static thread_local ondemand::parser parser;
    error_code error = SUCCESS;

    if (line.length > parser.capacity())
        error = parser.allocate(line.length < 1 << 20 ? 2 * line.length
                                                      : line.length);
    if (error == SUCCESS)
        error = parser.iterate(line.at, line.length,
                               line.length + SIMDJSON_PADDING).get(document);
    return error == SUCCESS ? MEMBERS_FOUND
         : error == EMPTY ? MEMBERS_BLANK
         : error == MEMALLOC || error == CAPACITY ? MEMBERS_NO_MEMORY
         : MEMBERS_UNFIT;
}

members_status find(members_text line, members_text name, members_same *same,
                    members_text *value)
{
    ondemand::document document;
    ondemand::object object;
    members_status status = open_line(line, document);

    if (status != MEMBERS_FOUND)
        return status;
    if (document.get_object().get(object) != SUCCESS)
        return MEMBERS_UNFIT;
    status = in_object(object, follow(name, same), *value);
    return document.current_location().error() == OUT_OF_BOUNDS
         ? status : MEMBERS_UNFIT;         // there is more
}

void list(members_text line, int (*each)(void *to, members_text quoted),
          void *to)
{
    ondemand::document document;
    ondemand::object object;

    if (open_line(line, document) != MEMBERS_FOUND
        || document.get_object().get(object) != SUCCESS)
        return;
    for (auto member : object) {
        ondemand::field field;

        if (std::move(member).get(field) != SUCCESS
            || !each(to, quoted(field.key().raw())))
            return;
    }
}

}

extern "C" __attribute__((visibility("default")))
const members_functions bloomery_json_2 = { find, list };
