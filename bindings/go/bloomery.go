// Package bloomery has approximate membership filters: Bloom filters, cuckoo,
// quotient, fuse, ribbon and some thirty other kinds, behind one type.
//
// A filter remembers a set of keys in a few bits each, and answers "have I seen
// this key?" with certainly not (false) or perhaps (true). A key that was added is
// always found. A key that was not added is found by accident at the false-positive
// rate for which the filter was planned.
//
//	f, err := bloomery.New("blocked", bloomery.WithItems(1e6), bloomery.WithRate(0.01))
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	f.Add("swordfish")
//	found, err := f.Contains("swordfish") // true
//
// # Keys
//
// A key is a string, a []byte, an integer or a float. A named type is converted
// first, as in string(id). The bytes are those of all other languages of Bloomery:
//
//	string          text    as they are, UTF-8 or not
//	[]byte          bytes   as they are
//	integers        number  8 bytes, from -2^63 to 2^63 - 1
//	floats          number  those of the integer that it equals, or of the float64
//
// So 7, uint8(7) and 7.0 are the same key, and "7" is another one. All keys of a
// filter have the same class: the first ones that are added decide which, and the
// file records it. A key of another class is an error, ErrForm, in every call. It
// is never reported as absent. WithKeys states the form of the keys beforehand, and
// the form "any" accepts all classes.
//
// # Batches
//
// A call of C takes some 45 ns, and a lookup often less. The methods whose names
// end in Many call C once for some thousand keys, and wait for many cache lines at
// a time. Their keys are of type []string, [][]byte, Packed, or a slice of integers or
// floats of any type but uint8: a []byte is one key. Elements of named types are
// converted first. Slices of 8-byte numbers and Packed are read in place.
//
// # Errors
//
// Errors of the library are of type *Error and wrap a Status:
//
//	if errors.Is(err, bloomery.ErrFull) { ... }
//
// After an error the filter is unchanged, except that a batch keeps the keys that it
// has processed.
//
// # Goroutines
//
// A filter that is not being changed may be read by any number of goroutines at
// once: Contains, Count, Get and the like, Info, Pack, WriteTo, Save, Copy, Like,
// and as the argument of a set operation. A filter that is being changed needs a
// lock around all calls, like a map. A filter made or opened WithShared may be added
// to (Add, AddMany) and queried (Contains, ContainsMany) by any number of goroutines
// without a lock.
//
// # Memory
//
// Filters are in memory that Go does not count. A filter that is no longer
// reachable is freed by a finalizer, and Close frees it at once.
package bloomery

/*
#cgo CFLAGS: -std=c11
#cgo !bloomery_system CFLAGS: -DBLY_STATIC
#cgo !bloomery_system LDFLAGS: -lm -lpthread
#cgo !bloomery_system,riscv64 LDFLAGS: -latomic
#cgo !bloomery_system,mips LDFLAGS: -latomic
#cgo !bloomery_system,mipsle LDFLAGS: -latomic
#cgo bloomery_system CFLAGS: -DBLOOMERY_SYSTEM
#cgo bloomery_system pkg-config: bloomery
#include <stdlib.h>
#include "native.h"
*/
import "C"

import (
	"io"
	"runtime"
	"unsafe"
)

// DefaultKind is the kind to choose without a reason for another: "standard".
const DefaultKind = C.BLY_DEFAULT_KIND

// Filter is a filter of any kind. Make one with New, Build, Open or Unpack. The zero
// value is a closed filter, into which UnmarshalBinary and ReadFrom can read. A nil
// *Filter is a closed filter for every method. A copy of the struct is the same
// filter; Copy makes another one.
type Filter struct {
	h *handle
}

// handle owns a filter of C, and is what the finalizer is set on.
type handle struct {
	tie *C.tie
}

func hold(made *C.tie) *Filter {
	h := &handle{made}
	runtime.SetFinalizer(h, func(h *handle) { C.tie_free(h.tie) })
	return &Filter{h}
}

// open returns the handle of a filter that is not closed. The caller keeps it alive
// until its call of C has returned.
func (f *Filter) open() (*handle, error) {
	if f == nil || f.h == nil || f.h.tie == nil {
		return nil, errClosed
	}
	return f.h, nil
}

// made returns a new filter, or the error of the call that should have made it.
func made(a C.tie_answer, path string) (*Filter, error) {
	if err := check(a, path); err != nil {
		return nil, err
	}
	return hold(a.made), nil
}

// New makes an empty filter. The kind is one of Kinds, with options of its own if
// needed, as in "standard:k=5". WithItems is required, except for kinds that begin
// small and grow ("expandable", "scalable"). The rate is 0.01 unless WithRate says
// otherwise. Kinds that are made from all their keys at once are ErrUnsupported: see
// Build.
func New(kind string, opts ...Option) (*Filter, error) {
	o, err := apply(opts, forNew, "kind", kind)
	if err != nil {
		return nil, err
	}
	defer o.free()
	return made(C.tie_new(o.name, &o.spec, o.keys), "")
}

// Build makes a filter of any kind from all its keys, which may have duplicates.
// Without WithItems it is planned for as many keys as there are, at least 1.
// WithLabels gives each key a label, for kinds that store them. Keys other than Packed
// and 8-byte numbers are copied during the call.
func Build(kind string, keys any, opts ...Option) (*Filter, error) {
	o, err := apply(opts, forBuild, "kind", kind)
	if err != nil {
		return nil, err
	}
	defer o.free()
	n, err := count(keys)
	if err != nil {
		return nil, err
	}
	if o.labelled && len(o.labels) != n {
		return nil, wrong(ErrParameter, "there are %d labels for %d keys",
			len(o.labels), n)
	}
	if n == 0 && o.spec.capacity == 0 {
		o.spec.capacity = 1
	}
	all := run{typ: C.BLY_TEXT}
	var answer C.tie_answer
	build := func(r run) error {
		answer = C.tie_build(o.name, &o.spec, o.keys, r.typ, C.size_t(r.n),
			r.data, r.offsets, words(o.labels))
		return nil
	}
	if n == 0 {
		build(all)
	} else {
		runs(keys, atOnce, build)
	}
	return made(answer, "")
}

// Open opens a filter in a file: one that Save or the command bloomery wrote, or one
// of another system whose format is recognised or named by WithFormat. The file is
// read into memory and checked completely, and the copy may be changed. With WithMap
// the file is mapped and queried in place, and with WithWrite changes go to the file.
// A mapped file must not be cut short while it is open; replace it by renaming, as
// Save does.
func Open(path string, opts ...Option) (*Filter, error) {
	o, err := apply(opts, forOpen, pathName, path)
	if err != nil {
		return nil, err
	}
	defer o.free()
	return made(C.tie_open(o.name, o.spec.flags, &o.options), path)
}

// Unpack makes a filter from the bytes that Pack, WriteTo or Save wrote, or from those
// of another system. The bytes may be untrusted: all of them are checked. WithMemoryLimit
// bounds what a few bytes may unpack to. The bytes are copied.
func Unpack(data []byte, opts ...Option) (*Filter, error) {
	o, err := apply(opts, forUnpack, "", "")
	if err != nil {
		return nil, err
	}
	defer o.free()
	return made(C.tie_unpack(bytesData(data), C.size_t(len(data)), &o.options), "")
}

// Close frees the filter; every later call with it is ErrClosed. A file that is open
// for writing is completed first, and errors of that are returned: the filter is
// closed even so. A second Close does nothing.
func (f *Filter) Close() error {
	h, err := f.open()
	if err != nil {
		return nil
	}
	runtime.SetFinalizer(h, nil)
	answer := C.tie_close(h.tie)
	h.tie = nil
	return check(answer, "")
}

// Save writes the filter to a file, atomically: a crash leaves either the old file or
// the new one. Kinds that pack are packed on the way.
func (f *Filter) Save(path string) error {
	h, err := f.open()
	if err != nil {
		return err
	}
	name, err := text(pathName, path)
	if err != nil {
		return err
	}
	defer C.free(unsafe.Pointer(name))
	answer := C.tie_save(h.tie, name)
	runtime.KeepAlive(h)
	return check(answer, path)
}

// Sync makes the changes of a filter opened WithWrite durable. It does nothing for
// any other filter.
func (f *Filter) Sync() error {
	return f.simple(func(t *C.tie) C.tie_answer { return C.tie_sync(t) })
}

// packed calls use with the bytes of the filter's file, in memory of C.
func (f *Filter) packed(use func(file []byte) error) error {
	h, err := f.open()
	if err != nil {
		return err
	}
	answer := C.tie_pack(h.tie)
	runtime.KeepAlive(h)
	if err := check(answer, ""); err != nil {
		return err
	}
	defer C.free(answer.memory)
	return use(unsafe.Slice((*byte)(answer.memory), int(answer.value)))
}

// Pack returns the bytes that Save writes. (For family "foreign", they have a header
// of Bloomery before the other system's bytes.)
func (f *Filter) Pack() (data []byte, err error) {
	err = f.packed(func(file []byte) error {
		data = append([]byte(nil), file...)
		return nil
	})
	return data, err
}

// MarshalBinary returns the bytes of Pack. It makes a *Filter an
// encoding.BinaryMarshaler, so that encoding/gob can send it. In a struct that is
// sent, the field is a *Filter.
func (f *Filter) MarshalBinary() ([]byte, error) { return f.Pack() }

// UnmarshalBinary replaces the filter by the one that the bytes hold, as Unpack makes
// it. If it fails, the filter is unchanged. The old filter is freed by its finalizer.
func (f *Filter) UnmarshalBinary(data []byte) error {
	if f == nil {
		return errClosed
	}
	read, err := Unpack(data)
	if err == nil {
		f.h = read.h
	}
	return err
}

// WriteTo writes the bytes of Pack.
func (f *Filter) WriteTo(w io.Writer) (n int64, err error) {
	err = f.packed(func(file []byte) error {
		written, err := w.Write(file)
		n = int64(written)
		return err
	})
	return n, err
}

// ReadFrom reads until the end of r, and replaces the filter as UnmarshalBinary does.
func (f *Filter) ReadFrom(r io.Reader) (int64, error) {
	if f == nil {
		return 0, errClosed
	}
	data, err := io.ReadAll(r)
	if err == nil {
		err = f.UnmarshalBinary(data)
	}
	return int64(len(data)), err
}

// simple does a call without a result.
func (f *Filter) simple(call func(t *C.tie) C.tie_answer) error {
	h, err := f.open()
	if err != nil {
		return err
	}
	answer := call(h.tie)
	runtime.KeepAlive(h)
	return check(answer, "")
}

// maker does a call that makes another filter.
func (f *Filter) maker(call func(t *C.tie) C.tie_answer) (*Filter, error) {
	h, err := f.open()
	if err != nil {
		return nil, err
	}
	answer := call(h.tie)
	runtime.KeepAlive(h)
	return made(answer, "")
}

// Copy returns a copy in memory of its own, which may be changed even if the filter
// may not.
func (f *Filter) Copy() (*Filter, error) {
	return f.maker(func(t *C.tie) C.tie_answer { return C.tie_copy(t) })
}

// Like returns an empty filter of the same plan, hash function and seed, which can be
// united and compared with this one.
func (f *Filter) Like() (*Filter, error) {
	return f.maker(func(t *C.tie) C.tie_answer { return C.tie_like(t) })
}

// Clear removes all keys. ErrUnsupported for kinds that are built at once.
func (f *Filter) Clear() error {
	return f.simple(func(t *C.tie) C.tie_answer { return C.tie_clear(t) })
}

// Resize plans the filter for another number of keys, and keeps those that it has.
// ErrUnsupported for kinds that cannot; ErrFull if it holds more keys than would fit.
func (f *Filter) Resize(items uint64) error {
	return f.simple(func(t *C.tie) C.tie_answer {
		return C.tie_resize(t, C.uint64_t(items))
	})
}

// Fold makes the filter smaller by a factor that divides its size, by OR of adjacent
// bits. Its rate rises: see Info.
func (f *Filter) Fold(times uint64) error {
	return f.simple(func(t *C.tie) C.tie_answer {
		return C.tie_fold(t, C.uint64_t(times))
	})
}

// StateKeys sets the form of the keys in a filter that states none, such as an older
// file: "text", "bytes", "number" and so on, as for WithKeys. "any" leaves it
// without a form.
func (f *Filter) StateKeys(form string) error {
	name, err := text("form", form)
	if err != nil {
		return err
	}
	defer C.free(unsafe.Pointer(name))
	return f.simple(func(t *C.tie) C.tie_answer { return C.tie_state_keys(t, name) })
}
