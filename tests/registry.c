/* registry.c - looking up a kind by name and options, and the listing. */
#include "verbs/registry.h"

#include "test.h"
#include "verbs/handle.h"

static bly_status registry_try(const char *text)
{
    const bly_kind *kind;
    uint64_t option[KIND_OPTIONS];
    return registry_parse(&kind, option, text);
}

static void test_parse(void **state)
{
    (void)state;
    const bly_kind *kind = NULL;
    uint64_t option[KIND_OPTIONS];
    assert_status(registry_parse(&kind, option, "standard"), BLY_OK);
    assert_ptr_equal(kind, &bly_kind_standard);
    assert_true(option[0] == KIND_CHOOSE && option[1] == KIND_CHOOSE);
    assert_int_equal(option[2], 0);
    assert_status(registry_parse(&kind, option, "standard:k=5,index=triple"),
                  BLY_OK);
    assert_true(option[1] == 5 && option[2] == 4);
    assert_status(registry_parse(&kind, option,
                                 "standard:m=1152921504606846976,k=64"),
                  BLY_OK);
    assert_true(option[0] == UINT64_C(1) << 60 && option[1] == 64);
    assert_status(registry_parse(&kind, option, "blocked:k=7"), BLY_OK);
    assert_ptr_equal(kind, &bly_kind_blocked);
}

static void test_parse_round_numbers(void **state)
{
    (void)state;
    const bly_kind *kind = NULL;
    uint64_t option[KIND_OPTIONS];
    assert_status(registry_parse(&kind, option, "standard:m=25e5,k=1e1"),
                  BLY_OK);
    assert_true(option[0] == 2500000 && option[1] == 10);
    assert_status(registry_parse(&kind, option, "standard:m=7e0,k=07"), BLY_OK);
    assert_true(option[0] == 7 && option[1] == 7);
    assert_status(registry_parse(&kind, option, "standard:m=64k"), BLY_OK);
    assert_true(option[0] == 64000);
    assert_status(registry_parse(&kind, option, "standard:m=64K"), BLY_OK);
    assert_true(option[0] == 64000);
    assert_status(registry_parse(&kind, option, "standard:m=2e1M"), BLY_OK);
    assert_true(option[0] == 20000000);
    assert_status(registry_parse(&kind, option, "standard:m=3G"), BLY_OK);
    assert_true(option[0] == UINT64_C(3000000000));
    assert_status(registry_parse(&kind, option, "standard:m=1T"), BLY_OK);
    assert_true(option[0] == UINT64_C(1000000000000));
}

static void test_parse_refuses(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "", "nosuch", "Standard", "standar", "standardx", ":", ":k=1",
        "standard ", "a-very-long-name-that-is-longer-than-any-kind's-name",
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_status(registry_try(kinds[i]), BLY_EKIND);
        assert_non_null(strstr(bly_why(), "partitioned"));
    }
    static const char *const options[] = {
        "standard:", "standard:k", "standard:k=", "standard:k=0",
        "standard:k=65", "standard:k=-1", "standard:k=+1", "standard:k= 1",
        "standard:k=1e2", "standard:k=5x", "standard:k=1k",
        "standard:m=k", "standard:m=0k", "standard:m=1kk", "standard:m=1m",
        "standard:m=1ek", "standard:m=1ke1", "standard:m=18446744073709552T",
        "standard:m=18446745T", "standard:m=1e19T",
        "standard:k=18446744073709551621",
        "standard:m=18446744073709551616",
        "standard:kk=5", "standard:=5", "standard:k=5,", "standard:,k=5",
        "standard:index=", "standard:index=Double", "standard:index=0",
        "standard:k=5;index=double", "blocked:index=double", "split:k=8",
        "standard:m=0", "standard:m=1152921504606846977", "blocked:k=33",
        "standard:k=e", "standard:k=e1", "standard:k=1e", "standard:k=1e+1",
        "standard:k=1ee1", "standard:m=1e20", "standard:m=0e9",
        "standard:m=1e18446744073709551615", "standard:k=1.5e1",
        "standard:k=3,k=4", "standard: k=3", "standard:k=3, m=9",
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        assert_status(registry_try(options[i]), BLY_EOPTION);
        assert_null(strchr(bly_why(), '\n'));
    }
    assert_status(registry_try("standard:index=doubel"), BLY_EOPTION);
    assert_non_null(strstr(bly_why(), "power | seeds | double"));
}

static bool registry_has(const bly_kind_info *info, uint64_t ability)
{
    return (info->can & ability) != 0;
}

/* The listing agrees with the structs and fits its buffers. */
static void test_listing(void **state)
{
    (void)state;
    size_t n, i = 0;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (; registry_kinds[i] != NULL; i++) {
        const bly_kind *kind = registry_kinds[i];
        const bly_kind_info *info = kinds[i];
        assert_true(i < n);
        assert_string_equal(info->name, kind->name);
        assert_string_equal(info->family, kind->family);
        assert_string_equal(info->tier, registry_tier(kind));
        assert_ptr_equal(bly_kind_find(kind->name), info);
        assert_in_range(strlen(kind->name), 1, IMAGE_KIND_NAME);
        assert_in_range(strlen(kind->summary), 10, 60);
        assert_null(strchr(kind->name, ':'));
        assert_int_equal(registry_has(info, BLY_CAN_ADD), kind->add != NULL);
        assert_int_equal(registry_has(info, BLY_CAN_WHOLE_KEYS),
                         KIND_HAS(kind, whole, add));
        assert_int_equal(registry_has(info, BLY_CAN_REMOVE),
                         kind->remove != NULL
                         && !KIND_HAS(kind, varying, counts));
        assert_int_equal(registry_has(info, BLY_CAN_UNITE),
                         KIND_HAS(kind, combining, unite));
        assert_true(registry_has(info, BLY_CAN_CONTAINS));
        assert_true(kind->contains != NULL && kind->contains_many != NULL);
        size_t options = 0;
        for (; info->options[options] != NULL; options++) {
            const bly_option_info *o = info->options[options];
            assert_string_equal(o->name, kind->options[options].name);
            assert_true(strlen(o->range) > 0);
            assert_true(strlen(o->standard) > 0);
            assert_in_range(strlen(o->help), 10, 79);
        }
        assert_in_range(options, 0, KIND_OPTIONS);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(kinds[j]->name, info->name);
        assert_non_null(info->aliases);
    }
    assert_int_equal(i, n);
    assert_null(kinds[n]);
    assert_string_equal(kinds[0]->options[1]->name, "k");
    assert_string_equal(kinds[0]->options[1]->range, "1 .. 64");
    assert_string_equal(kinds[0]->options[1]->standard, "chosen");
    assert_string_equal(kinds[0]->options[2]->standard, "power");
    assert_ptr_equal(bly_kind_find("standard:k=5"), kinds[0]);
    assert_null(bly_kind_find("standar"));
    assert_null(bly_kind_find(""));
}

/* The parameters passed to a kind inside another: by name, and only those it
 * has. */
static void test_given_options(void **state)
{
    (void)state;
    kind_spec spec = kind_spec_plain(&bly_kind_standard, 1000, 0.01);
    assert_true(spec.option[1] == KIND_CHOOSE && spec.option[2] == 0);
    assert_true(kind_spec_give(&spec, &bly_kind_standard, "k", 64));
    assert_false(kind_spec_give(&spec, &bly_kind_standard, "k", 0));
    assert_false(kind_spec_give(&spec, &bly_kind_standard, "k", 65));
    assert_false(kind_spec_give(&spec, &bly_kind_standard, "nosuch", 1));
    assert_int_equal(spec.option[1], 64);
    assert_true(kind_spec_give(&spec, &bly_kind_standard, "index", 4));
    assert_int_equal(spec.option[2], 4);
}

/* The core has eleven kinds, the default among them, and for each ability that
 * people choose a kind by and that several kinds have, a kind with it. */
static void test_tiers(void **state)
{
    (void)state;
    uint64_t core = 0;
    size_t n = 0;
    for (const bly_kind_info *const *k = bly_kinds(NULL); *k != NULL; k++)
        if (strcmp((*k)->tier, "core") == 0) {
            core |= (*k)->can;
            n++;
        } else {
            assert_true(strcmp((*k)->tier, "more") == 0
                        || strcmp((*k)->tier, "experimental") == 0);
        }
    assert_int_equal(n, 11);
    assert_string_equal(bly_kind_find(BLY_DEFAULT_KIND)->tier, "core");
    assert_string_equal(bly_kind_find("floom")->tier, "experimental");
    assert_string_equal(bly_kind_find("guava")->tier, "more");
    const uint64_t common = BLY_CAN_ADD | BLY_CAN_REMOVE | BLY_CAN_COUNT
                          | BLY_CAN_SHARE | BLY_CAN_GROW | BLY_CAN_RESIZE
                          | BLY_CAN_UNITE | BLY_CAN_INTERSECT
                          | BLY_CAN_OVERLAP | BLY_CAN_FINGERPRINTS
                          | BLY_CAN_FOLD
                          | BLY_CAN_LOCAL | BLY_CAN_EXACT | BLY_CAN_SEPARATE;
    assert_int_equal(core & common, common);
}

/* Every ability has a unique name; no other bit has one. */
static void test_abilities(void **state)
{
    (void)state;
    uint64_t all = 0, none = 0;
    const bly_kind_info *const *kinds = bly_kinds(NULL);
    for (unsigned i = 0; i < 64; i++) {
        const char *name = bly_ability(UINT64_C(1) << i);
        assert_int_equal(name != NULL, i < BLY_ABILITIES);
        for (unsigned j = 0; name != NULL && j < i; j++)
            assert_string_not_equal(name, bly_ability(UINT64_C(1) << j));
    }
    assert_null(bly_ability(0));
    assert_null(bly_ability(BLY_CAN_ADD | BLY_CAN_REMOVE));
    for (size_t i = 0; kinds[i] != NULL; i++) {
        all |= kinds[i]->can;
        none |= ~kinds[i]->can;
    }
    assert_int_equal(all, (UINT64_C(1) << BLY_ABILITIES) - 1);
    assert_int_equal(none | BLY_CAN_CONTAINS, UINT64_MAX);
}

/* A text with an alias gives the same plan as one with the kind's name. */
static void registry_same_plan(const char *alias, const char *text)
{
    const bly_spec spec = { .capacity = 1000, .rate = 0.001 };
    bly_plan_t a, b;
    assert_status(bly_plan(&a, alias, &spec), BLY_OK);
    assert_status(bly_plan(&b, text, &spec), BLY_OK);
    assert_string_equal(a.kind, b.kind);
    assert_memory_equal(a.geometry, b.geometry, sizeof a.geometry);
    assert_int_equal(a.bytes, b.bytes);
}

/* Every alias plans what it stands for, and is not the name of a kind or
 * another alias. */
static void test_aliases(void **state)
{
    (void)state;
    size_t seen = 0;
    for (const bly_kind_info *const *k = bly_kinds(NULL); *k != NULL; k++)
        for (size_t i = 0; (*k)->aliases[i] != NULL; i++, seen++) {
            const bly_alias_info *alias = (*k)->aliases[i];
            char text[96];
            snprintf(text, sizeof text, "%s%s%s", (*k)->name,
                     *alias->options != '\0' ? ":" : "", alias->options);
            registry_same_plan(alias->name, text);
            assert_ptr_equal(bly_kind_find(alias->name), *k);
            assert_null(registry_find(alias->name, strlen(alias->name)));
        }
    assert_true(seen >= 20);
    registry_same_plan("bloom:k=5", "standard:k=5");
    registry_same_plan("scalable:of=bloom", "scalable:of=standard");
    registry_same_plan("aging:of=sbbf", "aging:of=split");
}

/* An alias with options refuses a second value for them, and a choice between
 * kinds refuses such an alias. */
static void test_aliases_refuse(void **state)
{
    (void)state;
    assert_status(registry_try("xor8:bits=8"), BLY_EOPTION);
    assert_status(registry_try("binary-fuse8:arity=4"), BLY_OK);
    assert_status(registry_try("scalable:of=fuse8"), BLY_EOPTION);
    assert_status(registry_try("sbf"), BLY_EKIND);
    assert_status(registry_try("Bloom"), BLY_EKIND);
}

/* An image stores the kind's own name. */
static void test_aliases_in_images(void **state)
{
    (void)state;
    const bly_spec spec = { .capacity = 10 };
    bly_filter *filter;
    size_t bytes;
    char image[4096];
    assert_status(bly_new(&filter, "bloom", &spec), BLY_OK);
    assert_string_equal(bly_kind_of(filter), "standard");
    const void *made = bly_image(filter, &bytes);
    assert_in_range(bytes, 1, sizeof image);
    memcpy(image, made, bytes);
    bly_free(filter);
    assert_memory_equal(image + IMAGE_KIND, "standard", sizeof "standard");
    memset(image + IMAGE_KIND, 0, IMAGE_KIND_NAME);
    memcpy(image + IMAGE_KIND, "bloom", sizeof "bloom");
    const bly_kind *kind;
    assert_status(handle_find(&kind, image), BLY_EKIND);
}

/* The default kind has the verbs for sets and accepts any rate. */
static void test_default(void **state)
{
    (void)state;
    const bly_kind_info *info = bly_kind_find(BLY_DEFAULT_KIND);
    const uint64_t all = BLY_CAN_ADD | BLY_CAN_UNITE | BLY_CAN_INTERSECT
                       | BLY_CAN_OVERLAP | BLY_CAN_SHARE;
    bly_plan_t plan;
    assert_non_null(info);
    assert_string_equal(info->name, BLY_DEFAULT_KIND);
    assert_int_equal(info->can & all, all);
    for (double rate = 0.1; rate > 1e-12; rate /= 10) {
        const bly_spec spec = { .capacity = 1000000, .rate = rate };
        assert_status(bly_plan(&plan, BLY_DEFAULT_KIND, &spec), BLY_OK);
    }
}

static void test_status_texts(void **state)
{
    (void)state;
    static const bly_status all[] = {
#define REGISTRY_STATUS(name, value, text) BLY_##name,
        BLY_STATUS_MAP(REGISTRY_STATUS)
#undef REGISTRY_STATUS
    };
    for (size_t a = 0; a < sizeof all / sizeof *all; a++)
        for (size_t b = 0; b < a; b++)
            assert_string_not_equal(bly_strerror(all[a]), bly_strerror(all[b]));
    assert_string_equal(bly_strerror((bly_status)-99), "unknown status");
    assert_string_equal(bly_strerror(BLY_OK), "success");
    assert_string_equal(bly_version(), BLY_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_round_numbers),
        cmocka_unit_test(test_parse_refuses),
        cmocka_unit_test(test_listing),
        cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_given_options),
        cmocka_unit_test(test_abilities),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_aliases_refuse),
        cmocka_unit_test(test_aliases_in_images),
        cmocka_unit_test(test_default),
        cmocka_unit_test(test_status_texts),
    };
    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
