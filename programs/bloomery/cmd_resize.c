/* cmd_resize.c - `bloomery resize`: changes a filter's capacity without its
 * keys.
 */
#include "bloomery/command.h"
#include "frame/options.h"
#include "frame/output.h"
#include "frame/progress.h"

#include <string.h>
#include <unistd.h>

typedef struct {
    uint64_t    capacity, times;
    const char *output, *key_file, *format;
    uint64_t    unpack_limit;
    bool        verbose, force, json;
} resize_settings;

static const cli_option resize_options[] = {
    { 'n', "items", "ITEMS", CLI_ITEMS, offsetof(resize_settings, capacity),
      false, "The number of keys to make room for: 1000, 2.5e6, 10M." },
    { 0, "fold", "TIMES", CLI_NUMBER, offsetof(resize_settings, times), false,
      "Instead of -n: make the filter TIMES times smaller by combining "
      "adjacent bits or blocks with OR. TIMES must divide their number. The "
      "rate rises, unless the filter holds few keys.",
      .excludes = "items" },
    { 'o', "output", "OUT", CLI_TEXT, offsetof(resize_settings, output), false,
      "The file of the result, or '-' for standard output. Default: FILE.",
      .group = CLI_OUTPUT },
    CLI_FORCE_OPTION(resize_settings, force),
    CLI_SECRET_OPTION(resize_settings, key_file),
    CLI_FORMAT_OPTION(resize_settings, format),
    CLI_UNPACK_OPTION(resize_settings, unpack_limit),
    CLI_MADE_OPTIONS(resize_settings),
    { 0 }
};

static const cli_example resize_examples[] = {
    { "bloomery resize -n 1000 members.bly",
      "Make room for a thousand keys." },
    { "bloomery resize --fold 2 -o half.bly prints.bly",
      "Halve the bits of a filter that holds fewer keys than planned." },
    { NULL, NULL }
};

static int resize_filter(const resize_settings *s, const char *path,
                         bly_filter *filter)
{
    bly_status status;

    if (s->times == 0 && !filter_can(filter, BLY_CAN_RESIZE))
        return filter_cannot(filter, path, "cannot be resized",
                             BLY_CAN_RESIZE);
    if (s->times > 0 && !filter_can(filter, BLY_CAN_FOLD))
        return filter_cannot(filter, path, "cannot be folded", BLY_CAN_FOLD);
    progress_expect(0.7);
    progress_start("resize", 0, false);
    bly_progress_set(filter, progress_library());
    status = s->times > 0 ? bly_fold(filter, s->times)
                          : bly_resize(filter, s->capacity);
    progress_close();
    return status < 0 ? filter_error() : CLI_OK;
}

/* Resizes a file. `lock`: the lock of the output if it is the input; or -1. */
static int resize_file(const resize_settings *s, const char *path,
                       const char *output, int lock)
{
    bly_filter *filter = load_whole(path, 0);
    int status;

    if (filter == NULL)
        return CLI_ERROR;
    status = resize_filter(s, path, filter);
    if (status == CLI_OK && lock >= 0)
        status = filter_check_lock(lock, output);
    if (status == CLI_OK)
        status = filter_save(filter, output);
    if (status == CLI_OK)
        made_report(filter, output, s->verbose, s->json,
                    s->times > 0 ? "fold it by less" : "use a larger -n");
    bly_free(filter);
    return status;
}

static int resize_check(const cli_command *self, const resize_settings *s,
                        const cli_operands *operands)
{
    const char *output = s->output;
    const cli_operands none = { NULL, 0 };

    if (operands->count != 1)
        return options_wrong(self, "this command takes one FILE");
    if ((s->capacity == 0) == (s->times == 0))
        return options_wrong(self, "give the new size with -n ITEMS, more than "
                                   "0, or with --fold TIMES, 1 or more");
    if (output == NULL && strcmp(operands->names[0], "-") == 0)
        return options_wrong(self, "a filter from a pipe cannot be changed in "
                                   "place; name an output with -o");
    if (made_check(self, output, s->json) != CLI_GO)
        return CLI_ERROR;
    return output != NULL ? filter_check_output(output, s->force, &none, 0)
         : filter_check_output(operands->names[0], true, &none, 0);
}

static int resize_run(const cli_command *self, int argc, char **argv)
{
    resize_settings s = { .output = NULL };
    cli_operands operands;
    const char *path, *output;
    int lock = -1, status = options_read(self, argc, argv, &s, &operands);

    if (status == CLI_GO)
        status = resize_check(self, &s, &operands);
    if (status == CLI_GO)
        status = filter_how_read(s.key_file, s.format, s.unpack_limit);
    if (status != CLI_GO)
        return status;
    path = strcmp(operands.names[0], "-") == 0 ? "/dev/stdin"
                                               : operands.names[0];
    output = s.output != NULL ? s.output : path;
    if (output_same(path, output)) {
        lock = filter_lock(path);
        if (lock < 0)
            return CLI_ERROR;
    }
    status = resize_file(&s, path, output, lock);
    if (lock >= 0)
        close(lock);
    return status;
}

const cli_command cmd_resize = {
    .name = "resize",
    .operands = "FILE",
    .summary = "make room in a filter for another number of keys",
    .text =
        "Makes the filter FILE larger or smaller without its keys: its "
        "contents move into a new filter for ITEMS keys, which replaces FILE "
        "or goes to OUT. The price depends on the kind: most often a bit of "
        "each fingerprint for twice the room. See the page of the kind, and "
        "'bloomery info' afterwards. Only some kinds can be resized: see "
        "'bloomery kinds'.\n\n"
        "Kinds of plain bits can be folded instead, to a half of their bits, "
        "a third, and so on: --fold.",
    .options = resize_options,
    .usual = "items fold output verbose json",
    .examples = resize_examples,
    .status = "0 if OUT was written, " CLI_KEPT("OUT"),
    .shows_progress = true,
    .run = resize_run,
};
