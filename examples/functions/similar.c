/* similar.c - finds similar rows of bits.
 */
#include <bloomery.h>
#include <bloomery/similar.h>

#include <err.h>
#include <stdio.h>
#include <string.h>

static bly_rows *make(void)
{
    /* example */
    static const unsigned char ethanol[2] = { 0x0F, 0x11 };
    static const char fps[] = "#FPS1\n0f10\tmethanol\nf000\tbenzene\n";
    bly_rows *rows;
    if (bly_rows_new(&rows, 16, NULL) < 0 ||
        bly_rows_add(rows, ethanol, "ethanol") < 0 ||
        bly_rows_add_fps(rows, fps, strlen(fps)) < 0 ||
        bly_rows_sort(rows) < 0)
        errx(1, "%s", bly_why());
    /* end */
    return rows;
}

static void find(const bly_rows *rows, const bly_rows *queries)
{
    /* example */
    bly_similar_spec spec = { .measure = BLY_TANIMOTO, .least = 0.7,
                              .most = 10 };
    bly_similar out[10];
    size_t found;
    if (bly_similar_find(out, &found, rows, queries, 0, 1, &spec) < 0)
        errx(1, "%s", bly_why());
    for (size_t i = 0; i < found; i++)
        printf("%s: %.3f\n", bly_rows_name(rows, out[i].row),
               out[i].similarity);
    /* end */
    if (found != 2)
        errx(1, "%zu were found", found);
}

static void list(bly_rows *rows)
{
    /* example */
    printf("%ju rows of %ju bits\n", (uintmax_t)bly_rows_count(rows),
           (uintmax_t)bly_rows_bits(rows));
    for (uint64_t i = 0; i < bly_rows_count(rows); i++) {
        const unsigned char *bits = bly_rows_at(rows, i);
        printf("%s begins with %02x\n", bly_rows_name(rows, i), bits[0]);
    }
    bly_rows_free(rows);
    /* end */
}

static void similarity(void)
{
    /* example */
    bly_similar_spec spec = { .measure = BLY_TANIMOTO };
    double s = bly_similarity(&spec, 6, 5, 5);  /* 5 common bits of 6      */
    /* end */
    if (s < 0.833 || s > 0.834)
        errx(1, "a similarity of %g", s);
}

static void estimate(void)
{
    /* example */
    bly_overlap_t is;
    if (bly_similar_estimate(&is, 1024, 200, 180, 90) < 0)
        errx(1, "%s", bly_why());
    printf("%.0f (+- %.0f) common features\n", is.both.value, is.both.sd);
    /* end */
    if (is.both.value < 50 || is.both.value > 90)
        errx(1, "%g features", is.both.value);
}

int main(void)
{
    bly_rows *rows = make();
    if (bly_rows_count(rows) != 3)
        errx(1, "%ju rows", (uintmax_t)bly_rows_count(rows));
    find(rows, rows);
    similarity();
    estimate();
    list(rows);
}
