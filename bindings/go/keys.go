package bloomery

// #include "native.h"
import "C"

import (
	"encoding/binary"
	"math"
	"reflect"
	"runtime"
	"sync"
	"unsafe"
)

// CountUnknown is the answer of Count for a key that is perhaps there, if the kind
// does not count.
const CountUnknown = math.MaxUint64

// Packed is many keys in one piece of memory, which is read in place. Key i is
// Data[Offsets[i]:Offsets[i+1]], so n keys have n + 1 offsets. The keys are bytes, or
// text if Text is true.
type Packed struct {
	Data    []byte
	Offsets []uint64
	Text    bool
}

// ---- One key -----------------------------------------------------------------------

// The pointers to the bytes of a string and a slice.
func textData(s string) *C.char  { return *(**C.char)(unsafe.Pointer(&s)) }
func bytesData(b []byte) *C.char { return *(**C.char)(unsafe.Pointer(&b)) }

// words returns the pointer to the first of some numbers, or nil if there are none.
func words(numbers []uint64) *C.uint64_t {
	if len(numbers) == 0 {
		return nil
	}
	return (*C.uint64_t)(&numbers[0])
}

// number returns the 64 bits of a number and its type, which is 0 for other values.
func number(key any) (bits uint64, typ C.int) {
	switch k := key.(type) {
	case int:
		return uint64(k), C.BLY_INTEGER
	case int64:
		return uint64(k), C.BLY_INTEGER
	case int32:
		return uint64(k), C.BLY_INTEGER
	case int16:
		return uint64(k), C.BLY_INTEGER
	case int8:
		return uint64(k), C.BLY_INTEGER
	case uint:
		return unsigned(uint64(k))
	case uint64:
		return unsigned(k)
	case uint32:
		return uint64(k), C.BLY_INTEGER
	case uint16:
		return uint64(k), C.BLY_INTEGER
	case uint8:
		return uint64(k), C.BLY_INTEGER
	case float64:
		return math.Float64bits(k), C.BLY_REAL
	case float32:
		return math.Float64bits(float64(k)), C.BLY_REAL
	}
	return 0, 0
}

func unsigned(bits uint64) (uint64, C.int) {
	if bits > math.MaxInt64 {
		return bits, C.TIE_UNSIGNED
	}
	return bits, C.BLY_INTEGER
}

// errKey is returned for a value that is not a key. It does not name the value's type:
// that would make Go allocate every key.
var errKey = &Error{
	Status: ErrParameter,
	Reason: "the value is not a key: give a string, a []byte, an integer or a " +
		"float, and convert named types, as string(id)",
}

// one does an operation for one key. The key is not allocated.
func (f *Filter) one(verb C.int, key any, label uint64) (a C.tie_answer, err error) {
	h, err := f.open()
	if err != nil {
		return a, err
	}
	switch k := key.(type) {
	case string:
		a = C.tie_one(h.tie, verb, C.BLY_TEXT, textData(k), C.size_t(len(k)),
			C.uint64_t(label))
	case []byte:
		a = C.tie_one(h.tie, verb, C.BLY_BYTES, bytesData(k), C.size_t(len(k)),
			C.uint64_t(label))
	default:
		bits, typ := number(key)
		if typ == 0 {
			return a, errKey
		}
		a = C.tie_number(h.tie, verb, typ, C.uint64_t(bits), C.uint64_t(label))
	}
	runtime.KeepAlive(h)
	if a.status < 0 {
		return a, check(a, "")
	}
	return a, nil
}

// Contains looks up a key. False: it was certainly not added. True: perhaps it was.
// An error, for example ErrForm for a key of another class, is no answer.
func (f *Filter) Contains(key any) (bool, error) {
	h, err := f.open()
	if err != nil {
		return false, err
	}
	found := C.int(-1)
	switch k := key.(type) {
	case string:
		found = C.tie_contains(h.tie, C.BLY_TEXT, textData(k), C.size_t(len(k)))
	case []byte:
		found = C.tie_contains(h.tie, C.BLY_BYTES, bytesData(k), C.size_t(len(k)))
	default:
		if bits, typ := number(key); typ != 0 {
			found = C.tie_contains_number(h.tie, typ, C.uint64_t(bits))
		}
	}
	runtime.KeepAlive(h)
	if found >= 0 {
		return found != 0, nil
	}
	a, err := f.one(C.TIE_CONTAINS, key, 0)
	return a.value != 0 && err == nil, err
}

// Add adds a key, and reports whether it is new: false if it was perhaps there before
// (a kind that counts counts it once more). ErrFull, ErrUnsupported (a kind that is
// built at once), ErrReadOnly, ErrForm.
func (f *Filter) Add(key any) (added bool, err error) {
	a, err := f.one(C.TIE_ADD, key, 0)
	return a.status != C.BLY_SEEN && err == nil, err
}

// Remove removes a key that was added, once. The caller must know that it was: a key
// that is found by accident is accepted, and other keys are lost. ErrAbsent,
// ErrUnsafe, ErrUnsupported.
func (f *Filter) Remove(key any) error {
	_, err := f.one(C.TIE_REMOVE, key, 0)
	return err
}

// Count returns how often a key was added, at most: 0 is certain, a larger number is
// an upper bound, and CountUnknown means that the kind does not count. Of keys that
// lie within others, such as domains, only the key itself is counted.
func (f *Filter) Count(key any) (uint64, error) {
	a, err := f.one(C.TIE_COUNT, key, 0)
	return uint64(a.value), err
}

// Put stores a label with a key, for kinds that have labels. ErrParameter for a label
// out of the range that Info reports; ErrAbsent if the kind is built at once and has
// no such key.
func (f *Filter) Put(key any, label uint64) error {
	_, err := f.one(C.TIE_PUT, key, label)
	return err
}

// Get returns the label of a key. It is not found if the key itself is certainly not
// there, or the kind has no labels.
func (f *Filter) Get(key any) (label uint64, found bool, err error) {
	a, err := f.one(C.TIE_GET, key, 0)
	return uint64(a.value), a.status == C.BLY_SEEN && err == nil, err
}

// Hash returns the 64-bit hash by which the filter knows a key.
func (f *Filter) Hash(key any) (uint64, error) {
	a, err := f.one(C.TIE_HASH, key, 0)
	return uint64(a.value), err
}

// ---- Many keys ---------------------------------------------------------------------

// run is some keys of a batch, as C takes them.
type run struct {
	typ     C.int
	n       int
	data    *C.char
	offsets *C.uint64_t
}

// Keys and bytes that are copied for one call of C, so that they are still in the
// cache when C reads them.
const (
	runKeys  = 2048
	runBytes = 1 << 16
)

// room is memory in which keys are collected, used again by later batches.
type room struct {
	data    []byte
	offsets []uint64
}

var rooms = sync.Pool{New: func() any { return new(room) }}

// count returns the number of keys, after a check of their type and offsets.
func count(keys any) (int, error) {
	if p, ok := keys.(Packed); ok {
		return p.check()
	}
	t := reflect.TypeOf(keys)
	if t == nil || t.Kind() != reflect.Slice || !isBatch(keys) {
		if t != nil && t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return 0, wrong(ErrParameter, "keys of type %v: a []byte is one key. Give "+
				"many as a [][]byte or a Packed, and numbers as a []uint16", t)
		}
		return 0, wrong(ErrParameter, "keys of type %v: give a []string, a [][]byte, "+
			"a Packed, or a slice of integers or floats, and convert keys of named "+
			"types first", t)
	}
	return reflect.ValueOf(keys).Len(), nil
}

// isBatch reports whether a slice is one of keys. A []byte is a single key.
func isBatch(keys any) bool {
	switch keys.(type) {
	case []string, [][]byte, []int, []int64, []int32, []int16, []int8, []uint,
		[]uint64, []uint32, []uint16, []float64, []float32:
		return true
	}
	return false
}

func (p Packed) check() (int, error) {
	if len(p.Offsets) == 0 {
		return 0, nil
	}
	last := p.Offsets[0]
	for _, offset := range p.Offsets {
		if offset < last {
			return 0, wrong(ErrParameter, "the offsets fall from %d to %d", last,
				offset)
		}
		last = offset
	}
	if last > uint64(len(p.Data)) {
		return 0, wrong(ErrParameter, "the last offset is %d, and there are %d bytes",
			last, len(p.Data))
	}
	return len(p.Offsets) - 1, nil
}

// atOnce is the limit of a call that needs all keys in one run.
const atOnce = math.MaxInt

// runs calls use with at most `most` copied keys at a time, or with all of the keys
// that are read in place. It ends at an error.
func runs(keys any, most int, use func(r run) error) error {
	r := rooms.Get().(*room)
	defer rooms.Put(r)
	switch k := keys.(type) {
	case Packed:
		if len(k.Offsets) == 0 {
			return nil
		}
		typ := C.int(C.BLY_BYTES)
		if k.Text {
			typ = C.BLY_TEXT
		}
		return use(run{typ, len(k.Offsets) - 1, bytesData(k.Data), words(k.Offsets)})
	case []string:
		return gather(r, C.BLY_TEXT, k, most, use)
	case [][]byte:
		return gather(r, C.BLY_BYTES, k, most, use)
	case []int:
		return whole(r, C.BLY_INTEGER, k, most, use)
	case []int64:
		return whole(r, C.BLY_INTEGER, k, most, use)
	case []int32:
		return whole(r, C.BLY_INTEGER, k, most, use)
	case []int16:
		return whole(r, C.BLY_INTEGER, k, most, use)
	case []int8:
		return whole(r, C.BLY_INTEGER, k, most, use)
	case []uint:
		return whole(r, C.TIE_UNSIGNED, k, most, use)
	case []uint64:
		return whole(r, C.TIE_UNSIGNED, k, most, use)
	case []uint32:
		return whole(r, C.BLY_INTEGER, k, most, use)
	case []uint16:
		return whole(r, C.BLY_INTEGER, k, most, use)
	case []float64:
		return numbers(r, C.BLY_REAL, k, math.Float64bits, most, use)
	case []float32:
		return numbers(r, C.BLY_REAL, k, func(one float32) uint64 {
			return math.Float64bits(float64(one))
		}, most, use)
	}
	return nil
}

// gather copies texts or bytes one after another.
func gather[K string | []byte](r *room, typ C.int, keys []K, most int,
	use func(r run) error) error {
	limit := runBytes
	if most == atOnce {
		limit = math.MaxInt
	}
	for from := 0; from < len(keys); {
		r.data, r.offsets = r.data[:0], r.offsets[:0]
		i := from
		for ; i < len(keys) && i-from < most && len(r.data) < limit; i++ {
			r.offsets = append(r.offsets, uint64(len(r.data)))
			r.data = append(r.data, keys[i]...)
		}
		r.offsets = append(r.offsets, uint64(len(r.data)))
		err := use(run{typ, i - from, bytesData(r.data), words(r.offsets)})
		if err != nil {
			return err
		}
		from = i
	}
	return nil
}

// lowestFirst reports whether this machine stores numbers as keys have them.
var lowestFirst = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}()

type integer interface {
	int | int64 | int32 | int16 | int8 | uint | uint64 | uint32 | uint16
}

func whole[K integer](r *room, typ C.int, keys []K, most int,
	use func(r run) error) error {
	return numbers(r, typ, keys, func(one K) uint64 { return uint64(one) }, most, use)
}

// numbers gives C numbers of 8 bytes in place, and others as 8 bytes each.
func numbers[K integer | float64 | float32](r *room, typ C.int, keys []K,
	bits func(K) uint64, most int, use func(r run) error) error {
	if len(keys) > 0 && lowestFirst && unsafe.Sizeof(keys[0]) == 8 {
		return use(run{typ, len(keys), (*C.char)(unsafe.Pointer(&keys[0])), nil})
	}
	for len(keys) > 0 {
		n := len(keys)
		if n > most {
			n = most
		}
		r.data = r.data[:0]
		for _, one := range keys[:n] {
			r.data = binary.LittleEndian.AppendUint64(r.data, bits(one))
		}
		if err := use(run{typ, n, bytesData(r.data), nil}); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// many does an operation for many keys, and returns how many were processed. flags
// and numbers are nil or have an element for each key.
func (f *Filter) many(verb C.int, keys any, flags []bool, numbers []uint64) (int,
	error) {
	h, err := f.open()
	if err != nil {
		return 0, err
	}
	done := 0
	err = runs(keys, runKeys, func(r run) error {
		var yes *C.bool
		var some *C.uint64_t
		if r.n > 0 && flags != nil {
			yes = (*C.bool)(&flags[done])
		}
		if r.n > 0 && numbers != nil {
			some = words(numbers[done:])
		}
		a := C.tie_many(h.tie, verb, r.typ, C.size_t(r.n), r.data, r.offsets, yes, some,
			C.uint64_t(done))
		done += int(a.value)
		return check(a, "")
	})
	runtime.KeepAlive(h)
	return done, err
}

// ContainsMany looks up many keys: answer i is that of Contains for key i. It is the
// fastest way to query.
func (f *Filter) ContainsMany(keys any) ([]bool, error) {
	n, err := count(keys)
	if err != nil {
		return nil, err
	}
	answers := make([]bool, n)
	if _, err := f.many(C.TIE_CONTAINS, keys, answers, nil); err != nil {
		return nil, err
	}
	return answers, nil
}

// AddMany adds many keys, and returns how many were added: all of them, or those
// before the one that failed.
func (f *Filter) AddMany(keys any) (done int, err error) {
	if _, err := count(keys); err != nil {
		return 0, err
	}
	return f.many(C.TIE_ADD, keys, nil, nil)
}

// AddManyNew adds many keys, and reports for each whether it is new, as Add does. It
// is slower than AddMany. After an error, the answers are those of the keys that were
// added.
func (f *Filter) AddManyNew(keys any) ([]bool, error) {
	n, err := count(keys)
	if err != nil {
		return nil, err
	}
	answers := make([]bool, n)
	done, err := f.many(C.TIE_ADD, keys, answers, nil)
	for i := range answers {
		answers[i] = !answers[i]
	}
	return answers[:done], err
}

// RemoveMany removes many keys that were added. It continues after a key that could
// not be removed, and returns the first error.
func (f *Filter) RemoveMany(keys any) error {
	if _, err := count(keys); err != nil {
		return err
	}
	h, err := f.open()
	if err != nil {
		return err
	}
	var first error
	before := 0
	runs(keys, runKeys, func(r run) error {
		a := C.tie_many(h.tie, C.TIE_REMOVE, r.typ, C.size_t(r.n), r.data, r.offsets,
			nil, nil, C.uint64_t(before))
		before += r.n
		if err := check(a, ""); first == nil {
			first = err
		}
		return nil
	})
	runtime.KeepAlive(h)
	return first
}

// CountMany counts many keys, as Count does.
func (f *Filter) CountMany(keys any) ([]uint64, error) {
	n, err := count(keys)
	if err != nil {
		return nil, err
	}
	counts := make([]uint64, n)
	if _, err := f.many(C.TIE_COUNT, keys, nil, counts); err != nil {
		return nil, err
	}
	return counts, nil
}

// PutMany stores a label with each key, and returns how many were stored: all of
// them, or those before the one that failed.
func (f *Filter) PutMany(keys any, labels []uint64) (done int, err error) {
	n, err := count(keys)
	if err != nil {
		return 0, err
	}
	if n != len(labels) {
		return 0, wrong(ErrParameter, "there are %d labels for %d keys", len(labels), n)
	}
	return f.many(C.TIE_PUT, keys, nil, labels)
}

// GetMany returns the labels of many keys, and whether each was found, as Get does.
func (f *Filter) GetMany(keys any) (labels []uint64, found []bool, err error) {
	n, err := count(keys)
	if err != nil {
		return nil, nil, err
	}
	labels, found = make([]uint64, n), make([]bool, n)
	if _, err := f.many(C.TIE_GET, keys, found, labels); err != nil {
		return nil, nil, err
	}
	return labels, found, nil
}
