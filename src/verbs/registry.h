/* registry.h - the list of all kinds with their support tiers, the choice of
 * those in this build, and the lookup of a kind by its name.
 */
#ifndef BLY_VERBS_REGISTRY_H
#define BLY_VERBS_REGISTRY_H

#include <assert.h>

#include "image/kind_foreign.h"

/* ---- The kinds of a build ------------------------------------------------
 *
 * BLY_KINDS, set with -DBLY_KINDS=core or the like, is `all` (the default), or
 * a list of words, such as core,bloomier or blocked,fuse:
 *
 *      core      the kinds of tier CORE below, and no other system's formats
 *      sets      the family "sets"
 *      formats   the formats of other systems
 *      blocked   a kind or a format, by its name in the lists below
 *
 * Only the tables in registry.c differ. A kind that no table names is dropped,
 * by the linker (--gc-sections) or, in the amalgamation, by the compiler. It
 * stays if another kind contains it: "scalable:of=partitioned" works in every
 * build that has "scalable". */
#ifndef BLY_KINDS
#define BLY_KINDS all
#endif
#define REGISTRY_IS_all_alone   1
#define REGISTRY_IS_sets_alone  2
#define REGISTRY_IS_OF(a, b, ...)  REGISTRY_IS_##a##_##b
#define REGISTRY_IS(...)           REGISTRY_IS_OF(__VA_ARGS__, alone, alone)

/* The end of the message about a kind that this build does not have. */
#if REGISTRY_IS(BLY_KINDS) == REGISTRY_IS_all_alone
#define REGISTRY_HERE ""
#define REGISTRY_ELSEWHERE                                                     \
    "this version does not know: use the library that wrote it"
#else
#define REGISTRY_TEXT_OF(...)  #__VA_ARGS__
#define REGISTRY_TEXT(...)     REGISTRY_TEXT_OF(__VA_ARGS__)
#define REGISTRY_HERE " in this build (BLY_KINDS=" REGISTRY_TEXT(BLY_KINDS) ")"
#define REGISTRY_ELSEWHERE                                                     \
    "is not" REGISTRY_HERE ": use a build with BLY_KINDS=all"
#endif

/* ---- The kinds ----------------------------------------------------------
 *
 * One line per kind gives its name and its support tier, from which everything
 * else follows: what `bloomery kinds`, `plan` and `advise` show first, the
 * documentation, the bindings, and the library of BLY_KINDS=core. The order is
 * that of bly_kinds(), which the corpora of the fuzzers rely on.
 *
 *      CORE          the kinds to meet first: one for each common need
 *      MORE          as well tested and as stable, but for rarer needs
 *      EXPERIMENTAL  the format may still change (docs/format)
 *
 * The argument for each core kind:
 *
 *      standard   the default: any rate, and the least memory of the kinds
 *                 that add and unite
 *      blocked    fast for large sets: one cache line per key, in few bits
 *      split      the fastest: fixed work per key in a cache line; and the
 *                 filter of Parquet
 *      counting   removes and counts, and can be united
 *      cuckoo     removes, at half the memory of counting or less
 *      quotient   removes, counts, unites and can be resized without the keys
 *      fuse       the fastest for a fixed set, 10 to 20 % above the least space
 *      ribbon     the smallest for a fixed set
 *      expandable  removes, counts and unites when the number of keys is not
 *                 known
 *      scalable   adds quickly when the number of keys is not known
 *      cascade    no false positive within a closed universe
 *
 * Kinds that are close to one of these are in MORE. `xor` is larger than
 * `fuse` and builds more slowly. `partitioned` differs from `standard` in its
 * layout alone. `variable`, `dleft` and `golomb` are variations of `counting`,
 * `cuckoo` and `quotient`. `gcs` is small but slow. So are the kinds for needs
 * that few users have: labels (`bloomier`), differences of sets (`invertible`)
 * and endless streams (`aging`, `stable`); `bloomery advise` names them when
 * such a need is stated. */
#define REGISTRY_SETS(X)                                                       \
    X(standard, CORE)                                                          \
    X(partitioned, MORE)                                                       \
    X(blocked, CORE)                                                           \
    X(split, CORE)                                                             \
    X(compaction, EXPERIMENTAL)                                                \
    X(floom, EXPERIMENTAL)                                                     \
    X(rehash, MORE)

#define REGISTRY_KINDS(X)                                                      \
    REGISTRY_SETS(X)                                                           \
    X(counting, CORE)                                                          \
    X(variable, MORE)                                                          \
    X(dleft, MORE)                                                             \
    X(deletable, EXPERIMENTAL)                                                 \
    X(cuckoo, CORE)                                                            \
    X(quotient, CORE)                                                          \
    X(golomb, MORE)                                                            \
    X(expandable, CORE)                                                        \
    X(xor, MORE)                                                               \
    X(fuse, CORE)                                                              \
    X(ribbon, CORE)                                                            \
    X(gcs, MORE)                                                               \
    X(bloomier, MORE)                                                          \
    X(approximator, MORE)                                                      \
    X(spatial, MORE)                                                           \
    X(egh, EXPERIMENTAL)                                                       \
    X(invertible, MORE)                                                        \
    X(stable, MORE)                                                            \
    X(twin, MORE)                                                              \
    X(scalable, CORE)                                                          \
    X(compressed, MORE)                                                        \
    X(aging, MORE)                                                             \
    X(layered, MORE)                                                           \
    X(attenuated, MORE)                                                        \
    X(cascade, CORE)                                                           \
    X(buffered, MORE)

/* The kinds of other systems' formats (src/kinds/foreign/). They have names as
 * the other kinds do, but a list of their own (bly_formats): they exist for
 * files that other programs wrote, and hash whole keys. Bytes that several
 * formats would accept are read as the first of them. */
#define REGISTRY_FOREIGN(X)                                                    \
    X(dcso, MORE)                                                              \
    X(parquet, MORE)                                                           \
    X(datasketches, MORE)                                                      \
    X(bitsandblooms, MORE)                                                     \
    X(guava, MORE)                                                             \
    X(spark, MORE)                                                             \
    X(cassandra, MORE)                                                         \
    X(fastbloom, MORE)                                                         \
    X(rustbloom, MORE)                                                         \
    X(pyprobables, MORE)                                                       \
    X(leveldb, MORE)                                                           \
    X(bip37, MORE)                                                             \
    X(rocksdb, MORE)                                                           \
    X(ethereum, MORE)                                                          \
    X(squid, MORE)                                                             \
    X(venti, MORE)                                                             \
    X(exim, MORE)                                                              \
    X(redisbloom, MORE)                                                        \
    X(rediscuckoo, MORE)                                                       \
    X(bip158, MORE)                                                            \
    X(xorfilter, MORE)                                                         \
    X(crlite, MORE)                                                            \
    X(rocksribbon, MORE)                                                       \
    X(clubcard, MORE)                                                          \
    X(orc, MORE)                                                               \
    X(poppy, MORE)                                                             \
    X(npmbloom, MORE)                                                          \
    X(valkey, MORE)

/* ---- The choice ---------------------------------------------------------
 *
 * REGISTRY_HAS_name is 1 if this build has the kind or format, else 0. */
#define REGISTRY_PLACE(name, tier) REGISTRY_AT_##name,
#define REGISTRY_ONE(name, tier)   + 1
enum {
    REGISTRY_KINDS(REGISTRY_PLACE)
    REGISTRY_FOREIGN(REGISTRY_PLACE)
    REGISTRY_AT_core, REGISTRY_AT_sets, REGISTRY_AT_formats,
    REGISTRY_AT_nothing, REGISTRY_AFTER_24_WORDS_nothing = 0,
    REGISTRY_SETS_END = 0 REGISTRY_SETS(REGISTRY_ONE),
    REGISTRY_KINDS_END = 0 REGISTRY_KINDS(REGISTRY_ONE),
    REGISTRY_FOREIGN_END = REGISTRY_AT_core
};
#undef REGISTRY_ONE
#undef REGISTRY_PLACE
static_assert(REGISTRY_AT_nothing < 128, "each word has a bit");

#if REGISTRY_IS(BLY_KINDS) == REGISTRY_IS_all_alone
#define REGISTRY_CHOSEN(word) 1
#else
/* The words of BLY_KINDS as the bits of two numbers, halves 0 and 1: at most
 * 24, eight by eight. A word that is neither kind nor group is an undeclared
 * REGISTRY_AT_word. */
#define REGISTRY_BIT(half, word)                                               \
    (REGISTRY_AT_##word / 64 == half                                           \
         ? (uint64_t)1 << REGISTRY_AT_##word % 64 : 0)
#define REGISTRY_BITS(half, a, b, c, d, e, f, g, h)                            \
    REGISTRY_BIT(half, a) | REGISTRY_BIT(half, b) | REGISTRY_BIT(half, c)      \
        | REGISTRY_BIT(half, d) | REGISTRY_BIT(half, e)                        \
        | REGISTRY_BIT(half, f) | REGISTRY_BIT(half, g)                        \
        | REGISTRY_BIT(half, h)
#define REGISTRY_WORDS_1(half, a, b, c, d, e, f, g, h, ...)                    \
    REGISTRY_BITS(half, a, b, c, d, e, f, g, h)                                \
        | REGISTRY_WORDS_2(half, __VA_ARGS__)
#define REGISTRY_WORDS_2(half, a, b, c, d, e, f, g, h, ...)                    \
    REGISTRY_BITS(half, a, b, c, d, e, f, g, h)                                \
        | REGISTRY_WORDS_3(half, __VA_ARGS__)
#define REGISTRY_WORDS_3(half, a, b, c, d, e, f, g, h, after, ...)             \
    REGISTRY_BITS(half, a, b, c, d, e, f, g, h)                                \
        | REGISTRY_AFTER_24_WORDS_##after
#define REGISTRY_NOTHING                                                       \
    nothing, nothing, nothing, nothing, nothing, nothing, nothing, nothing
#define REGISTRY_WORDS(half, ...) (REGISTRY_WORDS_1(half, __VA_ARGS__))
#define REGISTRY_HALF(half)                                                    \
    REGISTRY_WORDS(half, BLY_KINDS, REGISTRY_NOTHING, REGISTRY_NOTHING,        \
                   REGISTRY_NOTHING, nothing, nothing)
#define REGISTRY_CHOSEN(word)                                                  \
    (int)((REGISTRY_AT_##word < 64 ? REGISTRY_HALF(0) : REGISTRY_HALF(1))      \
          >> REGISTRY_AT_##word % 64 & 1)
#endif

enum { REGISTRY_CORE, REGISTRY_MORE, REGISTRY_EXPERIMENTAL };
enum {
    REGISTRY_HAS_core = REGISTRY_CHOSEN(core),
    REGISTRY_HAS_sets = REGISTRY_CHOSEN(sets),
    REGISTRY_HAS_formats = REGISTRY_CHOSEN(formats),
#define REGISTRY_HAS(name, tier)                                               \
    REGISTRY_HAS_##name = REGISTRY_CHOSEN(name)                                \
        || (REGISTRY_HAS_core && REGISTRY_##tier == REGISTRY_CORE)             \
        || (REGISTRY_HAS_sets && REGISTRY_AT_##name < REGISTRY_SETS_END),
    REGISTRY_KINDS(REGISTRY_HAS)
#undef REGISTRY_HAS
#define REGISTRY_HAS(name, tier)                                               \
    REGISTRY_HAS_##name = REGISTRY_CHOSEN(name) || REGISTRY_HAS_formats,
    REGISTRY_FOREIGN(REGISTRY_HAS)
#undef REGISTRY_HAS
};

/* The numbers of kinds and of formats in this build. */
#define REGISTRY_ADD(name, tier) + REGISTRY_HAS_##name
enum {
    REGISTRY_SIZE = 0 REGISTRY_KINDS(REGISTRY_ADD),
    REGISTRY_OTHERS = 0 REGISTRY_FOREIGN(REGISTRY_ADD),
};
#undef REGISTRY_ADD
static_assert(REGISTRY_SIZE > 0, "BLY_KINDS names a kind, not only formats");

/* Aliases: names that papers and other libraries use for a kind, with the
 * options that the name implies. Every function that takes the name of a kind
 * accepts them; images and reports use the kind's own name. An ambiguous name
 * is not an alias: "sbf" is a scalable, spatial, spectral or stable filter. */
#define REGISTRY_SET_ALIASES(X)                                                \
    X("bloom",              "standard",     "")                                \
    X("bloom-filter",       "standard",     "")                                \
    X("blocked-bloom",      "blocked",      "")                                \
    X("split-block",        "split",        "")                                \
    X("sbbf",               "split",        "")                                \
    X("hash-compaction",    "compaction",   "")

/* `sets` alone is for a web page, which must download the library: bly_kinds()
 * then lists no aliases. */
#if REGISTRY_IS(BLY_KINDS) == REGISTRY_IS_sets_alone
enum { REGISTRY_LISTS_ALIASES = 0 };
#define REGISTRY_ALIASES(X) REGISTRY_SET_ALIASES(X)
#else
enum { REGISTRY_LISTS_ALIASES = 1 };
#define REGISTRY_ALIASES(X)                                                    \
    REGISTRY_SET_ALIASES(X)                                                    \
    X("counting-bloom",     "counting",     "")                                \
    X("cbf",                "counting",     "")                                \
    X("vi-cbf",             "variable",     "")                                \
    X("vicbf",              "variable",     "")                                \
    X("d-left",             "dleft",        "")                                \
    X("dlcbf",              "dleft",        "")                                \
    X("cuckoo-filter",      "cuckoo",       "")                                \
    X("quotient-filter",    "quotient",     "")                                \
    X("cqf",                "quotient",     "")                                \
    X("xor8",               "xor",          "bits=8")                          \
    X("xor16",              "xor",          "bits=16")                         \
    X("binary-fuse",        "fuse",         "")                                \
    X("binary-fuse8",       "fuse",         "bits=8")                          \
    X("binary-fuse16",      "fuse",         "bits=16")                         \
    X("fuse8",              "fuse",         "bits=8")                          \
    X("fuse16",             "fuse",         "bits=16")                         \
    X("golomb-coded-set",   "gcs",          "")                                \
    X("compact-approximator", "approximator", "")                              \
    X("iblt",               "invertible",   "")                                \
    X("scalable-bloom",     "scalable",     "")                                \
    X("filter-cascade",     "cascade",      "")
#endif

#define REGISTRY_DECLARE(name, tier) extern const bly_kind bly_kind_##name;
REGISTRY_KINDS(REGISTRY_DECLARE)
REGISTRY_FOREIGN(REGISTRY_DECLARE)
#undef REGISTRY_DECLARE

/* The kinds of this build; NULL ends each list. */
extern const bly_kind *const registry_kinds[];
extern const bly_kind *const registry_foreign[];

/* Returns the kind of this name of `length` characters from either list, or
 * NULL. Aliases are not looked up, because an image never holds one. */
const bly_kind *registry_find(const char *name, size_t length);

/* Returns the kind that "name" or "name:option=value,…" asks for, by its name
 * or by an alias, or NULL. */
const bly_kind *registry_named(const char *text);

/* Reads "kind:option=value,…" into the kind and the values of its options, in
 * the order of its table; an option that is not given has its default.
 * BLY_EKIND, BLY_EOPTION. */
bly_status registry_parse(const bly_kind **kind, uint64_t option[KIND_OPTIONS],
                          const char *text);

/* Returns the tier of a kind: "core", "more" or "experimental"; of a kind of
 * another system's format "more". */
const char *registry_tier(const bly_kind *kind);

/* Returns the abilities of a kind, BLY_CAN_…, from the slots that it fills. */
uint64_t registry_can(const bly_kind *kind);

/* Returns those of one filter, from its header. */
uint64_t registry_can_here(const bly_kind *kind, const void *image);

/* Writes the names of the kinds with one ability in a line: "counting,
 * cuckoo". If they are many, it writes the core ones, "and others". */
enum { REGISTRY_LINE = 320 };
void registry_able(char out[REGISTRY_LINE], uint64_t flag);

#endif /* BLY_VERBS_REGISTRY_H */
