/* targets.h - the list of fuzz targets and their properties.
 *
 * A target is a property: a function of any bytes that returns its finding, or
 * NULL. fuzz_NAME.c contains it. Its first inputs are NAME-*.hex, which seeds.c
 * writes or fuzz/corpus has.
 * CMakeLists.txt makes a libFuzzer program of each (libfuzzer.c),
 * tools/check/fuzz and tools/check/soak run them all, and replay.c, in
 * `make check`, runs the corpus. They take the names from the lines below.
 *
 * Files to be read are in memory, with a name in /proc.
 */
#ifndef BLY_FUZZ_TARGETS_H
#define BLY_FUZZ_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, property that holds for any bytes) */
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
    X(nested,  "a key that lies within others is found by each of them")       \
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

/* Counts of work beside runs; libfuzzer.c prints them at the end, and
 * tools/check/soak adds them up. */
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

/* Returns the image of a small filter, or its packed form, chosen by the first
 * bytes; to be freed, or NULL. */
uint8_t *target_image(target_input *in, bool packed, size_t *bytes);

/* Changes some of the image's bytes, as the input says, until it ends or `most`
 * changes are made. */
void target_edit(target_input *in, uint8_t *image, size_t bytes, size_t most);

/* Returns the name of a file that holds exactly these bytes until the next
 * call, or NULL if it cannot be made. */
const char *target_file(const uint8_t *bytes, size_t n);

#endif /* BLY_FUZZ_TARGETS_H */
