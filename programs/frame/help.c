/* help.c - prints --help and man pages from the tables of the subcommands.
 *
 * The only source is cli_command with its options and examples. Help is text of
 * at most 78 columns; man pages are roff with the macros of man(7).
 */
#include "frame/help.h"

#include "frame/output.h"
#include "frame/rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    HELP_WIDTH = 78, HELP_COLUMN = 24,
    HELP_RULES = 1024, HELP_OPTION = 4096       /* bytes of text */
};

static const cli_option help_itself = {
    'h', "help", NULL, CLI_FLAG, 0, false, "Print this text."
};

/* ==== Filled text ======================================================= */

/* Counts the columns of UTF-8 text: bytes that begin a character. */
static size_t help_columns(const char *text, size_t length)
{
    size_t n = 0;

    for (size_t i = 0; i < length; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

static void help_newline(size_t indent)
{
    output_format("\n%*s", (int)indent, "");
}

/* Print words from column `at` on, breaking lines with an indent; an empty
 * line in the text stays one. Ends with a newline. */
static void help_fill(const char *text, size_t indent, size_t at)
{
    bool first = true;

    while (*text != '\0') {
        size_t length = strcspn(text, " \n"), wide;

        wide = help_columns(text, length);
        if (!first && at + 1 + wide > HELP_WIDTH) {
            help_newline(indent);
            at = indent;
        } else if (!first) {
            output_text(" ");
            at++;
        }
        output_bytes(text, length);
        at += wide;
        first = false;
        text += length;
        if (text[0] == '\n' && text[1] == '\n') {
            output_text("\n");
            help_newline(indent);
            at = indent;
            first = true;
        }
        while (isspace((unsigned char)*text))
            text++;
    }
    output_text("\n");
}

/* ==== The synopsis ====================================================== */

static void help_append(char *text, size_t room, const char *more)
{
    size_t used = strlen(text);

    snprintf(text + used, room - used, "%s", more);
}

/* Prints "[-0v]": the flags that have a letter, together. */
static void help_flags(const cli_option *o, char *text, size_t room)
{
    char letters[32] = "";
    size_t n = 0;

    for (; o->name != NULL && n + 1 < sizeof letters; o++)
        if (o->value == NULL && o->letter != 0)
            letters[n++] = o->letter;
    letters[n] = '\0';
    if (n == 0)
        return;
    help_append(text, room, " [-");
    help_append(text, room, letters);
    help_append(text, room, "]");
}

/* Writes one option. \037 stands for a blank at which the line must not
 * break. */
static void help_synopsis_option(const cli_option *o, char *text, size_t room)
{
    char one[80];

    if (o->value == NULL && o->letter != 0)
        return;
    if (o->value == NULL)
        snprintf(one, sizeof one, "--%s", o->name);
    else if (o->letter != 0)
        snprintf(one, sizeof one, "-%c\037%s", o->letter, o->value);
    else
        snprintf(one, sizeof one, "--%s\037%s", o->name, o->value);
    help_append(text, room, o->required ? " " : " [");
    help_append(text, room, one);
    help_append(text, room, o->required ? "" : "]");
}

/* Writes everything that follows "bloomery CMD". */
static void help_synopsis(const cli_command *c, char *text, size_t room)
{
    text[0] = '\0';
    help_flags(c->options, text, room);
    for (const cli_option *o = c->options; o->name != NULL; o++)
        help_synopsis_option(o, text, room);
    help_append(text, room, " ");
    help_append(text, room, c->operands);
}

/* ==== --help ============================================================ */

static void help_usage(const cli_command *c)
{
    char synopsis[1024], line[1200];
    size_t indent = strlen("Usage:   ") + strlen(report_program->name)
                  + strlen(c->name);

    help_synopsis(c, synopsis, sizeof synopsis);
    snprintf(line, sizeof line, "Usage: %s %s", report_program->name, c->name);
    output_text(line);
    for (char *word = strtok(synopsis, " "); word != NULL;
         word = strtok(NULL, " ")) {
        size_t length = strlen(word);

        if (strlen(line) + 1 + length > HELP_WIDTH) {
            help_newline(indent - 1);
            snprintf(line, sizeof line, "%*s", (int)indent - 1, "");
        }
        snprintf(line + strlen(line), sizeof line - strlen(line), " %s", word);
        for (char *c1 = word; *c1 != '\0'; c1++)
            if (*c1 == '\037')
                *c1 = ' ';
        output_format(" %s", word);
    }
    output_text("\n\n");
}

/* Prints "  -k, --kind KIND      text of the option, filled", and the options
 * that it excludes or needs. */
static void help_option(const cli_command *c, const cli_option *o)
{
    char head[80], text[HELP_OPTION], rules[HELP_RULES];
    size_t length;

    if (o->letter != 0)
        snprintf(head, sizeof head, "  -%c, --%s", o->letter, o->name);
    else
        snprintf(head, sizeof head, "      --%s", o->name);
    if (o->value != NULL) {
        help_append(head, sizeof head, " ");
        help_append(head, sizeof head, o->value);
    }
    length = strlen(head);
    rules_text(c, o, rules, sizeof rules);
    snprintf(text, sizeof text, "%s %s", o->help, rules);
    output_text(head);
    if (length + 2 > HELP_COLUMN) {
        help_newline(HELP_COLUMN);
        length = HELP_COLUMN;
    }
    output_format("%*s", (int)(HELP_COLUMN - length), "");
    help_fill(text, HELP_COLUMN, HELP_COLUMN);
}

static void help_examples(const cli_example *example)
{
    output_text("\nExamples:\n");
    for (; example->command != NULL; example++) {
        output_format("  %s\n      ", example->command);
        help_fill(example->what, 6, 6);
    }
}

bool help_text(const cli_command *c)
{
    help_usage(c);
    help_fill(c->text, 0, 0);
    output_text("\nOptions:\n");
    for (const cli_option *o = c->options; o->name != NULL; o++)
        help_option(c, o);
    help_option(c, &help_itself);
    help_examples(c->examples);
    output_text("\nExit status: ");
    help_fill(c->status, 0, strlen("Exit status: "));
    return !output_failed();
}

bool help_overview(void)
{
    output_format("Usage: %s COMMAND [OPTIONS] [OPERANDS]\n\n",
                  report_program->name);
    help_fill(report_program->text, 0, 0);
    output_text("\nCommands:\n");
    for (const cli_command *const *c = report_program->commands; *c != NULL;
         c++)
        output_format("  %-10s %s\n", (*c)->name, (*c)->summary);
    output_format(
        "\nOptions:\n"
        "  -h, --help     Print this text.\n"
        "  -V, --version  Print the version; with --verbose, how the processor "
        "is used.\n"
        "\n'%s help COMMAND' describes one of them. A first try:\n",
        report_program->name);
    output_text(report_program->first);
    return !output_failed();
}

/* ==== Man pages ========================================================= */

/* Prints text for roff, which gives a meaning to backslashes, to plain hyphens,
 * and to dots and quotes at the start of a line. \037 becomes a blank that does
 * not break. */
static void help_roff_text(const char *text)
{
    bool line_start = true;

    for (; *text != '\0'; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            output_text("\\&");
        line_start = *text == '\n';
        if (*text == '\\')
            output_text("\\e");
        else if (*text == '-')
            output_text("\\-");
        else if (*text == '\037')
            output_text("\\ ");
        else
            output_bytes(text, 1);
    }
}

static void help_roff_paragraphs(const char *text)
{
    const char *gap;

    while ((gap = strstr(text, "\n\n")) != NULL) {
        char part[2048];

        snprintf(part, sizeof part, "%.*s", (int)(gap - text), text);
        help_roff_text(part);
        output_text("\n.PP\n");
        text = gap + 2;
    }
    help_roff_text(text);
    output_text("\n");
}

static void help_roff_title(const char *page, const char *summary)
{
    output_text(".TH ");
    for (const char *s = page; *s != '\0'; s++)
        output_format("%c", toupper((unsigned char)*s));
    output_format(" 1 \"\" \"bloomery %s\" \"Bloomery\"\n",
                  report_program->version);
    output_text(".SH NAME\n");
    help_roff_text(page);
    output_text(" \\- ");
    help_roff_text(summary);
    output_text("\n.SH SYNOPSIS\n");
}

static void help_roff_option(char letter, const char *name, const char *value,
                             const char *help)
{
    output_text(".TP\n");
    if (letter != 0)
        output_format("\\fB\\-%c\\fR, ", letter);
    output_text("\\fB\\-\\-");
    help_roff_text(name);
    output_text("\\fR");
    if (value != NULL)
        output_format(" \\fI%s\\fR", value);
    output_text("\n");
    help_roff_text(help);
    output_text("\n");
}

/* A line of its own, by which the tests find what to try. */
static void help_roff_rules(const cli_command *c, const cli_option *o)
{
    char rules[HELP_RULES];

    rules_text(c, o, rules, sizeof rules);
    if (*rules == '\0')
        return;
    help_roff_text(rules);
    output_text("\n");
}

static void help_roff_examples(const cli_example *example)
{
    output_text(".SH EXAMPLES\n");
    for (; example->command != NULL; example++) {
        output_text(".TP\n\\fB");
        help_roff_text(example->command);
        output_text("\\fR\n");
        help_roff_text(example->what);
        output_text("\n");
    }
}

bool help_roff(const cli_command *c)
{
    char page[64], synopsis[1024];

    snprintf(page, sizeof page, "%s-%s", report_program->name, c->name);
    help_synopsis(c, synopsis, sizeof synopsis);
    help_roff_title(page, c->summary);
    output_text("\\fB");
    help_roff_text(report_program->name);
    output_format(" %s\\fR", c->name);
    help_roff_text(synopsis);
    output_text("\n.SH DESCRIPTION\n");
    help_roff_paragraphs(c->text);
    output_text(".SH OPTIONS\n");
    for (const cli_option *o = c->options; o->name != NULL; o++) {
        help_roff_option(o->letter, o->name, o->value, o->help);
        help_roff_rules(c, o);
    }
    help_roff_option('h', "help", NULL, "Print a help text.");
    help_roff_examples(c->examples);
    output_text(".SH EXIT STATUS\n");
    help_roff_text(c->status);
    output_text("\n.SH SEE ALSO\n.BR ");
    help_roff_text(report_program->name);
    output_text(" (1)\n");
    return !output_failed();
}

/* The last ".BR" of SEE ALSO has no comma. */
static void help_roff_also(void)
{
    output_text(".SH SEE ALSO\n");
    for (const cli_command *const *c = report_program->commands; *c != NULL;
         c++) {
        output_text(".BR ");
        help_roff_text(report_program->name);
        output_format("\\-%s (1)%s\n", (*c)->name, c[1] != NULL ? "," : "");
    }
}

static void help_roff_environment(void)
{
    const cli_example *variable = report_program->environment;

    if (variable == NULL)
        return;
    output_text(".SH ENVIRONMENT\n");
    for (; variable->command != NULL; variable++) {
        output_format(".TP\n\\fB%s\\fR\n", variable->command);
        help_roff_text(variable->what);
        output_text("\n");
    }
}

bool help_overview_roff(void)
{
    help_roff_title(report_program->name, report_program->summary);
    output_text("\\fB");
    help_roff_text(report_program->name);
    output_text("\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIOPERANDS\\fR]"
                "\n.SH DESCRIPTION\n");
    help_roff_paragraphs(report_program->text);
    output_text(".SH COMMANDS\n");
    for (const cli_command *const *c = report_program->commands; *c != NULL;
         c++) {
        output_text(".TP\n\\fB");
        help_roff_text(report_program->name);
        output_format(" %s\\fR\n", (*c)->name);
        help_roff_text((*c)->summary);
        output_text("\n");
    }
    output_text(".SH OPTIONS\n");
    help_roff_option('h', "help", NULL, "Print a help text.");
    help_roff_option('V', "version", NULL, "Print the version; with "
                     "--verbose, how the processor is used.");
    output_text(".SH EXIT STATUS\n");
    help_roff_paragraphs(report_program->status);
    help_roff_environment();
    help_roff_also();
    return !output_failed();
}
