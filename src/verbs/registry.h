/* registry.h - the list of all kinds, and how a kind is asked for by name. */
#ifndef BLY_VERBS_REGISTRY_H
#define BLY_VERBS_REGISTRY_H

#include "image/kind.h"

/* Every kind there is, in the order of the listings. One line a kind; all
 * else follows from it. With BLY_ONLY_SETS there is family "sets" and nothing
 * else: for a page of the web, which has to send the library along. The linker
 * leaves out unused code, and bly_kinds lists no aliases. */
#define REGISTRY_SETS(X)                                                       \
    X(standard)                                                                \
    X(partitioned)                                                             \
    X(blocked)                                                                 \
    X(split)                                                                   \
    X(compaction)                                                              \
    X(floom)                                                                   \
    X(rehash)

#ifdef BLY_ONLY_SETS
#define REGISTRY_KINDS(X) REGISTRY_SETS(X)
enum { REGISTRY_WHOLE = 0 };
#else
enum { REGISTRY_WHOLE = 1 };
#define REGISTRY_KINDS(X)                                                      \
    REGISTRY_SETS(X)                                                           \
    X(counting)                                                                \
    X(variable)                                                                \
    X(dleft)                                                                   \
    X(deletable)                                                               \
    X(cuckoo)                                                                  \
    X(quotient)                                                                \
    X(golomb)                                                                  \
    X(xor)                                                                     \
    X(fuse)                                                                    \
    X(ribbon)                                                                  \
    X(gcs)                                                                     \
    X(bloomier)                                                                \
    X(approximator)                                                            \
    X(spatial)                                                                 \
    X(egh)                                                                     \
    X(invertible)                                                              \
    X(stable)                                                                  \
    X(twin)                                                                    \
    X(scalable)                                                                \
    X(compressed)                                                              \
    X(aging)                                                                   \
    X(layered)                                                                 \
    X(attenuated)                                                              \
    X(cascade)                                                                 \
    X(buffered)
#endif

/* Kinds for other systems' formats (src/kinds/foreign/). They are used by name
 * like the others but listed separately, as they exist for existing files and
 * hash whole keys. Formats are recognised in this order. */
#ifdef BLY_ONLY_SETS
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

/* Other names that papers and libraries have for a kind, with options that the
 * name implies. They are accepted wherever a kind is asked for. Images, and
 * everything that reports a kind, hold the kind's own name. A name that could
 * mean several kinds is not listed: "sbf" is a scalable, spatial, spectral or
 * stable filter. */
#define REGISTRY_SET_ALIASES(X)                                                \
    X("bloom",              "standard",     "")                                \
    X("bloom-filter",       "standard",     "")                                \
    X("blocked-bloom",      "blocked",      "")                                \
    X("split-block",        "split",        "")                                \
    X("sbbf",               "split",        "")                                \
    X("hash-compaction",    "compaction",   "")

#ifdef BLY_ONLY_SETS
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

#define REGISTRY_DECLARE(name) extern const bly_kind bly_kind_##name;
REGISTRY_KINDS(REGISTRY_DECLARE)
REGISTRY_FOREIGN(REGISTRY_DECLARE)
#undef REGISTRY_DECLARE

/* The kinds, ended by NULL. */
extern const bly_kind *const registry_kinds[];
extern const bly_kind *const registry_foreign[];

/* Returns the kind of this name, of `length` characters, from either list, or
 * NULL. An image must have such a name; an alias is not one. */
const bly_kind *registry_find(const char *name, size_t length);

/* Returns the kind that "name" or "name:option=value,…" asks for, by its name
 * or by an alias, or NULL. */
const bly_kind *registry_named(const char *text);

/* Parses "kind:option=value,…" into the kind and its options' values in the
 * order of its table, with defaults for those not given. Returns BLY_EKIND or
 * BLY_EOPTION. */
bly_status registry_parse(const bly_kind **kind, uint64_t option[KIND_OPTIONS],
                          const char *text);

/* Returns the abilities of a kind, BLY_CAN_…, which follow from its slots. */
uint64_t registry_can(const bly_kind *kind);

/* Lists the kinds with one ability in a line: "counting, cuckoo". */
enum { REGISTRY_LINE = 320 };
void registry_able(char out[REGISTRY_LINE], uint64_t flag);

#endif /* BLY_VERBS_REGISTRY_H */
