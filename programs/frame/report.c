/* report.c - errors, notes and numbers for people.
 *
 * Every message is exactly one line, whatever the names in it contain, and is
 * written by one call, so that the messages of two programs do not mix. A
 * message begins with the name of the running program.
 */
#include "frame/report.h"

#include "frame/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { REPORT_LINE = 8192 };

const cli_program *report_program;
const char *report_command;
report_sink *report_to = report_write;
void (*report_before)(void);

/* A growing line in a fixed space, cut off at its end. */
typedef struct {
    char   text[REPORT_LINE];
    size_t length;
} report_line;

/* Appends a byte. Control bytes are escaped, because they could break the line
 * or control the terminal. */
static void report_byte(report_line *line, unsigned char byte)
{
    if (line->length + 5 >= sizeof line->text)
        return;
    if (byte >= 0x20 && byte != 0x7f)
        line->text[line->length++] = (char)byte;
    else
        line->length += (size_t)snprintf(line->text + line->length, 5,
                                         "\\x%02x", (unsigned)byte);
}

static void report_append(report_line *line, const char *text)
{
    for (; *text != '\0'; text++)
        report_byte(line, (unsigned char)*text);
}

void report_write(const char *line, size_t length)
{
    if (report_before != NULL)
        report_before();
    if (write(STDERR_FILENO, line, length) < 0)
        return;                 /* nobody is left to be told */
}

bool report_colors(int fd)
{
    const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");

    return isatty(fd) && terminal != NULL && strcmp(terminal, "dumb") != 0
        && (none == NULL || none[0] == '\0');
}

static bool report_coloured(void)
{
    return report_to == report_write && report_colors(STDERR_FILENO);
}

/* Appends an escape sequence for the terminal. */
static void report_escape(report_line *line, const char *sequence)
{
    size_t n = strlen(sequence);

    memcpy(line->text + line->length, sequence, n);
    line->length += n;
}

static void report_say(const char *colour, const char *format,
                       va_list arguments)
{
    char message[REPORT_LINE - 64];
    report_line line = { .length = 0 };

    vsnprintf(message, sizeof message, format, arguments);
    if (colour != NULL)
        report_escape(&line, colour);
    report_append(&line, report_program != NULL ? report_program->name
                                                : "bloomery");
    if (report_command != NULL) {
        report_append(&line, " ");
        report_append(&line, report_command);
    }
    report_append(&line, ":");
    if (colour != NULL)
        report_escape(&line, "\033[0m");
    report_append(&line, " ");
    report_append(&line, message);
    line.text[line.length++] = '\n';
    report_to(line.text, line.length);
}

int report_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    report_say(report_coloured() ? "\033[1;31m" : NULL, format, arguments);
    va_end(arguments);
    return CLI_ERROR;
}

/* Returns advice on an error. For a lack of permission it says whether it
 * concerns the file or one of its folders. */
static const char *report_advice(const char *path, int error)
{
    struct stat about;

    if (error == ENOENT)
        return "check the name";
    if (error == EMFILE || error == ENFILE)
        return "allow more open files (ulimit -n)";
    if (error == EAGAIN)
        return "allow more threads (ulimit -u), or end other programs";
    if (error != EACCES && error != EPERM)
        return "check the name and the permissions";
    if (stat(path, &about) < 0 && errno == EACCES)
        return "you cannot enter a folder in its path: ask the folder's owner "
               "for permission (chmod)";
    return "you cannot read it: ask its owner for permission (chmod)";
}

report_shown report_file(const char *path)
{
    return strcmp(path, "-") == 0 ? (report_shown){ "", "standard input" }
                                  : (report_shown){ "'", path };
}

int report_unread(const char *verb, const char *path, int error)
{
    return report_error("cannot %s '%s': %s: %s", verb, path, strerror(error),
                        report_advice(path, error));
}

int report_no_memory(void)
{
    return report_error("out of memory: close other programs and try again, or "
                        "use -j 1");
}

void report_note(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    report_say(NULL, format, arguments);
    va_end(arguments);
}

/* ==== Numbers =========================================================== */

cli_text report_count(uint64_t n)
{
    char digits[24];
    cli_text out;
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n);
    size_t at = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out.text[at++] = ',';
        out.text[at++] = digits[i];
    }
    out.text[at] = '\0';
    return out;
}

cli_text report_estimate(double x)
{
    cli_text out;

    if (isfinite(x) && x >= 0 && x < 1e18)
        return report_count((uint64_t)(x + 0.5));
    if (isfinite(x))
        snprintf(out.text, sizeof out.text, "%.4g", x);
    else
        snprintf(out.text, sizeof out.text, "unknown");
    return out;
}

double report_unit(double x)
{
    return isfinite(x) && x >= 100 ? pow(10, floor(log10(x)) - 1) : 1;
}

cli_spread report_spread(double x, double sd)
{
    double unit = report_unit(sd), about = round(sd / unit) * unit;
    cli_text value = report_estimate(round(x / unit) * unit);
    cli_spread out;

    if (sd == 0)
        snprintf(out.text, sizeof out.text, "%s", value.text);
    else
        snprintf(out.text, sizeof out.text, "%s ± %s", value.text,
                 report_estimate(fmax(about, 1)).text);
    return out;
}

cli_text report_percent(double share)
{
    cli_text out;

    if (isfinite(share))
        snprintf(out.text, sizeof out.text, "%.3g %%", 100 * share);
    else
        snprintf(out.text, sizeof out.text, "unknown");
    return out;
}

cli_text report_bytes(uint64_t bytes)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB",
                                         "EiB" };
    double scaled = (double)bytes / 1024;
    size_t unit = 0;
    cli_text out = report_count(bytes);
    size_t length = strlen(out.text);

    length += (size_t)snprintf(out.text + length, sizeof out.text - length,
                               " bytes");
    if (bytes < 1024)
        return out;
    while (scaled >= 1000 && unit + 1 < sizeof units / sizeof units[0]) {
        scaled /= 1024;
        unit++;
    }
    snprintf(out.text + length, sizeof out.text - length, " (%.3g %s)",
             scaled, units[unit]);
    return out;
}

cli_text report_speed(double per_second)
{
    cli_text out;

    if (per_second >= 999500)
        snprintf(out.text, sizeof out.text, "%.3g million keys/s",
                 per_second / 1e6);
    else
        snprintf(out.text, sizeof out.text, "%.0f keys/s", per_second);
    return out;
}

cli_text report_seconds(double seconds)
{
    cli_text out;

    if (seconds < 1)
        snprintf(out.text, sizeof out.text, "%.3g ms", 1000 * seconds);
    else
        snprintf(out.text, sizeof out.text, "%.*f s", seconds < 100 ? 2 : 0,
                 seconds);
    return out;
}

/* ==== Notes ============================================================= */

report_words report_lack = {
    "column", "its number, -t and --csv", "-f, -t and --csv"
};

report_skipped_words report_skipped;

void report_advise(const char *where)
{
    static char advice[512];

    if (advice[0] != '\0')
        return;
    snprintf(advice, sizeof advice, "%s", where);
    report_lack.where = report_lack.options = advice;
}

static uint64_t report_explained;

void report_explain(uint64_t lines)
{
    report_explained = lines;
}

uint64_t report_unexplained(uint64_t lines)
{
    return lines < report_explained ? 0 : lines - report_explained;
}

/* Says what happened to the keyless lines that no note has explained. */
static void report_lacking(uint64_t lines, const char *fate, const char *check)
{
    lines = report_unexplained(lines);
    if (lines > 0)
        report_note("note: %s %s no such %s and %s %s: check %s",
                    report_count(lines).text,
                    lines == 1 ? "line has" : "lines have", report_lack.part,
                    lines == 1 ? "was" : "were", fate, check);
}

void report_keyless(uint64_t lines)
{
    report_lacking(lines, "skipped", report_lack.where);
}

void report_unique(uint64_t lines)
{
    report_lacking(lines, "treated as unique", report_lack.options);
}

static char report_needed[300] = "a key";
static bool report_objectless;

void report_need(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(report_needed, sizeof report_needed, format, arguments);
    va_end(arguments);
}

void report_no_objects(void)
{
    report_objectless = true;
}

const char *report_none(void)
{
    static char text[1024];

    if (report_objectless)
        return "no line is a JSON object: check the input, or leave out "
               "--json-field";
    snprintf(text, sizeof text, "no line has %s: check %s", report_needed,
             report_lack.options);
    return text;
}

int report_some(uint64_t keys, uint64_t keyless)
{
    if (keys > 0 || report_unexplained(keyless) == 0)
        return CLI_GO;
    return report_error("%s", report_none());
}

/* ==== Time ============================================================== */

double report_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double report_per_second(uint64_t n, double seconds)
{
    return seconds > 0 ? (double)n / seconds : 0;
}
