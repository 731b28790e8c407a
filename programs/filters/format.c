/* format.c - how filters are opened: with which secret, and in which format.
 *
 * A program opens all filters in one format, or detects each one's from its
 * bytes. secret.c stores the secret here.
 */
#include "filters/filters.h"
#include "frame/nearest.h"
#include "frame/progress.h"

#include <bloomery/foreign.h>
#include <string.h>

bly_options *format_how(void)
{
    static bly_options how;

    how.progress = progress_library();
    return &how;
}

const bly_format_info *format_of(const char *kind)
{
    const bly_format_info *const *formats = bly_formats(NULL);

    while (*formats != NULL && strcmp((*formats)->kind->name, kind) != 0)
        formats++;
    return *formats;
}

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
        return report_error("unknown format '%.40s': 'bloomery formats' lists "
                            "them", name);
    return report_error("unknown format '%.40s': did you mean '%s'? 'bloomery "
                        "formats' lists them", name, nearest.name);
}
