# json.sh - the output of --json is JSON and has the fields in the manual.
# shellcheck source=lib.sh
. "$1/lib.sh"

if ! command -v python3 >/dev/null 2>&1; then
    skip 'JSON' 'no python3'
    finish
fi

# json_is NAME STATUS EXPRESSION: stdout is one strict JSON value `v`, and the
# Python expression holds.
cat >judge.py <<'END'
import json, math, sys
def refuse(name):
    raise ValueError(name)
v = json.loads(open("out", "rb").read().decode("utf-8"), parse_constant=refuse)
def number(x): return isinstance(x, (int, float)) and not isinstance(x, bool)
if not eval("(" + sys.argv[1] + ")"):
    sys.exit("not true: " + sys.argv[1] + " of " + json.dumps(v))
END
json_is() {
    if [ "$(cat status)" != "$2" ]; then
        fail "$1" "expected status $2; $(details)"
    elif python3 judge.py "$3" 2>why; then
        pass "$1"
    else
        fail "$1" "$(tail -n 1 why | head -c 600)"
    fi
}

awk 'BEGIN { for (i = 0; i < 1000; i++) print i }' >keys
awk 'BEGIN { for (i = 500; i < 1500; i++) print i }' >others
try build --json -n 2000 -p 1% -o a.bly keys
json_is 'build' 0 'v["kind"] == "standard" and v["items"] == 1000 and
    v["capacity"] == 2000 and v["output"] == "a.bly" and
    v["probes"] >= 1 and 0 < v["rate"] < 0.01 and
    0.005 < v["planned_rate"] <= 0.01 and v["input_bytes"] == 3890 and
    abs(v["bits_per_key"] - 8 * v["bytes"] / 2000) < 1e-9 and
    v["seconds"] >= 0 and number(v["keys_per_second"])'
check 'build: bytes is the size of the file' python3 -c '
import json, os, sys
sys.exit(json.load(open("out"))["bytes"] != os.path.getsize("a.bly"))'
try build --json -n 2000 -o b.bly others
json_is 'build the second' 0 'v["items"] == 1000'
try add --json b.bly keys
json_is 'add' 0 'v["items"] == 2000 and v["output"] == "b.bly" and
    v["keys"] == 1000'
{ printf 'a\tb\n'; cat keys; } >one-has
try build --json -f 2 -n 10 -o c.bly one-has
json_is 'build: lines without a key' 0 'v["keyless"] == 1000 and v["items"] == 1'

try query --json a.bly keys
json_is 'query' 0 'v["file"] == "a.bly" and v["keys"] == 1000 and
    v["present"] == 1000 and v["share"] == 1 and v["share_high"] == 1 and
    0.99 < v["share_low"] < 1 and 0.005 < v["planned_rate"] <= 0.01 and
    v["seconds"] >= 0 and number(v["keys_per_second"])'
try query --json a.bly others
json_is 'query: the interval is around the share' 0 '500 <= v["present"] < 520
    and v["share"] == v["present"] / 1000
    and v["share_low"] < v["share"] < v["share_high"]'
try query --json a.bly /dev/null
json_is 'query of nothing: null' 1 'v["keys"] == 0 and v["share"] is None
    and v["share_low"] is None and v["share_high"] is None'

try info --json a.bly
json_is 'info' 0 'v["kind"] == "standard" and v["items"] == 1000 and
    v["items_exact"] is True and v["capacity"] == 2000 and v["seed"] == 0 and
    v["hash"] == "xxh3" and 0 < v["fill"] < 0.5 and v["bytes"] > 128 and
    0 < v["rate"] < v["planned_rate"] <= 0.01 and v["probes"] >= 1 and
    number(v["bits_per_key"]) and 900 < v["distinct"] < 1100 and
    0 < v["distinct_sd"] < 50 and len(v["geometry"]) == 4'
try info --json a.bly b.bly
json_is 'info of two: an array' 0 'isinstance(v, list) and len(v) == 2'
try build -n 1 -s 18446744073709551615 --overfill -o full.bly keys
note 'more keys than planned: a warning' \
    'warning: 1,000 keys .* planned for 1: .* rate is now .*: build it again'
try info --json full.bly
json_is 'infinite is null, the largest seed is exact' 0 '
    v["distinct"] is None and v["seed"] == 18446744073709551615 and
    v["rate"] > 0.9'
try add --overfill full.bly keys
note 'add: the warning too' 'warning: 2,000 keys .*: build a new filter'
cat keys keys keys >repeated
try build -n 1000 -o repeated.bly repeated
silent 'repeated keys are no reason for a warning'

try check --json a.bly
json_is 'check' 0 'v == {"file": "a.bly", "ok": True, "status": "BLY_OK",
    "why": None}'
try check --json a.bly keys
json_is 'check of a bad one: an array' 2 'v[0]["ok"] is True and
    v[1]["ok"] is False and v[1]["file"] == "keys" and
    v[1]["status"].startswith("BLY_E") and len(v[1]["why"]) > 10'

try plan --json -k standard -n 1e6 -p 0.1%
json_is 'plan' 0 'v["kind"] == "standard" and v["capacity"] == 1000000 and
    0.0005 < v["rate"] <= 0.001 and 14 < v["bits_per_key"] < 20 and
    v["bytes"] > 1700000 and all(number(v[k]) for k in ("rate_sd", "fill",
    "probes", "lines_present", "lines_absent"))'
try plan --json -n 1e6
json_is 'plan of all kinds: an array' 0 '
    {"standard", "blocked"} <= {p["kind"] for p in v} and
    {p["tier"] for p in v} == {"core", "more", "experimental"} and
    all(p["bytes"] > 0 for p in v if "why" not in p)'
try kinds --json
json_is 'kinds' 0 'all(set(k) == {"name", "family", "tier", "summary",
    "abilities", "options", "aliases"} and
    k["tier"] in ("core", "more", "experimental") and
    all(isinstance(a, str) for a in k["abilities"]) and
    all(set(o) == {"name", "range", "default", "help"} for o in k["options"])
    and all(set(a) == {"name", "options"} for a in k["aliases"])
    for k in v) and "standard" in [k["name"] for k in v]'
try kinds --json standard
json_is 'kinds KIND: an object' 0 'v["name"] == "standard" and
    "add" in v["abilities"] and "k" in [o["name"] for o in v["options"]]'
try overlap --json a.bly b.bly
json_is 'overlap' 0 'set(v) == {"a", "b", "either", "both", "differ",
    "jaccard"} and
    all(set(e) == {"value", "sd"} for e in v.values()) and
    900 < v["a"]["value"] < 1100 and 1350 < v["b"]["value"] < 1650'
try overlap --json full.bly full.bly
json_is 'overlap, saturated: null' 0 'v["a"]["value"] is None'

# ---- names ------------------------------------------------------------------
name=$(printf 'q"b\\s\tt\303\244\360\237\230\200')
cp a.bly "$name"
try info --json "$name"
json_is 'quote, backslash, tab, UTF-8 in a name' 0 \
    'v["file"] == "q\"b\\s\tt\u00e4\U0001f600"'
name=$(printf 'x\377y\355\240\200z\300\257')
if cp a.bly "$name" 2>/dev/null; then
    try info --json "$name"
    json_is 'bytes that are no UTF-8 in a name' 0 \
        'v["file"] == "x\ufffdy\ufffd\ufffd\ufffdz\ufffd\ufffd"'
else
    skip 'bytes that are no UTF-8 in a name' 'the file system refuses them'
fi

finish
