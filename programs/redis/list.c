/* list.c - the module's commands as a table in Markdown, for docs/redis.md.
 *
 * Floor 8 (programs); includes module.h only.
 */
#include <stdio.h>

#include "redis/module.h"

static void list_capitals(const char *text)
{
    for (; *text != '\0'; text++)
        putchar(*text >= 'a' && *text <= 'z' ? *text - ('a' - 'A') : *text);
}

/* A bar would end the column. */
static void list_syntax(const char *text)
{
    for (; *text != '\0'; text++)
        printf(*text == '|' ? "\\|" : "%c", *text);
}

static void list_family(const command *commands)
{
    for (; commands->name != NULL; commands++) {
        printf("| `");
        list_capitals(commands->name);
        printf("` | ");
        list_syntax(commands->syntax);
        printf(" | %s |\n", commands->summary);
    }
}

int main(void)
{
    printf("| command | arguments | |\n|---|---|---|\n");
    list_family(bf_commands);
    list_family(cf_commands);
    list_family(bly_commands);
    list_family(sets_commands);
    return 0;
}
