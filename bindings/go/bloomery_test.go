package bloomery

import (
	"bytes"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// must returns a value, and ends the test if there was an error.
func must[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func newFilter(t testing.TB, kind string, opts ...Option) *Filter {
	t.Helper()
	f := must(New(kind, append([]Option{WithItems(1000)}, opts...)...))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

func wants(t *testing.T, err error, status Status) {
	t.Helper()
	var e *Error
	if !errors.Is(err, status) || !errors.As(err, &e) || e.Reason == "" {
		t.Errorf("the error is '%v' and not '%v'", err, status)
	}
}

func texts(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("key number %d", i)
	}
	return keys
}

// ---- One key -----------------------------------------------------------------------

func TestAddReportsWhetherAKeyIsNew(t *testing.T) {
	f := newFilter(t, "blocked")
	for i, want := range []bool{true, false, false} {
		if got := must(f.Add("swordfish"))(t); got != want {
			t.Errorf("add %d: %v", i, got)
		}
	}
	if !must(f.Contains("swordfish"))(t) || must(f.Contains("sardine"))(t) {
		t.Error("wrong answers")
	}
}

func TestEqualNumbersAreOneKey(t *testing.T) {
	f := newFilter(t, "standard", WithRate(1e-9))
	for _, key := range []any{7, -1, 1.5, math.NaN(), int64(math.MinInt64)} {
		must(f.Add(key))(t)
	}
	for _, key := range []any{int64(7), int32(7), int16(7), int8(7), uint(7),
		uint64(7), uint32(7), uint16(7), uint8(7), 7.0, float32(7), -1.0, float32(1.5),
		-math.NaN(), -0x1p63} {
		if !must(f.Contains(key))(t) {
			t.Errorf("%T %v is not found", key, key)
		}
	}
	for _, key := range []any{8, 7.5, uint8(255), math.Inf(1)} {
		if must(f.Contains(key))(t) {
			t.Errorf("%T %v is found", key, key)
		}
	}
}

func TestKeysOfAnotherClassAreErrors(t *testing.T) {
	keys := map[string]any{"text": "7", "bytes": []byte("7"), "number": 7}
	for form, first := range keys {
		f := newFilter(t, "counting")
		must(f.Add(first))(t)
		if got := must(f.Info())(t).Keys; got != form {
			t.Errorf("the form is %s and not %s", got, form)
		}
		for other, key := range keys {
			if other == form {
				continue
			}
			_, err := f.Contains(key)
			wants(t, err, ErrForm)
			_, err = f.Add(key)
			wants(t, err, ErrForm)
			_, err = f.Count(key)
			wants(t, err, ErrForm)
			wants(t, f.Remove(key), ErrForm)
			_, err = f.ContainsMany([]float64{1.5})
			if form == "number" {
				err = ErrForm
			}
			if !errors.Is(err, ErrForm) {
				t.Error(err)
			}
		}
	}
}

type id string

func TestOtherValuesAreNotKeys(t *testing.T) {
	f := newFilter(t, "standard")
	for _, key := range []any{nil, id("x"), true, 1i, [4]byte{}, struct{}{}, f,
		[]string{"x"}, uintptr(1)} {
		_, err := f.Contains(key)
		wants(t, err, ErrParameter)
	}
	for _, keys := range []any{nil, "x", []byte("x"), []bool{true}, []id{"x"}, 7,
		[]any{1}, map[string]int{}} {
		_, err := f.ContainsMany(keys)
		wants(t, err, ErrParameter)
		_, err = f.AddMany(keys)
		wants(t, err, ErrParameter)
		_, err = Build("fuse", keys)
		wants(t, err, ErrParameter)
	}
}

func TestIntegersBeyondTheRangeAreErrors(t *testing.T) {
	f := newFilter(t, "standard")
	_, err := f.Add(uint64(math.MaxUint64))
	wants(t, err, ErrParameter)
	done, err := f.AddMany([]uint64{1, 2, math.MaxUint64, 3})
	wants(t, err, ErrParameter)
	if done != 2 || !must(f.Contains(2))(t) || must(f.Contains(3))(t) {
		t.Errorf("%d keys were added", done)
	}
	g := newFilter(t, "standard", WithKeys("int64"))
	must(g.AddMany([]uint64{math.MaxUint64}))(t)
	if !must(g.Contains(uint64(math.MaxUint64)))(t) || !must(g.Contains(-1))(t) {
		t.Error("not the bytes of int64")
	}
	h := newFilter(t, "standard", WithKeys("int32"))
	_, err = h.AddMany([]int{1, 1 << 40})
	wants(t, err, ErrParameter)
}

func TestFormsChangeKeys(t *testing.T) {
	f := newFilter(t, "standard", WithKeys("text:case=lower,trim"), WithRate(1e-9))
	must(f.AddMany([]string{"Red", strings.Repeat(" Green ", 1000)}))(t)
	if !must(f.Contains(" RED"))(t) || must(f.Contains("blue"))(t) ||
		!must(f.ContainsMany([]string{strings.Repeat(" GREEN ", 1000)}))(t)[0] {
		t.Error("wrong answers")
	}
	d := must(Build("standard", []string{"example.com"}, WithKeys("domain"),
		WithRate(1e-9)))(t)
	got := must(d.ContainsMany([]string{"a.Example.com", "badexample.com"}))(t)
	if !reflect.DeepEqual(got, []bool{true, false}) {
		t.Error(got)
	}
	must(d.Add("example.org"))(t)
	if !must(d.Contains("x.example.org"))(t) {
		t.Error("a new domain is not found")
	}
	all := newFilter(t, "standard", WithKeys("any"))
	for _, key := range []any{"7", []byte("8"), 9, 9.5} {
		must(all.Add(key))(t)
		if !must(all.Contains(key))(t) {
			t.Errorf("%v is not found", key)
		}
	}
}

func TestCountsAndRemoves(t *testing.T) {
	f := newFilter(t, "counting", WithRate(1e-6))
	must(f.AddMany([]string{"a", "a", "b"}))(t)
	if must(f.Count("a"))(t) != 2 || must(f.Count("c"))(t) != 0 {
		t.Error("wrong counts")
	}
	if got := must(f.CountMany([]string{"a", "b", "c"}))(t); !reflect.DeepEqual(got,
		[]uint64{2, 1, 0}) {
		t.Error(got)
	}
	if err := f.Remove("b"); err != nil {
		t.Error(err)
	}
	wants(t, f.Remove("b"), ErrAbsent)
	wants(t, f.RemoveMany([]string{"x", "a", "a"}), ErrAbsent)
	if must(f.Contains("a"))(t) {
		t.Error("RemoveMany ended at its error")
	}
	if must(newFilter(t, "standard").Count("a"))(t) != 0 {
		t.Error("a count of an absent key")
	}
	s := newFilter(t, "standard")
	must(s.Add("a"))(t)
	if must(s.Count("a"))(t) != CountUnknown {
		t.Error("a kind that does not count")
	}
}

func TestLabels(t *testing.T) {
	keys, labels := texts(500), make([]uint64, 500)
	for i := range labels {
		labels[i] = uint64(i % 16)
	}
	f := must(Build("bloomier:bits=4", keys, WithLabels(labels)))(t)
	got, found, err := f.GetMany(keys)
	if err != nil || !reflect.DeepEqual(got, labels) {
		t.Fatal(err, got)
	}
	for i := range found {
		if !found[i] {
			t.Fatal("not found", i)
		}
	}
	if err := f.Put(keys[3], 9); err != nil {
		t.Fatal(err)
	}
	label, ok, err := f.Get(keys[3])
	if label != 9 || !ok || err != nil {
		t.Error(label, ok, err)
	}
	must(f.PutMany(keys[:2], []uint64{5, 6}))(t)
	_, err = f.PutMany(keys, labels[1:])
	wants(t, err, ErrParameter)
	_, err = Build("bloomier", keys, WithLabels(labels[1:]))
	wants(t, err, ErrParameter)
	_, err = Build("bloomier", keys, WithLabels(nil))
	wants(t, err, ErrParameter)
	_, ok, err = newFilter(t, "standard").Get("x")
	if ok || err != nil {
		t.Error(ok, err)
	}
}

// Keys of more bytes than one run of another call takes are built in one.
func TestBuildOfLongKeys(t *testing.T) {
	for _, n := range []int{1, 700, runKeys - 1, runKeys, runKeys + 1, 3 * runKeys} {
		keys, labels := texts(n), make([]uint64, n)
		for i := range keys {
			keys[i] += strings.Repeat("long", 25)
			labels[i] = uint64(i) % 200
		}
		for _, kind := range []string{"standard", "fuse", "ribbon", "bloomier"} {
			var opts []Option
			if kind == "bloomier" {
				opts = append(opts, WithLabels(labels))
			}
			f := must(Build(kind, keys, opts...))(t)
			if left := kept(t, f, keys); left != n {
				t.Errorf("%s: %d of %d keys are found", kind, left, n)
			}
			if items := must(f.Info())(t).Items; items != uint64(n) {
				t.Errorf("%s: %d keys of %d", kind, items, n)
			}
			for i := 0; i < n && kind == "bloomier"; i++ {
				label, found, err := f.Get(keys[i])
				if !found || label != labels[i] || err != nil {
					t.Fatal(label, labels[i], found, err)
				}
			}
			f.Close()
		}
	}
}

// A key is named by its place in the whole batch.
func TestKeysOfBatchesAreNumbered(t *testing.T) {
	const n, at = 5000, 4321
	names := func(err error) bool {
		return err != nil && strings.Contains(err.Error(), "key 4321 of the batch")
	}
	for _, form := range []string{"text", "text:trim"} {
		f := must(New("counting", WithItems(n), WithRate(1e-9), WithKeys(form)))(t)
		keys := texts(n)
		must(f.AddMany(keys))(t)
		keys[at] = "absent"
		if err := f.RemoveMany(keys); !names(err) {
			t.Error(form, err)
		}
		f.Close()
		g := must(New("attenuated", WithItems(n), WithKeys(form)))(t)
		labels := make([]uint64, n)
		for i := range labels {
			labels[i] = 1
		}
		labels[at] = 1 << 40
		if done, err := g.PutMany(keys, labels); done != at || !names(err) {
			t.Error(form, done, err)
		}
		g.Close()
	}
}

func TestNoKeyIsAllocated(t *testing.T) {
	f := newFilter(t, "blocked", WithKeys("any"))
	key := []byte("some bytes that are longer than thirty-two bytes")
	text := string(key)
	n := 1000
	if got := testing.AllocsPerRun(100, func() {
		f.Contains(text)
		f.Contains(key)
		f.Add(n)
		f.Contains(1.5)
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// ---- Many keys ---------------------------------------------------------------------

// batches are the same two hundred numbers, as each type of batch.
func batches(n int) []any {
	ints := make([]int, n)
	i64, i32, i16 := make([]int64, n), make([]int32, n), make([]int16, n)
	u, u64, u32 := make([]uint, n), make([]uint64, n), make([]uint32, n)
	u16, f64, f32 := make([]uint16, n), make([]float64, n), make([]float32, n)
	for i := range ints {
		ints[i], i64[i], i32[i], i16[i] = i, int64(i), int32(i), int16(i)
		u[i], u64[i], u32[i], u16[i] = uint(i), uint64(i), uint32(i), uint16(i)
		f64[i], f32[i] = float64(i), float32(i)
	}
	return []any{ints, i64, i32, i16, u, u64, u32, u16, f64, f32}
}

func TestBatchesOfAllTypesAgree(t *testing.T) {
	const n = 5000
	for _, form := range []string{"", "int32", "int64", "float", "double", "any"} {
		opts := []Option{WithItems(n), WithRate(1e-6)}
		if form != "" {
			opts = append(opts, WithKeys(form))
		}
		var first []byte
		for _, keys := range batches(n) {
			f := must(New("blocked", opts...))(t)
			if done, err := f.AddMany(keys); done != n || err != nil {
				t.Fatalf("%s %T: %d, %v", form, keys, done, err)
			}
			packed := must(f.Pack())(t)
			if first == nil {
				first = packed
			} else if !bytes.Equal(first, packed) {
				t.Errorf("%s %T: other bytes", form, keys)
			}
			for i, yes := range must(f.ContainsMany(keys))(t) {
				if !yes || !must(f.Contains(reflect.ValueOf(keys).Index(i).Interface()))(t) {
					t.Fatalf("%s %T: %d is not found", form, keys, i)
				}
			}
			b := must(Build("blocked", keys, opts...))(t)
			if !bytes.Equal(first, must(b.Pack())(t)) {
				t.Errorf("%s %T: Build makes other bytes", form, keys)
			}
		}
	}
}

func TestBatchesOfTexts(t *testing.T) {
	keys := texts(5000)
	keys = append(keys, "", strings.Repeat("long", 50000), "after")
	raw := make([][]byte, len(keys))
	packed := Packed{Offsets: []uint64{0}, Text: true}
	for i, key := range keys {
		raw[i] = []byte(key)
		packed.Data = append(packed.Data, key...)
		packed.Offsets = append(packed.Offsets, uint64(len(packed.Data)))
	}
	one := must(Build("fuse", keys, WithRate(1e-6)))(t)
	two := must(Build("fuse", packed, WithRate(1e-6)))(t)
	if !bytes.Equal(must(one.Pack())(t), must(two.Pack())(t)) {
		t.Error("Packed text makes other bytes than strings")
	}
	_, err := one.ContainsMany(raw)
	wants(t, err, ErrForm)
	three := must(Build("fuse", raw, WithRate(1e-6)))(t)
	packed.Text = false
	for _, answers := range [][]bool{must(one.ContainsMany(keys))(t),
		must(three.ContainsMany(raw))(t), must(three.ContainsMany(packed))(t)} {
		if len(answers) != len(keys) {
			t.Fatal(len(answers))
		}
		for i, yes := range answers {
			if !yes {
				t.Fatalf("%d is not found", i)
			}
		}
	}
	for _, bad := range [][]uint64{{0, 2, 1}, {0, 1 << 40}, {5, 4}, {math.MaxUint64}} {
		_, err := three.ContainsMany(Packed{Data: []byte("abc"), Offsets: bad})
		wants(t, err, ErrParameter)
	}
}

func TestEmptyBatches(t *testing.T) {
	f := newFilter(t, "standard")
	for _, keys := range append(batches(0), []string{}, [][]byte{}, Packed{},
		Packed{Offsets: []uint64{0}}, []string(nil)) {
		if got := must(f.ContainsMany(keys))(t); len(got) != 0 {
			t.Errorf("%T: %v", keys, got)
		}
		if n := must(f.AddMany(keys))(t); n != 0 {
			t.Errorf("%T: %d", keys, n)
		}
		must(Build("standard", keys, WithItems(10)))(t).Close()
	}
	if !must(f.Add("still of no class"))(t) {
		t.Error("the form was set by no key")
	}
}

func TestBatchesStopAtAnError(t *testing.T) {
	f := must(New("quotient", WithItems(100), WithRate(0.001)))(t)
	done, err := f.AddMany(texts(20000))
	wants(t, err, ErrFull)
	found := must(f.ContainsMany(texts(done)))(t)
	for i, yes := range found {
		if !yes {
			t.Fatalf("key %d of %d is lost", i, done)
		}
	}
	g := newFilter(t, "blocked")
	answers := must(g.AddManyNew([]string{"a", "b", "a"}))(t)
	if !reflect.DeepEqual(answers, []bool{true, true, false}) {
		t.Error(answers)
	}
}

// ---- Files and bytes ---------------------------------------------------------------

func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.bly")
	f := newFilter(t, "blocked")
	must(f.AddMany(texts(100)))(t)
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	for _, opts := range [][]Option{nil, {WithMap()}, {WithMap(), WithVerify()}} {
		g := must(Open(path, opts...))(t)
		if !must(g.Contains("key number 7"))(t) {
			t.Error("a key is lost")
		}
		_, err := g.Add("another")
		if opts != nil {
			wants(t, err, ErrReadOnly)
		}
		g.Close()
	}
	g := must(Open(path, WithWrite()))(t)
	must(g.Add("new"))(t)
	if err := g.Sync(); err != nil {
		t.Error(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if !must(must(Open(path))(t).Contains("new"))(t) {
		t.Error("the change is not in the file")
	}
	_, err := Open(path + ".missing")
	var e *Error
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &e) ||
		e.Path != path+".missing" {
		t.Error(err)
	}
	wants(t, err, ErrIO)
}

func TestBytes(t *testing.T) {
	f := must(Build("compressed", texts(100)))(t)
	var file bytes.Buffer
	n, err := f.WriteTo(&file)
	if err != nil || n != int64(file.Len()) {
		t.Fatal(n, err)
	}
	if !bytes.Equal(file.Bytes(), must(f.Pack())(t)) {
		t.Error("WriteTo and Pack differ")
	}
	var read, sent Filter
	if n, err = read.ReadFrom(bytes.NewReader(file.Bytes())); err != nil ||
		n != int64(file.Len()) || !must(read.Contains("key number 7"))(t) {
		t.Error(n, err)
	}
	var wire bytes.Buffer
	if err := gob.NewEncoder(&wire).Encode(f); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&wire).Decode(&sent); err != nil ||
		!must(sent.Contains("key number 7"))(t) {
		t.Error(err)
	}
	wants(t, read.UnmarshalBinary([]byte("not a filter")), ErrFormat)
	if !must(read.Contains("key number 7"))(t) {
		t.Error("a failure replaced the filter")
	}
	_, err = Unpack(nil)
	wants(t, err, ErrFormat)
	_, err = Unpack(file.Bytes()[:file.Len()-1])
	wants(t, err, ErrCorrupt)
}

func TestForgedBytesAreRefused(t *testing.T) {
	data := must(must(Build("fuse", texts(100)))(t).Pack())(t)
	for i := range data {
		bad := append([]byte(nil), data...)
		bad[i] ^= 0x40
		if g, err := Unpack(bad); err == nil {
			t.Fatalf("byte %d was not checked", i)
			g.Close()
		}
	}
}

func TestSecrets(t *testing.T) {
	secret := [16]byte{1, 2, 3}
	f := newFilter(t, "standard", WithHash("siphash"), WithSecret(secret))
	must(f.Add("x"))(t)
	data := must(f.Pack())(t)
	_, err := Unpack(data)
	wants(t, err, ErrSecret)
	if !must(must(Unpack(data, WithSecret(secret)))(t).Contains("x"))(t) {
		t.Error("not found")
	}
}

func TestGoldenImages(t *testing.T) {
	folder := os.Getenv("BLOOMERY_GOLDEN")
	if folder == "" {
		t.Skip("BLOOMERY_GOLDEN is not set")
	}
	for _, path := range must(filepath.Glob(filepath.Join(folder, "*.hex")))(t) {
		f, err := Unpack(golden(t, path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if must(f.Info())(t).Kind == "egh" {
			continue // its keys are integers
		}
		for i := 0; i < 100; i++ {
			if yes, err := f.Contains(fmt.Sprintf("key-%d", i)); !yes || err != nil {
				t.Fatalf("%s: key-%d is not found: %v", path, i, err)
			}
		}
	}
}

// golden reads an image in hexadecimal digits.
func golden(t testing.TB, path string) []byte {
	var digits strings.Builder
	for _, line := range strings.Split(string(must(os.ReadFile(path))(t)), "\n") {
		if !strings.HasPrefix(line, "#") {
			digits.WriteString(strings.TrimSpace(line))
		}
	}
	return must(hex.DecodeString(digits.String()))(t)
}

func TestBytesAreThoseOfTheCommand(t *testing.T) {
	command := os.Getenv("BLOOMERY_COMMAND")
	if command == "" {
		t.Skip("BLOOMERY_COMMAND is not set")
	}
	build := exec.Command(command, "build", "-k", "blocked", "-n", "1000", "-o-", "-")
	build.Stdin = strings.NewReader(strings.Join(texts(1000), "\n") + "\n")
	theirs := must(build.Output())(t)
	ours := must(Build("blocked", texts(1000), WithItems(1000)))(t)
	if !bytes.Equal(theirs, must(ours.Pack())(t)) {
		t.Error("other bytes")
	}
}

// ---- Whole filters -----------------------------------------------------------------

func TestSets(t *testing.T) {
	a := newFilter(t, "blocked", WithRate(1e-6))
	b := must(a.Like())(t)
	must(a.AddMany([]string{"red", "green"}))(t)
	if err := b.Unite(a); err != nil || must(b.Info())(t).Keys != "text" {
		t.Fatal("an empty filter does not take the form of the other:", err)
	}
	must(b.Add("blue"))(t)
	c := must(b.Copy())(t)
	o := must(a.Overlap(b))(t)
	if math.Abs(o.Both.Value-2) > 0.5 || math.Abs(o.Differ.Value-1) > 0.5 {
		t.Error(o)
	}
	if err := c.Intersect(a); err != nil || !must(c.Contains("red"))(t) {
		t.Error(err)
	}
	n := newFilter(t, "blocked", WithRate(1e-6))
	must(n.Add(7))(t)
	wants(t, a.Unite(n), ErrMismatch)
	wants(t, a.Unite(newFilter(t, "standard")), ErrMismatch)
	if err := b.Clear(); err != nil || must(b.Contains("red"))(t) {
		t.Error(err)
	}
	if err := a.Unite(a); err != nil {
		t.Error(err)
	}
}

func TestEmptyFiltersTakeTheForm(t *testing.T) {
	for _, kind := range Kinds() {
		can := "," + strings.Join(kind.Can, ",") + ","
		if !strings.Contains(can, ",unite,") || !strings.Contains(can, ",add,") ||
			kind.Family == "foreign" {
			continue
		}
		a, b := newFilter(t, kind.Name), newFilter(t, kind.Name)
		c, lists := newFilter(t, kind.Name), newFilter(t, kind.Name, WithKeys("domain"))
		must(a.Add("a"))(t)
		if err := b.Unite(a); err != nil || !must(b.Contains("a"))(t) {
			t.Error(kind.Name, err)
		}
		if err := a.Unite(c); err != nil || !must(a.Contains("a"))(t) {
			t.Error(kind.Name, err)
		}
		_, err := b.Contains(1)
		wants(t, err, ErrForm)
		must(lists.Add("example.com"))(t)
		if err := c.Unite(lists); err != nil || !must(c.Contains("www.example.com"))(t) {
			t.Error(kind.Name, err)
		}
		wants(t, b.Unite(c), ErrMismatch)
	}
	full, none := newFilter(t, "standard"), newFilter(t, "standard")
	must(full.Add("a"))(t)
	if err := none.Intersect(full); err != nil || !must(none.Add(1))(t) {
		t.Error(err)
	}
}

func TestSketches(t *testing.T) {
	ours := newFilter(t, "invertible:key=9")
	theirs := must(ours.Like())(t)
	must(ours.AddMany([]string{"a", "b", "c"}))(t)
	must(theirs.AddMany([]string{"b", "c", "d"}))(t)
	if err := ours.Subtract(theirs); err != nil {
		t.Fatal(err)
	}
	sides := map[string]int{}
	for _, one := range must(ours.ListKeys())(t) {
		sides[string(one.Key)] = one.Side
	}
	if !reflect.DeepEqual(sides, map[string]int{"a": 1, "d": -1}) {
		t.Error(sides)
	}
	_, err := newFilter(t, "standard").ListKeys()
	wants(t, err, ErrUnsupported)
}

func TestSizes(t *testing.T) {
	f := newFilter(t, "expandable")
	must(f.AddMany(texts(1000)))(t)
	if err := f.Resize(5000); err != nil || must(f.Info())(t).Capacity < 5000 {
		t.Error(err)
	}
	g := newFilter(t, "standard:m=8192,k=4")
	must(g.Add("x"))(t)
	if err := g.Fold(2); err != nil || must(g.Info())(t).Geometry[0] != 4096 {
		t.Error(err)
	}
	wants(t, g.Fold(3), ErrParameter)
}

func TestFacts(t *testing.T) {
	if len(Kinds()) < 30 || Version() == "" {
		t.Error(len(Kinds()), Version())
	}
	p := must(Plan("fuse", WithItems(1e6), WithRate(0.001)))(t)
	if p.Kind != "fuse" || p.Rate > 0.001 || p.Bytes == 0 {
		t.Error(p)
	}
	f := newFilter(t, "counting", WithSeed(5))
	must(f.AddMany(texts(200)))(t)
	i := must(f.Info())(t)
	if i.Items != 200 || !i.ItemsExact || i.Seed != 5 || i.Hash != "xxh3" ||
		i.Keys != "text" || math.Abs(i.Distinct-200) > 20 {
		t.Errorf("%+v", i)
	}
	ranked := must(Advise(Need{Items: 1e6, Rate: 0.001, Can: []string{"remove"}}))(t)
	if !ranked[0].Fits || ranked[0].Plan.Bytes == 0 || ranked[0].Why == "" {
		t.Errorf("%+v", ranked[0])
	}
	_, err := Advise(Need{Items: 1, Can: []string{"fly"}})
	wants(t, err, ErrParameter)
	_, err = Advise(Need{})
	wants(t, err, ErrParameter)
}

func TestMistakes(t *testing.T) {
	_, err := New("nonsense", WithItems(1))
	wants(t, err, ErrKind)
	_, err = New("standard:legs=4", WithItems(1))
	wants(t, err, ErrOption)
	_, err = New("standard", WithItems(1), WithRate(2))
	wants(t, err, ErrParameter)
	_, err = New("standard", WithItems(1), WithHash("md5"))
	wants(t, err, ErrHash)
	_, err = New("fuse", WithItems(1))
	wants(t, err, ErrUnsupported)
	_, err = New("standard", WithItems(1), WithMap())
	wants(t, err, ErrParameter)
	_, err = New("standard", WithItems(1), WithKeys("smell"))
	wants(t, err, ErrParameter)
	_, err = New("blocked", WithItems(1), WithShared())
	wants(t, err, ErrParameter)
	_, err = New("standard")
	if err == nil || !strings.Contains(err.Error(), "(WithItems)") {
		t.Error("the names of Go are not in the message:", err)
	}
	if ErrForm.Error() == "" || Status(-99).Error() == "" {
		t.Error("a status without a meaning")
	}
}

func TestStateKeys(t *testing.T) {
	f := newFilter(t, "standard", WithKeys("any"))
	must(f.Add("x"))(t)
	if err := f.StateKeys("text"); err != nil {
		t.Fatal(err)
	}
	_, err := f.Contains(7)
	wants(t, err, ErrForm)
	wants(t, f.StateKeys("number"), ErrMismatch)
}

// ---- Life and threads --------------------------------------------------------------

func TestClosedFilters(t *testing.T) {
	var zero Filter
	f := must(New("standard", WithItems(10)))(t)
	copy := *f
	if f.Close() != nil || f.Close() != nil || zero.Close() != nil {
		t.Error("Close fails")
	}
	for _, one := range []*Filter{f, &zero, &copy} {
		_, err := one.Contains("x")
		wants(t, err, ErrClosed)
		_, err = one.ContainsMany([]string{"x"})
		wants(t, err, ErrClosed)
		wants(t, one.Unite(f), ErrClosed)
		_, err = one.Pack()
		wants(t, err, ErrClosed)
		_, err = one.Copy()
		wants(t, err, ErrClosed)
		wants(t, one.Clear(), ErrClosed)
	}
}

func TestFinalizersFree(t *testing.T) {
	for i := 0; i < 200; i++ {
		f := must(New("standard", WithItems(1e6)))(t)
		must(f.Add(i))(t)
		if i%50 == 0 {
			runtime.GC()
		}
	}
	runtime.GC()
}

func TestManyReaders(t *testing.T) {
	f := must(Build("fuse", texts(10000)))(t)
	parallel(func(int) {
		for _, yes := range must(f.ContainsMany(texts(10000)))(t) {
			if !yes {
				t.Error("not found")
			}
		}
		must(f.Info())(t)
		must(f.Pack())(t)
	})
}

func TestSharedAdds(t *testing.T) {
	f := must(New("blocked", WithItems(40000), WithShared(), WithKeys("text")))(t)
	keys := texts(40000)
	parallel(func(i int) {
		part := keys[i*5000 : (i+1)*5000]
		must(f.AddMany(part[1:]))(t)
		must(f.Add(part[0]))(t)
		for _, yes := range must(f.ContainsMany(part))(t) {
			if !yes {
				t.Error("a key of this goroutine is not found")
			}
		}
	})
	for i, yes := range must(f.ContainsMany(keys))(t) {
		if !yes {
			t.Fatal("lost", i)
		}
	}
	_, err := New("quotient", WithItems(10), WithShared(), WithKeys("text"))
	wants(t, err, ErrUnsupported)
}

// parallel runs eight goroutines.
func parallel(work func(i int)) {
	var all sync.WaitGroup
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			work(i)
		}(i)
	}
	all.Wait()
}
