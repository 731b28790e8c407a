/* figure.c - a round of `dedup` as encyclopaedias draw it: six elements on
 * three ranks, and a filter of four bits divided among them.
 *
 *      rank          0           1           2
 *      elements      a   c       b   d       c   e
 *      hash values   0   1       2   3       1   3
 *
 *      filter        | 0   1 |   | 2   3 |   |     |
 *      of rank       |   0   |   |   1   |   |  2  |
 *      hit           once twice  once twice
 *
 * a and b are alone, and proved unique; the two c, which are equal, and d and
 * e, which share a hash value, are candidates. The program's own code divides
 * and marks; a 64-bit hash is searched that it maps to the place.
 * tools/make/ranks starts three of these.
 */
#include "test.h"

#include "mpi/dedup.h"
#include "frame/mix.h"

enum { FIGURE_RANKS = 3, FIGURE_BITS = 4, FIGURE_EACH = 2 };

static const struct {
    char     name;
    uint64_t place;
} figure[FIGURE_RANKS][FIGURE_EACH] = {
    { { 'a', 0 }, { 'c', 1 } },
    { { 'b', 2 }, { 'd', 3 } },
    { { 'c', 1 }, { 'e', 3 } },
};

/* Returns a hash that the first round maps to this place, different for each
 * name. */
static uint64_t figure_hash(char name, uint64_t place)
{
    uint64_t hash = (uint64_t)name << 32;

    while (mix_range(mix_hash(hash), FIGURE_BITS) != place)
        hash++;
    return hash;
}

static uint64_t figure_of(int rank, int i)
{
    return figure_hash(figure[rank][i].name, figure[rank][i].place);
}

/* Adds this rank's elements, the second one `times` times. */
static void figure_begin(rounds *r, unsigned times)
{
    assert_int_equal(job_ranks, FIGURE_RANKS);
    memset(r, 0, sizeof *r);
    rounds_add(r, figure_of(job_rank, 0));
    for (unsigned i = 0; i < times; i++)
        rounds_add(r, figure_of(job_rank, 1));
    rounds_begin(r);
}

/* Counts how often an element of this rank remains after the first round. */
static unsigned figure_left(const rounds *r, int i)
{
    unsigned n = 0;

    for (size_t j = 0; j < r->n; j++)
        n += r->hashes[j] == mix_hash(figure_of(job_rank, i));
    return n;
}

/* Fails on all ranks unless it holds on every one. */
static void figure_expect(bool here)
{
    assert_int_equal(job_sum(here), FIGURE_RANKS);
}

static void alone_or_in_doubt(void **state)
{
    static const unsigned left[FIGURE_RANKS][FIGURE_EACH] = {
        { 0, 1 }, { 0, 1 }, { 1, 1 }
    };
    rounds r;

    (void)state;
    figure_begin(&r, 1);
    assert_int_equal(rounds_one(&r, FIGURE_BITS, false), 0);
    figure_expect(figure_left(&r, 0) == left[job_rank][0]
                  && figure_left(&r, 1) == left[job_rank][1]);
    assert_int_equal(r.about[0].elements, 6);
    assert_int_equal(r.about[0].positions, FIGURE_BITS);
    assert_int_equal(r.about[0].left, 4);
    assert_int_equal(r.about[0].values, 2);     /* both on rank 2 */
    assert_true(r.about[0].chance >= 1);        /* every bit is set */

    /* With another hash and more room, only equal elements meet. */
    rounds_one(&r, UINT64_C(1) << 40, false);
    assert_int_equal(r.about[1].elements, 4);
    assert_int_equal(r.about[1].left, 2);
    figure_expect(r.n == (job_rank != 1));
    rounds_free(&r);
}

/* Each rank shares EACH hashes with the one before and EACH with the next.
 * Positions are marked as bits, or sorted if there are many per value; among
 * 2^24 about 4.3 pairs of 4 * EACH hashes meet by chance, and 15 is five
 * standard deviations more. */
static void bits_or_sorted(void **state)
{
    enum { EACH = 3000, PAIRS = 15 };

    (void)state;
    for (unsigned mode = 0; mode < 4; mode++) {
        bool sorted = mode / 2, earlier = mode % 2;
        size_t left = job_rank == 1 && !earlier ? 2 * EACH
                    : job_rank == 0 && earlier ? 0 : EACH;
        size_t most = sorted ? left : left + 2 * PAIRS;
        rounds r = { .n = 0 };
        double taken;

        for (uint64_t h = 0; h < 2 * EACH; h++)
            rounds_add(&r, h + (uint64_t)job_rank * EACH);
        rounds_begin(&r);
        rounds_one(&r, UINT64_C(1) << (sorted ? 40 : 24), earlier);
        figure_expect(r.n >= left && r.n <= most);
        taken = r.about[0].chance * (double)r.about[0].positions;
        assert_true(taken < 4 * EACH + 0.5);
        assert_true(taken > 4 * EACH - (sorted ? 0.5 : PAIRS + 0.5));
        /* EACH of rank 1 are new, behind 2 * EACH positions of rank 0, and EACH
         * of rank 2, behind 3 * EACH. An owner's share of them varies as the
         * square root. */
        if (earlier)
            assert_true(fabs(r.about[0].lost * (double)r.about[0].positions
                             / (5.0 * EACH * EACH) - 1) < 5 / sqrt(EACH / 3));
        rounds_free(&r);
    }
}

/* The last round keeps the first of each: c and e of rank 2 are repeats by this
 * filter; d of rank 1 and c of rank 0 are first. */
static void first_or_again(void **state)
{
    rounds r;

    (void)state;
    figure_begin(&r, 1);
    rounds_one(&r, FIGURE_BITS, true);
    figure_expect(r.n == (job_rank == 2 ? 2 : 0));
    assert_int_equal(r.about[0].left, 2);
    rounds_free(&r);

    /* An element that a rank has twice and no earlier rank has remains
     * twice. */
    figure_begin(&r, 3);
    assert_int_equal(rounds_one(&r, FIGURE_BITS, true), 2);
    figure_expect(figure_left(&r, 0) == (job_rank == 2)
                  && figure_left(&r, 1) == (job_rank == 2 ? 1 : 2));
    rounds_free(&r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_or_in_doubt),
        cmocka_unit_test(bits_or_sorted),
        cmocka_unit_test(first_or_again),
    };
    int failed;

    job_start(&argc, &argv);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    job_end();
    return failed;
}
