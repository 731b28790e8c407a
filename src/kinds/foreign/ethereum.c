/* ethereum.c - the logs' Bloom filter of an Ethereum block or receipt.
 *
 * WHAT IT IS
 *
 * A block, and each receipt in it, has 2048 bits that show which contracts have
 * logged, and about which topics. To find the logs of an address or a topic,
 * read only the blocks whose filter may contain it. The payload is these 256
 * bytes: `logsBloom`, decoded from its hexadecimal digits.
 *
 * WHEN TO USE IT
 *
 * Use it to find the Ethereum blocks and receipts that may have logs of an
 * address or topic.
 *
 * WHEN NOT TO
 *
 * - The blocks are busy: their filters are nearly full and match nearly
 *   everything. `info` shows the rate.
 * - You choose the size: there is only one. Use `standard`.
 *
 * COST
 *
 * 256 bytes, and three probes. A lookup or an add computes Keccak-256, which
 * takes about a microsecond.
 *
 * THE PICTURE
 *
 *      | bit 2047 …                       … bit 0 |
 *      0                                          256
 *
 * IMAGE
 *
 *      payload      256 bytes; bit i is bit (i mod 8) of byte 255 - i / 8
 *
 *      Valid if and only if the payload has 256 bytes.
 *
 * MATHS
 *
 * Each log adds its address and its topics. The rate of n different ones is (1
 * - (1 - 1/2048)^3n)^3: 0.25 % for 100, 1.6 % for 200, 8.7 % for 400, 20 % for
 * 600. The size is fixed, so no rate can be requested. The filter of a block is
 * the union of those of its receipts.
 *
 * THE BITS OF A KEY
 *
 * A key is an address (20 bytes) or a topic (32 bytes). With h = Keccak-256 of
 * the key, the bits are the first three pairs of bytes of h, the higher byte
 * first, modulo 2048.
 *
 * PAPERS
 *
 *  [Wood 2014]  Ethereum: a secure decentralised generalised transaction
 *               ledger. Section 4.3.
 */
#include "image/kind_foreign.h"

#include "bodies/probes.h"
#include "bits/digest.h"

enum {
    ETHEREUM_VERSION = 1,
    ETHEREUM_BYTES = 256, ETHEREUM_M = 8 * ETHEREUM_BYTES, ETHEREUM_K = 3,
    ETHEREUM_TURN = ETHEREUM_M - 8      /* the first byte has the last bits  */
};

static bly_status ethereum_digests(void)
{
    return digest_check("format ethereum");
}

static bly_status ethereum_plan(bly_plan_t *plan, const kind_spec *spec)
{
    bly_status status = ethereum_digests();
    if (status == BLY_OK && spec->capacity == 0)
        status = kind_no_capacity();
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, ETHEREUM_BYTES);
    if (status == BLY_OK)
        rows_plan_row(plan, ETHEREUM_M, ETHEREUM_K, spec->capacity,
                      ETHEREUM_BYTES);
    return status;
}

static bly_status ethereum_read(kind_found *out, const uint8_t *file,
                                uint64_t bytes)
{
    bly_plan_t plan = { .rate = 0 };
    bly_status status = ethereum_digests();
    (void)file;
    if (status != BLY_OK)
        return status;
    if (bytes != ETHEREUM_BYTES)
        return status_fail(BLY_ECORRUPT, "read as the logs' filter of an "
                           "Ethereum block, which has 256 bytes, but there are "
                           "%llu: give the bytes of logsBloom, or name another "
                           "format", (unsigned long long)bytes);
    uint64_t n = probes_capacity(ETHEREUM_M, ETHEREUM_K);
    rows_plan_row(&plan, ETHEREUM_M, ETHEREUM_K, n, ETHEREUM_BYTES);
    *out = (kind_found){
        .capacity = n, .items = IMAGE_ITEMS_UNKNOWN, .rate = plan.rate,
    };
    return BLY_OK;
}

static uint64_t ethereum_reach(const uint64_t *geometry)
{
    (void)geometry;
    return ETHEREUM_BYTES;
}

static const kind_foreign ethereum_foreign = {
    .writer = "Ethereum: logsBloom of a block or receipt",
    .read   = ethereum_read,
    .reach  = ethereum_reach,
};

static bly_status ethereum_check(const void *image)
{
    return kind_check_foreign(image, &ethereum_foreign);
}

/* ---- Keys -------------------------------------------------------------- */

static probes_row ethereum_row(const void *image)
{
    return (probes_row){
        .row = probes_bytes(image_payload(image)),
        .bytes = ETHEREUM_BYTES, .m = ETHEREUM_M, .k = ETHEREUM_K,
    };
}

static void ethereum_begin(const probes_row *row, probes_key *key)
{
    uint8_t h[DIGEST_KECCAK];
    (void)row;
    digest_keccak(h, key->bytes, key->length);
    for (size_t i = 0; i < ETHEREUM_K; i++)
        key->state[i] = (uint64_t)h[2 * i] << 8 | h[2 * i + 1];
}

static uint64_t ethereum_next(const probes_row *row, probes_key *key,
                              uint64_t i)
{
    return key->state[i] % row->m ^ ETHEREUM_TURN;
}

PROBES_WHOLE(ethereum)
PROBES_LOOKS(ethereum)
PROBES_ADD(ethereum)

static const kind_whole ethereum_whole = {
    .contains      = ethereum_contains_key,
    .contains_many = ethereum_contains_keys,
    .add           = ethereum_add_key,
};

static const kind_combining ethereum_combining = {
    .unite   = ethereum_unite,
    .overlap = ethereum_overlap,
};

const bly_kind bly_kind_ethereum = {
    .name    = "ethereum",
    .family  = "foreign",
    .summary = "the logs' filter of an Ethereum block or receipt",
    .version = ETHEREUM_VERSION,

    .plan  = ethereum_plan,
    .check = ethereum_check,
    .stat  = ethereum_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .add = kind_whole_add,

    .whole     = &ethereum_whole,
    .combining = &ethereum_combining,
    .foreign   = &ethereum_foreign,
};
