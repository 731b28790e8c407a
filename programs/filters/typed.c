/* typed.c - compares the form of keys with the type that a format's option
 * `type` names, as in "rustbloom:type=int".
 *
 * Files of these formats do not record the type of their keys, which decides
 * what is hashed. Keys that cannot be of the type would all seem to be absent.
 */
#include "filters/filters.h"

#include <bloomery/foreign.h>
#include <stdio.h>
#include <string.h>

bool typed_is_told(const char *kind)
{
    const bly_format_info *format = format_of(kind);

    return format != NULL && format->told != 0;
}

/* Returns the values of the option `type`, "str | bytes | int", or NULL. */
static const char *typed_values(const bly_kind_info *kind)
{
    const bly_option_info *const *option = kind->options;

    while (*option != NULL && strcmp((*option)->name, "type") != 0)
        option++;
    return *option != NULL ? (*option)->range : NULL;
}

/* Returns the name of the type in a geometry. */
static cli_text typed_name(const bly_format_info *format, const char *values,
                           const uint64_t geometry[4])
{
    cli_text name;
    size_t field = 0;

    while (field < 3 && (format->numbers[field].name == NULL
                         || strcmp(format->numbers[field].name, "type") != 0))
        field++;
    for (uint64_t i = 0; i < geometry[field]; i++)
        values += strcspn(values, "|") + strlen("| ");
    snprintf(name.text, sizeof name.text, "%.*s", (int)strcspn(values, " "),
             values);
    return name;
}

static bool typed_is_whole(uint64_t class)
{
    return class == BLY_KEYS_INT32 || class == BLY_KEYS_INT64;
}

static bool typed_is_real(uint64_t class)
{
    return class == BLY_KEYS_FLOAT || class == BLY_KEYS_DOUBLE;
}

/* Returns whether keys of the class can be of the type. Bytes, perhaps written
 * in hexadecimal digits, can be of any, and a whole number has the bytes of an
 * int64. */
static bool typed_fits(const char *type, uint64_t class)
{
    if (class == BLY_KEYS_BYTES || class == BLY_KEYS_HEX
        || strcmp(type, "bytes") == 0)
        return true;
    return strcmp(type, "int") == 0 ? typed_is_whole(class)
                                      || class == BLY_KEYS_NUMBER
         : strcmp(type, "double") == 0 ? typed_is_real(class)
         : !typed_is_whole(class) && !typed_is_real(class)
           && class != BLY_KEYS_NUMBER;
}

/* Returns the type that keys of the class need, or NULL if no type is one. */
static const char *typed_needed(const char *values, uint64_t class)
{
    const char *needed = typed_is_whole(class) ? "int"
                       : typed_is_real(class) ? "double" : "bytes";

    return strstr(values, needed) != NULL ? needed
         : strstr(values, "bytes") != NULL ? "bytes" : NULL;
}

bool typed_against(const char *kind, const uint64_t geometry[4], uint64_t form,
                   char *why, size_t room)
{
    const bly_format_info *format = format_of(kind);
    const char *values = format != NULL ? typed_values(format->kind) : NULL;
    uint64_t class = form & BLY_FORM_CLASS;
    const char *needed;
    cli_text type;

    if (values == NULL)
        return false;
    type = typed_name(format, values, geometry);
    needed = typed_needed(values, class);
    if (typed_fits(type.text, class))
        return false;
    snprintf(why, room, "%s has no keys of the form %s with type=%s: use "
             "%s%s%s%s('bloomery kinds %s' explains the types)", kind,
             forms_name(class).text, type.text,
             needed != NULL ? kind : "another --as ",
             needed != NULL ? ":type=" : "", needed != NULL ? needed : "",
             needed != NULL ? " or another --as " : "", kind);
    return true;
}

int typed_check(const bly_filter *filter, uint64_t form, const char *path)
{
    char why[TYPED_ROOM];
    bly_header header;

    bly_header_of(&header, filter);
    if (typed_against(header.kind, header.geometry, form, why, sizeof why))
        return report_error("'%s': %s", path, why);
    return CLI_GO;
}
