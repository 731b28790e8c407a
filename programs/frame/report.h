/* report.h - errors, notes, numbers for people, and the clock. */
#ifndef FRAME_REPORT_H
#define FRAME_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) \
    __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

/* Exit statuses as in grep. CLI_GO: no reason to stop yet. */
enum { CLI_GO = -1, CLI_OK = 0, CLI_NONE = 1, CLI_ERROR = 2 };

/* A message begins with the name of the running program and, unless it is NULL,
 * of its subcommand. The program is NULL in tests. */
typedef struct cli_program cli_program;
extern const cli_program *report_program;
extern const char *report_command;

/* Receives each line of a message with its newline. report_write, the default,
 * writes it to stderr. */
typedef void report_sink(const char *line, size_t length);
extern report_sink *report_to;
void report_write(const char *line, size_t length);

/* If not NULL, called before each write to stderr. */
extern void (*report_before)(void);

/* Prints one line on stderr, "bloomery CMD: …". Returns CLI_ERROR. */
int report_error(const char *format, ...) CLI_PRINTF(1, 2);

/* Prints such a line for something that is not an error. */
void report_note(const char *format, ...) CLI_PRINTF(1, 2);

/* The name of a file in a message, and the quotes around it. */
typedef struct { const char *quote, *name; } report_shown;
report_shown report_file(const char *path);

/* Reports "cannot VERB 'PATH'" for an input, with the reason from errno and
 * what to do about it. Returns CLI_ERROR. */
int report_unread(const char *verb, const char *path, int error);

/* Reports that memory is short. Returns CLI_ERROR. */
int report_no_memory(void);

/* Returns whether `fd` is a terminal that shows colors to a user who wants
 * them. */
bool report_colors(int fd);

/* ==== Numbers =========================================================== */

/* A short text by value, for use within one expression. */
typedef struct { char text[48]; } cli_text;

cli_text report_count(uint64_t n);              /* "104,334"              */
cli_text report_estimate(double x);             /* "104,334", "unknown"   */
cli_text report_percent(double share);          /* "0.998 %"              */
cli_text report_bytes(uint64_t bytes);          /* "2,048 bytes (2 KiB)"  */
cli_text report_speed(double per_second);       /* "5.21 million keys/s"  */
cli_text report_seconds(double seconds);        /* "21.3 ms", "4.51 s"    */

/* Returns the value of the second digit of x, 10 for 104; at least 1. */
double report_unit(double x);

/* Writes "104,330 ± 120": the standard deviation with two digits, at least 1,
 * and x rounded to the same place; "104,330" if the deviation is 0. */
typedef struct { char text[100]; } cli_spread;
cli_spread report_spread(double x, double sd);

/* ==== Lines without a key =============================================== */

/* Names the missing part of such lines ("column") and what to check, in words
 * and as options. */
typedef struct {
    const char *part, *where, *options;
} report_words;
extern report_words report_lack;

/* Names skipped lines, one and several, and the options that were given for
 * that. */
typedef struct {
    const char *one, *several, *options;
} report_skipped_words;
extern report_skipped_words report_skipped;

/* Records that a note has explained so many keyless lines of the last input. */
void report_explain(uint64_t lines);

/* Returns how many of these keyless lines still need a note. */
uint64_t report_unexplained(uint64_t lines);

/* Replaces the advice in report_lack. Only the first call has an effect. Not
 * thread-safe. */
void report_advise(const char *where);

/* Prints a note if keyless lines were skipped. */
void report_keyless(uint64_t lines);

/* Prints a note if keyless lines were treated as unique. */
void report_unique(uint64_t lines);

/* Records what a line needs to have a key: "column 3". */
void report_need(const char *format, ...) CLI_PRINTF(1, 2);

/* Records that no line of the last input is a JSON object. */
void report_no_objects(void);

/* Returns a sentence that says what no line of the input has, and what to
 * check. */
const char *report_none(void);

/* Refuses input without a single key, if no note has explained that. Returns
 * CLI_GO or CLI_ERROR. */
int report_some(uint64_t keys, uint64_t keyless);

/* ==== Time ============================================================== */

/* Returns a monotonic time in seconds. */
double report_clock(void);

/* Returns n / seconds, or 0 if no time has passed. */
double report_per_second(uint64_t n, double seconds);

#endif
