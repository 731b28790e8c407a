/* casefold.c - case folding, compared with rows of Unicode's CaseFolding.txt
 * and with properties of every character.
 */
#include "test.h"

#include "bits/casefold.h"

#include <locale.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wctype.h>

static void need_unicode(void)
{
    if (casefold_lacks() != NULL)
        skip();                         /* without BLY_UNICODE */
}

static void test_is_there_as_built(void **state)
{
    (void)state;
    char to[3];
#ifdef BLY_WITH_ICU
    assert_null(casefold_lacks());
    assert_int_equal(casefold_utf8(to, sizeof to, "A", 1), 1);
    assert_int_equal(to[0], 'a');
#else
    assert_non_null(strstr(casefold_lacks(), "-DBLY_UNICODE=ON"));
    assert_true(casefold_utf8(to, sizeof to, "a", 1) == SIZE_MAX);
#endif
}

#ifdef BLY_WITH_ICU
static bool lost;                       /* makes loading a library fail */

void *__wrap_dlopen(const char *file, int how);
void *__real_dlopen(const char *file, int how);
void *__wrap_dlopen(const char *file, int how)
{
    return lost ? NULL : __real_dlopen(file, how);
}

/* Runs first, in its own process, because ICU is looked for once. */
static void test_icu_is_not_installed(void **state)
{
    (void)state;
    char to[3];
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        lost = true;
        const char *lacks = casefold_lacks();
        _exit(lacks == NULL || strstr(lacks, "install ICU") == NULL
              || casefold_utf8(to, sizeof to, "A", 1) != SIZE_MAX);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
}
#endif

/* ---- Known texts -------------------------------------------------------- */

static const struct { const char *text, *folded; } known[] = {
    { "", "" },
    { "Hello, WORLD 123 [\\]^_`{|}@", "hello, world 123 [\\]^_`{|}@" },
    { "Ärger", "ärger" },
    { "STRASSE", "strasse" },
    { "Straße", "strasse" },            /* F: 00DF */
    { "ẞ", "ss" },                      /* F: 1E9E */
    { "ΣΊΣΥΦΟΣ", "σίσυφοσ" },
    { "σίσυφος", "σίσυφοσ" },           /* C: 03C2, the final sigma */
    { "ЁЛКА", "ёлка" },
    { "I\u0130\u0131", "ii\u0307\u0131" },      /* not as in Turkish */
    { "\u0390", "\u03b9\u0308\u0301" },
    { "\ufb03", "ffi" },
    { "\u0149", "\u02bcn" },
    { "\u00b5\u017f\u212a", "\u03bcsk" },
    { "\u13a0\uab70", "\u13a0\u13a0" }, /* Cherokee folds to capitals */
    { "\U00010400", "\U00010428" },
    { "A\u0308\u00c4", "a\u0308\u00e4" },       /* is not normalized */
    { "日本語\U0001F600", "日本語\U0001F600" },
};

static void test_known_texts(void **state)
{
    (void)state;
    need_unicode();
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char to[64];
        size_t n = strlen(known[i].text), wanted = strlen(known[i].folded);
        assert_int_equal(casefold_utf8(to, sizeof to, known[i].text, n),
                         wanted);
        assert_memory_equal(to, known[i].folded, wanted);
    }
}

static void test_nul_is_a_character(void **state)
{
    (void)state;
    need_unicode();
    char to[3];
    assert_int_equal(casefold_utf8(to, sizeof to, "A\0B", 3), 3);
    assert_memory_equal(to, "a\0b", 3);
}

/* ---- Every character ---------------------------------------------------- */

static size_t encode(char *to, uint32_t c)
{
    size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned first[] = { 0, 0xc0, 0xe0, 0xf0 };
    to[0] = (char)(first[more] | c >> 6 * more);
    for (size_t i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
    return more + 1;
}

/* Folding twice changes nothing and fits the promised room, which one character
 * needs in full. Surrogates are not characters. */
static void test_every_character(void **state)
{
    (void)state;
    need_unicode();
    size_t changed = 0, longest = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        char text[4], once[4 * CASEFOLD_TIMES], twice[16 * CASEFOLD_TIMES];
        size_t n = encode(text, c);
        size_t m = casefold_utf8(once, CASEFOLD_TIMES * n, text, n);
        if (c >= 0xd800 && c < 0xe000) {
            assert_true(m == SIZE_MAX);
            continue;
        }
        assert_true(m <= CASEFOLD_TIMES * n);
        assert_int_equal(casefold_utf8(twice, sizeof twice, once, m), m);
        assert_memory_equal(once, twice, m);
        changed += m != n || memcmp(text, once, n) != 0;
        longest += m == CASEFOLD_TIMES * n;
    }
    assert_true(changed >= 1500);       /* 1530 rows in Unicode 15 */
    assert_true(longest >= 1);
}

/* ---- Names of domains ---------------------------------------------------- */

/* Writes the domain's name of a label with the character, or of the character
 * alone. Returns its number of bytes, or SIZE_MAX. */
static size_t domain_of(char *to, size_t room, uint32_t c, bool alone)
{
    char label[8] = "a";
    size_t n = encode(label + !alone, c);
    return casefold_domain(to, room, label, n + !alone);
}

/* Exceptions of IDNA: dotless and dotted i, and the final sigma. */
static bool keeps_case(uint32_t c)
{
    return c == 0x130 || c == 0x131 || c == 0x3c2;
}

/* Returns whether two characters give the same name, if each gives one. */
static bool same_domain(uint32_t c, uint32_t other)
{
    for (int alone = 0; alone < 2; alone++) {
        char a[64], b[64];
        size_t n = domain_of(a, sizeof a, c, alone);
        size_t m = domain_of(b, sizeof b, other, alone);
        if (n != SIZE_MAX && m != SIZE_MAX
            && (n != m || memcmp(a, b, n) != 0))
            return false;
    }
    return true;
}

/* The tables of the C library say which characters belong together. */
static void test_domains_have_no_case(void **state)
{
    (void)state;
    need_unicode();
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
        skip();
    size_t pairs = 0;
    for (uint32_t c = 0x80; c < 0x110000; c++) {
        uint32_t upper = towupper((wint_t)c), lower = towlower((wint_t)c);
        if ((c >= 0xd800 && c < 0xe000) || keeps_case(c))
            continue;
        pairs += upper != c;
        if (!same_domain(c, upper) || !same_domain(c, lower))
            fail_msg("U+%04X", (unsigned)c);
    }
    assert_true(pairs >= 1000);         /* 1383 in Unicode 14 */
}

/* Capitals that older versions of UTS #46 map otherwise, or to nothing. */
static void test_capitals_of_domains(void **state)
{
    (void)state;
    need_unicode();
    static const uint32_t capitals[][2] = {
        { 0x1e9e, 0xdf }, { 0x4c0, 0x4cf }, { 0x2132, 0x214e },
        { 0x2183, 0x2184 }, { 0x10a0, 0x2d00 }, { 0x10c5, 0x2d25 },
        { 0x10c7, 0x2d27 }, { 0xc4, 0xe4 },
    };
    for (size_t i = 0; i < sizeof capitals / sizeof *capitals; i++) {
        char to[64];
        assert_true(domain_of(to, sizeof to, capitals[i][0], false)
                    != SIZE_MAX);
        assert_true(same_domain(capitals[i][0], capitals[i][1]));
    }
}

static void test_no_domain(void **state)
{
    (void)state;
    need_unicode();
    static char text[2000], to[8000];
    memset(text, 'a', sizeof text);
    assert_true(casefold_domain(to, sizeof to, "\xff", 1) == SIZE_MAX);
    assert_true(casefold_domain(to, 3, "\xc3\xbc", 2) == SIZE_MAX);
    assert_true(casefold_domain(to, sizeof to, text, sizeof text) == SIZE_MAX);
}

/* ---- Broken texts, and too little room ---------------------------------- */

static void test_broken_utf8(void **state)
{
    (void)state;
    need_unicode();
    static const char *const broken[] = {
        "\x80", "\xc3", "a\xc3", "\xc3g", "\xc0\x80", "\xc1\xbf",
        "\xe0\x80\x80", "\xe2\x82", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf0\x9f\x98", "\xf8\x88\x80\x80\x80", "\xff",
        "\xe4rger",                     /* Latin-1 */
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        char to[64];
        assert_true(casefold_utf8(to, sizeof to, broken[i],
                                  strlen(broken[i])) == SIZE_MAX);
    }
}

/* Reads stop at the given length: sanitizers would see one byte more. */
static void test_ends_at_n(void **state)
{
    (void)state;
    need_unicode();
    char *text = malloc(1), to[8];
    assert_non_null(text);
    *text = '\xc3';
    assert_true(casefold_utf8(to, sizeof to, text, 1) == SIZE_MAX);
    assert_int_equal(casefold_utf8(to, 0, text, 0), 0);
    free(text);
}

static void test_too_little_room(void **state)
{
    (void)state;
    need_unicode();
    static const char text[] = "A\u0390\ufb03";         /* 1, 6 and 3 bytes */
    for (size_t room = 0; room <= 10; room++) {
        char *to = malloc(room + 1);
        assert_non_null(to);
        to[room] = '#';
        size_t n = casefold_utf8(to, room, text, sizeof text - 1);
        assert_true(n == (room < 10 ? SIZE_MAX : 10));
        assert_int_equal(to[room], '#');
        free(to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef BLY_WITH_ICU
        cmocka_unit_test(test_icu_is_not_installed),
#endif
        cmocka_unit_test(test_is_there_as_built),
        cmocka_unit_test(test_known_texts),
        cmocka_unit_test(test_nul_is_a_character),
        cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_domains_have_no_case),
        cmocka_unit_test(test_capitals_of_domains),
        cmocka_unit_test(test_no_domain),
        cmocka_unit_test(test_broken_utf8),
        cmocka_unit_test(test_ends_at_n),
        cmocka_unit_test(test_too_little_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
