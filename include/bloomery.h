/* bloomery.h - approximate membership: one interface, every kind of filter.
 *
 * CONCEPTS
 *
 * A *filter* remembers a set of keys in a few bits each and answers "have I
 * seen this key?" with *certainly not* or *perhaps*. A key that was added is
 * always found (no false negatives); a key that was not is found by accident
 * with a small, known probability, the *false-positive rate*.
 *
 * A *kind* is a way to build one: "standard", "blocked", … The same verbs
 * serve them all; a verb that a kind cannot do is BLY_EUNSUPPORTED, and
 * bly_can() tells beforehand. A kind is named by a string, with options:
 * "standard", "standard:k=5,index=seeds". bly_kinds() lists them. Names that
 * are common elsewhere, such as "bloom", "cbf" and "xor8", are accepted as
 * well.
 *
 * An *image* is the filter itself: one run of bytes without pointers, the same
 * in memory, in a file and on the wire (docs/format.md). A *handle* (the type
 * bly_filter) is how a program holds an image.
 *
 * A *key* is any bytes; how texts, numbers and lines become the bytes of keys
 * is the filter's *form*, which the image can state (<bloomery/form.h>). A key
 * is hashed once, on entry, to 64 bits with the
 * filter's own hash function and seed. Every verb comes in four forms: for one
 * key (bly_add), for one hash (…_hash), for many hashes (…_many) and for many
 * keys (…_keys). The batch is the fast path.
 *
 * HASHES OF ONE'S OWN
 *
 * A hash that the program gives must be as good as random in all its 64 bits.
 * Numbers such as 0, 1, 2, … are not, nor are 32-bit hashes or pointers: some
 * kinds use a hash bit by bit as it comes, and "split" and "quotient" would say
 * "perhaps" of every such number; others err more, or less, than planned. Give
 * integer keys to these verbs as bly_mix64 of the integer, when they are added
 * and when they are asked for.
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
 * A function that can fail returns a bly_status: negative is an error,
 * BLY_OK is 0, BLY_SEEN (1) is a success with news. bly_strerror() names the
 * status; bly_why() says, in one line, what was wrong this time and how to
 * mend it. On an error the out-parameters are untouched and the filter is as
 * it was, unless the function says otherwise. The library prints nothing,
 * never exits or aborts, and installs no signal handler.
 *
 * THREADS
 *
 * Different filters are independent. One filter that nobody changes may be
 * read by any number of threads at once: contains, count, get, stat, image,
 * pack, save, copy, like, and as `other` of the verbs for sets. A filter that
 * is changed needs external locking: no other call beside it.
 *
 * A filter made or opened with BLY_SHARED may be added to and asked by any
 * number of threads at once, by bly_add and bly_contains in all their forms;
 * all else still needs external locking. Only kinds with the ability
 * BLY_CAN_SHARE can: of others BLY_SHARED is BLY_EUNSUPPORTED. What one thread
 * has added another finds as soon as it learns of it by any means that orders
 * memory (a lock, a join, an atomic flag). Where two threads add the same new
 * key at the same time, both may be told BLY_OK: "new" is exact for one thread
 * alone.
 *
 * The library starts threads of its own for large builds and large images:
 * at most as many as `threads` in bly_spec and bly_options says; 1: none. They
 * block all signals and have ended when the call returns. There are no global
 * settings: no call changes what a call with another filter does.
 *
 * A program that forks while another of its threads is in a call with a filter,
 * even one that only reads, must not use that filter in the child: the filter
 * may be half changed there, or its lock held for ever by a thread that the
 * child does not have. Let such calls end before the fork (pthread_atfork).
 *
 * THE STACK
 *
 * No function has a frame above 16 KiB, and every verb of every kind works in
 * a thread that has 64 KiB of stack.
 *
 * WHAT STAYS
 *
 * Until 1.0 every minor version (0.1, 0.2) may change this interface: the
 * shared library's name holds both numbers, so that programs built for
 * another one do not start. From 1.0 on, within one major version:
 *
 *  - Functions, macros and the values of enums stay. Statuses, flags, hash
 *    functions, kinds and options are added: treat an unknown negative status
 *    as an error.
 *  - Structs that a program allocates (bly_spec, bly_options, bly_keys,
 *    bly_need, bly_costs, bly_cost, bly_plan_t, bly_stat_t, bly_header,
 *    bly_overlap_t, bly_gaps, bly_keyed, bly_processor_t, bly_inline_…) keep
 *    their size.
 *    New fields come out of `reserved`, which the caller leaves 0 in what it
 *    fills (or the call is BLY_EPARAM: it was built for a newer library), and
 *    the library sets to 0 in what it fills.
 *  - bly_key, bly_estimate, bly_allocator, bly_progress, bly_line_cost,
 *    bly_cost_point, bly_link, bly_chain, bly_tables, bly_field and bly_json
 *    never change.
 *  - Other structs are the library's own, handed out by pointer; they grow at
 *    their end. Do not copy them or take their size.
 *
 * What stays of the bytes on disk is said in docs/format.md.
 *
 * Further headers: <bloomery/form.h> how texts and numbers become keys;
 * <bloomery/fields.h> all fields of a filter or a plan, by name and as JSON;
 * <bloomery/advice.h> which kind for which need;
 * <bloomery/foreign.h> filters in other systems' files;
 * <bloomery/container.h> files that have filters inside them;
 * <bloomery/redis.h> filters of Redis' module, piece by piece;
 * <bloomery/paged.h> filters larger than memory; <bloomery/parts.h> one filter
 * divided among processes; <bloomery/sketch.h> filters that list what they
 * hold; <bloomery/gaps.h> lists of numbers for sending; <bloomery/replace.h>
 * files that replace others atomically; <bloomery/inline.h> lookups that are
 * compiled into the program, for loops; <bloomery/keyed.h> a hash for tables
 * whose keys strangers choose.
 *
 * Of the environment the library heeds BLY_CPU, BLY_AHEAD and BLY_NEAR, which
 * say how the processor is used: see bly_processor.
 */
#ifndef BLOOMERY_H
#define BLOOMERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLY_VERSION_MAJOR 0
#define BLY_VERSION_MINOR 1
#define BLY_VERSION_PATCH 0
#define BLY_VERSION "0.1.0"
#define BLY_VERSION_NUMBER                                                     \
    (BLY_VERSION_MAJOR * 1000000 + BLY_VERSION_MINOR * 1000 + BLY_VERSION_PATCH)

#if defined(__GNUC__) && !defined(BLY_STATIC)
#define BLY_API __attribute__((visibility("default")))
#else
#define BLY_API
#endif

/* The result of what can fail must be looked at; arguments that may not be
 * NULL, by their places. */
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

/* One list: the enum, the names and the messages are all made from it. */
#define BLY_STATUS_MAP(X)                                                      \
    X(OK,            0, "success")                                             \
    X(SEEN,          1, "the key was perhaps there before")                    \
    X(ENOMEM,       -1, "out of memory")                                       \
    X(EPARAM,       -2, "a parameter is out of its range")                     \
    X(EKIND,        -3, "there is no such kind of filter")                     \
    X(EOPTION,      -4, "the kind has no such option, or not that value")      \
    X(EHASH,        -5, "there is no such hash function")                      \
    X(ETOOBIG,      -6, "the filter would be larger than can be addressed")    \
    X(EFORMAT,      -7, "the bytes are not a Bloomery filter")                 \
    X(EVERSION,     -8, "the filter was written by another version")           \
    X(ECORRUPT,     -9, "the filter's bytes are damaged or cut short")         \
    X(EUNSEALED,   -10, "the filter is being written, or its writer died")     \
    X(EIO,         -11, "the operating system refused to read or write")       \
    X(EMISMATCH,   -12, "the filters are not of one kind, plan, hash and seed")\
    X(EFULL,       -13, "the filter is full")                                  \
    X(EABSENT,     -14, "the key is not there; nothing was changed")           \
    X(EUNSUPPORTED,-15, "this kind of filter cannot do that")                  \
    X(EREADONLY,   -16, "the filter was opened or wrapped for reading only")   \
    X(EUNSAFE,     -17, "the key cannot be removed without risk to others")    \
    X(EREMOVED,    -18, "the key was removed once and cannot come back")       \
    X(ESECRET,     -19, "the secret is missing, wrong or not wanted")          \
    X(EUNFLUSHED,  -20, "the new file is there, but may not outlive a crash")  \
    X(EFORM,       -21, "the key is of another class than the filter's keys")\
    X(ECANCELED,   -22, "cancelled by the caller")                             \
    X(ELIMIT,      -23, "more memory would be needed than the limit allows")

typedef enum {
#define BLY_STATUS_ENUM(name, value, text) BLY_##name = value,
    BLY_STATUS_MAP(BLY_STATUS_ENUM)
#undef BLY_STATUS_ENUM
    BLY_STATUS_END = 2          /* one past the largest; not a status */
} bly_status;

/* What the status means, in general: a constant English sentence, for any
 * number (an unknown one too). Thread-safe. */
BLY_API const char *bly_strerror(bly_status status);

/* What was wrong in the last call that failed in this thread, and how to mend
 * it: one line without a newline, "" before the first failure. The text lives
 * until the next failure in the same thread: read it after an error only, for a
 * call that succeeds leaves what the last failure said. */
BLY_API const char *bly_why(void);

/* The error number of the system (ENOENT, EACCES, … of <errno.h>) that was
 * behind that failure; 0: there was none, as with a damaged file. The text of
 * bly_why names it, too. */
BLY_API int bly_errno(void);

/* BLY_VERSION of the library that is linked (the header may be another). */
BLY_API const char *bly_version(void);

/* How a processor is used. */
typedef struct {
    const char *instructions;   /* "portable"; on x86 "sse2", "avx2" or
                                   "avx512"; on aarch64 "neon"; of
                                   WebAssembly "simd128"                     */
    uint32_t    ahead;          /* keys of a batch whose lines of memory are
                                   on their way at a time, at most           */
    uint64_t    near_bytes;     /* that count as near: the second-level cache
                                   of a core, where the system tells         */
    uint64_t    reserved[5];    /* 0                                         */
} bly_processor_t;

/* How the library uses this processor; answers and bytes do not depend on it.
 * The environment may say otherwise, before the first call: BLY_CPU=portable,
 * sse2 or avx2 (no higher instructions than these), BLY_AHEAD=N (1 .. 65536
 * keys), and BLY_NEAR=N (KiB, 1 .. 2^30). What it says else is not heeded.
 * Thread-safe. */
BLY_API void bly_processor(bly_processor_t *out) BLY_GIVEN(1);

/* ==== What there is ===================================================== */

/* What a kind can do: one list, from which come the flags BLY_CAN_…, their
 * names, and what is said of a kind that lacks the ability. */
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
    X(LIST,        13, "list",       "it does not list its fingerprints")      \
    X(PACK,        14, "pack",       "it is saved as it is in memory")         \
    X(UNITE,       15, "unite",      "two of them cannot be united")           \
    X(UNITE_AT,    16, "unite at",   "it cannot be united at a label")         \
    X(INTERSECT,   17, "intersect",  "two of them cannot be intersected")      \
    X(OVERLAP,     18, "overlap",    "two of them cannot be compared")         \
    X(SUBTRACT,    19, "subtract",   "one cannot be subtracted from another")  \
    X(LIST_KEYS,   20, "list keys",  "it does not list its keys")              \
    X(EXACT,       21, "exact",      "it has false positives")                 \
    X(FOLD,        22, "fold",       "its bits cannot be laid on one another")

enum {
#define BLY_ABILITY_ENUM(name, bit, word, lack) BLY_CAN_##name = 1 << bit,
    BLY_ABILITY_MAP(BLY_ABILITY_ENUM)
#undef BLY_ABILITY_ENUM
    BLY_ABILITIES = 23          /* how many there are; not a flag */
};

/* "remove" for BLY_CAN_REMOVE; NULL for what is no single flag. Thread-safe. */
BLY_API const char *bly_ability(uint64_t flag);

typedef struct {
    const char *name;           /* "k"                                       */
    const char *range;          /* "1 .. 64", "double | triple"              */
    const char *standard;       /* what it is when not given                 */
    const char *help;           /* one line                                  */
} bly_option_info;

/* Another name by which a kind may be asked for. Filters report the kind's own
 * name. */
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
    bool        experimental;   /* its bytes may change in a later version   */
    const bly_alias_info *const *aliases;       /* NULL ends it              */
} bly_kind_info;

/* All kinds, a NULL at the end; *n, unless NULL, is how many. Constant for the
 * life of the program; thread-safe. */
BLY_API const bly_kind_info *const *bly_kinds(size_t *n);

/* Returns the kind that "name" or "name:option=value,…" asks for, by its name
 * or an alias, and NULL if there is none. The options are not looked at.
 * Thread-safe. */
BLY_API const bly_kind_info *bly_kind_find(const char *kind) BLY_GIVEN(1);

/* The kind that the command, bloomery-mpi and all bindings use if none is
 * named.
 *
 * It is "standard" because a default must serve every request: it holds any
 * rate, and of the kinds that can be added to and united it needs the least
 * memory. "blocked" has the same verbs and reads one cache line per key instead
 * of up to k, which is faster in filters that the cache does not hold. But it
 * needs 3 % more memory at a rate of 1 %, 8 % more at 0.1 % and 24 % more at
 * 0.001 %, and refuses rates below 1e-8. Ask for it by name where lookups are
 * the bottleneck. */
#define BLY_DEFAULT_KIND "standard"

/* ==== Memory ============================================================ */

/* Where memory comes from. `allocate` returns `bytes` bytes aligned to
 * `alignment` (a power of two) or NULL; `release` gets back what `allocate`
 * gave, with the same `bytes`. Both get `context` as it stands here, in the
 * thread of the call that needs memory. */
typedef struct {
    void *(*allocate)(void *context, size_t alignment, size_t bytes);
    void  (*release) (void *context, void *memory, size_t bytes);
    void  *context;
} bly_allocator;

/* ==== Progress ==========================================================

 * A callback by which a long call reports how far it is, and its caller may
 * cancel it. `done` rises from 0 to at most `total`: keys where a filter is
 * built or keys are added, put and removed, bytes of the image in every other
 * call. A callback that returns another number than 0 cancels the call: it
 * returns BLY_ECANCELED, and everything is as it was before the call; only a
 * batch that adds, puts or removes keys keeps those that it has worked on, as
 * after any other error.
 *
 * It is called in the thread of the call, at least every 50 ms of processor
 * time and often every 10 microseconds: look at the clock before you draw.
 * Short calls do not call it, and a call that succeeds need not reach `total`.
 * The callback may call the library, but not with the filter that the call is
 * about, and must not leave by longjmp or an exception.
 *
 * Lookups have no callback, because they cannot fail: divide large batches. A
 * save that has begun to put the new file in the old one's place, and waits for
 * the disk, can no longer be cancelled; nor can bly_clear and bly_free. */
typedef struct {
    int (*report)(void *context, uint64_t done, uint64_t total);
    void *context;
} bly_progress;

/* ==== What is wanted, what it costs ===================================== */

/* Flags of bly_spec and bly_open. */
enum {
    BLY_MAP    = 1, /* open: map the file instead of reading it into memory  */
    BLY_WRITE  = 2, /* open, with BLY_MAP or BLY_PAGED: changes go to the file*/
    BLY_SHARED = 4, /* many threads may add and ask at once; see THREADS     */
    BLY_VERIFY = 8, /* open, mapped or paged: read it all, check its checksum*/
    BLY_PAGED  = 16,/* open: work in the file; see <bloomery/paged.h>        */
    BLY_SPARSE = 32 /* new: memory is taken only as the filter is written, and
                       never from the allocator; see <bloomery/parts.h>      */
};

enum { BLY_SECRET_BYTES = 16 };

/* What the caller wants. A zero field means "choose for me"; NULL for a
 * bly_spec means all zero. */
typedef struct {
    uint64_t    capacity;       /* keys it should hold; must be given, except
                                   to bly_build (the number of its keys) and
                                   with an option that fixes the size (m=)   */
    double      rate;           /* false-positive rate at that many keys,
                                   0 < rate < 1; 0: 0.01                     */
    uint64_t    seed;           /* of the hash function                      */
    const char *hash;           /* "xxh3" (the default), "xxh64", "murmur2",
                                   "murmur3", "fnv1a", "siphash", "identity",
                                   "decimal"; of a kind of integers with a
                                   universe= "decimal" is the default        */
    const void *secret;         /* BLY_SECRET_BYTES bytes that an enemy who
                                   chooses keys does not know: the key of
                                   "siphash", which must have one, while other
                                   functions must not. The filter does not hold
                                   it: keep it. The seed must then be 0      */
    const bly_allocator *allocator;     /* NULL: the library's own, with huge
                                   pages for large images; a filter keeps the
                                   allocator it was made with                */
    int         flags;          /* BLY_SHARED, BLY_SPARSE, both or 0         */
    uint32_t    threads;        /* the most that may work at once; 0: choose,
                                   1: start none                             */
    uint64_t    form;           /* how its keys are made, which is written down
                                   in the image: <bloomery/form.h>; 0: not
                                   stated. Not of family "foreign"           */
    const bly_progress *progress;       /* of bly_new, bly_build and the like:
                                   for that call only; NULL: none            */
    uint64_t    reserved[7];    /* 0                                         */
} bly_spec;

/* How a filter that is there is to be held. NULL means all zero. */
typedef struct {
    const bly_allocator *allocator;     /* as in bly_spec                    */
    const void *secret;         /* of a filter hashed by "siphash": of any
                                   other BLY_ESECRET. bly_like and bly_copy
                                   keep the filter's own and ignore this     */
    uint32_t    threads;        /* as in bly_spec                            */
    uint32_t    zero;           /* 0                                         */
    const char *format;         /* of bly_open and bly_unpack: the name of
                                   another system's format, taken at its word
                                   (<bloomery/foreign.h>), or "bloomery": our
                                   own; NULL: as the bytes tell              */
    uint64_t    memory_limit;   /* bytes that the filter may take where it
                                   would take more than it was read from;
                                   0: the default of bly_memory_limit        */
    const bly_progress *progress;       /* of this call; NULL: none          */
    uint64_t    reserved[2];    /* 0                                         */
} bly_options;

/* Returns how many bytes of memory a call may take for a filter that is read
 * from `given` bytes: `memory_limit` of the options, or, if that is 0 or the
 * options are NULL, the larger of 1 GiB and 8 * given, but at most half of the
 * physical memory.
 *
 * A few bytes can stand for a filter of many: packed ones unpack up to 8192
 * times. So every call that reads a filter looks at the header first, and is
 * BLY_ELIMIT where the filter would take more than this and more than `given`;
 * bly_why names both numbers. Images that are mapped, paged, or as large in
 * memory as they are in the file are exempt, because they cost what they have.
 * A filter keeps the limit it was read with: it also bounds growing (of kinds
 * with the ability "grow") and bly_list_keys, where `given` is the size of the
 * filter so far. Filters that the program made itself have no limit.
 * Thread-safe. */
BLY_API uint64_t bly_memory_limit(const bly_options *options, uint64_t given);

/* What it would be and cost, known before it is built. */
typedef struct {
    char     kind[24];          /* its name, without options                 */
    uint64_t capacity;          /* keys                                      */
    uint64_t bytes;             /* of the whole image; of a kind that packs
                                   its keys (gcs), or their errors (cascade),
                                   at most                                   */
    uint64_t packed;            /* bytes once saved or sent, expected, of a
                                   kind with the ability "pack"; 0: `bytes`  */
    uint64_t scratch;           /* bytes that bly_build takes and gives back,
                                   beside the image and the hashes           */
    double   bits_per_key;      /* 8 * bytes / capacity                      */
    double   rate;              /* predicted rate at capacity: at most what
                                   was asked (but for one part in a million),
                                   unless options fix the size; of a kind
                                   that grows or forgets, an upper bound at
                                   any number of keys                        */
    double   rate_sd;           /* how much one such filter's own rate
                                   differs from another's: one standard
                                   deviation, over seeds or key sets         */
    double   fill;              /* share of bits, cells or slots in use then */
    double   lost;              /* false-negative rate: chance that a key which
                                   is there is not found, once as much is
                                   removed as planned; for a kind that forgets,
                                   that one added `capacity` different keys ago
                                   is not. 0 for every kind that promises to
                                   find all                                  */
    uint64_t window;            /* so many of the last different keys added
                                   are surely found: UINT64_MAX (all of them)
                                   but for kinds that forget                 */
    double   lines_present;     /* cache lines touched by a lookup, at most, */
    double   lines_absent;      /* of a key that is there, and of one not    */
    uint32_t probes;            /* bits, cells or places of a key (k)        */
    uint32_t label_bits;        /* bits of the largest label; 0: the kind
                                   carries no labels                         */
    uint64_t label_least;       /* labels are these and what is between them */
    uint64_t label_most;
    uint64_t geometry[4];       /* the kind's own numbers, see docs/format.md*/
    uint64_t reserved[10];      /* 0                                         */
} bly_plan_t;

/* Compute what bly_new or bly_build would make of kind and spec; allocates
 * nothing. BLY_EKIND, BLY_EOPTION, BLY_EHASH, BLY_EPARAM (a rate outside
 * (0, 1), or below what 64-bit hashes can hold at that capacity; no
 * capacity), BLY_ETOOBIG, BLY_ESECRET. (BLY_EHASH also where the hash
 * function does not suit the kind.) Thread-safe. */
BLY_API bly_status bly_plan(bly_plan_t *out, const char *kind,
                            const bly_spec *spec) BLY_GIVEN(1, 2);

/* ==== Keys ============================================================== */

typedef struct bly_filter bly_filter;

/* One key. */
typedef struct {
    const void *data;           /* may be NULL where length is 0 */
    size_t      length;         /* bytes */
} bly_key;

/* Many keys, as they lie in the caller's memory, in just one of four forms; the
 * fields of the others stay 0. No form, several, offsets that fall, no data
 * where the offsets or the width say that there are some, or padding without a
 * width: BLY_EPARAM. */
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
    uint64_t        reserved[1];/* 0                                         */
} bly_keys;

/* The 64-bit hash by which this filter knows the key. */
BLY_API uint64_t bly_hash(const bly_filter *filter, const void *key,
                          size_t length) BLY_GIVEN(1);

/* A hash for an integer that is a key: a bijection of 64 bits, so that no two
 * integers share a hash, each bit of which depends on all of the integer's:
 * what SplitMix64 draws first with this seed (variant 13 of [Stafford 2011], of
 * the integer + 0x9E3779B97F4A7C15, for of 0 it would make 0, which is no good
 * hash). Not for integers that an enemy chooses. Will never change. */
BLY_API uint64_t bly_mix64(uint64_t integer);

/* The 8 bytes that are the key of a number, the lowest first, wherever what
 * comes is a number and not its text: in Python, in SQL, and with the command's
 * --as number. Equal numbers have equal keys, as 1 and 1.0 are equal there: of
 * a real number that is an integer from -2^63 to 2^63 - 1 it is that integer's,
 * the complement of two; of any other the double of IEEE 754, and what is no
 * number is 0x7FF8000000000000. Never changes. Thread-safe. */
BLY_API void bly_integer_key(unsigned char key[8], int64_t integer)
                             BLY_GIVEN(1);
BLY_API void bly_real_key(unsigned char key[8], double real) BLY_GIVEN(1);

/* The hashes of keys->n keys, by which a filter of this kind and spec would
 * know them, without a filter: for bly_build, and for hashing elsewhere. kind
 * NULL: any that is not of integers. Of the spec only hash, seed, secret and
 * progress matter. BLY_EKIND, BLY_EOPTION, BLY_EHASH, BLY_ESECRET, BLY_EPARAM.
 * Thread-safe. */
BLY_API bly_status bly_hash_keys(uint64_t *hashes, const char *kind,
                                 const bly_spec *spec, const bly_keys *keys)
                                 BLY_GIVEN(4);

/* ==== Make and free ===================================================== */

/* A new empty filter. Errors of bly_plan; BLY_ENOMEM; BLY_EUNSUPPORTED for a
 * kind that can only be built from all its keys at once, and for BLY_SHARED
 * with a kind that cannot share. Free it with bly_free. */
BLY_API bly_status bly_new(bly_filter **out, const char *kind,
                           const bly_spec *spec) BLY_MUST BLY_GIVEN(1, 2);

/* A new empty filter of a plan that was made elsewhere, so that many machines
 * share one geometry whatever their mathematics libraries round. Of the spec
 * only hash, seed, secret, allocator, flags and threads matter. Errors of
 * bly_new; BLY_EPARAM (no plan of this library); BLY_EUNSUPPORTED also for a
 * kind whose empty filters hold more than a plan tells (family "compound", and
 * egh): send an empty filter instead (bly_pack, bly_unpack). */
BLY_API bly_status bly_new_planned(bly_filter **out, const bly_plan_t *plan,
                                   const bly_spec *spec)
                                   BLY_MUST BLY_GIVEN(1, 2);

/* A filter of the n keys with these hashes; every kind can do this. The array
 * may hold duplicates in any order and is not changed. n may be 0 if
 * spec->capacity is not. A kind that can only be built is planned for n keys,
 * whatever the capacity. Errors of bly_new; BLY_EFULL; BLY_EPARAM where a kind
 * uses hashes as they come, and a bit is the same in many different ones: these
 * are numbers (see bly_mix64).
 *
 * labels: NULL, or one for each key, for kinds that carry them: BLY_EPARAM if
 * one key comes with two labels or a label does not fit; BLY_EUNSUPPORTED for
 * other kinds.
 *
 * A kind with the ability "separate" (cascade) carries none: it is built of all
 * keys it will be asked for, the members with label 1 and all others with label
 * 0, and bly_contains is then true for the members and false for the others,
 * without error; for any other key it means nothing. It is planned for these
 * numbers of keys, whatever capacity and rate are, and has as many items as
 * there are members. BLY_EPARAM also if two keys with different labels share
 * their hash: another seed helps, where it is not the same key. */
BLY_API bly_status bly_build(bly_filter **out, const char *kind,
                             const bly_spec *spec, const uint64_t *hashes,
                             const uint64_t *labels, size_t n)
                             BLY_MUST BLY_GIVEN(1, 2);

/* The same from keys, which it hashes first: 8 bytes for each of them from the
 * allocator while it works. BLY_ENOMEM; BLY_EPARAM (keys); BLY_EUNSUPPORTED for
 * labels with a filter that keeps whole keys. */
BLY_API bly_status bly_build_keys(bly_filter **out, const char *kind,
                                  const bly_spec *spec, const bly_keys *keys,
                                  const uint64_t *labels)
                                  BLY_MUST BLY_GIVEN(1, 2, 4);

/* A new empty filter of the same plan as another, with its hash function,
 * seed and secret: the two can be united, compared, subtracted. BLY_ENOMEM;
 * BLY_EUNSUPPORTED for kinds that are built from all keys at once, that grow,
 * or that are made of other filters and lack the ability "overlap". */
BLY_API bly_status bly_like(bly_filter **out, const bly_filter *filter,
                            const bly_options *options)
                            BLY_MUST BLY_GIVEN(1, 2);

/* Take all keys out: the filter is what bly_like would make of it, where it is.
 * Writes the whole image, and so to the file of one that is mapped for writing.
 * BLY_EUNSUPPORTED for the kinds that bly_like refuses; BLY_EREADONLY; BLY_EIO;
 * BLY_ENOMEM (of kinds whose empty filters hold more than a plan tells). */
BLY_API bly_status bly_clear(bly_filter *filter) BLY_GIVEN(1);

/* A copy in memory of its own, which may be changed whatever `filter` may.
 * BLY_ENOMEM. */
BLY_API bly_status bly_copy(bly_filter **out, const bly_filter *filter,
                            const bly_options *options)
                            BLY_MUST BLY_GIVEN(1, 2);

/* Give everything back; NULL is fine. A filter mapped or paged for writing is
 * sealed first, as by bly_seal (call that yourself to see its errors). */
BLY_API void bly_free(bly_filter *filter);

/* ==== Use =============================================================== */

/* Add a key. BLY_OK: it was not there; BLY_SEEN: it was perhaps there before
 * (for kinds that count it is counted once more). Errors: BLY_EFULL (the
 * filter is as it was: bly_resize may help), BLY_EREMOVED (kind twin),
 * BLY_EPARAM (kind egh: the key is not an integer of its universe),
 * BLY_ENOMEM and BLY_ETOOBIG (a kind that grows), BLY_EREADONLY,
 * BLY_EUNSUPPORTED (a frozen kind; and a hash alone, of a filter of a kind with
 * the ability "whole keys" that keeps or hashes them, as invertible:key=9 and
 * rehash:key=whole do).
 *
 * The batch forms return BLY_OK, or the first error. *done, unless `done` is
 * NULL, is how many went in, after an error too: the first *done keys are in,
 * and key *done is the one that failed. seen[i], unless `seen` is NULL, is true
 * where bly_add would have said BLY_SEEN, also of a key that comes twice in the
 * batch, and is written for the first *done keys. Without it adding is
 * quicker. */
BLY_API bly_status bly_add     (bly_filter *filter, const void *key,
                                size_t length) BLY_GIVEN(1);
BLY_API bly_status bly_add_hash(bly_filter *filter, uint64_t hash)
                                BLY_GIVEN(1);
BLY_API bly_status bly_add_many(bly_filter *filter, const uint64_t *hashes,
                                size_t n, bool *seen, size_t *done)
                                BLY_GIVEN(1);
BLY_API bly_status bly_add_keys(bly_filter *filter, const bly_keys *keys,
                                bool *seen, size_t *done) BLY_GIVEN(1, 2);

/* False: the key was certainly not added. True: perhaps it was. Cannot fail.
 * The batch forms write present[0 .. n-1]. bly_contains_keys is BLY_EPARAM,
 * and says "perhaps" of all, where `keys` is not well formed.
 *
 * Of a hash alone a filter that hashes whole keys (rehash:key=whole) says
 * "perhaps" whatever it is: give it keys.
 *
 * bly_contains_mask writes bits, to filter rows by: bit i % 8 of byte i / 8,
 * the lowest first, as in bitmaps of Arrow; (n + 7) / 8 bytes, the last bits of
 * which are 0 where there is no key. It returns how many bits are 1, which is
 * all that it does where `mask` is NULL. */
BLY_API bool       bly_contains     (const bly_filter *filter, const void *key,
                                     size_t length) BLY_GIVEN(1);
BLY_API bool       bly_contains_hash(const bly_filter *filter, uint64_t hash)
                                     BLY_GIVEN(1);
BLY_API void       bly_contains_many(const bly_filter *filter,
                                     const uint64_t *hashes, size_t n,
                                     bool *present) BLY_GIVEN(1);
BLY_API uint64_t   bly_contains_mask(const bly_filter *filter,
                                     const uint64_t *hashes, size_t n,
                                     uint8_t *mask) BLY_GIVEN(1);
BLY_API bly_status bly_contains_keys(const bly_filter *filter,
                                     const bly_keys *keys, bool *present)
                                     BLY_GIVEN(1, 2);

/* Remove a key that was added, once. BLY_EABSENT: it is not there;
 * BLY_EUNSAFE: it cannot be removed without risk to other keys (neither
 * changes anything); BLY_EUNSUPPORTED (the kind, or this filter by its
 * options); BLY_EREADONLY.
 *
 * Remove only what was added: a key that was not, but is perhaps there by
 * accident, may take another key's traces with it, which is then lost. No
 * filter can tell the two apart.
 *
 * The batch forms go on after a key that could not be removed: each[i], where
 * `each` is not NULL, says what became of key i; they return BLY_OK if all
 * were removed, else the first status that is not BLY_OK. Once a call is
 * cancelled, `each` says BLY_ECANCELED of the keys that were not tried. Where
 * none can be tried (BLY_EUNSUPPORTED, BLY_EREADONLY, BLY_EPARAM for `keys`)
 * `each` is untouched. bly_why names the first key that stayed. */
BLY_API bly_status bly_remove     (bly_filter *filter, const void *key,
                                   size_t length) BLY_GIVEN(1);
BLY_API bly_status bly_remove_hash(bly_filter *filter, uint64_t hash)
                                   BLY_GIVEN(1);
BLY_API bly_status bly_remove_many(bly_filter *filter, const uint64_t *hashes,
                                   size_t n, bly_status *each) BLY_GIVEN(1);
BLY_API bly_status bly_remove_keys(bly_filter *filter, const bly_keys *keys,
                                   bly_status *each) BLY_GIVEN(1, 2);

/* How often the key was added, at most: 0 is certain, a larger number is an
 * upper bound. A kind that does not count says UINT64_MAX ("I cannot bound
 * it") for a key that is perhaps there. bly_count_keys is BLY_EPARAM, and
 * says UINT64_MAX of all, where `keys` is not well formed. */
BLY_API uint64_t   bly_count     (const bly_filter *filter, const void *key,
                                  size_t length) BLY_GIVEN(1);
BLY_API uint64_t   bly_count_hash(const bly_filter *filter, uint64_t hash)
                                  BLY_GIVEN(1);
BLY_API void       bly_count_many(const bly_filter *filter,
                                  const uint64_t *hashes, size_t n,
                                  uint64_t *counts) BLY_GIVEN(1);
BLY_API bly_status bly_count_keys(const bly_filter *filter,
                                  const bly_keys *keys, uint64_t *counts)
                                  BLY_GIVEN(1, 2);

/* Labels, for kinds that carry them: put stores a label with a key, get finds
 * it (false: certainly not there, or the kind has no labels; *label is then
 * untouched).
 *
 * A kind that is built from all its keys (bly_build with labels) changes the
 * label of a key that is there: BLY_EABSENT for another. A kind with the
 * abilities "add" and "label" takes any key: of all labels that were put with
 * a key, get gives the best one, or one that is better still (its page says
 * which are better: larger ones, smaller, or larger ones field by field), never
 * a worse one; put says BLY_SEEN where it changed nothing; and bly_add puts the
 * worst label there is, or, of labels of several fields, label 1.
 * bly_plan and bly_stat say which labels there may be.
 *
 * BLY_EPARAM (a label that there may not be), BLY_EUNSUPPORTED, BLY_EREADONLY.
 * The batch forms of put return BLY_OK, or the first error; *done, unless
 * `done` is NULL, is how many labels went in: the first ones; bly_why names the
 * key after them.
 *
 * The batch forms of get are get of each key in turn: found[i] is what it says,
 * and labels[i] is untouched where that is false. bly_get_keys is BLY_EPARAM,
 * and finds none, where `keys` is not well formed. */
BLY_API bly_status bly_put     (bly_filter *filter, const void *key,
                                size_t length, uint64_t label) BLY_GIVEN(1);
BLY_API bly_status bly_put_hash(bly_filter *filter, uint64_t hash,
                                uint64_t label) BLY_GIVEN(1);
BLY_API bly_status bly_put_many(bly_filter *filter, const uint64_t *hashes,
                                const uint64_t *labels, size_t n, size_t *done)
                                BLY_GIVEN(1);
BLY_API bly_status bly_put_keys(bly_filter *filter, const bly_keys *keys,
                                const uint64_t *labels, size_t *done)
                                BLY_GIVEN(1, 2);
BLY_API bool       bly_get     (const bly_filter *filter, const void *key,
                                size_t length, uint64_t *label)
                                BLY_GIVEN(1, 4);
BLY_API bool       bly_get_hash(const bly_filter *filter, uint64_t hash,
                                uint64_t *label) BLY_GIVEN(1, 3);
BLY_API void       bly_get_many(const bly_filter *filter,
                                const uint64_t *hashes, size_t n, bool *found,
                                uint64_t *labels) BLY_GIVEN(1);
BLY_API bly_status bly_get_keys(const bly_filter *filter, const bly_keys *keys,
                                bool *found, uint64_t *labels) BLY_GIVEN(1, 2);

/* Make room for `capacity` keys, or less room, without the keys: everything
 * the filter holds moves into a new image (of its allocator), which takes the
 * old one's place. What that costs differs: see the kind's page; bly_stat
 * gives the rate planned for the new capacity. BLY_EUNSUPPORTED (kinds that
 * cannot), BLY_EPARAM (a capacity that the kind cannot reach from here; a
 * filter that is mapped from a file), BLY_EFULL (it holds more than would
 * fit), BLY_ETOOBIG, BLY_ENOMEM, BLY_EREADONLY. */
BLY_API bly_status bly_resize(bly_filter *filter, uint64_t capacity)
                              BLY_GIVEN(1);

/* Make the filter `times` times smaller, 1 or more, without its keys: bits that
 * lie side by side (in a kind of blocks, the bits of such blocks) become one,
 * by OR. What comes out is the filter that the same keys would have made with m
 * divided by `times`, byte for byte but for the header's counts; it is planned
 * for a share of the keys that is as much smaller. If it holds all of them its
 * rate is far above the planned one: bly_stat tells. Molecules' fingerprints
 * are folded so. BLY_EUNSUPPORTED (kinds that cannot), BLY_EPARAM (a number
 * that does not divide the bits or blocks; positions that are reduced in
 * another way; a filter that is mapped from a file), BLY_ENOMEM,
 * BLY_EREADONLY. */
BLY_API bly_status bly_fold(bly_filter *filter, uint64_t times) BLY_GIVEN(1);

/* ==== Look inside ======================================================= */

/* What the filter can do, BLY_CAN_…: what its kind can (bly_kind_info), and
 * what its options add to that. Thread-safe. */
BLY_API uint64_t bly_can(const bly_filter *filter) BLY_GIVEN(1);

/* The name of the filter's kind. Constant; thread-safe. */
BLY_API const char *bly_kind_of(const bly_filter *filter) BLY_GIVEN(1);

typedef struct {
    char     kind[24], hash[16];
    uint64_t seed;              /* of siphash: its secret's mark             */
    uint64_t capacity;          /* keys it was planned for, or has grown to  */
    uint64_t bytes;             /* of the whole image                        */
    uint64_t packed;            /* bytes once saved or sent, about, of a kind
                                   with the ability "pack"; 0: `bytes`       */
    double   bits_per_key;      /* 8 * bytes / capacity                      */
    uint64_t items;             /* adds that succeeded, repeats counted too;
                                   where items_exact is false (after unite or
                                   intersect, or where adds or removes would
                                   take the count past 2^64 - 2 or below 0),
                                   the estimate `distinct`                   */
    double   distinct;          /* different keys, estimated from the bits;
                                   infinity when every bit is set            */
    double   distinct_sd;       /* its standard deviation                    */
    double   fill;              /* share of bits, cells or slots in use      */
    double   rate;              /* false-positive rate as it stands now, from
                                   the bits themselves                       */
    double   planned_rate;      /* predicted for `capacity` keys             */
    double   lost;              /* false-negative rate, as in bly_plan_t     */
    uint64_t window;            /* as in bly_plan_t                          */
    uint64_t saturated;         /* counters at their largest value: what they
                                   count is no longer known, so no remove
                                   lowers them                               */
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
} bly_stat_t;

/* Reads the whole image. BLY_OK; only of a filter that is open page by page
 * (BLY_PAGED) also BLY_EIO and BLY_ENOMEM. */
BLY_API bly_status bly_stat(bly_stat_t *out, const bly_filter *filter)
                            BLY_GIVEN(1, 2);

/* What the first bytes of an image say, without opening it. */
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

/* Read the header of an image from its first `n` bytes, BLY_HEADER_BYTES or
 * more. The rest of the image is neither needed nor trusted. BLY_EFORMAT,
 * BLY_EVERSION (another header), BLY_ECORRUPT (too short, or the header's
 * checksum does not match). Thread-safe. */
BLY_API bly_status bly_peek(bly_header *out, const void *image, size_t n)
                            BLY_GIVEN(1, 2);

/* The same of a file; BLY_EIO. */
BLY_API bly_status bly_peek_file(bly_header *out, const char *path)
                                 BLY_GIVEN(1, 2);

/* How things stand with one label of a kind whose labels are ordered. */
typedef struct {
    uint64_t label;
    double   fill;              /* share of the cells or bits that show it   */
    double   rate;              /* chance that a key which was never put is
                                   said to have it                           */
    double   mistaken;          /* chance that a key which has it is said to
                                   have another                              */
} bly_label_t;

typedef bool bly_visit_label(void *context, const bly_label_t *label);

/* Visit the labels in rising order, from the bits as they are now, until
 * `visit` returns false. Reads the whole image. BLY_OK; BLY_EUNSUPPORTED (kinds
 * without a bounded number of ordered labels). */
BLY_API bly_status bly_list_labels(const bly_filter *filter,
                                   bly_visit_label *visit, void *context)
                                   BLY_GIVEN(1, 2);

/* ==== Sets of keys ====================================================== */

/* into := into OR other: just as if other's keys had been added to it (a kind
 * that counts adds the counts up). BLY_EMISMATCH (kind, geometry, hash, seed,
 * secret and the form of keys must agree), BLY_EFULL or BLY_ECORRUPT (`into` is
 * as it was, and forged in the second case: "quotient" looks),
 * BLY_EUNSUPPORTED, BLY_EREADONLY. */
BLY_API bly_status bly_unite(bly_filter *into, const bly_filter *other)
                             BLY_GIVEN(1, 2);

/* Unite at a distance, for kinds with the ability "unite at" ("attenuated").
 * `other` may be a filter of the kind and plan of one of the levels of `into`,
 * as bly_new makes one for the same capacity, rate and options: just as if each
 * of its keys had been put with this label. Or it is a filter that bly_unite
 * would take, `into` itself too: each of its labels l becomes l + label, and
 * what would be beyond the largest label is left out.
 * BLY_EPARAM (a label that there may not be), BLY_EMISMATCH (hash and seed must
 * agree, too), BLY_EUNSUPPORTED, BLY_EREADONLY; `into` is then as it was. */
BLY_API bly_status bly_unite_at(bly_filter *into, const bly_filter *other,
                                uint64_t label) BLY_GIVEN(1, 2);

/* into := into AND other: finds every key that is in both; its rate is at
 * most the smaller one of the two, but higher than that of a filter built
 * from the common keys alone. Errors of bly_unite. */
BLY_API bly_status bly_intersect(bly_filter *into, const bly_filter *other)
                                 BLY_GIVEN(1, 2);

/* A number and its standard deviation. */
typedef struct { double value, sd; } bly_estimate;

/* How many different keys are in a, in b, in either, in both, in just one of
 * them, and the Jaccard index |both| / |either|: estimated from the bits
 * [Swamidass & Baldi 2007]. The filters' common bits err alike in all of them,
 * so that `differ` is surer than its parts: far surer where filters are nearly
 * equal. Few common keys may be estimated at less than 0, and so may the index:
 * this keeps their mean right; show 0. Where a filter is saturated (every bit
 * set) a value is infinite. */
typedef struct {
    bly_estimate a, b, either, both, differ, jaccard;
    uint64_t     reserved[4];   /* 0                                         */
} bly_overlap_t;

/* Of kinds that set bits or counters, layered (by its first layer) and
 * quotient (by its fingerprints, all but exactly). What was removed is not
 * counted, except where its bits stayed behind. Errors of bly_unite but
 * BLY_EREADONLY and BLY_EFULL; neither filter is changed. Reads both images. */
BLY_API bly_status bly_overlap(bly_overlap_t *out, const bly_filter *a,
                               const bly_filter *b) BLY_GIVEN(1, 2, 3);

/* ==== Files and images ================================================== */

/* Write the image to a file (of family "foreign" what the other system reads:
 * bly_save_as): all of it, or the old file stays as it was. It is
 * written in the same folder, without a name where the file system can do that
 * (O_TMPFILE), flushed, renamed, and the folder is flushed, or all of its file
 * system where it may not be read: after BLY_OK the new file outlives a crash,
 * and before that the old one or the new one does. An existing file's
 * permissions are kept, and its owner and group as far as the process may; a
 * symbolic link is followed, wherever it leads; a device or a pipe is written
 * straight. Kinds with the ability "pack" are packed on the way, in memory of
 * the filter's allocator, as large as the image but used only as far as the
 * packed form reaches. BLY_EIO: the old file is as it was (or the filter is one
 * whose own file could not be flushed: see bly_seal). BLY_EUNFLUSHED: the
 * new one is in its place, only the folder could not be flushed. BLY_ENOMEM (of
 * those kinds). */
BLY_API bly_status bly_save(const bly_filter *filter, const char *path)
                            BLY_MUST BLY_GIVEN(1, 2);

/* Open a file that bly_save wrote, or one of another system that is recognised,
 * or named in the options (<bloomery/foreign.h>). Flags 0: read it into memory,
 * check all of it; the copy may be changed, the file is not. BLY_MAP: map it;
 * only the header is checked, and what lookups rely on, unless BLY_VERIFY is
 * given too. BLY_MAP | BLY_WRITE: changes go to the file; it says "being
 * written" from the first change on, which is BLY_EIO where the file cannot be
 * made to say so, until bly_seal or bly_free. The file is locked until
 * bly_free, also of copies of the handle that fork makes: opening it for
 * writing a second time, by this process too, is BLY_EIO, as where the system
 * has no locks of open files. bly_save and the commands do not write to a file
 * but put another one in its place: what is added to the old one from then on
 * is lost with it, and bly_replaced tells. BLY_PAGED: see <bloomery/paged.h>.
 * BLY_SHARED as in bly_spec.
 * A file of another system has no checksum, and with BLY_WRITE is refused.
 * A packed file cannot be mapped: with BLY_MAP it is read, checked and unpacked
 * into memory, for reading only; with BLY_WRITE it is refused.
 * BLY_EIO, BLY_EFORMAT, BLY_EVERSION, BLY_ECORRUPT, BLY_EUNSEALED, BLY_EHASH,
 * BLY_EKIND, BLY_ENOMEM, BLY_ELIMIT (a packed file would take more memory than
 * bly_memory_limit says), BLY_ESECRET (not the secret it was made with, none,
 * or one for a filter without), BLY_EPARAM (flags, options), BLY_EUNSUPPORTED
 * (BLY_SHARED; BLY_PAGED; a packed file with BLY_WRITE). A mapped file must not
 * be cut short by others while it is open. */
BLY_API bly_status bly_open(bly_filter **out, const char *path, int flags,
                            const bly_options *options)
                            BLY_MUST BLY_GIVEN(1, 2);

/* Sets the callback of later calls with this filter (unite, save, stat, add of
 * many keys, …), until another one is set; NULL takes it away. The struct is
 * copied. Calls that read the filter in several threads call it in each.
 * `progress` of bly_spec and bly_options is for the one call that makes the
 * filter, and is not kept.
 *
 * With a callback, bly_unite and the other verbs that combine two filters work
 * on a copy of the image in memory, so that nothing is changed if they are
 * cancelled. In a filter that is mapped for writing they work in place and
 * cannot be cancelled. */
BLY_API void bly_progress_set(bly_filter *filter, const bly_progress *progress)
                              BLY_GIVEN(1);

/* Is there now another file at this path than the one the filter was opened
 * from, or has that one been written anew since? Then open it again and let
 * the old filter go. (bly_save puts a new file in the old one's place, so
 * that a filter which is mapped stays whole.) Of a filter opened with BLY_WRITE
 * only another file counts. BLY_EIO: there is no file. BLY_EUNSUPPORTED: the
 * filter was not opened from a file. Thread-safe. */
BLY_API bly_status bly_replaced(bool *out, const bly_filter *filter,
                                const char *path) BLY_GIVEN(1, 2, 3);

/* Make durable what was changed in a filter that is mapped or paged for
 * writing: after BLY_OK it outlives whatever happens to the process and the
 * machine. A paged file stays open, and its next writer finds all of it; a
 * mapped one has no way to say so but to be sealed, as by bly_seal, and is
 * refused again after a crash that comes later than the next change. Nothing
 * to do for any other filter. Errors of bly_seal. */
BLY_API bly_status bly_sync(bly_filter *filter) BLY_GIVEN(1);

/* Close the file of such a filter in good order: durable, its checksums made,
 * "being written" taken back. The filter can still be used; its next change
 * opens the file again. Reads the whole file. BLY_EIO; BLY_EUNFLUSHED (see
 * bly_create); for a paged one BLY_ECORRUPT (a page is damaged), BLY_ENOMEM.
 *
 * Once the system could not flush the file nobody knows what is on the disk,
 * and asking again would not tell. Then each later change, bly_sync and
 * bly_seal is BLY_EIO; and if changes were among what was not flushed, so are
 * bly_save and bly_pack, bly_image says "being written", and so does the file:
 * bly_copy has what is in memory, and the next writer of a paged file what was
 * synced before. */
BLY_API bly_status bly_seal(bly_filter *filter) BLY_GIVEN(1);

/* Borrow an image, for reading, wherever it is; it must stay and not change
 * until bly_free. It is checked as by BLY_MAP, without the payload's checksum:
 * call bly_check for that. Fastest when the image begins on a multiple of 64.
 * Errors of bly_open but BLY_EIO; BLY_EUNSUPPORTED for a packed one, which
 * bly_unpack takes. */
BLY_API bly_status bly_wrap(bly_filter **out, const void *image, size_t bytes,
                            const bly_options *options)
                            BLY_MUST BLY_GIVEN(1, 2);

/* Is this an image, packed or not, whole and undamaged? Reads all of it and
 * trusts nothing.
 * BLY_EFORMAT, BLY_EVERSION, BLY_ECORRUPT, BLY_EUNSEALED, BLY_EHASH,
 * BLY_EKIND; BLY_EPARAM (options); BLY_ECANCELED. Allocates nothing, or with a
 * callback a kilobyte. The options may be NULL, and need no secret.
 * Thread-safe. */
BLY_API bly_status bly_check(const void *image, size_t bytes,
                             const bly_options *options) BLY_GIVEN(1);

/* The image, with counts and checksums up to date: write it, send it. Valid
 * until the filter changes or is freed. The first call after a change reads
 * the whole image, and others wait for it. NULL for a filter that is open page
 * by page, and if a callback cancels the call: bly_why tells which. */
BLY_API const void *bly_image(const bly_filter *filter, size_t *bytes)
                              BLY_GIVEN(1);

/* The filter in memory, for sending: packed if its kind can do that, else its
 * image. These are the bytes that bly_save writes, but for family "foreign": an
 * image of it has our header before what the other system reads, which bly_save
 * and bly_save_as write alone. `room` must be at least the bytes of bly_image,
 * of which a packed filter leaves most untouched; *bytes is how many it took.
 * BLY_EPARAM (room), BLY_EIO (see bly_seal). Reads the filter as bly_image
 * does. */
BLY_API bly_status bly_pack(const bly_filter *filter, void *into, size_t room,
                            size_t *bytes) BLY_MUST BLY_GIVEN(1, 2, 4);

/* A filter in memory of its own from what bly_pack or bly_save wrote, or from
 * an image: all of it is checked, nothing is trusted, and it may be changed.
 * A packed image can come out at up to 8192 times its size, and one that would
 * take more than bly_memory_limit says is BLY_ELIMIT. Errors of
 * bly_check; BLY_ESECRET; BLY_ENOMEM. Thread-safe. */
BLY_API bly_status bly_unpack(bly_filter **out, const void *packed,
                              size_t bytes, const bly_options *options)
                              BLY_MUST BLY_GIVEN(1, 2);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_H */
