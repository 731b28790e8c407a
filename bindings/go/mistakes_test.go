package bloomery

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func TestTextsWithNULBytesAreRefused(t *testing.T) {
	for _, make := range []func() error{
		func() error { _, err := New("standard\x00x", WithItems(1)); return err },
		func() error { _, err := Build("fuse\x00x", []string{"a"}); return err },
		func() error { _, err := Plan("standard\x00x", WithItems(1)); return err },
		func() error { _, err := New("standard", WithKeys("text\x00x")); return err },
		func() error { _, err := Plan("standard", WithHash("xxh3\x00x")); return err },
		func() error { _, err := Unpack(nil, WithFormat("guava\x00x")); return err },
		func() error { return newFilter(t, "standard").StateKeys("text\x00x") },
	} {
		err := make()
		wants(t, err, ErrParameter)
		if err != nil && !strings.Contains(err.Error(), `\x00x" contains a NUL byte`) {
			t.Error(err)
		}
	}
}

func TestPathsWithNULBytesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	f := newFilter(t, "standard")
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	before := must(os.ReadFile(path))(t)
	must(f.Add("x"))(t)
	_, opened := Open(path + "\x00b")
	for _, err := range []error{opened, f.Save(path + "\x00b")} {
		wants(t, err, ErrParameter)
		var e *Error
		if !errors.Is(err, syscall.EINVAL) || !errors.As(err, &e) ||
			e.Path != path+"\x00b" {
			t.Error(err)
		}
	}
	if !bytes.Equal(before, must(os.ReadFile(path))(t)) {
		t.Error("Save wrote the file whose name is the path up to its NUL byte")
	}
}

func TestOptionsWithoutAValueAreRefused(t *testing.T) {
	for _, rate := range []float64{0, -0.5, 1, math.NaN(), math.Inf(1)} {
		_, err := New("standard", WithItems(1), WithRate(rate))
		wants(t, err, ErrParameter)
		_, err = Build("fuse", []string{"x"}, WithRate(rate))
		wants(t, err, ErrParameter)
		_, err = Plan("standard", WithItems(1), WithRate(rate))
		wants(t, err, ErrParameter)
		if err == nil || !strings.Contains(err.Error(), "WithRate") {
			t.Error(err)
		}
	}
	_, err := New("standard", WithItems(1), Option{})
	wants(t, err, ErrParameter)
	if err == nil || !strings.Contains(err.Error(), "the empty Option{}") {
		t.Error(err)
	}
}

func TestBatchesOfOtherTypesAreExplained(t *testing.T) {
	f := newFilter(t, "standard")
	type raw []byte
	for _, one := range []struct {
		keys any
		why  string
	}{
		{[]uint8{1}, "a []byte is one key"}, {raw{1}, "a []byte is one key"},
		{[]id{"x"}, "convert keys of named types"}, {[]bool{true}, "give a []string"},
		{nil, "give a []string"}, {"x", "give a []string"},
	} {
		_, err := f.ContainsMany(one.keys)
		wants(t, err, ErrParameter)
		if err == nil || !strings.Contains(err.Error(), one.why) {
			t.Errorf("%T: %v", one.keys, err)
		}
	}
}

// kept counts the keys that are still found.
func kept(t *testing.T, f *Filter, keys any) (n int) {
	for _, yes := range must(f.ContainsMany(keys))(t) {
		if yes {
			n++
		}
	}
	return n
}

func TestRemoveManyContinuesAfterErrors(t *testing.T) {
	const n = 5000
	texts := texts(n)
	numbers, reals := make([]int, n), make([]float64, n)
	for i := range numbers {
		numbers[i], reals[i] = i, float64(i)
	}
	absent := append([]float64{-1}, reals...)
	odd := append([]float64{0.5, 1.5}, reals...)
	odd[1000], odd[n] = 2.5, 3.5
	for _, one := range []struct {
		form      string
		add, take any
		err       Status
		left      int
	}{
		{"text:trim", texts, append([]string{"absent"}, texts...), ErrAbsent, 0},
		{"text:case=upper", texts, append([]string{"absent"}, texts...), ErrAbsent, 0},
		{"int64", numbers, absent, ErrAbsent, 0},
		{"int64", numbers, odd, ErrParameter, 2},
		{"int32", numbers, append([]int{1 << 40, -1}, numbers...), ErrParameter, 0},
		{"number", numbers, append([]uint64{math.MaxUint64}, unsigneds(n)...),
			ErrParameter, 0},
		{"text", texts, numbers, ErrForm, n},
	} {
		f := must(New("counting", WithItems(n), WithRate(1e-6), WithKeys(one.form)))(t)
		must(f.AddMany(one.add))(t)
		wants(t, f.RemoveMany(one.take), one.err)
		if left := kept(t, f, one.add); left != one.left {
			t.Errorf("%s: %d keys are left", one.form, left)
		}
		f.Close()
	}
}

func unsigneds(n int) []uint64 {
	numbers := make([]uint64, n)
	for i := range numbers {
		numbers[i] = uint64(i)
	}
	return numbers
}

func TestAddManyNewAnswersLikeAdd(t *testing.T) {
	for _, one := range []struct {
		form string
		keys []string
	}{
		{"domain", []string{"example.com", "a.example.com", "EXAMPLE.com", "example.com",
			"example.org", "example.org"}},
		{"text:trim", []string{"a", " a ", "b", "b\t"}},
		{"path", []string{"/a/b", "/a/b", "/a", "/a/b/c"}},
	} {
		f := newFilter(t, "standard", WithKeys(one.form), WithRate(1e-9))
		g := newFilter(t, "standard", WithKeys(one.form), WithRate(1e-9))
		var want []bool
		for _, key := range one.keys {
			want = append(want, must(f.Add(key))(t))
		}
		if got := must(g.AddManyNew(one.keys))(t); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v and not %v", one.form, got, want)
		}
		if !bytes.Equal(must(f.Pack())(t), must(g.Pack())(t)) {
			t.Errorf("%s: the filters differ", one.form)
		}
	}
	f := newFilter(t, "standard", WithKeys("domain"))
	if got, err := f.AddManyNew([]string{"a.org", "a.org", "", "b.org"}); !errors.Is(err,
		ErrParameter) || !reflect.DeepEqual(got, []bool{true, false}) {
		t.Error(got, err)
	}
}

func TestBuildOfNoKeysIsPlannedForOne(t *testing.T) {
	for _, kind := range []string{"fuse", "standard", "ribbon", "blocked"} {
		for _, keys := range []any{[]string{}, []int{}, Packed{}} {
			f := must(Build(kind, keys))(t)
			if must(f.Contains("x"))(t) && kind == "fuse" {
				t.Errorf("%s: an empty filter finds a key", kind)
			}
			f.Close()
		}
	}
}

func TestNilFiltersAreClosed(t *testing.T) {
	var none *Filter
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	f := newFilter(t, "standard")
	wants(t, f.Unite(nil), ErrClosed)
	wants(t, f.Intersect(nil), ErrClosed)
	_, err := f.Overlap(nil)
	wants(t, err, ErrClosed)
	filter := reflect.ValueOf(none)
	for i := 0; i < filter.NumMethod(); i++ {
		name := filter.Type().Method(i).Name
		if name == "Close" {
			continue
		}
		out := filter.Method(i).Call(arguments(filter.Method(i).Type(), name))
		err, _ := out[len(out)-1].Interface().(error)
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// arguments returns a key or no keys where a method takes some, and zero values.
func arguments(method reflect.Type, name string) (in []reflect.Value) {
	for i := 0; i < method.NumIn(); i++ {
		value := reflect.Zero(method.In(i))
		if value.Kind() == reflect.Interface && value.NumMethod() == 0 {
			value = reflect.ValueOf("key")
			if strings.Contains(name, "Many") {
				value = reflect.ValueOf([]string{})
			}
		}
		in = append(in, value)
	}
	return in
}
