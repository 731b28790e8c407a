/* crlite.c - a filter cascade of Mozilla's CRLite, in its own bytes.
 *
 * WHAT IT IS
 *
 * The payload is a file of the Python package filtercascade, byte for byte. It
 * tells a browser which certificates are revoked, of all that existed when it
 * was made.
 *
 * WHEN TO USE IT
 *
 * Use it to look up certificates in filter cascades of CRLite, which Firefox
 * used until 2025. A key is the bytes that the maker used: the SHA-256 of the
 * issuer's public key, and the serial number.
 *
 * WHEN NOT TO
 *
 * - The filter is from 2025 or later: `clubcard` reads these files.
 * - A certificate did not exist when the file was made: its answer means
 *   nothing.
 * - To make a cascade of your own: `cascade`, which is smaller. Bloomery only
 *   reads this format.
 *
 * COST
 *
 * The size is that of a cascade of Bloom filters, about 14 bits per revoked
 * certificate if there are 100 others for each. A lookup reads two layers on
 * average and computes a hash for each probe.
 *
 * THE PICTURE
 *
 *      | version | inverted | salt |  layer 1  |  layer 2  | …
 *
 * IMAGE
 *
 *      geometry 0   layers, 0 .. 255
 *      payload      all numbers have the lowest byte first
 *         0   2     2, the version; or 1, whose layers follow at once
 *         2   1     1: yes and no change places; or 0
 *         3   1     bytes of salt
 *         4         the salt; then for each layer
 *             1     its hash: 1 MurmurHash3, 2 SHA-256, 3 SHA-256 as a stream;
 *                   the same for all layers
 *             4     m, bits, 1 or more
 *             4     k, probes, 1 .. 1088, and 4096 of all layers together
 *             1     the layer's number, from 1
 *                   ceil(m / 8) bytes; bit i is bit (i mod 8) of byte i / 8
 *
 *      Valid if and only if the fields are as above, hash 1 goes without salt,
 *      the last layer ends where the payload does, and there are as many layers
 *      as the geometry says.
 *
 * MATHS
 *
 * See `cascade`, which is the same idea. `stat` reports how likely a key that
 * the file was not made for is to be listed.
 *
 * THE BITS OF A KEY
 *
 * Bit i of k in layer l, modulo m:
 *
 *      1   MurmurHash3 of 32 bits of the key, seed 65536 i + l modulo 2^32
 *      2   the first 4 bytes of SHA-256 of salt, i in 4 bytes, l in 1, and key
 *      3   the next bytes, as many as m needs in binary, of a stream that goes
 *          on from layer to layer: SHA-256 of c in 4 bytes, salt and key, for
 *          c = 0, 1, 2, …
 *
 * If m is 256 or 65536, another reader of hash 3 takes one byte less. This
 * format takes as many as the package that writes these files.
 *
 * ANSWER
 *
 * The first layer that does not have the key decides: the key is listed if that
 * is an even one. If all layers have it, it is listed if their number is odd.
 *
 * PAPERS
 *
 *  [Larisch et al. 2017]  CRLite: a scalable system for pushing all TLS
 *                         revocations to all browsers, IEEE S&P.
 */
#include "image/kind_foreign.h"

#include <math.h>
#include <string.h>

#include "bodies/probes.h"
#include "bits/digest.h"

enum {
    CRLITE_VERSION = 1,
    CRLITE_LAYERS = 0,                  /* geometry                          */
    CRLITE_HEAD = 4, CRLITE_AT_INVERTED = 2, CRLITE_AT_SALT = 3,
    CRLITE_LAYER = 10,                  /* bytes before a layer's bits       */
    CRLITE_MURMUR = 1, CRLITE_SHA256 = 2, CRLITE_STREAM = 3,
    CRLITE_K_MAX = 1088, CRLITE_LAYERS_MOST = 255,
    CRLITE_PROBES_MOST = 4096,          /* of all layers together            */
    CRLITE_PREFIX = 4 + 255 + 1         /* before a key that is hashed       */
};

/* ---- The file ---------------------------------------------------------- */

typedef struct {
    const uint8_t *salt;
    size_t         salt_bytes;
    bool           inverted;
    size_t         first;               /* where the layers begin            */
} crlite_head;

typedef struct {
    unsigned   number, hash;
    probes_row row;
    size_t     end;
} crlite_layer;

/* False: the file ends before the layers do. */
static bool crlite_begin(crlite_head *out, const uint8_t *file, uint64_t bytes)
{
    *out = (crlite_head){ .first = 2 };
    if (bytes < 2 || file[0] != 2 || file[1] != 0)
        return bytes >= 2;
    if (bytes < CRLITE_HEAD)
        return false;
    *out = (crlite_head){
        .salt = file + CRLITE_HEAD, .salt_bytes = file[CRLITE_AT_SALT],
        .inverted = file[CRLITE_AT_INVERTED] != 0,
        .first = CRLITE_HEAD + (size_t)file[CRLITE_AT_SALT],
    };
    return out->first <= bytes;
}

/* The layer that begins there; false: it does not end in the file, or cannot
 * be. */
static bool crlite_layer_at(crlite_layer *out, const uint8_t *file,
                            uint64_t bytes, size_t at)
{
    if (bytes - at < CRLITE_LAYER)
        return false;
    uint64_t m = image_u32(file, at + 1), k = image_u32(file, at + 5);
    uint64_t row = m / 8 + (m % 8 != 0);
    *out = (crlite_layer){
        .hash = file[at], .number = file[at + 9],
        .row = { .row = probes_bytes(file) + at + CRLITE_LAYER,
                 .bytes = (size_t)row, .m = m, .k = k },
        .end = at + CRLITE_LAYER + (size_t)row,
    };
    return m > 0 && k > 0 && k <= CRLITE_K_MAX
        && row <= bytes - at - CRLITE_LAYER;
}

static bly_status crlite_wrong(uint64_t at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a filter cascade of CRLite: byte "
                       "%llu: %s: fetch it again, or name another format",
                       (unsigned long long)at, what);
}

static bly_status crlite_check_head(crlite_head *head, const uint8_t *file,
                                    uint64_t bytes)
{
    if (bytes >= 2 && (file[1] != 0 || file[0] == 0 || file[0] > 2))
        return status_fail(BLY_EVERSION, "read as a filter cascade of CRLite: "
                           "byte 0: its version is not 1 or 2: name another "
                           "format");
    if (!crlite_begin(head, file, bytes))
        return crlite_wrong(0, "it is cut short");
    if (file[0] == 2 && file[CRLITE_AT_INVERTED] > 1)
        return crlite_wrong(CRLITE_AT_INVERTED, "its inverted flag is neither "
                            "0 nor 1");
    return BLY_OK;
}

static bly_status crlite_check_layer(const crlite_head *head,
                                     const crlite_layer *layer, uint64_t at,
                                     unsigned number, unsigned hash)
{
    if (layer->hash < CRLITE_MURMUR || layer->hash > CRLITE_STREAM
        || (hash != 0 && layer->hash != hash))
        return crlite_wrong(at, "the hash is unknown, or differs from that of "
                            "the first layer");
    if (layer->hash == CRLITE_MURMUR && head->salt_bytes > 0)
        return crlite_wrong(CRLITE_AT_SALT, "it has a salt, but its hash takes "
                            "none");
    if (!bits_clear_from(layer->row.row, layer->row.bytes, layer->row.m))
        return crlite_wrong(at + CRLITE_LAYER, "bits beyond the last of a "
                            "layer are set");
    if (layer->number != number)
        return crlite_wrong(at + 9, "the layers are out of order");
    return layer->hash == CRLITE_MURMUR ? BLY_OK
         : digest_check("a cascade that hashes by SHA-256");
}

static bly_status crlite_read(kind_found *out, const uint8_t *file,
                              uint64_t bytes)
{
    crlite_head head = { .first = 0 };
    crlite_layer layer = { .hash = 0 };
    unsigned layers = 0;
    uint64_t probes = 0;
    bly_info_t first = { .distinct = 1 };
    bly_status status = crlite_check_head(&head, file, bytes);
    size_t at = status == BLY_OK ? head.first : 0;
    while (status == BLY_OK && at < bytes) {
        unsigned hash = layer.hash;
        if (!crlite_layer_at(&layer, file, bytes, at))
            return crlite_wrong(at, "a layer is cut short, or has no bits or "
                                "more than 1088 hash functions");
        status = layers == CRLITE_LAYERS_MOST
               ? crlite_wrong(at, "it has more than 255 layers")
               : crlite_check_layer(&head, &layer, at, ++layers, hash);
        if (layers == 1)
            probes_stat(&first, &layer.row);
        probes += layer.row.k;
        if (status == BLY_OK && probes > CRLITE_PROBES_MOST)
            return crlite_wrong(at + 5, "its layers have more than 4096 hash "
                                "functions together");
        at = layer.end;
    }
    *out = (kind_found){
        .capacity = first.distinct >= 1 && isfinite(first.distinct)
                  ? (uint64_t)first.distinct : 1,
        .items = IMAGE_ITEMS_UNKNOWN, .geometry = { layers },
    };
    return status;
}

static uint64_t crlite_reach(const uint64_t *geometry)
{
    return geometry[CRLITE_LAYERS] > CRLITE_LAYERS_MOST ? UINT64_MAX : 2;
}

static const kind_foreign crlite_foreign = {
    .writer = "Mozilla's CRLite: the filter cascades of filtercascade",
    .numbers = {
        { "layers", NULL },
    },
    .read   = crlite_read,
    .reach  = crlite_reach,
};

static bly_status crlite_check(const void *image)
{
    return kind_check_foreign(image, &crlite_foreign);
}

static bly_status crlite_plan(bly_plan_t *plan, const kind_spec *spec)
{
    (void)plan;
    (void)spec;
    return status_fail(BLY_EUNSUPPORTED, "kind crlite only reads cascades: "
                       "build one of kind cascade");
}

/* ---- Keys -------------------------------------------------------------- */

/* A key on its way through the layers. */
typedef struct {
    const crlite_head *head;
    const uint8_t *key;
    size_t   length;
    uint8_t  block[DIGEST_SHA256];      /* of the stream                     */
    size_t   left;                      /* bytes of it                       */
    uint32_t next;                      /* block                             */
} crlite_key;

static void crlite_put_u32(uint8_t *out, uint32_t v)
{
    for (size_t i = 0; i < 4; i++)
        out[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t crlite_sha256(const crlite_key *key, uint32_t i,
                              unsigned layer)
{
    uint8_t prefix[CRLITE_PREFIX], digest[DIGEST_SHA256];
    size_t n = key->head->salt_bytes;
    if (n > 0)
        memcpy(prefix, key->head->salt, n);
    crlite_put_u32(prefix + n, i);
    prefix[n + 4] = (uint8_t)layer;
    digest_sha256(digest, prefix, n + 5, key->key, key->length);
    return image_u32(digest, 0);
}

static uint8_t crlite_stream_byte(crlite_key *key)
{
    uint8_t prefix[CRLITE_PREFIX];
    if (key->left == 0) {
        crlite_put_u32(prefix, key->next++);
        if (key->head->salt_bytes > 0)
            memcpy(prefix + 4, key->head->salt, key->head->salt_bytes);
        digest_sha256(key->block, prefix, 4 + key->head->salt_bytes, key->key,
                      key->length);
        key->left = DIGEST_SHA256;
    }
    return key->block[DIGEST_SHA256 - key->left--];
}

static uint32_t crlite_stream(crlite_key *key, uint64_t m)
{
    uint32_t index = 0;
    for (unsigned i = 0; m >> 8 * i != 0; i++)
        index |= (uint32_t)crlite_stream_byte(key) << 8 * i;
    return index;
}

static uint32_t crlite_index(crlite_key *key, const crlite_layer *layer,
                             uint32_t i)
{
    return layer->hash == CRLITE_MURMUR
         ? hash_murmur3_32(key->key, key->length, (i << 16) + layer->number)
         : layer->hash == CRLITE_SHA256
         ? crlite_sha256(key, i, layer->number)
         : crlite_stream(key, layer->row.m);
}

static bool crlite_layer_has(crlite_key *key, const crlite_layer *layer)
{
    for (uint32_t i = 0; i < layer->row.k; i++)
        if (!bits_test(layer->row.row,
                       crlite_index(key, layer, i) % layer->row.m))
            return false;
    return true;
}

/* A file that was changed after it was looked at ends where it makes no sense:
 * then the key is there. */
static bool crlite_contains_key(const void *image, uint64_t hash,
                                const void *bytes, size_t length)
{
    const uint8_t *file = image_payload(image);
    uint64_t all = image_payload_bytes(image);
    uint64_t layers = image_geometry(image, CRLITE_LAYERS), l = 1, probes = 0;
    crlite_head head;
    crlite_layer layer = { .end = 0 };
    (void)hash;
    if (!crlite_begin(&head, file, all))
        return true;
    crlite_key key = { .head = &head, .key = bytes, .length = length };
    layer.end = head.first;
    for (; l <= layers; l++) {
        if (!crlite_layer_at(&layer, file, all, layer.end))
            return true;
        probes += layer.row.k;
        if (probes > CRLITE_PROBES_MOST)
            return true;
        if (!crlite_layer_has(&key, &layer))
            break;
    }
    return (l % 2 == 0) != head.inverted;
}

static void crlite_contains_keys(const void *image, const uint64_t *hashes,
                                 const bly_key *keys, size_t n, bool *present)
{
    (void)hashes;
    for (size_t i = 0; i < n; i++)
        present[i] = crlite_contains_key(image, 0, keys[i].data,
                                         keys[i].length);
}

/* ---- Statistics -------------------------------------------------------- */

static void crlite_stat(bly_info_t *out, const void *image)
{
    const uint8_t *file = image_payload(image);
    uint64_t all = image_payload_bytes(image);
    uint64_t layers = image_geometry(image, CRLITE_LAYERS);
    double reached = 1, listed = 0, set = 0, bits = 0;
    crlite_head head;
    crlite_layer layer = { .end = 0 };
    if (!crlite_begin(&head, file, all))
        return;
    layer.end = head.first;
    for (uint64_t l = 1; l <= layers; l++) {
        bly_info_t one = { .rate = 0 };
        if (!crlite_layer_at(&layer, file, all, layer.end))
            break;
        probes_stat(&one, &layer.row);
        if (l == 1) {
            out->distinct = one.distinct;
            out->distinct_sd = one.distinct_sd;
        }
        one.rate = fmin(one.rate, 1);   /* bits may have come since          */
        set += fmin(one.fill, 1) * (double)layer.row.m;
        bits += (double)layer.row.m;
        out->probes += one.probes;
        listed += l % 2 == 0 ? reached * (1 - one.rate) : 0;
        reached *= one.rate;
    }
    listed += layers % 2 != 0 ? reached : 0;
    out->rate = head.inverted ? 1 - listed : listed;
    out->fill = bits > 0 ? set / bits : 0;
}

static const kind_whole crlite_whole = {
    .contains      = crlite_contains_key,
    .contains_many = crlite_contains_keys,
};

const bly_kind bly_kind_crlite = {
    .name    = "crlite",
    .family  = "foreign",
    .summary = "a filter cascade of CRLite: which certificates are revoked",
    .version = CRLITE_VERSION,

    .plan  = crlite_plan,
    .check = crlite_check,
    .stat  = crlite_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .whole   = &crlite_whole,
    .foreign = &crlite_foreign,
};
