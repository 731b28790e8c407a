/* forms.c - chooses the form by which keys are made from lines: by the options
 * for a new filter, and by the filter itself if it exists.
 *
 * The library makes the bytes of keys. This file adds line endings and the
 * separators of columns, which only the command knows.
 */
#include "frame/forms.h"

#include "frame/how.h"

#include <stdio.h>
#include <string.h>

/* ==== Names ============================================================= */

/* Accepts classes only, that is, forms without changes. */
const char *forms_read(const char *text, uint64_t *out)
{
    uint64_t form;

    if (*text != '\0' && bly_form_read(&form, text) == BLY_OK
        && form <= BLY_FORM_CLASS) {
        *out = form;
        return NULL;
    }
    return "is not a class of keys: give one of" BLY_KEYS_WORDS;
}

cli_text forms_name(uint64_t form)
{
    char text[BLY_FORM_TEXT];
    cli_text name;

    snprintf(name.text, sizeof name.text, "%s", bly_form_write(text, form));
    return name;
}

void forms_fold(unsigned char *to, const unsigned char *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool upper = from[i] >= 'A' && from[i] <= 'Z';

        to[i] = (unsigned char)(from[i] | (unsigned)upper << 5);
    }
}

void forms_store(unsigned char to[8], uint64_t value)
{
    for (size_t i = 0; i < 8; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

uint64_t forms_load(const unsigned char from[8])
{
    uint64_t value = 0;

    for (size_t i = 8; i-- > 0; )
        value = value << 8 | from[i];
    return value;
}

/* ==== Choosing a form =================================================== */

bool forms_is_text(uint64_t class)
{
    return class == BLY_KEYS_TEXT || class == BLY_KEYS_UTF16;
}

/* Returns the separator of a joined key's columns, as a form has it. */
static uint64_t forms_joint(const cli_how *how)
{
    static const struct { int byte; uint64_t join; } known[] = {
        { ',', BLY_JOIN_COMMA }, { '\t', BLY_JOIN_TAB },
        { ' ', BLY_JOIN_BLANK }, { ';', BLY_JOIN_SEMICOLON },
        { '|', BLY_JOIN_BAR },   { ':', BLY_JOIN_COLON },
    };
    int byte = how->blanks ? ' ' : how->separator >= 0 ? how->separator
             : how->csv ? ',' : '\t';

    if (how->field.n < 2)
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].byte == byte)
            return known[i].join;
    return BLY_JOIN_OTHER;
}

static uint64_t forms_case(const cli_how *how)
{
    return how->upper ? BLY_FORM_UPPER : !how->lower ? 0
         : how->unicode ? BLY_FORM_FOLD : BLY_FORM_LOWER;
}

/* Returns the form that the options ask for. Without --as its class is
 * `class`. */
static uint64_t forms_wanted(const cli_how *how, uint64_t class)
{
    bool said = how->as != FORMS_UNSAID && how->as != BLY_KEYS_UNSTATED;
    uint64_t form = said ? how->as : class;

    if (!forms_is_text(form))
        return form;
    return form | forms_case(how) | forms_joint(how)
         | (how->trim ? BLY_FORM_TRIM : 0)
         | (how->keep_cr ? BLY_FORM_KEEP_CR : 0);
}

/* The columns of a joined key are trimmed before they are joined. */
bool forms_changes(uint64_t form)
{
    uint64_t class = form & BLY_FORM_CLASS, changes = BLY_FORM_CASE;

    if ((form & BLY_FORM_JOIN) == 0)
        changes |= BLY_FORM_TRIM;
    return class > BLY_KEYS_TEXT || (form & changes) != 0;
}

/* Keys of a form that is not stated keep their CR unless --crlf is given. */
static void forms_set(cli_how *how, uint64_t form, bool stated)
{
    bool cuts = stated ? (form & BLY_FORM_KEEP_CR) == 0 : how->crlf;

    how->form = form;
    how->stated = stated;
    how->cut_cr = cuts && !how->null && !how->bare;
    if (forms_changes(form) && how->field.n == 0 && how->label.n == 0
        && how->member == NULL)
        report_lack = (report_words){ "key", "them and --as", "--as" };
}

int forms_no_nesting(const char *where, uint64_t form)
{
    return report_error("%s: keys of the form %s lie within others, which only "
                        "'build', 'add', 'remove', 'query' and 'serve' can "
                        "handle", where, forms_name(form).text);
}

int forms_can(uint64_t form)
{
    const bly_value empty = { .type = BLY_WRITTEN, .data = "" };
    unsigned char room[8];
    bly_key key;

    return !bly_form_nests(form)
        && bly_form_key(&key, form, &empty, room) == BLY_EUNSUPPORTED
         ? report_error("%s", bly_why_in("command")) : CLI_GO;
}

void forms_choose(cli_how *how)
{
    forms_set(how, forms_wanted(how, BLY_KEYS_TEXT),
              how->as != BLY_KEYS_UNSTATED);
}

/* Returns the first option that contradicts the form, or NULL. */
static const char *forms_against(const cli_how *how, uint64_t form)
{
    uint64_t class = form & BLY_FORM_CLASS, join = form & BLY_FORM_JOIN;

    if (how->as != FORMS_UNSAID && how->as != class
        && !bly_form_same(how->as, class))
        return "--as";
    if (forms_case(how) != 0
        && forms_case(how) != (form & BLY_FORM_CASE))
        return how->upper ? "--upper" : how->unicode ? "--unicode" : "-i";
    if (how->trim && (form & BLY_FORM_TRIM) == 0)
        return "--trim";
    if (how->keep_cr && (form & BLY_FORM_KEEP_CR) == 0)
        return "--keep-cr";
    if (how->crlf && (form & BLY_FORM_KEEP_CR) != 0)
        return "--crlf";
    if (join == 0 || forms_joint(how) == 0 || forms_joint(how) == join)
        return NULL;
    return how->separator >= 0 ? "-t" : how->csv ? "--csv"
         : how->blanks ? "--blanks" : "-f without --csv";
}

int forms_follow(cli_how *how, uint64_t form, const char *path)
{
    bool bytes = form == BLY_KEYS_BYTES || form == BLY_KEYS_HEX;
    const char *against = forms_against(how, form);

    if (form == BLY_KEYS_UNSTATED) {
        forms_set(how, forms_wanted(how, BLY_KEYS_TEXT), false);
        return CLI_GO;
    }
    if (against != NULL)
        return report_error("'%s' has keys of the form %s, which differs from "
                            "%s: leave it out, or build a filter with it", path,
                            forms_name(form).text, against);
    if (bly_form_nests(form) && !how->nests)
        return forms_no_nesting(path, form);
    if (form == BLY_KEYS_BYTES && how->as == FORMS_UNSAID)
        return report_error("'%s' has bytes for keys, and lines are text: use "
                            "--as hex if they are written as hexadecimal "
                            "digits, or --as bytes to take lines as they are",
                            path);
    if ((form & BLY_FORM_JOIN) == BLY_JOIN_OTHER && how->field.n > 1)
        report_note("note: the keys of '%s' are columns joined by a separator "
                    "that its form does not record: use the -t of 'build'",
                    path);
    forms_set(how, bytes ? forms_wanted(how, form) : form, true);
    return forms_can(form);
}

int forms_join(uint64_t *into, const char *path, uint64_t form,
               const char *other, bool assume)
{
    bool stated = *into != BLY_KEYS_UNSTATED;

    if (*into == form || bly_form_same(*into, form))
        return CLI_GO;
    if (!assume && (!stated || form == BLY_KEYS_UNSTATED))
        return report_error("'%s' does not state the form of its keys, and "
                            "'%s' has keys of the form %s: use --assume-form "
                            "if both are alike", stated ? other : path,
                            stated ? path : other,
                            forms_name(*into | form).text);
    if (stated && form != BLY_KEYS_UNSTATED)
        return report_error("'%s' has keys of the form %s, and '%s' of the "
                            "form %s: build both with the same options", path,
                            forms_name(*into).text, other,
                            forms_name(form).text);
    *into |= form;
    return CLI_GO;
}

/* ==== Keys ============================================================== */

const char *forms_advice(uint64_t form)
{
    return form == BLY_KEYS_CIDR ? "it must be an address or a network, such "
                                   "as 192.0.2.0/24 or 2001:db8::/32"
         : form == BLY_KEYS_DOMAIN ? "it must be a name such as example.com"
         : form == BLY_KEYS_PATH ? "it must be a path without '..'"
         : (form & BLY_FORM_CASE) == BLY_FORM_FOLD ? "it must be UTF-8"
                                                   : "check it, or --as";
}

size_t forms_times(uint64_t form)
{
    enum { TEXT = 64, NUMBER = 8, LEAST = 2, CIDR = 6 };
    uint64_t class = form & BLY_FORM_CLASS;

    if (class == BLY_KEYS_CIDR)         /* 17 bytes of "::" and its end */
        return CIDR;
    return forms_is_text(class) || class > BLY_KEYS_UTF16
         ? bly_form_room(form, TEXT) / TEXT : NUMBER / LEAST;
}

bly_key forms_key(uint64_t form, bly_key written, unsigned char *to)
{
    const bly_value value = { .type = BLY_WRITTEN, .data = written.data,
                              .length = written.length };
    bly_key key;
    bly_status status = (bly_form_nests(form) ? bly_nested_key : bly_form_key)(
        &key, form, &value, to);

    return status == BLY_OK ? key : (bly_key){ NULL, 0 };
}
