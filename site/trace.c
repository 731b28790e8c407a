/* trace.c - which bytes of a filter a lookup reads, for the playground.
 *
 * The library is compiled a second time with clang's trace-loads
 * (tools/make/site): before each load there is a call that gets its address. Those
 * calls end here, and while a key is looked up the ones that fall into the
 * image are kept, in their order. So no kind needs a line of code for that.
 *
 * This file itself is compiled without, as it may not be called back. A
 * WebAssembly module without a main; what JavaScript calls begins with trace_.
 */
#include <stdlib.h>
#include <string.h>

#include <bloomery.h>
#include <bloomery/form.h>

#define EXPORT(name) __attribute__((export_name(name)))

enum { READS_MOST = 1 << 16 };

/* A load: its offset in the image, and its size. */
typedef struct {
    uint32_t offset, bytes;
} trace_read;

static trace_read reads[READS_MOST];
static uint32_t   reads_count;
static uintptr_t  begins, ends;         /* of the image, while one records */
static unsigned char *image;
static size_t     image_bytes;
static bly_filter *filter;

/* ---- Calls made by the compiler ------------------------------------------ */

static void record(const void *address, uint32_t bytes)
{
    uintptr_t at = (uintptr_t)address;
    if (at < begins || at >= ends || reads_count == READS_MOST)
        return;
    reads[reads_count++] = (trace_read){ (uint32_t)(at - begins), bytes };
}

#define ON_LOAD(bytes)                                                         \
    void __sanitizer_cov_load##bytes(const void *address);                     \
    void __sanitizer_cov_load##bytes(const void *address)                      \
    {                                                                          \
        record(address, bytes);                                                \
    }

ON_LOAD(1)
ON_LOAD(2)
ON_LOAD(4)
ON_LOAD(8)
ON_LOAD(16)

/* ---- Memory for what JavaScript writes ----------------------------------- */

EXPORT("trace_take") void *trace_take(size_t bytes)
{
    return malloc(bytes > 0 ? bytes : 1);
}

EXPORT("trace_give") void trace_give(void *memory)
{
    free(memory);
}

/* ---- The filter ---------------------------------------------------------- */

static void forget(void)
{
    bly_free(filter);
    free(image);
    filter = NULL;
    image = NULL;
    image_bytes = 0;
}

/* A copy of the image of a filter, on a multiple of 64. */
static bly_status keep(const bly_filter *from)
{
    size_t bytes;
    const void *bits = bly_image(from, &bytes);
    void *memory = NULL;
    if (bits == NULL || posix_memalign(&memory, 64, bytes) != 0)
        return BLY_ENOMEM;
    memcpy(memory, bits, bytes);
    image = memory;
    image_bytes = bytes;
    return bly_wrap(&filter, image, image_bytes, NULL);
}

/* Take what bly_save wrote, packed or not; the status. */
EXPORT("trace_open") int trace_open(const void *bytes, size_t n)
{
    bly_filter *whole;
    forget();
    bly_status status = bly_unpack(&whole, bytes, n, NULL);
    if (status < 0)
        return status;
    status = keep(whole);
    bly_free(whole);
    if (status < 0)
        forget();
    return status;
}

EXPORT("trace_why") const char *trace_why(void)
{
    return bly_why();
}

EXPORT("trace_image") const void *trace_image(void)
{
    return image;
}

EXPORT("trace_bytes") size_t trace_bytes(void)
{
    return image_bytes;
}

/* ---- Questions ----------------------------------------------------------- */

static bly_key asked;                   /* made of the text, perhaps in: */
static void *asked_room;

/* Looks up the key that a text has in this filter, and keeps what is read: 1
 * perhaps, 0 certainly not, or -1 if the text has no key. */
EXPORT("trace_ask") int trace_ask(const void *text, size_t length)
{
    const bly_value value = { .type = BLY_TEXT, .data = text,
                              .length = length };
    uint64_t form = bly_form_of(filter);
    size_t bytes = bly_form_room(form, length);
    reads_count = 0;
    free(asked_room);
    asked_room = bytes < SIZE_MAX ? malloc(bytes + 1) : NULL;
    if (asked_room == NULL
        || bly_form_key(&asked, form, &value, asked_room) != BLY_OK)
        return -1;
    begins = (uintptr_t)image;
    ends = begins + image_bytes;
    bool there = bly_contains(filter, asked.data, asked.length);
    ends = begins;
    return there;
}

/* Looks that key up again, in a batch, and keeps what is read as well. A single
 * lookup does not read some numbers that the filter has kept since it was
 * opened. */
EXPORT("trace_ask_batch") int trace_ask_batch(void)
{
    bool there;
    ends = begins + image_bytes;
    bly_contains_many(filter, &(bly_keys){ .n = 1, .keys = &asked }, &there);
    ends = begins;
    return there;
}

EXPORT("trace_reads") const void *trace_reads(void)
{
    return reads;
}

EXPORT("trace_count") uint32_t trace_count(void)
{
    return reads_count;
}

/* The answer for that key if one bit of the image were the other way round: 1 or 0, or -1
 * where no filter of these bytes would be opened. It is opened anew, for what
 * the checker has not seen nobody may ask. */
EXPORT("trace_flip") int trace_flip(uint32_t byte, uint32_t bit)
{
    bly_filter *other;
    int there = -1;
    image[byte] ^= (unsigned char)(1u << bit);
    if (bly_wrap(&other, image, image_bytes, NULL) == BLY_OK) {
        there = bly_contains(other, asked.data, asked.length);
        bly_free(other);
    }
    image[byte] ^= (unsigned char)(1u << bit);
    return there;
}
