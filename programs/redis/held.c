/* held.c - the type of BLY.*: a filter of any kind of the library.
 *
 * A dump has type "bloomery-", version 1:
 *
 *      the image (docs/format); the secret's 16 bytes, or none
 *
 * A keyed filter without its secret comes from DUMP; the image identifies the
 * secret it needs.
 *
 * The image is verified by bly_unpack like any untrusted one, so the module has
 * no format of its own.
 *
 * The server cannot defragment a filter (`defrag`), since it moves only as a
 * whole; but it consists of few, large allocations.
 */
#include "redis/held.h"

#include <string.h>

enum { HELD_VERSION = 1 };

server_type *redis_held_type;

/* ---- Values -------------------------------------------------------------- */

held *redis_held_new(const void *secret)
{
    held *value = server_allocate_zeroed(1, sizeof *value);
    value->allocator = redis_memory_allocator_of(&value->taken);
    value->owners = 1;
    value->keyed = secret != NULL;
    if (value->keyed)
        memcpy(value->secret, secret, sizeof value->secret);
    return value;
}

held *redis_held_keep(held *value)
{
    __atomic_fetch_add(&value->owners, 1, __ATOMIC_RELAXED);
    return value;
}

void redis_held_drop(void *of)
{
    held *value = of;
    if (value == NULL
        || __atomic_fetch_sub(&value->owners, 1, __ATOMIC_ACQ_REL) > 1)
        return;
    bly_free(value->filter);
    server_release(value);
}

bly_options redis_held_options(const held *value)
{
    return (bly_options){
        .allocator = &value->allocator,
        .secret = value->keyed ? value->secret : NULL,
        .threads = 1, .format = "bloomery",
    };
}

uint64_t redis_held_bytes(const held *value)
{
    return __atomic_load_n(&value->taken, __ATOMIC_RELAXED);
}

/* ---- Dumps --------------------------------------------------------------- */

static void redis_held_save(server_io *rdb, void *of)
{
    const held *value = of;
    size_t bytes;
    const void *image = bly_image(value->filter, &bytes);
    server_save_bytes(rdb, image, bytes);
    bool with = value->keyed && redis_secret_is_saved(server_of_io(rdb));
    server_save_bytes(rdb, (const char *)value->secret,
                      with ? sizeof value->secret : 0);
}

/* Returns the secret of a keyed filter whose dump has none. Returns NULL if it
 * is not keyed, or if the secret is unknown. */
static const unsigned char *redis_held_secret(server_io *rdb, const void *image,
                                              size_t bytes)
{
    bly_header header;
    const unsigned char *secret = NULL;
    if (bly_peek(&header, image, bytes) < 0
        || strcmp(header.hash, "siphash") != 0)
        return NULL;
    secret = redis_secret_of(header.seed);
    if (secret == NULL)
        server_log_io(rdb, "warning", "a filter of BLY.* is keyed with a "
                      "secret that this server does not know: add the output "
                      "of BLY.SECRET to bly-known-secrets");
    return secret;
}

/* Returns the maximum size of a packed image: our dumps contain none, but a
 * crafted one may. It is limited to the memory that the server may use. */
static uint64_t redis_held_limit(server_io *rdb, const void *image,
                                 size_t bytes)
{
    uint64_t limit = bly_memory_limit(NULL, bytes), most;
    bly_header header;
    if (bly_peek(&header, image, bytes) != BLY_OK || !header.packed)
        return 0;
    most = redis_memory_most(server_of_io(rdb));
    return most < limit ? most : limit;
}

static void *redis_held_load(server_io *rdb, int version)
{
    if (version != HELD_VERSION) {
        server_log_io(rdb, "warning", "a filter of BLY.* has version %d of its "
                      "format, but only 1 is known: a later module wrote it",
                      version);
        return NULL;
    }
    size_t bytes = 0, length = 0;
    char *image = server_load_bytes(rdb, &bytes);
    char *secret = image == NULL ? NULL : server_load_bytes(rdb, &length);
    held *value = NULL;
    if (secret != NULL && (length == 0 || length == BLY_SECRET_BYTES)) {
        redis_memory_for(NULL);
        value = redis_held_new(length > 0 ? (const unsigned char *)secret
                                    : redis_held_secret(rdb, image, bytes));
        bly_options options = redis_held_options(value);
        options.memory_limit = redis_held_limit(rdb, image, bytes);
        if (bly_unpack(&value->filter, image, bytes, &options) != BLY_OK) {
            server_log_io(rdb, "warning", "a filter of BLY.* is refused: %s",
                          bly_why_in("redis"));
            redis_held_drop(value);
            value = NULL;
        }
    }
    if (value != NULL && value->keyed)
        redis_secret_told(server_of_io(rdb), value->secret);
    server_release(secret);
    server_release(image);
    return value;
}

static void redis_held_rewrite(server_io *aof, server_string *key, void *of)
{
    const held *value = of;
    size_t bytes;
    const void *image = bly_image(value->filter, &bytes);
    char digits[SECRET_DIGITS + 1];
    redis_secret_write(digits, value->secret);
    if (value->keyed)
        server_emit(aof, "BLY.RESTORE", "sbcc", key, image, bytes, "SECRET",
                    digits);
    else
        server_emit(aof, "BLY.RESTORE", "sb", key, image, bytes);
}

/* ---- Memory, copies and digests ---------------------------------------- */

static size_t redis_held_usage(const void *of)
{
    return sizeof(held) + (size_t)redis_held_bytes(of);
}

static size_t redis_held_effort(server_string *key, const void *value)
{
    (void)key;
    return (size_t)(redis_held_bytes(value) / MODULE_PAGE) + 1;
}

static void redis_held_digest(server_digest *digest, void *of)
{
    const held *value = of;
    size_t bytes;
    const char *image = bly_image(value->filter, &bytes);
    server_digest_bytes(digest, image, bytes);
    server_digest_bytes(digest, (const char *)value->secret,
                        sizeof value->secret);
    server_digest_end(digest);
}

static void *redis_held_copy(server_string *from, server_string *to,
                             const void *of)
{
    const held *value = of;
    held *copy = redis_held_new(value->keyed ? value->secret : NULL);
    bly_options options = redis_held_options(copy);
    (void)from;
    (void)to;
    options.secret = NULL;              /* bly_copy keeps the filter's own   */
    options.format = NULL;
    redis_memory_for(NULL);
    if (bly_copy(&copy->filter, value->filter, &options) == BLY_OK)
        return copy;
    redis_held_drop(copy);
    return NULL;
}

bool redis_held_register(server_context *context)
{
    server_methods methods = {
        .version = SERVER_TYPE_METHODS,
        .rdb_load = redis_held_load, .rdb_save = redis_held_save,
        .aof_rewrite = redis_held_rewrite, .mem_usage = redis_held_usage,
        .digest = redis_held_digest, .free = redis_held_drop,
        .free_effort = redis_held_effort, .copy = redis_held_copy,
    };
    redis_held_type = server_create_type(context, "bloomery-", HELD_VERSION,
                                         &methods);
    return redis_held_type != NULL;
}
