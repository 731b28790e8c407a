/* topics.c - texts for `bloomery help TOPIC`: what several commands share.
 *
 * They are also man pages of section 7. Lists of kinds, formats, commands and
 * costs are read from their tables. CMakeLists.txt finds the names of topics in
 * the table at the end.
 */
#include "bloomery/command.h"

#include <bloomery/foreign.h>

#include <stdio.h>
#include <string.h>

typedef void topics_row(const char *term, const char *text);

/* ==== Keys ============================================================== */

static const cli_passage topics_keys[] = {
    { .text =
        "Without options a key is a whole line, without its newline. The "
        "options below are shared by all commands that read keys." },
    { .term = "Examples" },
    { "bloomery build -f 2 -t , -o names.bly users.csv",
      "The second column of lines that are cut at commas." },
    { "bloomery build --csv -f email -o mails.bly people.csv",
      "The column 'email' of a CSV file whose first line names the columns." },
    { "bloomery build --json-field /user/id -o people.bly events.jsonl",
      "The member 'id' of the member 'user' in lines of JSON." },
    { .term = "Lines" },
    { .text =
        "Lines end with LF, or with CR LF as in files from Windows. The CR "
        "is not part of the key, and in a file without a newline a CR "
        "alone ends a line. A byte order mark of UTF-8 at the start of a "
        "file is skipped. Compressed files are decompressed: gzip, zstd, "
        "xz, bzip2 and lz4 are known by their first bytes." },
    { "-0, --null", "Lines end with a NUL byte." },
    { "--keep-cr", "The CR of CR LF is part of the key." },
    { "--crlf",
      "The CR is not part of the key even if the filter does not state the "
      "form of its keys, as filters from other systems do not. Without "
      "this option it then is, and a note says so." },
    { "--skip-blank",
      "Lines without any text have no key. Otherwise an empty line is the "
      "empty key." },
    { "--comment TEXT",
      "A line that begins with TEXT has no key. After blanks, TEXT ends "
      "the line, as in 'host # why'; with --csv it counts only at the "
      "start of a line. 'query' prints no skipped line, not even with -v." },
    { "--text",
      "Files that do not look like text are refused: NUL bytes in the "
      "first 32 KiB, UTF-16, filters. This option reads them." },
    { .term = "Columns" },
    { .text =
        "-f chooses the columns that are the key. If they are several, the "
        "key is the line that they would form, in this order. Columns end "
        "with a TAB unless -t, --csv or --blanks is given. A line without "
        "the column has no key: 'build' and 'add' skip it, 'query' finds "
        "it in no filter, and a note reports the number. If no line has it, "
        "commands end with status 2, but 'dedup' prints all lines." },
    { "-f 2,4-6", "Columns by number, from 1." },
    { "-f email,name",
      "Columns by their names in the first line, which is then not a key. "
      "A name with a comma, or of digits, is quoted: '\"2019\",\"last, "
      "first\"'." },
    { "-t C",
      "Columns end with this byte: a character or one of \\t \\n \\r \\0 "
      "\\\\ \\xHH." },
    { "--csv",
      "Columns end with commas, or with the byte of -t, and may be quoted "
      "as in RFC 4180: separators and newlines inside quotes are part of "
      "the column, the quotes are not. Without -f the key is the whole "
      "record, with its quotes." },
    { "--tsv", "Columns end with TABs, and quotes are ordinary bytes." },
    { "--blanks",
      "Runs of blanks and TABs separate columns; those at the start of a "
      "line are ignored." },
    { "--header",
      "The first line of each file is not a key. Commands that print lines "
      "print the header of the first file first." },
    { "-l COLUMN",
      "The label of the key. Without -f the key is everything before this "
      "column or, if it is the first, everything after it." },
    { .term = "JSON" },
    { .text =
        "With --json-field NAME each line is a JSON object, and the key is "
        "the value of a member. A string stands for its text, without "
        "escapes; a number for its text as it is written; true and false "
        "for these words. A line has no key if the member is missing, "
        "null, an object or an array. The last of several members with the "
        "same name counts. A line that is not a JSON object, or that nests "
        "more than 1,024 objects and arrays, has no key; a note reports "
        "the number." },
    { "--json-field id", "The member id." },
    { "--json-field /user/id",
      "A JSON pointer: the member id of the member user. /tags/0 is the "
      "first element of an array." },
    { "--trust-json",
      "Other members are not verified. The result is the same if all lines "
      "are JSON." },
    { .term = "Changes" },
    { "-i",
      "A to Z become a to z. Other letters, such as those with accents, "
      "stay as they are." },
    { "-i --unicode",
      "All alphabets are folded by the full case folding of Unicode, which "
      "also turns a sharp s into 'ss'. Keys must be UTF-8. 'bloomery "
      "--version' shows whether this is built in." },
    { "--upper",
      "a to z become A to Z, as in lists of hashes in upper case." },
    { "--trim",
      "Blanks and TABs are removed at both ends of the key, or of each of "
      "its columns." },
    { .term = "Classes" },
    { .text =
        "--as says what the text of a key stands for. A line that cannot "
        "be read this way has no key; a note reports the number, and "
        "commands that query a filter then exit with status 2. Blanks "
        "around numbers and hexadecimal digits are ignored." },
    { "text",
      "The bytes of the text. This is the default, unless the filter "
      "states another class." },
    { "number", "A number as in Python and SQL: 1.0 is 1." },
    { "int32, int64", "An integer in 4 or 8 bytes, lowest byte first." },
    { "float, double",
      "A floating-point number in 4 or 8 bytes, lowest byte first." },
    { "utf16", "The text in UTF-16, lower byte first." },
    { "hex",
      "Bytes in hexadecimal digits, with or without 0x before them. "
      "Blanks, '-' and ':' between bytes are ignored, and so is a backslash "
      "in front, by which sha1sum marks a line with an escaped name." },
    { "bytes", "The bytes of the line." },
    { "domain",
      "A name such as example.com, which also finds the names within it: "
      "a.example.com. Case and a dot at the end are ignored, names in other "
      "alphabets are encoded (IDNA), and *.example.com and ||example.com^ are "
      "example.com." },
    { "cidr",
      "An address or a network of IPv4 or IPv6, such as 192.0.2.0/24, which "
      "also finds the addresses and networks within it." },
    { "path",
      "A path such as /srv/www, which also finds the paths within it. Repeated "
      "slashes, a slash at the end and '.' are ignored." },
    { "any", "Text, in a filter that does not state the form of its keys." },
    { .term = "The form of keys" },
    { .text =
        "A filter that Bloomery builds states the form of its keys: their "
        "class and these changes. Later commands follow it without "
        "options, and refuse options that contradict it. A filter of "
        "another system states no form; -i, --trim and --as then say how "
        "its keys were made." },
    { 0 }
};

/* ==== Rates ============================================================= */

/* Lists the bits per key of a few kinds at usual rates. */
static void topics_bits(topics_row *row)
{
    static const char *const kinds[] = { "standard", "blocked", "fuse",
                                         "ribbon" };
    static const struct { const char *text; double rate; } rates[] = {
        { "10%", 0.1 }, { "1%", 0.01 }, { "0.1%", 1e-3 }, { "0.01%", 1e-4 },
        { "1e-6", 1e-6 },
    };

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        bly_spec spec = { .capacity = 1000000, .rate = rates[i].rate };
        char text[200] = "";

        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            bly_plan_t plan;
            size_t used = strlen(text);

            if (bly_plan(&plan, kinds[k], &spec) == BLY_OK)
                snprintf(text + used, sizeof text - used, "%s%s %.1f",
                         used > 0 ? ", " : "", kinds[k], plan.bits_per_key);
        }
        row(rates[i].text, text);
    }
}

static const cli_passage topics_rates[] = {
    { .text =
        "The false-positive rate is the share of keys that were never "
        "added but are found all the same. -p sets it for a filter that "
        "holds as many keys as it was planned for. An emptier filter has a "
        "lower rate, and an overfull one a higher rate." },
    { .term = "Meaning" },
    { .text =
        "A rate of 1 % does not mean that a found key is right with a "
        "probability of 99 %. If a million keys are queried of which 100 "
        "are in the filter, about 10,000 others are found as well: of 100 "
        "answers, one is right. Choose the rate by the number of keys that "
        "will be queried and are not in the filter, and by the cost of a "
        "wrong answer." },
    { .text =
        "A key that is not found was never added, or was removed. This holds "
        "for all kinds but those that forget or lose keys; 'bloomery plan "
        "-k NAME' shows the share." },
    { .term = "Cost" },
    { .text =
        "Bits per key, for a million keys:" },
    { .rows = topics_bits },
    { .text =
        "'bloomery plan' shows other kinds and numbers, and 'bloomery "
        "advise' ranks kinds." },
    { .term = "The present rate" },
    { "bloomery info",
      "The present rate of a filter, computed from its bits." },
    { "bloomery query -S",
      "The measured share of keys that are found. If none of them was "
      "added, it is the rate." },
    { .term = "Numbers" },
    { "RATE", "0.01, 1%, 1e-2." },
    { "ITEMS",
      "1000000, 1e6, 10k, 2.5M, 1G. k, M, G and T are powers of 1000." },
    { "SIZE", "4096, 64M, 1G. K, M, G and T are powers of 1024." },
    { "SHARE", "0.9, 90%." },
    { 0 }
};

/* ==== Kinds ============================================================= */

/* Lists the core kinds with their families. */
static void topics_core(topics_row *row)
{
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);

    for (size_t i = 0; i < n; i++) {
        char text[200];

        if (!kinds_core(kinds[i]))
            continue;
        snprintf(text, sizeof text, "%s: %s", kinds[i]->family,
                 kinds[i]->summary);
        row(kinds[i]->name, text);
    }
}

static const cli_passage topics_kinds[] = {
    { .text =
        "A kind is a way to build a filter. -k chooses it, with options "
        "after a colon: -k standard:k=5. Numbers may be written as 1000000, "
        "1e6, 64k, 2M or 1G, in powers of 1000. Without -k, 'build' takes "
        "the default kind. 'bloomery kinds NAME' shows the options of a "
        "kind, and 'bloomery advise' finds the best kind for a need." },
    { .term = "Core kinds" },
    { .rows = topics_core },
    { .text =
        "'bloomery kinds --all' lists the other kinds, which are for rarer "
        "needs. A command refuses a kind that lacks the ability it needs, "
        "such as 'remove' or 'resize'; 'bloomery kinds NAME' lists the "
        "abilities." },
    { .term = "Choosing" },
    { "add keys at any time", "Families sets and removable." },
    { "remove or count keys", "Family removable." },
    { "all keys known at once", "Family frozen: the smallest filters." },
    { "an unknown number", "Kind expandable, which grows and removes." },
    { "an endless stream",
      "Family forgetting, such as stable, and kind aging." },
    { "a number per key", "Family labelled, such as bloomier: 'build "
      "-l', 'get' and 'put'." },
    { "no false positive", "Family exact, such as egh, and kind cascade." },
    { "another program's file",
      "Family foreign: see 'bloomery help formats'." },
    { 0 }
};

/* ==== Formats =========================================================== */

/* Lists formats with their writers. */
static void topics_formats(topics_row *row)
{
    size_t n;
    const bly_format_info *const *formats = bly_formats(&n);

    for (size_t i = 0; i < n; i++) {
        char text[200];

        snprintf(text, sizeof text, "%s%s", formats[i]->writer,
                 formats[i]->recognised ? "" : " (needs --format)");
        row(formats[i]->kind->name, text);
    }
}

static const cli_passage topics_formats_text[] = {
    { .text =
        "Every command that reads a filter also reads the formats below. "
        "'bloomery build -k NAME' makes such a file, 'bloomery kinds NAME' "
        "shows its options, and 'bloomery formats' lists what can be done "
        "with it." },
    { .text =
        "If the bytes of a file do not identify its format, give --format "
        "NAME, which takes precedence over recognition. A file that is only "
        "read may then also consist of hexadecimal digits." },
    { .term = "Formats" },
    { .rows = topics_formats },
    { .term = "Files that contain filters" },
    { "Parquet",
      "'info', 'check' and 'query --column' read the filters of row groups." },
    { "LevelDB, RocksDB",
      "'info', 'check' and 'query' read the filters of a table." },
    { 0 }
};

/* ==== Exit status ======================================================= */

/* Lists the exit statuses of each command. */
static void topics_statuses(topics_row *row)
{
    for (const cli_command *const *c = report_program->commands; *c != NULL;
         c++)
        row((*c)->name, (*c)->status);
}

static const cli_passage topics_exit_status[] = {
    { .text =
        "As in grep and diff, 0 is success, 1 is an answer and not an "
        "error, and 2 is an error." },
    { .term = "Commands" },
    { .rows = topics_statuses },
    { .text =
        "A command whose output has lost its reader, as in '| head', dies "
        "of SIGPIPE. Shells show that as status 141." },
    { .term = "In scripts" },
    { "if bloomery query -q FILE",
      "True if a key is perhaps there. An error counts as false: compare "
      "the status with 1 where that matters." },
    { "bloomery diff ... || [ $? -eq 1 ]",
      "Accepts differences but no errors." },
    { 0 }
};

/* ==== The topics ======================================================== */

const cli_topic topics[] = {
    { .name = "keys",
      .summary = "how lines become keys: columns, CSV, JSON, case, classes",
      .passages = topics_keys },
    { .name = "rates",
      .summary = "what a false-positive rate means and costs",
      .passages = topics_rates },
    { .name = "kinds",
      .summary = "the kinds of filters and how to choose one",
      .passages = topics_kinds },
    { .name = "formats",
      .summary = "files of other systems that every command reads",
      .passages = topics_formats_text },
    { .name = "exit-status",
      .summary = "what 0, 1 and 2 mean for each command",
      .passages = topics_exit_status },
    { NULL, NULL, NULL }
};
