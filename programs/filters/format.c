/* format.c - how filters are opened: with which secret, and in which format.
 *
 * A program opens filters of one format, or of what their bytes tell. Floor 8;
 * includes filters.h and <bloomery/foreign.h> only.
 */
#include "filters/filters.h"

#include <bloomery/foreign.h>
#include <string.h>

int format_check(const char *name)
{
    size_t n, length = strcspn(name, ":");
    const bly_format_info *const *formats = bly_formats(&n);
    cli_nearest nearest = nearest_to(name, length);

    if (strcmp(name, "bloomery") == 0)
        return CLI_GO;
    for (size_t i = 0; i < n; i++) {
        if (strlen(formats[i]->kind->name) == length
            && memcmp(formats[i]->kind->name, name, length) == 0)
            return CLI_GO;
        nearest_try(&nearest, formats[i]->kind->name);
    }
    if (nearest.name == NULL)
        return report_error("there is no format '%.40s': 'bloomery formats' "
                            "lists them", name);
    return report_error("there is no format '%.40s': did you mean '%s'? "
                        "'bloomery formats' lists them", name, nearest.name);
}

int filter_how_read(const char *key_file, const char *format)
{
    if (secret_read(key_file) != CLI_GO
        || (format != NULL && format_check(format) != CLI_GO))
        return CLI_ERROR;
    filter_how()->format = format;
    return CLI_GO;
}
