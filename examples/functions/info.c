/* info.c - reports facts about filters, also as JSON.
 */
#include <bloomery.h>
#include <bloomery/fields.h>

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void facts(const bly_filter *f)
{
    /* example */
    bly_info_t is;
    if (bly_info(&is, f) < 0)
        errx(1, "%s", bly_why());
    printf("%.0f different keys (+- %.0f), %.2f %% false positives\n",
           is.distinct, is.distinct_sd, 100 * is.rate);
    /* end */
    if (is.items != 1)
        errx(1, "%ju keys", (uintmax_t)is.items);
}

/* example */
static bool print_field(void *context, const bly_field *field)
{
    if (field->type == BLY_FIELD_REAL && field->name != NULL && !field->absent)
        fprintf(context, "%s: %g (%s)\n", field->name, field->real,
                field->help);
    return true;
}

static bool print_plan(const bly_plan_t *plan, FILE *out)
{
    return bly_plan_each(plan, print_field, out);
}

static bool print_header(const bly_header *header, FILE *out)
{
    return bly_header_each(header, print_field, out);
}
/* end */

/* example */
static bool put(void *context, const char *text, size_t length)
{
    return fwrite(text, 1, length, context) == length;
}

static bool print_json(const bly_filter *f, FILE *out)
{
    bly_json json = { .put = put, .context = out, .style = BLY_JSON_LINES };
    bly_field begin = { .type = BLY_FIELD_OBJECT };
    bly_field end = { .type = BLY_FIELD_END };
    bly_info_t is;
    if (bly_info(&is, f) < 0)
        errx(1, "%s", bly_why());
    return bly_json_field(&json, &begin) &&
           bly_info_each(&is, f, bly_json_field, &json) &&
           bly_json_field(&json, &end);
}
/* end */

int main(void)
{
    bly_filter *f;
    bly_plan_t plan;
    bly_header header;
    size_t bytes;
    bly_spec want = { .capacity = 1000 };
    if (bly_new(&f, "standard", &want) < 0 || bly_add(f, "a", 1) < 0 ||
        bly_plan(&plan, "standard", &want) < 0)
        errx(1, "%s", bly_why());
    facts(f);
    const void *image = bly_image(f, &bytes);
    if (bly_peek(&header, image, bytes) < 0)
        errx(1, "%s", bly_why());
    FILE *out = tmpfile();
    if (out == NULL || !print_plan(&plan, out) || ftell(out) < 200 ||
        !print_header(&header, out) || !print_json(f, out))
        errx(1, "fields are missing");
    fclose(out);
    bly_free(f);
}
