/* moment.h - dates, times and intervals as keys. */
#ifndef BLOOMERY_POSTGRESQL_MOMENT_H
#define BLOOMERY_POSTGRESQL_MOMENT_H

#include "postgres.h"

#include <bloomery/form.h>

/* Each reads a value of the type in its name. The text is in memory of the
 * current context. */
void moment_date(bly_value *out, Datum value);
void moment_timestamp(bly_value *out, Datum value);
void moment_timestamptz(bly_value *out, Datum value);
void moment_time(bly_value *out, Datum value);
void moment_timetz(bly_value *out, Datum value);
void moment_interval(bly_value *out, Datum value);

#endif
