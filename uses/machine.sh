# machine.sh - makes a small machine: documents, licences, packages and a map of
# time zones, laid out as in Debian. Every byte is the same wherever and
# whenever it is made, so the quick checks give the same result on each machine.
#
#   sh uses/machine.sh FOLDER
#
# FOLDER must not exist. Words are drawn as in a real text, where the n-th most
# frequent word has a share of about 1 / n: common English ones first, then made
# ones. A package has a copyright file with whole licences in it, which several
# packages share, and a README with URLs; the first ones have a changelog.
set -eu
LC_ALL=C
export LC_ALL
packages=600
mkdir -p "$1/usr/share/common-licenses" "$1/usr/share/zoneinfo" \
    "$1/var/lib/dpkg/info"
cd "$1"
awk -v n=$packages 'BEGIN { for (i = 0; i < n; i++)
    printf "usr/share/doc/p%03d%c", i, 0 }' | xargs -0 mkdir -p

awk -v packages=$packages '
# Returns a number between 0 and 1, or an integer below n.
function draw() { x = x * 16807 % 2147483647; return x / 2147483647 }
function below(n) { return int(draw() * n) }

function word() { return vocabulary[int(exp(draw() * log(words + 1)))] }

# Returns lines of text.
function text(lines,  all, line) {
    for (all = ""; lines > 0; lines--) {
        for (line = word(); length(line) < 60; )
            line = line " " word()
        all = all line ".\n"
    }
    return all
}

function make_words(  i, n, made, syllable, syllables) {
    words = split("the of and to or a in for is this that any be by with as " \
        "software license copyright notice without you copies work source " \
        "it may from code are not modify distribute permission program use " \
        "such conditions above under terms warranty public provided form " \
        "documentation shall whether your library version other general " \
        "materials including files", vocabulary, " ")
    syllables = split("ba ce di fo gu ha ji ke lo mu na pi que ro su ta vi " \
        "we xo zu", syllable, " ")
    for (i = 0; i < 4000; i++) {
        made = ""
        for (n = i + 20; n > 0; n = int(n / syllables))
            made = made syllable[1 + n % syllables]
        vocabulary[++words] = made
    }
}

function url(i) {
    return (i % 3 ? "https" : "http") "://" (i % 4 ? "www." : "") "h" \
        int(i / 12) ".example" (i % 7 ? ".org" : ".co.uk") \
        (i % 11 ? "" : ":8080") "/" word() "/" word() i (i % 5 ? "" : "/") \
        (i % 6 ? "" : "?q=" word() "&n=" i) (i % 13 ? "" : "#" word())
}

function mail() { return word() "." word() below(999) "@" word() ".example" }

function documents(name, p,  i, file) {
    file = "usr/share/doc/" name "/copyright"
    printf "Upstream-Name: %s\nSource: %s\nCopyright: %d %s <%s>\n%s\n", name,
        url(p * 9), 1990 + below(30), word(), mail(), text(3 + below(9)) >file
    for (i = below(3); i >= 0; i--)
        print "License: " word() "\n" licence[below(12)] >file
    close(file)
    file = "usr/share/doc/" name "/README"
    print text(1 + below(12)) >file
    for (i = 1; i < 9; i++)
        print word() " <" url(p * 9 + i) ">" >file
    close(file)
    file = "usr/share/doc/" name "/NEWS.txt"
    print text(1 + below(2 ^ below(7))) >file
    close(file)
}

function changelog(name,  i, day, file) {
    file = "usr/share/doc/" name "/changelog.Debian"
    for (i = 5 + below(10); i > 0; i--) {
        day += 1 + below(90)
        printf "%s (1.%d) unstable; urgency=low\n\n  * %s\n -- %s <%s>  " \
            "%d %s %d %02d:%02d:00 +0000\n\n", name, i, text(1), word(),
            uploader[below(40)], 1 + below(28), month[1 + below(12)],
            2020 - int(day / 365), below(24), below(60) >file
    }
    close(file)
}

function record(name, p,  i, file, section) {
    file = "var/lib/dpkg/status"
    section = sections[1 + below(n_sections)]
    printf "Package: %s\nStatus: install ok installed\nPriority: %s\n" \
        "Section: %s\nInstalled-Size: %d\nMaintainer: %s <%s>\n" \
        "Architecture: %s\n", name, p % 9 ? "optional" : "required", section,
        8 + below(3000), word(), uploader[below(40)],
        below(3) ? "amd64" : "all" >file
    if (p % 4 == 0)
        print "Multi-Arch: " (p % 8 ? "same" : "foreign") >file
    if (p % 5 == 0)
        printf "Source: p%03d\n", below(packages) >file
    printf "Version: %d.%d-%d\nDepends: p%03d (>= 1), p%03d | p%03d\n",
        below(9), below(30), 1 + below(3), below(packages), below(packages),
        below(packages) >file
    print "/.\n/etc\n/usr\n/usr/bin\n/usr/bin/" name \
        >("var/lib/dpkg/info/" name ".list")
    if (p % 3)
        print "Conffiles:" >file
    for (i = p % 3; i > 0; i--) {
        printf " /etc/%s.%d %08d\n", name, i, below(99999999) >file
        print "/etc/" name "." i >("var/lib/dpkg/info/" name ".list")
    }
    close("var/lib/dpkg/info/" name ".list")
    described = text(2 + below(5))
    gsub(/\n/, "\n ", described)
    sub(/ $/, "", described)
    printf "Description: %s %s %s\n %s\n", word(), topics[1 + below(n_topics)],
        word(), described >file
}

BEGIN {
    x = 20240229
    make_words()
    split("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec", month, " ")
    n_sections = split("libs perl devel python net text admin", sections, " ")
    n_topics = split("shared library|Python JSON|Perl module files|compiler|" \
        "fast and small|zlib compression|GNU C|tool for Debian", topics, "|")
    for (i = 0; i < 40; i++)
        uploader[i] = mail()
    for (i = 0; i < 12; i++)
        licence[i] = text(80 + below(60))
    n = split("GPL-2 GPL-3 LGPL-3 Apache-2.0 Artistic MPL-2.0 BSD", name, " ")
    for (i = 1; i <= n; i++)
        printf "%s", licence[i] >("usr/share/common-licenses/" name[i])
    for (p = 0; p < packages; p++) {
        documents(sprintf("p%03d", p), p)
        record(sprintf("p%03d", p), p)
        if (p < 48)
            changelog(sprintf("p%03d", p))
    }
    print "# a map of places" >"usr/share/zoneinfo/zone.tab"
    for (i = 0; i < 200; i++)
        printf "XX\t+%02d%02d%s%03d%02d\tMade/%s%d\n", i ? below(70) : 52,
            i ? below(60) : 30, below(9) ? "+" : "-", i ? below(60) : 13,
            i ? below(60) : 24, word(), i >"usr/share/zoneinfo/zone.tab"
}'
gzip -n usr/share/doc/*/changelog.Debian
