/* decide.c - decides which records are the first of their key.
 *
 * Equal keys have equal hashes, so they land in the same part. Each part is
 * read in order into a table of its own, which compares bytes, and a decision
 * is written for each record: first or not. Threads decide parts in parallel.
 * If the distinct keys of a part do not fit the table, it is split by the next
 * bits of the hashes:
 *
 *     hash    | bits of the part | 4 bits | 4 bits | …       | low 32 |
 *               parts[i]           .parts[j]  .parts[k]        keytable.c
 *
 * In a join the first records of a part are members, which go into the table.
 * The decision for each later record is whether its key is a member.
 *
 * When the same keys are read again in the same order, each takes the next
 * decision of its part, so no line numbers are stored.
 */
#include "bloomery/exact/dedup.h"
#include "frame/progress.h"

#include <stdlib.h>
#include <string.h>

enum {
    DECIDE_SPLIT_BITS = 4, DECIDE_SPLIT = 1 << DECIDE_SPLIT_BITS,
    DECIDE_BITS_MOST = 32,      /* the others choose slots in the table */
    DECIDE_PARTS_BITS = 12,     /* at first */
    DECIDE_PART = 1 << 20       /* bytes, so that a table stays in a
                                   second-level cache */
};

/* ==== Parts ============================================================= */

bool decide_open(decide_all *all, size_t block, uint64_t memory)
{
    spill_open(&all->store, block, memory);
    all->parts = calloc((size_t)1 << all->bits, sizeof *all->parts);
    return all->parts != NULL;
}

/* Returns the size of a block, which is small if memory is scarce, so that
   there can be many. */
static size_t decide_block(uint64_t memory)
{
    size_t block = 4096;

    while (block < 65536 && block * 2048 < memory)
        block *= 2;
    return block;
}

/* Returns the logarithm of the number of parts. Each table should stay in the
 * cache and fit its share of memory twice, while the open blocks of all parts
 * take at most an eighth of the memory. Parts that are still too large are
 * split later. */
static unsigned decide_choose_bits(uint64_t need, uint64_t memory, size_t block,
                                   uint64_t most)
{
    uint64_t least = most / 2 < DECIDE_PART ? most / 2 : DECIDE_PART;
    unsigned bits = 1;

    while (bits < DECIDE_PARTS_BITS && need >> bits > least
           && ((uint64_t)block << (bits + 1)) <= memory / 8)
        bits++;
    return bits;
}

/* Divides the memory: at most a quarter for the tables of all threads, the rest
 * for blocks. */
bool decide_begin(decide_all *all, const decide_room *room)
{
    size_t block = decide_block(room->memory);
    uint64_t taken = room->taken, tables;

    all->most = room->memory / 4 / room->jobs;
    if (all->most < 16 * block)
        all->most = 16 * block;
    all->bits = decide_choose_bits(keytable_bytes(room->keys, room->bytes),
                                   room->memory, block, all->most);
    all->keys = (room->keys >> all->bits) + 1;
    all->bytes = room->bytes >> all->bits;
    if (keytable_bytes(all->keys, all->bytes) > all->most / 2) {
        all->keys = all->most / 64;
        all->bytes = all->most / 2;
    }
    tables = 2 * keytable_bytes(all->keys, all->bytes);
    taken += room->jobs * (tables < all->most ? tables : all->most);
    taken += (uint64_t)block << all->bits;
    return decide_open(all, block,
                       taken < room->memory ? room->memory - taken : 0);
}

static void decide_close_parts(decide_all *all, decide_part *parts, size_t n)
{
    for (size_t i = 0; parts != NULL && i < n; i++) {
        decide_close_parts(all, parts[i].parts, DECIDE_SPLIT);
        spill_read_end(&parts[i].decided);
        spill_read_end(&parts[i].counted);
        spill_drop(&all->store, &parts[i].records);
        spill_drop(&all->store, &parts[i].decisions);
        spill_drop(&all->store, &parts[i].counts);
    }
    free(parts);
}

void decide_close(decide_all *all)
{
    decide_close_parts(all, all->parts, (size_t)1 << all->bits);
    spill_close(&all->store);
}

size_t decide_number(const decide_all *all, uint64_t hash)
{
    return (size_t)(hash >> (64 - all->bits));
}

static bool decide_record(decide_all *all, decide_part *part, bly_key key)
{
    unsigned char number[SPILL_NUMBER];

    return spill_append(&all->store, &part->records, number,
                        spill_number(number, key.length))
        && spill_append(&all->store, &part->records, key.data, key.length);
}

bool decide_put(decide_all *all, uint64_t hash, bly_key key)
{
    return decide_record(all, &all->parts[decide_number(all, hash)], key);
}

/* Returns the part within a part that was chosen by `bits` of the hash. */
static size_t decide_sub(uint64_t hash, unsigned bits)
{
    return (size_t)(hash << bits >> (64 - DECIDE_SPLIT_BITS));
}

/* ==== A part, with one table ============================================= */

/* A thread that decides. */
typedef struct {
    decide_all *all;
    dedup_table table;
    uint64_t    records;        /* decided since the last report */
    bool        no_memory;      /* whether it failed for lack of memory */
} decide_worker;

/* Decisions to be written, packed eight to a byte from the lowest bit up. */
typedef struct {
    unsigned char bytes[1024];
    size_t        n;            /* decisions */
} decide_bits;

static bool decide_flush(decide_all *all, decide_part *part,
                         decide_bits *d)
{
    size_t bytes = (d->n + 7) / 8;

    d->n = 0;
    return spill_append(&all->store, &part->decisions, d->bytes, bytes);
}

static bool decide_append(decide_all *all, decide_part *part,
                          decide_bits *d, bool first)
{
    if (d->n % 8 == 0)
        d->bytes[d->n / 8] = 0;
    d->bytes[d->n / 8] |= (unsigned char)(first << d->n % 8);
    d->n++;
    return d->n < 8 * sizeof d->bytes || decide_flush(all, part, d);
}

static bool decide_put_counts(decide_all *all, decide_part *part,
                              const dedup_table *table)
{
    unsigned char number[SPILL_NUMBER];
    uint64_t count;
    bly_key key;

    for (size_t at = 0; keytable_each(table, &at, &key, &count); )
        if (!spill_append(&all->store, &part->counts, number,
                          spill_number(number, count)))
            return false;
    return true;
}

/* Reads the next record. Returns false at the end or if reading fails. */
static bool decide_read(spill_reader *reader, bly_key *key)
{
    uint64_t length;

    if (!spill_get_number(reader, &length))
        return false;
    key->length = (size_t)length;
    key->data = spill_get(reader, key->length);
    return key->data != NULL;
}

/* Handles record number `records` of a join's part. */
static keytable_answer decide_joined(decide_worker *w, const decide_part *part,
                                     uint64_t records, uint64_t hash,
                                     bly_key key)
{
    if (records < part->members)
        return keytable_add(&w->table, hash, key);
    return keytable_has(&w->table, hash, key) ? TABLE_OLD : TABLE_NEW;
}

static keytable_answer decide_records(decide_worker *w, decide_part *part,
                                      decide_bits *d)
{
    decide_all *all = w->all;
    keytable_answer answer = TABLE_NEW;
    spill_reader reader;
    uint64_t records = 0;
    bly_key key;

    spill_read(&reader, &all->store, &part->records);
    for (; answer <= TABLE_OLD && decide_read(&reader, &key); records++) {
        uint64_t hash = bly_keyed_hash(all->keyed, key.data, key.length);

        answer = all->joining ? decide_joined(w, part, records, hash, key)
                              : keytable_add(&w->table, hash, key);
        if (answer <= TABLE_OLD && records >= part->members
            && !decide_append(all, part, d,
                              (answer == TABLE_NEW) != all->joining))
            break;
        w->records++;
    }
    spill_read_end(&reader);
    return answer;
}

/* Decides a part with one table. If TABLE_FULL is returned, the part is
 * unchanged. Otherwise it is decided, unless the store reports a failure. */
static keytable_answer decide_by_table(decide_worker *w, decide_part *part)
{
    decide_all *all = w->all;
    uint64_t before = w->records;
    decide_bits d;
    keytable_answer answer;

    d.n = 0;
    keytable_clear(&w->table);
    answer = decide_records(w, part, &d);
    if (answer == TABLE_FULL || answer == TABLE_NO_MEMORY) {
        w->records = before;
        spill_drop(&all->store, &part->decisions);
        return answer;
    }
    if (decide_flush(all, part, &d) && all->counting)
        decide_put_counts(all, part, &w->table);
    spill_drop(&all->store, &part->records);
    spill_finish(&part->decisions);
    spill_finish(&part->counts);
    return answer;
}

/* ==== A part that is too large ========================================== */

static bool decide_split(decide_all *all, decide_part *part, unsigned bits)
{
    spill_reader reader;
    uint64_t records = 0;
    bly_key key;
    bool fine = true;

    part->parts = calloc(DECIDE_SPLIT, sizeof *part->parts);
    if (part->parts == NULL)
        return false;
    spill_read(&reader, &all->store, &part->records);
    while (fine && decide_read(&reader, &key)) {
        uint64_t hash = bly_keyed_hash(all->keyed, key.data, key.length);
        decide_part *sub = &part->parts[decide_sub(hash, bits)];

        sub->members += records++ < part->members;
        fine = decide_record(all, sub, key);
    }
    spill_read_end(&reader);
    spill_drop(&all->store, &part->records);
    for (size_t i = 0; i < DECIDE_SPLIT; i++)
        spill_finish(&part->parts[i].records);
    return true;
}

/* Makes an empty table of the initial size. */
static bool decide_table(decide_worker *w)
{
    w->table = (dedup_table){ .keyed = w->all->keyed,
                              .counting = w->all->counting,
                              .most = w->all->most };
    return keytable_open(&w->table, w->all->keys, w->all->bytes);
}

/* Decides a part in as much memory as it takes, which is then released: a table
 * that stayed so large would look full to every other part. */
static keytable_answer decide_at_any_size(decide_worker *w, decide_part *part)
{
    keytable_answer answer;

    w->table.most = 0;
    answer = decide_by_table(w, part);
    keytable_close(&w->table);
    return decide_table(w) ? answer : TABLE_NO_MEMORY;
}

/* Decides a part whose hashes agree in `bits` bits, and splits it if needed. A
 * part that cannot be split, because it has one key or no bits are left, must
 * fit in memory as it is. */
static bool decide_whole_part(decide_worker *w, decide_part *part,
                              unsigned bits)
{
    decide_all *all = w->all;
    keytable_answer answer = decide_by_table(w, part);

    if (answer == TABLE_FULL && (w->table.keys <= 1 || bits
                                 + DECIDE_SPLIT_BITS > DECIDE_BITS_MOST))
        answer = decide_at_any_size(w, part);
    if (answer <= TABLE_OLD)
        return !spill_failed(&all->store);
    if (answer == TABLE_NO_MEMORY || !decide_split(all, part, bits)) {
        w->no_memory = true;
        return false;
    }
    for (size_t i = 0; i < DECIDE_SPLIT && !spill_failed(&all->store); i++)
        if (!decide_whole_part(w, &part->parts[i], bits + DECIDE_SPLIT_BITS))
            return false;
    return !spill_failed(&all->store);
}

/* ==== All parts, by all threads ========================================= */

typedef struct {
    decide_all     *all;
    size_t          next;       /* index of the next part to take */
    uint64_t        records;    /* decided */
    bool            failed;
    bool            no_memory;  /* reported once all threads have ended */
    pthread_mutex_t lock;       /* guards all fields above */
} decide_state;

/* Reports progress and takes the next part. */
static bool decide_next_part(decide_state *s, decide_worker *w, size_t *number,
                             bool fine)
{
    pthread_mutex_lock(&s->lock);
    s->failed |= !fine;
    s->no_memory |= w->no_memory;
    s->records += w->records;
    w->records = 0;
    progress_share((double)s->next / (double)((size_t)1 << s->all->bits));
    bool more = !s->failed && s->next < (size_t)1 << s->all->bits;
    *number = s->next;
    s->next += more;
    pthread_mutex_unlock(&s->lock);
    return more;
}

static void *decide_loop(void *argument)
{
    decide_state *s = argument;
    decide_all *all = s->all;
    decide_worker w = { .all = all };
    bool fine = decide_table(&w);
    size_t number;

    w.no_memory = !fine;
    while (decide_next_part(s, &w, &number, fine))
        fine = decide_whole_part(&w, &all->parts[number], all->bits);
    keytable_close(&w.table);
    return NULL;
}

int decide_run(decide_all *all, size_t jobs, bool progress)
{
    decide_state s = { .all = all };

    for (size_t i = 0; i < (size_t)1 << all->bits; i++)
        spill_finish(&all->parts[i].records);
    progress_start("comparing", 0, progress);
    pthread_mutex_init(&s.lock, NULL);
    work_threads(jobs, decide_loop, &s);
    pthread_mutex_destroy(&s.lock);
    progress_close();
    if (s.no_memory && !spill_failed(&all->store))
        return report_no_memory();
    return s.failed ? CLI_ERROR : CLI_GO;
}

/* ==== Reading the decisions ============================================= */

/* Returns the innermost part, which was decided by one table. */
static decide_part *decide_find(const decide_all *all, uint64_t hash)
{
    decide_part *part = &all->parts[decide_number(all, hash)];

    for (unsigned bits = all->bits; part->parts != NULL; ) {
        part = &part->parts[decide_sub(hash, bits)];
        bits += DECIDE_SPLIT_BITS;
    }
    return part;
}

bool decide_next(decide_all *all, uint64_t hash, bool *first, uint64_t *count)
{
    decide_part *part = decide_find(all, hash);

    if (part->decided.store == NULL) {
        spill_read(&part->decided, &all->store, &part->decisions);
        spill_read(&part->counted, &all->store, &part->counts);
    }
    if (part->bits == 0) {
        const unsigned char *byte = spill_get(&part->decided, 1);

        if (byte == NULL)
            return false;
        part->byte = *byte;
        part->bits = 8;
    }
    *first = part->byte & 1;
    part->byte >>= 1;
    part->bits--;
    return !*first || !all->counting
        || spill_get_number(&part->counted, count);
}
