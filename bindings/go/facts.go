package bloomery

// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Version returns the version of the library, such as "0.9.0".
func Version() string { return C.GoString(C.bly_version()) }

// KindOption is an option of a kind, as in "standard:k=5".
type KindOption struct {
	Name     string // "k"
	Range    string // "1 .. 64"
	Standard string // what it is when not given
	Help     string // one line
}

// Kind describes a kind of filters.
type Kind struct {
	Name    string
	Family  string // "sets", "removable", "frozen", ...
	Summary string // one line
	Tier    string // "core", "more" or "experimental"; begin with the core
	Can     []string
	Options []KindOption
}

// abilities returns the names of flags: "add", "contains", "remove" and so on.
func abilities(can C.uint64_t) []string {
	var names []string
	for bit := 0; bit < C.BLY_ABILITIES; bit++ {
		if can>>bit&1 != 0 {
			names = append(names, C.GoString(C.bly_ability(1<<bit)))
		}
	}
	return names
}

// flags returns the flags of names of abilities.
func flags(names []string) (can C.uint64_t, err error) {
	known := make(map[string]C.uint64_t)
	for bit := 0; bit < C.BLY_ABILITIES; bit++ {
		known[C.GoString(C.bly_ability(1<<bit))] = 1 << bit
	}
	for _, name := range names {
		flag, ok := known[name]
		if !ok {
			return 0, wrong(ErrParameter, "'%s' is not an ability: see Kind.Can", name)
		}
		can |= flag
	}
	return can, nil
}

// Kinds returns all kinds, sorted by family.
func Kinds() []Kind {
	var n C.size_t
	list := C.bly_kinds(&n)
	kinds := make([]Kind, 0, int(n))
	for _, k := range unsafe.Slice(list, int(n)) {
		one := Kind{
			Name:    C.GoString(k.name),
			Family:  C.GoString(k.family),
			Summary: C.GoString(k.summary),
			Tier:    C.GoString(k.tier),
			Can:     abilities(k.can),
		}
		for _, o := range unsafe.Slice(k.options, 64) {
			if o == nil {
				break
			}
			one.Options = append(one.Options, KindOption{C.GoString(o.name),
				C.GoString(o._range), C.GoString(o.standard), C.GoString(o.help)})
		}
		kinds = append(kinds, one)
	}
	return kinds
}

// Planned is the size, rate and costs of a filter, known before it is built.
type Planned struct {
	Kind         string
	Capacity     uint64    // keys
	Bytes        uint64    // of the whole filter; for some frozen kinds an upper bound
	Packed       uint64    // expected bytes of its file, if the kind packs; else 0
	Scratch      uint64    // bytes that Build takes besides, for the time of the call
	BitsPerKey   float64   // 8 * Bytes / Capacity
	Rate         float64   // predicted false-positive rate
	RateSD       float64   // its standard deviation from filter to filter
	Fill         float64   // share of bits, cells or slots in use
	Lost         float64   // false-negative rate of kinds that forget; else 0
	Window       uint64    // last different keys that are surely found; 2^64 - 1: all
	LinesPresent float64   // cache lines that a lookup of a present key touches
	LinesAbsent  float64   // the same for an absent key
	Probes       uint32    // bits, cells or places of a key
	LabelBits    uint32    // bits of the largest label; 0: the kind has no labels
	LabelLeast   uint64    // labels are from this one ...
	LabelMost    uint64    // ... to this one
	Geometry     [4]uint64 // the kind's own numbers
	Can          []string  // abilities
}

func geometry(from [4]C.uint64_t) (to [4]uint64) {
	for i, one := range from {
		to[i] = uint64(one)
	}
	return to
}

func planned(p *C.bly_plan_t) Planned {
	return Planned{
		Kind: C.GoString(&p.kind[0]), Capacity: uint64(p.capacity),
		Bytes: uint64(p.bytes), Packed: uint64(p.packed), Scratch: uint64(p.scratch),
		BitsPerKey: float64(p.bits_per_key), Rate: float64(p.rate),
		RateSD: float64(p.rate_sd), Fill: float64(p.fill), Lost: float64(p.lost),
		Window: uint64(p.window), LinesPresent: float64(p.lines_present),
		LinesAbsent: float64(p.lines_absent), Probes: uint32(p.probes),
		LabelBits: uint32(p.label_bits), LabelLeast: uint64(p.label_least),
		LabelMost: uint64(p.label_most), Geometry: geometry(p.geometry),
		Can: abilities(p.can),
	}
}

// Plan computes the size, rate and costs of the filter that New or Build would make
// with the same options. It allocates no filter.
func Plan(kind string, opts ...Option) (Planned, error) {
	o, err := apply(opts, forPlan, "kind", kind)
	if err != nil {
		return Planned{}, err
	}
	defer o.free()
	var plan C.bly_plan_t
	if err := check(C.tie_plan(&plan, o.name, &o.spec), ""); err != nil {
		return Planned{}, err
	}
	return planned(&plan), nil
}

// Info is facts and estimates about a filter.
type Info struct {
	Kind        string
	Keys        string // the form of its keys; "any" if none is stated
	Hash        string // the hash function
	Seed        uint64 // its seed; for "siphash", the mark of the secret
	Capacity    uint64 // keys it was planned for, or has grown to
	Bytes       uint64 // of the whole filter
	Packed      uint64 // approximate bytes of its file, if the kind packs; else 0
	BitsPerKey  float64
	Items       uint64  // successful adds, less removals
	ItemsExact  bool    // false, for example after Unite: Items is then an estimate
	Distinct    float64 // different keys, estimated from the bits
	DistinctSD  float64 // its standard deviation
	Fill        float64 // share of bits, cells or slots in use
	Fullest     float64 // the share in the fullest layer, of kinds with layers
	Rate        float64 // present false-positive rate, from the bits themselves
	PlannedRate float64 // predicted for Capacity keys
	Lost        float64 // false-negative rate of kinds that forget; else 0
	Window      uint64  // as in Planned
	Saturated   uint64  // counters at their largest value
	Probes      uint32  // bits, cells or places of a key
	LabelBits   uint32  // as in Planned
	LabelLeast  uint64
	LabelMost   uint64
	Geometry    [4]uint64
	Can         []string // abilities
}

// Info reports facts and estimates. It reads the whole filter.
func (f *Filter) Info() (Info, error) {
	h, err := f.open()
	if err != nil {
		return Info{}, err
	}
	defer runtime.KeepAlive(h)
	var i C.bly_info_t
	if err := check(C.tie_info(&i, h.tie), ""); err != nil {
		return Info{}, err
	}
	var form [C.BLY_FORM_TEXT]C.char
	return Info{
		Kind: C.GoString(&i.kind[0]), Hash: C.GoString(&i.hash[0]),
		Keys: C.GoString(C.bly_form_write(&form[0], i.form)), Seed: uint64(i.seed),
		Capacity: uint64(i.capacity), Bytes: uint64(i.bytes), Packed: uint64(i.packed),
		BitsPerKey: float64(i.bits_per_key), Items: uint64(i.items),
		ItemsExact: bool(i.items_exact), Distinct: float64(i.distinct),
		DistinctSD: float64(i.distinct_sd), Fill: float64(i.fill),
		Fullest: float64(i.fullest), Rate: float64(i.rate),
		PlannedRate: float64(i.planned_rate), Lost: float64(i.lost),
		Window: uint64(i.window), Saturated: uint64(i.saturated),
		Probes: uint32(i.probes), LabelBits: uint32(i.label_bits),
		LabelLeast: uint64(i.label_least), LabelMost: uint64(i.label_most),
		Geometry: geometry(i.geometry), Can: abilities(C.bly_can(h.tie.filter)),
	}, nil
}

// Aim is the goal of a ranking.
type Aim int

// The aims of Advise.
const (
	AimBalance Aim = C.BLY_AIM_BALANCE // size and time
	AimFast    Aim = C.BLY_AIM_FAST    // mostly time
	AimSmall   Aim = C.BLY_AIM_SMALL   // mostly size
)

// Need is a need for a filter. Zero values mean "not required".
type Need struct {
	Items     uint64   // keys; required unless Unknown
	Rate      float64  // false-positive rate; 0: 0.01
	Present   float64  // share of the lookups whose key is present, 0 to 1
	Can       []string // required abilities, as in Kind.Can
	Fixed     bool     // all keys are known before the filter is built
	Core      bool     // rank only kinds of the tier "core"
	Unknown   bool     // the number of keys is not known: the filter must grow
	Aim       Aim
	Memory    uint64 // limit of the filter in bytes; 0: none
	Others    uint64 // with "exact": keys that are queried and are not members
	LabelMost uint64 // with "label": the largest label; 0: 255
	Times     uint64 // the filter must tell if a key was added at least so often
}

// Advice is a kind, judged against a need.
type Advice struct {
	Kind     string  // with options, for New and Build
	Fits     bool    // whether the kind meets the need
	Beaten   bool    // whether a kind before it is at least as good in everything
	Plan     Planned // valid if it fits, like the two times
	NsLookup float64 // expected nanoseconds per lookup in a batch
	NsAdd    float64 // expected nanoseconds per add, or per key of the build
	Why      string  // one line: the reason for its rank, or what rules it out
	Limit    string  // the limit of a required ability: "counts to 14"
	Lacks    string  // important abilities that it lacks
	Tier     string  // as in Kind
}

// Advise ranks the kinds for a need, the best first. Kinds that do not meet it come
// last. Nothing is built or measured.
func Advise(need Need) ([]Advice, error) {
	can, err := flags(need.Can)
	if err != nil {
		return nil, err
	}
	answer := C.tie_advise(&C.bly_need{
		capacity: C.uint64_t(need.Items), rate: C.double(need.Rate),
		present: C.double(need.Present), can: can, fixed: C.bool(need.Fixed),
		core: C.bool(need.Core), unknown: C.bool(need.Unknown),
		aim: C.bly_aim(need.Aim), memory: C.uint64_t(need.Memory),
		others: C.uint64_t(need.Others), label_most: C.uint64_t(need.LabelMost),
		times: C.uint64_t(need.Times),
	})
	if err := check(answer, ""); err != nil {
		return nil, err
	}
	ranking := (*C.bly_ranking)(answer.memory)
	defer C.bly_ranking_free(ranking)
	ranked := make([]Advice, C.bly_ranking_count(ranking))
	for i := range ranked {
		a := C.bly_ranking_at(ranking, C.size_t(i))
		ranked[i] = Advice{
			Kind: C.GoString(&a.kind[0]), Fits: bool(a.fits), Why: C.GoString(&a.why[0]),
			Lacks: C.GoString(&a.lacks[0]),
		}
		if a.fits {
			ranked[i].Beaten = bool(a.beaten)
			ranked[i].Plan = planned(&a.plan)
			ranked[i].NsLookup = float64(a.ns_lookup)
			ranked[i].NsAdd = float64(a.ns_add)
			ranked[i].Limit = C.GoString(&a.limit[0])
			ranked[i].Tier = C.GoString(a.tier)
		}
	}
	return ranked, nil
}
