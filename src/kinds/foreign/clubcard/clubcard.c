/* clubcard.c - the clubcards of Mozilla's CRLite, in their own bytes.
 *
 * WHAT IT IS
 *
 * The filter that Firefox has used since 2025 to find revoked certificates. It
 * has a block for each issuer, and is exact for all certificates that were
 * known when it was made. The payload is such a file, byte for byte, of version
 * 3 or 4.
 *
 * WHEN TO USE IT
 *
 * Use it to look up certificates in the filters of Firefox, or to make such a
 * filter: of members and others that belong to groups whose shares of members
 * differ a lot. A block is as large as its own group needs. For CRLite's data
 * that takes a third less than one filter for all.
 *
 * WHEN NOT TO
 *
 * - A certificate is not in the monitored logs, or was logged after the file
 *   was made: it is not covered, and ITS ANSWER MEANS NOTHING, yes or no.
 * - The issuer is not enrolled, so that the file has no block for it: the
 *   answer is no, because the file lists none of its certificates. Whether one
 *   is revoked must be checked in another way.
 * - Lookups must be fast, and the keys are of one group: `cascade`, which takes
 *   a tenth more.
 * - Files of CRLite from before 2025: `crlite`.
 *
 * COST
 *
 *      others per member    bits per member
 *      10                        5.4
 *      100                       8.7
 *      1000                     12.2
 *
 * In large blocks; each block takes up to 928 bits more. A lookup takes one
 * SHA-256, which is most of its time, and a binary search among the blocks. It
 * reads 40 bytes of each column, of two columns on average for a key that is
 * not a member, and of all for a member: 7 with 100 others for each.
 *
 * THE PICTURE
 *
 *      | version | logs | block | block | … | X 0 | X 1 | … | Y |
 *
 *                start
 *      column … 0 1 | 1 . 1 1 . 1 … 1 |          bits where the key's
 *                     |   | |   |     |           coefficients are 1: their
 *                     +---+-+---+-----+           sum is 0 in X, and in Y
 *
 *      block A, rank 3     block B, rank 1
 *      X 0  ============   ============
 *      X 1  ============
 *      X 2  ============
 *      Y    =====          =========
 *
 * IMAGE
 *
 *      geometry 0   issuers, which have a block each
 *      geometry 1   logs whose certificates are covered
 *      geometry 2   the last day that is covered, as in 20250630, UTC; 0: none
 *      geometry 3   how keys are written: 0 bytes, 1 tab, 2 comma
 *      payload
 *         0   1     version: 3, numbers have the lowest byte first; or 4, they
 *                   have the highest first
 *         1   1     0
 *         2   8/2   number of logs (8 bytes in version 3, 2 in version 4); then
 *                   for each log
 *             32    its name, the SHA-256 of its public key
 *             8     first time that is covered, in milliseconds since 1970
 *             8     last time
 *             8/4   number of blocks, 0 .. 2^24; then for each block, by rising
 *                   names
 *             8/0   32
 *             32    name: the SHA-256 of the issuer's SubjectPublicKeyInfo
 *                   version 3             version 4
 *                   8   rows m of X       4   rows m of X
 *                   8   rows of Y         1   rank
 *                   8   rank              4   its first bit in X
 *                   8   its first bit in  4   rows of Y
 *                       X                 4   its first bit in Y
 *                   8   its first bit in  1   inverted: not 0
 *                       Y                 2   number of exceptions; each 1 byte
 *                   1   inverted: 0, 1        with a length and that many bytes
 *                   8   number of exceptions; each 8 bytes with a length and
 *                       that many bytes
 *             8/1   number of columns of X, at most 64; each 8 or 4 bytes with
 *                   the number of its words of 64 bits, and the words
 *             8/4   number of words of Y; and the words. Bit t of a column is
 *                   bit t mod 64 of word t / 64. Bits after the last word are
 *                   0
 *
 *      Valid if and only if (1) the fields are as above, (2) no name is twice
 *      there, (3) no rank is larger than the number of columns, (4) no block
 *      ends beyond bit 2^40, (5) there are exceptions in files of at most 65536
 *      blocks only, and (6) the last word ends with the payload.
 *
 * MATHS
 *
 * A block of r members and n others has the rank k = floor(log2(n / r)), or 0
 * if n < 2 r. Of the others, n / 2^k pass X; Y separates them from the members.
 * With 2 % more rows than equations that is
 *
 *      1.02 (k r + r + n / 2^k) bits; per member k + 2 to k + 3, or 1.02 (1 +
 *      n / r) if k is 0
 *
 * and up to 255 bits in X and Y. No filter can take less than about log2(n / r)
 * plus 1.44 bits per member. If n is 0, all keys of the block are members, and
 * if r is 0 none is: that takes no bits.
 *
 * A key that the file was not made for is found with probability 2^-(k+1).
 * `stat` reports the mean over the blocks, each weighted by an estimate of all
 * its keys, r (1 + 2^k).
 *
 * THE BITS OF A KEY
 *
 * A key is 32 bytes with the name of its block, and its item: the content of
 * the DER INTEGER of the serial number, with a leading 00 if it has one. With
 * --as hex, a line is these digits, and blanks between them do not matter. With
 * the option keys=tab a key is a group, a TAB and an item, and with keys=comma
 * it is a group, a comma and an item. A group of 64 hexadecimal digits is the
 * name of its block; that of any other is its SHA-256.
 *
 * d = SHA-256 of name and item, four words of 64 bits a0 … a3, the lowest byte
 * first in both versions. Coefficient i, 0 to 255, is bit i mod 64 of word i /
 * 64, and coefficient 0 is 1. A window begins at bit (a3 mod m) + first bit; if
 * m is 0, at the first bit. In a column, the sum is the parity of the
 * coefficients whose bits are 1.
 *
 * ANSWER
 *
 * A key without a group, or shorter than a name: yes, as it may be in any
 * block. No block of that name: no. If m of X is 0: no. If the sum is 1 in one
 * of the first k columns of X, or in Y: no. If the item is an exception: no.
 * Otherwise yes. In an inverted block, yes and no are exchanged.
 *
 * EXCEPTIONS
 *
 * They are others whose equations contradict those of Y, which hardly ever
 * happens. Without them all blocks are of one size and are searched by halves.
 * In a file with exceptions, blocks are searched one after the other. The end
 * of the blocks shows which it is; a file in which both are possible is
 * refused.
 *
 * BUILD
 *
 * `bloomery build --within` and bly_build_clubcard make a clubcard
 * (src/formats/clubcards.c). Members are held in memory as their digests.
 * Others are counted in each block, which gives the ranks. After X is solved,
 * they are read again, and those that pass are held. Equations are eliminated
 * in the order of their windows. If those of a block contradict each other, it
 * gets a row more, so that no file has exceptions. Free rows are filled from
 * the seed. Rows that are used do not depend on the order of the keys, so the
 * same keys and seed make the same file.
 *
 * PAPERS
 *
 *  [Schanck 2025]  Clubcards for the WebPKI: smaller certificate revocation
 *                  tests in theory and practice, IEEE S&P.
 *  [Dillinger et al. 2022]  Fast succinct retrieval and approximate membership
 *                  using ribbon, SEA.
 */
#include "image/kind_foreign.h"

#include <math.h>

#include "bits/bits.h"
#include "kinds/foreign/clubcard/clubcard.h"

enum {
    CLUBCARD_VERSION = 1,
    CLUBCARD_ISSUERS = 0, CLUBCARD_LOGS = 1, CLUBCARD_UNTIL = 2,
    CLUBCARD_KEYS = 3,                  /* geometry                          */
    CLUBCARD_WALK_MOST = 65536,         /* blocks of a file with exceptions  */
    CLUBCARD_BLOCKS_MOST = 1 << 24,
    CLUBCARD_GROUP = 32                 /* keys of a batch in flight         */
};

#define CLUBCARD_BITS_MOST (UINT64_C(1) << 40)

static const char *const clubcard_forms[] = { "bytes", "tab", "comma", NULL };

static const kind_option clubcard_options[] = {
    [CLUBCARD_OPTION_KEYS] = {
      .name = "keys", .help = "keys are 32 bytes and an item, or a group and "
                              "an item with a TAB or a comma between them",
      .choices = clubcard_forms, .standard = CLUBCARD_BYTES },
    [CLUBCARD_OPTION_VERSION] = {
      .name = "version", .help = "version of the file to build",
      .least = CLUBCARD_LITTLE, .most = CLUBCARD_BIG,
      .standard = CLUBCARD_BIG },
    { .name = NULL },
};

/* ---- Keys -------------------------------------------------------------- */

static int clubcard_digit(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads a block's name from 64 digits. */
static bool clubcard_name(uint8_t id[CLUBCARD_ID], const uint8_t *text,
                          size_t length)
{
    if (length != 2 * CLUBCARD_ID)
        return false;
    for (size_t i = 0; i < CLUBCARD_ID; i++) {
        int high = clubcard_digit(text[2 * i]);
        int low = clubcard_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        id[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool clubcard_split(clubcard_key *out, uint64_t form, const void *key,
                    size_t length)
{
    const uint8_t *text = key, *end;
    size_t group = CLUBCARD_ID, skip = 0;
    if (form != CLUBCARD_BYTES && length > 0) {
        end = memchr(text, form == CLUBCARD_TAB ? '\t' : ',', length);
        if (end == NULL)
            return false;
        group = (size_t)(end - text);
        skip = 1;
    }
    if (length < group + skip)
        return false;
    if (form == CLUBCARD_BYTES)
        memcpy(out->id, text, CLUBCARD_ID);
    else if (!clubcard_name(out->id, text, group))
        digest_sha256(out->id, text, group, "", 0);
    out->item = text + group + skip;
    out->length = length - group - skip;
    return true;
}

/* ---- The file ---------------------------------------------------------- */

typedef struct {
    const uint8_t *words;
    uint64_t       n, at;               /* words, and where they begin       */
} clubcard_column;

typedef struct {
    const uint8_t *file;
    uint64_t bytes;
    bool     big;
    uint64_t logs, blocks;
    uint64_t index;                     /* where the blocks begin            */
    bool     even;                      /* there are no exceptions           */
    unsigned ranks;                     /* columns of X                      */
    clubcard_column column[CLUBCARD_COLUMNS + 1];   /* the last is Y         */
} clubcard_file;

typedef struct {
    const uint8_t *id;
    uint64_t rows, exact_rows, rank, at, exact_at, exceptions;
    unsigned inverted;
    uint64_t first;                     /* where the exceptions begin        */
} clubcard_block;

/* Reads a number of so many bytes, which are there. */
static uint64_t clubcard_number(const clubcard_file *f, uint64_t at,
                                unsigned width)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < width; i++)
        v = v << 8 | f->file[at + (f->big ? i : width - 1 - i)];
    return v;
}

/* Returns which of two sizes a field has in this version. */
static unsigned clubcard_width(const clubcard_file *f, unsigned little,
                               unsigned big)
{
    return f->big ? big : little;
}

/* Reads a number and moves behind it. False: the file ends before. */
static bool clubcard_take(const clubcard_file *f, uint64_t *at, unsigned width,
                          uint64_t *v)
{
    if (f->bytes - *at < width)
        return false;
    *v = clubcard_number(f, *at, width);
    *at += width;
    return true;
}

/* Does the same with a number of parts that follow, of so many bytes each or
 * more. False also if the file ends before they do: *at is the number then. */
static bool clubcard_take_count(const clubcard_file *f, uint64_t *at,
                                unsigned width, uint64_t each, uint64_t *n)
{
    uint64_t from = *at;
    if (clubcard_take(f, at, width, n) && *n <= (f->bytes - *at) / each)
        return true;
    *at = from;
    return false;
}

static uint64_t clubcard_stride(const clubcard_file *f)
{
    return clubcard_width(f, CLUBCARD_ENTRY_LITTLE, CLUBCARD_ENTRY_BIG);
}

/* Reads everything in front of the blocks. On failure *at is the field. */
static bool clubcard_begin(clubcard_file *f, const uint8_t *file,
                           uint64_t bytes, uint64_t *at)
{
    *f = (clubcard_file){ .file = file, .bytes = bytes };
    *at = 0;
    if (bytes < CLUBCARD_HEAD)
        return false;
    f->big = file[0] == CLUBCARD_BIG;
    *at = CLUBCARD_HEAD;
    if (!clubcard_take_count(f, at, clubcard_width(f, 8, 2), CLUBCARD_LOG,
                             &f->logs))
        return false;
    *at += CLUBCARD_LOG * f->logs;
    if (!clubcard_take_count(f, at, clubcard_width(f, 8, 4), 1, &f->blocks)
        || f->blocks > CLUBCARD_BLOCKS_MOST)
        return false;
    f->index = *at;
    return true;
}

static bool clubcard_take_column(clubcard_file *f, uint64_t *at,
                                 clubcard_column *column)
{
    if (!clubcard_take_count(f, at, clubcard_width(f, 8, 4), 8, &column->n))
        return false;
    column->at = *at;
    column->words = f->file + *at;
    *at += 8 * column->n;
    return true;
}

/* Reads where the columns are, from the end of the blocks on. On failure *at is
 * the field. */
static bool clubcard_take_columns(clubcard_file *f, uint64_t *at)
{
    uint64_t from = *at, ranks;
    if (!clubcard_take(f, at, clubcard_width(f, 8, 1), &ranks)
        || ranks > CLUBCARD_COLUMNS) {
        *at = from;
        return false;
    }
    f->ranks = (unsigned)ranks;
    for (unsigned i = 0; i <= f->ranks; i++)
        if (!clubcard_take_column(f, at, &f->column[i]))
            return false;
    return *at == f->bytes;
}

/* Finds the columns of a file whose blocks are all of one size. */
static bool clubcard_is_even(clubcard_file *f)
{
    uint64_t at = f->index;
    if (f->blocks > (f->bytes - at) / clubcard_stride(f))
        return false;
    at += f->blocks * clubcard_stride(f);
    return clubcard_take_columns(f, &at);
}

/* Reads a block without its exceptions, and moves to them. */
static bool clubcard_block_at(clubcard_block *b, const clubcard_file *f,
                              uint64_t *at)
{
    if (f->bytes - *at < clubcard_stride(f))
        return false;
    uint64_t p = *at + clubcard_width(f, 8, 0) + CLUBCARD_ID;
    *b = (clubcard_block){ .id = f->file + p - CLUBCARD_ID };
    if (f->big) {
        b->rows = clubcard_number(f, p, 4);
        b->rank = f->file[p + 4];
        b->at = clubcard_number(f, p + 5, 4);
        b->exact_rows = clubcard_number(f, p + 9, 4);
        b->exact_at = clubcard_number(f, p + 13, 4);
        b->inverted = f->file[p + 17] != 0;
        b->exceptions = clubcard_number(f, p + 18, 2);
    } else {
        b->rows = clubcard_number(f, p, 8);
        b->exact_rows = clubcard_number(f, p + 8, 8);
        b->rank = clubcard_number(f, p + 16, 8);
        b->at = clubcard_number(f, p + 24, 8);
        b->exact_at = clubcard_number(f, p + 32, 8);
        b->inverted = f->file[p + 40];
        b->exceptions = clubcard_number(f, p + 41, 8);
    }
    *at += clubcard_stride(f);
    b->first = *at;
    return true;
}

/* Moves behind the exceptions of a block. *found, if not NULL: whether the item
 * is among them. On failure *at is the exception. */
static bool clubcard_skip(const clubcard_file *f, const clubcard_block *b,
                          uint64_t *at, const clubcard_key *key, bool *found)
{
    for (uint64_t i = 0; i < b->exceptions; i++) {
        uint64_t n;
        if (!clubcard_take_count(f, at, clubcard_width(f, 8, 1), 1, &n))
            return false;
        if (found != NULL && n == key->length
            && (n == 0 || memcmp(f->file + *at, key->item, (size_t)n) == 0))
            *found = true;
        *at += n;
    }
    return true;
}

/* ---- Check ------------------------------------------------------------- */

static bly_status clubcard_wrong(uint64_t at, const char *what)
{
    return status_fail(BLY_ECORRUPT, "read as a clubcard of CRLite: byte %llu: "
                       "%s: fetch it again, or name another format",
                       (unsigned long long)at, what);
}

static bly_status clubcard_check_head(clubcard_file *f, const uint8_t *file,
                                      uint64_t bytes)
{
    uint64_t at;
    if (bytes >= 1 && file[0] != CLUBCARD_LITTLE && file[0] != CLUBCARD_BIG)
        return status_fail(BLY_EVERSION, "read as a clubcard of CRLite: byte "
                           "0: its version is %u, not 3 or 4: name another "
                           "format (versions 0 to 2 are crlite)", file[0]);
    if (bytes >= CLUBCARD_HEAD && file[1] != 0)
        return clubcard_wrong(1, "it is not 0");
    if (!clubcard_begin(f, file, bytes, &at))
        return clubcard_wrong(at, "it is cut short, or has more than 2^24 "
                              "blocks");
    return BLY_OK;
}

static bly_status clubcard_check_block(const clubcard_file *f,
                                       const clubcard_block *b, uint64_t at,
                                       const uint8_t *before)
{
    if (!f->big && clubcard_number(f, at, 8) != CLUBCARD_ID)
        return clubcard_wrong(at, "the length of a block's name is not 32");
    uint64_t id = at + clubcard_width(f, 8, 0), p = id + CLUBCARD_ID;
    if (before != NULL && memcmp(before, b->id, CLUBCARD_ID) >= 0)
        return clubcard_wrong(id, "the blocks are not in the order of their "
                              "names");
    if (b->rank > CLUBCARD_COLUMNS)
        return clubcard_wrong(p + clubcard_width(f, 16, 4), "the rank is above "
                              "64");
    if (b->rows > CLUBCARD_BITS_MOST || b->at > CLUBCARD_BITS_MOST
        || b->exact_rows > CLUBCARD_BITS_MOST
        || b->exact_at > CLUBCARD_BITS_MOST)
        return clubcard_wrong(p, "a block ends beyond bit 2^40");
    if (b->inverted > 1)
        return clubcard_wrong(p + 40, "the inverted flag is neither 0 nor 1");
    if (b->exceptions > 0 && f->blocks > CLUBCARD_WALK_MOST)
        return clubcard_wrong(p + clubcard_width(f, 41, 18), "a file of more "
                              "than 65536 blocks has exceptions");
    return BLY_OK;
}

/* The sums over all blocks that `read` and `stat` report. */
typedef struct {
    double   members;                   /* estimated from the rows           */
    double   keys, found;               /* all keys, and strangers found     */
    unsigned rank;                      /* the highest                       */
    uint64_t rank_at;                   /* and where it is                   */
} clubcard_sum;

static void clubcard_sum_block(clubcard_sum *sum, const clubcard_block *b,
                               uint64_t at)
{
    double r = (double)b->rows / 1.02, all = r * (1 + ldexp(1, (int)b->rank));
    if (b->rows > 0) {
        sum->members += r;
        sum->keys += all;
        sum->found += all * ldexp(1, -(int)b->rank - 1);
    }
    if (b->rank > sum->rank) {
        sum->rank = (unsigned)b->rank;
        sum->rank_at = at;
    }
}

static bly_status clubcard_check_blocks(const clubcard_file *f, uint64_t *at,
                                        clubcard_sum *sum, bool *even)
{
    const uint8_t *before = NULL;
    clubcard_block b;
    *even = true;
    for (uint64_t i = 0; i < f->blocks; i++) {
        uint64_t from = *at;
        if (!clubcard_block_at(&b, f, at))
            return clubcard_wrong(from, "a block is cut short");
        bly_status status = clubcard_check_block(f, &b, from, before);
        if (status != BLY_OK)
            return status;
        if (!clubcard_skip(f, &b, at, NULL, NULL))
            return clubcard_wrong(*at, "an exception is cut short");
        clubcard_sum_block(sum, &b, from);
        *even = *even && b.exceptions == 0;
        before = b.id;
    }
    return BLY_OK;
}

static bly_status clubcard_check_columns(clubcard_file *f, uint64_t at,
                                         const clubcard_sum *sum, bool even)
{
    if (!clubcard_take_columns(f, &at))
        return clubcard_wrong(at, "the columns are more than 64, or do not end "
                              "where the file does");
    if (sum->rank > f->ranks)
        return clubcard_wrong(sum->rank_at, "the rank of a block is larger "
                              "than the number of columns");
    if (!even && clubcard_is_even(f))
        return clubcard_wrong(f->index, "its blocks can be read in two ways");
    return BLY_OK;
}

/* Returns the date of a time in milliseconds, as in 20250630, or 99991231 if it
 * is later. Years begin in March here, so that a leap day is the last. */
static uint64_t clubcard_date(uint64_t milliseconds)
{
    uint64_t days = milliseconds / 86400000;
    if (days > 2932896)
        return 99991231;
    days += 719468;                     /* since 1 March of the year 0       */
    uint64_t era = days / 146097, day = days % 146097;
    uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    uint64_t month = (5 * day + 2) / 153;
    day -= (153 * month + 2) / 5;
    month = month < 10 ? month + 3 : month - 9;
    year += 400 * era + (month <= 2);
    return 10000 * year + 100 * month + day + 1;
}

/* Returns the last day that is covered in any log; 0: none. */
static uint64_t clubcard_until(const clubcard_file *f)
{
    uint64_t last = 0, at = f->index - clubcard_width(f, 8, 4)
                          - CLUBCARD_LOG * f->logs;
    for (uint64_t i = 0; i < f->logs; i++, at += CLUBCARD_LOG) {
        uint64_t until = clubcard_number(f, at + 40, 8);
        last = until > last ? until : last;
    }
    return last > 0 ? clubcard_date(last) : 0;
}

static double clubcard_rate(const clubcard_sum *sum)
{
    return sum->keys > 0 ? sum->found / sum->keys : 0;
}

static bly_status clubcard_read(kind_found *out, const uint8_t *file,
                                uint64_t bytes)
{
    clubcard_file f;
    clubcard_sum sum = { .rank = 0 };
    bool even = true;
    bly_status status = clubcard_check_head(&f, file, bytes);
    uint64_t at = status == BLY_OK ? f.index : 0;
    if (status == BLY_OK)
        status = clubcard_check_blocks(&f, &at, &sum, &even);
    if (status == BLY_OK)
        status = clubcard_check_columns(&f, at, &sum, even);
    if (status == BLY_OK)
        status = digest_check("a clubcard");
    if (status != BLY_OK)
        return status;
    *out = (kind_found){
        .capacity = sum.members >= 1 ? (uint64_t)llround(sum.members) : 1,
        .items = IMAGE_ITEMS_UNKNOWN, .rate = clubcard_rate(&sum),
        .geometry = { f.blocks, f.logs, clubcard_until(&f) },
    };
    return BLY_OK;
}

/* Returns whether the logs, as far as they are there, cover times that can be,
 * up to the year 2500. Moves behind them. */
static bool clubcard_looks_logs(const clubcard_file *f, uint64_t *at)
{
    for (uint64_t i = 0; i < f->logs; i++, *at += CLUBCARD_LOG) {
        if (f->bytes < *at + CLUBCARD_LOG)
            return true;
        uint64_t from = clubcard_number(f, *at + CLUBCARD_ID, 8);
        uint64_t until = clubcard_number(f, *at + CLUBCARD_ID + 8, 8);
        if (from > until || until >> 44 != 0)
            return false;
    }
    return true;
}

/* Returns whether the first block can be one. */
static bool clubcard_looks_block(clubcard_file *f, uint64_t at, uint64_t all)
{
    clubcard_block b;
    return clubcard_take(f, &at, clubcard_width(f, 8, 4), &f->blocks)
        && f->blocks > 0 && f->blocks <= (all - at) / clubcard_stride(f)
        && (f->bytes - at < clubcard_stride(f)
            || (clubcard_block_at(&b, f, &at)
                && clubcard_check_block(f, &b, at - clubcard_stride(f), NULL)
                   == BLY_OK
                && b.exceptions <= UINT8_MAX));
}

static bool clubcard_looks(const uint8_t *bytes, size_t n, uint64_t all)
{
    clubcard_file f = { .file = bytes, .bytes = n };
    uint64_t at = CLUBCARD_HEAD;
    if (n < CLUBCARD_HEAD || bytes[1] != 0
        || (bytes[0] != CLUBCARD_LITTLE && bytes[0] != CLUBCARD_BIG))
        return false;
    f.big = bytes[0] == CLUBCARD_BIG;
    if (!clubcard_take(&f, &at, clubcard_width(&f, 8, 2), &f.logs)
        || f.logs > (all - at) / CLUBCARD_LOG || n < at + CLUBCARD_LOG
        || !clubcard_looks_logs(&f, &at))
        return false;
    return at > n || clubcard_looks_block(&f, at, all);
}

static uint64_t clubcard_reach(const uint64_t *geometry)
{
    return geometry[CLUBCARD_KEYS] < CLUBCARD_FORMS ? CLUBCARD_HEAD
                                                    : UINT64_MAX;
}

static bly_status clubcard_told(uint64_t *geometry, const uint64_t *option)
{
    geometry[CLUBCARD_KEYS] = option[CLUBCARD_OPTION_KEYS];
    return BLY_OK;
}

static const kind_foreign clubcard_foreign = {
    .writer = "Mozilla's CRLite since 2025: the filters of Firefox",
    .numbers = {
        [CLUBCARD_ISSUERS] = { "issuers", NULL },
        [CLUBCARD_LOGS] = { "logs", "whose certificates are covered" },
        [CLUBCARD_UNTIL] = { "until", "last day that is covered, UTC" },
        [CLUBCARD_KEYS] = { "key parts", "0 bytes, 1 tab, 2 comma" },
    },
    .looks  = clubcard_looks,
    .read   = clubcard_read,
    .reach  = clubcard_reach,
    .told   = clubcard_told,
    .fields = 1u << CLUBCARD_KEYS,
};

static bly_status clubcard_check(const void *image)
{
    bly_status status = kind_check_foreign(image, &clubcard_foreign);
    if (status == BLY_OK
        && image_geometry(image, CLUBCARD_KEYS) >= CLUBCARD_FORMS)
        return kind_bad_geometry(image);
    return status;
}

static bly_status clubcard_plan(bly_plan_t *plan, const kind_spec *spec)
{
    (void)plan;
    (void)spec;
    return status_fail(BLY_EUNSUPPORTED, "kind clubcard needs the keys of all "
                       "groups at once, to plan a block for each: build it "
                       "from members and others");
}

/* ---- Lookups ----------------------------------------------------------- */

/* Opens a file that was checked, but may have changed since. False: it makes no
 * sense. */
static bool clubcard_open(clubcard_file *f, const void *image)
{
    const uint8_t *file = image_payload(image);
    uint64_t at;
    if (!clubcard_begin(f, file, image_payload_bytes(image), &at))
        return false;
    f->even = clubcard_is_even(f);
    if (f->even)
        return true;
    if (f->blocks > CLUBCARD_WALK_MOST)
        return false;
    clubcard_block b;
    at = f->index;
    for (uint64_t i = 0; i < f->blocks; i++)
        if (!clubcard_block_at(&b, f, &at)
            || !clubcard_skip(f, &b, &at, NULL, NULL))
            return false;
    return clubcard_take_columns(f, &at);
}

/* Finds a block by its name, by halves. */
static bool clubcard_search(clubcard_block *b, const clubcard_file *f,
                            const uint8_t *id)
{
    uint64_t from = 0, n = f->blocks, skip = clubcard_width(f, 8, 0);
    const uint8_t *names = f->file + f->index + skip;
    while (n > 0) {
        uint64_t half = n / 2;
        const uint8_t *name = names + (from + half) * clubcard_stride(f);
        int order = memcmp(name, id, CLUBCARD_ID);
        if (order == 0) {
            uint64_t at = (uint64_t)(name - f->file) - skip;
            return clubcard_block_at(b, f, &at);
        }
        from += order < 0 ? half + 1 : 0;
        n = order < 0 ? n - half - 1 : half;
    }
    return false;
}

static bool clubcard_find(clubcard_block *b, const clubcard_file *f,
                          const uint8_t *id)
{
    uint64_t at = f->index;
    if (f->even)
        return clubcard_search(b, f, id);
    for (uint64_t i = 0; i < f->blocks; i++) {
        if (!clubcard_block_at(b, f, &at))
            return false;
        if (memcmp(b->id, id, CLUBCARD_ID) == 0)
            return true;
        if (!clubcard_skip(f, b, &at, NULL, NULL))
            return false;
    }
    return false;
}

static uint64_t clubcard_word(const clubcard_column *c, uint64_t i, bool big)
{
    if (i >= c->n)
        return 0;
    uint64_t v = image_u64(c->words, 8 * i);
    return big ? clubcard_swap(v) : v;
}

/* Returns the sum of a key in a column, from bit `at` on. */
static unsigned clubcard_parity(const clubcard_column *c, uint64_t at,
                                const uint64_t a[CLUBCARD_LIMBS], bool big)
{
    uint64_t i = at / 64, low = clubcard_word(c, i, big), sum = 0;
    unsigned bit = at % 64;
    for (unsigned j = 0; j < CLUBCARD_LIMBS; j++) {
        uint64_t high = clubcard_word(c, i + j + 1, big);
        sum ^= a[j] & clubcard_shift(low, high, bit);
        low = high;
    }
    return platform_popcount(sum) & 1;
}

static void clubcard_prefetch(const clubcard_column *c, uint64_t at)
{
    if (at / 64 < c->n)
        platform_prefetch(c->words + at / 64 * 8);
}

/* A key on its way through the columns. */
typedef struct {
    clubcard_key      key;
    clubcard_block    block;
    clubcard_equation equation;
    uint64_t at, exact_at;              /* of its windows                    */
    bool     named, there;              /* whether it has a group, and that a
                                           block                             */
} clubcard_look;

/* Finds the block of a key, which is that of the key before if it has the same
 * name, and its windows. */
static void clubcard_look_up(clubcard_look *l, const clubcard_look *before,
                             const clubcard_file *f)
{
    uint8_t digest[DIGEST_SHA256];
    bool same = before != NULL && before->named
             && memcmp(before->key.id, l->key.id, CLUBCARD_ID) == 0;
    if (same)
        l->block = before->block;
    l->there = same ? before->there : clubcard_find(&l->block, f, l->key.id);
    if (!l->there || l->block.rows == 0)
        return;
    digest_sha256(digest, l->key.id, CLUBCARD_ID, l->key.item, l->key.length);
    l->equation = clubcard_of(digest);
    l->at = l->block.at + clubcard_start(&l->equation, l->block.rows);
    l->exact_at = l->block.exact_at
                + clubcard_start(&l->equation, l->block.exact_rows);
    for (unsigned i = 0; i < 2 && i < f->ranks; i++)
        clubcard_prefetch(&f->column[i], l->at);
}

static bool clubcard_passes(const clubcard_look *l, const clubcard_file *f)
{
    uint64_t rank = l->block.rank < f->ranks ? l->block.rank : f->ranks;
    for (uint64_t i = 0; i < rank; i++)
        if (clubcard_parity(&f->column[i], l->at, l->equation.a, f->big))
            return false;
    return !clubcard_parity(&f->column[f->ranks], l->exact_at, l->equation.a,
                            f->big);
}

/* A key without a group may be in any. */
static bool clubcard_has(const clubcard_look *l, const clubcard_file *f)
{
    uint64_t at = l->block.first;
    bool except = false;
    if (!l->named || !l->there)
        return !l->named;
    if (l->block.rows == 0 || !clubcard_passes(l, f))
        return l->block.inverted;
    if (l->block.exceptions > 0)
        (void)clubcard_skip(f, &l->block, &at, &l->key, &except);
    return except == (l->block.inverted != 0);
}

static void clubcard_contains_some(const void *image, const clubcard_file *f,
                                   const bly_key *keys, size_t n,
                                   bool *present)
{
    uint64_t form = image_geometry(image, CLUBCARD_KEYS);
    clubcard_look looks[CLUBCARD_GROUP];
    for (size_t i = 0; i < n; i++) {
        looks[i].named = clubcard_split(&looks[i].key, form, keys[i].data,
                                        keys[i].length);
        if (looks[i].named)
            clubcard_look_up(&looks[i], i > 0 ? &looks[i - 1] : NULL, f);
    }
    for (size_t i = 0; i < n; i++)
        present[i] = clubcard_has(&looks[i], f);
}

/* In a file that was changed after it was checked, and makes no sense any more,
 * every key is there. */
static void clubcard_contains_keys(const void *image, const uint64_t *hashes,
                                   const bly_key *keys, size_t n,
                                   bool *present)
{
    clubcard_file f;
    (void)hashes;
    if (!clubcard_open(&f, image)) {
        memset(present, true, n);
        return;
    }
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < CLUBCARD_GROUP ? n - i : CLUBCARD_GROUP;
        clubcard_contains_some(image, &f, keys + i, some, present + i);
    }
}

static bool clubcard_contains_key(const void *image, uint64_t hash,
                                  const void *bytes, size_t length)
{
    bool present;
    bly_key key = { .data = bytes, .length = length };
    clubcard_contains_keys(image, &hash, &key, 1, &present);
    return present;
}

/* ---- Statistics -------------------------------------------------------- */

/* Blocks whose keys are all members have no rows that show their number. A
 * block of m rows has (m + 1/2) / 1.02 members, within 1/2. */
static void clubcard_stat(bly_info_t *out, const void *image)
{
    clubcard_file f;
    clubcard_sum sum = { .rank = 0 };
    double set = 0, bits = 0;
    bool even;
    if (!clubcard_open(&f, image))
        return;
    uint64_t at = f.index;
    if (clubcard_check_blocks(&f, &at, &sum, &even) != BLY_OK)
        return;
    for (unsigned i = 0; i <= f.ranks; i++) {
        set += (double)bits_count(f.column[i].words,
                                  (size_t)(8 * f.column[i].n));
        bits += 64 * (double)f.column[i].n;
    }
    out->distinct = sum.members;
    out->distinct_sd = sqrt((double)f.blocks / 12);
    out->rate = clubcard_rate(&sum);
    out->fill = bits > 0 ? set / bits : 0;
    out->probes = 1 + sum.rank;
}

static const kind_whole clubcard_whole = {
    .contains      = clubcard_contains_key,
    .contains_many = clubcard_contains_keys,
};

const bly_kind bly_kind_clubcard = {
    .name    = "clubcard",
    .family  = "foreign",
    .summary = "a filter of Firefox's CRLite: exact, with a block per issuer",
    .version = CLUBCARD_VERSION,
    .options = clubcard_options,

    .plan  = clubcard_plan,
    .check = clubcard_check,
    .stat  = clubcard_stat,

    .contains      = kind_whole_contains,
    .contains_many = kind_whole_contains_many,

    .whole   = &clubcard_whole,
    .foreign = &clubcard_foreign,
};
