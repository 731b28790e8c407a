/* names.c - the last error's message, with the names of one language. */
#include "base/names.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

/* The languages, in the order of the table. NAMES_JAVASCRIPT leaves out all but
 * C and JavaScript: web pages download the library. */
static const char *const names_languages[] = {
#ifdef NAMES_JAVASCRIPT
    "c", "javascript"
#define NAMES_ROW(purpose, c, cpp, python, sqlite, pg, javascript, ...) \
    { c, javascript },
#else
    "c", "c++", "python", "sqlite", "postgresql", "javascript", "rust", "go",
    "redis", "command"
#define NAMES_ROW(purpose, ...) { __VA_ARGS__ },
#endif
};

enum { NAMES_C,
       NAMES_LANGUAGES = sizeof names_languages / sizeof *names_languages };

static const char *const names_rows[][NAMES_LANGUAGES] = {
    NAMES_TABLE(NAMES_ROW)
};

/* Returns the name of a function of C in a language; "" if it has none. */
static const char *names_find(const char *name, size_t length, size_t language)
{
    for (size_t i = 0; i < sizeof names_rows / sizeof *names_rows; i++)
        if (strlen(names_rows[i][NAMES_C]) == length
            && memcmp(names_rows[i][NAMES_C], name, length) == 0)
            return names_rows[i][language];
    return "";
}

static void names_append(char *text, size_t room, const char *more, size_t n)
{
    size_t length = strlen(text);
    size_t fit = n < room - length - 1 ? n : room - length - 1;
    memcpy(text + length, more, fit);
    text[length + fit] = '\0';
}

const char *bly_why_in(const char *language)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_."
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static _Thread_local char text[sizeof ((status_kept *)0)->text];
    const char *rest = bly_why(), *at;
    size_t l = 0;
    while (l < NAMES_LANGUAGES && strcmp(names_languages[l], language) != 0)
        l++;
    if (l == NAMES_C)
        return rest;
    text[0] = '\0';
    for (const char *from = rest; (at = strstr(from, " (")) != NULL; ) {
        size_t n = strspn(at + 2, letters);
        from = at + 2;
        if ((strncmp(from, "bly_", 4) != 0 && strncmp(from, "BLY_", 4) != 0)
            || from[n] != ')')
            continue;
        from += n;
        const char *name = l < NAMES_LANGUAGES ? names_find(at + 2, n, l) : "";
        names_append(text, sizeof text, rest, (size_t)(at - rest));
        if (*name != '\0') {
            names_append(text, sizeof text, " (", 2);
            names_append(text, sizeof text, name, strlen(name));
            names_append(text, sizeof text, ")", 1);
        }
        rest = from + 1;
    }
    names_append(text, sizeof text, rest, strlen(rest));
    return text;
}
