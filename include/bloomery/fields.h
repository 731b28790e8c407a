/* bloomery/fields.h - the fields of filters and plans, by name, and as JSON.
 *
 * The library keeps one list of the fields of bly_info_t and bly_plan_t. The
 * command, the bindings and the Redis module all read their fields here, so
 * that a field has the same name, type and meaning everywhere.
 *
 * A visitor is called once for each field, in the order of the list. A field
 * that does not apply is visited as well, but marked `absent`: for example
 * `window` of a filter that never forgets, or `label_bits` of one without
 * labels. Arrays and objects are visited as a beginning, their elements, and an
 * end:
 *
 *      name          type     value
 *      kind          TEXT     "standard"
 *      geometry      ARRAY
 *      NULL          COUNT    9584                  (four of these)
 *      NULL          END
 *
 * All functions here are thread-safe.
 */
#ifndef BLOOMERY_FIELDS_H
#define BLOOMERY_FIELDS_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    BLY_FIELD_TEXT,
    BLY_FIELD_COUNT,            /* a whole number                            */
    BLY_FIELD_REAL,             /* may be infinite                           */
    BLY_FIELD_BOOL,
    BLY_FIELD_ARRAY,            /* its elements follow, then BLY_FIELD_END   */
    BLY_FIELD_OBJECT,           /* its fields follow, then BLY_FIELD_END     */
    BLY_FIELD_END
} bly_field_type;

/* A field. Texts are valid until the visitor returns. */
typedef struct {
    const char    *name;        /* NULL: an element of an array, or an end   */
    const char    *help;        /* one line: the meaning and the unit; or NULL
                                   inside arrays                             */
    bly_field_type type;
    bool           absent;      /* the field does not apply: it has no value,
                                   no elements and no end                    */
    uint64_t       count;       /* COUNT; BOOL: 1 or 0                       */
    double         real;        /* REAL                                      */
    const char    *text;        /* TEXT                                      */
    size_t         length;      /* bytes of text                             */
} bly_field;

/* Called with each field. Return false to stop. */
typedef bool bly_visit_field(void *context, const bly_field *field);

/* Visits the fields of a filter's statistics: those that bly_info returned for
 * it, and the labels, abilities and attached data that the filter itself lists.
 * With a NULL filter those three are absent. Returns false if the visitor
 * did. */
BLY_API bool bly_info_each(const bly_info_t *stat, const bly_filter *filter,
                           bly_visit_field *visit, void *context)
                           BLY_GIVEN(1, 3);

/* Visits the fields of a filter of which only the header is known. They are
 * those of bly_info_each. Fields that a header does not state are absent.
 * Returns false if the visitor did. */
BLY_API bool bly_header_each(const bly_header *header, bly_visit_field *visit,
                             void *context) BLY_GIVEN(1, 2);

/* Visits the fields of a plan. Returns false if the visitor did. */
BLY_API bool bly_plan_each(const bly_plan_t *plan, bly_visit_field *visit,
                           void *context) BLY_GIVEN(1, 2);

/* Styles of JSON. */
typedef enum {
    BLY_JSON_COMPACT,           /* without blanks                            */
    BLY_JSON_LINES,             /* a line for each value, indented, and a
                                   newline at the end                        */
    BLY_JSON_SCRIPT             /* compact, for JSON.parse of JavaScript: whole
                                   numbers from 2^53 on are texts, and an
                                   infinite number is 1e999                  */
} bly_json_style;

/* A document of JSON that is being written. A program fills in the first three
 * members and sets the others to 0. */
typedef struct {
    bool         (*put)(void *context, const char *text, size_t length);
    void          *context;
    bly_json_style style;
    uint16_t       depth;
    bool           begun, failed;
    uint64_t       arrays;          /* a bit for each depth                  */
} bly_json;

/* Writes a field as JSON. It is written to the bly_json that `json` points to,
 * unless it is absent. This is a bly_visit_field: give it to the functions
 * above between an OBJECT and an END.
 *
 * Text should be UTF-8: a byte that is not part of it becomes U+FFFD. A NULL
 * text is null, and so is a number that JSON cannot express. Numbers have as
 * many digits as it takes to read the same number back. Returns false, now and
 * in all later calls, once `put` did or more than 64 arrays and objects were
 * open at a time. */
BLY_API bool bly_json_field(void *json, const bly_field *field)
                            BLY_GIVEN(1, 2);

#ifdef __cplusplus
}
#endif
#endif /* BLOOMERY_FIELDS_H */
