/* orc.c - the Bloom filter of a row group of an Apache ORC column.
 *
 * WHAT IT IS
 *
 * An ORC file may contain a filter for a column of a row group, so that readers
 * can skip row groups without a value. The payload is one message BloomFilter
 * of a stream BLOOM_FILTER_UTF8, byte for byte.
 *
 * WHEN TO USE IT
 *
 * Query the ORC file itself with `query --column`: then type and length of the
 * column are known. A filter by itself does not say what its keys are:
 *
 *      column                  key                      option
 *      string, varchar         its UTF-8                (none)
 *      char(N)                 its UTF-8                orc:char=N
 *      binary                  its bytes, --as hex      (none)
 *      tinyint to bigint       --as int64               orc:type=int
 *      date                    --as int64: days since   orc:type=int
 *                              1970
 *      timestamp               --as int64: milliseconds orc:type=int
 *                              since 1970, of the wall
 *                              clock
 *      float                   --as float               orc:type=double
 *      double                  --as double              orc:type=double
 *      decimal                 its digits, as text      orc:type=decimal
 *
 * With the wrong option almost every key seems to be absent, so look up a known
 * value first.
 *
 * WHEN NOT TO
 *
 * - No other program must read the filter: `standard` has the same size and is
 *   faster.
 * - The stream is a BLOOM_FILTER, the only kind before ORC 1.2.1: the words of
 *   its filters have other bytes between them, and the hashes of texts,
 *   decimals and timestamps depend on the writer's encoding and time zone.
 *   These are not read.
 *
 * COST
 *
 * The size is that of `standard`: 9.6 bits per key at 1 %. ORC takes the rows
 * of a row group for the number of keys, 10,000 by default, which makes a
 * filter of 12 KB. A lookup computes one hash.
 *
 * A file of 100 MB with 5,400,000 rows, compressed with zstd, had 540 filters
 * for each of two columns. `check` of all filters took 0.01 s and 14 MB of
 * memory, `info` 0.04 s, and a query for one key 0.01 s and 19 MB. (The C++
 * library of ORC wrote it with setBloomFilterFPP(0.01); AMD EPYC, family 25.)
 *
 * THE PICTURE
 *
 *      | 08 | k | 1a | bytes of words | w words of 8 bytes |
 *      0    1   2..4                  head                 end
 *
 * IMAGE
 *
 *      geometry 0   m, number of bits, 64 w, 64 .. 2^31
 *      geometry 1   k, probes, 1 .. 65536
 *      geometry 2   N of a char(N), 0 .. 255; 0: none
 *      geometry 3   type of the keys: 0 text, 1 int, 2 double, 3 decimal
 *      payload      08; k; 1a; 8 w; and w words, the lowest byte first. The two
 *                   numbers are varints: 7 bits in each byte, the lowest first,
 *                   and the top bit set in all but the last
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the numbers
 *      have as few bytes as they can, (3) the payload ends with the words, (4)
 *      m and k are those of the geometry, (5) N is 0 unless the type is text.
 *
 * MATHS
 *
 * m and k are those of ORC's own formulas for n keys and a rate p: m is the
 * next multiple of 64 above -n ln p / (ln 2)^2, rounded down, and k is m / n ln
 * 2, rounded. The positions of a key are a progression, which plan and info
 * take into account (src/maths/strides.h).
 *
 * n is not in the filter; for an opened one it is taken to be the n that m and
 * k are best for, m ln 2 / k.
 *
 * THE BITS OF A KEY
 *
 * h has 64 bits. Of a text it is MurmurHash3 with one word of state, c1, c2 and
 * the end those of the version of 128 bits, and the seed 104729. Of a number it
 * is Thomas Wang's hash of 64 bits, with shifts that keep the sign; a real
 * number counts as its bits as a double. A text of char(N) has blanks behind it
 * up to N characters. A decimal is a text without zeros that can be left out,
 * and without a point if there is no digit behind it.
 *
 * a is the lower and b the higher half of h. For i = 1 .. k, c is a + i b
 * modulo 2^32. If its top bit is set, all its bits are turned. The key's bit is
 * c mod m. Bit i is bit (i mod 64) of word i / 64, the lowest being bit 0.
 *
 * PAPERS
 *
 *  [Kirsch 2006]  Kirsch & Mitzenmacher, Less hashing, same performance:
 *                 building a better Bloom filter, ESA. Its two hashes.
 */
#include "bodies/rowfile.h"

#include <math.h>

enum {
    ORC_VERSION = 1,
    ORC_CHAR = ROWFILE_THIRD, ORC_TYPE = ROWFILE_FOURTH,
    ORC_OPTION_TYPE = 0, ORC_OPTION_CHAR = 1,
    ORC_TEXT = 0, ORC_INT, ORC_DOUBLE, ORC_DECIMAL,
    ORC_K_MAX = 65536, ORC_CHAR_MAX = 255,
    ORC_TAG_K = 0x08, ORC_TAG_WORDS = 0x1A,
    ORC_SEED = 104729,
    ORC_ROOM = 1024                     /* bytes of a text that is changed   */
};

#define ORC_WORDS_MAX (UINT64_C(1) << 25)

static const char *const orc_types[] = {
    "text", "int", "double", "decimal", NULL
};

static const kind_option orc_options[] = {
    [ORC_OPTION_TYPE] = {
        .name = "type", .help = "of the column: text and binary, int (also "
                                "dates and times), double (also float), or "
                                "decimal",
        .choices = orc_types },
    [ORC_OPTION_CHAR] = {
        .name = "char", .help = "characters of a text of type char(N), which "
                                "blanks fill up; 0: another type",
        .least = 0, .most = ORC_CHAR_MAX, .standard = 0 },
    { .name = NULL },
};

static const double ORC_LN2 = 0.69314718055994530942;

/* ---- The message ------------------------------------------------------- */

static const rowfile_number orc_numbers[] = {
    { "the number of hash functions", 1, 0, false, ROWFILE_K, 1,
      1, ORC_K_MAX, 0 },
    { "the number of words", 3, 0, false, ROWFILE_M, 64, 1, ORC_WORDS_MAX, 0 },
    { "the length of the texts", 0, 0, false, ORC_CHAR, 1, 0, ORC_CHAR_MAX, 0 },
    { "the type of the keys", 0, 0, false, ORC_TYPE, 1, ORC_TEXT, ORC_DECIMAL,
      0 },
    { .name = NULL },
};

/* Writes a number behind its tag, unless `to` is NULL. Returns its bytes. */
static size_t orc_varint(uint8_t *to, uint8_t tag, uint64_t v)
{
    size_t n = 0;
    for (uint64_t rest = v; n == 0 || rest > 0; n++, rest >>= 7)
        if (to != NULL)
            to[n + 1] = (uint8_t)((rest & 0x7F) | (rest > 0x7F ? 0x80 : 0));
    if (to != NULL)
        *to = tag;
    return n + 1;
}

static size_t orc_write_head(uint8_t *to, const uint64_t *geometry)
{
    size_t n = orc_varint(to, ORC_TAG_K, geometry[ROWFILE_K]);
    return n + orc_varint(to != NULL ? to + n : NULL, ORC_TAG_WORDS,
                       geometry[ROWFILE_M] / 8);
}

/* Reads a number of at most 32 bits. */
static bool orc_read_varint(uint64_t *v, uint64_t *at, const uint8_t *file,
                            uint64_t bytes)
{
    *v = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (++*at >= bytes)
            return false;
        *v |= (uint64_t)(file[*at] & 0x7F) << shift;
        if ((file[*at] & 0x80) == 0)
            return true;
    }
    return false;
}

static bool orc_read_head(uint64_t *geometry, const uint8_t *file,
                          uint64_t bytes)
{
    uint64_t at = 0, words = 0;
    bool right = orc_read_varint(&geometry[ROWFILE_K], &at, file, bytes)
              && ++at < bytes && orc_read_varint(&words, &at, file, bytes);
    geometry[ROWFILE_M] = 8 * words;
    return right;
}

static strides orc_strides(const uint64_t *geometry)
{
    return (strides){ .m = geometry[ROWFILE_M],
                      .k = (uint32_t)geometry[ROWFILE_K],
                      .form = STRIDES_FOLDED, .width = 32 };
}

/* Only texts are filled up. */
static bool orc_fits(const uint64_t *geometry)
{
    return geometry[ORC_TYPE] == ORC_TEXT || geometry[ORC_CHAR] == 0;
}

static bly_status orc_told(uint64_t *geometry, const uint64_t *option)
{
    geometry[ORC_TYPE] = option[ORC_OPTION_TYPE];
    geometry[ORC_CHAR] = option[ORC_OPTION_CHAR];
    return orc_fits(geometry) ? BLY_OK
         : status_fail(BLY_EPARAM, "only texts of ORC are filled up with "
                       "blanks: leave char= out, or use type=text");
}

static bly_status orc_size(uint64_t *geometry, const kind_spec *spec)
{
    double n = (double)spec->capacity;
    double bits = trunc(-n * log(spec->rate) / (ORC_LN2 * ORC_LN2));
    geometry[ROWFILE_M] = rowfile_row_of(bits + 1, 64);
    geometry[ROWFILE_K] = rowfile_whole(
        fmax(1, floor((double)geometry[ROWFILE_M] / n * ORC_LN2 + 0.5)));
    return orc_told(geometry, spec->option);
}

static const rowfile orc_file[] = { {
    .what = "a filter of ORC", .numbers = orc_numbers, .head = 4, .unit = 8,
    .m_most = 64 * ORC_WORDS_MAX, .limit = "2^31 bits",
    .write_head = orc_write_head, .read_head = orc_read_head,
    .fits = orc_fits, .strides = orc_strides, .size = orc_size,
} };

ROWFILE(orc)

static const kind_foreign orc_foreign = {
    .writer = "Apache ORC: a column's filter, of one row group",
    .numbers = {
        { "bits", NULL },
        { "k", NULL },
        { "char", "the length of a text of type char(N)" },
        { "type", "0 text, 1 int, 2 double, 3 decimal" },
    },
    ROWFILE_FOREIGN(orc),
    .told = orc_told,
    .fields = 1u << ORC_CHAR | 1u << ORC_TYPE,
};

/* ---- Keys -------------------------------------------------------------- */

/* A shift to the right that keeps the sign. */
static uint64_t orc_shift(uint64_t x, unsigned n)
{
    return x >> n | (x >> 63 != 0 ? ~(UINT64_MAX >> n) : 0);
}

static uint64_t orc_hash_number(uint64_t x)
{
    x = ~x + (x << 21);
    x ^= orc_shift(x, 24);
    x += (x << 3) + (x << 8);
    x ^= orc_shift(x, 14);
    x += (x << 2) + (x << 4);
    x ^= orc_shift(x, 28);
    return x + (x << 31);
}

static uint64_t orc_hash_text(const uint8_t *text, size_t n)
{
    return hash_murmur3_64(text, n, ORC_SEED);
}

/* Fills a text up with blanks to so many characters. */
static uint64_t orc_hash_char(const uint8_t *text, size_t n, uint64_t most)
{
    uint8_t filled[ORC_ROOM];
    uint64_t characters = 0;
    for (size_t i = 0; i < n; i++)
        characters += (text[i] & 0xC0) != 0x80;
    if (characters >= most || n + (most - characters) > sizeof filled)
        return orc_hash_text(text, n);
    memcpy(filled, text, n);
    memset(filled + n, ' ', (size_t)(most - characters));
    return orc_hash_text(filled, n + (size_t)(most - characters));
}

static size_t orc_digits(const uint8_t *text, size_t n, size_t at)
{
    size_t from = at;
    while (at < n && text[at] >= '0' && text[at] <= '9')
        at++;
    return at - from;
}

/* Leaves out what a decimal can do without: a plus, zeros at both ends, and a
 * point behind which nothing is left. Other texts are hashed as they are. */
static uint64_t orc_hash_decimal(const uint8_t *text, size_t n)
{
    uint8_t plain[ORC_ROOM], *end = plain;
    size_t at = n > 0 && (text[0] == '-' || text[0] == '+');
    size_t whole = orc_digits(text, n, at), point = at + whole;
    size_t parts = point < n && text[point] == '.'
                 ? orc_digits(text, n, point + 1) : 0;
    bool dot = point < n && text[point] == '.';
    if (whole + parts == 0 || point + dot + parts != n || n + 1 > sizeof plain)
        return orc_hash_text(text, n);
    for (; whole > 0 && text[at] == '0'; whole--)
        at++;
    while (parts > 0 && text[point + parts] == '0')
        parts--;
    if (text[0] == '-' && whole + parts > 0)
        *end++ = '-';
    if (whole == 0)
        *end++ = '0';
    memcpy(end, text + at, whole);
    end += whole;
    if (parts > 0)
        memcpy(end, text + point, parts + 1);
    return orc_hash_text(plain, (size_t)(end - plain)
                                + (parts > 0 ? parts + 1 : 0));
}

/* A number of 4 or 8 bytes, as one of 8. */
static uint64_t orc_number(const uint8_t *bytes, size_t n, bool real)
{
    uint32_t half = image_u32(bytes, 0);
    float narrow;
    double wide;
    uint64_t number;
    if (n == 8)
        return image_u64(bytes, 0);
    if (!real)
        return (uint64_t)(int64_t)(int32_t)half;
    memcpy(&narrow, &half, sizeof narrow);
    wide = narrow;
    memcpy(&number, &wide, sizeof number);
    return number;
}

static uint64_t orc_hash(const probes_row *row, const uint8_t *bytes, size_t n)
{
    uint64_t type = row->with[ROWFILE_WITH_FOURTH];
    uint64_t most = row->with[ROWFILE_WITH_THIRD];
    if ((type == ORC_INT || type == ORC_DOUBLE) && (n == 4 || n == 8))
        return orc_hash_number(orc_number(bytes, n, type == ORC_DOUBLE));
    return type == ORC_DECIMAL ? orc_hash_decimal(bytes, n)
         : most > 0 ? orc_hash_char(bytes, n, most) : orc_hash_text(bytes, n);
}

static void orc_begin(const probes_row *row, probes_key *key)
{
    uint64_t h = orc_hash(row, key->bytes, key->length);
    key->state[0] = h & UINT32_MAX;
    key->state[1] = h >> 32;
}

static uint64_t orc_next(const probes_row *row, probes_key *key, uint64_t i)
{
    (void)i;
    key->state[0] += key->state[1];
    uint32_t c = (uint32_t)key->state[0];
    return probes_mod(row, c >> 31 != 0 ? ~c : c);
}

ROWFILE_KIND(orc,
    .summary = "the Bloom filter of a row group of Apache ORC",
    .version = ORC_VERSION,
    .options = orc_options)
