/* cpp.cpp - every member of bloomery.hpp: it answers like C, errors are
 * exceptions, and nothing leaks (tools/check/cpp runs it with the address
 * sanitizer).
 *
 * Works in the folder that it is started in.
 */
#include <bloomery.hpp>
#include <bloomery/form.h>
#include <bloomery/inline.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>
#include <string>

#if __cplusplus >= 202002L
#include <span>
#endif

using bloomery::filter;
using bloomery::keys;
using bloomery::spec;

static int failures = 0;
static bool good = true;

#define CHECK(what) check((what), #what, __LINE__)
static void check(bool holds, const char *what, int line)
{
    if (holds)
        return;
    std::printf("cpp.cpp:%d: not so: %s\n", line, what);
    good = false;
}

/* Returns the thrown status, or BLY_OK if nothing was thrown. */
template <typename F> static bly_status thrown(F &&what)
{
    try {
        what();
    } catch (const bloomery::error &e) {
        CHECK(std::strlen(e.what()) > 0);
        return e.status();
    }
    return BLY_OK;
}

static std::vector<std::string> words(int n)
{
    std::vector<std::string> all;

    for (int i = 0; i < n; i++)
        all.push_back("word " + std::to_string(i));
    return all;
}

static void test_make_and_own()
{
    filter none;
    filter f("standard", spec(1000, 0.01));

    static_assert(!std::is_copy_constructible_v<filter>);
    static_assert(!std::is_copy_assignable_v<filter>);
    static_assert(std::is_nothrow_move_constructible_v<filter>);
    static_assert(std::is_nothrow_move_assignable_v<filter>);
    static_assert(sizeof(filter) == sizeof(bly_filter *));

    /* Each step of a stream's iterator overwrites the key before. */
    using bloomery::inside::is_fleeting;
    static_assert(is_fleeting<std::istream_iterator<std::string>>::value);
    static_assert(!is_fleeting<const std::string *>::value);
    static_assert(!is_fleeting<std::set<std::string>::const_iterator>::value);
    static_assert(!is_fleeting<std::vector<std::string>::iterator>::value);
    static_assert(noexcept(f.contains("key")) && noexcept(f.count("key")));
    CHECK(!none && f);
    CHECK(std::string(f.kind()) == "standard");
    CHECK((f.can() & BLY_CAN_ADD) != 0);

    filter moved = std::move(f);
    CHECK(moved && !f);             // NOLINT: a filter that was moved is false
    f = std::move(moved);
    CHECK(f.add("key"));

    filter copy = f.copy(), like = f.like();
    CHECK(copy.contains("key") && copy.add("other"));
    CHECK(!f.contains("other") && !like.contains("key"));

    filter owned(copy.release());
    CHECK(!copy && owned.contains("other"));
    CHECK(bly_contains(owned.get(), "other", 5));

    filter planned(bloomery::plan("standard", spec(1000, 0.01)), spec());
    CHECK(bloomery::plan("expandable", spec(), 1000000).bits_per_key < 16);
    CHECK(planned.unite(f).contains("key"));
    bly_spec plain = {};
    plain.capacity = 10;
    CHECK(filter(std::string("blocked"), plain).add("key"));
}

static void test_spec()
{
    const char secret[BLY_SECRET_BYTES + 1] = "0123456789abcdef";
    bly_allocator memory = {
        [](void *, std::size_t alignment, std::size_t size) {
            return std::aligned_alloc(alignment,
                                      (size + alignment - 1) / alignment
                                          * alignment);
        },
        [](void *, void *given, std::size_t) { std::free(given); }, nullptr
    };
    spec all = spec(100)
                   .with_hash("xxh64")
                   .with_seed(7)
                   .with_flags(BLY_SHARED)
                   .with_threads(1)
                   .with_allocator(&memory);
    filter f("standard", all);

    CHECK(f.info().seed == 7 && std::string(f.info().hash) == "xxh64");
    CHECK(f.add("key") && f.contains("key"));

    filter hidden("standard",
                  spec(100).with_hash("siphash").with_secret(secret));
    hidden.add("key");
    auto packed = hidden.pack();
    CHECK(thrown([&] { filter::unpack(packed.data(), packed.size()); })
          == BLY_ESECRET);
    CHECK(filter::unpack(packed.data(), packed.size(),
                         bloomery::options()
                             .with_secret(secret)
                             .with_threads(1)
                             .with_allocator(&memory))
              .contains("key"));
}

static void test_progress()
{
    struct watch {
        int calls, at;
        static int report(void *context, std::uint64_t done,
                          std::uint64_t total)
        {
            auto *w = static_cast<watch *>(context);
            CHECK(done <= total);
            return w->calls++ == w->at;
        }
    };
    watch none = { 0, -1 }, second = { 0, 1 };
    const bly_progress follow = { watch::report, &none };
    const bly_progress cancel = { watch::report, &second };
    std::vector<std::uint64_t> keys(200000);
    for (std::size_t i = 0; i < keys.size(); i++)
        keys[i] = bly_mix64(i);
    auto whole = filter::build("fuse", spec().with_progress(&follow),
                               bloomery::hashes(keys));
    CHECK(none.calls > 2 && whole.contains_hash(keys[7]));
    CHECK(thrown([&] {
              filter::build("fuse", spec().with_progress(&cancel),
                            bloomery::hashes(keys));
          }) == BLY_ECANCELED);
    const bly_progress first = { watch::report, &none };
    none = { 0, 0 };
    CHECK(thrown([&] {
              whole.copy(bloomery::options().with_progress(&first));
          }) == BLY_ECANCELED);
    filter some("standard", spec(keys.size()));
    second.calls = 0;
    some.watch(&cancel);
    CHECK(thrown([&] { some.add_hashes(keys); }) == BLY_ECANCELED);
    some.watch(nullptr);
    CHECK(some.contains_hash(keys[0]));
}

static void test_errors()
{
    CHECK(thrown([] { filter("standad", spec(10)); }) == BLY_EKIND);
    CHECK(thrown([] { filter("standard", spec(10, 2)); }) == BLY_EPARAM);
    CHECK(thrown([] { filter::open("no such file"); }) == BLY_EIO);
    CHECK(thrown([] { bloomery::plan("standard:k=0", spec(1)); })
          == BLY_EOPTION);

    filter frozen = filter::build("xor", spec(), words(10));
    CHECK(thrown([&] { frozen.add("key"); }) == BLY_EUNSUPPORTED);
    CHECK(thrown([&] { frozen.add_hash(1); }) == BLY_EUNSUPPORTED);
    CHECK(thrown([&] { frozen.remove("key"); }) == BLY_EUNSUPPORTED);
    CHECK(thrown([&] { frozen.put("key", 1); }) == BLY_EUNSUPPORTED);
    CHECK(thrown([&] { frozen.like(); }) == BLY_EUNSUPPORTED);
    CHECK(thrown([&] { frozen.resize(20); }) == BLY_EUNSUPPORTED);

    // what() names the operation of C++
    try {
        frozen.add("key");
    } catch (const bloomery::error &e) {
        CHECK(std::strstr(e.what(), "bly_") == nullptr);
    }

    // the number added, from a range of several batches too
    filter small("cuckoo", spec(300));
    std::size_t done = 0;
    try {
        small.add_many(words(5000));
    } catch (const bloomery::error &e) {
        CHECK(e.status() == BLY_EFULL);
        done = e.done();
    }
    CHECK(done >= 300 && small.info().items == done);
    CHECK(small.contains("word " + std::to_string(done - 1)));
}

static void test_one_key()
{
    filter f("counting", spec(1000));

    CHECK(f.add("a") && !f.add("a"));
    CHECK(f.add_hash(f.hash("b")) && f.contains("b"));
    CHECK(f.contains_hash(f.hash("a")) && !f.contains("c"));
    CHECK(f.count("a") == 2 && f.count_hash(f.hash("b")) == 1);
    CHECK(f.remove("a") && f.count("a") == 1);
    CHECK(f.remove_hash(f.hash("a")) && !f.contains("a"));
    CHECK(!f.remove("a"));

    const std::uint64_t number = 17;
    CHECK(f.add(bloomery::bytes(number)));
    CHECK(f.contains(bloomery::bytes(&number, sizeof number)));
}

static void test_many_hashes()
{
    filter f("counting", spec(1000));
    const std::vector<std::uint64_t> hashes =
        bloomery::hash_many(nullptr, spec(), words(3));
    std::array<bool, 3> is{};
    std::uint64_t counts[3];
    std::array<bly_status, 3> each{};

    CHECK(hashes[1] == f.hash("word 1"));
    f.add_hashes(hashes);
    f.add_hashes(hashes, is);
    CHECK(is[0] && is[1] && is[2]);
    is = {};
    f.contains_hashes(hashes, is);
    std::vector<std::uint8_t> mask((hashes.size() + 7) / 8);
    std::uint64_t ones = 0;
    for (bool one : is)
        ones += one;
    CHECK(f.contains_mask(hashes, mask) == ones);
    CHECK((mask[0] & 1) == is[0]);
    CHECK(thrown([&] {
              f.contains_mask(hashes, bloomery::span<std::uint8_t>());
          })
          == BLY_EPARAM);
    CHECK(is[0] && is[1] && is[2]);
    f.count_hashes(hashes, counts);
    CHECK(counts[0] == 2 && counts[2] == 2);
    CHECK(f.remove_hashes(hashes) && f.remove_hashes(hashes, each));
    CHECK(each[1] == BLY_OK && !f.remove_hashes(hashes, each));
    CHECK(each[1] == BLY_EABSENT);
    CHECK(thrown([&] { f.contains_hashes(hashes, bloomery::span<bool>()); })
          == BLY_EPARAM);
    CHECK(thrown([&] {
              f.add_hashes(hashes, bloomery::span<bool>(is.data(), 2));
          })
          == BLY_EPARAM);
    CHECK(f.count("word 0") == 0);
#if __cplusplus >= 202002L
    f.add_hashes(std::span(hashes).first(1), std::span(is));
    CHECK(!is[0] && f.contains("word 0"));
#endif
}

static void test_forms_of_keys()
{
    const char buffer[] = "onetwothree";
    const std::array<std::uint32_t, 4> narrow = { 0, 3, 6, 11 };
    const std::vector<std::uint64_t> wide(narrow.begin(), narrow.end());
    const std::vector<bly_key> single = { { "one", 3 }, { "three", 5 } };
    const std::vector<std::uint32_t> numbers = { 1, 2, 3 };
    filter f("standard", spec(1000));
    bool is[3] = {};

    f.add_many(keys(buffer, narrow), is);
    CHECK(!is[0] && f.contains("one") && f.contains("three"));
    f.add_many(keys(buffer, wide), is);
    CHECK(is[0] && is[1] && is[2]);
    f.contains_many(single, is);
    CHECK(is[0] && is[1]);
    f.contains_many(keys("oneabctwo", 3, 3), is);
    CHECK(is[0] && !is[1] && is[2]);
    f.add_many(keys::rows(numbers));
    CHECK(f.contains(bloomery::bytes(numbers[2])));
    CHECK(keys::rows(numbers).size() == 3);
    bly_keys wrong = {};
    wrong.n = 1;
    CHECK(thrown([&] { f.add_many(keys(wrong)); }) == BLY_EPARAM);
    f.add_many(keys(bloomery::span<const bly_key>(single.data(), 1)));
}

/* Ranges of more than one batch. */
static void test_ranges_of_keys()
{
    const std::vector<std::string> some = words(600);
    const std::deque<std::string_view> views(some.begin(), some.end());
    const std::set<std::string> sorted(some.begin(), some.end());
    const char *const literals[] = { "x", "y" };
    std::array<bool, 600> is{};
    std::array<std::uint64_t, 600> counts{};
    std::array<bly_status, 600> each{};
    filter f("counting", spec(2000));

    f.add_many(some, is);
    CHECK(!is[0] && f.contains("word 599"));
    f.add_many(views, is);
    CHECK(is[0] && is[255] && is[256] && is[599]);
    f.add_many(sorted);
    f.add_many(literals);
    CHECK(f.contains("y"));
    is = {};
    f.contains_many(views, is);
    CHECK(is[0] && is[255] && is[256] && is[599]);
    f.count_many(some, counts);
    CHECK(counts[0] == 3 && counts[256] == 3 && counts[599] == 3);
    CHECK(f.remove_many(some) && f.remove_many(some, each));
    CHECK(f.remove_many(some) && !f.remove_many(some, each));
    CHECK(each[0] == BLY_EABSENT && each[599] == BLY_EABSENT);
    CHECK(thrown([&] {
              f.contains_many(some, bloomery::span<bool>(is.data(), 599));
          })
          == BLY_EPARAM);
    CHECK(thrown([&] {
              f.count_many(some,
                           bloomery::span<std::uint64_t>(counts.data(), 10));
          })
          == BLY_EPARAM);
}

static void test_build_and_labels()
{
    const std::vector<std::string> some = words(300);
    const auto hashes = bloomery::hash_many("xor", spec(), some);
    std::vector<std::uint64_t> labels(300);
    for (std::size_t i = 0; i < labels.size(); i++)
        labels[i] = i % 7;

    const bloomery::hashes known{ hashes };
    CHECK(known.size() == 300);
    CHECK(filter::build("xor", spec(), known).contains("word 5"));
    filter f = filter::build("bloomier:bits=8", spec(), known, labels);
    CHECK(f.get("word 9") == 2u && f.get_hash(hashes[10]) == 3u);
    CHECK(f.put("word 9", 200) && f.get("word 9") == 200u);
    CHECK(f.put_hash(hashes[9], 2));
    CHECK(thrown([&] { f.put("nowhere", 1); }) == BLY_EABSENT);
    CHECK(!f.get("nowhere at all"));

    bly_keys own = {};
    own.n = hashes.size();
    own.hashes = hashes.data();
    own.labels = labels.data();
    CHECK(filter::build("bloomier:bits=8", spec(), keys(own)).get("word 9")
          == 2u);

    filter same = filter::build("bloomier:bits=8", spec(), some, labels);
    std::array<bool, 300> found{};
    std::array<std::uint64_t, 300> out{};
    same.get_hashes(hashes, found, out);
    CHECK(found[299] && out[299] == 299 % 7);
    out = {};
    same.get_many(some, found, out);
    CHECK(found[0] && found[299] && out[299] == 299 % 7);
    const std::vector<bly_key> single = { { "word 8", 6 } };
    same.get_many(keys(single), found, out);
    CHECK(found[0] && out[0] == 1);
    CHECK(thrown([&] {
              filter::build("bloomier", spec(), known,
                            bloomery::span<const std::uint64_t>(labels.data(),
                                                                3));
          })
          == BLY_EPARAM);

    filter zones("spatial:areas=3", spec(1000));
    for (auto &label : labels)
        label = 1 + label % 3;
    zones.put_many(some, labels);
    zones.put_many(keys(single), labels);
    CHECK(zones.get("word 8").value_or(0) >= labels[8]);
    zones.put_hashes({ hashes.data(), 2 }, { labels.data(), 2 });
    CHECK(zones.put("new", 1) && !zones.put("new", 1));
    CHECK(thrown([&] { zones.put_many(some, { labels.data(), 299 }); })
          == BLY_EPARAM);

    std::vector<std::uint64_t> seen;
    zones.list_labels(
        [&](const bly_label_t &label) { seen.push_back(label.label); });
    CHECK((seen == std::vector<std::uint64_t>{ 1, 2, 3 }));
    seen.clear();
    zones.list_labels([&](const bly_label_t &label) {
        seen.push_back(label.label);
        return label.label < 2;
    });
    CHECK(seen.size() == 2);
}

/* build() decides by the type of what it is given. */
static void test_build_of_each_type()
{
    const std::vector<std::string> strings = { "one", "three" };
    const std::array<std::string_view, 2> views = { "one", "three" };
    const char *const literals[] = { "one", "three" };
    const std::vector<bly_key> single = { { "one", 3 }, { "three", 5 } };
    const std::set<std::string> sorted(strings.begin(), strings.end());
    const auto hashed = bloomery::hash_many("fuse", spec(), strings);
    const keys rows("onetwo", 2, 3);
    const filter made[] = {
        filter::build("fuse", spec(), strings),
        filter::build("fuse", spec(), views),
        filter::build("fuse", spec(), literals),
        filter::build("fuse", spec(), sorted),
        filter::build("fuse", spec(), single),
        filter::build("fuse", spec(), keys(single)),
        filter::build("fuse", spec(), bloomery::hashes{ hashed }),
    };
    const auto first = made[0].image();

    for (const filter &f : made) {
        const auto image = f.image();
        CHECK(image.size() == first.size());
        CHECK(std::memcmp(image.data(), first.data(), first.size()) == 0);
        CHECK(f.contains("one") && f.contains("three"));
    }
    CHECK(filter::build("fuse", spec(), rows).contains("two"));
    const std::vector<std::string> none;
    CHECK(!filter::build("fuse", spec(10), none).contains("one"));
}

/* number() makes the key of bly_integer_key and bly_real_key. */
static void test_numbers()
{
    const std::vector<int> ids = { 1, 20, -3 };
    const std::set<std::uint64_t> large = { 1, UINT64_MAX };
    std::array<bool, 3> is{};
    unsigned char key[8];

    const filter f = filter::build("fuse", spec(), bloomery::numbers(ids));
    bly_integer_key(key, -3);
    CHECK(f.contains(bloomery::bytes(key, sizeof key)));
    CHECK(f.contains(bloomery::number(20L)));
    CHECK(f.contains(bloomery::number(1.0)));
    CHECK(!f.contains(bloomery::number(1.5)));
    f.contains_many(bloomery::numbers(ids), is);
    CHECK(is[0] && is[1] && is[2]);
    const filter g = filter::build("fuse", spec(), bloomery::numbers(large));
    bly_real_key(key, static_cast<double>(UINT64_MAX));
    CHECK(g.contains(bloomery::bytes(key, sizeof key)));
    CHECK(g.contains(bloomery::number(std::uint64_t{ 1 })));
    CHECK(!g.contains(bloomery::number(-1)));
    const std::vector<long long> exact = { 9007199254740993LL };
    const filter h = filter::build("fuse", spec(), bloomery::numbers(exact));
    CHECK(h.contains(bloomery::number(9007199254740993.0L)));
}

static void test_lists()
{
    filter here("invertible:key=8", spec(20)), there = here.like();
    std::set<std::string> ours, theirs;

    here.add("both");
    here.add("ours");
    there.add("both");
    there.add("theirs");
    here.subtract(there);
    here.list_keys([&](const bly_listed &listed) {
        std::string key(static_cast<const char *>(listed.key), listed.length);
        (listed.side > 0 ? ours : theirs).insert(key);
    });
    CHECK(ours == std::set<std::string>{ "ours" });
    CHECK(theirs == std::set<std::string>{ "theirs" });

    // an exception from a visitor passes through and ends the visit
    int visits = 0;
    try {
        here.list_keys([&](const bly_listed &) {
            visits++;
            throw std::out_of_range("enough");
        });
        CHECK(false);
    } catch (const std::out_of_range &) {
        CHECK(visits == 1);
    }

    filter q("quotient", spec(100));
    std::uint64_t total = 0;
    q.add_many(words(10));
    q.add("word 3");
    q.list_fingerprints(
        [&](std::uint64_t, unsigned, std::uint64_t count) { total += count; });
    CHECK(total == 11);
    CHECK(thrown([&] { q.list_keys([](const bly_listed &) {}); })
          == BLY_EUNSUPPORTED);
}

static void test_sets()
{
    filter a("standard", spec(1000)), b = a.like();

    a.add_many(words(600));
    b.add("word 1");
    b.add("elsewhere");
    CHECK(a.overlap(b).both.value < 50 && a.overlap(b).either.value > 550);
    CHECK(a.copy().intersect(b).contains("word 1"));
    CHECK(a.unite(b).contains("elsewhere"));
    filter other("standard", spec(9));
    CHECK(thrown([&] { a.unite(other); }) == BLY_EMISMATCH);
    CHECK(thrown([&] { a.overlap(other); }) == BLY_EMISMATCH);
    CHECK(thrown([&] { a.unite_at(b, 1); }) == BLY_EUNSUPPORTED);

    filter far("attenuated", spec(1000)), near("attenuated", spec(1000));
    near.put("key", 1);
    CHECK(far.unite_at(near, 1).get("key") == 2u);

    filter grows("quotient", spec(100));
    grows.add("key");
    grows.resize(1000);
    CHECK(grows.contains("key") && grows.info().capacity >= 1000);

    filter wide("standard:m=65536", spec(4000).with_form(BLY_KEYS_TEXT));
    wide.add("key");
    wide.fold(4);
    CHECK(wide.contains("key") && wide.info().geometry[0] == 65536 / 4);
    CHECK(wide.info().form == BLY_KEYS_TEXT && wide.form() == BLY_KEYS_TEXT);
    CHECK(thrown([&] { wide.set_form(BLY_KEYS_BYTES); }) == BLY_EMISMATCH);
    filter plain("standard", spec(10));
    plain.set_form(BLY_KEYS_BYTES);
    CHECK(plain.form() == BLY_KEYS_BYTES);
    CHECK(thrown([&] { wide.fold(3); }) == BLY_EPARAM);
}

static void test_files()
{
    const std::string path = "words.bly";
    filter f("compressed", spec(1000));

    f.add("key");
    f.save(path);
    CHECK(bloomery::peek_file(path).packed);
    CHECK(filter::open(path).contains("key"));

    filter plain("standard", spec(1000));
    plain.add("key");
    plain.save("plain.bly");
    filter mapped = filter::open("plain.bly", BLY_MAP | BLY_WRITE);
    CHECK(mapped.add("more"));
    mapped.sync();
    mapped.seal();
    CHECK(!mapped.replaced("plain.bly"));
    plain.save("plain.bly");
    CHECK(mapped.replaced("plain.bly"));

    auto image = plain.image();
    CHECK(plain.raw().size() == image.size());
    CHECK(filter::wrap(image.data(), image.size()).contains("key"));
    bloomery::check(image.data(), image.size());
    CHECK(bloomery::peek(image.data(), image.size()).items == 1);
    std::vector<std::byte> room(f.image().size()), packed = f.pack();
    CHECK(f.pack(room) == packed.size() && packed.size() < room.size());
    CHECK(std::memcmp(room.data(), packed.data(), packed.size()) == 0);
    CHECK(filter::unpack(packed.data(), packed.size()).contains("key"));
    packed[packed.size() / 2] ^= std::byte{ 1 };
    CHECK(thrown([&] { bloomery::check(packed.data(), packed.size()); })
          == BLY_ECORRUPT);
    std::remove("words.bly");
    std::remove("plain.bly");
}

static void test_paged_and_parts()
{
    std::remove("paged.bly");
    filter f = filter::create("paged.bly", "buffered", spec(100000));
    f.buffer(1 << 20);
    f.add_many(words(500));
    CHECK(f.contains("word 499") && f.image().size() == 0);
    CHECK(thrown([&] { f.pack(); }) == BLY_EUNSUPPORTED);
    CHECK(thrown([&] { f.copy(); }) == BLY_EUNSUPPORTED);
    CHECK(thrown([&] { filter::open("paged.bly", BLY_PAGED); }) == BLY_EIO);
    f.seal();
    f = filter();
    CHECK(filter::open("paged.bly", BLY_PAGED).contains("word 499"));
    std::remove("paged.bly");

    filter local("blocked", spec(1000));
    local.add("key");
    const std::array<std::uint64_t, 1> hash = { local.hash("key") };
    std::array<std::uint64_t, 1> places{};
    std::size_t line = local.places(hash, places);
    CHECK(line == 64 && places[0] % line == 0
          && places[0] < local.raw().size());
    local.set_items(5);
    CHECK(local.info().items == 5);
    local.save_parts("parts.bly", 1,
                     [&](std::uint64_t from, bloomery::span<std::byte> into) {
                         std::memcpy(into.data(), local.raw().data() + from,
                                     into.size());
                     });
    CHECK(filter::open("parts.bly").contains("key"));
    std::remove("parts.bly");
    CHECK(thrown([&] {
              local.save_parts("parts.bly", 1,
                               [](std::uint64_t, bloomery::span<std::byte>) {
                                   return false;
                               });
          })
          == BLY_EIO);
}

static void test_what_there_is()
{
    std::size_t named = 0;
    bly_need need = {};

    for (const bly_kind_info *kind : bloomery::kinds())
        named += bloomery::kind_find(kind->name) == kind;
    CHECK(named == bloomery::kinds().size() && named > 20);
    CHECK(bloomery::kinds()[0]->name != nullptr);
    CHECK(bloomery::kind_find("no such kind") == nullptr);

    need.capacity = 1000000;
    const bloomery::ranking advice = bloomery::advise(need);
    std::size_t fit = 0;
    for (const bly_advice &one : advice)
        fit += one.fits;
    CHECK(advice[0].fits && fit > 1 && fit <= advice.size());
    auto first = advice.begin(), second = first++;
    CHECK(first != second && &*second == &advice[0]);
    need.capacity = 0;
    CHECK(thrown([&] { bloomery::advise(need); }) == BLY_EPARAM);

    bly_threshold twice{};
    twice.capacity = 1000;
    twice.times = 2;
    CHECK(bloomery::plan(twice).plan.rate <= 0.01);
    twice.times = 0;
    CHECK(thrown([&] { bloomery::plan(twice); }) == BLY_EPARAM);

    const std::uint64_t numbers[] = { 3, 5, 99 };
    auto packed = bloomery::gaps_pack(numbers, 100);
    bloomery::gaps list(packed.data(), packed.size(), 100);
    CHECK(list.left() == 3 && list.next() == 3u && list.next() == 5u);
    CHECK(list.next() == 99u && !list.next());
    list.end();
    CHECK(thrown([&] { bloomery::gaps_pack(numbers, 50); }) == BLY_EPARAM);
    CHECK(thrown([&] { bloomery::gaps(packed.data(), 0, 100); })
          == BLY_ECORRUPT);
}

/* The header of lookups is valid C and valid C++. */
static void test_inline_views()
{
    const std::vector<std::string> some = words(600);
    filter blocked("blocked", spec(1000)), split("split", spec(1000)),
        standard("standard", spec(1000)), cuckoo("cuckoo", spec(1000)),
        counting("counting", spec(1000)),
        fuse = filter::build("fuse", spec(), some);
    bly_inline_blocked b;
    bly_inline_split s;
    bly_inline_standard t;
    bly_inline_fuse x;
    bly_inline_cuckoo c;
    bly_inline_counting n;

    CHECK(bly_inline_blocked_of(&b, fuse.get()) == BLY_EUNSUPPORTED);
    CHECK(bly_inline_blocked_of(&b, blocked.get()) == BLY_OK);
    CHECK(bly_inline_split_of(&s, split.get()) == BLY_OK);
    CHECK(bly_inline_standard_of(&t, standard.get()) == BLY_OK);
    CHECK(bly_inline_fuse_of(&x, fuse.get()) == BLY_OK);
    CHECK(bly_inline_cuckoo_of(&c, cuckoo.get()) == BLY_OK);
    CHECK(bly_inline_counting_of(&n, counting.get()) == BLY_OK);
    cuckoo.add_many(some);
    counting.add_many(some);
    CHECK(bly_inline_begin(blocked.get()) == BLY_OK);
    CHECK(bly_inline_begin(split.get()) == BLY_OK);
    CHECK(bly_inline_begin(standard.get()) == BLY_OK);
    for (const std::string &word : some) {
        bly_inline_blocked_add(&b, blocked.hash(word));
        bly_inline_split_add(&s, split.hash(word));
        bly_inline_standard_add(&t, standard.hash(word));
    }
    bly_inline_end(blocked.get(), some.size());
    bly_inline_end(split.get(), some.size());
    bly_inline_end(standard.get(), some.size());
    CHECK(blocked.info().items == 600 && split.contains("word 599"));
    for (int i = 0; i < 1200; i++) {
        const std::string word = "word " + std::to_string(i);
        const std::uint64_t h = fuse.hash(word);
        CHECK(bly_inline_blocked_contains(&b, h) == blocked.contains(word));
        CHECK(bly_inline_split_contains(&s, h) == split.contains(word));
        CHECK(bly_inline_standard_contains(&t, h) == standard.contains(word));
        CHECK(bly_inline_fuse_contains(&x, h) == fuse.contains(word));
        CHECK(bly_inline_cuckoo_contains(&c, h) == cuckoo.contains(word));
        CHECK(bly_inline_counting_contains(&n, h) == counting.contains(word));
        CHECK(i >= 600 || bly_inline_fuse_contains(&x, h));
    }
}

static void run(const char *name, void (*test)())
{
    good = true;
    try {
        test();
    } catch (const std::exception &e) {
        std::printf("cpp.cpp: %s: thrown: %s\n", name, e.what());
        good = false;
    }
    std::printf("%s - C++: %s\n", good ? "ok" : "not ok", name);
    failures += !good;
}

int main()
{
    run("make and own", test_make_and_own);
    run("spec and options", test_spec);
    run("progress", test_progress);
    run("errors", test_errors);
    run("one key", test_one_key);
    run("many hashes", test_many_hashes);
    run("forms of keys", test_forms_of_keys);
    run("ranges of keys", test_ranges_of_keys);
    run("build and labels", test_build_and_labels);
    run("build of each type", test_build_of_each_type);
    run("numbers", test_numbers);
    run("lists", test_lists);
    run("sets", test_sets);
    run("files", test_files);
    run("pages and parts", test_paged_and_parts);
    run("what there is", test_what_there_is);
    run("inline views", test_inline_views);
    return failures != 0;
}
