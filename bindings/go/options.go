package bloomery

// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"strings"
	"syscall"
	"unsafe"
)

// Option says what a filter is to be, or how to open it. An option that does not
// belong to a call is ErrParameter.
type Option struct {
	name  string
	calls calls
	set   func(o *options)
}

// calls is a set of calls that take options.
type calls int

const (
	forNew calls = 1 << iota
	forBuild
	forPlan
	forOpen
	forUnpack
	forMaking  = forNew | forBuild | forPlan
	forReading = forOpen | forUnpack
)

// options is what the options of a call have set, with memory of C that is freed
// after the call.
type options struct {
	name     *C.char // the kind or the path
	spec     C.bly_spec
	options  C.bly_options
	keys     *C.char
	labels   []uint64
	labelled bool
	memory   []unsafe.Pointer
	err      error // the first one
}

// apply sets the options of a call, and its name, which is a kind or a path.
func apply(opts []Option, call calls, what, name string) (*options, error) {
	o := &options{}
	o.name = o.text(what, name)
	for _, one := range opts {
		switch {
		case one.set == nil:
			o.fail(wrong(ErrParameter, "an option is the empty Option{}: make options "+
				"with WithItems and the other functions"))
		case one.calls&call == 0:
			o.fail(wrong(ErrParameter, "%s is not an option of this call", one.name))
		default:
			one.set(o)
		}
	}
	if o.err != nil {
		o.free()
		return nil, o.err
	}
	return o, nil
}

func (o *options) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// pathName is what text calls a path in its error.
const pathName = "path"

// text copies a string to memory of C, which the caller frees. C would cut it at a
// NUL byte, so such a string is an error: for a path, that of os.Open.
func text(what, s string) (*C.char, error) {
	if strings.IndexByte(s, 0) < 0 {
		return C.CString(s), nil
	}
	err := wrong(ErrParameter, "the %s %q contains a NUL byte: remove it", what, s)
	if what == pathName {
		err.Errno, err.Path = syscall.EINVAL, s
	}
	return nil, err
}

// text copies a string to memory that free frees.
func (o *options) text(what, s string) *C.char {
	copied, err := text(what, s)
	if err != nil {
		o.fail(err)
		return nil
	}
	o.memory = append(o.memory, unsafe.Pointer(copied))
	return copied
}

func (o *options) free() {
	for _, one := range o.memory {
		C.free(one)
	}
}

// WithItems sets the number of keys for which the filter is planned.
func WithItems(n uint64) Option {
	return Option{"WithItems", forMaking, func(o *options) {
		o.spec.capacity = C.uint64_t(n)
	}}
}

// WithRate sets the false-positive rate at that number of keys, above 0 and below 1.
// Without this option it is 0.01.
func WithRate(rate float64) Option {
	return Option{"WithRate", forMaking, func(o *options) {
		if !(rate > 0 && rate < 1) {
			o.fail(wrong(ErrParameter, "a false-positive rate (WithRate) of %v is "+
				"not possible: give one above 0 and below 1, such as 0.01", rate))
		}
		o.spec.rate = C.double(rate)
	}}
}

// WithSeed sets the seed of the hash function; the default is 0.
func WithSeed(seed uint64) Option {
	return Option{"WithSeed", forMaking, func(o *options) {
		o.spec.seed = C.uint64_t(seed)
	}}
}

// WithHash sets the hash function: "xxh3" (the default), "xxh64", "murmur2",
// "murmur3", "fnv1a", "siphash", "identity" or "decimal".
func WithHash(name string) Option {
	return Option{"WithHash", forMaking, func(o *options) {
		o.spec.hash = o.text("hash function", name)
	}}
}

// WithSecret gives the secret of the hash function "siphash", which an attacker who
// chooses keys does not know. The filter does not hold it: give it again when the
// filter is opened.
func WithSecret(secret [C.BLY_SECRET_BYTES]byte) Option {
	return Option{"WithSecret", forMaking | forReading, func(o *options) {
		memory := C.CBytes(secret[:])
		o.memory = append(o.memory, memory)
		o.spec.secret = memory
		o.options.secret = memory
	}}
}

// WithKeys states the form of the keys: "text", "bytes", "number", "int64",
// "text:case=lower,trim", "domain" and so on, or "any" for keys of all classes. The
// default is the class of the first key.
func WithKeys(form string) Option {
	return Option{"WithKeys", forNew | forBuild, func(o *options) {
		o.keys = o.text("form", form)
	}}
}

// WithLabels gives each key of Build a label.
func WithLabels(labels []uint64) Option {
	return Option{"WithLabels", forBuild, func(o *options) {
		o.labels, o.labelled = labels, true
	}}
}

// WithShared lets any number of goroutines add and query at once. ErrUnsupported for
// kinds without the ability "share". New needs WithKeys as well, since the first keys
// do not set the form of a shared filter.
func WithShared() Option {
	return Option{"WithShared", forNew | forOpen, func(o *options) {
		o.spec.flags |= C.BLY_SHARED
	}}
}

// WithThreads sets how many threads of the library may work at once in a large call;
// 1 starts none. By default the library chooses.
func WithThreads(n uint32) Option {
	return Option{"WithThreads", forMaking | forReading, func(o *options) {
		o.spec.threads = C.uint32_t(n)
		o.options.threads = C.uint32_t(n)
	}}
}

// WithMap maps the file instead of reading it into memory.
func WithMap() Option {
	return Option{"WithMap", forOpen, func(o *options) { o.spec.flags |= C.BLY_MAP }}
}

// WithWrite maps the file, locks it, and writes changes to it. Close completes the
// file, and Sync makes the changes until then durable.
func WithWrite() Option {
	return Option{"WithWrite", forOpen, func(o *options) {
		o.spec.flags |= C.BLY_MAP | C.BLY_WRITE
	}}
}

// WithVerify reads all of a mapped file and checks its checksum.
func WithVerify() Option {
	return Option{"WithVerify", forOpen, func(o *options) {
		o.spec.flags |= C.BLY_VERIFY
	}}
}

// WithFormat names the format of another system, if the bytes do not identify it.
func WithFormat(name string) Option {
	return Option{"WithFormat", forReading, func(o *options) {
		o.options.format = o.text("format", name)
	}}
}

// WithMemoryLimit sets how many bytes a filter may take if it takes more than it was
// read from. The default is 1 GiB, or 8 times the bytes read if that is more, but at
// most half of the memory. Beyond it, the call is ErrLimit.
func WithMemoryLimit(bytes uint64) Option {
	return Option{"WithMemoryLimit", forReading, func(o *options) {
		o.options.memory_limit = C.uint64_t(bytes)
	}}
}
