/* members.c - a line that is a JSON object -> the value of one of its members.
 *
 * JSON is parsed by simdjson. Of what Debian 12 has for C, yajl is the one that
 * fits (it keeps numbers as they stand, and copies only strings with escapes),
 * but it was last released in 2014, decodes an escaped half of a surrogate pair
 * into another character, and reads 0.27 GB of log lines of 550 bytes in a
 * second where simdjson reads 2.0 (one core, all members looked at, wherever
 * the wanted one stands). jansson and json-c build a tree of every line; jsmn
 * takes room for all tokens of a line and is lenient. simdjson is C++:
 * simdjson.cpp is a module, loaded when it is wanted, so that who does not want
 * it starts as fast as before.
 *
 * The module finds the text of a value. The rest of the line is verified here,
 * and the key is made of the text: a string without an escape is its bytes in
 * the line, and a string with escapes is decoded into the caller's room. An
 * escaped half of a surrogate pair becomes the three bytes that UTF-8 would
 * have for it, so that unlike strings stay unlike.
 *
 * Without BLY_JSON (CMake's option) there is no module.
 */
#include "frame/members.h"

#include "frame/how.h"
#include "frame/module.h"
#include "frame/report.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* ==== Strings =========================================================== */

static int members_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Returns the number of "uXXXX" at `at`, or -1 if it is malformed. */
static long members_unit(const char *at, const char *end)
{
    long unit = 0;

    if (end - at < 5 || *at != 'u')
        return -1;
    for (int i = 1; i < 5; i++) {
        int digit = members_digit(at[i]);

        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static size_t members_utf8(unsigned long point, char out[4])
{
    static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    size_t n = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

    for (size_t i = n; i-- > 1; point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)(first[n] | point);
    return n;
}

/* Decodes the escape whose letter is at *at, into 1 to 4 bytes, and advances
 * *at. Returns 0 if no such escape exists. */
static size_t members_escape(const char **at, const char *end, char out[4])
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *letter = *at < end ? memchr(letters, **at, 8) : NULL;
    long unit = members_unit(*at, end), low;

    if (letter != NULL) {
        out[0] = meant[letter - letters];
        *at += 1;
        return 1;
    }
    if (unit < 0)
        return 0;
    *at += 5;
    if (unit >= 0xd800 && unit < 0xdc00 && end - *at >= 6 && **at == '\\') {
        low = members_unit(*at + 1, end);
        if (low >= 0xdc00 && low < 0xe000) {
            *at += 6;
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return members_utf8((unsigned long)unit, out);
}

/* Decodes a string into the room of `length` bytes, which is enough because an
 * escape is longer than its value. Returns false if an escape does not
 * exist. */
static bool members_decode(const char *at, size_t length, char *room,
                           size_t *written)
{
    const char *end = at + length;
    char *to = room;

    while (at < end) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((escape != NULL ? escape : end) - at), n;
        char bytes[4];

        memmove(to, at, plain);
        to += plain;
        at += plain;
        if (escape == NULL)
            break;
        at++;
        n = members_escape(&at, end, bytes);
        if (n == 0)
            return false;
        memcpy(to, bytes, n);
        to += n;
    }
    *written = (size_t)(to - room);
    return true;
}

/* ==== Names ============================================================= */

/* In a pointer ~1 stands for a slash and ~0 for a tilde (RFC 6901). */
static char members_name_byte(const char **at, bool pointer)
{
    char c = *(*at)++;

    if (!pointer || c != '~')
        return c;
    return *(*at)++ == '1' ? '/' : '~';
}

static int members_is(members_text quoted, members_text name, int pointer)
{
    const char *at = quoted.at, *end = at + quoted.length;
    const char *wanted = name.at, *last = wanted + name.length;

    while (at < end) {
        char bytes[4];
        size_t n = 1;

        bytes[0] = *at++;
        if (bytes[0] == '\\')
            n = members_escape(&at, end, bytes);
        if (n == 0)
            return false;
        for (size_t i = 0; i < n; i++)
            if (wanted == last
                || members_name_byte(&wanted, pointer) != bytes[i])
                return false;
    }
    return wanted == last;
}

/* The module follows a pointer by recursion. */
enum { MEMBERS_DEEPEST = 100 };

const char *members_wrong(const char *name)
{
    unsigned depth = 0;

    if (*name == '\0')
        return "names no member: give its name, or / for the member with an "
               "empty name";
    for (const char *at = name; *name == '/' && *at != '\0'; at++) {
        depth += *at == '/';
        if (*at == '~' && at[1] != '0' && at[1] != '1')
            return "is not a JSON pointer: in one that begins with /, write ~0 "
                   "for a tilde and ~1 for a slash within a name";
    }
    return depth > MEMBERS_DEEPEST ? "is nested too deeply: give a JSON "
                                     "pointer of at most 100 names" : NULL;
}

/* ==== Values ============================================================ */

static const char *members_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static bool members_is_number(members_text t)
{
    const char *at = t.at, *end = at + t.length, *from;

    at += at < end && *at == '-';
    from = at;
    at = members_digits(at, end);
    if (at == from || (*from == '0' && at > from + 1))
        return false;
    if (at < end && *at == '.') {
        from = ++at;
        at = members_digits(at, end);
        if (at == from)
            return false;
    }
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        from = at;
        at = members_digits(at, end);
        if (at == from)
            return false;
    }
    return at == end;
}

static bool members_is_word(members_text t, const char *word)
{
    return t.length == strlen(word) && memcmp(t.at, word, t.length) == 0;
}

/* Returns whether a value that is not a string is a key. */
static bool members_is_key(members_text t)
{
    return members_is_number(t) || members_is_word(t, "true")
        || members_is_word(t, "false");
}

cli_member members_value(const char *text, size_t n, void *room, bly_key *key)
{
    const members_text t = { text, n };
    size_t length = n - 2;

    *key = (bly_key){ t.at, t.length };
    if (t.at[0] != '"')
        return members_is_key(t) ? CLI_MEMBER
             : members_is_word(t, "null") ? CLI_NO_MEMBER : CLI_NO_OBJECT;
    if (t.length < 2 || t.at[t.length - 1] != '"')
        return CLI_NO_OBJECT;
    *key = (bly_key){ t.at + 1, length };
    if (memchr(t.at + 1, '\\', length) == NULL)
        return CLI_MEMBER;
    if (!members_decode(t.at + 1, length, room, &length))
        return CLI_NO_OBJECT;
    *key = (bly_key){ room, length };
    return CLI_MEMBER;
}

/* ==== Whole lines ======================================================= */

/* Objects and arrays that are nested deeper are not read. */
enum { MEMBERS_LEVELS = 1024 };

/* A walk through a line. The module has verified that its quotes match, and
 * that it is UTF-8 without control characters in strings. */
typedef struct {
    const char *at, *end;
    unsigned    depth;                  /* open objects and arrays           */
    uint64_t    objects[MEMBERS_LEVELS / 64];   /* a bit each: is an object  */
} members_walk;

static bool members_in_object(const members_walk *w)
{
    unsigned level = w->depth - 1;

    return w->objects[level / 64] >> level % 64 & 1;
}

static bool members_enter(members_walk *w, bool object)
{
    unsigned level = w->depth++;

    if (level == MEMBERS_LEVELS)
        return false;
    w->objects[level / 64] &= ~(UINT64_C(1) << level % 64);
    w->objects[level / 64] |= (uint64_t)object << level % 64;
    return true;
}

/* Skips blanks and returns the next byte, or 0 at the end. */
static inline char members_next(members_walk *w)
{
    for (; w->at < w->end; w->at++)
        if ((unsigned char)*w->at > ' '
            || memchr(" \t\r\n", *w->at, 4) == NULL)
            return *w->at;
    return '\0';
}

/* Returns the first quote or backslash from `at` on. One of them is there. */
static inline const char *members_find_end(const char *at)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');

    for (;; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        int bits = _mm_movemask_epi8(_mm_or_si128(
            _mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash)));

        if (bits != 0)
            return at + __builtin_ctz((unsigned)bits);
    }
#else
    while (*at != '"' && *at != '\\')
        at++;
    return at;
#endif
}

/* Skips a string. Returns false if it has an escape that does not exist. */
static inline bool members_skip_string(members_walk *w)
{
    const char *at = w->at + 1;
    char bytes[4];

    for (;;) {
        at = members_find_end(at);
        if (*at == '"')
            break;
        at++;
        if (members_escape(&at, w->end, bytes) == 0)
            return false;
    }
    w->at = at + 1;
    return true;
}

static bool members_is_end(char c)
{
    return c == ',' || c == '}' || c == ']' || (unsigned char)c <= ' ';
}

/* Skips a number or a word. */
static inline bool members_skip_word(members_walk *w)
{
    members_text word = { w->at, 0 };

    while (w->at < w->end && !members_is_end(*w->at))
        w->at++;
    word.length = (size_t)(w->at - word.at);
    return members_is_key(word) || members_is_word(word, "null");
}

/* Skips the name of a member and its colon. */
static inline bool members_skip_name(members_walk *w)
{
    if (members_next(w) != '"' || !members_skip_string(w)
        || members_next(w) != ':')
        return false;
    w->at++;
    return true;
}

/* Skips a value, or the beginning of an object or an array. *inside: another
 * value follows at once. */
static inline bool members_skip_value(members_walk *w, bool *inside)
{
    char first = members_next(w);

    *inside = first == '{' || first == '[';
    if (first == '"')
        return members_skip_string(w);
    if (!*inside)
        return members_skip_word(w);
    w->at++;
    if (!members_enter(w, first == '{'))
        return false;
    if (members_next(w) == (first == '{' ? '}' : ']'))
        *inside = false;
    return !*inside || first == '[' || members_skip_name(w);
}

/* Closes the objects and arrays that end after a value. *more: another value
 * follows. */
static inline bool members_close(members_walk *w, bool *more)
{
    for (*more = false; w->depth > 0; w->depth--) {
        bool object = members_in_object(w);
        char next = members_next(w);

        w->at++;
        *more = next == ',';
        if (*more)
            return !object || members_skip_name(w);
        if (next != (object ? '}' : ']'))
            return false;
    }
    return true;
}

/* Returns whether all of the line is JSON. */
static bool members_is_whole(const char *line, size_t length)
{
    members_walk w = { .at = line, .end = line + length };
    bool inside, more = true;

    while (more) {
        if (!members_skip_value(&w, &inside))
            return false;
        if (!inside && !members_close(&w, &more))
            return false;
    }
    return members_next(&w) == '\0' && w.at == w.end;
}

/* ==== The module ======================================================== */

static const members_functions *members_module;

#if defined(BLY_JSON)
bool members_open(void)
{
    void *module = dlopen(BLY_JSON, RTLD_NOW | RTLD_LOCAL), *found;

    found = module != NULL ? dlsym(module, MEMBERS_SYMBOL) : NULL;
    members_module = found;
    if (members_module == NULL)
        report_error("--json-field needs the module '%s', which cannot be "
                     "loaded (%s): build or install it with this program, and "
                     "the library simdjson", BLY_JSON,
                     module == NULL ? dlerror() : "it is of another version");
    report_lack = (report_words){ "member", "its name", "--json-field" };
    return members_module != NULL;
}
#else
bool members_open(void)
{
    report_error("--json-field is not built into this program (BLY_JSON=OFF): "
                 "build it with libsimdjson-dev and -DBLY_JSON=ON");
    return false;
}
#endif

/* Ends the program: it cannot continue, and callers have no way to report
 * this. */
static void members_no_memory(size_t length)
{
    report_error("a line of %s does not fit in memory: is -0 missing, or "
                 "wrong?", report_bytes(length).text);
    _Exit(CLI_ERROR);
}

static_assert((int)CLI_MEMBER_PADDING == (int)MEMBERS_PADDING,
              "room behind a line");

cli_member members_key(const cli_how *how, const unsigned char *line,
                       size_t length, void *room, bly_key *key)
{
    members_text text = { (const char *)line, length }, value;
    members_text wanted = { how->member, strlen(how->member) };
    members_status found = members_module->find(text, wanted, members_is,
                                                &value);

    if (found == MEMBERS_NO_MEMORY)
        members_no_memory(length);
    if (found <= MEMBERS_NONE && !how->trust
        && !members_is_whole(text.at, length))
        return CLI_NO_OBJECT;
    return found == MEMBERS_FOUND
         ? members_value(value.at, value.length, room, key)
         : found == MEMBERS_UNFIT ? CLI_NO_OBJECT : CLI_NO_MEMBER;
}

bly_key members_place(const cli_how *how, const unsigned char *line,
                      size_t length)
{
    members_text text = { (const char *)line, length }, value = { "", 0 };
    members_text wanted = { how->member, strlen(how->member) };

    (void)members_module->find(text, wanted, members_is, &value);
    return (bly_key){ value.at, value.length };
}

typedef struct {
    members_text name;
    bool         found;
} members_wanted;

static int members_compare(void *to, members_text quoted)
{
    members_wanted *wanted = to;

    wanted->found = members_is(quoted, wanted->name, false);
    return !wanted->found;
}

bool members_named(const char *name, bly_key line)
{
    members_wanted wanted = { { name, strlen(name) }, false };

    members_module->list((members_text){ line.data, line.length },
                         members_compare, &wanted);
    return wanted.found;
}

/* ==== Advice ============================================================ */

/* Appends the names of members, separated by commas. */
typedef struct {
    char  *text;
    size_t room;
} members_list;

/* Appends a name to the list, if it is fit for a terminal. */
static int members_list_one(void *to, members_text quoted)
{
    members_list *list = to;
    size_t n = strlen(list->text);
    bool fits = n + quoted.length + 8 < list->room;

    for (size_t i = 0; i < quoted.length; i++)
        if ((unsigned char)quoted.at[i] < 0x20 || quoted.at[i] == 0x7f)
            return true;
    snprintf(list->text + n, list->room - n, "%s%.*s", n > 0 ? ", " : "",
             fits ? (int)quoted.length : 3, fits ? quoted.at : "...");
    return fits;
}

/* Writes the JSON pointer of a name with dots, "a.b" as "/a/b". Returns false
 * if it has no dot or does not fit. */
static bool members_pointer(const char *name, char *text, size_t room)
{
    size_t n = 0;

    if (strchr(name, '.') == NULL || *name == '/' || strlen(name) + 2 > room
        || strpbrk(name, "~/") != NULL)
        return false;
    text[n++] = '/';
    for (; *name != '\0'; name++)
        text[n++] = *name == '.' ? '/' : *name;
    text[n] = '\0';
    return members_wrong(text) == NULL;
}

bool members_advise(const cli_how *how, bly_key line, char *text, size_t room)
{
    members_text whole = { line.data, line.length }, value;
    char names[200] = "", pointer[100];
    members_list list = { names, sizeof names };

    members_module->list(whole, members_list_one, &list);
    if (names[0] == '\0')
        return false;
    if (members_named(how->member, line))
        snprintf(text, room, "its value: a key is a string, a number, true or "
                 "false");
    else if (members_pointer(how->member, pointer, sizeof pointer)
        && members_module->find(whole,
                                (members_text){ pointer, strlen(pointer) },
                                members_is, &value) == MEMBERS_FOUND)
        snprintf(text, room, "its name, or use --json-field %s: the members "
                 "are %s", pointer, names);
    else
        snprintf(text, room, "its name: the members are %s", names);
    return true;
}
