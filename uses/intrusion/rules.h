/* rules.h - reads signatures from a list: plain texts, bytes in hexadecimal,
 * and the contents of rules as Snort and Suricata write them.
 *
 * Only `content` and `nocase` of a rule are used. Options that merely describe
 * the rule change nothing. All others restrict or change what the rule matches;
 * they are counted by name, so that none is ignored silently.
 */
#ifndef RULES_H
#define RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned char *bytes;               /* in lower case if nocase           */
    size_t         n;
    char          *text;                /* as written                        */
    bool           nocase;
} signature;

typedef struct { char *name; unsigned long n; } unused_option;

#define NO_TEXT "rules without a text"

static signature *list;
static size_t signatures;
static unused_option *unused;           /* options that the search ignores   */
static size_t unused_names;

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* Grows an array by one element; ends the program if memory is short. */
static void *rules_grow(void *array, size_t n, size_t bytes)
{
    void *larger = realloc(array, (n + 1) * bytes);
    if (larger != NULL)
        return larger;
    fprintf(stderr, "intrusion: the signatures: out of memory\n");
    exit(2);
}

/* Decodes text with hexadecimal digits between bars up to its end or, if it is
 * quoted, to the closing quote. Returns where it ends, or NULL if it is
 * malformed. */
static char *decode(signature *s, char *text, bool quoted)
{
    bool hex = false;
    for (; *text != '\0' && !(quoted && *text == '"'); text++) {
        if (*text == '|') {
            hex = !hex;
        } else if (!hex) {
            text += quoted && *text == '\\' && text[1] != '\0';
            s->bytes[s->n++] = (unsigned char)*text;
        } else if (*text != ' ') {
            if (strspn(text, "0123456789abcdefABCDEF") < 2 ||
                sscanf(text++, "%2hhx", &s->bytes[s->n++]) != 1)
                return NULL;
        }
    }
    return hex || s->n == 0 || (quoted && *text == '\0') ? NULL : text;
}

/* Adds a signature. Returns the number of bytes that it takes in the line, or 0
 * if it is malformed. */
static size_t keep(const char *text, bool quoted)
{
    size_t n = 0;                       /* up to the quote only              */
    while (text[n] != '\0' && !(quoted && text[n] == '"'))
        n += quoted && text[n] == '\\' && text[n + 1] != '\0' ? 2 : 1;
    signature s = { .bytes = rules_grow(NULL, n, 1),
                    .text = rules_grow(NULL, n + 1, 1) };
    memcpy(s.text, text, n);
    s.text[n] = text[n];
    s.text[n + 1] = '\0';
    char *end = decode(&s, s.text, quoted);
    list = rules_grow(list, signatures, sizeof *list);
    list[signatures++] = s;
    if (end != NULL)
        *end = '\0';
    return end != NULL ? n : 0;
}

/* ---- Options of rules ---------------------------------------------------- */

static bool is_word(const char *word, const char *name, size_t n)
{
    return strlen(word) == n && memcmp(word, name, n) == 0;
}

static void count_unused(const char *name, size_t n)
{
    for (size_t i = 0; i < unused_names; i++)
        if (is_word(unused[i].name, name, n)) {
            unused[i].n++;
            return;
        }
    unused = rules_grow(unused, unused_names, sizeof *unused);
    unused[unused_names] = (unused_option){ rules_grow(NULL, n, 1), 1 };
    memcpy(unused[unused_names].name, name, n);
    unused[unused_names++].name[n] = '\0';
}

/* Reads one option or one modifier; `in` is the content before it, or NULL if
 * that is not searched for. */
static void read_option(const char *name, size_t n, signature *in)
{
    static const char *const described[] = {
        "msg", "sid", "rev", "gid", "classtype", "reference", "priority",
        "metadata", "target", "fast_pattern", "rem",
    };
    bool nocase = is_word("nocase", name, n), known = nocase || n == 0;
    for (size_t i = 0; i < sizeof described / sizeof *described; i++)
        known = known || is_word(described[i], name, n);
    if (nocase && in != NULL)
        in->nocase = true;
    if (!known)
        count_unused(name, n);
}

/* Returns where the value of an option ends: at its semicolon, if that is not
 * in quotes, or at the end of the line. */
static const char *value_end(const char *at)
{
    for (bool quoted = false; *at != '\0' && (quoted || *at != ';'); at++) {
        if (*at == '\\' && at[1] != '\0')
            at++;
        else if (*at == '"')
            quoted = !quoted;
    }
    return at;
}

/* Reads the value of a `content`, with the modifiers that Snort 3 has in it.
 * *found: it is searched for. false: it is malformed. */
static bool read_content(const char *at, const char *end, bool *found)
{
    *found = false;
    at += strspn(at, " \t");
    if (*at == '!') {                   /* a text that must be absent        */
        count_unused("content:!", strlen("content:!"));
        return true;
    }
    if (*at != '"')
        return false;
    size_t n = keep(++at, true);
    if (n == 0)
        return false;
    *found = true;
    for (at += n + 1; at < end && *at == ','; ) {
        at += 1 + strspn(at + 1, " \t");
        size_t name = strcspn(at, " \t,;)");
        read_option(at, name, &list[signatures - 1]);
        at += strcspn(at, ",;");
    }
    return true;
}

/* Reads the options of a rule. false: one is malformed. */
static bool read_options(const char *at)
{
    bool texts = false, found = false;
    for (at += strspn(at, " \t"); *at != '\0' && *at != ')';
         at += strspn(at, "; \t")) {
        size_t n = strcspn(at, ":;) \t");
        const char *value = at + n + strspn(at + n, " \t");
        const char *end = value_end(value);
        if (is_word("content", at, n)) {
            if (*value != ':' || !read_content(value + 1, end, &found))
                return false;
            texts = texts || found;
        } else {
            read_option(at, n, found ? &list[signatures - 1] : NULL);
        }
        at = end;
    }
    if (!texts)
        count_unused(NO_TEXT, strlen(NO_TEXT));
    return true;
}

/* Returns whether a line is a rule and not a text. */
static bool is_rule(const char *line)
{
    return strstr(line, "content:") != NULL ||
           (strchr(line, '(') != NULL &&
            (strstr(line, "sid:") != NULL || strstr(line, " -> ") != NULL ||
             strstr(line, " <> ") != NULL));
}

/* Reads a line of the list. Returns NULL, or the error. */
static const char *read_line(char *line)
{
    static const char form[] = "a text is wanted, or hex digits in pairs "
                               "between bars";
    size_t n = strlen(line);
    while (n > 0 && strchr("\r\n", line[n - 1]) != NULL)
        line[--n] = '\0';
    if (n == 0 || *line == '#')
        return NULL;
    size_t before = signatures;
    if (!is_rule(line))
        return keep(line, false) > 0 ? NULL : form;
    const char *options = strchr(line, '('), *quote = strchr(line, '"');
    bool bare = options == NULL || (quote != NULL && quote < options);
    while (n > 0 && strchr(" \t", line[n - 1]) != NULL)
        n--;
    if (!bare && line[n - 1] != ')')
        return "a rule is one line, and ends with a closing bracket";
    if (!read_options(bare ? line : options + 1))
        return form;
    for (; before < signatures; before++)
        for (size_t i = 0; i < list[before].n && list[before].nocase; i++)
            list[before].bytes[i] = lower(list[before].bytes[i]);
    return NULL;
}

/* Lists the options that are not used, in one line. */
static void tell_unused(const char *path, bool strict)
{
    fprintf(stderr, "intrusion: %s: options that are not supported, and how "
            "often:", path);
    for (size_t i = 0; i < unused_names; i++)
        fprintf(stderr, " %s %lu%s", unused[i].name, unused[i].n,
                i + 1 < unused_names ? "," : "");
    fprintf(stderr, strict ? ": refused by --strict\n"
            : ": texts are found as if these were not there\n");
}

#endif
