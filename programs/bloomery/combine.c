/* combine.c - shared by `unite` and `intersect`.
 *
 * The first filter is read into memory, the others are mapped and combined with
 * it one by one, and the result is saved. The output may be one of the inputs:
 * it is then locked, as `add` locks it.
 */
#include "bloomery/command.h"
#include "frame/options.h"
#include "frame/output.h"
#include "frame/progress.h"

#include <string.h>
#include <unistd.h>

typedef struct {
    const char *output, *key_file, *format;
    uint64_t    unpack_limit;
    uint64_t    level;          /* 0: not given */
    bool        force, verbose, json, assume;
} combine_settings;

/* Options of both subcommands. */
#define COMBINE_OPTIONS                                                       \
    { 'o', "output", "OUT", CLI_TEXT, offsetof(combine_settings, output), true,\
      "The file of the result, which may be an input, or '-' for standard "   \
      "output. An existing file is replaced only when the new one is "        \
      "complete.",                                                            \
      .group = CLI_OUTPUT },                                                  \
    CLI_FORCE_OPTION(combine_settings, force),                                \
    CLI_ASSUME_OPTION(combine_settings, assume),                              \
    CLI_SECRET_OPTION(combine_settings, key_file),                            \
    CLI_FORMAT_OPTION(combine_settings, format),                              \
    CLI_UNPACK_OPTION(combine_settings, unpack_limit),                        \
    CLI_MADE_OPTIONS(combine_settings)

const cli_option combine_options[] = {
    COMBINE_OPTIONS,
    { 0 }
};

const cli_option combine_level_options[] = {
    COMBINE_OPTIONS,
    { 0, "level", "N", CLI_NUMBER, offsetof(combine_settings, level), false,
      "Unite at a label: the keys of the other filters get the label N in A, "
      "whose kind must be able to 'unite at'. Each other filter has the kind "
      "of A's levels, or is like A: N is then added to its labels." },
    { 0 }
};

/* Combines `into` with the filter at `path`. */
static int combine_one(const cli_combination *how, const combine_settings *s,
                       bly_filter **into, const char *into_path,
                       const char *path)
{
    bly_filter *other = load_mapped(path, BLY_VERIFY);
    bly_status status = BLY_OK;
    int same;

    if (other == NULL)
        return CLI_ERROR;
    same = filter_same_form(into, into_path, &other, path, s->assume);
    if (same == CLI_GO)
        status = s->level == 0 ? how->combine(*into, other)
                               : bly_unite_at(*into, other, s->level);
    bly_free(other);
    if (same == CLI_ERROR)
        return CLI_ERROR;
    if (status < 0)
        return report_error("'%s' and '%s' cannot be %s: %s", into_path, path,
                            how->done, filter_why());
    return CLI_OK;
}

static bool combine_is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Combines all filters. `lock`: the lock of the output if it is one of the
 * inputs; or -1. */
static int combine_all(const cli_combination *how, const combine_settings *s,
                       const cli_operands *operands, int lock)
{
    const char *name = operands->names[0];
    const char *first = combine_is_stdin(name) ? "/dev/stdin" : name;
    bly_filter *into;
    int status = CLI_OK;

    progress_expect(1 / (double)(operands->count + 1));
    progress_start("combine", 0, false);
    into = wrapped_is(name) ? wrapped_open(name) : load_whole(first, 0);
    progress_close();
    if (into == NULL)
        return CLI_ERROR;
    for (size_t i = 1; i < operands->count && status == CLI_OK; i++) {
        progress_expect(1 / (double)(operands->count - i + 1));
        progress_start("combine", 0, false);
        status = combine_one(how, s, &into, operands->names[0],
                             operands->names[i]);
        progress_close();
    }
    if (status == CLI_OK && lock >= 0)
        status = filter_check_lock(lock, s->output);
    if (status == CLI_OK)
        status = filter_save(into, s->output);
    if (status == CLI_OK)
        made_report(into, s->output, s->verbose, s->json,
                    "build the inputs with an -n that covers the keys of all");
    bly_free(into);
    return status;
}

static bool combine_changes_input(const char *output,
                                  const cli_operands *operands)
{
    for (size_t i = 0; i < operands->count; i++)
        if (output_same(output, operands->names[i]))
            return true;
    return false;
}

/* Returns whether the output is one of the inputs, and a filter whose format
 * only the command line names. */
static bool combine_named(const combine_settings *s,
                          const cli_operands *operands)
{
    return s->format != NULL && combine_changes_input(s->output, operands)
        && !wrapped_is(s->output);
}

static int combine_check(const cli_command *self, const combine_settings *s,
                         const cli_operands *operands)
{
    const cli_operands none = { NULL, 0 };
    int status = filter_how_read(s->key_file, s->format, s->unpack_limit);
    size_t inputs = 0;

    for (size_t i = 0; i < operands->count; i++)
        inputs += combine_is_stdin(operands->names[i]);
    if (operands->count < 2)
        return options_wrong(self, "this command takes at least two filters");
    if (inputs > 1)
        return options_wrong(self, "only one filter can be read from standard "
                                   "input");
    if (status == CLI_GO)
        status = made_check(self, s->output, s->json);
    return status == CLI_GO
         ? filter_check_output(s->output,
                               s->force || combine_named(s, operands), &none, 0)
         : status;
}

int combine_run(const cli_command *self, const cli_combination *how,
                int argc, char **argv)
{
    combine_settings s = { .output = NULL };
    cli_operands operands;
    int lock = -1, status = options_read(self, argc, argv, &s, &operands);

    if (status == CLI_GO)
        status = combine_check(self, &s, &operands);
    if (status != CLI_GO)
        return status;
    if (combine_changes_input(s.output, &operands)) {
        lock = filter_lock(s.output);
        if (lock < 0)
            return CLI_ERROR;
    }
    status = combine_all(how, &s, &operands, lock);
    if (lock >= 0)
        close(lock);
    return status;
}
