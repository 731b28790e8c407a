/* javastream.c - filters of Spark that were serialised as objects of Java.
 *
 * ObjectOutputStream.writeObject writes the class of the filter, and then what
 * writeTo writes, which is format `spark`, in blocks:
 *
 *     | ac ed 00 05 | 73 72 | name of the class | version of the class | flags
 *     | fields of the class | 78 70 | 77 n, n bytes | 7a n, n bytes | … | 78 |
 *
 * n is one byte after 77 and four after 7a. The fields have no values, and the
 * version of the class changes with every version of Spark, so that neither is
 * looked at.
 */
#include "filters/filters.h"

#include <string.h>

enum { JAVASTREAM_HEAD = 6, JAVASTREAM_SHORT = 0x77, JAVASTREAM_LONG = 0x7A,
       JAVASTREAM_END = 0x78, JAVASTREAM_NULL = 0x70 };

static const unsigned char javastream_head[] = { 0xAC, 0xED, 0, 5, 0x73, 0x72 };
static const char javastream_class[]
    = "org.apache.spark.util.sketch.BloomFilterImpl";

bool javastream_begins(const unsigned char *bytes, size_t n)
{
    return n >= JAVASTREAM_HEAD
        && memcmp(bytes, javastream_head, JAVASTREAM_HEAD) == 0;
}

/* Returns a number of `width` bytes, the highest first, and moves behind it; 0
 * and *at behind the end if it is cut off. */
static size_t javastream_number(const unsigned char *bytes, size_t n,
                                size_t *at, size_t width)
{
    size_t v = 0;

    for (size_t i = 0; i < width && *at < n; i++)
        v = v << 8 | bytes[(*at)++];
    return v;
}

/* Finds the first block: it is behind the description of the class, which ends
 * with 78 70. Returns n if there is none. */
static size_t javastream_blocks(const unsigned char *bytes, size_t n)
{
    size_t at = JAVASTREAM_HEAD, length = sizeof javastream_class - 1;
    size_t named = javastream_number(bytes, n, &at, 2);

    if (named < length || n - at < named
        || memcmp(bytes + at, javastream_class, length) != 0)
        return n;
    for (at += named; at + 2 < n; at++)
        if (bytes[at] == JAVASTREAM_END && bytes[at + 1] == JAVASTREAM_NULL
            && (bytes[at + 2] == JAVASTREAM_SHORT
                || bytes[at + 2] == JAVASTREAM_LONG))
            return at + 2;
    return n;
}

int javastream_take(unsigned char *bytes, size_t *n, const char *path,
                    const char **format)
{
    size_t at, made = 0;

    if (!javastream_begins(bytes, *n))
        return CLI_GO;
    at = javastream_blocks(bytes, *n);
    if (at == *n)
        return report_error("'%s': it is an object of Java, but not a Bloom "
                            "filter of Spark: write that with writeTo", path);
    while (at < *n && bytes[at] != JAVASTREAM_END) {
        bool is_long = bytes[at] == JAVASTREAM_LONG;
        size_t size;

        if (!is_long && bytes[at] != JAVASTREAM_SHORT)
            break;
        at++;
        size = javastream_number(bytes, *n, &at, is_long ? 4 : 1);
        if (size > *n - at)
            break;
        memmove(bytes + made, bytes + at, size);
        made += size;
        at += size;
    }
    if (at + 1 != *n || bytes[at] != JAVASTREAM_END)
        return report_error("'%s': it is a Bloom filter of Spark as an object "
                            "of Java, and damaged or cut short: fetch it "
                            "again", path);
    *n = made;
    if (*format == NULL)
        *format = "spark";
    return CLI_GO;
}
