/* moment.c - dates, times and intervals as keys.
 *
 * Moments are text in ISO 8601, and the same text that isoformat() returns in
 * Python, whatever DateStyle and TimeZone are:
 *
 *      date            2026-11-27
 *      timestamp       2026-11-27T08:00:00
 *      timestamptz     2026-11-27T07:00:00+00:00, always in UTC
 *      time            08:00:00
 *      timetz          08:00:00+01:00, with its own offset
 *
 * A fraction of a second is written only if it is not 0, in six digits. Years
 * before 1 end in " BC", and infinite moments are "infinity" and "-infinity".
 *
 * An interval is the number of its seconds. As in comparisons of SQL, a month
 * has 30 days and a day 24 hours.
 */
#include "moment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

enum { moment_room = 64 };

/* ---- Text ---------------------------------------------------------------- */

static char *moment_put(char *to, const char *text)
{
    size_t n = strlen(text);
    memcpy(to, text, n);
    return to + n;
}

/* Writes a day. That its year is before 1 is stated at the end of the text. */
static char *moment_put_day(char *to, int year, int month, int day)
{
    to = pg_ultostr_zeropad(to, (uint32)(year > 0 ? year : 1 - year), 4);
    *to++ = '-';
    to = pg_ultostr_zeropad(to, (uint32)month, 2);
    *to++ = '-';
    return pg_ultostr_zeropad(to, (uint32)day, 2);
}

static char *moment_put_time(char *to, const struct pg_tm *tm, fsec_t micros)
{
    to = pg_ultostr_zeropad(to, (uint32)tm->tm_hour, 2);
    *to++ = ':';
    to = pg_ultostr_zeropad(to, (uint32)tm->tm_min, 2);
    *to++ = ':';
    to = pg_ultostr_zeropad(to, (uint32)tm->tm_sec, 2);
    if (micros == 0)
        return to;
    *to++ = '.';
    return pg_ultostr_zeropad(to, (uint32)micros, 6);
}

/* Writes an offset in seconds west of Greenwich. */
static char *moment_put_zone(char *to, int west)
{
    uint32 seconds = (uint32)abs(west);
    *to++ = west > 0 ? '-' : '+';
    to = pg_ultostr_zeropad(to, seconds / 3600, 2);
    *to++ = ':';
    to = pg_ultostr_zeropad(to, seconds / 60 % 60, 2);
    if (seconds % 60 == 0)
        return to;
    *to++ = ':';
    return pg_ultostr_zeropad(to, seconds % 60, 2);
}

static void moment_text(bly_value *out, const char *text, const char *end)
{
    out->type = BLY_TEXT;
    out->data = text;
    out->length = (size_t)(end - text);
}

static void moment_infinite(bly_value *out, bool past)
{
    const char *text = past ? "-infinity" : "infinity";
    moment_text(out, text, text + strlen(text));
}

/* ---- Days and times ------------------------------------------------------ */

void moment_date(bly_value *out, Datum value)
{
    DateADT date = DatumGetDateADT(value);
    char *text, *end;
    int year, month, day;
    if (DATE_NOT_FINITE(date)) {
        moment_infinite(out, DATE_IS_NOBEGIN(date));
        return;
    }
    text = palloc(moment_room);
    j2date(date + POSTGRES_EPOCH_JDATE, &year, &month, &day);
    end = moment_put_day(text, year, month, day);
    if (year <= 0)
        end = moment_put(end, " BC");
    moment_text(out, text, end);
}

/* Reads a timestamp, followed by a time zone, which is "" or UTC. */
static void moment_stamp(bly_value *out, Timestamp stamp, const char *zone)
{
    struct pg_tm tm;
    fsec_t micros;
    char *text, *end;
    if (TIMESTAMP_NOT_FINITE(stamp)) {
        moment_infinite(out, TIMESTAMP_IS_NOBEGIN(stamp));
        return;
    }
    if (timestamp2tm(stamp, NULL, &tm, &micros, NULL, NULL) != 0)
        ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                        errmsg("timestamp out of range")));
    text = palloc(moment_room);
    end = moment_put_day(text, tm.tm_year, tm.tm_mon, tm.tm_mday);
    *end++ = 'T';
    end = moment_put_time(end, &tm, micros);
    end = moment_put(end, zone);
    if (tm.tm_year <= 0)
        end = moment_put(end, " BC");
    moment_text(out, text, end);
}

void moment_timestamp(bly_value *out, Datum value)
{
    moment_stamp(out, DatumGetTimestamp(value), "");
}

void moment_timestamptz(bly_value *out, Datum value)
{
    moment_stamp(out, DatumGetTimestampTz(value), "+00:00");
}

void moment_time(bly_value *out, Datum value)
{
    char *text = palloc(moment_room);
    struct pg_tm tm;
    fsec_t micros;
    time2tm(DatumGetTimeADT(value), &tm, &micros);
    moment_text(out, text, moment_put_time(text, &tm, micros));
}

void moment_timetz(bly_value *out, Datum value)
{
    char *text = palloc(moment_room), *end;
    struct pg_tm tm;
    fsec_t micros;
    int west;
    timetz2tm(DatumGetTimeTzADTP(value), &tm, &micros, &west);
    end = moment_put_time(text, &tm, micros);
    moment_text(out, text, moment_put_zone(end, west));
}

/* ---- Intervals ----------------------------------------------------------- */

/* Returns the double next to this number of seconds. Its digits are read as
 * text, because a product of doubles would be rounded twice. */
static double moment_seconds(int64 seconds, int64 micros)
{
    char text[moment_room];
    int64 whole = seconds < 0 && micros > 0 ? seconds + 1 : seconds;
    int64 rest = whole != seconds ? 1000000 - micros : micros;
    snprintf(text, sizeof text, "%s%lld.%06d", seconds < 0 ? "-" : "",
             (long long)(whole < 0 ? -whole : whole), (int)rest);
    return strtod(text, NULL);
}

/* Reads an infinite interval, which exists since PostgreSQL 17. */
static bool moment_interval_infinite(bly_value *out, const Interval *span)
{
#ifdef INTERVAL_NOT_FINITE
    if (INTERVAL_NOT_FINITE(span)) {
        out->type = BLY_REAL;
        out->real = INTERVAL_IS_NOBEGIN(span) ? -INFINITY : INFINITY;
        return true;
    }
#else
    (void)out;
    (void)span;
#endif
    return false;
}

void moment_interval(bly_value *out, Datum value)
{
    const Interval *span = DatumGetIntervalP(value);
    int64 days = (int64)span->month * DAYS_PER_MONTH + span->day;
    int64 seconds = days * SECS_PER_DAY + span->time / USECS_PER_SEC;
    int64 micros = span->time % USECS_PER_SEC;
    if (moment_interval_infinite(out, span))
        return;
    if (micros < 0) {
        micros += USECS_PER_SEC;
        seconds--;
    }
    out->type = micros == 0 ? BLY_INTEGER : BLY_REAL;
    if (micros == 0)
        out->integer = seconds;
    else
        out->real = moment_seconds(seconds, micros);
}
