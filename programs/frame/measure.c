/* measure.c - the size of the input, before it is read. */
#include "frame/measure.h"

#include "frame/inputs.h"
#include "frame/refuse.h"
#include "frame/sniff.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static bool measure_is_compressed(const char *path, off_t at)
{
    unsigned char bytes[16];
    ssize_t got = sniff_peek(path, at, bytes, sizeof bytes);
    bool more;

    return got > 0 && codec_find(bytes, (size_t)got, &more) != NULL;
}

/* Measures one file as measure_input does; errno has the reason of CLI_ERROR.
 * Returns CLI_GO if the file can be read twice, but is compressed. Stdin may be
 * an ordinary file that has been read in part. */
static int measure_one(const cli_lines *l, const char *path, uint64_t *bytes)
{
    bool in = inputs_is_stdin(path);
    struct stat about;
    off_t at;

    *bytes = l->how.given.length;
    if (l->how.given.data != NULL)
        return CLI_OK;
    if ((in ? fstat(STDIN_FILENO, &about) : stat(path, &about)) < 0)
        return CLI_ERROR;
    errno = EISDIR;
    if (S_ISDIR(about.st_mode) || (!in && access(path, R_OK) < 0))
        return CLI_ERROR;
    if (!S_ISREG(about.st_mode))
        return CLI_NONE;
    at = in ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    *bytes = about.st_size > at ? (uint64_t)(about.st_size - at) : 0;
    return !l->how.compressed && measure_is_compressed(path, at) ? CLI_GO
                                                               : CLI_OK;
}

int measure_input(const cli_lines *l, uint64_t *total)
{
    uint64_t sum = 0, bytes;
    bool known = true, twice = true;

    for (size_t i = 0; i < l->count; i++) {
        int status = measure_one(l, l->paths[i], &bytes);

        if (status == CLI_ERROR)
            return refuse_file(l->paths[i], errno);
        twice = twice && status != CLI_NONE;
        known = known && status == CLI_OK;
        sum += status == CLI_OK ? bytes : 0;
    }
    *total = known ? sum : 0;
    return twice ? CLI_OK : CLI_NONE;
}

uint64_t measure_compressed(const cli_lines *l)
{
    uint64_t sum = 0, bytes;

    for (size_t i = 0; i < l->count; i++)
        if (measure_one(l, l->paths[i], &bytes) == CLI_GO)
            sum += bytes;
    return sum;
}

uint64_t measure_progress(const cli_lines *l)
{
    uint64_t sum = 0, bytes;

    for (size_t i = 0; i < l->count; i++) {
        if (measure_one(l, l->paths[i], &bytes) != CLI_OK)
            return 0;
        sum += bytes;
    }
    return sum;
}
