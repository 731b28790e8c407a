/* targets.h - the one list of the fuzz targets, and what each of them is.
 *
 * A target is a property: a function of any bytes that says what it found, or
 * NULL. The file fuzz_NAME.c has it, fuzz/corpus/NAME-*.hex are bytes that it
 * begins with. CMakeLists.txt makes a program for libFuzzer of each
 * (libfuzzer.c), tools/check/fuzz and tools/check/soak run them all, and
 * replay.c, in `make check`, runs the corpus: each takes its names from the
 * lines below.
 *
 * A file that is to be read lies in memory, under a name in /proc.
 */
#ifndef BLY_FUZZ_TARGETS_H
#define BLY_FUZZ_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, what holds whatever the bytes are) */
#define TARGETS(X)                                                             \
    X(check,   "an image that is accepted is safe to use")                     \
    X(model,   "a program of verbs loses no key")                              \
    X(pack,    "what was changed on the way is not unpacked")                  \
    X(forge,   "an image with sound checksums at every depth is safe to use")  \
    X(sets,    "two forged filters of one plan can be combined")               \
    X(gaps,    "numbers rise below their range, and come back as they were")   \
    X(options, "any kind and options are planned soon, alike, or refused")     \
    X(info,    "what `info --json` prints of any filter is JSON")              \
    X(records, "ends of CSV are the same byte by byte and by blocks")          \
    X(lines,   "all lines come, in order, with keys that lie in them")         \
    X(names,   "a list of files is read as it is written")                     \
    X(member,  "every JSON object is known for one, and its member is in it")  \
    X(codec,   "bytes decompress alike in pieces of any sizes")                \
    X(fps,     "a text of fingerprints is rows, each most like itself")        \
    X(formats, "another system's file is refused, or a filter that keeps it")  \
    X(container, "the filters that a file has inside lie in it")               \
    X(index,   "an index that is accepted is asked within its bytes")          \
    X(serve,   "requests are the same in pieces of any sizes, as are lists")

typedef const char *target_run(const uint8_t *bytes, size_t n);

#define TARGETS_DECLARE(name, what) target_run fuzz_##name;
TARGETS(TARGETS_DECLARE)
#undef TARGETS_DECLARE

/* What was done so far beside running; libfuzzer.c tells it at the end, and
 * tools/check/soak adds it up. */
typedef struct {
    uint64_t programs, operations, answers, images;
} target_totals;

extern target_totals target_did;

/* ---- Bytes taken from the front, zeros behind the end ------------------ */

typedef struct {
    const uint8_t *at, *end;
} target_input;

static inline uint64_t target_take(target_input *in, size_t width)
{
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        if (in->at < in->end)
            value |= (uint64_t)*in->at++ << (8 * i);
    return value;
}

static inline size_t target_left(const target_input *in)
{
    return (size_t)(in->end - in->at);
}

/* ---- Images and files (targets.c) -------------------------------------- */

/* The image of a small filter, or packed, that the first bytes choose; to be
 * freed, or NULL. */
uint8_t *target_image(target_input *in, bool packed, size_t *bytes);

/* Change some of the image's bytes, as the input says, until it has no more or
 * `most` changes were made. */
void target_edit(target_input *in, uint8_t *image, size_t bytes, size_t most);

/* The name of a file that holds just these bytes until the next call; NULL:
 * there can be none. */
const char *target_file(const uint8_t *bytes, size_t n);

#endif /* BLY_FUZZ_TARGETS_H */
