/* registry.h - the list of all kinds with their support tiers, and the lookup
 * of a kind by its name.
 */
#ifndef BLY_VERBS_REGISTRY_H
#define BLY_VERBS_REGISTRY_H

#include "image/kind_foreign.h"

/* ---- Built-in kinds -----------------------------------------------------
 *
 * BLY_KINDS, set with -DBLY_KINDS=core or the like, is one of
 *
 *      all     every kind and format (the default);
 *      core    the kinds of tier CORE below, and no other system's formats;
 *      sets    only the family "sets", for a web page, which must download
 *              the library. bly_kinds() then lists no aliases.
 *
 * Only the tables in registry.c differ. The linker (--gc-sections) drops a kind
 * that no table names, unless another kind contains it:
 * "scalable:of=partitioned" works in every build that has "scalable". */
#ifndef BLY_KINDS
#define BLY_KINDS all
#endif
#define REGISTRY_IS_all  1
#define REGISTRY_IS_core 2
#define REGISTRY_IS_sets 3
#define REGISTRY_PASTE(a, b) a##b
#define REGISTRY_IS(name)    REGISTRY_PASTE(REGISTRY_IS_, name)

#if REGISTRY_IS(BLY_KINDS) == 0
#error "BLY_KINDS is not one of all, core and sets"
#endif

enum { REGISTRY_WHOLE = REGISTRY_IS(BLY_KINDS) == REGISTRY_IS_all };

/* The end of the message about a kind that this build does not have. */
#if REGISTRY_IS(BLY_KINDS) == REGISTRY_IS_all
#define REGISTRY_HERE ""
#define REGISTRY_ELSEWHERE                                                     \
    "this version does not know: use the library that wrote it"
#else
#define REGISTRY_TEXT_OF(name) #name
#define REGISTRY_WORD(name)    REGISTRY_TEXT_OF(name)
#define REGISTRY_HERE " in this build (BLY_KINDS=" REGISTRY_WORD(BLY_KINDS) ")"
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
 *      scalable   grows when the number of keys is not known
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

#if REGISTRY_IS(BLY_KINDS) == REGISTRY_IS_sets
#define REGISTRY_KINDS(X) REGISTRY_SETS(X)
#else
#define REGISTRY_KINDS(X)                                                      \
    REGISTRY_SETS(X)                                                           \
    X(counting, CORE)                                                          \
    X(variable, MORE)                                                          \
    X(dleft, MORE)                                                             \
    X(deletable, EXPERIMENTAL)                                                 \
    X(cuckoo, CORE)                                                            \
    X(quotient, CORE)                                                          \
    X(golomb, MORE)                                                            \
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
#endif

/* REGISTRY_WITH_CORE(…), and so on: the arguments, if this build has the kinds
 * of that tier; else nothing. */
#define REGISTRY_WITH_CORE(...) __VA_ARGS__
#if REGISTRY_IS(BLY_KINDS) == REGISTRY_IS_core
#define REGISTRY_WITH_MORE(...)
#define REGISTRY_WITH_EXPERIMENTAL(...)
#else
#define REGISTRY_WITH_MORE(...)         __VA_ARGS__
#define REGISTRY_WITH_EXPERIMENTAL(...) __VA_ARGS__
#endif

/* The kinds of other systems' formats (src/kinds/foreign/). They have names as
 * the other kinds do, but a list of their own (bly_formats): they exist for
 * files that other programs wrote, and hash whole keys. Bytes that several
 * formats would accept are read as the first of them. */
#if REGISTRY_IS(BLY_KINDS) != REGISTRY_IS_all
#define REGISTRY_FOREIGN(X)
#else
#define REGISTRY_FOREIGN(X)                                                    \
    X(dcso)                                                                    \
    X(parquet)                                                                 \
    X(datasketches)                                                            \
    X(bitsandblooms)                                                           \
    X(guava)                                                                   \
    X(leveldb)                                                                 \
    X(bip37)                                                                   \
    X(rocksdb)                                                                 \
    X(ethereum)                                                                \
    X(squid)                                                                   \
    X(venti)                                                                   \
    X(exim)                                                                    \
    X(redisbloom)                                                              \
    X(rediscuckoo)                                                             \
    X(bip158)                                                                  \
    X(xorfilter)                                                               \
    X(crlite)
#endif

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

#if REGISTRY_IS(BLY_KINDS) == REGISTRY_IS_sets
#define REGISTRY_ALIASES(X) REGISTRY_SET_ALIASES(X)
#else
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
#define REGISTRY_DECLARE_FOREIGN(name) REGISTRY_DECLARE(name, MORE)
REGISTRY_KINDS(REGISTRY_DECLARE)
REGISTRY_FOREIGN(REGISTRY_DECLARE_FOREIGN)
#undef REGISTRY_DECLARE_FOREIGN
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
