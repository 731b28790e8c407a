/* strange.c - counts lines that have no readable key. */
#include "frame/strange.h"

void strange_tally(cli_lines *l, const cli_chunk *c)
{
    if (c->begins)
        l->passed = 0;
    if (c->advice)
        report_advise(c->why);
    if (c->strange > 0 && l->strange == 0) {
        l->first_strange = l->passed + c->first_strange;
        l->strange_path = c->path;
    }
    l->strange += c->strange;
    l->skipped += c->skipped;
    l->tallied += c->lines;
    l->passed += c->lines;
}

/* Lines without a readable key that are worth a warning if they are most. */
enum { STRANGE_MANY = 100 };

static bool strange_lost_some;

bool strange_lost(void)
{
    return strange_lost_some;
}

void strange_note(const cli_lines *l)
{
    static const char *path;            /* of the last note */
    static uint64_t lines, first;
    bool form = l->how.member == NULL || forms_changes(l->how.form);
    uint64_t read = l->tallied - l->skipped;
    report_shown s;

    if (!form && l->strange > 0 && l->strange == l->tallied) {
        report_no_objects();
        return;
    }
    report_explain(l->strange);
    strange_lost_some |= l->strange > 0 && form;
    if (l->strange == 0 || l->how.copy
        || (l->strange_path == path && l->strange == lines
            && l->first_strange == first))
        return;
    path = l->strange_path;
    lines = l->strange;
    first = l->first_strange;
    s = report_file(path);
    if (form)
        report_note("note: %s %s%s no key of the form %s: the first is line %s "
                    "of %s%s%s: %s", report_count(lines).text,
                    lines == 1 ? "line " : "lines ",
                    l->how.member == NULL ? lines == 1 ? "has" : "have"
                    : lines == 1 ? "is not a JSON object, or has"
                                 : "are not JSON objects, or have",
                    forms_name(l->how.form).text, report_count(first).text,
                    s.quote, s.name, s.quote, forms_advice(l->how.form));
    if (form && lines >= STRANGE_MANY && lines > read / 2)
        report_note("warning: only %s of %s lines have a key: are -f, -t and "
                    "--as right?", report_count(read - lines).text,
                    report_count(read).text);
    if (!form)
        report_note("note: %s %s: the first is line %s of %s%s%s",
                    report_count(lines).text,
                    lines == 1 ? "line is not a JSON object"
                               : "lines are not JSON objects",
                    report_count(first).text, s.quote, s.name, s.quote);
}
