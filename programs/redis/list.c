/* list.c - prints the module's commands as a table in Markdown, for
 * docs/reference/redis.md. */
#include <stdio.h>

#include "redis/module.h"

static void list_capitals(const char *text)
{
    for (; *text != '\0'; text++)
        putchar(*text >= 'a' && *text <= 'z' ? *text - ('a' - 'A') : *text);
}

/* Escapes bars, which would end the column. */
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
    for (const command *const *family = module_families; *family != NULL;
         family++)
        list_family(*family);
    return 0;
}
