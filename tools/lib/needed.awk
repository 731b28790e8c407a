# needed.awk - prints the parts of a C file in the house's style that given names
# need: what defines them, what these parts name, and so on.
#
#   awk -f tools/lib/needed.awk -v names="bly_new bly_add" \
#       -v off="CPU_X86 CPU_NEON" -v include=include bloomery.c
#
# A part is a definition, a declaration or a macro. Nothing is compiled: a part is
# needed if a needed one names it anywhere. `a_##x` names everything that begins
# with a_. The macros of `off` count as 0 where they alone are a condition, and
# are defined as 0. A public header of the folder `include` stays if it declares a
# name that bloomery.h lacks and the rest contains. Comments, empty lines, the
# guards of headers and conditions around nothing are left out.

# Returns a line without comments, strings and characters, and sets `plain` to
# the line without comments. A comment may span lines.
function bare(text,   done) {
    plain = ""
    if (commented) {
        if (!match(text, /\*\//))
            return ""
        text = substr(text, RSTART + 2)
        commented = 0
    }
    while (match(text, /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'|\/\*/)) {
        done = done substr(text, 1, RSTART - 1)
        plain = plain substr(text, 1, RSTART - 1)
        if (substr(text, RSTART, 2) != "/*") {
            plain = plain substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            continue
        }
        text = substr(text, RSTART + 2)
        commented = !match(text, /\*\//)
        text = commented ? "" : substr(text, RSTART + 2)
    }
    plain = plain text
    sub(/ +$/, "", plain)
    return done text
}

function count(text, what) { return gsub(what, "", text) }

# Splits a text into its names; returns how many.
function words(text, word) {
    gsub(/[^A-Za-z0-9_]+/, " ", text)
    return split(text, word, " ")
}

function defines(name, part) {
    if (name !~ /^([0-9].*|const|enum|extern|static|struct|typedef|union|void|bool)$/ &&
        name !~ /^(char|double|float|int|unsigned|u?int[0-9]+_t|size_t|sizeof)$/)
        definers[name] = definers[name] " " part
}

# A macro without a value right before an #include is for that header, and stays.
function keep_setting() {
    if (full[parts - 1] ~ /^#define [A-Za-z0-9_]+$/)
        kind[parts - 1] = "line"
}

# Records what a part defines: a macro, a function or data its name, a struct its
# tag and its type, anything else all the names in it.
function name_part(part, text,   head, n, word, i) {
    if (sub(/^#(define|undef) +/, "", text)) {
        match(text, /^[A-Za-z0-9_]+/)
        own[part] = substr(text, 1, RLENGTH)
        if (kind[part] == "macro" && !(own[part] in is_off))
            defines(own[part], part)
        return
    }
    head = text
    sub(/[(=;[].*/, "", head)
    n = words(head, word)
    if ((text !~ /^(typedef|enum|struct|union) / ||
         text ~ /^typedef [a-z0-9_ *]+\([^*]/) && head !~ /[{]/ && n > 1 &&
        (word[n] !~ /^[A-Z0-9_]+$/ || substr(text, length(head) + 1, 1) != "(")) {
        defines(word[n], part)
        return
    }
    if (match(text, /^static const (struct|union) .*[}] [a-z_0-9]+(\[| =)/)) {
        text = substr(text, 1, RLENGTH)
        n = words(text, word)
        defines(word[n], part)
        return
    }
    n = words(text, word)
    if (text ~ /^(typedef )?(struct|union) [^(]*[{]/) {
        if (text ~ /^(typedef )?(struct|union) [a-z]/)
            defines(word[2 + (text ~ /^typedef/)], part)
        defines(word[n], part)
        return
    }
    for (i = 1; i <= n; i++)
        defines(word[i], part)
}

# ---- Conditions that are off ----------------------------------------------------

BEGIN {
    split(off, word, " ")
    for (i in word)
        is_off[word[i]] = 1
}

# Is a condition, such as "CPU_X86 || CPU_NEON", 0?
function none(condition,   n, word, i) {
    sub(/^#if(def)? /, "", condition)
    n = split(condition, word, / \|\| /)
    for (i = 1; i <= n; i++)
        if (!(word[i] in is_off))
            return 0
    return 1
}

# Removes a branch that is never compiled: cut[d] is "then" or "else" while
# condition d is left out with one of its branches.
/^#if/ {
    cut[++nested] = none($0) ? "then" : ""
    if (cut[nested])
        hidden++
    if (cut[nested])
        next
}
/^#else/ && cut[nested] == "then" { hidden--; cut[nested] = "else"; next }
/^#endif/ {
    was = cut[nested--]
    if (was == "then")
        hidden--
    if (was)
        next
}
hidden { next }

# ---- The parts -----------------------------------------------------------------

{
    text = bare($0)
    line[++lines] = plain
}
plain == "" { next }

open {
    all = all " " text
    depth += count(text, "[{]") - count(text, "[}]")
}
!open && /^#ifndef BLY_[A-Z0-9_]*_H$/ { guard = $2; next }
!open && /^#define/ && $2 == guard { next }
!open && /^#endif \/\* BLY_[A-Z0-9_]*_H/ { next }
!open {
    open = 1
    all = text
    depth = count(text, "[{]") - count(text, "[}]")
    first[++parts] = lines
    kind[parts] = /^#define/ ? "macro" : /^#undef/ ? "undef" : \
        /^# *if/ ? "if" : /^# *el/ ? "else" : /^# *endif/ ? "endif" : \
        /^#/ ? "line" : /^static_assert/ ? "assert" : \
        /^[A-Z0-9_]+\(.*\) *$/ ? "call" : "code"
    made = text ~ /^[a-z_ ]*[A-Z][A-Z0-9_]*\([^()]*\) *$/
}
{
    if (all ~ /^#/ ? !/\\$/ : made || \
        (text ~ /^}/ && text !~ /[{] *$/) || (depth == 0 && text ~ /[;}] *$/)) {
        open = 0
        full[parts] = all
        last[parts] = lines
        if (kind[parts] ~ /^(macro|undef|code)$/)
            name_part(parts, all)
        if (/^#include/)
            keep_setting()
    }
}

# ---- What is needed --------------------------------------------------------------

function need(name,   n, part, i) {
    if (name in seen)
        return
    seen[name] = 1
    n = split(definers[name], part, " ")
    for (i = 1; i <= n; i++)
        if (!kept[part[i]]) {
            kept[part[i]] = 1
            todo[++last_todo] = part[i]
        }
}

# Keeps all that a text names. The kinds are named one by one.
function follow(text,   n, word, i, name, begin) {
    n = words(text, word)
    for (i = 1; i <= n; i++) {
        named[word[i]] = 1
        if (word[i] in definers)
            need(word[i])
    }
    while (match(text, /[A-Za-z_][A-Za-z0-9_]*_ *##/)) {
        begin = substr(text, RSTART, RLENGTH - 2)
        sub(/ +$/, "", begin)
        text = substr(text, RSTART + RLENGTH)
        for (name in definers)
            if (index(name, begin) == 1 && begin != "bly_kind_")
                need(name)
    }
}

# Is everything that a static_assert names kept?
function complete(text,   n, word, i, part) {
    n = words(text, word)
    for (i = 2; i <= n; i++)
        if (word[i] in definers) {
            split(definers[word[i]], part, " ")
            if (!kept[part[1]])
                return 0
        }
    return 1
}

# Does a public header declare a name that is needed? Sets `common` to the names
# of bloomery.h.
function declares(header,   path, text, n, word, i, found) {
    path = include "/" header
    while ((getline text < path) > 0) {
        n = words(text, word)
        for (i = 1; i <= n; i++)
            if (word[i] !~ /^(bly|BLY)_/)
                continue
            else if (header == "bloomery.h")
                common[word[i]]
            else if (word[i] in named && !(word[i] in common))
                found = 1
    }
    close(path)
    return found
}

# Drops conditions around nothing.
function drop_empty(   i, j, n, row, top, used, rows) {
    for (i = 1; i <= parts; i++) {
        if (!kept[i])
            continue
        if (kind[i] == "if") {
            used[++top] = 0
            rows[top] = i
        } else if (kind[i] == "else") {
            rows[top] = rows[top] " " i
        } else if (kind[i] == "endif") {
            n = used[top] ? 0 : split(rows[top] " " i, row, " ")
            for (j = 1; j <= n; j++)
                kept[row[j]] = 0
            used[top - 1] += used[top]
            top--
        } else {
            used[top]++
        }
    }
}

END {
    n = split(names, root, " ")
    for (i = 1; i <= n; i++)
        need(root[i])
    for (i = 1; i <= parts; i++)
        if (kind[i] ~ /^(if|else|endif|line|call)$/) {
            kept[i] = 1
            follow(full[i])
        }
    while (done_todo < last_todo)
        follow(full[todo[++done_todo]])
    declares("bloomery.h")
    for (i = 1; i <= parts; i++) {
        level += (kind[i] == "if") - (kind[i] == "endif")
        if (kind[i] == "assert")
            kept[i] = complete(full[i])
        else if (kind[i] == "undef")
            kept[i] = own[i] in seen
        else if (kind[i] == "line" && split(line[last[i]], quoted, "\"") == 3 &&
            quoted[2] != "bloomery.h")
            kept[i] = declares(quoted[2])
        else if (kind[i] == "line" && level == 0)
            kept[i] = !there[line[last[i]]]++
    }
    drop_empty()
    n = split(off, root, " ")
    for (i = 1; i <= n; i++)
        if (root[i] in named)
            print "#define " root[i] " 0"
    for (i = 1; i <= parts; i++)
        for (j = first[i]; kept[i] && j <= last[i]; j++)
            if (line[j] != "")
                print line[j]
}
