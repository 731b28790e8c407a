# check.sh - the white list: no listed sender is rejected, strangers pass at the
# filter's rate, and Postfix's protocol gives the same answers.
. "${1:?}/lib.sh"

dictionary=/usr/share/dict/american-english
[ -r $dictionary ] || {
    skip whitelist 'no list of words (Debian: wamerican)'
    finish
}
server=
trap '[ -z "$server" ] || kill "$server"' EXIT
trap 'exit 2' HUP INT TERM

# Real addresses, of authors of documents here, and made-up ones: words, some
# for the list and some for strangers.
n=$(work 100000 1000000)
include=$(work 'copyright' '*')
grep -rhoaE --include="$include" \
    '[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+' "$MACHINE/usr/share/doc" |
    tr 'A-Z' 'a-z' | sort -u >real
grep -v "[^a-z]" $dictionary | awk -v n=$((2 * n)) -v real="$(wc -l <real)" '
    { word[words++] = $0 }
    END { for (i = 0; i < n; i++) {
        a = word[i % words]; b = word[int(i / words) * 7919 % words]
        print a "." b i "@" word[i * 31 % words] i % 97 ".example" \
            > (i < n / 2 - real ? "made" : "strangers") } }'
cat real made >listed
check 'as many as there are to be' test "$(wc -l <listed)" -eq "$n"
check 'no stranger is listed' test -z "$(sort listed strangers | uniq -d)"
figure 'addresses' "$n in $(wc -c <listed) bytes, $(wc -l <real) of them real"

# Eight bits per address and six probes, then 16 and 12.
for k in 6 12; do
    m=$((n / 6 * k * 8 + n % 6 * k * 8 / 6))
    "$BLOOMERY" build -k standard:m=$m,k=$k -n "$n" -i -o known$k.bly listed
    tr 'a-z' 'A-Z' <listed >LISTED
    check "k=$k: every listed sender is known" test \
        "$("$BLOOMERY" query -c -i known$k.bly LISTED)" -eq "$n"
    in_band "strangers that pass, $((m / n)) bits" \
        "$("$BLOOMERY" query -c -i known$k.bly strangers)" \
        "$(wc -l <strangers)" "$(field known$k.bly rate)"
done
check 'a byte for each, and a header' test "$(wc -c <known6.bly)" -le $((n + 200))
awk 'BEGIN { for (k = 6; k <= 12; k += 6)
    printf "%.5g ", (1 - exp(-k / (8 * k / 6))) ^ k }' >formula
check 'known: .021577 and 4.66e-4' test "$(awk '{ printf "%.3g %.3g", $1, $2 }' \
    formula)" = '0.0216 0.000466' -a "$(cut -d ' ' -f 1 formula)" = 0.021577
for k in 6 12; do
    "$BLOOMERY" plan -k standard:m=$((8000000000 * k / 6)),k=$k -n 1e9 --json |
        awk -F '[:, ]+' '$2 == "\"rate\"" { r = $3 }
            $2 == "\"bytes\"" { b = $3 } END { printf "%.3g %.3g ", b, r }'
done >plans
check '10^9 addresses: 1 GB and 2.16 %, 2 GB and .0466 %' test "$(cat plans)" = \
    '1e+09 0.0216 2e+09 0.000466 '
"$BLOOMERY" build -k fuse -p 0.004 -i -o fuse.bly listed
figure 'kind fuse' "$(wc -c <fuse.bly) bytes, rate $(field fuse.bly rate)"
in_band 'strangers that pass, kind fuse' \
    "$("$BLOOMERY" query -c -i fuse.bly strangers)" "$(wc -l <strangers)" \
    "$(field fuse.bly rate)"

# A stranger has three unique names, each looked up.
awk -F @ 'BEGIN { OFS = "\n" } { $2 = NR "." $2; print $1 "@" $2, $2, $1 "@" }' \
    strangers >names
in_band 'strangers that pass by one of three names' "$(
    "$BLOOMERY" query --mark -i known6.bly names | awk '{ some += $1 }
        NR % 3 == 0 { passed += some > 0; some = 0 } END { print passed + 0 }')" \
    "$(wc -l <strangers)" "$(awk -v f="$(field known6.bly rate)" \
        'BEGIN { print 1 - (1 - f) ^ 3 }')"

# Postfix's protocol: by a client of ours, and by its own if installed.
cp known6.bly known.bly
{ cat real && head -n 20000 strangers; } >asked
"$BLOOMERY" query -i known.bly asked >wanted
if ! command -v python3 >/dev/null; then
    skip 'the protocol of Postfix' 'no python3'
    finish
fi
# A socket's path must be short: this one is in the folder itself.
"$BLOOMERY" serve --protocol socketmap --value OK -i --socket maps known.bly \
    2>served &
server=$!
tries=0
until [ -S maps ] || [ $tries -ge 100 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
python3 "$USE/ask.py" maps known asked >told
check 'by the socket: the same answers' cmp told wanted
check 'every real sender is among them' test "$(sort real told | uniq -d |
    wc -l)" -ge "$(wc -l <real)"

# Adds more while it serves.
head -n 1000 strangers >new
"$BLOOMERY" add -i known.bly new
kill -HUP "$server"
tries=0
until python3 "$USE/ask.py" maps known new >told && cmp -s told new ||
    [ $tries -ge 100 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
check 'clients see added addresses' cmp told new
refused 'a list of another name' 'PERM|TEMP' sh -c \
    'python3 "$1/ask.py" maps unknown new || exit 2' - "$USE"

if command -v postmap >/dev/null; then
    mkdir mail
    {
        echo 'mail_owner = daemon'
        echo 'default_privs = nobody'
        echo 'setgid_group = mail'
        echo "queue_directory = $PWD/mail"
        echo "data_directory = $PWD/mail"
    } >mail/main.cf
    "$BLOOMERY" query -i known.bly asked >wanted
    postmap -c mail -q - "socketmap:unix:$PWD/maps:known" <asked >told \
        2>postmap.log
    cut -f 1 told >found
    check "Postfix's own client: the same answers" cmp found wanted
else
    skip "Postfix's own client" 'no postmap (Debian: postfix)'
fi
kill "$server"
ended=0
wait "$server" || ended=$?
server=
check 'the server ends in good order' test $ended -eq 0

refused 'no list' 'none: No such file|none.*No such file' \
    "$BLOOMERY" build -i -o none.bly none
refused 'a list that is no filter' 'listed' "$BLOOMERY" serve listed
finish
