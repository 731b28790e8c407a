/* bloomery.h - approximate membership filters: one interface for every kind.
 *
 * CONCEPTS
 *
 * A *filter* remembers a set of keys in a few bits each and answers "have I
 * seen this key?" with *certainly not* or *perhaps*. A key that was added is
 * always found (no false negatives). A key that was not added is found by
 * accident with a small, known probability, the *false-positive rate*.
 *
 * A *kind* is a way to build a filter: "standard", "blocked", … All kinds share
 * the same functions. A function that a kind does not support returns
 * BLY_EUNSUPPORTED; bly_can() tells beforehand. A kind is named by a string,
 * with options if needed: "standard", "standard:k=5,index=seeds". bly_kinds()
 * lists the kinds; those of the tier "core" are the ones to meet first. Names
 * that are common elsewhere, such as "bloom", "cbf" and "xor8", are accepted as
 * well.
 *
 * An *image* is the filter itself: one run of bytes without pointers, the same
 * in memory, in a file and on the wire (docs/format). A *handle* (the type
 * bly_filter) is how a program holds an image.
 *
 * A *key* is a string of bytes. How texts, numbers and lines become the bytes
 * of keys is the filter's *form*, which the image can state
 * (<bloomery/form.h>). A key is hashed once, on entry, to 64 bits with the
 * filter's own hash function and seed. Each operation on keys comes in four
 * versions: for one key (bly_add), for one hash (…_hash), for many hashes
 * (…_many) and for many keys (…_keys). Batches are the fast path.
 *
 * HASHES OF YOUR OWN
 *
 * A hash that the program computes itself must be as good as random in all its
 * 64 bits. Numbers such as 0, 1, 2, … are not, nor are 32-bit hashes or
 * pointers. Some kinds use the bits of a hash as they are: "split" and
 * "quotient" would answer "perhaps" for every such number, and other kinds
 * would miss their planned rate. Pass integer keys to these functions as
 * bly_mix64 of the integer, both for adding and for lookups.
 *
 * A FIRST PROGRAM
 *
 *      bly_filter *f;
 *      bly_spec want = { .capacity = 1000000, .rate = 0.01 };
 *      if (bly_new(&f, "standard", &want) < 0) {
 *          fprintf(stderr, "%s\n", bly_why());
 *          return 1;
 *      }
 *      bly_add(f, "swordfish", 9);
 *      if (bly_contains(f, "swordfish", 9))    // true: no false negatives
 *          puts("perhaps there");
 *      if (bly_save(f, "passwords.bly") < 0)
 *          fprintf(stderr, "%s\n", bly_why());
 *      bly_free(f);
 *
 * ERRORS
 *
 * A function that can fail returns a bly_status. A negative status is an error,
 * BLY_OK is 0, and BLY_SEEN (1) is a success with news. bly_strerror() names
 * the status; bly_why() says in one line what was wrong this time and how to
 * fix it. After an error the out-parameters are untouched and the filter is
 * unchanged, unless the function says otherwise. The library prints nothing,
 * never exits or aborts, and installs no signal handler.
 *
 * THREADS
 *
 * Different filters are independent. A filter that is not being changed may be
 * read by any number of threads at once: contains, count, get, info, image,
 * pack, save, copy, like, and as `other` of the set operations. A filter that
 * is being changed needs external locking: no other call may run beside it.
 *
 * A filter made or opened with BLY_SHARED may be added to and queried by any
 * number of threads at once, with bly_add and bly_contains in all their
 * versions; all other calls still need external locking. Only kinds with the
 * ability BLY_CAN_SHARE support it: with other kinds BLY_SHARED is
 * BLY_EUNSUPPORTED. A key that one thread has added is found by another thread
 * as soon as that thread learns of it by any means that orders memory (a lock,
 * a join, an atomic flag). If two threads add the same new key at the same
 * time, both may get BLY_OK: "new" is exact for one thread alone.
 *
 * The library starts threads of its own for large builds and large images: at
 * most as many as `threads` in bly_spec and bly_options says (1: none). They
 * block all signals and have ended when the call returns. There are no global
 * settings: no call changes what a call with another filter does.
 *
 * If a program forks while another of its threads is in a call with a filter,
 * even a call that only reads, the child must not use that filter. The filter
 * may be half changed there, or its lock held for ever by a thread that the
 * child does not have. Let such calls end before the fork (pthread_atfork).
 *
 * THE STACK
 *
 * No function has a stack frame above 16 KiB, and every function works with
 * every kind in a thread that has 64 KiB of stack.
 *
 * COMPATIBILITY
 *
 * Until 1.0 every minor version (0.1, 0.2) may change this interface. The
 * shared library's name holds both numbers, so that programs built for another
 * version do not start. From 1.0 on, within one major version:
 *
 *  - Functions, macros and the values of enums stay. Statuses, flags, hash
 *    functions, kinds and options may be added: treat an unknown negative
 *    status as an error.
 *  - Structs that a program allocates (bly_spec, bly_options, bly_keys,
 *    bly_need, bly_costs, bly_cost, bly_plan_t, bly_info_t, bly_header,
 *    bly_overlap_t, bly_processor_t, bly_inline_…) keep their size. New fields
 *    come out of `reserved`. The caller leaves it 0 in structs that it fills,
 *    or the call is BLY_EPARAM: the program was built for a newer library. The
 *    library sets it to 0 in structs that it fills.
 *  - bly_key, bly_estimate, bly_allocator, bly_progress, bly_line_cost,
 *    bly_cost_point, bly_field and bly_json never change.
 *  - All other structs belong to the library, which hands out pointers to
 *    them; they grow at their end. Do not copy them or take their size.
 *
 * This promise covers bloomery.h, bloomery.hpp (except its class `gaps`) and
 * the first list of further headers below, but not the second one. Products
 * that are built on filters have headers of their own, outside the promise and
 * this manual: <bloomery/redis.h>, <bloomery/index.h> and
 * <bloomery/similar.h>. docs/format has the promise for bytes on disk.
 *
 * FURTHER HEADERS
 *
 * These are about filters, and the promise covers them:
 *
 *  - <bloomery/form.h> defines how texts and numbers become keys.
 *  - <bloomery/fields.h> lists the fields of a filter or a plan, also as JSON.
 *  - <bloomery/advice.h> ranks the kinds for a need.
 *  - <bloomery/inline.h> has lookups that are compiled into the program.
 *  - <bloomery/paged.h> is for filters larger than memory.
 *  - <bloomery/parts.h> divides one filter among processes.
 *  - <bloomery/sketch.h> lists the contents of filters that can list them.
 *  - <bloomery/foreign.h> reads filters in files of other systems.
 *
 * These are helpers for programs that use filters, and any version may change
 * them:
 *
 *  - <bloomery/container.h> finds filters inside larger files.
 *  - <bloomery/nested.h> has keys that lie within others, such as domains.
 *  - <bloomery/gaps.h> packs lists of numbers for sending.
 *  - <bloomery/replace.h> replaces files atomically.
 *  - <bloomery/keyed.h> has a hash for tables whose keys strangers choose.
 *
 * ENVIRONMENT
 *
 * The library reads three environment variables, BLY_CPU, BLY_AHEAD and
 * BLY_NEAR, which say how to use the processor: see bly_processor.
 */
#ifndef BLOOMERY_H
#define BLOOMERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLY_VERSION_MAJOR 0
#define BLY_VERSION_MINOR 9
#define BLY_VERSION_PATCH 0
#define BLY_VERSION "0.9.0"
#define BLY_VERSION_NUMBER                                                     \
    (BLY_VERSION_MAJOR * 1000000 + BLY_VERSION_MINOR * 1000 + BLY_VERSION_PATCH)

#if defined(__GNUC__) && !defined(BLY_STATIC)
#define BLY_API __attribute__((visibility("default")))
#else
#define BLY_API
#endif

/* BLY_MUST: the caller must look at the result. BLY_GIVEN: the arguments at
 * these places must not be NULL. */
#if defined(__GNUC__)
#define BLY_MUST       __attribute__((warn_unused_result))
#define BLY_GIVEN(...) __attribute__((nonnull(__VA_ARGS__)))
#else
#define BLY_MUST
#define BLY_GIVEN(...)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Status ============================================================ */

/* The list from which the enum, the names and the messages are made. */
#define BLY_STATUS_MAP(X)                                                      \
    X(OK,            0, "success")                                             \
    X(SEEN,          1, "the key was perhaps there before")                    \
    X(ENOMEM,       -1, "out of memory")                                       \
    X(EPARAM,       -2, "a parameter is out of its range")                     \
    X(EKIND,        -3, "unknown kind of filter")                              \
    X(EOPTION,      -4, "the kind has no such option, or not that value")      \
    X(EHASH,        -5, "unknown hash function")                               \
    X(ETOOBIG,      -6, "the filter would be larger than can be addressed")    \
    X(EFORMAT,      -7, "the bytes are not a Bloomery filter")                 \
    X(EVERSION,     -8, "the filter was written by another version")           \
    X(ECORRUPT,     -9, "the filter's bytes are damaged or cut short")         \
    X(EUNSEALED,   -10, "the filter is being written, or its writer died")     \
    X(EIO,         -11, "the operating system refused to read or write")       \
    X(EMISMATCH,   -12, "the filters differ in kind, plan, hash or seed")      \
    X(EFULL,       -13, "the filter is full")                                  \
    X(EABSENT,     -14, "the key is not in the filter; nothing was changed")   \
    X(EUNSUPPORTED,-15, "this kind of filter cannot do that")                  \
    X(EREADONLY,   -16, "the filter was opened or wrapped for reading only")   \
    X(EUNSAFE,     -17, "the key cannot be removed without risk to others")    \
    X(EREMOVED,    -18, "the key was removed once and cannot be added again")  \
    X(ESECRET,     -19, "the secret is missing, wrong or not needed")          \
    X(EUNFLUSHED,  -20, "the new file is in place, but a crash may undo that") \
    X(EFORM,       -21, "the key is of another class than the filter's keys")  \
    X(ECANCELED,   -22, "cancelled by the caller")                             \
    X(ELIMIT,      -23, "more memory would be needed than the limit allows")

typedef enum {
#define BLY_STATUS_ENUM(name, value, text) BLY_##name = value,
    BLY_STATUS_MAP(BLY_STATUS_ENUM)
#undef BLY_STATUS_ENUM
    BLY_STATUS_END = 2          /* one past the largest; not a status */
} bly_status;

/* Returns the general meaning of a status: a constant English sentence, for any
 * number, even an unknown one. Thread-safe. */
BLY_API const char *bly_strerror(bly_status status);

/* Returns why the last call failed, and how to fix it: one line without a
 * newline about the last call that failed in this thread, or "" before the
 * first failure. The text lives until the next failure in the same thread. Read
 * it only after an error, because a call that succeeds leaves the text of the
 * last failure. */
BLY_API const char *bly_why(void);

/* Returns the text of bly_why for the users of a language: "c", "c++",
 * "python", "sqlite", "postgresql", "javascript", "rust", "go", "redis" or
 * "command". Where the text names a function of C in brackets, it has that
 * language's name for the operation, or nothing (see bindings/names.md). For
 * any other language it names no function. Valid until the thread's next call
 * of bly_why_in. Thread-safe. */
BLY_API const char *bly_why_in(const char *language) BLY_GIVEN(1);

/* Returns the system's error number of the last failure in this thread: ENOENT,
 * EACCES, … of <errno.h>. It is 0 if there was none, as with a damaged file.
 * The text of bly_why names it as well. Valid as long as that text. */
BLY_API int bly_errno(void);

/* Returns the version of the linked library: its BLY_VERSION, such as "0.1.0",
 * which may differ from that of the header. */
BLY_API const char *bly_version(void);

/* How the library uses the processor. */
typedef struct {
    const char *instructions;   /* "portable"; on x86 "sse2", "avx2" or
                                   "avx512"; on aarch64 "neon"; of
                                   WebAssembly "simd128"                     */
    uint32_t    ahead;          /* keys of a batch whose lines of memory are
                                   on their way at a time, at most           */
    uint32_t    ahead_cached;   /* the same in a filter of at most eight
                                   times near_bytes                          */
    uint64_t    near_bytes;     /* that count as near: the second-level cache
                                   of a core, where the system tells         */
    uint64_t    reserved[5];    /* 0                                         */
} bly_processor_t;

/* Reports how the library uses this processor; answers and bytes do not depend
 * on it. Environment variables that are set before the first call change it:
 * BLY_CPU=portable, sse2 or avx2 (no higher instructions than these),
 * BLY_AHEAD=N (1 .. 65536 keys), and BLY_NEAR=N (KiB, 1 .. 2^30). Other values
 * are ignored. Thread-safe. */
BLY_API void bly_processor(bly_processor_t *out) BLY_GIVEN(1);

/* ==== Kinds and abilities ================================================ */

/* The abilities of kinds: the list from which the flags BLY_CAN_…, their names,
 * and the messages about a kind that lacks an ability are made. */
#define BLY_ABILITY_MAP(X)                                                     \
    X(ADD,          0, "add",        "it is built of all its keys at once")    \
    X(WHOLE_KEYS,   1, "whole keys", "it sees hashes only")                    \
    X(CONTAINS,     2, "contains",   "it cannot be asked")                     \
    X(REMOVE,       3, "remove",     "no key can be removed")                  \
    X(COUNT,        4, "count",      "it does not count")                      \
    X(LABEL,        5, "label",      "it carries no labels")                   \
    X(SEPARATE,     6, "separate",   "it is not told what is no member")       \
    X(SHARE,        7, "share",      "threads cannot add to it at once")       \
    X(PAGE,         8, "page",       "it has no pages, to be worked on in a "  \
                                     "file")                                   \
    X(LOCAL,        9, "local",      "a key is in many places of its image")   \
    X(GROW,        10, "grow",       "it does not grow by itself")             \
    X(FORGET,      11, "forget",     "it forgets no key, so that an endless "  \
                                     "stream overfills it")               \
    X(RESIZE,      12, "resize",     "its size stays")                         \
    X(FINGERPRINTS, 13, "fingerprints", "it does not list its fingerprints")   \
    X(PACK,        14, "pack",       "it is saved as it is in memory")         \
    X(UNITE,       15, "unite",      "two of them cannot be united")           \
    X(UNITE_AT,    16, "unite at",   "it cannot be united at a label")         \
    X(INTERSECT,   17, "intersect",  "two of them cannot be intersected")      \
    X(OVERLAP,     18, "overlap",    "two of them cannot be compared")         \
    X(SUBTRACT,    19, "subtract",   "one cannot be subtracted from another")  \
    X(LIST_KEYS,   20, "list",       "it does not list its keys")              \
    X(EXACT,       21, "exact",      "it has false positives")                 \
    X(FOLD,        22, "fold",       "its bits cannot be laid on one another")

enum {
#define BLY_ABILITY_ENUM(name, bit, word, lack) BLY_CAN_##name = 1 << bit,
    BLY_ABILITY_MAP(BLY_ABILITY_ENUM)
#undef BLY_ABILITY_ENUM
    BLY_ABILITIES = 23          /* how many there are; not a flag */
};

/* Returns the name of an ability: "remove" for BLY_CAN_REMOVE, or NULL if the
 * number is not a single flag. Thread-safe. */
BLY_API const char *bly_ability(uint64_t flag);

typedef struct {
    const char *name;           /* "k"                                       */
    const char *range;          /* "1 .. 64", "double | triple"              */
    const char *standard;       /* what it is when not given                 */
    const char *help;           /* one line                                  */
} bly_option_info;

/* Another name for a kind, accepted wherever a kind is named. Filters report
 * the kind's own name. */
typedef struct {
    const char *name;           /* "xor8"                                    */
    const char *options;        /* what it implies: "bits=8", or ""          */
} bly_alias_info;

typedef struct {
    const char *name;           /* "standard"                                */
    const char *family;         /* "sets"                                    */
    const char *summary;        /* one line                                  */
    uint64_t    can;            /* BLY_CAN_…, without options                */
    const bly_option_info *const *options;      /* NULL ends it              */
    const char *tier;           /* "core": the kinds to meet first; "more":
                                   for rarer needs; "experimental": its bytes
                                   may change in a later version             */
    const bly_alias_info *const *aliases;       /* NULL ends it              */
} bly_kind_info;

/* Returns all kinds of filters, sorted by family. A NULL ends the list, and *n
 * is their number unless `n` is NULL. Constant for the life of the program;
 * thread-safe. */
BLY_API const bly_kind_info *const *bly_kinds(size_t *n);

/* Returns the kind with a given name or alias: the kind that "name" or
 * "name:option=value,…" stands for, or NULL if none has that name. The options
 * are not checked. (A number may be written as 1000000, 1e6, 1000k or 1M; the
 * units k, M, G and T are powers of 1000.) Thread-safe. */
BLY_API const bly_kind_info *bly_kind_find(const char *kind) BLY_GIVEN(1);

/* The default kind of the command, bloomery-mpi and all bindings.
 *
 * It is "standard" because a default must serve every request: it holds any
 * rate, and of the kinds that can be added to and united it needs the least
 * memory. "blocked" has the same abilities and reads one cache line per key
 * instead of up to k, which is faster in filters larger than the cache. But it
 * needs 3 % more memory at a rate of 1 %, 8 % more at 0.1 % and 24 % more at
 * 0.001 %, and refuses rates below 1e-8. Choose it where lookups are the
 * bottleneck. */
#define BLY_DEFAULT_KIND "standard"

/* ==== Memory ============================================================ */

/* An allocator. `allocate` returns `bytes` bytes aligned to `alignment` (a
 * power of two) or NULL; `release` takes back a block from `allocate`, with the
 * same `bytes`. Both are given `context`, in the thread of the call that needs
 * memory. */
typedef struct {
    void *(*allocate)(void *context, size_t alignment, size_t bytes);
    void  (*release) (void *context, void *memory, size_t bytes);
    void  *context;
} bly_allocator;

/* ==== Progress ==========================================================

 * A callback with which a long call reports its progress and can be cancelled.
 * `done` rises from 0 to at most `total`. They count keys if a filter is built
 * or keys are added, put and removed, and bytes of the image in every other
 * call. If the callback returns a number other than 0, the call is cancelled:
 * it returns BLY_ECANCELED, and everything is as it was before the call. Only a
 * batch that adds, puts or removes keys keeps those that it has processed, as
 * after any other error.
 *
 * The callback runs in the thread of the call, at least every 50 ms of
 * processor time and often every 10 microseconds: look at the clock before you
 * draw. Short calls do not call it, and a call that succeeds need not reach
 * `total`. The callback may call the library, but not with the filter of the
 * call in progress, and must not leave by longjmp or an exception.
 *
 * Lookups have no callback, because they cannot fail: divide large batches. A
 * save can no longer be cancelled once it replaces the old file and waits for
 * the disk; bly_clear and bly_free cannot be cancelled at all. */
typedef struct {
    int (*report)(void *context, uint64_t done, uint64_t total);
    void *context;
} bly_progress;

/* ==== Requests and plans ================================================ */

/* Flags of bly_spec and bly_open. */
enum {
    BLY_MAP    = 1, /* open: map the file instead of reading it into memory  */
    BLY_WRITE  = 2, /* open, with BLY_MAP or BLY_PAGED: changes go to the file*/
    BLY_SHARED = 4, /* many threads may add and query; see THREADS           */
    BLY_VERIFY = 8, /* open, mapped or paged: read it all, check its checksum*/
    BLY_PAGED  = 16,/* open: work in the file; see <bloomery/paged.h>        */
    BLY_SPARSE = 32 /* new: memory is taken only as the filter is written, and
                       not from the allocator; see <bloomery/parts.h>        */
};

enum { BLY_SECRET_BYTES = 16 };

/* The filter that the caller wants. A zero field means "choose for me"; NULL
 * for a bly_spec means all zero. */
typedef struct {
    uint64_t    capacity;       /* keys it should hold; must be given, except
                                   to bly_build (the number of its keys),
                                   with an option that fixes the size (m=),
                                   and for the kinds expandable and scalable,
                                   which begin small without an estimate     */
    double      rate;           /* false-positive rate at that many keys,
                                   0 < rate < 1; 0: 0.01                     */
    uint64_t    seed;           /* of the hash function                      */
    const char *hash;           /* "xxh3" (the default), "xxh64", "murmur2",
                                   "murmur3", "fnv1a", "siphash", "identity",
                                   "decimal"; of a kind of integers with a
                                   universe= "decimal" is the default        */
    const void *secret;         /* BLY_SECRET_BYTES bytes unknown to an
                                   attacker who chooses keys: the key of
                                   "siphash", which requires one; other
                                   functions must have none. The filter does
                                   not hold it: keep it. The seed must then be
                                   0                                         */
    const bly_allocator *allocator;     /* NULL: the library's own, with huge
                                   pages for large images; a filter keeps the
                                   allocator it was made with                */
    int         flags;          /* BLY_SHARED, BLY_SPARSE, both or 0         */
    uint32_t    threads;        /* the most that may work at once; 0: choose,
                                   1: start none                             */
    uint64_t    form;           /* how its keys are made, which the image
                                   states: <bloomery/form.h>; 0: not stated.
                                   Not for family "foreign"                  */
    const bly_progress *progress;       /* for this one call (bly_new,
                                   bly_build and so on); NULL: none          */
    uint64_t    reserved[7];    /* 0                                         */
} bly_spec;

/* How to open or hold an existing filter. NULL means all zero. */
typedef struct {
    const bly_allocator *allocator;     /* as in bly_spec                    */
    const void *secret;         /* of a filter hashed by "siphash"; with any
                                   other filter BLY_ESECRET. bly_like and
                                   bly_copy keep the filter's own secret and
                                   ignore this one                           */
    uint32_t    threads;        /* as in bly_spec                            */
    uint32_t    zero;           /* 0                                         */
    const char *format;         /* for bly_open and bly_unpack: the name of
                                   another system's format, which is not
                                   verified (<bloomery/foreign.h>), or
                                   "bloomery" for our own; NULL: recognise it
                                   from the bytes                            */
    uint64_t    memory_limit;   /* bytes that the filter may take if it takes
                                   more than it was read from; 0: the default
                                   of bly_memory_limit                       */
    const bly_progress *progress;       /* for this call; NULL: none         */
    uint64_t    reserved[2];    /* 0                                         */
} bly_options;

/* Returns how much memory a call may take for a filter that it reads. For a
 * filter that is read from `given` bytes, it is `memory_limit` of the options,
 * or, if that is 0 or the options are NULL, the larger of 1 GiB and 8 * given,
 * but at most half of the physical memory.
 *
 * A few bytes can stand for a large filter: a packed filter may unpack to 8192
 * times its size. Therefore every call that reads a filter looks at the header
 * first, and returns BLY_ELIMIT if the filter would take more than this limit
 * and more than `given`; bly_why names both numbers. Images that are mapped,
 * paged, or as large in memory as in the file are exempt, because they cost no
 * more than their own bytes. A filter keeps the limit it was read with, which
 * also bounds growing (kinds with the ability "grow") and bly_list_keys; there
 * `given` is the present size of the filter. Filters that the program made
 * itself have no limit. Thread-safe. */
BLY_API uint64_t bly_memory_limit(const bly_options *options, uint64_t given);

/* The size, rate and costs of a filter, known before it is built. */
typedef struct {
    char     kind[24];          /* its name, without options                 */
    uint64_t capacity;          /* keys                                      */
    uint64_t bytes;             /* of the whole image; an upper bound for a
                                   kind that packs its keys (gcs) or their
                                   errors (cascade)                          */
    uint64_t packed;            /* expected bytes once saved or sent, of a
                                   kind with the ability "pack"; 0: `bytes`  */
    uint64_t scratch;           /* bytes that bly_build allocates temporarily,
                                   beside the image and the hashes           */
    double   bits_per_key;      /* 8 * bytes / capacity                      */
    double   rate;              /* predicted rate at capacity: at most the
                                   rate asked for (within one part in a
                                   million), unless options fix the size; for
                                   a kind that grows or forgets, an upper
                                   bound at any number of keys               */
    double   rate_sd;           /* standard deviation of the rate from filter
                                   to filter, over seeds or key sets         */
    double   fill;              /* share of bits, cells or slots in use then */
    double   lost;              /* false-negative rate: chance that a key which
                                   is there is not found, once as much is
                                   removed as planned; for a kind that forgets,
                                   that a key added `capacity` different keys
                                   ago is not found. 0 for every kind that
                                   promises to find all keys                 */
    uint64_t window;            /* number of the last different keys added that
                                   are certainly found: UINT64_MAX (all)
                                   except for kinds that forget              */
    double   lines_present;     /* cache lines touched by a lookup, at most, */
    double   lines_absent;      /* of a key that is there, and of one not    */
    uint32_t probes;            /* bits, cells or places of a key (k)        */
    uint32_t label_bits;        /* bits of the largest label; 0: the kind
                                   carries no labels                         */
    uint64_t label_least;       /* labels are these and what is between them */
    uint64_t label_most;
    uint64_t geometry[4];       /* the kind's own numbers, see docs/format   */
    uint64_t can;               /* flags BLY_CAN_… of the filter, as bly_can
                                   will return them                          */
    uint64_t reserved[9];       /* 0                                         */
} bly_plan_t;

/* Computes the size, rate and costs of a filter before it is built: the plan of
 * the filter that bly_new or bly_build would make. Allocates nothing.
 * BLY_EKIND, BLY_EOPTION, BLY_EHASH (also if the hash function does not suit
 * the kind), BLY_EPARAM (a rate outside (0, 1), or below what 64-bit hashes can
 * hold at that capacity; no capacity), BLY_ETOOBIG, BLY_ESECRET.
 * Thread-safe. */
BLY_API bly_status bly_plan(bly_plan_t *out, const char *kind,
                            const bly_spec *spec) BLY_GIVEN(1, 2);

/* Computes the plan of a filter once it has grown. It was made with this spec,
 * and has grown by adds until it holds `keys` different keys; `fill` is that of
 * a full one. If it need not grow for them, this is bly_plan. BLY_EUNSUPPORTED
 * (a kind that does not grow by itself, or another system's format), BLY_EFULL
 * (it cannot grow so far), and the errors of bly_plan. Thread-safe. */
BLY_API bly_status bly_plan_grown(bly_plan_t *out, const char *kind,
                                  const bly_spec *spec, uint64_t keys)
                                  BLY_GIVEN(1, 2);

/* ==== Keys ============================================================== */

typedef struct bly_filter bly_filter;

/* A key: a run of bytes. */
typedef struct {
    const void *data;           /* may be NULL where length is 0 */
    size_t      length;         /* bytes */
} bly_key;

/* Many keys in the caller's memory, in exactly one of five layouts; the fields
 * of the other layouts stay 0. BLY_EPARAM for no layout or several, falling
 * offsets, missing data where the offsets or the width say that there are some,
 * and padding without a width. */
typedef struct {
    size_t          n;          /* how many                                  */
    const bly_key  *keys;       /* each by itself; or all of them in …       */
    const void     *data;       /* … one buffer, where key i is              */
    const uint32_t *offsets32;  /* data[offsets[i] .. offsets[i + 1]), with
                                   n + 1 offsets of 32 bits                  */
    const uint64_t *offsets64;  /* or of 64 (Arrow's layouts);               */
    size_t          width;      /* or bytes i * width up to (i + 1) * width  */
    uint64_t        padded;     /* with a width, 1: a key ends before the zero
                                   bytes at its end, as in columns of CHAR(n)
                                   and numpy's arrays of bytes; else 0       */
    const uint64_t *hashes;     /* or only the hashes, for bly_build         */
    const uint64_t *labels;     /* n, for bly_build; or NULL                 */
    uint64_t        before;     /* how many keys of a batch that is given in
                                   parts are before these, for the numbers of
                                   keys in messages                          */
    uint64_t        reserved[1];/* 0                                         */
} bly_keys;

/* Returns the 64-bit hash by which a filter knows a key. Cannot fail.
 * Thread-safe. */
BLY_API uint64_t bly_hash(const bly_filter *filter, const void *key,
                          size_t length) BLY_GIVEN(1);

/* Returns a hash for an integer key. It is a bijection of 64 bits, so that no
 * two integers share a hash, and each bit depends on all bits of the integer:
 * the first number of SplitMix64 with this seed (variant 13 of [Stafford 2011]
 * of the integer + 0x9E3779B97F4A7C15, because 0 would otherwise give 0, which
 * is not a good hash). Not for integers that an attacker chooses. Will never
 * change. */
BLY_API uint64_t bly_mix64(uint64_t integer);

/* Writes the key of a number, of 8 bytes, the lowest first. It is used wherever
 * keys are numbers and not their texts: in Python, in SQL, and with the
 * command's --as number. Equal numbers have equal keys, as 1 and 1.0 are equal
 * there: a real number that is an integer from -2^63 to 2^63 - 1 has that
 * integer's key, in two's complement. Any other number has its IEEE 754 double,
 * and NaN is 0x7FF8000000000000. Never changes. Thread-safe. */
BLY_API void bly_integer_key(unsigned char key[8], int64_t integer)
                             BLY_GIVEN(1);
BLY_API void bly_real_key(unsigned char key[8], double real) BLY_GIVEN(1);

/* Computes the hashes of keys without a filter. They are the hashes of keys->n
 * keys that a filter of this kind and spec would compute, for bly_build and for
 * hashing elsewhere. A `kind` of NULL stands for any kind that is not of
 * integers. Only hash, seed, secret and progress of the spec matter. BLY_EKIND,
 * BLY_EOPTION, BLY_EHASH, BLY_ESECRET, BLY_EPARAM. Thread-safe. */
BLY_API bly_status bly_hash_many(uint64_t *hashes, const char *kind,
                                 const bly_spec *spec, const bly_keys *keys)
                                 BLY_GIVEN(4);

/* ==== Make and free ===================================================== */

/* Makes a new empty filter; free it with bly_free. Errors of bly_plan;
 * BLY_ENOMEM; BLY_EUNSUPPORTED for a kind that can only be built from all its
 * keys at once, and for BLY_SHARED with a kind that cannot share. */
BLY_API bly_status bly_new(bly_filter **out, const char *kind,
                           const bly_spec *spec) BLY_MUST BLY_GIVEN(1, 2);

/* Makes a new empty filter from a plan that was computed elsewhere. With it
 * many machines share one geometry, however their mathematics libraries round.
 * Only hash, seed, secret, allocator, flags and threads of the spec matter.
 * Errors of bly_new; BLY_EPARAM (not a plan of this library); BLY_EUNSUPPORTED
 * also for a kind whose empty filters hold more than a plan tells (family
 * "compound", and egh): send an empty filter instead (bly_pack, bly_unpack). */
BLY_API bly_status bly_new_planned(bly_filter **out, const bly_plan_t *plan,
                                   const bly_spec *spec)
                                   BLY_MUST BLY_GIVEN(1, 2);

/* Builds a filter of any kind from all its keys or their hashes. Hashes are in
 * keys->hashes (see bly_hash_many). Every kind supports this. There may be
 * duplicates in any order, and nothing is changed. keys->n may be 0 if
 * spec->capacity is not. A kind that can only be built is planned for n keys,
 * whatever the capacity. Keys take 8 bytes each, for their hashes, from the
 * allocator during the call. Errors of bly_new; BLY_EFULL; BLY_EPARAM for the
 * layout of the keys, and if a kind uses the bits of hashes as they are and
 * many different hashes have a bit in common: such hashes are plain numbers
 * (see bly_mix64).
 *
 * keys->labels is NULL, or has one label for each key, for kinds that store
 * labels. BLY_EPARAM if one key has two labels or a label does not fit;
 * BLY_EUNSUPPORTED for other kinds, and with keys (not hashes) for a filter
 * that keeps whole keys.
 *
 * A kind with the ability "separate" (cascade) stores no labels. It is built of
 * all keys that it will be queried for, the members with label 1 and all others
 * with label 0. bly_contains is then true for the members and false for the
 * others, without error; for any other key the answer has no meaning. The
 * filter is planned for these numbers of keys, whatever capacity and rate are,
 * and has as many items as there are members. BLY_EPARAM also if two keys with
 * different labels share their hash: another seed helps, unless it is the same
 * key. */
BLY_API bly_status bly_build(bly_filter **out, const char *kind,
                             const bly_spec *spec, const bly_keys *keys)
                             BLY_MUST BLY_GIVEN(1, 2, 4);

/* Makes an empty filter that can be united and compared with another. It has
 * the same plan, hash function, seed and secret, and can be subtracted as well.
 * BLY_ENOMEM; BLY_EUNSUPPORTED for kinds that are built from all keys at once,
 * that grow, or that are made of other filters and lack the ability
 * "overlap". */
BLY_API bly_status bly_like(bly_filter **out, const bly_filter *filter,
                            const bly_options *options)
                            BLY_MUST BLY_GIVEN(1, 2);

/* Removes all keys from a filter: it becomes, in place, what bly_like would
 * make of it. Writes the whole image, and to the file if that is mapped for
 * writing. BLY_EUNSUPPORTED for the kinds that bly_like refuses; BLY_EREADONLY;
 * BLY_EIO; BLY_ENOMEM (kinds whose empty filters hold more than a plan
 * tells). */
BLY_API bly_status bly_clear(bly_filter *filter) BLY_GIVEN(1);

/* Makes a copy of a filter in memory of its own. The copy may be changed even
 * if `filter` may not. BLY_ENOMEM. */
BLY_API bly_status bly_copy(bly_filter **out, const bly_filter *filter,
                            const bly_options *options)
                            BLY_MUST BLY_GIVEN(1, 2);

/* Frees a filter; NULL is fine. A filter that is mapped or paged for writing is
 * sealed first, as by bly_seal (call that yourself to see its errors). */
BLY_API void bly_free(bly_filter *filter);

/* ==== Use =============================================================== */

/* Adds a key to a filter. Returns BLY_OK if it was not there, and BLY_SEEN if
 * it was perhaps there before (a kind that counts counts it once more). Errors:
 * BLY_EFULL (the filter is unchanged: bly_resize may help), BLY_EREMOVED (kind
 * twin), BLY_EPARAM (kind egh: the key is not an integer of its universe),
 * BLY_ENOMEM and BLY_ETOOBIG (a kind that grows), BLY_ECORRUPT (a filter that
 * was forged, which "expandable" may detect when it grows), BLY_EREADONLY,
 * BLY_EUNSUPPORTED (a frozen kind; also a hash alone, if the filter keeps or
 * hashes whole keys, as invertible:key=9 and rehash:key=whole do).
 *
 * The batch versions return BLY_OK, or the first error. *done, unless `done` is
 * NULL, is the number of keys that were added, also after an error: the first
 * *done keys are in, and key *done is the one that failed. seen[i], unless
 * `seen` is NULL, is true where bly_add would have returned BLY_SEEN, also for
 * a key that occurs twice in the batch; it is written for the first *done keys.
 * Adding is faster without it. */
BLY_API bly_status bly_add     (bly_filter *filter, const void *key,
                                size_t length) BLY_GIVEN(1);
BLY_API bly_status bly_add_hash(bly_filter *filter, uint64_t hash)
                                BLY_GIVEN(1);
BLY_API bly_status bly_add_hashes(bly_filter *filter, const uint64_t *hashes,
                                  size_t n, bool *seen, size_t *done)
                                BLY_GIVEN(1);
BLY_API bly_status bly_add_many(bly_filter *filter, const bly_keys *keys,
                                bool *seen, size_t *done) BLY_GIVEN(1, 2);

/* Looks up a key in a filter. False: it was certainly not added. True: perhaps
 * it was. Cannot fail. The batch versions write present[0 .. n-1].
 * bly_contains_many returns BLY_EPARAM, and answers "perhaps" for all keys, if
 * `keys` is not well formed.
 *
 * A filter that hashes whole keys (rehash:key=whole) answers "perhaps" for
 * every hash: give it keys.
 *
 * bly_contains_mask writes a bitmap to select rows with: bit i % 8 of byte i /
 * 8, the lowest first, as in Arrow, in (n + 7) / 8 bytes; bits beyond the last
 * key are 0. It returns the number of bits that are 1. If `mask` is NULL it
 * only counts. */
BLY_API bool       bly_contains     (const bly_filter *filter, const void *key,
                                     size_t length) BLY_GIVEN(1);
BLY_API bool       bly_contains_hash(const bly_filter *filter, uint64_t hash)
                                     BLY_GIVEN(1);
BLY_API void       bly_contains_hashes(const bly_filter *filter,
                                       const uint64_t *hashes, size_t n,
                                       bool *present) BLY_GIVEN(1);
BLY_API uint64_t   bly_contains_mask(const bly_filter *filter,
                                     const uint64_t *hashes, size_t n,
                                     uint8_t *mask) BLY_GIVEN(1);
BLY_API bly_status bly_contains_many(const bly_filter *filter,
                                     const bly_keys *keys, bool *present)
                                     BLY_GIVEN(1, 2);

/* Removes a key that was added to a filter, once. BLY_EABSENT: it is not there;
 * BLY_EUNSAFE: it cannot be removed without risk to other keys (neither changes
 * anything); BLY_EUNSUPPORTED (the kind, or this filter because of its
 * options); BLY_EREADONLY.
 *
 * The caller must know that the key is in the filter: it was added, more often
 * than it was removed since. Only exact data can tell, such as the table from
 * which the key was just deleted. A filter cannot: bly_contains and bly_count
 * make the same mistake as this function, which accepts a key that is found by
 * accident and then loses other keys, without a notice.
 * docs/guide/removing-keys.md has the odds for each kind.
 *
 * The batch versions continue after a key that could not be removed. each[i],
 * unless `each` is NULL, is the status of key i. They return BLY_OK if all keys
 * were removed, else the first status that is not BLY_OK. If a call is
 * cancelled, `each` has BLY_ECANCELED for the keys that were not tried. If none
 * can be tried (BLY_EUNSUPPORTED, BLY_EREADONLY, BLY_EPARAM for `keys`), `each`
 * is untouched. bly_why names the first key that was not removed. */
BLY_API bly_status bly_remove     (bly_filter *filter, const void *key,
                                   size_t length) BLY_GIVEN(1);
BLY_API bly_status bly_remove_hash(bly_filter *filter, uint64_t hash)
                                   BLY_GIVEN(1);
BLY_API bly_status bly_remove_hashes(bly_filter *filter, const uint64_t *hashes,
                                     size_t n, bly_status *each) BLY_GIVEN(1);
BLY_API bly_status bly_remove_many(bly_filter *filter, const bly_keys *keys,
                                   bly_status *each) BLY_GIVEN(1, 2);

/* Returns how often a key was added, at most: 0 is certain, a larger number is
 * an upper bound. A kind that does not count returns UINT64_MAX ("no bound
 * known") for a key that is perhaps there. bly_count_many returns BLY_EPARAM,
 * with UINT64_MAX for all keys, if `keys` is not well formed. */
BLY_API uint64_t   bly_count     (const bly_filter *filter, const void *key,
                                  size_t length) BLY_GIVEN(1);
BLY_API uint64_t   bly_count_hash(const bly_filter *filter, uint64_t hash)
                                  BLY_GIVEN(1);
BLY_API void       bly_count_hashes(const bly_filter *filter,
                                    const uint64_t *hashes, size_t n,
                                    uint64_t *counts) BLY_GIVEN(1);
BLY_API bly_status bly_count_many(const bly_filter *filter,
                                  const bly_keys *keys, uint64_t *counts)
                                  BLY_GIVEN(1, 2);

/* Stores a label with a key, for kinds that have labels.
 *
 * A kind that is built from all its keys (bly_build with labels) changes the
 * label of a key that is there, and returns BLY_EABSENT for any other key. A
 * kind with the abilities "add" and "label" accepts any key: of all labels put
 * with a key, bly_get returns the best one or an even better one, but never a
 * worse one. (The kind's page says which labels are better: larger ones,
 * smaller, or larger ones field by field.) Returns BLY_SEEN if it changed
 * nothing. bly_add puts the worst possible label, or label 1 if labels have
 * several fields. bly_plan and bly_info report the range of labels.
 *
 * BLY_EPARAM (a label out of range), BLY_EUNSUPPORTED (also for keys that lie
 * within others, such as domains), BLY_EREADONLY. The batch versions return
 * BLY_OK, or the first error. *done, unless `done` is NULL, is the number of
 * labels that were stored, the first ones; bly_why names the key after them. */
BLY_API bly_status bly_put     (bly_filter *filter, const void *key,
                                size_t length, uint64_t label) BLY_GIVEN(1);
BLY_API bly_status bly_put_hash(bly_filter *filter, uint64_t hash,
                                uint64_t label) BLY_GIVEN(1);
BLY_API bly_status bly_put_hashes(bly_filter *filter, const uint64_t *hashes,
                                  const uint64_t *labels, size_t n,
                                  size_t *done)
                                BLY_GIVEN(1);
BLY_API bly_status bly_put_many(bly_filter *filter, const bly_keys *keys,
                                const uint64_t *labels, size_t *done)
                                BLY_GIVEN(1, 2);

/* Looks up the label of a key, for kinds that have labels. Returns false if the
 * key is certainly not there or the kind has no labels; *label is then
 * untouched.
 *
 * The batch versions look up each key in turn: found[i] is the result, and
 * labels[i] is untouched if that is false. bly_get_many returns BLY_EPARAM, and
 * finds no key, if `keys` is not well formed. */
BLY_API bool       bly_get     (const bly_filter *filter, const void *key,
                                size_t length, uint64_t *label)
                                BLY_GIVEN(1, 4);
BLY_API bool       bly_get_hash(const bly_filter *filter, uint64_t hash,
                                uint64_t *label) BLY_GIVEN(1, 3);
BLY_API void       bly_get_hashes(const bly_filter *filter,
                                  const uint64_t *hashes, size_t n, bool *found,
                                  uint64_t *labels) BLY_GIVEN(1);
BLY_API bly_status bly_get_many(const bly_filter *filter, const bly_keys *keys,
                                bool *found, uint64_t *labels) BLY_GIVEN(1, 2);

/* Resizes a filter without needing its keys: to a capacity of more or fewer
 * keys. The contents move into a new image from the filter's allocator, which
 * replaces the old one. The kind's page describes the cost; bly_info reports
 * the rate planned for the new capacity. BLY_EUNSUPPORTED (kinds that cannot),
 * BLY_EPARAM (a capacity that the kind cannot reach from here; a filter that is
 * mapped from a file), BLY_EFULL (it holds more than would fit), BLY_ETOOBIG,
 * BLY_ENOMEM, BLY_EREADONLY. */
BLY_API bly_status bly_resize(bly_filter *filter, uint64_t capacity)
                              BLY_GIVEN(1);

/* Makes a filter smaller without needing its keys, by OR of adjacent bits. The
 * result is `times` times smaller, 1 or more: adjacent bits (or the bits of
 * adjacent blocks, for a kind of blocks) become one. The result is the filter
 * that the same keys would have made with m divided by `times`, byte for byte
 * except for the header's counts. It is planned for a number of keys that is as
 * much smaller; if it holds all of them its rate is far above the planned one,
 * as bly_info reports. Fingerprints of molecules are folded this way.
 * BLY_EUNSUPPORTED (kinds that cannot), BLY_EPARAM (a number that does not
 * divide the bits or blocks; positions that are reduced in another way; a
 * filter that is mapped from a file), BLY_ENOMEM, BLY_EREADONLY. */
BLY_API bly_status bly_fold(bly_filter *filter, uint64_t times) BLY_GIVEN(1);

/* ==== Look inside ======================================================= */

/* Returns the abilities of a filter: flags BLY_CAN_… of its kind
 * (bly_kind_info), and those that its options add. Thread-safe. */
BLY_API uint64_t bly_can(const bly_filter *filter) BLY_GIVEN(1);

/* Returns the name of a filter's kind. Constant; thread-safe. */
BLY_API const char *bly_kind_of(const bly_filter *filter) BLY_GIVEN(1);

typedef struct {
    char     kind[24], hash[16];
    uint64_t seed;              /* of siphash: its secret's mark             */
    uint64_t capacity;          /* keys it was planned for, or has grown to  */
    uint64_t bytes;             /* of the whole image                        */
    uint64_t packed;            /* approximate bytes once saved or sent, of a
                                   kind with the ability "pack"; 0: `bytes`  */
    double   bits_per_key;      /* 8 * bytes / capacity                      */
    uint64_t items;             /* successful adds, with repeats; if
                                   items_exact is false (after unite or
                                   intersect, or if adds or removes would
                                   take the count past 2^64 - 2 or below 0),
                                   the estimate `distinct`                   */
    double   distinct;          /* different keys, estimated from the bits;
                                   infinity when every bit is set            */
    double   distinct_sd;       /* its standard deviation; 0: `distinct` is
                                   exact; infinity: it is an upper bound     */
    double   fill;              /* share of bits, cells or slots in use      */
    double   rate;              /* present false-positive rate, from the bits
                                   themselves                                */
    double   planned_rate;      /* predicted for `capacity` keys             */
    double   lost;              /* false-negative rate, as in bly_plan_t     */
    uint64_t window;            /* as in bly_plan_t                          */
    uint64_t saturated;         /* counters at their largest value: their
                                   true count is unknown, so no remove lowers
                                   them                                      */
    uint32_t probes;            /* bits, cells or places of a key            */
    uint32_t label_bits;        /* as in bly_plan_t                          */
    uint64_t label_least, label_most;
    uint64_t geometry[4];
    bool     items_exact;
    bool     zero[7];
    uint64_t form;              /* of its keys: <bloomery/form.h>            */
    double   fullest;           /* the share in the fullest layer of a kind that
                                   counts by layers; 0 for other kinds       */
    uint64_t reserved[11];      /* 0                                         */
} bly_info_t;

/* Reports facts and estimates about a filter. Reads the whole image. Always
 * BLY_OK, except that for a filter that is open page by page (BLY_PAGED) it may
 * be BLY_EIO or BLY_ENOMEM. */
BLY_API bly_status bly_info(bly_info_t *out, const bly_filter *filter)
                            BLY_GIVEN(1, 2);

/* The contents of an image's header, without opening the image. */
typedef struct {
    char     kind[24], hash[16];
    uint64_t bytes;             /* of the whole image, or of the packed one  */
    uint64_t items;             /* adds; UINT64_MAX: not known               */
    uint64_t capacity;
    double   rate;              /* planned                                   */
    uint64_t seed;
    uint64_t geometry[4];
    uint32_t version;           /* of the kind's payload                     */
    bool     known;             /* does this library know kind and version?  */
    bool     sealed;            /* false: being written, or its writer died  */
    bool     packed;            /* only bly_unpack and bly_open take it      */
    bool     zero;
    uint64_t form;              /* of its keys: <bloomery/form.h>            */
    uint64_t unpacked;          /* bytes in memory, of a packed image; 0: it is
                                   not packed                                */
    uint64_t reserved[7];       /* 0                                         */
} bly_header;

enum { BLY_HEADER_BYTES = 128 };

/* Reads the header of an image without opening it. The first `n` bytes suffice,
 * BLY_HEADER_BYTES or more. The rest of the image is neither needed nor
 * trusted. BLY_EFORMAT, BLY_EVERSION (another header), BLY_ECORRUPT (too short,
 * or the header's checksum does not match). Thread-safe. */
BLY_API bly_status bly_peek(bly_header *out, const void *image, size_t n)
                            BLY_GIVEN(1, 2);

/* Writes the header of a filter, with its present count of adds. Reads only the
 * header, so the time does not depend on the size; `sealed` is whether the
 * image has no later changes, and `packed` is false. Thread-safe, like lookups.
 */
BLY_API void bly_header_of(bly_header *out, const bly_filter *filter)
                           BLY_GIVEN(1, 2);

/* Reads the header of a file without opening the filter. Errors of bly_peek;
 * BLY_EIO. Thread-safe. */
BLY_API bly_status bly_peek_file(bly_header *out, const char *path)
                                 BLY_GIVEN(1, 2);

/* The state of one label of a kind whose labels are ordered. */
typedef struct {
    uint64_t label;
    double   fill;              /* share of the cells or bits that show it   */
    double   rate;              /* chance that a key which was never put is
                                   said to have it                           */
    double   mistaken;          /* chance that a key which has it is said to
                                   have another                              */
} bly_label_t;

typedef bool bly_visit_label(void *context, const bly_label_t *label);

/* Visits the labels of a filter in rising order, with their present state. It
 * ends when `visit` returns false. Reads the whole image. BLY_OK;
 * BLY_EUNSUPPORTED (kinds without a bounded number of ordered labels). */
BLY_API bly_status bly_list_labels(const bly_filter *filter,
                                   bly_visit_label *visit, void *context)
                                   BLY_GIVEN(1, 2);

/* ==== Sets of keys ====================================================== */

/* Unites two filters: into := into OR other. The result is as if other's keys
 * had been added to `into`; a kind that counts adds up the counts.
 * BLY_EMISMATCH (kind, geometry, hash, seed, secret and the form of keys must
 * agree), BLY_EFULL, BLY_ECORRUPT (`into` was forged, which "quotient"
 * detects), BLY_EUNSUPPORTED, BLY_EREADONLY; `into` is then unchanged. */
BLY_API bly_status bly_unite(bly_filter *into, const bly_filter *other)
                             BLY_GIVEN(1, 2);

/* Unites a filter with another one at a distance. The distance is `label`. This
 * is for kinds with the ability "unite at" ("attenuated"). `other` may be a
 * filter of the kind and plan of one level of `into`, as bly_new makes one for
 * the same capacity, rate and options; the result is as if each of its keys had
 * been put with this label. Or `other` is a filter that bly_unite would accept,
 * even `into` itself: each of its labels l becomes l + label, and labels beyond
 * the largest are left out. BLY_EPARAM (a label out of range), BLY_EMISMATCH
 * (hash and seed must agree as well), BLY_EUNSUPPORTED, BLY_EREADONLY; `into`
 * is then unchanged. */
BLY_API bly_status bly_unite_at(bly_filter *into, const bly_filter *other,
                                uint64_t label) BLY_GIVEN(1, 2);

/* Intersects two filters: into := into AND other. The result finds every key
 * that is in both. Its rate is at most the smaller one of the two, but higher
 * than that of a filter built from the common keys alone. Errors of bly_unite;
 * and BLY_EUNSUPPORTED for keys that lie within others (<bloomery/nested.h>),
 * since one may lie within different entries of the two. */
BLY_API bly_status bly_intersect(bly_filter *into, const bly_filter *other)
                                 BLY_GIVEN(1, 2);

/* A number and its standard deviation. */
typedef struct { double value, sd; } bly_estimate;

/* Estimates of how many different keys are in a, in b, in either, in both and
 * in just one of them, and of the Jaccard index |both| / |either|, from the
 * bits [Swamidass & Baldi 2007]. The errors of common bits cancel in `differ`,
 * which is therefore more precise than its parts: far more if the filters are
 * nearly equal. Small numbers of common keys, and the index, may be estimated
 * at less than 0, which keeps their mean right; show 0. If a filter is
 * saturated (every bit set), values are infinite. */
typedef struct {
    bly_estimate a, b, either, both, differ, jaccard;
    uint64_t     reserved[4];   /* 0                                         */
} bly_overlap_t;

/* Estimates how many keys two filters have, alone and in common. Works for
 * kinds that set bits or counters, for layered (by its first layer) and for
 * quotient (by its fingerprints, almost exactly). Removed keys are not counted,
 * except where their bits stayed behind. Errors of bly_unite except
 * BLY_EREADONLY and BLY_EFULL; neither filter is changed. Reads both images. */
BLY_API bly_status bly_overlap(bly_overlap_t *out, const bly_filter *a,
                               const bly_filter *b) BLY_GIVEN(1, 2, 3);

/* ==== Files and images ================================================== */

/* Saves a filter to a file, atomically: on failure the old file is unchanged.
 * (A filter of family "foreign" is saved as the other system's file, unless it
 * was opened as an image: see bloomery/foreign.h.) The new file is written in
 * the same folder, without a name if the file system supports that (O_TMPFILE),
 * flushed and renamed. Then the folder is flushed, or its whole file system if
 * the folder may not be read. After BLY_OK the new file survives a crash;
 * before that either the old file or the new one does. An existing file's
 * permissions are kept, and its owner and group as far as the process may. A
 * symbolic link is followed, wherever it leads. A device or a pipe is written
 * directly.
 *
 * Kinds with the ability "pack" are packed on the way, in memory from the
 * filter's allocator, as large as the image but used only as far as the packed
 * form reaches.
 *
 * BLY_EIO: the old file is unchanged (or the filter's own file could not be
 * flushed: see bly_seal). BLY_EUNFLUSHED: the new file is in place, only the
 * folder could not be flushed. BLY_ENOMEM (kinds that pack). */
BLY_API bly_status bly_save(const bly_filter *filter, const char *path)
                            BLY_MUST BLY_GIVEN(1, 2);

/* Opens a filter that is in a file. It is a file that bly_save wrote, or one of
 * another system whose format is recognised or named in the options
 * (<bloomery/foreign.h>).
 *
 *  - Flags 0 read the file into memory and check all of it. The copy may be
 *    changed; the file is not.
 *  - BLY_MAP maps the file. Only the header and the data that lookups rely on
 *    are checked, unless BLY_VERIFY is given as well.
 *  - BLY_MAP | BLY_WRITE maps the file for writing: changes go to the file.
 *    From the first change until bly_seal or bly_free it is marked "being
 *    written"; if it cannot be marked, the change is BLY_EIO.
 *  - BLY_PAGED works in the file: see <bloomery/paged.h>.
 *  - BLY_SHARED has the meaning that it has in bly_spec.
 *
 * A file that is opened for writing is locked until bly_free has been called,
 * also for the copies of the handle that a fork makes. Opening it for writing
 * again, even in this process, is BLY_EIO, and so is opening for writing if the
 * system has no locks on open files. bly_save and the commands never write to a
 * file: they replace it with another one. Keys added to the replaced file after
 * that are lost with it; bly_replaced detects this.
 *
 * A file of another system has no checksum, and is refused with BLY_WRITE. A
 * packed file cannot be mapped: with BLY_MAP it is read, checked and unpacked
 * into memory, for reading only; with BLY_WRITE it is refused. Other processes
 * must not truncate a mapped file while it is open.
 *
 * BLY_EIO, BLY_EFORMAT, BLY_EVERSION, BLY_ECORRUPT, BLY_EUNSEALED, BLY_EHASH,
 * BLY_EKIND, BLY_ENOMEM, BLY_ELIMIT (a packed file would take more memory than
 * bly_memory_limit allows), BLY_ESECRET (a wrong secret, none, or one for a
 * filter without), BLY_EPARAM (flags, options), BLY_EUNSUPPORTED (BLY_SHARED;
 * BLY_PAGED; a packed file with BLY_WRITE). */
BLY_API bly_status bly_open(bly_filter **out, const char *path, int flags,
                            const bly_options *options)
                            BLY_MUST BLY_GIVEN(1, 2);

/* Sets the callback for progress of later calls with a filter: unite, save,
 * info, add of many keys, and so on. It stays until another one is set; NULL
 * removes it. The struct is copied. If several threads read the filter at once,
 * it is called in each. `progress` of bly_spec and bly_options is for the one
 * call that makes the filter, and is not kept.
 *
 * With a callback, bly_unite and the other functions that combine two filters
 * work on a copy of the image in memory, so that nothing is changed if they are
 * cancelled. In a filter that is mapped for writing they work in place and
 * cannot be cancelled. */
BLY_API void bly_progress_set(bly_filter *filter, const bly_progress *progress)
                              BLY_GIVEN(1);

/* Reports whether the file of an open filter has been replaced: whether the
 * path now holds another file than the one that the filter was opened from, or
 * that file has been rewritten since. If so, open it again and free the old
 * filter. (bly_save replaces a file with a new one, so that a mapped filter
 * stays whole.) For a filter opened with BLY_WRITE only another file counts.
 * BLY_EIO: the file does not exist. BLY_EUNSUPPORTED: the filter was not opened
 * from a file. Thread-safe. */
BLY_API bly_status bly_replaced(bool *out, const bly_filter *filter,
                                const char *path) BLY_GIVEN(1, 2, 3);

/* Makes the changes to a filter's file durable. For a filter that is mapped or
 * paged for writing, they survive after BLY_OK a crash of the process or the
 * machine. A paged file stays open, and its next writer finds all changes. A
 * mapped file can only record this by being sealed, as by bly_seal: after the
 * next change, a crash makes it refused again. Does nothing for any other
 * filter. Errors of bly_seal. */
BLY_API bly_status bly_sync(bly_filter *filter) BLY_GIVEN(1);

/* Seals the file of a filter that is open for writing: makes it durable,
 * computes its checksums and clears the mark "being written". The filter can
 * still be used; its next change marks the file again. Reads the whole file.
 * BLY_EIO; BLY_EUNFLUSHED (see bly_create); for a paged file BLY_ECORRUPT (a
 * page is damaged), BLY_ENOMEM.
 *
 * If the system fails to flush the file once, its state on the disk is unknown,
 * and trying again would not reveal it. From then on each change, bly_sync and
 * bly_seal is BLY_EIO. If changes were not flushed, bly_save and bly_pack are
 * BLY_EIO as well, and the image of bly_image and the file stay marked "being
 * written". bly_copy copies the state in memory; the next writer of a paged
 * file finds the state of the last sync. */
BLY_API bly_status bly_seal(bly_filter *filter) BLY_GIVEN(1);

/* Wraps an image in the caller's memory, for reading. The image must stay there
 * unchanged until bly_free. It is checked as by BLY_MAP, without the payload's
 * checksum: call bly_check for that. Fastest if the image begins on a multiple
 * of 64. Errors of bly_open except BLY_EIO; BLY_EUNSUPPORTED for a packed
 * image, which needs bly_unpack. */
BLY_API bly_status bly_wrap(bly_filter **out, const void *image, size_t bytes,
                            const bly_options *options)
                            BLY_MUST BLY_GIVEN(1, 2);

/* Checks that bytes are a whole and undamaged image, packed or not. Reads all
 * of them and trusts nothing. The options may be NULL, and need no secret.
 * Allocates nothing, or with a callback a kilobyte. BLY_EFORMAT, BLY_EVERSION,
 * BLY_ECORRUPT, BLY_EUNSEALED, BLY_EHASH, BLY_EKIND; BLY_EPARAM (options);
 * BLY_ECANCELED. Thread-safe. */
BLY_API bly_status bly_check(const void *image, size_t bytes,
                             const bly_options *options) BLY_GIVEN(1);

/* Returns the image of a filter, to be written or sent. Its counts and
 * checksums are up to date. It is valid until the filter changes or is freed.
 * The first call after a change reads the whole image, and concurrent calls
 * wait for it. NULL for a filter that is open page by page, and if a callback
 * cancels the call; bly_why says which. */
BLY_API const void *bly_image(const bly_filter *filter, size_t *bytes)
                              BLY_GIVEN(1);

/* Packs a filter into memory, for sending. The bytes are packed if the kind can
 * do that, else they are the image. These are the bytes that bly_save writes,
 * except for family "foreign": its images have our header before the other
 * system's bytes, which bly_save may write alone (bly_pack_as). `room` must be
 * at least the bytes of bly_image, of which a packed filter leaves most
 * untouched; *bytes is the number used. BLY_EPARAM (room), BLY_EIO (see
 * bly_seal). Reads the filter as bly_image does. */
BLY_API bly_status bly_pack(const bly_filter *filter, void *into, size_t room,
                            size_t *bytes) BLY_MUST BLY_GIVEN(1, 2, 4);

/* Makes a filter from packed bytes or an image, in memory of its own. bly_pack
 * or bly_save wrote these bytes, or bly_image returned them. All of it is
 * checked, nothing is trusted, and it may be changed. A packed image can unpack
 * to 8192 times its size; if it would take more than bly_memory_limit allows,
 * the call is BLY_ELIMIT. Errors of bly_check; BLY_ESECRET; BLY_ENOMEM.
 * Thread-safe. */
BLY_API bly_status bly_unpack(bly_filter **out, const void *packed,
                              size_t bytes, const bly_options *options)
                              BLY_MUST BLY_GIVEN(1, 2);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_H */
