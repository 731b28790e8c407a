/* codec.h - recognizes compressed bytes and decompresses them. */
#ifndef FRAME_CODEC_H
#define FRAME_CODEC_H

#include <stdbool.h>
#include <stddef.h>

/* The rest of the input, and the room for output; both advance. */
typedef struct {
    const unsigned char *in;
    size_t         in_left;
    unsigned char *out;
    size_t         out_left;
} codec_flow;

typedef enum {
    CODEC_GO,                   /* if nothing advanced: it needs more input */
    CODEC_END,                  /* of a member; ready for the next one      */
    CODEC_BAD,
    CODEC_NO_MEMORY
} codec_step;

typedef struct {
    const char *name, *by_hand; /* "gzip", "gzip -dc"                       */
    const char *magic;
    size_t      length;         /* of magic                                 */
    void      *(*open)(void);   /* NULL: recognized, but not supported      */
    codec_step (*step)(void *state, codec_flow *flow);
    void       (*close)(void *state);
} codec;

/* Returns the codec that these first bytes belong to, or NULL. *more is set if
 * it takes more bytes to decide. */
const codec *codec_find(const unsigned char *bytes, size_t n, bool *more);

/* Returns whether the bytes begin another member. */
bool codec_follows(const codec *c, const unsigned char *bytes, size_t n);

/* Returns the size of the member that begins there, if its first CODEC_MEMBER
 * bytes state it; otherwise 0. */
enum { CODEC_MEMBER = 18 };
size_t codec_member(const unsigned char *bytes, size_t n);

int codec_number(const codec *c);
const codec *codec_at(int number);

#endif
