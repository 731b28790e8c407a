/* help.c - prints help and man pages from the tables of the program.
 *
 * The only source is cli_program with its commands, their options and examples,
 * and its topics. Help is text of at most 78 columns; man pages are roff with
 * the macros of man(7). A test reads -h of each command: at most 30 lines.
 */
#include "frame/help.h"

#include "frame/output.h"
#include "frame/rules.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    HELP_WIDTH = 78, HELP_COLUMN = 24,
    HELP_FEW = 8,               /* options that need no groups */
    HELP_RULES = 1024, HELP_OPTION = 4096, HELP_SYNOPSIS = 256  /* bytes */
};

static const cli_option help_itself = {
    'h', "help", NULL, CLI_FLAG, 0, false,
    "-h prints the usual options, --help everything."
};

static const cli_option help_program = {
    'h', "help", NULL, CLI_FLAG, 0, false,
    "-h prints examples and the names of the commands, --help everything."
};

static const cli_option help_version = {
    'V', "version", NULL, CLI_FLAG, 0, false,
    "Print the version and the parts that were built in; with --verbose, how "
    "the processor is used."
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

/* Writes everything that follows "bloomery CMD": required options, that there
 * are others, and operands. \037 stands for a blank at which the line must not
 * break. */
static void help_synopsis(const cli_command *c, char *text, size_t room)
{
    text[0] = '\0';
    for (const cli_option *o = c->options; o->name != NULL; o++) {
        size_t used = strlen(text);

        if (o->required)
            snprintf(text + used, room - used, " -%c\037%s", o->letter,
                     o->value);
    }
    snprintf(text + strlen(text), room - strlen(text), " [OPTIONS]%s%s",
             c->operands[0] != '\0' ? " " : "", c->operands);
}

static void help_usage(const cli_command *c)
{
    char synopsis[HELP_SYNOPSIS];

    help_synopsis(c, synopsis, sizeof synopsis);
    for (char *at = synopsis; *at != '\0'; at++)
        if (*at == '\037')
            *at = ' ';
    output_format("Usage: %s %s%s\n\n", report_program->name, c->name,
                  synopsis);
}

/* Prints the summary as a sentence. */
static void help_summary(const char *summary)
{
    output_format("%c%s.\n", toupper((unsigned char)*summary), summary + 1);
}

static void help_caution(const cli_command *c)
{
    if (c->caution != NULL)
        help_fill(c->caution, 0, 0);
}

/* Prints what the operands KEYS are. */
static void help_keys(const cli_command *c)
{
    if (strstr(c->operands, "[KEYS") != NULL)
        output_text("KEYS are files, one key per line. Default: standard "
                    "input.\n");
}

/* ==== Options =========================================================== */

/* Prints "  -k, --kind KIND      text, filled". */
static void help_option(const cli_option *o, const char *text)
{
    char head[80];
    size_t length;

    snprintf(head, sizeof head, "  %c%c%c --%s%s%s", o->letter != 0 ? '-' : ' ',
             o->letter != 0 ? o->letter : ' ', o->letter != 0 ? ',' : ' ',
             o->name, o->value != NULL ? " " : "",
             o->value != NULL ? o->value : "");
    length = strlen(head);
    output_text(head);
    if (length + 2 > HELP_COLUMN) {
        help_newline(HELP_COLUMN);
        length = HELP_COLUMN;
    }
    output_format("%*s", (int)(HELP_COLUMN - length), "");
    help_fill(text, HELP_COLUMN, HELP_COLUMN);
}

/* Prints an option with all of its text, and the options that it excludes or
 * needs. */
static void help_option_all(const cli_command *c, const cli_option *o)
{
    char text[HELP_OPTION], rules[HELP_RULES];

    rules_text(c, o, rules, sizeof rules);
    snprintf(text, sizeof text, "%s %s", o->help, rules);
    help_option(o, text);
}

/* Prints an option with its first sentence. */
static void help_option_short(const cli_option *o)
{
    char text[HELP_OPTION];
    const char *end = strstr(o->help, ". ");
    size_t length = end != NULL ? (size_t)(end + 1 - o->help) : strlen(o->help);

    snprintf(text, sizeof text, "%.*s", (int)length, o->help);
    help_option(o, text);
}

static size_t help_count(const cli_command *c)
{
    size_t n = 0;

    while (c->options[n].name != NULL)
        n++;
    return n;
}

static bool help_has(const cli_command *c, cli_group group)
{
    for (const cli_option *o = c->options; o->name != NULL; o++)
        if (o->group == group)
            return true;
    return group == CLI_OWN;
}

static const char *const help_groups[CLI_GROUPS] = {
    "Options", "Input", "Keys", "Output", "Speed", "Safety"
};

/* Prints all options under their headings, or a few under one. */
static void help_options(const cli_command *c)
{
    bool few = help_count(c) <= HELP_FEW;

    for (cli_group group = CLI_OWN; group < (few ? CLI_INPUT : CLI_GROUPS);
         group++) {
        if (!help_has(c, group))
            continue;
        output_format("\n%s:\n", help_groups[group]);
        for (const cli_option *o = c->options; o->name != NULL; o++)
            if (few || o->group == group)
                help_option_all(c, o);
        if (group == CLI_OWN)
            help_option(&help_itself, help_itself.help);
    }
}

/* Prints the options that -h shows. */
static void help_usual(const cli_command *c)
{
    const char *at = c->usual;

    output_text("\nUsual options:\n");
    while (*at != '\0') {
        size_t length = strcspn(at, " ");
        const cli_option *o = c->options;

        while (o->name != NULL && (strlen(o->name) != length
                                   || strncmp(o->name, at, length) != 0))
            o++;
        assert(o->name != NULL);
        help_option_short(o);
        at += length + strspn(at + length, " ");
    }
}

/* ==== --help and -h ===================================================== */

/* Prints up to `most` examples. */
static void help_examples(const cli_example *example, size_t most)
{
    output_text("\nExamples:\n");
    for (; example->command != NULL && most-- > 0; example++) {
        output_format("  %s\n      ", example->command);
        help_fill(example->what, 6, 6);
    }
}

bool help_short(const cli_command *c)
{
    help_usage(c);
    help_summary(c->summary);
    help_caution(c);
    help_keys(c);
    help_examples(c->examples, 2);
    if (*c->usual != '\0')
        help_usual(c);
    output_format("\n%s %s --help: everything\n", report_program->name,
                  c->name);
    return !output_failed();
}

bool help_text(const cli_command *c)
{
    help_usage(c);
    help_summary(c->summary);
    help_examples(c->examples, SIZE_MAX);
    output_text("\n");
    if (c->caution != NULL) {
        help_caution(c);
        output_text("\n");
    }
    help_fill(c->text, 0, 0);
    help_options(c);
    output_text("\nExit status: ");
    help_fill(c->status, 0, strlen("Exit status: "));
    return !output_failed();
}

/* ==== The program as a whole ============================================ */

/* Returns the heading above a command, or NULL. */
static const char *help_title(const cli_command *c)
{
    const cli_heading *heading = report_program->headings;

    for (; heading != NULL && heading->title != NULL; heading++)
        if (heading->first == c)
            return heading->title;
    return NULL;
}

static void help_topics(void)
{
    const cli_topic *topic = report_program->topics;

    if (topic == NULL)
        return;
    output_format("\nTopics (%s help TOPIC):\n", report_program->name);
    for (; topic->name != NULL; topic++)
        output_format("  %-12s %s\n", topic->name, topic->summary);
}

/* Prints the names of the commands of a heading, from *c on, and returns the
 * first command of the next one. */
static const cli_command *const *help_names(const cli_command *const *c)
{
    char names[400] = "";

    do {
        size_t used = strlen(names);

        snprintf(names + used, sizeof names - used, "%s%s",
                 used > 0 ? ", " : "", (*c)->name);
        c++;
    } while (*c != NULL && help_title(*c) == NULL);
    output_text("  ");
    help_fill(names, 2, 2);
    return c;
}

bool help_brief(void)
{
    const cli_command *const *c = report_program->commands;

    output_format("Usage: %s COMMAND [OPTIONS] [OPERANDS]\n",
                  report_program->name);
    help_examples(report_program->first, SIZE_MAX);
    while (*c != NULL) {
        const char *title = help_title(*c);

        output_format("\n%s:\n", title != NULL ? title : "Commands");
        c = help_names(c);
    }
    output_format("\n%s COMMAND -h: the usual options; %s --help: "
                  "everything\n", report_program->name, report_program->name);
    return !output_failed();
}

bool help_overview(void)
{
    output_format("Usage: %s COMMAND [OPTIONS] [OPERANDS]\n\n",
                  report_program->name);
    help_fill(report_program->text, 0, 0);
    help_examples(report_program->first, SIZE_MAX);
    if (report_program->headings == NULL)
        output_text("\nCommands:\n");
    for (const cli_command *const *c = report_program->commands; *c != NULL;
         c++) {
        const char *title = help_title(*c);

        if (title != NULL)
            output_format("\n%s:\n", title);
        output_format("  %-12s %s\n", (*c)->name, (*c)->summary);
    }
    help_topics();
    output_text("\nOptions:\n");
    help_option(&help_program, help_program.help);
    help_option(&help_version, help_version.help);
    output_format("\n%s COMMAND -h: the usual options; %s COMMAND --help: "
                  "everything\n", report_program->name, report_program->name);
    return !output_failed();
}

void help_first(void)
{
    char line[200];
    const cli_example *e = report_program->first;

    snprintf(line, sizeof line, "Usage: %s COMMAND [OPTIONS] [OPERANDS]\n\n",
             report_program->name);
    report_to(line, strlen(line));
    for (; e->command != NULL; e++) {
        snprintf(line, sizeof line, "  %s\n      %s\n%s", e->command, e->what,
                 e[1].command == NULL ? "\n" : "");
        report_to(line, strlen(line));
    }
}

/* ==== Topics ============================================================ */

/* Prints a term and its text. */
static void help_term(const char *term, const char *text)
{
    const size_t length = help_columns(term, strlen(term)) + 2;

    output_format("  %s", term);
    if (length + 2 > HELP_COLUMN)
        help_newline(HELP_COLUMN);
    else
        output_format("%*s", (int)(HELP_COLUMN - length), "");
    help_fill(text, HELP_COLUMN, HELP_COLUMN);
}

static bool help_is_heading(const cli_passage *p)
{
    return p->term != NULL && p->text == NULL;
}

static bool help_is_paragraph(const cli_passage *p)
{
    return p->term == NULL && p->text != NULL;
}

static bool help_more(const cli_passage *p)
{
    return p->term != NULL || p->text != NULL || p->rows != NULL;
}

bool help_topic(const cli_topic *topic)
{
    help_summary(topic->summary);
    for (const cli_passage *p = topic->passages; help_more(p); p++) {
        bool first = p == topic->passages;

        if (first || help_is_heading(p) || help_is_paragraph(p)
            || help_is_paragraph(&p[-1]))
            output_text(!first && help_is_heading(&p[-1]) ? "" : "\n");
        if (p->rows != NULL)
            p->rows(help_term);
        else if (help_is_heading(p))
            output_format("%s:\n", p->term);
        else if (help_is_paragraph(p))
            help_fill(p->text, 0, 0);
        else
            help_term(p->term, p->text);
    }
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

static void help_roff_title(const char *page, int section,
                            const char *summary)
{
    output_text(".TH ");
    for (const char *s = page; *s != '\0'; s++)
        output_format("%c", toupper((unsigned char)*s));
    output_format(" %d \"\" \"bloomery %s\" \"Bloomery\"\n", section,
                  report_program->version);
    output_text(".SH NAME\n");
    help_roff_text(page);
    output_text(" \\- ");
    help_roff_text(summary);
    output_text("\n");
}

static void help_roff_option(const cli_option *o)
{
    output_text(".TP\n");
    if (o->letter != 0)
        output_format("\\fB\\-%c\\fR, ", o->letter);
    output_text("\\fB\\-\\-");
    help_roff_text(o->name);
    output_text("\\fR");
    if (o->value != NULL)
        output_format(" \\fI%s\\fR", o->value);
    output_text("\n");
    help_roff_text(o->help);
    output_text("\n");
}

/* Prints a line of its own, by which the tests find what to try. */
static void help_roff_rules(const cli_command *c, const cli_option *o)
{
    char rules[HELP_RULES];

    rules_text(c, o, rules, sizeof rules);
    if (*rules == '\0')
        return;
    help_roff_text(rules);
    output_text("\n");
}

static void help_roff_options(const cli_command *c)
{
    bool few = help_count(c) <= HELP_FEW;

    output_text(".SH OPTIONS\n");
    for (cli_group group = CLI_OWN; group < (few ? CLI_INPUT : CLI_GROUPS);
         group++) {
        if (group != CLI_OWN && help_has(c, group))
            output_format(".SS %s\n", help_groups[group]);
        for (const cli_option *o = c->options; o->name != NULL; o++) {
            if (!few && o->group != group)
                continue;
            help_roff_option(o);
            help_roff_rules(c, o);
        }
        if (group == CLI_OWN)
            help_roff_option(&help_itself);
    }
}

static void help_roff_term(const char *term, const char *text)
{
    output_text(".TP\n\\fB");
    help_roff_text(term);
    output_text("\\fR\n");
    help_roff_text(text);
    output_text("\n");
}

static void help_roff_terms(const char *title, const cli_example *e)
{
    if (e == NULL)
        return;
    output_format(".SH %s\n", title);
    for (; e->command != NULL; e++)
        help_roff_term(e->command, e->what);
}

/* Prints SEE ALSO: the program or its commands, and its topics. */
static void help_roff_also(bool commands)
{
    const cli_topic *topic = report_program->topics;
    const char *before = "";

    output_text(".SH SEE ALSO\n");
    for (const cli_command *const *c = report_program->commands;
         commands && *c != NULL; c++) {
        output_format("%s.BR ", before);
        help_roff_text(report_program->name);
        output_format("\\-%s (1)", (*c)->name);
        before = ",\n";
    }
    if (!commands) {
        output_text(".BR ");
        help_roff_text(report_program->name);
        output_text(" (1)");
    }
    for (; topic != NULL && topic->name != NULL; topic++) {
        output_text(",\n.BR ");
        help_roff_text(report_program->name);
        output_text("\\-");
        help_roff_text(topic->name);
        output_text(" (7)");
    }
    output_text("\n");
}

bool help_roff(const cli_command *c)
{
    char page[64], synopsis[HELP_SYNOPSIS];

    snprintf(page, sizeof page, "%s-%s", report_program->name, c->name);
    help_synopsis(c, synopsis, sizeof synopsis);
    help_roff_title(page, 1, c->summary);
    output_text(".SH SYNOPSIS\n\\fB");
    help_roff_text(report_program->name);
    output_format(" %s\\fR", c->name);
    help_roff_text(synopsis);
    output_text("\n");
    help_roff_terms("EXAMPLES", c->examples);
    output_text(".SH DESCRIPTION\n");
    if (c->caution != NULL) {
        help_roff_text(c->caution);
        output_text("\n.PP\n");
    }
    help_roff_paragraphs(c->text);
    help_roff_options(c);
    output_text(".SH EXIT STATUS\n");
    help_roff_text(c->status);
    output_text("\n");
    help_roff_also(false);
    return !output_failed();
}

bool help_overview_roff(void)
{
    help_roff_title(report_program->name, 1, report_program->summary);
    output_text(".SH SYNOPSIS\n\\fB");
    help_roff_text(report_program->name);
    output_text("\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIOPERANDS\\fR]\n");
    help_roff_terms("EXAMPLES", report_program->first);
    output_text(".SH DESCRIPTION\n");
    help_roff_paragraphs(report_program->text);
    output_text(".SH COMMANDS\n");
    for (const cli_command *const *c = report_program->commands; *c != NULL;
         c++) {
        const char *title = help_title(*c);

        if (title != NULL)
            output_format(".SS %s\n", title);
        output_text(".TP\n\\fB");
        help_roff_text(report_program->name);
        output_format(" %s\\fR\n", (*c)->name);
        help_roff_text((*c)->summary);
        output_text("\n");
    }
    output_text(".SH OPTIONS\n");
    help_roff_option(&help_program);
    help_roff_option(&help_version);
    output_text(".SH EXIT STATUS\n");
    help_roff_paragraphs(report_program->status);
    help_roff_terms("ENVIRONMENT", report_program->environment);
    help_roff_also(true);
    return !output_failed();
}

/* Prints a heading in capitals. */
static void help_roff_heading(const char *title)
{
    output_text(".SH ");
    for (; *title != '\0'; title++)
        output_format("%c", toupper((unsigned char)*title));
    output_text("\n");
}

bool help_topic_roff(const cli_topic *topic)
{
    char page[64];

    snprintf(page, sizeof page, "%s-%s", report_program->name, topic->name);
    help_roff_title(page, 7, topic->summary);
    output_text(".SH DESCRIPTION\n");
    for (const cli_passage *p = topic->passages; help_more(p); p++) {
        if (p->rows != NULL) {
            p->rows(help_roff_term);
        } else if (help_is_heading(p)) {
            help_roff_heading(p->term);
        } else if (help_is_paragraph(p)) {
            if (p != topic->passages && !help_is_heading(&p[-1]))
                output_text(".PP\n");
            help_roff_text(p->text);
            output_text("\n");
        } else {
            help_roff_term(p->term, p->text);
        }
    }
    output_text(".SH SEE ALSO\n.BR ");
    help_roff_text(report_program->name);
    output_text(" (1)\n");
    return !output_failed();
}
