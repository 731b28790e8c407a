# check.sh - crawler: nothing is fetched twice, nothing that robots.txt forbids,
# nothing on other sites, and pages are skipped at the filters' rates.
. "${1:?}/lib.sh"
[ -x "$PROGRAM" ] || { skip crawler 'no libcurl (libcurl4-openssl-dev)'; finish; }
command -v python3 >found.python || { skip crawler 'no python3'; finish; }
no_proxy='*'
export no_proxy

server=
stop_server() {
    [ -z "$server" ] || { kill $server; wait $server 2>kill.err || true; }
    server=
}
trap stop_server EXIT

# serve LEAVES FOLDER HOST...: on a free loopback port; writes port and log.
serve() {
    LEAVES=$1 folder=$2
    export LEAVES
    shift 2
    stop_server
    rm -f ready
    python3 "$USE/site.py" serve 0 log "$folder" "$@" >ready 2>serve.err &
    server=$!
    tries=100
    until grep -q . ready; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] && kill -0 $server 2>kill.err || return 1
        sleep 0.1
    done
    port=$(cat ready)
}

# starts HOST...: the first page of each.
starts() {
    for host in "$@"; do
        echo "http://$host:$port/"
    done
}

# crawl ARGUMENTS...: output in told and said. A crawl that hangs has failed,
# and so would later ones.
crawl() {
    crawl_status=0
    timeout "$(work 30 300)" "$PROGRAM" "$@" >told 2>said || crawl_status=$?
    [ $crawl_status -eq 0 ] || {
        check 'a crawl ends, and well' test $crawl_status = 0
        finish
    }
}

# polite NAME SECONDS: the server's view of the crawl.
polite() {
    awk '{ print $2 $3 }' log | sort >asked
    check "$1: nothing is fetched twice" test -z "$(uniq -d asked)"
    check "$1: nothing that robots.txt forbids" test -z \
        "$(grep -E '/private($|/x)|\.cgi$|/hidden/' asked)"
    check "$1: nothing of a site that is not named" test -z \
        "$(grep '^127.0.0.77' asked)"
    check "$1: robots.txt comes first" awk '
        !($2 in seen) && $3 != "/robots.txt" { exit 1 } { seen[$2] }' log
    check "$1: no sooner than $2 s after the last" awk -v s="$2" '
        ($2 in last) && $1 - last[$2] < s { exit 1 } { last[$2] = $1 }' log
    check "$1: by its name" test -z "$(awk '$4 != "bloomery-crawler/1"' log)"
}

if ! serve 3 . 127.0.0.1 127.0.0.2 127.0.0.3; then
    skip crawler 'no server on loopback'
    finish
fi

# wanted HOST...: the pages that may be fetched.
wanted() {
    {
        python3 "$USE/site.py" links "$port" "$@"
        python3 "$USE/site.py" lists "$port" "$@" | cut -d ' ' -f 2
    } | sort >wanted
}

# Exact, at 10^-7: three sites, with a pause.
set -- 127.0.0.1 127.0.0.2 127.0.0.3
# shellcheck disable=SC2046  # words
crawl 0.02 1000 1e-7 $(starts "$@")
sed 's/^[0-9]* [0-9]* //' told | sort >fetched
wanted "$@"
check 'at 1e-7: exactly what is allowed' cmp fetched wanted
check 'a page of each that moved, and one that is gone' test "$(
    cut -d ' ' -f 1 told | sort | uniq -c | awk '{ printf "%s ", $2 "=" $1 }'
    )" = "200=$(($(wc -l <wanted) - 6)) 302=3 404=3 "
check 'four paths of each are barred' grep -q ' 12 barred' said
polite 'at 1e-7' 0.02

# A window of three links: older ones are queued again, but fetched only once.
serve 3 . 127.0.0.1 127.0.0.2
set -- 127.0.0.1 127.0.0.2
# shellcheck disable=SC2046
crawl 0 3 1e-7 $(starts "$@")
wanted "$@"
sed 's/^[0-9]* [0-9]* //' told | sort >fetched
check 'a window of three links: exactly the same' cmp fetched wanted
check 'links queued again are skipped' test \
    "$(sed -n 's/.* \([0-9]*\) passed over.*/\1/p' said)" -gt 10
polite 'a window of three' 0

# ---- Pages skipped at the filters' rates -------------------------------------

# skipped LIST RATE: the share of new URLs that a filter skips while it
# receives this list one by one. With rate f(t) after t, it is queried 1 / (1 -
# f(t)) times until it accepts one.
skipped() {
    points=$(work 6 20) point=0
    while [ "$point" -lt "$points" ]; do
        head -n $(((2 * point + 1) * $(wc -l <"$1") / (2 * points))) "$1" |
            "$BLOOMERY" build -k expandable -p "$2" -o point.bly
        field point.bly rate
        point=$((point + 1))
    done | awk '{ s += 1 / (1 - $1) } END { printf "%.9f", 1 - NR / s }'
}

rate=0.2
set -- 127.0.0.1 127.0.0.2 127.0.0.3 127.0.0.4
serve "$(work 30 600)" . "$@"
begun=$(date +%s%N)
# shellcheck disable=SC2046
crawl 0 1000 $rate $(starts "$@")
ended=$(date +%s%N)
polite 'filters that err' 0
sed 's/^[0-9]* [0-9]* //' told >fetched
python3 "$USE/site.py" lists "$port" "$@" |
    awk 'FNR == NR { got[$1]; next } $1 in got { print $2 }' fetched - |
    sort >linked
sort fetched | comm -13 - linked >lost
in_band 'pages passed over that were new' "$(wc -l <lost)" \
    "$(wc -l <linked)" "$(skipped fetched $rate)"
check 'at most as many as was asked' awk -v n="$(wc -l <lost)" \
    -v m="$(wc -l <linked)" -v p=$rate 'BEGIN {
        d = n - m * p; exit d > 0 && d * d > 16 * m * p * (1 - p) }'
figure 'pages' "$(wc -l <fetched) fetched in $(awk -v t="$((ended - begun))" \
    'BEGIN { printf "%.2f", t / 1e9 }') s"

# ---- Links by RFC 3986 -------------------------------------------------------

# resolves URL < LINES: each line is a link, a blank and its URL on that page.
resolves() {
    cat >resolved.table
    cut -d ' ' -f 1 resolved.table | python3 "$USE/site.py" resolve "$1" |
        paste -d ' ' resolved.table - | awk '$2 != $3'
}
check 'the reference resolves as section 5.4 of RFC 3986 says' test -z "$(
    sed 's, /, http://a/,' <<'END' | resolves 'http://a/b/c/d;p?q'
g:h g:h
g /b/c/g
./g /b/c/g
g/ /b/c/g/
/g /g
//g http://g/
?y /b/c/d;p?y
g?y /b/c/g?y
#s /b/c/d;p?q
g?y#s /b/c/g?y
;x /b/c/;x
g;x?y#s /b/c/g;x?y
. /b/c/
./ /b/c/
.. /b/
../ /b/
../g /b/g
../.. /
../../g /g
../../../../g /g
/./g /g
/../g /g
g. /b/c/g.
.g /b/c/.g
g.. /b/c/g..
..g /b/c/..g
./../g /b/g
./g/. /b/c/g/
g/./h /b/c/g/h
g/../h /b/c/h
g;x=1/./y /b/c/g;x=1/y
g;x=1/../y /b/c/y
g?y/../x /b/c/g?y/../x
g#s/../x /b/c/g
(https://x/y) /b/c/(https://x/y)
g//h/..//i /b/c/g///i
//A/./g http://a/g
HTTP://A/b/../g /g
END
)"

# The crawler resolves links the same way: tree/ holds pages with such links.
page() {
    mkdir -p "tree/$(dirname "$1")"
    cat >"tree/$1"
}
page a/index.html <<'END'
<a href="(https://example.org/x)">no scheme is before it</a>
<a href="b.html"> <a href="./b.html#top"> <a href="../a/b.html">
<a href="d//e///f.html"> <a href="d//..//b.html"> <a href="/doc/a/./d/..//b.html">
<a href="b.html?x=1&amp;y=./2#z"> <a href="%62.html"> <a href="a%2Fb.html">
<a href="two words.html"> <a href=";x=1/../b.html;v=1"> <a href="./k:l">
<a href="k:l"> <a href="mailto:a@example.org"> <a href="#"> <a href="">
<a href="../c"> <a href="//127.0.0.77/doc/a/b.html"> <a href="///doc/a/b.html">
END
page a/b.html <<'END'
<a href=/doc/../doc/a/index.html> <a href="../../../../../doc/c/e.html">
END
page c/index.html <<'END'
<a href="e.html"> <a href="f/"> <a href="../c?q"> <a href="..."> <a href="/">
END
page c/e.html <<'END'
<a href='.'> <a href="./"> <a href="f/../e.html?"> <a href="..e.html"> <a href="?q=1/../2">
<a href=..>
END
serve 0 tree 127.0.0.1
cat >linked <<'END'
a/index.html
a/(https://example.org/x)
a/b.html
a/d//e///f.html
a/d//b.html
a//b.html
a/b.html?x=1&y=./2
a/%62.html
a/a%2Fb.html
a/two%20words.html
a/b.html;v=1
a/k:l
c
c/
c/e.html
c/f/
c?q
c/?q
c/...
c/..e.html
c/e.html?q=1/../2
../

END
sed "s,^,http://127.0.0.1:$port/doc/," linked |
    sed 's,/doc/\.\./,/,' | sort >wanted
set -- "http://127.0.0.1:$port/doc/a/index.html"
python3 "$USE/site.py" documents tree "$@" | sort >documents
check 'awkward links: the reference finds what is listed' cmp documents wanted
crawl 0 100 1e-7 "$@"
sed 's/^[0-9]* [0-9]* //' told | sort >fetched
check 'awkward links: exactly these are fetched' cmp fetched wanted

# ---- Real documents ----------------------------------------------------------

docs=$MACHINE/usr/share/doc
first=$(find $docs -name index.html -size -200k 2>find.err | sort | head -n 1)
if [ "$EFFORT" = full ] && [ -n "$first" ]; then
    serve 0 $docs 127.0.0.1
    find $docs -name '*.html' 2>find.err | sort |
        sed "s,^$docs,http://127.0.0.1:$port/doc," | grep -v '[^ -~]\| ' |
        head -n 200 >start
    # shellcheck disable=SC2046
    crawl 0 100000 1e-7 $(cat start)
    sed 's/^[0-9]* [0-9]* //' told | sort >fetched
    # shellcheck disable=SC2046
    python3 "$USE/site.py" documents $docs $(cat start) | sort >wanted
    check 'documents: exactly what is linked' cmp fetched wanted
    check 'documents: nothing twice' test -z "$(cut -d ' ' -f 2,3 log |
        sort | uniq -d)"
    figure 'documents' "$(wc -l <fetched) pages of $(wc -l <start) that were \
named, of which $(grep -c '^200' told) are there"
else
    skip documents 'for a full run, with documents in HTML'
fi

# ---- robots.txt --------------------------------------------------------------

cat >robots.c <<'END'
#include "robots.h"
int main(int argc, char **argv)
{
    return argc == 4 && robots_allow(argv[3], argv[2]) == (*argv[1] == 'y')
         ? 0 : 1;
}
END
# says y|n PATH TEXT: whether it may be fetched. TEXT has printf's escapes.
said=0
says() {
    said=$((said + 1))
    # shellcheck disable=SC2059  # it is a format
    check "robots.txt $said: $2 allowed? $1" ./robots "$1" "$2" "$(printf "$3")"
}
if ${CC:-cc} -D_GNU_SOURCE -I "$USE" -o robots robots.c >cc.out 2>&1; then
    star='User-agent: *\nDisallow: '
    says n /private "$star/p"
    says y /open "$star/p"
    says y /private "$star\n"
    says n /private 'User-agent: *\rDisallow: /private\rAllow: /o'
    says n /private '\357\273\277User-agent: *\r\nDisallow: /private\r\n'
    says n /private 'User-agent\t:\t*\nDisallow\t:\t/private'
    says n /private 'User-agent: Bloomery-Crawler/1.0\nDisallow: /private'
    says n /private 'User-agent: bloomery-crawler\nSitemap: /s
        User-agent: b\nDisallow: /private'
    says y /private 'User-agent: bloomery-crawler\nDisallow:\nUser-agent: b
        Disallow: /private'
    says n /%70rivate "$star/private"
    says n /private "$star/%%70riv%%61te"
    says n /%c3%a4 "$star/\303\244"
    says n /%C3%A4x "$star/%%c3%%a4"
    says y /a%2Fb "$star/a/b"
    says n /a%2fb "$star/a%%2Fb"
    says n '/a*b' "$star/a%%2Ab"
    says y /axb "$star/a%%2Ab"
    says n /axyb "$star/a*b"
    says y '/a$b' "$star/a\$"
    says n '/a$b' "$star/a\$b"
    says n /a.cgi "$star/*.cgi\$"
    says y /a.cgi.x "$star/*.cgi\$"
    says n /%00 "$star/%%00"
    says y /% "$star/%%2"
else
    skip robots.txt 'no compiler'
fi

# ---- Errors ------------------------------------------------------------------

refused 'no URL' 'usage: crawler SECONDS' "$PROGRAM" 1 10 0.1
refused 'no delay' 'usage: crawler' "$PROGRAM" -1 10 0.1 http://127.0.0.1/
for delay in inf nan 1e300; do
    refused "a delay of $delay" 'usage: crawler' \
        "$PROGRAM" $delay 10 0.1 http://127.0.0.1/
done
refused 'no pages' 'usage: crawler' "$PROGRAM" 1 none 0.1 http://127.0.0.1/
refused 'no rate' 'rate' "$PROGRAM" 1 10 2 http://127.0.0.1/
refused 'not a URL' 'here: a URL of http' "$PROGRAM" 1 10 0.1 here
refused 'a file' 'passwd: a URL of http' "$PROGRAM" 1 10 0.1 file:///etc/passwd
stop_server
crawl 0 10 0.1 "http://127.0.0.1:$port/"
check 'a site that says nothing of robots is left alone' test ! -s told
check 'and named' grep -q 'robots.txt: .*this site is left alone' said
finish
