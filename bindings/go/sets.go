package bloomery

// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"runtime"
	"unsafe"
)

func (f *Filter) join(other *Filter, verb C.int) error {
	into, err := f.open()
	if err != nil {
		return err
	}
	from, err := other.open()
	if err != nil {
		return err
	}
	answer := C.tie_join(into.tie, from.tie, verb)
	runtime.KeepAlive(into)
	runtime.KeepAlive(from)
	return check(answer, "")
}

// Unite adds the keys of another filter of the same plan, hash function, seed and
// form of keys, such as Like makes it. ErrMismatch, ErrUnsupported, ErrFull; the
// filter is then unchanged.
func (f *Filter) Unite(other *Filter) error { return f.join(other, C.TIE_UNITE) }

// Intersect keeps the keys that are also in another filter. The result finds every
// key that is in both. Errors of Unite.
func (f *Filter) Intersect(other *Filter) error {
	return f.join(other, C.TIE_INTERSECT)
}

// Subtract takes the keys of another sketch away, for kinds that list their keys.
// ListKeys then lists the difference of the two. Errors of Unite.
func (f *Filter) Subtract(other *Filter) error { return f.join(other, C.TIE_SUBTRACT) }

// Estimate is a number and its standard deviation.
type Estimate struct {
	Value, SD float64
}

// Overlap is estimates of how many different keys two filters have, and of their
// Jaccard index. Small numbers of common keys may be estimated at less than 0, which
// keeps their mean right.
type Overlap struct {
	A, B    Estimate // in the one and the other
	Either  Estimate // in at least one
	Both    Estimate // in both
	Differ  Estimate // in just one
	Jaccard Estimate // Both / Either
}

// Overlap estimates how many keys the filter has in common with another one. It
// changes neither. Errors of Unite.
func (f *Filter) Overlap(other *Filter) (Overlap, error) {
	a, err := f.open()
	if err != nil {
		return Overlap{}, err
	}
	b, err := other.open()
	if err != nil {
		return Overlap{}, err
	}
	var o C.bly_overlap_t
	answer := C.tie_overlap(&o, a.tie, b.tie)
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	estimate := func(e C.bly_estimate) Estimate {
		return Estimate{float64(e.value), float64(e.sd)}
	}
	if err := check(answer, ""); err != nil {
		return Overlap{}, err
	}
	return Overlap{estimate(o.a), estimate(o.b), estimate(o.either), estimate(o.both),
		estimate(o.differ), estimate(o.jaccard)}, nil
}

// Listed is a key of a sketch.
type Listed struct {
	Hash uint64
	Key  []byte // nil if the filter does not keep its keys
	Side int    // 1, or -1 for a key that is only in the filter that was subtracted
}

// ListKeys lists every key once, for kinds with the ability "list". ErrFull: there are
// too many to decode, and the error says how many the filter must be planned for.
func (f *Filter) ListKeys() ([]Listed, error) {
	h, err := f.open()
	if err != nil {
		return nil, err
	}
	answer := C.tie_list(h.tie)
	runtime.KeepAlive(h)
	if err := check(answer, ""); err != nil {
		return nil, err
	}
	defer C.free(answer.memory)
	list := make([]Listed, int(answer.value))
	for i, row := range unsafe.Slice((*C.tie_listed)(answer.memory), len(list)) {
		list[i] = Listed{Hash: uint64(row.hash), Side: int(row.side)}
		if row.key != nil {
			list[i].Key = unsafe.Slice((*byte)(unsafe.Pointer(row.key)), row.length)
			list[i].Key = append([]byte{}, list[i].Key...)
			C.free(unsafe.Pointer(row.key))
		}
	}
	return list, nil
}
