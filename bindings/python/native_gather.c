/* native_gather.c - batches from Python's objects, and from Arrow's arrays.
 *
 * Lists and iterators: the texts, bytes and numbers of Python are copied one
 * after another. This is the only part that uses objects of Python, so it holds
 * the interpreter's lock. Python calls held_gather through ctypes, because cffi
 * would release that lock.
 *
 * Arrow: the structs and layouts are those of its C data and stream interfaces.
 * An array may come from anybody. The size of a buffer is not part of it, but
 * whatever can be seen to be wrong is refused.
 */

/* ---- Keys in a row ------------------------------------------------------- */

/* Keys that are appended one after another; held_row_end makes the batch.
 * `types` and `valid` are used from the first key on that is of another type
 * than those before it, or missing. */
typedef struct {
    held_batch     batch;               /* n and type, for the time being    */
    held_space     data, ends, types, valid;
    size_t         used;
    int            same;                /* the type of all keys so far;
                                           HELD_NONE: look at each           */
    bool           texts;               /* there are some, or bytes          */
    bool           nan_missing;         /* NaN is a missing value            */
    unsigned char *type_at, *valid_at;  /* NULL: not used yet                */
} held_row;

/* The type before the first value. */
enum { HELD_NONE = -2 };

static held_row *held_row_place(void)
{
    held_row *row = calloc(1, sizeof *row);
    if (row != NULL)
        row->batch.type = row->same = HELD_NONE;
    return row;
}

/* Takes all keys out, and keeps the memory. */
static void held_row_clear(held_row *row)
{
    row->batch = (held_batch){ .type = HELD_NONE };
    row->used = 0;
    row->same = HELD_NONE;
    row->texts = false;
    row->type_at = row->valid_at = NULL;
}

static void held_row_free(held_row *row)
{
    if (row == NULL)
        return;
    free(row->data.at);
    free(row->ends.at);
    free(row->types.at);
    free(row->valid.at);
    free(row);
}

/* Returns a byte for each key, those before key n filled; NULL if out of
 * memory. */
static unsigned char *held_row_bytes(held_row *row, held_space *space,
                                     bool used, int fill)
{
    size_t n = row->batch.n;
    unsigned char *at = held_grow(space, n + 1);
    if (at != NULL && !used && n > 0)
        memset(at, fill, n);
    return at;
}

/* Notes the type of key n where keys differ. Returns false if out of memory. */
static bool held_row_differ(held_row *row, int type)
{
    held_batch *b = &row->batch;
    if (type < 0 || row->valid_at != NULL) {
        row->valid_at = held_row_bytes(row, &row->valid, row->valid_at != NULL,
                                       1);
        if (row->valid_at == NULL)
            return false;
        row->valid_at[b->n] = type >= 0;
    }
    if (b->type == HELD_NONE && type >= 0)
        b->type = type;
    if ((type >= 0 && type != b->type) || row->type_at != NULL) {
        row->type_at = held_row_bytes(row, &row->types, row->type_at != NULL,
                                      b->type);
        if (row->type_at == NULL)
            return false;
        row->type_at[b->n] = (unsigned char)(type < 0 ? b->type : type);
    }
    row->texts |= held_is_text(type);
    row->same = row->type_at == NULL && row->valid_at == NULL
             && !row->nan_missing ? b->type : HELD_NONE;
    return true;
}

/* Copies bytes; most keys are short, and then a call would take longer. */
static inline void held_copy_bytes(char *to, const char *from, size_t length)
{
    uint64_t part[4];
    if (length < 8 || length > 32) {
        if (length > 0)
            memcpy(to, from, length);
    } else if (length <= 16) {
        memcpy(part, from, 8);
        memcpy(part + 1, from + length - 8, 8);
        memcpy(to, part, 8);
        memcpy(to + length - 8, part + 1, 8);
    } else {
        memcpy(part, from, 16);
        memcpy(part + 2, from + length - 16, 16);
        memcpy(to, part, 16);
        memcpy(to + length - 16, part + 2, 16);
    }
}

/* Makes room for as many keys as will be appended, of the usual length. */
static bool held_row_expect(held_row *row, size_t n)
{
    enum { USUAL = 16, LARGE = 1 << 16 };
    size_t more = n < LARGE ? n : LARGE;
    return held_grow(&row->ends, (row->batch.n + more + 2) * sizeof(uint64_t))
               != NULL
        && held_grow(&row->data, row->used + USUAL * more) != NULL;
}

/* Appends a value, or HELD_MISSING with a length of 0. Returns false if out of
 * memory. */
static inline bool held_row_add(held_row *row, int type, const char *data,
                                size_t length)
{
    size_t n = row->batch.n;
    if (type != row->same) {
        if (row->nan_missing && type == BLY_REAL && isnan(held_real(data))) {
            type = HELD_MISSING;
            length = 0;
        }
        if (!held_row_differ(row, type))
            return false;
    }
    if (length > SIZE_MAX / 4
        || held_grow(&row->data, row->used + length) == NULL
        || held_grow(&row->ends, (n + 2) * sizeof(uint64_t)) == NULL)
        return false;
    held_copy_bytes((char *)row->data.at + row->used, data, length);
    row->used += length;
    ((uint64_t *)row->ends.at)[n + 1] = row->used;
    row->batch.n++;
    return true;
}

/* Makes a batch of what was appended. */
static void held_row_end(held_row *row, held_batch *out)
{
    const held_batch *b = &row->batch;
    bool width = !row->texts && row->valid_at == NULL && b->n > 0;
    if (b->n > 0)
        ((uint64_t *)row->ends.at)[0] = 0;
    *out = (held_batch){
        .n = b->n, .type = b->type < 0 ? BLY_TEXT : b->type,
        .data = row->data.at != NULL ? row->data.at : "",
        .offsets64 = width ? NULL : row->ends.at, .width = width ? 8 : 0,
        .types = row->type_at, .valid = row->valid_at,
    };
}

/* Appends all values of a batch. */
static int held_row_join(held_row *row, const held_batch *from)
{
    held_ready ready = { .status = 0 };
    int status = BLY_OK;
    for (size_t at = 0; status >= 0 && at < from->n; ) {
        held_batch b;
        if (!held_slice(&b, from, at, BLY_KEYS_CLASSES)) {
            status = HELD_FALLS;
            break;
        }
        at += b.n;
        status = b.layout == HELD_NUMBERS ? held_widen(&ready, &b)
               : b.layout == HELD_UCS4 ? held_narrow(&ready, &b) : BLY_OK;
        for (size_t i = 0; status >= 0 && i < b.n; i++) {
            bly_key key = { NULL, 0 };
            int type = held_at(&key, &b, b.layout, i);
            if (type < HELD_MISSING)
                status = type;
            else if (!held_row_add(row, type, key.data, key.length))
                status = BLY_ENOMEM;
        }
    }
    held_ready_free(&ready);
    return status;
}

/* Converts labels. Returns how many are integers from 0 to 2^64 - 1 before one
 * that is not, or that is missing. */
static size_t held_labels(uint64_t *labels, const held_batch *from)
{
    held_ready ready = { .status = 0 };
    held_batch b = *from;
    size_t n = 0;
    if (b.layout == HELD_NUMBERS && b.type == BLY_INTEGER
        && held_widen(&ready, &b) < 0)
        b.n = 0;
    for (; n < b.n; n++) {
        bly_key key = { NULL, 0 };
        int type = b.layout == HELD_NUMBERS ? BLY_REAL
                 : held_at(&key, &b, b.layout, n);
        if (type != HELD_LARGE && (type != BLY_INTEGER
                                   || (int64_t)held_u64(key.data) < 0))
            break;
        labels[n] = held_u64(key.data);
    }
    held_ready_free(&ready);
    return n;
}

/* ---- Python's objects ---------------------------------------------------- */

/* Appends what `encode` says of an object: its type, and its bytes. Returns
 * false after an exception. */
static bool held_gather_hard(held_row *row, PyObject *item, PyObject *encode)
{
    char *data = NULL;
    Py_ssize_t length = 0;
    PyObject *pair = PyObject_CallFunctionObjArgs(encode, item, NULL);
    if (pair == NULL)
        return false;
    PyObject *type = PyTuple_GetItem(pair, 0);
    PyObject *bytes = PyTuple_GetItem(pair, 1);
    bool fine = type != NULL && bytes != NULL
             && PyBytes_AsStringAndSize(bytes, &data, &length) == 0;
    int of = fine ? (int)PyLong_AsLong(type) : 0;
    fine = fine && PyErr_Occurred() == NULL;
    if (fine && !held_row_add(row, of, data, (size_t)length)) {
        PyErr_NoMemory();
        fine = false;
    }
    Py_DECREF(pair);
    return fine;
}

/* Appends an integer. Returns 0 if it has more than 64 bits with a sign. */
static int held_gather_integer(held_row *row, PyObject *item)
{
    int beyond = 0;
    char data[8];
    long long number = PyLong_AsLongLongAndOverflow(item, &beyond);
    if (beyond != 0)
        return 0;
    held_set_u64(data, (uint64_t)number);
    return held_row_add(row, BLY_INTEGER, data, 8) ? 1 : -1;
}

/* Appends an object of one of Python's own types. Returns 0 for others, and -1
 * if out of memory.
 *
 * A text keeps the UTF-8 that this makes of it, unless it is ASCII, which is
 * UTF-8 already. */
static int held_gather_easy(held_row *row, PyObject *item)
{
    char number[8], *bytes = NULL;
    Py_ssize_t length = 0;
    if (PyUnicode_CheckExact(item)) {
        const char *text = PyUnicode_AsUTF8AndSize(item, &length);
        if (text != NULL)
            return held_row_add(row, BLY_TEXT, text, (size_t)length) ? 1 : -1;
        PyErr_Clear();                  /* there is half a surrogate         */
        return 0;
    }
    if (PyLong_CheckExact(item))
        return held_gather_integer(row, item);
    if (PyBytes_CheckExact(item)) {
        if (PyBytes_AsStringAndSize(item, &bytes, &length) != 0)
            return -1;
        return held_row_add(row, BLY_BYTES, bytes, (size_t)length) ? 1 : -1;
    }
    if (PyFloat_CheckExact(item)) {
        held_set_u64(number, held_bits(PyFloat_AsDouble(item)));
        return held_row_add(row, BLY_REAL, number, 8) ? 1 : -1;
    }
    if (item == Py_None)
        return held_row_add(row, HELD_MISSING, NULL, 0) ? 1 : -1;
    return 0;
}

/* Makes sure of an exception. */
static int held_gather_failed(void)
{
    if (PyErr_Occurred() == NULL)
        PyErr_NoMemory();
    return -1;
}

/* Appends an object; `encode` is called for those of other types than Python's
 * own. Returns false after an exception. */
static inline bool held_gather_one(held_row *row, PyObject *item,
                                   PyObject *encode)
{
    int easy = held_gather_easy(row, item);
    if (easy == 0)
        return held_gather_hard(row, item, encode);
    return easy > 0 || held_gather_failed() == 0;
}

/* Appends the next objects of an iterator, at most `most`. Returns how many
 * were appended; fewer than `most` if there are no more; -1 after an exception,
 * with those before it in the row. */
static Py_ssize_t held_gather(held_row *row, PyObject *items, Py_ssize_t most,
                              PyObject *encode)
{
    if (!held_row_expect(row, (size_t)most))
        return held_gather_failed();
    for (Py_ssize_t n = 0; n < most; n++) {
        PyObject *item = PyIter_Next(items);
        if (item == NULL)
            return PyErr_Occurred() == NULL ? n : -1;
        bool fine = held_gather_one(row, item, encode);
        Py_DECREF(item);
        if (!fine)
            return -1;
    }
    return most;
}

/* Calls `encode` for an object of a list, while the collector runs if it did
 * before. */
static bool held_gather_awake(held_row *row, PyObject *item, PyObject *encode,
                              int *collects)
{
    Py_INCREF(item);
    if (*collects != 0)
        PyGC_Enable();
    bool fine = held_gather_hard(row, item, encode);
    *collects = PyGC_Disable();
    Py_DECREF(item);
    return fine;
}

static Py_ssize_t held_gather_still(held_row *row, PyObject *list,
                                    Py_ssize_t from, Py_ssize_t most,
                                    PyObject *encode, int *collects)
{
    for (Py_ssize_t n = 0; n < most; n++) {
        PyObject *item = PyList_GetItem(list, from + n);
        if (item == NULL) {             /* the list became shorter           */
            PyErr_Clear();
            return n;
        }
        int easy = held_gather_easy(row, item);
        if (easy < 0)
            return held_gather_failed();
        if (easy == 0 && !held_gather_awake(row, item, encode, collects))
            return -1;
    }
    return most;
}

/* Appends the objects of a list from number `from` on, as held_gather does. An
 * object is kept alive only while `encode` runs, because that writes to it. No
 * other code runs meanwhile: the collector is off, which could run finalizers
 * when the exception for half a surrogate is made. */
static Py_ssize_t held_gather_list(held_row *row, PyObject *list,
                                   Py_ssize_t from, Py_ssize_t most,
                                   PyObject *encode)
{
    if (!held_row_expect(row, (size_t)most))
        return held_gather_failed();
    int collects = PyGC_Disable();
    Py_ssize_t n = held_gather_still(row, list, from, most, encode, &collects);
    if (collects != 0)
        PyGC_Enable();
    return n;
}

/* Appends n objects of an array. Returns n, or -1 after an exception. */
static Py_ssize_t held_gather_array(held_row *row, PyObject **items,
                                    Py_ssize_t n, PyObject *encode)
{
    if (!held_row_expect(row, (size_t)n))
        return held_gather_failed();
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = items[i] != NULL ? items[i] : Py_None;
        Py_INCREF(item);                /* others may change the array       */
        bool fine = held_gather_one(row, item, encode);
        Py_DECREF(item);
        if (!fine)
            return -1;
    }
    return n;
}

/* ---- Arrow --------------------------------------------------------------- */

typedef struct held_schema held_schema;
struct held_schema {
    const char   *format, *name, *metadata;
    int64_t       flags, n_children;
    held_schema **children, *dictionary;
    void        (*release)(held_schema *);
    void         *private_data;
};

typedef struct held_array held_array;
struct held_array {
    int64_t       length, null_count, offset, n_buffers, n_children;
    const void  **buffers;
    held_array  **children, *dictionary;
    void        (*release)(held_array *);
    void         *private_data;
};

typedef struct held_stream held_stream;
struct held_stream {
    int         (*get_schema)(held_stream *, held_schema *);
    int         (*get_next)(held_stream *, held_array *);
    const char *(*get_last_error)(held_stream *);
    void        (*release)(held_stream *);
    void         *private_data;
};

/* The batch of an array, and of its dictionary. `array` is one of a stream, and
 * `valid` and `bits` are bits as bytes. */
typedef struct held_arrow held_arrow;
struct held_arrow {
    held_batch     batch;
    held_array     array;
    held_arrow    *words;
    held_row      *converted;
    unsigned char *valid, *bits;
    bly_key       *each;
};

static held_arrow *held_arrow_place(void)
{
    return calloc(1, sizeof(held_arrow));
}

static void held_arrow_free(held_arrow *a)
{
    if (a == NULL)
        return;
    held_arrow *words = a->words;
    if (words != NULL) {
        held_row_free(words->converted);
        free(words->valid);
        free(words->bits);
        free(words);
    }
    if (a->array.release != NULL)
        a->array.release(&a->array);
    free(a->valid);
    free(a->bits);
    free(a->each);
    free(a);
}

static const char HELD_NO_MEMORY[] = "out of memory";

/* Returns n bits as bytes, or NULL. */
static unsigned char *held_spread_bits(const void *bits, size_t at, size_t n)
{
    const unsigned char *from = bits;
    unsigned char *out = malloc(n + 8);
    size_t i = 0;
    for (; out != NULL && i < n && at % 8 != 0; i++, at++)
        out[i] = from[at / 8] >> at % 8 & 1;
    for (; out != NULL && i < n; i += 8, at += 8) {
        unsigned byte = from[at / 8];
        for (unsigned j = 0; j < 8; j++)
            out[i + j] = (unsigned char)(byte >> j & 1);
    }
    return out;
}

/* Finds the missing values. */
static const char *held_arrow_valid(held_arrow *to, const held_array *a)
{
    if (a->null_count == 0 || a->n_buffers == 0 || a->buffers[0] == NULL)
        return NULL;
    to->valid = held_spread_bits(a->buffers[0], (size_t)a->offset,
                                 (size_t)a->length);
    to->batch.valid = to->valid;
    return to->valid == NULL ? HELD_NO_MEMORY : NULL;
}

/* Text or bytes that offsets of 32 or 64 bits divide. */
static const char *held_arrow_offsets(held_batch *b, const held_array *a,
                                      bool large)
{
    size_t from = (size_t)a->offset, n = (size_t)a->length;
    uint64_t begin, end;
    if (a->n_buffers < 3)
        return "an Arrow array has too few buffers";
    if (a->buffers[1] == NULL)
        return "an Arrow array lacks its offsets";
    if (large) {
        b->offsets64 = (const uint64_t *)a->buffers[1] + from;
        begin = b->offsets64[0];
        end = b->offsets64[n];
    } else {
        b->offsets32 = (const uint32_t *)a->buffers[1] + from;
        begin = b->offsets32[0];
        end = b->offsets32[n];
    }
    if (end >> (large ? 63 : 31) != 0 || begin > end)
        return "an Arrow array has negative or decreasing offsets";
    b->data = a->buffers[2];
    if (b->data != NULL)
        return NULL;
    b->offsets32 = NULL;                /* then all its rows are empty       */
    b->offsets64 = NULL;
    return begin < end ? "an Arrow array lacks its data" : NULL;
}

static const char *held_arrow_views(held_batch *b, const held_array *a)
{
    size_t n = a->n_buffers > 3 ? (size_t)a->n_buffers - 3 : 0;
    if (a->n_buffers < 2 || a->buffers[1] == NULL)
        return "an Arrow array lacks its views";
    b->layout = HELD_VIEWS;
    b->width = HELD_VIEW;
    b->data = (const char *)a->buffers[1] + HELD_VIEW * (size_t)a->offset;
    b->n_buffers = n;
    b->buffers = (const void *const *)a->buffers + 2;
    b->sizes = n > 0 ? a->buffers[a->n_buffers - 1] : NULL;
    if (n > 0 && b->sizes == NULL)
        return "an Arrow array lacks the sizes of its buffers";
    for (size_t i = 0; i < n; i++)
        if (b->buffers[i] == NULL && b->sizes[i] > 0)
            return "an Arrow array lacks its data";
    return NULL;
}

/* Returns the bytes of a number by its letter; 0 if it is not one. */
static size_t held_arrow_size(const char *format)
{
    static const char letters[] = "cCsSiIlLefg";
    static const unsigned char sizes[] = { 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8 };
    const char *at = format[0] != 0 && format[1] == 0
                   ? strchr(letters, format[0]) : NULL;
    return at != NULL ? sizes[at - letters] : 0;
}

/* Returns the layout of numbers by their letter. */
static int held_layout(char number)
{
    return held_lowest_first() && (number == 'l' || number == 'g')
         ? HELD_PLAIN : HELD_NUMBERS;
}

/* Numbers, indexes and rows of one width. */
static const char *held_arrow_rows(held_batch *b, const held_array *a,
                                   size_t width)
{
    if (a->n_buffers < 2)
        return "an Arrow array has too few buffers";
    if (a->buffers[1] == NULL && width > 0)
        return "an Arrow array lacks its data";
    b->width = width;
    b->data = width > 0 ? (const char *)a->buffers[1]
                          + width * (size_t)a->offset : "";
    return NULL;
}

static const char *held_arrow_numbers(held_batch *b, const held_array *a,
                                      const char *format)
{
    b->number = format[0];
    b->type = strchr("efg", format[0]) != NULL ? BLY_REAL : BLY_INTEGER;
    b->layout = held_layout(format[0]);
    return held_arrow_rows(b, a, held_arrow_size(format));
}

static const char *held_arrow_bools(held_arrow *to, const held_array *a)
{
    const char *wrong = held_arrow_rows(&to->batch, a, 1);
    if (wrong != NULL)
        return wrong;
    to->bits = held_spread_bits(a->buffers[1], (size_t)a->offset,
                                (size_t)a->length);
    to->batch.data = to->bits;
    to->batch.number = 'C';
    to->batch.type = BLY_INTEGER;
    to->batch.layout = HELD_NUMBERS;
    return to->bits == NULL ? HELD_NO_MEMORY : NULL;
}

/* The values of an array without a dictionary. Python has checked the format.
 */
static const char *held_arrow_values(held_arrow *to, const char *format,
                                     const held_array *a)
{
    held_batch *b = &to->batch;
    b->n = (size_t)a->length;
    b->type = strchr(format, 'u') != NULL || format[0] == 'U'
            ? BLY_TEXT : BLY_BYTES;
    if (a->length == 0)
        return NULL;
    if (format[0] == 'n') {
        to->valid = calloc(b->n, 1);
        b->valid = to->valid;
        return to->valid == NULL ? HELD_NO_MEMORY : NULL;
    }
    const char *wrong = held_arrow_valid(to, a);
    if (wrong != NULL)
        return wrong;
    if (format[0] == 'v')
        return held_arrow_views(b, a);
    if (format[0] == 'b')
        return held_arrow_bools(to, a);
    if (format[0] == 'w')
        return held_arrow_rows(b, a, (size_t)strtoul(format + 2, NULL, 10));
    if (strchr("uzUZ", format[0]) != NULL)
        return held_arrow_offsets(b, a, format[0] == 'U' || format[0] == 'Z');
    return held_arrow_numbers(b, a, format);
}

/* Rows whose word is missing are missing, too. */
static const char *held_arrow_miss(held_arrow *to)
{
    held_batch *b = &to->batch;
    const held_batch *words = b->words;
    if (words->valid == NULL)
        return NULL;
    if (to->valid == NULL)
        to->valid = malloc(b->n + 1);
    if (to->valid == NULL)
        return HELD_NO_MEMORY;
    for (size_t i = 0; i < b->n; i++) {
        uint64_t at = held_integer((const char *)b->data + i * b->width,
                                   b->number);
        bool there = held_is_there(b, i);
        to->valid[i] = there && (at >= words->n || words->valid[at] != 0);
    }
    b->valid = to->valid;
    return NULL;
}

/* Finds the keys of a dictionary once, if it is not larger than its rows. */
static const char *held_arrow_each(held_arrow *to)
{
    const held_batch *words = to->batch.words;
    if (words->n > to->batch.n)
        return NULL;
    to->each = calloc(words->n + 1, sizeof *to->each);
    if (to->each == NULL)
        return HELD_NO_MEMORY;
    for (size_t i = 0; i < words->n; i++)
        if (held_at(&to->each[i], words, words->layout, i) < HELD_MISSING)
            return "an Arrow array has a malformed dictionary";
    to->batch.each = to->each;
    return NULL;
}

/* Reads a dictionary; its numbers are converted once. */
static const char *held_arrow_words(held_arrow *to, const held_schema *s,
                                    const held_array *a)
{
    held_arrow *words = held_arrow_place();
    to->words = words;
    if (words == NULL)
        return HELD_NO_MEMORY;
    to->batch.words = &words->batch;
    const char *wrong = held_arrow_values(words, s->format, a);
    if (wrong != NULL || words->batch.layout != HELD_NUMBERS)
        return wrong;
    words->converted = held_row_place();
    if (words->converted == NULL
        || held_row_join(words->converted, &words->batch) < 0)
        return HELD_NO_MEMORY;
    held_row_end(words->converted, &words->batch);
    return NULL;
}

/* Makes the batch of an array. Returns NULL, or what is wrong with it. */
static const char *held_arrow_read(held_arrow *to, const held_schema *s,
                                   const held_array *a)
{
    const held_array *d = a->dictionary;
    held_batch *b = &to->batch;
    if (a->length < 0 || a->offset < 0
        || (d != NULL && (d->length < 0 || d->offset < 0)))
        return "an Arrow array has a negative length or offset";
    if (s->dictionary == NULL)
        return held_arrow_values(to, s->format, a);
    if (d == NULL)
        return "an Arrow array lacks its dictionary";
    if (strchr("efg", s->format[0]) != NULL || held_arrow_size(s->format) == 0)
        return "an Arrow array has a dictionary without integers for indexes";
    const char *wrong = held_arrow_words(to, s->dictionary, d);
    b->n = (size_t)a->length;
    b->type = to->batch.words != NULL ? to->batch.words->type : BLY_TEXT;
    if (wrong != NULL || a->length == 0)
        return wrong;
    wrong = held_arrow_valid(to, a);
    if (wrong == NULL)
        wrong = held_arrow_rows(b, a, held_arrow_size(s->format));
    b->layout = HELD_WORDS;
    b->number = s->format[0];
    if (wrong == NULL)
        wrong = held_arrow_each(to);
    return wrong != NULL ? wrong : held_arrow_miss(to);
}

/* Returns the place for an array of a stream, which is released with it. */
static void *held_arrow_own(held_arrow *a)
{
    return &a->array;
}

static held_schema *held_schema_place(void)
{
    return calloc(1, sizeof(held_schema));
}

static void held_schema_free(held_schema *s)
{
    if (s != NULL && s->release != NULL)
        s->release(s);
    free(s);
}

static int held_stream_schema(void *stream, held_schema *out)
{
    held_stream *from = stream;
    return from->get_schema(from, out);
}

/* Returns 0 with the next array, -1 after the last one, or the stream's error
 * number. */
static int held_stream_next(void *stream, held_arrow *out)
{
    held_stream *from = stream;
    int error = from->get_next(from, &out->array);
    return error != 0 ? (error < 0 ? -error : error)
         : out->array.release == NULL ? -1 : 0;
}

static const char *held_stream_error(void *stream)
{
    held_stream *from = stream;
    return from->get_last_error(from);
}
