/* plan.c - estimates the size of an index.
 *
 * A text of twice the length has less than twice as many terms, so files are
 * classified by size, in factors of two. A sample of each class is read, spread
 * evenly over its files, and its result is scaled to the bytes of the class.
 */
#include "search/commands/search.h"
#include "frame/json.h"
#include "frame/output.h"
#include "frame/progress.h"
#include "frame/refuse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLAN_CLASSES = 65, PLAN_DOCUMENT = 16,
    PLAN_MOST = 100, PLAN_LEAST = 4,    /* files of a class that are read …  */
    PLAN_BYTES = 1 << 24                /* … within about so many bytes      */
};

/* Files of a class, and of those that were read bytes on disk and of text,
 * documents, and bytes of their rows. */
typedef struct {
    uint64_t files, read, met;
    double   stored, read_stored, bytes, documents, rows;
} plan_class;

typedef struct {
    plan_class    classes[PLAN_CLASSES];
    unsigned char *class_of;            /* of each file; PLAN_CLASSES if none */
    bool          unread;               /* whether nothing is known of a file */
} plan;

/* ==== Classes =========================================================== */

static void plan_look(plan *p, size_t i, const char *name)
{
    struct stat about;
    int class = 0;

    p->class_of[i] = PLAN_CLASSES;
    if (stat(name, &about) < 0) {
        refuse_file(name, errno);
        p->unread = true;
        return;
    }
    if (!S_ISREG(about.st_mode))
        return;
    (void)frexp((double)about.st_size, &class);
    p->class_of[i] = (unsigned char)class;
    p->classes[class].files++;
    p->classes[class].stored += (double)about.st_size;
}

/* Returns how many of its files to read. */
static uint64_t plan_wanted(const plan_class *c)
{
    double most = PLAN_BYTES / fmax(1, c->stored / (double)c->files);

    most = fmin(fmax(most, PLAN_LEAST), PLAN_MOST);
    return c->files < (uint64_t)most ? c->files : (uint64_t)most;
}

/* Returns whether to read the next file of a class; spreads those read evenly.
 */
static bool plan_takes(plan_class *c)
{
    uint64_t wanted = plan_wanted(c), before = c->met * wanted / c->files;

    return ++c->met * wanted / c->files > before;
}

/* ==== Reading =========================================================== */

/* Returns false if out of memory. Unreadable files take no space. */
static bool plan_file(plan_class *c, const bly_index_spec *spec,
                      text_reader *text, terms *t, const char *name)
{
    int error = terms_file(t, text, name);
    settings_part part;

    c->read++;
    if (error == 0)
        c->read_stored += (double)text->about.st_size;
    while (error == 0 && terms_next(t, text, &part, &error)) {
        t->n = multiset_sift(t->hashes, t->n, 1, 1);
        c->bytes += (double)part.length;
        c->documents++;
        c->rows += (double)bly_index_bits(spec, t->n) / 8;
    }
    text_close(text);
    return error != ENOMEM;
}

static bool plan_read(plan *p, const settings *made, double rate,
                      const cli_operands *files)
{
    const bly_index_spec spec = { .rate = rate,
                                  .probes = terms_probes(made->rule) };
    text_reader text = { .block = (size_t)made->block,
                         .anywhere = made->rule == TERMS_KMERS,
                         .plain = made->plain, .fd = -1 };
    terms t;
    bool fine = terms_open(&t, made->rule, made->k);

    t.sequences.least = made->least;
    t.values.names = &made->values;
    for (size_t i = 0; fine && i < files->count; i++) {
        unsigned class = p->class_of[i];

        progress_share((double)i / (double)files->count);
        if (class < PLAN_CLASSES && plan_takes(&p->classes[class]))
            fine = plan_file(&p->classes[class], &spec, &text, &t,
                             files->names[i]);
    }
    free(text.bytes);
    terms_close(&t);
    return fine;
}

/* ==== All of them ======================================================= */

/* Scales text by the size of the files, and documents by their number beyond
 * one per file. */
static void plan_extend(plan_class *sum, const plan_class *c)
{
    double times = c->read_stored > 0 ? c->stored / c->read_stored : 1;

    sum->files += c->files;
    sum->read += c->read;
    sum->stored += c->stored;
    sum->bytes += times * c->bytes;
    sum->rows += times * c->rows;
    sum->documents += (double)c->files
                    + fmax(0, times * (c->documents - (double)c->read));
}

static void plan_report(const plan_class *sum, double index, bool json)
{
    if (json) {
        json_open_object(NULL);
        json_count("files", sum->files);
        json_count("stored_bytes", (uint64_t)sum->stored);
        json_count("read_files", sum->read);
        json_count("documents", (uint64_t)sum->documents);
        json_count("text_bytes", (uint64_t)sum->bytes);
        json_count("index_bytes", (uint64_t)index);
        json_close_object();
        return;
    }
    output_format("files      %s of %s, of which %s were read\n",
                  report_count(sum->files).text,
                  report_bytes((uint64_t)sum->stored).text,
                  report_count(sum->read).text);
    output_format("documents  about %s, of %s of text\n",
                  report_count((uint64_t)sum->documents).text,
                  report_bytes((uint64_t)sum->bytes).text);
    output_format("index      about %s, %.2g %% of the text\n",
                  report_bytes((uint64_t)index).text,
                  sum->bytes > 0 ? 100 * index / sum->bytes : 0);
}

int plan_index(const settings *made, double rate, const cli_operands *files,
               bool json)
{
    plan p = { .class_of = malloc(files->count + 1) };
    plan_class sum = { .files = 0 };
    double names = 0;
    bool fine = p.class_of != NULL;

    for (size_t i = 0; fine && i < files->count; i++) {
        plan_look(&p, i, files->names[i]);
        names += (double)strlen(files->names[i]);
    }
    progress_start("plan", 0, !json);
    fine = fine && plan_read(&p, made, rate, files);
    progress_close();
    free(p.class_of);
    if (!fine)
        return report_no_memory();
    for (size_t c = 0; c < PLAN_CLASSES; c++)
        plan_extend(&sum, &p.classes[c]);
    names *= sum.documents / fmax(1, (double)files->count);
    plan_report(&sum, sum.rows + names
                      + sum.documents * (PLAN_DOCUMENT + SETTINGS_EXTRA), json);
    return p.unread ? CLI_ERROR : CLI_OK;
}
