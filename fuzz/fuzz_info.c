/* fuzz_info.c - `bloomery info --json` prints JSON for any filter that it
 * accepts, however its fields are forged, and nothing for a refused one.
 */
#include "targets.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bloomery/command.h"
#include "forge.h"
#include "strict.h"
#include "frame/output.h"

static void info_silent(const char *line, size_t length)
{
    (void)line;
    (void)length;
}

/* Reads a whole file; to be freed. */
static uint8_t *info_read(int file, size_t *n)
{
    off_t end = lseek(file, 0, SEEK_END);
    uint8_t *text = malloc((size_t)end + 1);
    ssize_t got = text != NULL ? pread(file, text, (size_t)end, 0) : -1;
    *n = got > 0 ? (size_t)got : 0;
    return text;
}

/* Runs the command with its output in `file`. */
static int info_run(int file, const char *path, bool json)
{
    char name[64], *arguments[] = { (char[]){ "info" }, name,
                                    (char[]){ "--json" }, NULL };
    int out = dup(STDOUT_FILENO);
    report_to = info_silent;
    dup2(file, STDOUT_FILENO);
    snprintf(name, sizeof name, "%s", path);
    optind = 0;                         /* for a new command line */
    int status = cmd_info.run(&cmd_info, json ? 3 : 2, arguments);
    output_flush();
    dup2(out, STDOUT_FILENO);
    close(out);
    report_to = report_write;
    return status;
}

static const char *info_say(const char *path, bool json)
{
    int file = memfd_create("out", 0);
    size_t n = 0;
    if (file < 0)
        return NULL;
    int status = info_run(file, path, json);
    uint8_t *text = info_read(file, &n);
    const char *found = NULL;
    if (status == CLI_OK && text != NULL && json && !strict_json(text, n))
        found = "what info --json prints is no JSON";
    if (status == CLI_OK && n == 0)
        found = "info has nothing to say of a filter";
    if (status != CLI_OK && n != 0)
        found = "info says something of what it refuses";
    free(text);
    close(file);
    return found;
}

const char *fuzz_info(const uint8_t *bytes, size_t n)
{
    target_input in = { bytes, bytes + n };
    size_t whole;
    uint8_t *image = target_image(&in, false, &whole);
    if (image == NULL)
        return NULL;
    target_edit(&in, image, whole, 16);
    forge_mend(image, whole);
    const char *path = target_file(image, whole), *found = NULL;
    free(image);
    if (path != NULL)
        found = info_say(path, true);
    if (path != NULL && found == NULL)
        found = info_say(path, false);
    target_did.images++;
    return found;
}
