/* memory.c - memory for images: alignment and zeros on both sides of the
 * huge-page threshold, and the caller's own allocators, which must receive the
 * right context and get back exactly what they returned.
 */
#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/memory.h"

/* Sizes around every border: a line, a page, a huge page, several. */
static const size_t sizes[] = {
    1, 2, 63, 64, 65, 127, 128, 4095, 4096, 4097, 100000,
    MEMORY_HUGE - 4096, MEMORY_HUGE - 1, MEMORY_HUGE, MEMORY_HUGE + 1,
    MEMORY_HUGE + 4095, MEMORY_HUGE + 4096, 2 * MEMORY_HUGE - 1,
    2 * MEMORY_HUGE, 2 * MEMORY_HUGE + 1, 3 * MEMORY_HUGE + 12345,
};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static bool all_are(const uint8_t *memory, size_t bytes, uint8_t value)
{
    return bytes == 0
        || (memory[0] == value && memcmp(memory, memory + 1, bytes - 1) == 0);
}

/* ---- The built-in allocator -------------------------------------------- */

static void test_zeroed_is_zero_aligned_and_writable(void **state)
{
    (void)state;
    bly_allocator from = memory_allocator(NULL, 0);
    for (int i = 0; i < SIZES; i++)
        for (int again = 0; again < 3; again++) {
            uint8_t *memory = memory_zeroed(&from, sizes[i]);
            assert_non_null(memory);
            assert_int_equal((uintptr_t)memory % MEMORY_LINE, 0);
            assert_true(all_are(memory, sizes[i], 0));
            memset(memory, 0xA5, sizes[i]);     /* dirt for the next round */
            assert_true(all_are(memory, sizes[i], 0xA5));
            memory_release(&from, memory, sizes[i]);
        }
}

static void test_raw_is_aligned_and_writable(void **state)
{
    (void)state;
    bly_allocator from = memory_allocator(NULL, 0);
    uint8_t *held[SIZES];
    for (int i = 0; i < SIZES; i++) {
        held[i] = memory_raw(&from, sizes[i]);
        assert_non_null(held[i]);
        assert_int_equal((uintptr_t)held[i] % MEMORY_LINE, 0);
        memset(held[i], i + 1, sizes[i]);
    }
    for (int i = 0; i < SIZES; i++) {           /* blocks do not overlap */
        assert_true(all_are(held[i], sizes[i], (uint8_t)(i + 1)));
        memory_release(&from, held[i], sizes[i]);
    }
}

static void test_big_blocks_begin_on_a_huge_page(void **state)
{
    (void)state;
    bly_allocator from = memory_allocator(NULL, 0);
    for (int i = 0; i < SIZES; i++) {
        if (sizes[i] < MEMORY_HUGE)
            continue;
        void *memory = memory_raw(&from, sizes[i]);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % MEMORY_HUGE, 0);
        memory_release(&from, memory, sizes[i]);
    }
}

/* Returns the bytes of mapped address space, or 0 if unknown. Allocates
 * nothing. */
static size_t mapped_bytes(void)
{
    char text[64];
    int file = open("/proc/self/statm", O_RDONLY);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    return (size_t)strtoull(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* A large block takes only its own pages and returns all of them. */
static void test_big_blocks_take_and_give_back_their_pages(void **state)
{
    (void)state;
    if (mapped_bytes() == 0)
        skip();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bly_allocator from = memory_allocator(NULL, 0);
    for (int i = 0; i < SIZES; i++) {
        if (sizes[i] < MEMORY_HUGE)
            continue;
        size_t before = mapped_bytes();
        void *memory = memory_raw(&from, sizes[i]);
        size_t during = mapped_bytes();
        memory_release(&from, memory, sizes[i]);
        assert_int_equal(during - before, (sizes[i] + page - 1) / page * page);
        assert_int_equal(mapped_bytes(), before);
    }
}

static void test_what_cannot_be_had_is_null(void **state)
{
    (void)state;
    bly_allocator from = memory_allocator(NULL, 0);
    const uint64_t impossible[] = {
        UINT64_MAX, UINT64_C(1) << 63,
        sizeof(size_t) > 4 ? UINT64_MAX : (UINT64_C(1) << 32) + 64,
        SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 4095, SIZE_MAX - 4096,
        SIZE_MAX - MEMORY_HUGE, SIZE_MAX - MEMORY_HUGE - 4096,
        SIZE_MAX / 2 + 1,
    };
    for (size_t i = 0; i < sizeof impossible / sizeof impossible[0]; i++) {
        assert_null(memory_raw(&from, impossible[i]));
        assert_null(memory_zeroed(&from, impossible[i]));
    }
    memory_release(&from, NULL, 1);
}

/* ---- A caller's allocator ---------------------------------------------- */

/* Remembers its blocks, hands out dirty memory, and can refuse. */
enum { LEDGER_MAX = 64 };
typedef struct {
    struct { void *memory; size_t bytes; } live[LEDGER_MAX];
    size_t lives, given, taken, wrong;
    bool   refuse;
} ledger;

static void *ledger_allocate(void *context, size_t alignment, size_t bytes)
{
    ledger *l = context;
    void *memory = NULL;
    if (l->refuse || l->lives == LEDGER_MAX
        || posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    memset(memory, 0xEE, bytes);
    l->live[l->lives].memory = memory;
    l->live[l->lives++].bytes = bytes;
    l->given++;
    return memory;
}

static void ledger_release(void *context, void *memory, size_t bytes)
{
    ledger *l = context;
    for (size_t i = 0; i < l->lives; i++)
        if (l->live[i].memory == memory && l->live[i].bytes == bytes) {
            l->live[i] = l->live[--l->lives];
            l->taken++;
            free(memory);
            return;
        }
    l->wrong++;
}

static bly_allocator ledger_allocator(ledger *l)
{
    return (bly_allocator){ ledger_allocate, ledger_release, l };
}

static void test_own_allocator_gets_its_bytes_back(void **state)
{
    (void)state;
    ledger l = { .refuse = false };
    bly_allocator own = ledger_allocator(&l);
    for (int i = 0; i < SIZES; i++) {
        uint8_t *zeroed = memory_zeroed(&own, sizes[i]);
        uint8_t *raw = memory_raw(&own, sizes[i]);
        assert_int_equal((uintptr_t)zeroed % MEMORY_LINE, 0);
        assert_true(all_are(zeroed, sizes[i], 0));  /* despite dirty memory */
        assert_true(all_are(raw, sizes[i], 0xEE));
        memory_release(&own, zeroed, sizes[i]);
        memory_release(&own, raw, sizes[i]);
    }
    memory_release(&own, NULL, 5);                  /* never reaches it */
    assert_int_equal(l.given, 2 * SIZES);
    assert_int_equal(l.taken, 2 * SIZES);
    assert_int_equal(l.wrong, 0);
}

static void test_own_allocator_may_refuse(void **state)
{
    (void)state;
    ledger l = { .refuse = true };
    bly_allocator own = ledger_allocator(&l);
    assert_null(memory_zeroed(&own, 100));
    assert_null(memory_zeroed(&own, MEMORY_HUGE));
    assert_null(memory_raw(&own, 100));
}

static bool same_allocator(bly_allocator a, bly_allocator b)
{
    return a.allocate == b.allocate && a.release == b.release
        && a.context == b.context;
}

static void test_the_allocator_that_is_wanted(void **state)
{
    (void)state;
    ledger l = { .refuse = false };
    bly_allocator own = ledger_allocator(&l);
    assert_true(same_allocator(memory_allocator(&own, 3), own));
    assert_false(same_allocator(memory_allocator(NULL, 0), own));
}

/* ---- Through the library ----------------------------------------------- */

static void test_filter_keeps_the_allocator_it_was_made_with(void **state)
{
    (void)state;
    ledger l = { .refuse = false };
    bly_allocator own = ledger_allocator(&l);
    bly_spec want = { .capacity = 3000000, .rate = 0.01 };  /* 3.6 MB */
    bly_filter *filter = NULL;

    want.allocator = &own;
    assert_status(bly_new(&filter, "standard", &want), BLY_OK);
    want.allocator = NULL;
    assert_true(l.given > 0 && l.taken == 0);
    assert_status(bly_add(filter, "key", 3), BLY_OK);   /* not among dirt */
    bly_free(filter);
    assert_int_equal(l.taken, l.given);
    assert_int_equal(l.lives, 0);
    assert_int_equal(l.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeroed_is_zero_aligned_and_writable),
        cmocka_unit_test(test_raw_is_aligned_and_writable),
        cmocka_unit_test(test_big_blocks_begin_on_a_huge_page),
        cmocka_unit_test(test_big_blocks_take_and_give_back_their_pages),
        cmocka_unit_test(test_what_cannot_be_had_is_null),
        cmocka_unit_test(test_own_allocator_gets_its_bytes_back),
        cmocka_unit_test(test_own_allocator_may_refuse),
        cmocka_unit_test(test_the_allocator_that_is_wanted),
        cmocka_unit_test(test_filter_keeps_the_allocator_it_was_made_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
