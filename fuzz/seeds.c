/* seeds.c - writes the images of the corpus, check-*.hex, and seeds for other
 * targets. The build runs it:
 *
 *      seeds FOLDER
 *
 * "check-valid-…" are images that must be accepted, and "check-bad-…" must be
 * refused, each for one reason; replay checks that. fuzz/corpus has the rest:
 * model-*.hex, written by hand, codec-*.hex, written by the compressors, and
 * files of earlier versions, which must still be accepted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery.h"
#include "bloomery/foreign.h"
#include "forge.h"
#include "hex.h"

/* The checksums to make after the edit. */
typedef enum { SEEDS_BOTH, SEEDS_HEADER, SEEDS_NEITHER } seeds_sums;

/* An edit of a small filter of `kind`: writes `value` at byte `at`, `width`
 * bytes wide, cuts to `cut` bytes (0: not; 1: to none), and seals. */
typedef struct {
    const char *name, *kind, *comment;
    size_t      at, width;
    uint64_t    value;
    seeds_sums  sums;
    size_t      cut;
} seeds_bad;

#define SEEDS_POWER(e) (UINT64_C(1) << (e))

enum { G0 = FORGE_GEOMETRY, G1 = G0 + 8, G2 = G0 + 16, G3 = G0 + 24 };

static const seeds_bad seeds_bads[] = {
    /* size and sums */
    { "empty", "split", "no bytes at all", 0, 0, 0, SEEDS_NEITHER, 1 },
    { "magic-only", "split", "the magic and nothing else",
      0, 0, 0, SEEDS_NEITHER, 8 },
    { "cut-in-header", "split", "100 bytes of header",
      0, 0, 0, SEEDS_NEITHER, 100 },
    { "header-only", "split", "the header alone, but claiming its payload",
      0, 0, 0, SEEDS_NEITHER, 128 },
    { "no-payload", "split", "128 bytes, and says so",
      FORGE_BYTES, 8, 128, SEEDS_BOTH, 128 },
    { "cut-payload", "blocked", "the last byte is missing",
      0, 0, 0, SEEDS_NEITHER, 128 + 63 },
    { "bytes-2-63", "standard", "claims 2^63 bytes",
      FORGE_BYTES, 8, SEEDS_POWER(63), SEEDS_HEADER, 0 },
    { "bytes-most", "standard", "claims 2^64 - 1 bytes",
      FORGE_BYTES, 8, UINT64_MAX, SEEDS_HEADER, 0 },
    { "bytes-0", "standard", "claims 0 bytes",
      FORGE_BYTES, 8, 0, SEEDS_HEADER, 0 },
    { "unsealed", "standard", "open for writing: no payload checksum",
      FORGE_PAYLOAD_SUM, 8, 0, SEEDS_HEADER, 0 },
    { "payload-sum", "blocked", "a payload checksum that does not match",
      FORGE_PAYLOAD_SUM, 8, 1, SEEDS_HEADER, 0 },
    { "header-sum", "split", "a header checksum that does not match",
      FORGE_HEADER_SUM, 8, 1, SEEDS_NEITHER, 0 },
    /* the header's fields */
    { "format", "split", "format version 2",
      FORGE_FORMAT, 4, 2, SEEDS_BOTH, 0 },
    { "form-unknown", "split", "keys of a reserved form",
      FORGE_FORM, 1, 0x51, SEEDS_BOTH, 0 },
    { "version", "split", "payload version 99",
      FORGE_VERSION, 4, 99, SEEDS_BOTH, 0 },
    { "kind-unknown", "split", "a kind named 'zplit'",
      FORGE_KIND, 1, 'z', SEEDS_BOTH, 0 },
    { "kind-empty", "split", "a kind without a name",
      FORGE_KIND, 8, 0, SEEDS_BOTH, 0 },
    { "kind-padding", "split", "bytes behind the NUL of the kind's name",
      FORGE_KIND + 15, 1, 'x', SEEDS_BOTH, 0 },
    { "kind-long", "partitioned", "16 bytes of name, without a NUL",
      FORGE_KIND + 8, 8, UINT64_C(0x7878787878646f6e), SEEDS_BOTH, 0 },
    { "hash-unknown", "split", "a hash function named 'zxh3'",
      FORGE_HASH, 1, 'z', SEEDS_BOTH, 0 },
    { "hash-padding", "split", "bytes behind the NUL of the hash's name",
      FORGE_HASH + 7, 1, 'x', SEEDS_BOTH, 0 },
    { "capacity-0", "split", "planned for no keys",
      FORGE_CAPACITY, 8, 0, SEEDS_BOTH, 0 },
    { "rate-minus-0", "split", "a rate of -0", FORGE_RATE, 8,
      SEEDS_POWER(63), SEEDS_BOTH, 0 },
    { "rate-negative", "split", "a rate of -0.5",
      FORGE_RATE, 8, UINT64_C(0xBFE0000000000000), SEEDS_BOTH, 0 },
    { "rate-2", "split", "a rate of 2",
      FORGE_RATE, 8, UINT64_C(0x4000000000000000), SEEDS_BOTH, 0 },
    { "rate-nan", "split", "a rate that is no number",
      FORGE_RATE, 8, UINT64_C(0x7FF8000000000000), SEEDS_BOTH, 0 },
    { "rate-infinite", "split", "an infinite rate",
      FORGE_RATE, 8, UINT64_C(0x7FF0000000000000), SEEDS_BOTH, 0 },
    /* geometry: standard */
    { "standard-m-0", "standard", "no bits", G0, 8, 0, SEEDS_BOTH, 0 },
    { "standard-m-2-63", "standard", "2^63 bits, a few bytes of payload",
      G0, 8, SEEDS_POWER(63), SEEDS_BOTH, 0 },
    { "standard-m-most", "standard", "2^64 - 1 bits, a few bytes of payload",
      G0, 8, UINT64_MAX, SEEDS_BOTH, 0 },
    { "standard-k-0", "standard", "no probes", G1, 8, 0, SEEDS_BOTH, 0 },
    { "standard-k-65", "standard", "one probe too many",
      G1, 8, 65, SEEDS_BOTH, 0 },
    { "standard-k-255", "standard", "255 probes", G1, 8, 255, SEEDS_BOTH, 0 },
    { "standard-k-wide", "standard", "2^32 + 3 probes",
      G1, 8, SEEDS_POWER(32) + 3, SEEDS_BOTH, 0 },
    { "standard-index-6", "standard", "the first index scheme that is not",
      G2, 8, 6, SEEDS_BOTH, 0 },
    { "standard-index-7", "standard", "index scheme 7",
      G2, 8, 7, SEEDS_BOTH, 0 },
    { "standard-index-wide", "standard", "index scheme 2^32",
      G2, 8, SEEDS_POWER(32), SEEDS_BOTH, 0 },
    { "standard-reserved", "standard", "a reserved field that is not 0",
      G3, 8, 1, SEEDS_BOTH, 0 },
    { "standard-tail", "standard:m=9,k=2", "a bit set beyond the last",
      FORGE_HEADER + 1, 1, 0x82, SEEDS_BOTH, 0 },
    { "standard-short", "standard:m=64,k=2", "65 bits in 8 bytes",
      G0, 8, 65, SEEDS_BOTH, 0 },
    /* geometry: partitioned */
    { "partitioned-slice-0", "partitioned", "slices without bits",
      G0, 8, 0, SEEDS_BOTH, 0 },
    { "partitioned-slice-7", "partitioned", "slices of 7 bits",
      G0, 8, 7, SEEDS_BOTH, 0 },
    { "partitioned-slice-2-61", "partitioned:k=64,m=512",
      "64 slices of 2^61 + 8 bits: 64 bytes, modulo 2^64",
      G0, 8, SEEDS_POWER(61) + 8, SEEDS_BOTH, 0 },
    { "partitioned-slice-2-54", "partitioned:k=1,m=8", "a slice of 2^54 bits",
      G0, 8, SEEDS_POWER(54), SEEDS_BOTH, 0 },
    { "partitioned-k-0", "partitioned", "no slices", G1, 8, 0, SEEDS_BOTH, 0 },
    { "partitioned-k-65", "partitioned", "65 slices",
      G1, 8, 65, SEEDS_BOTH, 0 },
    { "partitioned-k-wide", "partitioned:k=2,m=32",
      "2^63 + 2 slices of two bytes: 4 bytes, modulo 2^64",
      G1, 8, SEEDS_POWER(63) + 2, SEEDS_BOTH, 0 },
    { "partitioned-reserved", "partitioned", "a reserved field that is not 0",
      G2, 8, 1, SEEDS_BOTH, 0 },
    /* geometry: blocked */
    { "blocked-lines-0", "blocked", "no lines", G0, 8, 0, SEEDS_BOTH, 0 },
    { "aging-of-4", "aging", "an unknown inner kind", G0, 8, 4, SEEDS_BOTH, 0 },
    { "aging-one", "aging", "one generation", G1, 8, 1, SEEDS_BOTH, 0 },
    { "aging-many", "aging", "more generations than there are bytes",
      G1, 8, 64, SEEDS_BOTH, 0 },
    { "aging-cap-0", "aging", "generations of no keys",
      G2, 8, 0, SEEDS_BOTH, 0 },
    { "aging-stride", "aging", "a distance whose product overflows",
      G3, 8, SEEDS_POWER(63), SEEDS_BOTH, 0 },
    { "layered-of-4", "layered", "an unknown inner kind",
      G0, 8, 4, SEEDS_BOTH, 0 },
    { "layered-one", "layered", "one layer", G1, 8, 1, SEEDS_BOTH, 0 },
    { "layered-many", "layered", "more layers than there are bytes",
      G1, 8, 64, SEEDS_BOTH, 0 },
    { "layered-zero", "layered", "a field that must be zero",
      G2, 8, 1, SEEDS_BOTH, 0 },
    { "approximator-width", "approximator", "a cell of fewer bits than a label",
      G2, 8, 7, SEEDS_BOTH, 0 },
    { "approximator-parts", "approximator", "3 fields in a label of 8 bits",
      G2, 8, 8 + 256 * 2, SEEDS_BOTH, 0 },
    { "approximator-fields", "approximator", "65 fields of a label",
      G2, 8, 8 + 256 * 64, SEEDS_BOTH, 0 },
    { "spatial-parts", "spatial", "areas that are two fields",
      G2, 8, 2 + 256, SEEDS_BOTH, 0 },
    { "approximator-most", "approximator", "bits of a largest label that are 0",
      G3, 8, 200, SEEDS_BOTH, 0 },
    { "approximator-m-2-56", "approximator",
      "2^56 cells, a tiny payload", G0, 8, SEEDS_POWER(56), SEEDS_BOTH, 0 },
    { "spatial-areas-0", "spatial", "no areas", G3, 8, 0, SEEDS_BOTH, 0 },
    { "spatial-areas-8", "spatial", "8 areas in cells of 3 bits",
      G3, 8, 8, SEEDS_BOTH, 0 },
    { "spatial-k-65", "spatial", "65 probes", G1, 8, 65, SEEDS_BOTH, 0 },
    { "attenuated-of-4", "attenuated", "an unknown inner kind",
      G0, 8, 4, SEEDS_BOTH, 0 },
    { "attenuated-none", "attenuated", "no level", G1, 8, 0, SEEDS_BOTH, 0 },
    { "attenuated-many", "attenuated", "more levels than there are bytes",
      G1, 8, 64, SEEDS_BOTH, 0 },
    { "attenuated-stride", "attenuated", "a distance whose product overflows",
      G2, 8, SEEDS_POWER(62), SEEDS_BOTH, 0 },
    { "attenuated-zero", "attenuated", "a field that must be zero",
      G3, 8, 1, SEEDS_BOTH, 0 },
    { "cascade-of-4", "cascade", "an unknown inner kind",
      G0, 1, 4, SEEDS_BOTH, 0 },
    { "cascade-images-2", "cascade", "an image more than there is",
      G0 + 3, 1, 2, SEEDS_BOTH, 0 },
    { "cascade-images-255", "cascade", "more images than there may be",
      G0 + 3, 1, 255, SEEDS_BOTH, 0 },
    { "cascade-rows-1", "cascade", "a row in no bytes",
      G0 + 4, 1, 1, SEEDS_BOTH, 0 },
    { "cascade-reserved", "cascade", "a bit that must be zero",
      G0 + 5, 1, 1, SEEDS_BOTH, 0 },
    { "cascade-zero", "cascade", "a field that must be zero",
      G3, 8, 1, SEEDS_BOTH, 0 },
    { "egh-universe-1", "egh", "a universe of one integer",
      G0, 8, 1, SEEDS_BOTH, 0 },
    { "egh-universe-most", "egh", "a universe of 2^64 - 1",
      G0, 8, UINT64_MAX, SEEDS_BOTH, 0 },
    { "egh-k-0", "egh", "no moduli", G1, 8, 0, SEEDS_BOTH, 0 },
    { "egh-k-1", "egh", "one modulus that is not the universe",
      G1, 8, 1, SEEDS_BOTH, 0 },
    { "egh-k-2-60", "egh", "2^60 moduli: their table is 0 bytes, modulo 2^64",
      G1, 8, SEEDS_POWER(60), SEEDS_BOTH, 0 },
    { "egh-m-0", "egh", "no bits", G2, 8, 0, SEEDS_BOTH, 0 },
    { "egh-m-2-36", "egh", "2^36 bits, a small payload",
      G2, 8, SEEDS_POWER(36), SEEDS_BOTH, 0 },
    { "egh-moduli-2", "egh", "counters of two bits, with the room of one",
      G3, 8, 2, SEEDS_BOTH, 0 },
    { "egh-modulus-0", "egh", "a modulus of 0",
      FORGE_HEADER + 8, 8, 0, SEEDS_BOTH, 0 },
    { "egh-modulus-most", "egh", "a block that begins beyond the bits",
      FORGE_HEADER + 8, 8, UINT64_MAX - 1, SEEDS_BOTH, 0 },
    { "egh-reciprocal", "egh", "a reciprocal of another modulus",
      FORGE_HEADER + 16, 8, 77, SEEDS_BOTH, 0 },
    { "blocked-lines-2-48", "blocked", "2^48 lines, a tiny payload",
      G0, 8, SEEDS_POWER(48), SEEDS_BOTH, 0 },
    { "blocked-lines-2-58", "blocked:m=512",
      "2^58 + 1 lines: their bytes are 64, modulo 2^64",
      G0, 8, SEEDS_POWER(58) + 1, SEEDS_BOTH, 0 },
    { "blocked-k-0", "blocked", "no probes", G1, 8, 0, SEEDS_BOTH, 0 },
    { "blocked-k-65", "blocked", "65 probes", G1, 8, 65, SEEDS_BOTH, 0 },
    { "blocked-k-255", "blocked", "255 probes", G1, 8, 255, SEEDS_BOTH, 0 },
    { "blocked-reserved", "blocked", "a reserved field that is not 0",
      G3, 8, SEEDS_POWER(63), SEEDS_BOTH, 0 },
    /* geometry: split */
    { "split-blocks-0", "split", "no blocks", G0, 8, 0, SEEDS_BOTH, 0 },
    { "split-blocks-2-31", "split", "2^31 blocks, a tiny payload",
      G0, 8, SEEDS_POWER(31), SEEDS_BOTH, 0 },
    { "split-blocks-most", "split", "2^31 - 1 blocks, a tiny payload",
      G0, 8, SEEDS_POWER(31) - 1, SEEDS_BOTH, 0 },
    { "split-blocks-2-59", "split:m=256",
      "2^59 + 1 blocks: their bytes are 32, modulo 2^64",
      G0, 8, SEEDS_POWER(59) + 1, SEEDS_BOTH, 0 },
    { "split-reserved", "split", "a reserved field that is not 0",
      G1, 8, 8, SEEDS_BOTH, 0 },
    /* geometry: compressed, and packed */
    { "compressed-of-2", "compressed", "a third kind of filter inside",
      G0, 8, 2, SEEDS_BOTH, 0 },
    { "compressed-row", "compressed", "another m than the inner header's",
      G1, 8, 240, SEEDS_BOTH, 0 },
    { "compressed-inner", "compressed", "the inner header's rate is another",
      FORGE_HEADER + FORGE_RATE, 1, 0x55, SEEDS_BOTH, 0 },
    { "packed-of-2", "packed compressed", "a third kind of filter inside",
      G0, 8, 2, SEEDS_BOTH, 0 },
    { "packed-m-0", "packed compressed", "no bits", G1, 8, 0, SEEDS_BOTH, 0 },
    { "packed-m-8", "packed compressed", "more code than bits",
      G1, 8, 8, SEEDS_BOTH, 0 },
    { "packed-m-2-14", "packed compressed",
      "2^14 bits, in less than the chance of a set one allows",
      G1, 8, SEEDS_POWER(14), SEEDS_BOTH, 0 },
    { "packed-m-2-40", "packed compressed", "2^40 bits from a few bytes",
      G1, 8, SEEDS_POWER(40), SEEDS_BOTH, 0 },
    { "packed-m-most", "packed compressed", "2^64 - 1 bits",
      G1, 8, UINT64_MAX, SEEDS_BOTH, 0 },
    { "packed-k-0", "packed compressed", "no probes",
      G2, 8, 0, SEEDS_BOTH, 0 },
    { "packed-k-65", "packed compressed", "one probe too many",
      G2, 8, 65, SEEDS_BOTH, 0 },
    { "packed-k-wide", "packed compressed:of=partitioned",
      "2^62 + 1 slices: as many bits as one, modulo 2^64",
      G2, 8, SEEDS_POWER(62) + 1, SEEDS_BOTH, 0 },
    { "packed-chance", "packed compressed", "a chance of 1",
      G3, 8, SEEDS_POWER(32), SEEDS_BOTH, 0 },
    { "packed-tail", "packed compressed:m=20,k=1",
      "bits as they stand, one beyond the last",
      FORGE_HEADER + 2, 1, 0x10, SEEDS_BOTH, 0 },
    /* geometry: buffered */
    { "buffered-page-0", "buffered", "pages of no bytes",
      G0, 8, 0, SEEDS_BOTH, 0 },
    { "buffered-page-wide", "buffered", "pages of 2^32 + 4096 bytes",
      G0, 8, SEEDS_POWER(32) + 4096, SEEDS_BOTH, 0 },
    { "buffered-pages-2-52", "buffered",
      "2^52 + 1 pages: their bytes are 4096, modulo 2^64",
      G1, 8, SEEDS_POWER(52) + 1, SEEDS_BOTH, 0 },
    { "buffered-k", "buffered", "another k than the model has",
      G2, 8, 3, SEEDS_BOTH, 0 },
    { "buffered-reserved", "buffered", "a reserved field that is not 0",
      G3, 8, 1, SEEDS_BOTH, 0 },
    { "buffered-model", "buffered", "a model of more bits than a page has",
      FORGE_HEADER + G0, 8, SEEDS_POWER(20), SEEDS_BOTH, 0 },
    /* geometry: invertible */
    { "invertible-w-0", "invertible", "no cells", G0, 8, 0, SEEDS_BOTH, 0 },
    { "invertible-w-2-60", "invertible:m=5,k=5",
      "2^60 + 1 cells a sub-table: their bytes are 80, modulo 2^64",
      G0, 8, SEEDS_POWER(60) + 1, SEEDS_BOTH, 0 },
    { "invertible-k-0", "invertible", "no sub-tables",
      G1, 8, 0, SEEDS_BOTH, 0 },
    { "invertible-k-9", "invertible", "a sub-table too many",
      G1, 8, 9, SEEDS_BOTH, 0 },
    { "invertible-key-256", "invertible", "keys of 256 bytes",
      G2, 8, 256, SEEDS_BOTH, 0 },
    { "invertible-key-8", "invertible", "keys, but no room for them",
      G2, 8, 8, SEEDS_BOTH, 0 },
    { "invertible-reserved", "invertible", "a reserved field that is not 0",
      G3, 8, 1, SEEDS_BOTH, 0 },
    { "buffered-between", "buffered", "bytes between the model and the pages",
      4095, 1, 1, SEEDS_BOTH, 0 },
    { "floom-b-2", "floom:m=9,b=3", "too few regions",
      G2, 8, 2, SEEDS_BOTH, 0 },
    { "floom-b-21", "floom:m=9,b=3", "too many regions",
      G2, 8, 21, SEEDS_BOTH, 0 },
    { "floom-tail", "floom:m=9,b=3", "a bit of the row beyond the last",
      FORGE_HEADER + 1, 1, 2, SEEDS_BOTH, 0 },
    { "rehash-k-513", "rehash:m=9,k=2", "a probe too many",
      G1, 8, 513, SEEDS_BOTH, 0 },
    { "rehash-by-8", "rehash:m=9,k=2", "functions that there are not",
      G2, 8, 8, SEEDS_BOTH, 0 },
    { "rehash-key-1", "rehash:m=9,k=2", "functions of integers for bytes",
      G3, 8, 1, SEEDS_BOTH, 0 },
    { "rehash-key-2", "rehash:m=9,k=2,by=xxh64", "neither hashes nor keys",
      G3, 8, 2, SEEDS_BOTH, 0 },
    { "rehash-tail", "rehash:m=9,k=2", "a bit of the row beyond the last",
      FORGE_HEADER + 1, 1, 2, SEEDS_BOTH, 0 },
};

/* Odd fields that a reader must accept. */
static const seeds_bad seeds_odds[] = {
    { "items-unknown", "split", "an unknown number of keys",
      FORGE_ITEMS, 8, UINT64_MAX, SEEDS_BOTH, 0 },
    { "items-most", "standard", "2^64 - 2 keys: two more and it wraps",
      FORGE_ITEMS, 8, UINT64_MAX - 1, SEEDS_BOTH, 0 },
    { "items-none", "blocked", "bits set, and no keys",
      FORGE_ITEMS, 8, 0, SEEDS_BOTH, 0 },
    { "capacity-most", "split", "planned for 2^64 - 1 keys",
      FORGE_CAPACITY, 8, UINT64_MAX, SEEDS_BOTH, 0 },
    { "rate-0", "split", "a rate of 0", FORGE_RATE, 8, 0, SEEDS_BOTH, 0 },
    { "rate-least", "split", "the least rate above 0",
      FORGE_RATE, 8, 1, SEEDS_BOTH, 0 },
    { "rate-1", "split", "a rate of 1",
      FORGE_RATE, 8, UINT64_C(0x3FF0000000000000), SEEDS_BOTH, 0 },
    { "seed-most", "partitioned", "a seed of 2^64 - 1",
      FORGE_SEED, 8, UINT64_MAX, SEEDS_BOTH, 0 },
    { "hash-secret", "split", "the hash function that wants a secret",
      FORGE_HASH, 8, UINT64_C(0x0068736168706973), SEEDS_BOTH, 0 },
    { "standard-k-64", "standard", "as many probes as there may be",
      G1, 8, 64, SEEDS_BOTH, 0 },
    { "cascade-inverted", "cascade", "all answers turned round",
      G0 + 1, 1, 1, SEEDS_BOTH, 0 },
    { "cascade-salt", "cascade", "another salt than it was built with",
      G0 + 2, 1, 3, SEEDS_BOTH, 0 },
    { "packed-chance-1", "packed compressed", "not the chance it was coded by",
      G3, 8, 1, SEEDS_BOTH, 0 },
    { "packed-chance-most", "packed compressed", "hardly any bit clear",
      G3, 8, UINT32_MAX, SEEDS_BOTH, 0 },
    { "packed-m-250", "packed compressed", "a little more than was coded",
      G1, 8, 250, SEEDS_BOTH, 0 },
    { "buffered-page-broken", "buffered", "a page that is not headed as one",
      4096, 8, 1, SEEDS_BOTH, 0 },
    { "invertible-count", "invertible", "a count of -2^31",
      FORGE_HEADER, 4, SEEDS_POWER(31), SEEDS_BOTH, 0 },
    { "invertible-hash", "invertible", "another sum of hashes",
      FORGE_HEADER + 8, 8, 1, SEEDS_BOTH, 0 },
    { "rehash-whole", "rehash:m=77,k=4,by=xxh64", "bytes of keys are hashed",
      G3, 8, 1, SEEDS_BOTH, 0 },
    { "buffered-page-torn", "buffered", "a page whose checksum is wrong",
      4096 + FORGE_PAYLOAD_SUM, 8, 1, SEEDS_BOTH, 0 },
};

/* Filters of many plans: "check-valid-" and the string, with ':' '=' ',' ' '
 * replaced by '-'. */
static const char *const seeds_plans[] = {
    "standard:index=seeds", "standard:m=77,k=4,index=double",
    "standard:m=77,k=4,index=enhanced", "standard:m=77,k=4,index=triple",
    "standard:m=77,k=4,index=step",
    "standard:m=1,k=1", "standard:m=1,k=64", "standard:m=2,k=3,index=double",
    "standard:m=9,k=2", "partitioned:m=8,k=1", "partitioned:m=512,k=64",
    "floom:m=9,b=3", "rehash:m=9,k=2", "rehash:m=1,k=512,by=slices",
    "blocked:m=512,k=1", "blocked:m=1024", "split:m=256", "split:m=1024",
    "compressed:of=partitioned", "packed compressed:of=partitioned",
    "packed compressed:m=20,k=1", "packed compressed:m=5000,k=3",
    "approximator:parts=2",
};

/* Seeds of other targets, "TARGET-name": a head, in the format of the target's
 * file, and a text. */
typedef struct {
    const char *name, *comment, *bytes;
    size_t      n;
} seeds_text;

#define SEEDS_TEXT(name, comment, bytes)                                       \
    { name, comment, bytes, sizeof bytes - 1 }

/* 1000 keys at 0.01. */
#define SEEDS_PLAN "\xe8\3\0\0\0\0\0\0\x7b\x14\xae\x47\xe1\x7a\x84\x3f\0"

static const seeds_text seeds_texts[] = {
    SEEDS_TEXT("sets-two", "two that differ in a byte",
               "\0\14\1\0\4\210\0\1\4\211\0\2"),
    SEEDS_TEXT("sets-lists", "two that can be listed",
               "\24\14\1\0\4\210\0\1\4\211\0\2"),
    SEEDS_TEXT("gaps-numbers", "numbers below 2^20",
               "\0\0\20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\1\2\3\5\10\15"),
    SEEDS_TEXT("gaps-widest", "numbers below 2^63",
               "\0\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\7"
               "\377\377\377\377\377\377\0\0\1\0\0\0\0\0\0\0"),
    SEEDS_TEXT("fps-rows", "rows of 12 bits",
               "#FPS1\n#num_bits=12\n#type=t\n810a\tone\nFf00\ttwo\tmore\r\n"),
    SEEDS_TEXT("fps-bare", "no number of bits, no last newline",
               "#FPS1\n8103\tone\n0000\tnone"),
    SEEDS_TEXT("index-three",
        "an index of three documents, one of them without keys",
        "bloomidx\001\000\000\000\001\000\000\000\022\002\000\000\000\000\000"
        "\000\003\000\000\000\000\000\000\000\003\000\000\000\000\000\000\000"
        "\005\000\000\000\000\000\000\000333333\323\077\002\000\000\000\000"
        "\000\000\000@\001\000\000\000\000\000\000\003\000\000\000\000\000"
        "\000\000\010\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000xxh3\000\000\000\000\000\000\000\000\000\000\000\000\224\010\024"
        "0\255\324d\245X-%\335\324\213\024c\000\000\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000\000\000\000\000!\000\000\000\000\000\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000\212\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\200\000\000"
        "\000\000\000\000\000\004\000\000\000\000\000\000\000\001\000\000\000"
        "\000\000\000\000\001\000\000\000\000\000\000\000\333\354N\007\364"
        "\337K\304\000\000\000\000\000\000\000\000\300\000\000\000\000\000"
        "\000\000\007\000\000\000\000\000\000\000\001\000\000\000\000\000\000"
        "\000\002\000\000\000\000\000\000\000\032\012\201U\216I\273_\000\000"
        "\000\000\000\000\000\000\000\001\000\000\000\000\000\000\011\000\000"
        "\000\000\000\000\000\001\000\000\000\000\000\000\000\003\000\000\000"
        "\000\000\000\000\013\303\257j\201\325H\077\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000\002\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000"
        "\003\000\000\000\000\000\000\000\003\000\000\000\000\000\000\000\000"
        "00zzxybbaby=words"),
    SEEDS_TEXT("container-groups",
        "a Parquet file of two row groups, one with a filter",
        "PAR1\025@\034\034\000\000\034\034\000\000\034\034\000\000\000\000 "
        "\000\002\001\000\000 \000\000\300\000\000\000\004\020\001\000\000@"
        "\000\000\200\200\000@\020\000\200\000\000 \026\004\031,H\006sch"
        "ema\000\025\0148\001a\000"
        "\026\232\001\031,\031\034&\010\034\026\014\031%\000\000\031"
        "\030\001a\026\002\026\232\001|q\000&\010\026^\000\000&\232\001\000"
        "\031\034&\010\034\026\004\031%\000\000\031\030\001a\026\002\026"
        "\232\001|q\000\000\000&\232\001\000\033\000\030\017written by hand"
        "\000j\000\000\000PAR1"),
    SEEDS_TEXT("container-measured",
        "one whose filter tells its own length",
        "PAR1\025@\034\034\000\000\034\034\000\000\034\034\000\000\000\000 "
        "\000\002\001\000\000 \000\000\300\000\000\000\004\020\001\000\000@"
        "\000\000\200\200\000@\020\000\200\000\000 \026\004\031,H\006sch"
        "ema\000\025\0148\001a\000"
        "\026\232\001\031\034\031\034&\010\034\026\014\031%\000\000"
        "\031\030\001a\026\002\026\232\001|q\000&\010\000\000&\232\001\000"
        "\033\000\030\017written by hand\000K\000\000\000PAR1"),
    SEEDS_TEXT("container-blocks",
        "a table: filters of blocks, without checksums",
        "data, data, data\272\344O\250\241\004\277\236\035\022`\262@\016H"
        "\012\042\220\316\225\246\267\031\240e\006\007\025\342\010,\036\247"
        ".l!\205z\005\373\326\230*:N+\042C\016\255\314\006]\367\321@\031"
        "\212.\021\332\017@\301\011\017\013\240\372Z8\346\0323\327\222\134"
        "\006\000\000\000\000\032\000\000\000\032\000\000\0004\000\000\000N"
        "\000\000\000\013\000\000\000\000\000\000-\001rocksdb.block.based.t"
        "able.whole.key.filtering1\010\034\001index.value.is.delta.encoded"
        "\000\010\013\001num.entries\024\000\000\000\000\001\000\000\000"
        "\000\000\000\000\000\000\042\002filter.leveldb.BuiltinBloomFilter2"
        "\020c\000\022\002rocksdb.propertiesxh\000\000\000\000\001\000\000"
        "\000\000\000\000\000\000\000\345\001F\000\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\005\000"
        "\000\000\367\317\364\205\267A\342\210"),
    SEEDS_TEXT("container-parts",
        "a filter in partitions, told by differences",
        "data, data, data\014\360\200\012\021/\004\002$\300\000\000\014\042"
        "\010(\010\240\004\014\000\003(TH\000\000\011X \024 \200\004\034"
        "\201\002\204B\006\300\300\004\310\010\004\004\212(\002\024\000\001"
        "g \010P\026\0020D\000\000\020\377\000\006\000\000\000\021\000\000"
        "\000\000\003\022\200%\000\010\000\240Q\010Aa\014\002\002)\260 \010"
        "\001`\003\000\010\214\220\020\211\000\304\240\205\020\302\011\010"
        "\220\002\000\010\000\012\241\022\200\004\222C4\042)\224D\010 \022"
        "\020\210\010\001\000\004X\377\000\006\000\000\000[\000\000\000\340"
        "\002 \300A\006\006!\000\023\010D\240\0211\220\031\000\020\006\022"
        "\262\002\324\010\000\260B\001\000\002 B\011\320\000\000\024#pp\024"
        "\000F`\020\202@\014\011\001\240\232\004\000\022\000\000\000F\020"
        "\001(\000\377\000\006\000\000\000\245\000\000\000\000\003key\020E"
        "\003\001a\000\003\001b\000\000\000\000\000\001\000\000\000\000\357"
        "\000\000\000\000-\001rocksdb.block.based.table.whole.key.filtering"
        "1\010\034\001index.value.is.delta.encoded\001\010\013\001num.entri"
        "es\024\000\000\000\000\001\000\000\000\000\013\001\000\000\000,"
        "\003partitionedfilter.rocksdb.BuiltinBloomFilter\356\001\027\000"
        "\022\003rocksdb.properties\212\002h\000\000\000\000\001\000\000"
        "\000\000v\001\000\000\000>\000z\000\317\001\000\000\001\000\000"
        "\000R\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
        "\000\000\000\000\000\000\000\000\000\000\000\000\007\000\000\000"
        "\367\317\364\205\267A\342\210"),
    SEEDS_TEXT("container-orc", "an ORC file of two columns with filters",
        "ORC\012\004\022\002\010d\012\010\012\002\000\000\022\002\010d\012T"
        "\010\004\032P\247\025bU\351S\221Q\303\312G{\3644\334O%\001AJ\375\267"
        "\244.\000\033\205\362\355\361\267\006\027K\023\251o!\354\014\005U"
        "\265\205\020\340k\306\250\214\230\315\220A\206\200X\330\134,\213hq"
        "\206A~\262\300\352\345\332\235 >\320\012\302\376\022\021\012\011\012"
        "\003\000\000\000\022\002\010d\012T\010\004\032P\252\340\221\305Y\305"
        "{\357\265G\256\310\214P\304\272\304vr\252\024\257\077\341\357\232"
        "\237<\205\256ET<\241t\227D*\230(F\301\001\244\360(_\001\325\253\0234"
        "8\005\004\334b\261\362H\262*\003\215\331\014\323\200\022\016\352\035"
        "\241 :F\300\213_\230\234\377\301\327/\371\270\335.\363\257\343-\355"
        "\246\351,\347\235\357+\341\224\365*\333\213\373)\325\202\201)\317"
        "\371\206(\311\360\214'\303\347\222&\275\336\230%\267\325\236$\261"
        "\314\244#\253\303\252\042\245\272\260!\237\261\266 \231\250\274\037"
        "\223\237\302\036\215\226\310\035\207\215\316\034\201\204\324\033\373"
        "\372\331\032\365\361\337\031\357\350\345\030\351\337\353\027\343\326"
        "\361\026\335\315\367\025\327\304\375\024\321\273\203\024\313\262\211"
        "\023\305\251\217\022\277\240\225\021\271\227\233\020\263\216\241\017"
        "\255\205\247\016\247\374\254\015\241\363\262\014\233\352\270\013\225"
        "\341\276\012\217\330\304\011\211\317\312\010\203\306\320\007\375\274"
        "\326\006\367\263\334\005\361\252\342\004\353\241\350\003\345\230\356"
        "\002\337\217\364\001\331\206z\254\002\262\213z\270\224\364\001\276"
        "\235\356\002\304\246\350\003\312\257\342\004\320\270\334\005\326\301"
        "\326\006\334\312\320\007\342\323\312\010\350\334\304\011\356\345\276"
        "\012\364\356\270\013\372\367\262\014\200\201\255\015\206\212\247\016"
        "\214\223\241\017\222\234\233\020\230\245\225\021\236\256\217\022\244"
        "\267\211\023\252\300\203\024\260\311\375\024\266\322\367\025\274\333"
        "\361\026\302\344\353\027\310\355\345\030\316\366\337\031\324\377\331"
        "\032\332\210\324\033\340\221\316\034\346\232\310\035\354\243\302\036"
        "\362\254\274\037\370\265\266 \376\276\260!\204\310\252\042\212\321"
        "\244#\220\332\236$\226\343\230%\234\354\222&\242\365\214'\250\376"
        "\206(\256\207\201)\264\220\373)\272\231\365*\300\242\357+\306\253"
        "\351,\314\264\343-\322\275\335.text-0text-1\303\251text-2\303\251"
        "\303\251text-3text-4\303\251text-5\303\251\303\251text-6text-7\303"
        "\251text-8\303\251\303\251text-9text-10\303\251text-11\303\251\303"
        "\251text-12text-13\303\251text-14\303\251\303\251text-15text-16\303"
        "\251text-17\303\251\303\251text-18text-19\303\251text-20\303\251\303"
        "\251text-21text-22\303\251text-23\303\251\303\251text-24text-25\303"
        "\251text-26\303\251\303\251text-27text-28\303\251text-29\303\251\303"
        "\251text-30text-31\303\251text-32\303\251\303\251text-33text-34\303"
        "\251text-35\303\251\303\251text-36text-37\303\251text-38\303\251\303"
        "\251text-39text-40\303\251text-41\303\251\303\251text-42text-43\303"
        "\251text-44\303\251\303\251text-45text-46\303\251text-47\303\251\303"
        "\251text-48text-49\303\251text-50\303\251\303\251text-51text-52\303"
        "\251text-53\303\251\303\251text-54text-55\303\251text-56\303\251\303"
        "\251text-57text-58\303\251text-59\303\251\303\251text-60text-61\303"
        "\251text-62\303\251\303\251text-63text-64\303\251text-65\303\251\303"
        "\251text-66text-67\303\251text-68\303\251\303\251text-69text-70\303"
        "\251text-71\303\251\303\251text-72text-73\303\251text-74\303\251\303"
        "\251text-75text-76\303\251text-77\303\251\303\251text-78text-79\303"
        "\251text-80\303\251\303\251text-81text-82\303\251text-83\303\251\303"
        "\251text-84text-85\303\251text-86\303\251\303\251text-87text-88\303"
        "\251text-89\303\251\303\251text-90text-91\303\251text-92\303\251\303"
        "\251text-93text-94\303\251text-95\303\251\303\251text-96text-97\303"
        "\251text-98\303\251\303\251text-99\234\006\010\012\006\010\012\006"
        "\010\012\006\011\013\007\011\013\007\011\013\007\011\013\007\011\013"
        "\007\011\013\007\011\013\007\011\013\007\011\013\007\011\013\007\011"
        "\013\007\011\013\007\011\013\007\011\013\007\011\013\007\011\013\007"
        "\011\013\007\011\013\007\011\013\007\011\013\007\011\013\007\011\013"
        "\007\011\013\007\011\013\007\011\013\007\011\013\007\011\013\007\011"
        "\013\007\011\013\007\011\013\007\012\006\010\006\020\000\030\006\012"
        "\006\010\006\020\001\030\012\012\006\010\010\020\001\030V\012\006"
        "\010\006\020\002\030\013\012\006\010\010\020\002\030V\012\007\010"
        "\001\020\001\030\215\003\012\007\010\001\020\002\030\370\006\012\006"
        "\010\002\020\002\030e\022\002\010\000\022\004\010\000\030\001\022"
        "\004\010\000\030\001\032\003GMT\012\014\012\002\010d\012\002\010d"
        "\012\002\010d\010\003\020\213\015\032\014\010\003\020\307\001\030"
        "\352\012 W(d\042\014\010\014\022\002\001\002\032\001x\032\001s\042"
        "\002\010\004\042\002\010\0070d:\002\010d:\002\010d:\002\010d@dH\000"
        "\010;\020\000\042\002\000\014(\0160\006\202\364\003\003ORC\023"),
    SEEDS_TEXT("options-none", "a kind alone", SEEDS_PLAN "standard"),
    SEEDS_TEXT("options-two", "two options",
               SEEDS_PLAN "standard:k=5,index=double"),
    SEEDS_TEXT("options-twice", "an option twice",
               SEEDS_PLAN "standard:k=5,k=6"),
    SEEDS_TEXT("options-inner", "a kind of others",
               SEEDS_PLAN "aging:of=split,generations=4"),
    SEEDS_TEXT("options-most", "the largest numbers",
               SEEDS_PLAN "standard:m=18446744073709551615,k=64"),
    SEEDS_TEXT("options-egh", "integers", SEEDS_PLAN "egh:universe=1000"),
    SEEDS_TEXT("options-grows", "how it grows",
               SEEDS_PLAN "scalable:of=quotient,growth=2,tightening=90"),
    SEEDS_TEXT("records-plain", "no quotes", ",\20a,b\nc,d\r\n,\n"),
    SEEDS_TEXT("records-quoted", "quotes, with newlines, doubled",
               ",\7a,\"b\nc\"\n\"d\"\"e\",f\r\n\"\"\n"),
    SEEDS_TEXT("records-stray", "a quote within a column",
               ",\3a\"b,c\n\"d\",e\"\n"),
    SEEDS_TEXT("records-fault", "a letter behind a quote", ",\3\"a\"b\n"),
    SEEDS_TEXT("lines-whole", "lines as they are", "\0\0\0\1a\nbc\n\nd"),
    SEEDS_TEXT("lines-csv", "columns of CSV, with a header",
               "\30\0\1\1name,n\n\"A,b\",1\nC,2\n"),
    SEEDS_TEXT("lines-columns", "three columns and a label",
               "\14\6\54\1a\tb\tc\td\te\tf\tg\th\ti\tj\n"),
    SEEDS_TEXT("lines-blanks", "columns apart by blanks",
               "\6\0\7\1  a b\t c\r\n d\n"),
    SEEDS_TEXT("lines-wide", "UTF-16", "\0\0\0\0\377\376a\0\n\0"),
    SEEDS_TEXT("nested-domain", "a name", "\0\1A.b.Example.com."),
    SEEDS_TEXT("nested-rule", "a rule", "\0\2||ads.example.com^"),
    SEEDS_TEXT("nested-v4", "a network", "\1\170192.0.2.7/24"),
    SEEDS_TEXT("nested-v6", "an address", "\1\40" "2001:db8::ffff:1.2.3.4"),
    SEEDS_TEXT("nested-path", "a path", "\2\1/srv//www/./a.txt/"),
    SEEDS_TEXT("names-two", "two names", "a\0folder/b"),
    SEEDS_TEXT("names-ended", "each with its end", "a\0b\0"),
    SEEDS_TEXT("names-empty", "an empty name", "a\0\0b"),
    SEEDS_TEXT("names-lines", "names that end with newlines", "a\nb\n"),
    SEEDS_TEXT("member-plain", "a member", "\2id{\"id\": 42, \"b\": [1, {}]}"),
    SEEDS_TEXT("member-deep", "a pointer",
               "\4/a/1{\"a\": [0, \"\\u00e9\\n\"], \"b\": -1.5e+3}"),
    SEEDS_TEXT("member-escaped", "a name with escapes",
               "\4/~1b{\"\\/b\": true, \"\\ud83d\\ude00\": null}"),
    SEEDS_TEXT("member-broken", "more behind the object", "\1a{\"a\": 1} x"),
    SEEDS_TEXT("serve-lines", "keys", "\0apple\n\npear\nplum"),
    SEEDS_TEXT("serve-squid", "fields with channels",
               "\31" "1 user a%20b -\n2 user %zz\nx\n3 u\n"),
    SEEDS_TEXT("serve-socketmap", "netstrings",
               "\2" "5:f key,0:,3:key,12:f"),
    SEEDS_TEXT("serve-garbage", "netstrings, and then none",
               "\2" "5:f key,01:x,5:f key,"),
    SEEDS_TEXT("serve-table", "get", "\3get a%20b\nput\nget %4\nget "),
    SEEDS_TEXT("serve-list", "keys of JSON",
               "\4[\"a\", \"\\u0061\\n\", -1.5e3, true, \"\"]\n"),
    SEEDS_TEXT("serve-http", "a request of HTTP, in chunks",
               "\1POST /contains?as=text HTTP/1.1\r\nHost: localhost\r\n"
               "Transfer-Encoding: chunked\r\n\r\n5\r\n[\"a\"]\r\n0\r\n\r\n"
               "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"),
    SEEDS_TEXT("serve-empty", "empty lines before a request of HTTP",
               "\r\n\r\n\r\n\r\nGET / HTTP/1.0\n\r\n"),
    SEEDS_TEXT("serve-nested", "a list in a list", "\4[\"a\", [\"b\"]]"),
};

/* ---- Making them ------------------------------------------------------- */

static void seeds_die(const char *what, const char *why)
{
    fprintf(stderr, "seeds: %s: %s\n", what, why);
    exit(2);
}

/* Marks a packed form in a kind's name. */
static const char SEEDS_PACKED[] = "packed ";

/* Returns the image of a small filter of a few keys, or the packed form. */
static uint8_t *seeds_image(const char *kind, size_t *bytes)
{
    bool packed = strncmp(kind, SEEDS_PACKED, strlen(SEEDS_PACKED)) == 0;
    if (packed)
        kind += strlen(SEEDS_PACKED);
    uint64_t hashes[12];
    bly_spec spec = { .capacity = 12, .rate = 0.05, .seed = 7 };
    bly_filter *filter;
    for (uint64_t i = 0; i < 12; i++)
        hashes[i] = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    if (bly_build(&filter, kind, &spec,
                  &(bly_keys){ .n = 12, .hashes = hashes }) != BLY_OK)
        seeds_die(kind, bly_why());
    const void *image = bly_image(filter, bytes);
    uint8_t *copy = malloc(*bytes);
    if (copy == NULL)
        seeds_die(kind, "out of memory");
    memcpy(copy, image, *bytes);
    if (packed && bly_pack(filter, copy, *bytes, bytes) != BLY_OK)
        seeds_die(kind, bly_why());
    bly_free(filter);
    return copy;
}

static void seeds_write(const char *folder, const char *class,
                        const char *name, const char *comment,
                        const uint8_t *bytes, size_t n)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s-%s.hex", folder, class, name);
    for (char *c = path + strlen(folder); *c != '\0'; c++)
        if (*c == ':' || *c == '=' || *c == ',' || *c == ' ')
            *c = '-';
    if (!hex_write(path, comment, bytes, n))
        seeds_die(path, "cannot write");
}

static void seeds_write_text(const char *folder, const seeds_text *text)
{
    const char *name = strchr(text->name, '-');
    char target[32];
    snprintf(target, sizeof target, "%.*s", (int)(name - text->name),
             text->name);
    seeds_write(folder, target, name + 1, text->comment,
                (const uint8_t *)text->bytes, text->n);
}

static void seeds_edit(const char *folder, const char *class,
                       const seeds_bad *edit)
{
    size_t n;
    uint8_t *image = seeds_image(edit->kind, &n);
    for (size_t i = 0; i < edit->width; i++)
        image[edit->at + i] = (uint8_t)(edit->value >> (8 * i));
    if (edit->cut != 0)
        n = edit->cut == 1 ? 0 : edit->cut;
    if (edit->sums == SEEDS_BOTH)
        forge_seal(image, n);
    if (edit->sums == SEEDS_HEADER)
        forge_seal_header(image);
    seeds_write(folder, class, edit->name, edit->comment, image, n);
    free(image);
}

static void seeds_valid(const char *folder, const char *kind)
{
    size_t n;
    uint8_t *image = seeds_image(kind, &n);
    seeds_write(folder, "check-valid", kind, kind, image, n);
    free(image);
}

/* Sets every bit that may be set. */
static void seeds_saturated(const char *folder, const char *kind)
{
    size_t n;
    char name[64], comment[64];
    uint8_t *image = seeds_image(kind, &n);
    memset(image + FORGE_HEADER, 0xFF, n - FORGE_HEADER);
    forge_seal(image, n);
    snprintf(name, sizeof name, "%s-saturated", kind);
    snprintf(comment, sizeof comment, "%s, every bit set", kind);
    if (bly_check(image, n, NULL) == BLY_OK)
        seeds_write(folder, "check-valid", name, comment, image, n);
    free(image);
}

static void seeds_packed(const char *folder, const bly_kind_info *kind)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", SEEDS_PACKED, kind->name);
    if ((kind->can & BLY_CAN_PACK) != 0) {
        seeds_valid(folder, name);
        seeds_saturated(folder, name);
    }
}

/* Seeds of targets that forge a filter: small ones of some plans, unchanged and
 * with their bytes changed in three places. */
static void seeds_forged(const char *folder, const char *target)
{
    size_t n;
    (void)bly_kinds(&n);
    for (size_t i = 0; i < n + 9; i += 4) {
        uint8_t head[] = { (uint8_t)i, 40, 1, 4, 0x50, 0, 1, 3, 0x80, 0, 1, 0,
                           0, 0, 0, 0, 0, 0, 4, 0xC0, 1, 0x80 };
        char name[32];
        snprintf(name, sizeof name, "plan-%zu", i);
        seeds_write(folder, target, name, "a plan, keys, changes", head,
                    i % 8 == 0 ? 3 : sizeof head);
    }
}

/* A small file of each format that we write, with attached data if possible;
 * and one without layers of the format that is only read. */
static void seeds_format(const char *folder, const char *name, uint8_t choice)
{
    static const char block[]
        = "bip158:block="
          "000000006c02c8ea6e4ff69651f7fcde348fb9d557a06e6957b65552002a7820";
    bly_key keys[8];
    bly_keys all = { .n = 8, .keys = keys };
    bly_spec spec = { .capacity = 8, .rate = 0.05 };
    bly_filter *filter = NULL;
    const char *title = "a file of this format";
    uint8_t file[16384] = { choice, 2, 0, 0, 0 };
    size_t n = 4 + BLY_HEADER_BYTES;
    for (size_t i = 0; i < 8; i++)
        keys[i] = (bly_key){ &"abcdefgh"[i], 8 - i };
    if (bly_build(&filter, strcmp(name, "bip158") == 0 ? block : name, &spec,
                  &all) == BLY_OK) {
        if (bly_attach(filter, "notes", 5) != BLY_EUNSUPPORTED)
            title = "a file of this format, with data";
        const uint8_t *image = bly_image(filter, &n);
        if (n - BLY_HEADER_BYTES >= sizeof file)
            seeds_die("too large a file", name);
        memcpy(file + 1, image + BLY_HEADER_BYTES, n - BLY_HEADER_BYTES);
    }
    seeds_write(folder, "formats", name, title, file,
                n - BLY_HEADER_BYTES + 1);
    bly_free(filter);
}

int main(int argc, char **argv)
{
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    if (argc != 2)
        seeds_die("usage", "seeds FOLDER");
    for (size_t i = 0; i < n; i++) {
        seeds_valid(argv[1], kinds[i]->name);
        seeds_saturated(argv[1], kinds[i]->name);
        seeds_packed(argv[1], kinds[i]);
    }
    for (size_t i = 0; i < sizeof seeds_plans / sizeof *seeds_plans; i++)
        seeds_valid(argv[1], seeds_plans[i]);
    for (size_t i = 0; i < sizeof seeds_odds / sizeof *seeds_odds; i++)
        seeds_edit(argv[1], "check-valid", &seeds_odds[i]);
    for (size_t i = 0; i < sizeof seeds_bads / sizeof *seeds_bads; i++)
        seeds_edit(argv[1], "check-bad", &seeds_bads[i]);
    for (size_t i = 0; i < sizeof seeds_texts / sizeof *seeds_texts; i++)
        seeds_write_text(argv[1], &seeds_texts[i]);
    seeds_forged(argv[1], "forge");
    seeds_forged(argv[1], "info");
    seeds_forged(argv[1], "pack");
    const bly_format_info *const *formats = bly_formats(&n);
    for (size_t i = 0; i < n; i++)
        seeds_format(argv[1], formats[i]->kind->name, (uint8_t)i);
    return 0;
}
