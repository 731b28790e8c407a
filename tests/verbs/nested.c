/* nested.c - keys that lie within others: what texts become, the entries of
 * keys, and lookups against comparisons of texts and bits.
 */
#include "test.h"
#include "bloomery/nested.h"

#include "bits/casefold.h"

/* ---- Keys --------------------------------------------------------------- */

/* A text, the entry at its own level, and that level; NULL: it has no key. */
typedef struct {
    uint64_t    form;
    const char *text, *entry;
    unsigned    level;
} nested_case;

#define LABEL9  "aaaaaaaaa"
#define LABEL63 LABEL9 LABEL9 LABEL9 LABEL9 LABEL9 LABEL9 LABEL9

static const nested_case nested_cases[] = {
    { BLY_KEYS_DOMAIN, "example.com", "example.com", 2 },
    { BLY_KEYS_DOMAIN, " Example.COM.\r", "example.com", 2 },
    { BLY_KEYS_DOMAIN, "*.example.com", "example.com", 2 },
    { BLY_KEYS_DOMAIN, ".example.com", "example.com", 2 },
    { BLY_KEYS_DOMAIN, "||ads.example.com^", "ads.example.com", 3 },
    { BLY_KEYS_DOMAIN, "_dmarc.a-b.c", "_dmarc.a-b.c", 3 },
    { BLY_KEYS_DOMAIN, "localhost", "localhost", 1 },
    { BLY_KEYS_DOMAIN, LABEL63 ".org", LABEL63 ".org", 2 },
    { BLY_KEYS_DOMAIN, LABEL63 "a.org", NULL, 0 },
    { BLY_KEYS_DOMAIN, LABEL63 "." LABEL63 "." LABEL63 "." LABEL63, NULL, 0 },
    { BLY_KEYS_DOMAIN, "", NULL, 0 },
    { BLY_KEYS_DOMAIN, ".", NULL, 0 },
    { BLY_KEYS_DOMAIN, "a..b", NULL, 0 },
    { BLY_KEYS_DOMAIN, "..a", NULL, 0 },
    { BLY_KEYS_DOMAIN, "a b", NULL, 0 },
    { BLY_KEYS_DOMAIN, "||a.b", NULL, 0 },
    { BLY_KEYS_DOMAIN, "||a.b^$third-party", NULL, 0 },
    { BLY_KEYS_DOMAIN, "@@||a.b^", NULL, 0 },
    { BLY_KEYS_DOMAIN, "http://a.b", NULL, 0 },
    { BLY_KEYS_DOMAIN, "a.b:80", NULL, 0 },
    { BLY_KEYS_DOMAIN, "a.b/", NULL, 0 },
    { BLY_KEYS_DOMAIN, "\xff.b", NULL, 0 },

    { BLY_KEYS_CIDR, "192.0.2.7", "192.0.2.7/32", 128 },
    { BLY_KEYS_CIDR, " 192.0.2.7/24\r", "192.0.2.0/24", 120 },
    { BLY_KEYS_CIDR, "255.255.255.255/1", "128.0.0.0/1", 97 },
    { BLY_KEYS_CIDR, "1.2.3.4/0", "0.0.0.0/0", 96 },
    { BLY_KEYS_CIDR, "::ffff:192.0.2.7", "192.0.2.7/32", 128 },
    { BLY_KEYS_CIDR, "::FFFF:c000:207/120", "192.0.2.0/24", 120 },
    { BLY_KEYS_CIDR, "2001:DB8::1", "2001:db8::1/128", 128 },
    { BLY_KEYS_CIDR, "2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1/128", 128 },
    { BLY_KEYS_CIDR, "1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7/128", 128 },
    { BLY_KEYS_CIDR, "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0/128", 128 },
    { BLY_KEYS_CIDR, "::", "::/128", 128 },
    { BLY_KEYS_CIDR, "::/0", "::/0", 0 },
    { BLY_KEYS_CIDR, "ffff::/3", "e000::/3", 3 },
    { BLY_KEYS_CIDR, "1::1.2.3.4", "1::102:304/128", 128 },
    { BLY_KEYS_CIDR, "[192.0.2.7]", "192.0.2.7/32", 128 },
    { BLY_KEYS_CIDR, "[192.0.2.7]/24", "192.0.2.0/24", 120 },
    { BLY_KEYS_CIDR, "[2001:db8::1]", "2001:db8::1/128", 128 },
    { BLY_KEYS_CIDR, "[2001:db8::]/32", "2001:db8::/32", 32 },
    { BLY_KEYS_CIDR, "IPv6:2001:db8::1", "2001:db8::1/128", 128 },
    { BLY_KEYS_CIDR, "[ipV6:::ffff:1.2.3.4]", "1.2.3.4/32", 128 },
    { BLY_KEYS_CIDR, "[]", NULL, 0 },
    { BLY_KEYS_CIDR, "[", NULL, 0 },
    { BLY_KEYS_CIDR, "[1.2.3.4", NULL, 0 },
    { BLY_KEYS_CIDR, "1.2.3.4]", NULL, 0 },
    { BLY_KEYS_CIDR, "::1]", NULL, 0 },
    { BLY_KEYS_CIDR, "[::1/64]", NULL, 0 },
    { BLY_KEYS_CIDR, "[::1]]", NULL, 0 },
    { BLY_KEYS_CIDR, "[[::1]]", NULL, 0 },
    { BLY_KEYS_CIDR, "[::1]:25", NULL, 0 },
    { BLY_KEYS_CIDR, "IPv6:1.2.3.4", NULL, 0 },
    { BLY_KEYS_CIDR, "IPv6:", NULL, 0 },
    { BLY_KEYS_CIDR, "IPv6:[::1]", NULL, 0 },
    { BLY_KEYS_CIDR, "", NULL, 0 },
    { BLY_KEYS_CIDR, "1.2.3", NULL, 0 },
    { BLY_KEYS_CIDR, "1.2.3.4.5", NULL, 0 },
    { BLY_KEYS_CIDR, "1.2.3.256", NULL, 0 },
    { BLY_KEYS_CIDR, "1.2.3.04", NULL, 0 },
    { BLY_KEYS_CIDR, "1.2.3.4/33", NULL, 0 },
    { BLY_KEYS_CIDR, "1.2.3.4/", NULL, 0 },
    { BLY_KEYS_CIDR, "1.2.3.4/08", NULL, 0 },
    { BLY_KEYS_CIDR, "1.2.3.4/8x", NULL, 0 },
    { BLY_KEYS_CIDR, "1.2.3.4-1.2.3.9", NULL, 0 },
    { BLY_KEYS_CIDR, "::/129", NULL, 0 },
    { BLY_KEYS_CIDR, ":::", NULL, 0 },
    { BLY_KEYS_CIDR, ":1", NULL, 0 },
    { BLY_KEYS_CIDR, "1:", NULL, 0 },
    { BLY_KEYS_CIDR, "1::2::3", NULL, 0 },
    { BLY_KEYS_CIDR, "1:2:3:4:5:6:7", NULL, 0 },
    { BLY_KEYS_CIDR, "1:2:3:4:5:6:7:8:9", NULL, 0 },
    { BLY_KEYS_CIDR, "1:2:3:4:5:6:7::8", NULL, 0 },
    { BLY_KEYS_CIDR, "12345::", NULL, 0 },
    { BLY_KEYS_CIDR, "g::", NULL, 0 },
    { BLY_KEYS_CIDR, "1:2:3:4:5:6:7:1.2.3.4", NULL, 0 },
    { BLY_KEYS_CIDR, "::1.2.3.4:5", NULL, 0 },
    { BLY_KEYS_CIDR, "fe80::1%eth0", NULL, 0 },

    { BLY_KEYS_PATH, "/srv/www", "/srv/www", 2 },
    { BLY_KEYS_PATH, "//srv/./www//", "/srv/www", 2 },
    { BLY_KEYS_PATH, "a/b", "a/b", 2 },
    { BLY_KEYS_PATH, "a", "a", 1 },
    { BLY_KEYS_PATH, "./a", "a", 1 },
    { BLY_KEYS_PATH, "/", "/", 0 },
    { BLY_KEYS_PATH, "/. ", "/. ", 1 },
    { BLY_KEYS_PATH, "...", "...", 1 },
    { BLY_KEYS_PATH, "", NULL, 0 },
    { BLY_KEYS_PATH, ".", NULL, 0 },
    { BLY_KEYS_PATH, "a/../b", NULL, 0 },
    { BLY_KEYS_PATH, "..", NULL, 0 },
};

/* Makes a key in `room`; data NULL: the text has none. */
static bly_key nested_key(uint64_t form, const char *text, unsigned char *room)
{
    bly_value value = { .type = BLY_TEXT, .data = text,
                        .length = strlen(text) };
    bly_key key;
    bly_status status = bly_nested_key(&key, form, &value, room);
    if (status != BLY_OK) {
        assert_true(status == BLY_EPARAM || status == BLY_EUNSUPPORTED);
        return (bly_key){ NULL, 0 };
    }
    assert_true(key.length <= bly_form_room(form, value.length));
    return key;
}

static void nested_is(uint64_t form, bly_key key, unsigned level,
                      const char *wanted)
{
    char room[BLY_NESTED_TEXT];
    bly_key entry = bly_nested_entry(form, key, level, room);
    assert_int_equal(entry.length, strlen(wanted));
    assert_memory_equal(entry.data, wanted, entry.length);
}

static void test_keys(void **state)
{
    (void)state;
    unsigned char room[2048];
    for (size_t i = 0; i < sizeof nested_cases / sizeof *nested_cases; i++) {
        const nested_case *c = &nested_cases[i];
        bly_key key = nested_key(c->form, c->text, room);
        if ((key.data != NULL) != (c->entry != NULL))
            fail_msg("'%s'", c->text);
        if (key.data == NULL)
            continue;
        assert_int_equal(bly_nested_level(c->form, key), c->level);
        nested_is(c->form, key, c->level, c->entry);
    }
}

static void test_deep_paths(void **state)
{
    (void)state;
    char text[2 * 300];
    unsigned char room[sizeof text];
    for (size_t depth = 250; depth < 260; depth++) {
        for (size_t i = 0; i < depth; i++)
            memcpy(text + 2 * i, "/a", 3);
        bly_key key = nested_key(BLY_KEYS_PATH, text, room);
        assert_true((key.data != NULL) == (depth < BLY_NESTED_LEVELS));
        if (key.data != NULL)
            assert_int_equal(bly_nested_level(BLY_KEYS_PATH, key), depth);
    }
}

static void test_other_alphabets(void **state)
{
    (void)state;
    unsigned char room[256];
    bly_key key = nested_key(BLY_KEYS_DOMAIN, "B\xc3\x9c" "cher.de", room);
    if (casefold_lacks() != NULL) {
        assert_null(key.data);
        return;
    }
    nested_is(BLY_KEYS_DOMAIN, key, 2, "xn--bcher-kva.de");
    /* a full stop of Chinese, and a name that grows most */
    key = nested_key(BLY_KEYS_DOMAIN, "\xe4\xb8\xad\xe3\x80\x82\xc3\xbc", room);
    nested_is(BLY_KEYS_DOMAIN, key, 2, "xn--fiq.xn--tda");
    key = nested_key(BLY_KEYS_DOMAIN, "STRA\xe1\xba\x9e" "E.example", room);
    nested_is(BLY_KEYS_DOMAIN, key, 2, "xn--strae-oqa.example");
    key = nested_key(BLY_KEYS_DOMAIN, "a.com\xe3\x80\x82", room);
    nested_is(BLY_KEYS_DOMAIN, key, 2, "a.com");
    /* hyphens are where they may be in ASCII */
    static const char *const hyphens[][2] = {
        { "r3---sn.b\xc3\xbc" "cher.de", "r3---sn.xn--bcher-kva.de" },
        { "-a.b\xc3\xbc" "cher.de", "-a.xn--bcher-kva.de" },
        { "a-.b\xc3\xbc" "cher.de", "a-.xn--bcher-kva.de" },
        { "b\xc3\xbc--x.de", "xn--b--x-0ra.de" },
    };
    for (size_t i = 0; i < sizeof hyphens / sizeof *hyphens; i++) {
        key = nested_key(BLY_KEYS_DOMAIN, hyphens[i][0], room);
        nested_is(BLY_KEYS_DOMAIN, key, i < 3 ? 3 : 2, hyphens[i][1]);
    }
    key = nested_key(BLY_KEYS_DOMAIN, "a.com\xe3\x80\x82", room);
    char text[BLY_NESTED_TEXT];
    assert_null(bly_nested_entry(BLY_KEYS_DOMAIN, key, 0, text).data);
    assert_null(bly_nested_entry(BLY_KEYS_DOMAIN, key, 3, text).data);
}

static void test_other_forms_and_values(void **state)
{
    (void)state;
    unsigned char room[64];
    bly_value text = { .type = BLY_TEXT, .data = "a", .length = 1 };
    bly_value number = { .type = BLY_INTEGER, .integer = 1 };
    bly_key key;
    for (uint64_t form = 0; form < BLY_KEYS_CLASSES; form++) {
        bool nests = form >= BLY_KEYS_DOMAIN;
        assert_true(bly_form_nests(form) == nests);
        if (nests)
            assert_status(bly_form_key(&key, form, &text, room), BLY_EFORM);
        else
            assert_status(bly_nested_key(&key, form, &text, room), BLY_EFORM);
        assert_status(bly_nested_key(&key, form, &number, room), BLY_EFORM);
    }
    assert_false(bly_form_nests(BLY_KEYS_DOMAIN | BLY_FORM_LOWER));
}

/* Bytes that bly_nested_key does not make are not added, and find nothing. */
static void test_other_bytes(void **state)
{
    (void)state;
    static unsigned char bytes[1000];
    memset(bytes, '/', sizeof bytes);
    const struct { uint64_t form; size_t length; } cases[] = {
        { BLY_KEYS_CIDR, 1 }, { BLY_KEYS_CIDR, 18 }, { BLY_KEYS_PATH, 300 },
        { BLY_KEYS_DOMAIN, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t form = cases[i].form;
        bly_key key = { bytes, cases[i].length };
        char room[BLY_NESTED_TEXT];
        uint16_t found;
        bly_filter *f;
        assert_status(bly_new(&f, "standard", &(bly_spec){ .capacity = 9,
                                                           .form = form }),
                      BLY_OK);
        assert_status(bly_nested_add(f, form, &key, 1, NULL), BLY_EPARAM);
        bly_nested_find(f, form, &key, 1, &found);
        assert_int_equal(found, BLY_NESTED_NONE);
        assert_null(bly_nested_entry(form, key, 1, room).data);
        bly_free(f);
    }
}

/* ---- Lookups ------------------------------------------------------------ */

enum { ENTRIES = 300, ASKED = 2000, ROOM = 64, NESTED_STREAM = 41 };

typedef struct {
    uint64_t      form;
    unsigned char rooms[ASKED][ROOM];
    bly_key       keys[ASKED];
} nested_some;

static uint64_t nested_next(uint64_t *stream, uint64_t below)
{
    return test_random(NESTED_STREAM, (*stream)++) % below;
}

/* Writes a text from few words, so that many texts lie within others. */
static void nested_text(char *to, uint64_t form, uint64_t *draw)
{
    size_t parts = 2 + (size_t)nested_next(draw, 3);
    *to = '\0';
    if (form == BLY_KEYS_CIDR) {
        sprintf(to, "%u.%u.%u.0/%u", (unsigned)nested_next(draw, 4),
                (unsigned)nested_next(draw, 4) << 6,
                (unsigned)nested_next(draw, 256),
                20 + (unsigned)nested_next(draw, 13));
        return;
    }
    for (size_t i = 0; i < parts; i++)
        sprintf(to + strlen(to), form == BLY_KEYS_DOMAIN ? "%s%c" : "/%s%c",
                form == BLY_KEYS_DOMAIN && i > 0 ? "." : "",
                (int)('a' + nested_next(draw, 20)));
}

static void nested_draw(nested_some *s, uint64_t form, uint64_t seed)
{
    seed *= ASKED * 8;
    s->form = form;
    for (size_t i = 0; i < ASKED; i++) {
        char text[ROOM];
        nested_text(text, form, &seed);
        s->keys[i] = nested_key(form, text, s->rooms[i]);
        assert_non_null(s->keys[i].data);
    }
}

/* Returns whether a key lies within an entry, by bits or bytes. */
static bool nested_within(uint64_t form, bly_key key, bly_key entry)
{
    const unsigned char *k = key.data, *e = entry.data;
    if (form == BLY_KEYS_CIDR) {
        for (unsigned i = 0; i < e[0]; i++)
            if (((k[1 + i / 8] ^ e[1 + i / 8]) >> (7 - i % 8) & 1) != 0)
                return false;
        return k[0] >= e[0];
    }
    size_t more = key.length - entry.length;
    if (key.length < entry.length)
        return false;
    if (form == BLY_KEYS_DOMAIN)
        return memcmp(k + more, e, entry.length) == 0
            && (more == 0 || k[more - 1] == '.');
    return memcmp(k, e, entry.length) == 0
        && (more == 0 || k[entry.length] == '/');
}

/* The level of the innermost entry, of the first ENTRIES keys of `in`. */
static unsigned nested_innermost(const nested_some *in, bly_key key)
{
    unsigned best = BLY_NESTED_NONE;
    for (size_t i = 0; i < ENTRIES; i++) {
        unsigned level = bly_nested_level(in->form, in->keys[i]);
        if (nested_within(in->form, key, in->keys[i])
            && (best == BLY_NESTED_NONE || level > best))
            best = level;
    }
    return best;
}

/* At this rate, no lookup here errs, with a probability above 0.99. */
static const double RATE = 1e-8;

static bly_filter *nested_filter(const char *kind, const nested_some *in,
                                 uint64_t stated)
{
    bly_spec spec = { .capacity = 2 * ENTRIES, .rate = RATE, .form = stated };
    bly_filter *f;
    size_t done;
    assert_status(bly_new(&f, kind, &spec), BLY_OK);
    assert_status(bly_nested_add(f, in->form, in->keys, ENTRIES, &done),
                  BLY_OK);
    assert_int_equal(done, ENTRIES);
    return f;
}

static void nested_answers(const bly_filter *f, const nested_some *in,
                           const nested_some *asked)
{
    static uint16_t found[ASKED];
    size_t some = 0;
    bly_nested_find(f, in->form, asked->keys, ASKED, found);
    for (size_t i = 0; i < ASKED; i++) {
        uint16_t one;
        assert_int_equal(found[i], nested_innermost(in, asked->keys[i]));
        bly_nested_find(f, in->form, &asked->keys[i], 1, &one);
        assert_int_equal(found[i], one);
        some += found[i] != BLY_NESTED_NONE;
    }
    assert_in_range(some, ASKED / 10, ASKED - 1);
}

static void test_lookups(void **state)
{
    (void)state;
    static const char *const kinds[] = { "standard", "quotient" };
    static nested_some in, asked;
    for (uint64_t form = BLY_KEYS_DOMAIN; form <= BLY_KEYS_PATH; form++) {
        nested_draw(&in, form, form);
        nested_draw(&asked, form, 100 + form);
        for (size_t k = 0; k < 2; k++) {
            bly_filter *f = nested_filter(kinds[k], &in, form);
            nested_answers(f, &in, &asked);
            bly_free(f);
        }
    }
}

/* A filter that does not state the form may have been made without markers. */
static void test_without_markers(void **state)
{
    (void)state;
    static nested_some in, asked;
    nested_draw(&in, BLY_KEYS_CIDR, 7);
    nested_draw(&asked, BLY_KEYS_CIDR, 8);
    bly_spec spec = { .capacity = ENTRIES, .rate = RATE };
    bly_filter *f;
    assert_status(bly_new(&f, "standard", &spec), BLY_OK);
    assert_status(bly_add_many(f, &(bly_keys){ .n = ENTRIES, .keys = in.keys },
                               NULL, NULL), BLY_OK);
    nested_answers(f, &in, &asked);
    bly_free(f);
}

static bly_filter *nested_of(uint64_t form, const char *text)
{
    bly_spec spec = { .capacity = 100, .rate = 1e-9, .form = form };
    unsigned char room[ROOM];
    bly_key key = nested_key(BLY_KEYS_DOMAIN, text, room);
    bly_filter *f;
    assert_status(bly_new(&f, "standard", &spec), BLY_OK);
    if (form == BLY_KEYS_UNSTATED)
        assert_status(bly_add(f, key.data, key.length), BLY_OK);
    else
        assert_status(bly_nested_add(f, form, &key, 1, NULL), BLY_OK);
    return f;
}

static void nested_finds(const bly_filter *f, const char *text, unsigned level)
{
    unsigned char room[ROOM];
    bly_key key = nested_key(BLY_KEYS_DOMAIN, text, room);
    uint16_t found;
    bly_nested_find(f, BLY_KEYS_DOMAIN, &key, 1, &found);
    assert_int_equal(found, level);
}

/* No verb states the form of a filter that may lack markers. */
static void test_markers_are_not_assumed(void **state)
{
    (void)state;
    bly_filter *domain = nested_of(BLY_KEYS_DOMAIN, "evil.example");
    bly_filter *wide = nested_of(BLY_KEYS_DOMAIN, "example");
    bly_filter *any = nested_of(BLY_KEYS_UNSTATED, "tracker");
    bly_filter *empty;
    assert_status(bly_like(&empty, any, NULL), BLY_OK);
    assert_status(bly_form_set(any, BLY_KEYS_DOMAIN), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "markers"));
    assert_status(bly_unite(domain, any), BLY_EMISMATCH);
    assert_non_null(strstr(bly_why(), "markers"));
    assert_status(bly_unite(any, domain), BLY_EMISMATCH);
    assert_status(bly_intersect(any, domain), BLY_EUNSUPPORTED);
    assert_status(bly_intersect(domain, wide), BLY_EUNSUPPORTED);
    nested_finds(any, "a.tracker", 1);
    assert_status(bly_form_set(empty, BLY_KEYS_DOMAIN), BLY_OK);
    assert_status(bly_unite(empty, domain), BLY_OK);
    assert_status(bly_unite(empty, wide), BLY_OK);
    nested_finds(empty, "a.evil.example", 2);
    nested_finds(empty, "b.example", 1);
    bly_free(domain);
    bly_free(wide);
    bly_free(any);
    bly_free(empty);
}

/* Levels that are added later are found: markers are looked up each time. Each
 * is added once, since a kind may hold few copies of a key. */
static void test_a_level_is_added(void **state)
{
    (void)state;
    unsigned char rooms[3][ROOM];
    bly_key wide = nested_key(BLY_KEYS_CIDR, "10.0.0.0/8", rooms[0]);
    bly_key narrow = nested_key(BLY_KEYS_CIDR, "10.1.0.0/16", rooms[1]);
    bly_key one = nested_key(BLY_KEYS_CIDR, "10.1.2.3", rooms[2]);
    bly_spec spec = { .capacity = 1000, .form = BLY_KEYS_CIDR };
    bly_filter *f;
    bly_info_t stat;
    uint16_t found;
    size_t done;
    assert_status(bly_new(&f, "cuckoo", &spec), BLY_OK);
    bly_nested_find(f, BLY_KEYS_CIDR, &one, 1, &found);
    assert_int_equal(found, BLY_NESTED_NONE);
    assert_status(bly_nested_add(f, BLY_KEYS_CIDR, &wide, 1, NULL), BLY_OK);
    bly_nested_find(f, BLY_KEYS_CIDR, &one, 1, &found);
    assert_int_equal(found, 96 + 8);
    for (size_t i = 0; i < 4; i++)
        assert_true(bly_nested_add(f, BLY_KEYS_CIDR, &narrow, 1, &done) >= 0);
    bly_nested_find(f, BLY_KEYS_CIDR, &one, 1, &found);
    assert_int_equal(found, 96 + 16);
    assert_status(bly_info(&stat, f), BLY_OK);
    assert_int_equal(stat.items, 1 + 4 + 2);
    bly_nested_find(f, BLY_KEYS_CIDR, &(bly_key){ NULL, 0 }, 1, &found);
    assert_int_equal(found, BLY_NESTED_NONE);
    assert_status(bly_nested_add(f, BLY_KEYS_CIDR, NULL, 0, &done), BLY_OK);
    assert_int_equal(done, 0);
    bly_free(f);
}

/* A marker that was found by mistake, and so not added, goes with the keys by
 * which it was found. Here it is removed alone. Its entries are still found. */
static void test_a_lost_marker(void **state)
{
    (void)state;
    static const char *const kinds[] = { "cuckoo", "counting", "quotient" };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bly_spec spec = { .capacity = 600, .rate = 1e-6,
                          .form = BLY_KEYS_DOMAIN };
        unsigned char rooms[2][ROOM], room[2];
        bly_key entry = nested_key(BLY_KEYS_DOMAIN, "b.c.d", rooms[0]);
        bly_key inner = nested_key(BLY_KEYS_DOMAIN, "a.b.c.d", rooms[1]);
        bly_key marker = bly_nested_marker(room, 3);
        bly_filter *f;
        uint16_t found;
        assert_status(bly_new(&f, kinds[k], &spec), BLY_OK);
        assert_status(bly_nested_add(f, BLY_KEYS_DOMAIN, &entry, 1, NULL),
                      BLY_OK);
        assert_status(bly_remove(f, marker.data, marker.length), BLY_OK);
        bly_nested_find(f, BLY_KEYS_DOMAIN, &inner, 1, &found);
        assert_int_equal(found, 3);
        bly_free(f);
    }
}

/* A label would not be found through the keys within. */
static void test_no_labels(void **state)
{
    (void)state;
    static const char *const kinds[] = { "attenuated", "approximator",
                                         "spatial" };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bly_spec spec = { .capacity = 10, .form = BLY_KEYS_DOMAIN };
        unsigned char room[ROOM];
        uint64_t label = 1, hash;
        bly_key entry = nested_key(BLY_KEYS_DOMAIN, "b.c.d", room);
        bly_keys keys = { .n = 1, .keys = &entry };
        bly_filter *f, *built = NULL;
        assert_status(bly_new(&f, kinds[k], &spec), BLY_OK);
        hash = bly_hash(f, entry.data, entry.length);
        assert_status(bly_put(f, entry.data, entry.length, 1),
                      BLY_EUNSUPPORTED);
        assert_status(bly_put_hash(f, hash, 1), BLY_EUNSUPPORTED);
        assert_status(bly_put_many(f, &keys, &label, NULL), BLY_EUNSUPPORTED);
        assert_status(bly_put_hashes(f, &hash, &label, 1, NULL),
                      BLY_EUNSUPPORTED);
        assert_false(bly_contains(f, entry.data, entry.length));
        keys = (bly_keys){ .n = 1, .hashes = &hash, .labels = &label };
        assert_status(bly_build(&built, kinds[k], &spec, &keys),
                      BLY_EUNSUPPORTED);
        assert_null(built);
        bly_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_deep_paths),
        cmocka_unit_test(test_other_alphabets),
        cmocka_unit_test(test_other_forms_and_values),
        cmocka_unit_test(test_other_bytes),
        cmocka_unit_test(test_lookups),
        cmocka_unit_test(test_without_markers),
        cmocka_unit_test(test_markers_are_not_assumed),
        cmocka_unit_test(test_a_level_is_added),
        cmocka_unit_test(test_a_lost_marker),
        cmocka_unit_test(test_no_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
