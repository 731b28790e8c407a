/* fields.c - the list of fields: complete against the public structs, equal to
 * their values, absent where it should be; and the JSON writer.
 */
#include "test.h"

#include "bloomery/fields.h"
#include "bloomery/form.h"
#include "verbs/each.h"

enum { FIELDS_KEYS = 50, FIELDS_MOST = 512 };

/* The fields of one visit. */
typedef struct {
    bly_field at[FIELDS_MOST];
    char      texts[FIELDS_MOST][BLY_FORM_TEXT];
    size_t    n, most;                  /* most: the visitor stops there     */
} seen;

static bool fields_see(void *context, const bly_field *field)
{
    seen *s = context;
    assert_true(s->n < s->most && s->n < FIELDS_MOST);
    s->at[s->n] = *field;
    if (field->text != NULL)
        assert_int_equal(strlen(field->text), field->length);
    if (field->text != NULL && field->length < BLY_FORM_TEXT)
        strcpy(s->texts[s->n], field->text);
    return ++s->n < s->most;
}

/* Returns the place of a field that is in no array. */
static size_t fields_place(const seen *s, const char *name)
{
    int depth = 0;
    for (size_t i = 0; i < s->n; i++) {
        const bly_field *f = &s->at[i];
        bool opens = f->type == BLY_FIELD_ARRAY || f->type == BLY_FIELD_OBJECT;
        if (depth == 0 && f->name != NULL && strcmp(f->name, name) == 0)
            return i;
        depth += (opens && !f->absent) - (f->type == BLY_FIELD_END);
    }
    fail_msg("the list lacks the field %s", name);
    return 0;
}

static bool fields_absent(const seen *s, const char *name)
{
    return s->at[fields_place(s, name)].absent;
}

/* ---- Completeness ------------------------------------------------------- */

/* Reads the text of a struct in bloomery.h, until the next call. */
static char *fields_struct(const char *name)
{
    static char header[1 << 18];
    char end[64], *last, *first = header;
    FILE *file = fopen(TEST_SOURCE_DIR "/include/bloomery.h", "r");
    assert_non_null(file);
    header[fread(header, 1, sizeof header - 1, file)] = '\0';
    fclose(file);
    snprintf(end, sizeof end, "} %s;", name);
    last = strstr(header, end);
    assert_non_null(last);
    *last = '\0';
    for (char *at = header; (at = strstr(at, "typedef struct {")) != NULL; )
        first = at += strlen("typedef struct {");
    return first;
}

/* Blanks the comments, and what stands in brackets. */
static void fields_bare(char *text)
{
    for (char *c = text; (c = strstr(c, "/*")) != NULL; )
        for (char *end = strstr(c, "*/") + 2; c < end; c++)
            *c = ' ';
    for (char *c = text; (c = strchr(c, '[')) != NULL; )
        for (char *end = strchr(c, ']') + 1; c < end; c++)
            *c = ' ';
}

/* Every member of the struct is a field; `form` is the text `keys`. */
static void fields_complete(const seen *s, const char *name)
{
    char *rest = fields_struct(name);
    size_t members = 0;
    fields_bare(rest);
    for (char *line; (line = strtok_r(rest, ";", &rest)) != NULL; ) {
        char *names = line + strspn(line, " \n");
        if (*names == '\0')
            break;
        names += strcspn(names, " ");           /* the type                  */
        for (char *member; (member = strtok_r(names, ", \n", &names)) != NULL;
             members++)
            if (strcmp(member, "reserved") != 0 && strcmp(member, "zero") != 0)
                fields_place(s, strcmp(member, "form") == 0 ? "keys" : member);
    }
    assert_true(members > 15);
}

static void test_every_member_is_a_field(void **state)
{
    static seen s;
    bly_info_t stat = { .window = 0 };
    bly_plan_t plan = { .window = 0 };
    (void)state;
    s = (seen){ .most = FIELDS_MOST };
    assert_true(bly_info_each(&stat, NULL, fields_see, &s));
    fields_complete(&s, "bly_info_t");
    s = (seen){ .most = FIELDS_MOST };
    assert_true(bly_plan_each(&plan, fields_see, &s));
    fields_complete(&s, "bly_plan_t");
    for (size_t i = 0; i < s.n; i++)
        assert_true((s.at[i].name == NULL) == (s.at[i].help == NULL));
}

/* ---- Values ------------------------------------------------------------- */

static const seen *fields_now;

#define FIELDS_COUNT(record, name)                                             \
    assert_int_equal(fields_now->at[fields_place(fields_now, #name)].count,    \
                     (record)->name)
#define FIELDS_REAL(record, name)                                              \
    assert_memory_equal(                                                       \
        &fields_now->at[fields_place(fields_now, #name)].real,                 \
        &(record)->name, sizeof(double))
#define FIELDS_TEXT(name, value)                                               \
    assert_string_equal(                                                       \
        fields_now->texts[fields_place(fields_now, name)], value)

static void fields_geometry(const uint64_t geometry[4])
{
    size_t at = fields_place(fields_now, "geometry");
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(fields_now->at[at + 1 + i].count, geometry[i]);
    assert_int_equal(fields_now->at[at + 5].type, BLY_FIELD_END);
}

static void fields_labelled(uint32_t bits, uint64_t least, uint64_t most)
{
    const char *const names[] = { "label_bits", "label_least", "label_most" };
    const uint64_t values[] = { bits, least, most };
    for (int i = 0; i < 3; i++) {
        size_t at = fields_place(fields_now, names[i]);
        assert_int_equal(fields_now->at[at].absent, bits == 0);
        if (bits > 0)
            assert_int_equal(fields_now->at[at].count, values[i]);
    }
}

static void fields_window(uint64_t window)
{
    size_t at = fields_place(fields_now, "window");
    assert_int_equal(fields_now->at[at].absent, window == UINT64_MAX);
    if (window < UINT64_MAX)
        assert_int_equal(fields_now->at[at].count, window);
}

static void fields_of_stat(const bly_info_t *s)
{
    char form[BLY_FORM_TEXT];
    FIELDS_TEXT("kind", s->kind);
    FIELDS_TEXT("hash", s->hash);
    FIELDS_TEXT("keys", bly_form_write(form, s->form));
    FIELDS_COUNT(s, items);
    FIELDS_COUNT(s, items_exact);
    FIELDS_COUNT(s, capacity);
    FIELDS_COUNT(s, bytes);
    FIELDS_COUNT(s, packed);
    FIELDS_COUNT(s, seed);
    FIELDS_COUNT(s, probes);
    FIELDS_COUNT(s, saturated);
    FIELDS_REAL(s, bits_per_key);
    FIELDS_REAL(s, fill);
    FIELDS_REAL(s, rate);
    FIELDS_REAL(s, planned_rate);
    FIELDS_REAL(s, lost);
    FIELDS_REAL(s, distinct);
    FIELDS_REAL(s, distinct_sd);
    if (s->fullest > 0)
        FIELDS_REAL(s, fullest);
    assert_int_equal(fields_absent(fields_now, "fullest"), !(s->fullest > 0));
    assert_true(fields_absent(fields_now, "mark"));
    fields_labelled(s->label_bits, s->label_least, s->label_most);
    fields_window(s->window);
    fields_geometry(s->geometry);
}

static void fields_of_plan(const bly_plan_t *p)
{
    FIELDS_TEXT("kind", p->kind);
    FIELDS_COUNT(p, capacity);
    FIELDS_COUNT(p, bytes);
    FIELDS_COUNT(p, packed);
    FIELDS_COUNT(p, scratch);
    FIELDS_COUNT(p, probes);
    FIELDS_REAL(p, bits_per_key);
    FIELDS_REAL(p, rate);
    FIELDS_REAL(p, rate_sd);
    FIELDS_REAL(p, fill);
    FIELDS_REAL(p, lost);
    FIELDS_REAL(p, lines_present);
    FIELDS_REAL(p, lines_absent);
    fields_labelled(p->label_bits, p->label_least, p->label_most);
    fields_window(p->window);
    fields_geometry(p->geometry);
}

static bool fields_count_label(void *n, const bly_label_t *label)
{
    *(size_t *)n += label->fill > 0;
    return true;
}

/* The lists that only the filter has: its labels and its abilities. */
static void fields_of_lists(const bly_filter *filter, const char *kind)
{
    size_t at = fields_place(fields_now, "labels"), n = 0, labels = 0;
    bool lists = bly_list_labels(filter, fields_count_label, &n) == BLY_OK;
    each_true(kind, fields_now->at[at].absent == !lists);
    for (size_t i = at; i < fields_now->n; i++)
        labels += fields_now->at[i].type == BLY_FIELD_OBJECT;
    each_true(kind, labels == n);
    at = fields_place(fields_now, "can");
    for (int i = 0; i < BLY_ABILITIES; i++)
        if ((bly_can(filter) >> i & 1) != 0)
            assert_string_equal(fields_now->texts[++at],
                                bly_ability(UINT64_C(1) << i));
    assert_int_equal(fields_now->at[at + 1].type, BLY_FIELD_END);
    each_true(kind, fields_absent(fields_now, "attached"));
}

/* A visitor that returns false is not called again. */
static void fields_stops(const bly_info_t *stat, const bly_filter *filter)
{
    static seen s;
    size_t all = fields_now->n;
    for (size_t most = 1; most < all; most++) {
        s.n = 0;
        s.most = most;
        assert_false(bly_info_each(stat, filter, fields_see, &s));
        assert_int_equal(s.n, most);
    }
}

static void fields_kind(const char *kind, const bly_kind_info *info)
{
    static seen s;
    bly_spec spec = { .capacity = FIELDS_KEYS, .rate = 0.1, .threads = 1 };
    uint64_t hashes[FIELDS_KEYS], labels[FIELDS_KEYS];
    bly_filter *filter;
    bly_info_t stat;
    bly_plan_t plan;
    bool labelled = (info->can & BLY_CAN_LABEL) != 0;
    each_status(kind, bly_plan(&plan, kind, &spec), BLY_OK);
    s = (seen){ .most = FIELDS_MOST };
    fields_now = &s;
    assert_true(bly_plan_each(&plan, fields_see, &s));
    fields_of_plan(&plan);
    for (size_t i = 0; i < FIELDS_KEYS; i++) {
        hashes[i] = test_random(1, i);
        labels[i] = plan.label_least;
    }
    bly_keys keys = { .n = FIELDS_KEYS, .hashes = hashes,
                      .labels = labelled ? labels : NULL };
    each_status(kind, bly_build(&filter, kind, &spec, &keys), BLY_OK);
    each_true(kind, plan.can == bly_can(filter));
    assert_int_equal(bly_info(&stat, filter), BLY_OK);
    s = (seen){ .most = FIELDS_MOST };
    each_true(kind, bly_info_each(&stat, filter, fields_see, &s));
    fields_of_stat(&stat);
    fields_of_lists(filter, kind);
    fields_stops(&stat, filter);
    bly_free(filter);
}

static void test_values_are_those_of_every_kind(void **state)
{
    (void)state;
    each_kind(fields_kind);
}

/* ---- Headers, secrets and other systems --------------------------------- */

static void fields_header(const bly_filter *filter, seen *s)
{
    bly_header header;
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    assert_int_equal(bly_peek(&header, image, bytes), BLY_OK);
    *s = (seen){ .most = FIELDS_MOST };
    fields_now = s;
    assert_true(bly_header_each(&header, fields_see, s));
}

static void test_a_header_has_the_names_of_a_stat(void **state)
{
    static seen s, all;
    bly_spec spec = { .capacity = 100, .seed = 7 };
    bly_filter *filter;
    bly_info_t stat;
    (void)state;
    assert_int_equal(bly_new(&filter, "standard", &spec), BLY_OK);
    assert_int_equal(bly_info(&stat, filter), BLY_OK);
    all = (seen){ .most = FIELDS_MOST };
    assert_true(bly_info_each(&stat, filter, fields_see, &all));
    fields_header(filter, &s);
    FIELDS_TEXT("kind", "standard");
    FIELDS_COUNT(&stat, items);
    FIELDS_COUNT(&stat, capacity);
    FIELDS_COUNT(&stat, bytes);
    FIELDS_COUNT(&stat, seed);
    FIELDS_REAL(&stat, planned_rate);
    fields_geometry(stat.geometry);
    for (size_t i = 0; i < all.n; i++)
        if (all.at[i].name != NULL)
            fields_place(&s, all.at[i].name);
    assert_true(fields_absent(&s, "rate") && fields_absent(&s, "can")
                && fields_absent(&s, "packed"));
    bly_free(filter);
}

static void test_a_secret_has_a_mark_and_no_seed(void **state)
{
    static seen s;
    static const unsigned char secret[BLY_SECRET_BYTES] = { 1 };
    bly_spec spec = { .capacity = 100, .hash = "siphash", .secret = secret };
    bly_filter *filter;
    bly_info_t stat;
    (void)state;
    assert_int_equal(bly_new(&filter, "standard", &spec), BLY_OK);
    assert_int_equal(bly_info(&stat, filter), BLY_OK);
    fields_header(filter, &s);
    assert_true(fields_absent(&s, "seed"));
    assert_int_equal(s.at[fields_place(&s, "mark")].count, stat.seed);
    bly_free(filter);
}

static void test_other_systems_have_no_hash_of_ours(void **state)
{
    static seen s;
    bly_spec spec = { .capacity = 100 };
    bly_filter *filter;
    bly_info_t stat;
    (void)state;
    assert_int_equal(bly_new(&filter, "dcso", &spec), BLY_OK);
    assert_int_equal(bly_info(&stat, filter), BLY_OK);
    s = (seen){ .most = FIELDS_MOST };
    assert_true(bly_info_each(&stat, filter, fields_see, &s));
    assert_true(fields_absent(&s, "seed") && fields_absent(&s, "mark")
                && fields_absent(&s, "hash") && fields_absent(&s, "keys"));
    assert_false(fields_absent(&s, "attached"));
    bly_free(filter);
}

/* ---- JSON --------------------------------------------------------------- */

typedef struct { char text[4096]; size_t n, room; } written;

static bool fields_put(void *context, const char *text, size_t length)
{
    written *w = context;
    if (w->n + length >= w->room)
        return false;
    memcpy(w->text + w->n, text, length);
    w->text[w->n += length] = '\0';
    return true;
}

static bly_json fields_json(written *w, bly_json_style style)
{
    w->n = 0;
    w->room = sizeof w->text;
    w->text[0] = '\0';
    return (bly_json){ .put = fields_put, .context = w, .style = style };
}

static void test_json_quotes_any_bytes(void **state)
{
    static const struct { const char *text; size_t n; const char *json; }
    cases[] = {
        { "plain", 5, "\"plain\"" },
        { "", 0, "\"\"" },
        { "a\"b\\c", 5, "\"a\\\"b\\\\c\"" },
        { "\n\0\x1f\x7f", 4, "\"\\u000a\\u0000\\u001f\\u007f\"" },
        { "\xc3\xa4\xe6\x97\xa5\xf0\x9f\x8c\xb1", 9,
          "\"\xc3\xa4\xe6\x97\xa5\xf0\x9f\x8c\xb1\"" },
        { "\x80", 1, "\"\\ufffd\"" },                   /* no beginning      */
        { "x\xc3", 2, "\"x\\ufffd\"" },                 /* cut off           */
        { "\xc0\xaf", 2, "\"\\ufffd\\ufffd\"" },        /* overlong          */
        { "\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\"" },     /* surrogate */
        { "\xf4\x90\x80\x80", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
        { "\xe0\x80\x80z", 4, "\"\\ufffd\\ufffd\\ufffdz\"" },
        { NULL, 0, "null" },
    };
    written w;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bly_json json = fields_json(&w, BLY_JSON_COMPACT);
        bly_field field = { .type = BLY_FIELD_TEXT, .text = cases[i].text,
                            .length = cases[i].n };
        assert_true(bly_json_field(&json, &field));
        assert_string_equal(w.text, cases[i].json);
    }
}

static void fields_number(const bly_field *field, bly_json_style style,
                          const char *text)
{
    written w;
    bly_json json = fields_json(&w, style);
    assert_true(bly_json_field(&json, field));
    assert_string_equal(w.text, text);
}

static void test_json_numbers_read_back(void **state)
{
    const bly_json_style compact = BLY_JSON_COMPACT, script = BLY_JSON_SCRIPT;
    bly_field count = { .type = BLY_FIELD_COUNT, .count = UINT64_MAX };
    bly_field real = { .type = BLY_FIELD_REAL, .real = 0.1 };
    (void)state;
    fields_number(&count, compact, "18446744073709551615");
    fields_number(&count, script, "\"18446744073709551615\"");
    count.count = (UINT64_C(1) << 53) - 1;
    fields_number(&count, script, "9007199254740991");
    fields_number(&real, compact, "0.1");
    real.real = 1.0 / 3;
    fields_number(&real, script, "0.3333333333333333");
    real.real = nextafter(1, 2);
    fields_number(&real, compact, "1.0000000000000002");
    real.real = (double)INFINITY;
    fields_number(&real, compact, "null");
    fields_number(&real, script, "1e999");
    real.real = -(double)INFINITY;
    fields_number(&real, script, "-1e999");
    real.real = (double)NAN;
    fields_number(&real, script, "null");
}

/* Writes {"a":[1,{}],"b":true,"c":[]}. */
static bool fields_document(bly_json *json)
{
    const bly_field fields[] = {
        { .type = BLY_FIELD_OBJECT },
        { .name = "gone", .type = BLY_FIELD_ARRAY, .absent = true },
        { .name = "a", .type = BLY_FIELD_ARRAY },
        { .type = BLY_FIELD_COUNT, .count = 1 },
        { .type = BLY_FIELD_OBJECT }, { .type = BLY_FIELD_END },
        { .type = BLY_FIELD_END },
        { .name = "b", .type = BLY_FIELD_BOOL, .count = 1 },
        { .name = "c", .type = BLY_FIELD_ARRAY }, { .type = BLY_FIELD_END },
        { .type = BLY_FIELD_END },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!bly_json_field(json, &fields[i]))
            return false;
    return true;
}

static void test_json_nests(void **state)
{
    written w;
    bly_json json = fields_json(&w, BLY_JSON_COMPACT);
    bly_field end = { .type = BLY_FIELD_END };
    (void)state;
    assert_true(fields_document(&json));
    assert_string_equal(w.text, "{\"a\":[1,{}],\"b\":true,\"c\":[]}");
    assert_false(bly_json_field(&json, &end));
    json = fields_json(&w, BLY_JSON_LINES);
    assert_true(fields_document(&json));
    assert_string_equal(w.text, "{\n  \"a\": [\n    1,\n    {}\n  ],\n"
                                "  \"b\": true,\n  \"c\": []\n}\n");
}

static void test_json_has_a_bound(void **state)
{
    written w;
    bly_json json = fields_json(&w, BLY_JSON_COMPACT);
    bly_field open = { .type = BLY_FIELD_ARRAY };
    (void)state;
    for (int i = 0; i < 64; i++)
        assert_true(bly_json_field(&json, &open));
    assert_false(bly_json_field(&json, &open));
    json = fields_json(&w, BLY_JSON_LINES);
    assert_true(fields_document(&json));
    for (size_t all = w.n, room = 1; room <= all; room++) {
        json = fields_json(&w, BLY_JSON_LINES);
        w.room = room;
        assert_false(fields_document(&json));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_member_is_a_field),
        cmocka_unit_test(test_values_are_those_of_every_kind),
        cmocka_unit_test(test_a_header_has_the_names_of_a_stat),
        cmocka_unit_test(test_a_secret_has_a_mark_and_no_seed),
        cmocka_unit_test(test_other_systems_have_no_hash_of_ours),
        cmocka_unit_test(test_json_quotes_any_bytes),
        cmocka_unit_test(test_json_numbers_read_back),
        cmocka_unit_test(test_json_nests),
        cmocka_unit_test(test_json_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
