# check.sh - intrusion: finds the same as a search for each signature, and
# compares no more than that, except at the rate.
. "${1:?}/lib.sh"
[ -x "$PROGRAM" ] || { skip intrusion 'no libpcap (libpcap-dev)'; finish; }
command -v python3 >found.python || { skip intrusion 'no python3'; finish; }

# Rules, texts, bytes, and a text longer than the part in the filter, in TCP and
# UDP packets.
cat >few <<'END'
# alert tcp any any -> any any (content:"switched off"; sid:1;)
alert tcp any any -> any 80 (content:"GET"; content:!"PUT"; content: "/e|2e 2E|/\"p"; nocase; sid:2;)
alert tcp any any -> any any (msg:"without a text"; sid:3;)

swordfish
|00 ff|s|0a|
a text that is longer than twenty-four bytes
fills
END
printf 'GET /e../"p swordfish' >part.1
printf 'switched off PUT \0\377s\n' >part.2
printf 'a text that is longer than twenty-four bytes, or a text that is \
longer than twenty-four bits' >part.3
printf 'sword' >part.4
printf 'fish' >part.5
python3 "$USE/naive.py" make few.pcap part.?
"$PROGRAM" few few.pcap >found 2>said
printf '1\t0\tGET\n1\t4\t/e|2e 2E|/\\"p\n1\t12\tswordfish\n' >wanted
printf '2\t%d\t|00 ff|s|0a|\n' $(($(wc -c <part.1) + 17)) >>wanted
printf '3\t0\ta text that is longer than twenty-four bytes\n' >>wanted
printf '5\t%d\tswordfish\n' "$(cat part.1 part.2 | wc -c)" >>wanted
check 'texts, bytes, rules, a long one, and one over two packets' \
    cmp found wanted

# Only contents of rules with nocase ignore case; every unsupported restriction
# of a rule is listed once.
cat >cases <<'END'
alert tcp any any -> any any (content:"Sword"; nocase; content:"FISH"; sid:1;)
alert tcp any any -> any any (content:"oRDF",depth 9,nocase; sid:2;)
alert tcp any any -> any any (content:"SWORDFISH"; depth:12; offset:3; sid:3;)
alert tcp any any -> any any (msg:"a; depth:3"; pcre:"/a;b\"/i"; sid:4; rev:1;)
alert http any any -> any any (content:"fish"; depth:9; content:!"GE"; nocase;)
END
"$PROGRAM" cases few.pcap 2>said | cut -f 3 >found
printf '%s\n' Sword oRDF fish Sword oRDF fish >wanted
check 'nocase holds for its own content' cmp found wanted
echo 'intrusion: cases: options that are not supported, and how often: depth 3,' \
    'offset 1, pcre 1, rules without a text 1, content:! 1: texts are found as' \
    'if these were not there' >wanted
grep supported said | cmp - wanted >cmp.out 2>&1 || true
check 'options that are not supported are listed once' test ! -s cmp.out
refused 'options that are not supported, with --strict' \
    'cases: .*depth 3.*refused by --strict' "$PROGRAM" --strict cases few.pcap
check 'and nothing is searched' test ! -s refused.out
sed -n 1p cases >known
check 'supported options, with --strict' "$PROGRAM" --strict known few.pcap

# Anything but IP is all payload, whatever it begins with; IP may follow VLAN
# tags; and packets may be cut anywhere.
cat >frames.py <<'END'
import struct, sys
def write(name, link, frames):
    with open(name, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, link))
        for frame in frames:
            out.write(struct.pack("<IIII", 0, 0, len(frame), 99999) + frame)
text, to = b"a swordfish", b"\0" * 12
udp = struct.pack(">HHHH", 53, 53, 8 + len(text), 0) + text
ip = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, 1, 1) + udp
frames = [to + b"\x88\xb5" + b"E" + text, to + b"\0\40" + b"`\0\0\0\0\1" + text,
          to + b"\x81\0\x40\1\x08\0" + ip,
          to + b"\x88\xa8\x40\1\x81\0\x60\2\x08\0" + ip]
write("frames.pcap", 1, frames)
write("radio.pcap", 105, [b"H\0\0\1" + text, b"@\0\0\1" + text])
write("sll.pcap", 113, [b"\0" * 14 + b"\x08\0" + ip, b"\0" * 14 + b"\0\1E" + text])
write("sll2.pcap", 276, [b"\x08\0" + b"\0" * 18 + ip, b"\0\1" + b"\0" * 18 + b"E" + text])
write("raw.pcap", 101, [ip])
write("null.pcap", 0, [b"\2\0\0\0" + ip])
for link in 0, 1, 101, 105, 113, 276:
    write("parts.%d" % link, link, [f[:n] for f in frames + [ip, ip[:20] + b"\xff" * 30]
                                     for n in range(len(f))])
END
python3 frames.py
for name in frames radio sll sll2 raw null; do
    "$PROGRAM" few $name.pcap 2>said | tr '\t\n' ' ,'
    echo $name
done >found
cat >wanted <<'END'
1 3 swordfish,2 8 swordfish,3 2 swordfish,4 2 swordfish,frames
1 6 swordfish,2 6 swordfish,radio
1 2 swordfish,2 3 swordfish,sll
1 2 swordfish,2 3 swordfish,sll2
1 2 swordfish,raw
1 2 swordfish,null
END
check 'frames of all links, and what is no IP' cmp found wanted
for part in parts.*; do
    check "any part of a packet: $part" "$PROGRAM" few "$part"
done

# ---- Documents, and texts from them ------------------------------------------

# told NAME: a number from the program's last output.
told() {
    sed -n "s/.* \([0-9]*\) $1.*/\1/p" said
}

# compared NAME SIGNATURES PCAP BITS: exact, and needless at a rate of 2^-BITS.
# A frequent window errs as often, or never: hence squares in the band, and the
# most frequent one may do either.
compared() {
    rate=$(awk -v bits="$4" 'BEGIN { printf "%.10g", 2 ^ -bits }')
    "$PROGRAM" "$2" "$3" "$rate" 2>said | sort >found
    check "$1: exact" cmp found wanted
    check "$1: as many windows as there are" test "$(told windows)" -eq \
        "$(awk '{ print $1 + $3 }' asked)"
    check "$1: what holds a signature is compared" test \
        $(($(told compared) - $(told 'in vain'))) -eq \
        "$(cut -d ' ' -f 3 asked)"
    figure "$1: compared in vain" "$(told 'in vain') of $(cut -d ' ' -f 1 \
asked) windows, predicted $(awk -v p="$rate" '{ printf "%.0f", $1 * p }' asked)"
    check "$1: in vain as predicted, within 4 sigma" awk -v p="$rate" \
        -v vain="$(told 'in vain')" '{
            d = vain - $1 * p
            d = (d < 0 ? -d : d) - $4
            exit d > 0 && d * d > 16 * p * (1 - p) * $2 + 1 }' asked
}

for name in GPL-3 Apache-2.0 Artistic MPL-2.0; do
    name=$MACHINE/usr/share/common-licenses/$name
    [ ! -r "$name" ] || head -c "$(work 4000 60000)" "$name" >>document
done
# Runs of zeros are removed: they are a single window that occurs some thousand
# times.
head -c "$(work 20000 200000)" "$BLOOMERY" | tr -d '\000' >>document
python3 "$USE/naive.py" draw "$(work 200 1000)" 4 document >drawn
python3 "$USE/naive.py" make document.pcap document
python3 "$USE/naive.py" drawn document.pcap | sort >wanted
check 'there is something to find' test "$(wc -l <wanted)" -gt 100
figure 'documents' "$(wc -l <drawn) signatures, $(wc -c <document) bytes, \
$(wc -l <wanted) found"
for bits in 3 6 10; do
    compared "2^-$bits" drawn document.pcap $bits
done

# Segments out of order, repeated and overlapping are one text again.
for seed in $(seq "$(work 3 20)"); do
    head -c "$(work 20000 100000)" document >stream
    python3 "$USE/naive.py" mix mixed.pcap "$seed" stream
    "$PROGRAM" drawn mixed.pcap 2>said | cut -f 2- | sort >found
    python3 "$USE/naive.py" places drawn stream | sort >wanted
    check "a stream in disorder, $seed: each text, once, at its place" \
        cmp found wanted
    check "a stream in disorder, $seed: without a gap" sh -c '! grep gaps said'
done
python3 - <<'END'
data = open("mixed.pcap", "rb").read()
at, n = 24, 0
with open("gap.pcap", "wb") as out:        # without its tenth packet and later copies
    out.write(data[:24])
    while at < len(data):
        size = 16 + int.from_bytes(data[at + 8:at + 12], "little")
        if n < 10 or n > 20:
            out.write(data[at:at + size])
        at, n = at + size, n + 1
END
"$PROGRAM" drawn gap.pcap >found 2>said
check 'a gap is told' grep -q 'gaps in TCP streams' said
check 'and what is behind it is searched' test "$(wc -l <found)" -gt 10

# Published figures for 25 lengths: false alarms per byte.
check '25 lengths at 0.001: 0.025 a byte; at 2^-10 0.0244, at 2^-15 7.6e-4' \
    awk 'BEGIN { exit sprintf("%.3f %.4f %.1e", 25 * .001, 25 / 2 ^ 10,
                              25 / 2 ^ 15) != "0.025 0.0244 7.6e-04" }'

# ---- Network traffic of programs ---------------------------------------------

# waits NUMBER COMMAND...: retries for that many tenths of a second.
waits() {
    tries=$1
    shift
    until "$@" >waits.out 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.1
    done
}

# A server and a client on loopback, and their traffic.
capture() {
    mkdir served
    cp document served/document
    python3 -u -m http.server --bind 127.0.0.1 --directory served 0 \
        >server.out 2>server.err &
    server=$! dump=
    trap 'kill $server $dump 2>kill.err || true' EXIT
    waits 100 grep -q ' port [0-9]' server.out || return 1
    port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' server.out)
    tcpdump -i lo -s 0 -U -w lo.pcap "tcp and port $port" 2>dump.err &
    dump=$!
    waits 50 grep -q 'listening on' dump.err || return 1
    for name in document missing document; do
        curl -s -o got "http://127.0.0.1:$port/$name" || return 1
    done
    sleep 1                                 # the last packets are written
    kill $dump $server
    wait $dump $server || true
    trap - EXIT
    test -s lo.pcap
}

if [ "$EFFORT" = full ]; then
    if command -v tcpdump >found.tcpdump && command -v curl >found.curl &&
        capture; then
        { head -n 300 drawn; echo 'GET /missing HTTP/1.1'; } >some
        python3 "$USE/naive.py" some lo.pcap | sort >wanted
        check 'loopback: the request is there' grep -q 'GET /missing' wanted
        compared 'loopback' some lo.pcap 10
    else
        skip loopback 'no tcpdump, no curl, or it may not capture'
    fi

    # Times for a few texts and for many, beside other programs.
    find "$MACHINE/usr/share/doc" "$MACHINE/usr/share/common-licenses" -type f -exec cat {} + \
        2>find.err | head -c 15000000 >large
    python3 "$USE/naive.py" make large.pcap large
    awk 'BEGIN { for (srand(8); i < 100000; i++)
        printf "%08x%08x%08x%08x\n", rand() * 2 ^ 32, rand() * 2 ^ 32,
            rand() * 2 ^ 32, rand() * 2 ^ 32 }' >many
    head -n 100 many >some
    for list in some many; do
        figure "$(wc -l <$list) texts of 32 bytes in $(wc -c <large) bytes" \
            "intrusion $(seconds "$PROGRAM" $list large.pcap) s, grep -F of \
the payload $(seconds grep -Foaf $list large) s"
    done
    if command -v ngrep >found.ngrep; then
        figure 'one text, by ngrep' "$(seconds ngrep -q -I large.pcap \
swordfish) s"
    fi
fi

# ---- Errors ------------------------------------------------------------------

refused 'no signatures' 'none: No such file' "$PROGRAM" none few.pcap
sed 's/content:!"PUT"; //; /sid:3/d' few >plain
refused 'no capture' 'none: No such file' "$PROGRAM" plain none
refused 'a text for a capture' 'capture: .*unknown file format' \
    "$PROGRAM" plain few
echo '# none' >bad
refused 'a list of nothing' 'there is no signature' "$PROGRAM" bad few.pcap
for bad in '|0|' '|0g|' '|00' 'content:"|00"' 'content:"open' 'content:""'; do
    printf 'swordfish\n%s\n' "$bad" >bad
    refused "$bad" 'bad: line 2' "$PROGRAM" bad few.pcap
done
printf 'sword\000fish\n' >bad
refused 'a NUL byte' 'bad: line 1' "$PROGRAM" bad few.pcap
echo 'alert tcp any any -> any any (msg:"continued"; \' >bad
refused 'a rule of two lines' 'bad: line 1: a rule is one line' \
    "$PROGRAM" bad few.pcap
refused 'no rate' 'rate' "$PROGRAM" plain few.pcap 2
refused 'a rate that is no number' 'usage: intrusion' \
    "$PROGRAM" plain few.pcap none
head -c $(($(wc -c <few.pcap) - 3)) few.pcap >cut.pcap
refused 'a capture that is cut' 'cut.pcap: .*truncated' \
    "$PROGRAM" plain cut.pcap
check 'and what is before the cut is searched' \
    test "$(wc -l <refused.out)" -eq 5
finish
