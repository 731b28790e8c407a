/* rules.c - options that exclude or need others, from the option tables:
 * options.c refuses by them, help.c and completion.c show them.
 */
#include "frame/rules.h"

#include <stdio.h>
#include <string.h>

/* Returns whether a name is in a list of names with blanks between them. */
static bool rules_names(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t n = strcspn(at, " ");

        if (n == length && strncmp(at, name, n) == 0)
            return true;
        at += n + strspn(at + n, " ");
    }
    return false;
}

bool rules_exclude(const cli_option *a, const cli_option *b)
{
    return rules_names(a->excludes, b->name)
        || rules_names(b->excludes, a->name);
}

bool rules_need(const cli_option *one, const cli_option *other)
{
    return rules_names(one->needs, other->name);
}

void rules_list(const cli_command *command, const cli_option *one,
                bool related(const cli_option *, const cli_option *),
                const char *last, char *text, size_t room)
{
    size_t left = 0;

    for (const cli_option *o = command->options; o->name != NULL; o++)
        left += o != one && related(one, o);
    for (const cli_option *o = command->options; o->name != NULL; o++) {
        size_t used = strlen(text);

        if (o == one || !related(one, o))
            continue;
        left--;
        snprintf(text + used, room - used, "--%s%s", o->name,
                 left > 1 ? ", " : left == 1 ? last : "");
    }
}

void rules_text(const cli_command *command, const cli_option *option,
                char *text, size_t room)
{
    char excludes[RULES_MOST] = "", needs[RULES_MOST] = "";

    rules_list(command, option, rules_exclude, " and ", excludes,
               sizeof excludes);
    rules_list(command, option, rules_need, " or ", needs, sizeof needs);
    snprintf(text, room, "%s%s%s%s%s%s", *excludes ? "Excludes " : "",
             excludes, *excludes ? "." : "", *excludes && *needs ? " " : "",
             *needs ? "Needs " : "", needs);
    if (*needs)
        snprintf(text + strlen(text), room - strlen(text), ".");
}
