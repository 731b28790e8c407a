//! Facts about filters, plans and kinds.

use bloomery_sys as ffi;

use crate::raw;

macro_rules! abilities {
    ($($(#[$doc:meta])* $name:ident = $flag:ident,)*) => {
        /// Something that a kind of filter can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Ability {
            $($(#[$doc])* $name,)*
        }

        impl Ability {
            /// All abilities.
            pub const ALL: &'static [Ability] = &[$(Ability::$name,)*];

            pub(crate) fn flag(self) -> u64 {
                match self {
                    $(Ability::$name => ffi::$flag,)*
                }
            }
        }
    };
}

abilities! {
    /// Keys can be added one by one; other kinds are built from all keys at once.
    Add = BLY_CAN_ADD,
    /// It sees whole keys, not only their hashes.
    WholeKeys = BLY_CAN_WHOLE_KEYS,
    /// It can be queried.
    Contains = BLY_CAN_CONTAINS,
    /// Keys can be removed.
    Remove = BLY_CAN_REMOVE,
    /// It counts how often a key was added.
    Count = BLY_CAN_COUNT,
    /// It stores a label with each key.
    Label = BLY_CAN_LABEL,
    /// It is built from members and other keys, and tells them apart without error.
    Separate = BLY_CAN_SEPARATE,
    /// Many threads can add to it at once: [`SharedFilter`](crate::SharedFilter).
    Share = BLY_CAN_SHARE,
    /// It has pages, for filters larger than memory.
    Page = BLY_CAN_PAGE,
    /// A key is in one place of the image.
    Local = BLY_CAN_LOCAL,
    /// It grows by itself.
    Grow = BLY_CAN_GROW,
    /// It forgets old keys of an endless stream.
    Forget = BLY_CAN_FORGET,
    /// It can be resized without its keys.
    Resize = BLY_CAN_RESIZE,
    /// It lists its fingerprints.
    Fingerprints = BLY_CAN_FINGERPRINTS,
    /// It is smaller once saved or sent.
    Pack = BLY_CAN_PACK,
    /// Two of them can be united.
    Unite = BLY_CAN_UNITE,
    /// Two of them can be united at a label.
    UniteAt = BLY_CAN_UNITE_AT,
    /// Two of them can be intersected.
    Intersect = BLY_CAN_INTERSECT,
    /// Two of them can be compared.
    Overlap = BLY_CAN_OVERLAP,
    /// One can be subtracted from another.
    Subtract = BLY_CAN_SUBTRACT,
    /// It lists its keys.
    ListKeys = BLY_CAN_LIST_KEYS,
    /// It has no false positives.
    Exact = BLY_CAN_EXACT,
    /// It can be folded to a smaller one.
    Fold = BLY_CAN_FOLD,
}

const _: () = assert!(Ability::ALL.len() == ffi::BLY_ABILITIES, "an ability is missing");

impl Ability {
    /// Returns the library's word for the ability, such as `"whole keys"`.
    pub fn name(self) -> &'static str {
        raw::ability(self.flag())
    }
}

/// Labels of a filter, from the least to the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Bits of the largest label.
    pub bits: u32,
    /// The least label.
    pub least: u64,
    /// The greatest label.
    pub most: u64,
}

fn labels(bits: u32, least: u64, most: u64) -> Option<Labels> {
    (bits != 0).then(|| Labels { bits, least, most })
}

/// The size, rate and costs of a filter, known before it is built.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The kind, without options.
    pub kind: String,
    /// Number of keys that it is planned for.
    pub items: u64,
    /// Bytes of the whole image.
    pub bytes: u64,
    /// Expected bytes once saved or sent.
    pub packed: u64,
    /// Bytes that building it allocates besides, temporarily.
    pub scratch: u64,
    /// `8 * bytes / items`.
    pub bits_per_key: f64,
    /// Predicted false-positive rate at `items` keys.
    pub rate: f64,
    /// Its standard deviation from filter to filter.
    pub rate_sd: f64,
    /// Share of bits, cells or slots in use then.
    pub fill: f64,
    /// Chance that a key which is there is not found; 0 for most kinds.
    pub lost: f64,
    /// Number of the last keys added that are certainly found; `None`: all.
    pub window: Option<u64>,
    /// Cache lines touched by a lookup of a key that is there, at most.
    pub lines_present: f64,
    /// Cache lines touched by a lookup of a key that is not there, at most.
    pub lines_absent: f64,
    /// Bits, cells or places of a key.
    pub probes: u32,
    /// The labels that it can store, if any.
    pub labels: Option<Labels>,
    /// The kind's own numbers.
    pub geometry: [u64; 4],
    can: u64,
}

impl Plan {
    pub(crate) fn of(plan: &ffi::bly_plan_t) -> Plan {
        Plan {
            kind: raw::in_array(&plan.kind),
            items: plan.capacity,
            bytes: plan.bytes,
            packed: if plan.packed == 0 { plan.bytes } else { plan.packed },
            scratch: plan.scratch,
            bits_per_key: plan.bits_per_key,
            rate: plan.rate,
            rate_sd: plan.rate_sd,
            fill: plan.fill,
            lost: plan.lost,
            window: (plan.window != u64::MAX).then_some(plan.window),
            lines_present: plan.lines_present,
            lines_absent: plan.lines_absent,
            probes: plan.probes,
            labels: labels(plan.label_bits, plan.label_least, plan.label_most),
            geometry: plan.geometry,
            can: plan.can,
        }
    }

    /// Returns whether the filter will have an ability.
    pub fn can(&self, ability: Ability) -> bool {
        self.can & ability.flag() != 0
    }
}

/// Facts and estimates about a filter, from [`Filter::info`](crate::Filter::info).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Info {
    /// The kind, without options.
    pub kind: String,
    /// The hash function.
    pub hash: String,
    /// Its seed.
    pub seed: u64,
    /// The form of the keys, such as `"text"`; `"any"`: not stated.
    pub keys: String,
    /// Number of keys that it was planned for, or has grown to.
    pub capacity: u64,
    /// Bytes of the whole image.
    pub bytes: u64,
    /// Approximate bytes once saved or sent.
    pub packed: u64,
    /// `8 * bytes / capacity`.
    pub bits_per_key: f64,
    /// Successful adds, with repeats; an estimate unless `items_exact`.
    pub items: u64,
    /// Whether `items` is exact.
    pub items_exact: bool,
    /// Number of different keys, estimated; infinite if every bit is set.
    pub distinct: f64,
    /// Its standard deviation; 0: exact; infinite: `distinct` is an upper bound.
    pub distinct_sd: f64,
    /// Share of bits, cells or slots in use.
    pub fill: f64,
    /// Present false-positive rate.
    pub rate: f64,
    /// False-positive rate planned for `capacity` keys.
    pub planned_rate: f64,
    /// Chance that a key which is there is not found; 0 for most kinds.
    pub lost: f64,
    /// Number of the last keys added that are certainly found; `None`: all.
    pub window: Option<u64>,
    /// Counters at their largest value, which no removal lowers.
    pub saturated: u64,
    /// Bits, cells or places of a key.
    pub probes: u32,
    /// The labels that it can store, if any.
    pub labels: Option<Labels>,
    /// The kind's own numbers.
    pub geometry: [u64; 4],
}

impl Info {
    pub(crate) fn of(info: &ffi::bly_info_t) -> Info {
        Info {
            kind: raw::in_array(&info.kind),
            hash: raw::in_array(&info.hash),
            seed: info.seed,
            keys: raw::form_text(info.form),
            capacity: info.capacity,
            bytes: info.bytes,
            packed: if info.packed == 0 { info.bytes } else { info.packed },
            bits_per_key: info.bits_per_key,
            items: info.items,
            items_exact: info.items_exact,
            distinct: info.distinct,
            distinct_sd: info.distinct_sd,
            fill: info.fill,
            rate: info.rate,
            planned_rate: info.planned_rate,
            lost: info.lost,
            window: (info.window != u64::MAX).then_some(info.window),
            saturated: info.saturated,
            probes: info.probes,
            labels: labels(info.label_bits, info.label_least, info.label_most),
            geometry: info.geometry,
        }
    }
}

/// A number and its standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number. A small one may be estimated below 0.
    pub value: f64,
    /// Its standard deviation.
    pub sd: f64,
}

/// How many keys two filters have, from [`Filter::overlap`](crate::Filter::overlap).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Overlap {
    /// Keys in the first filter.
    pub a: Estimate,
    /// Keys in the second filter.
    pub b: Estimate,
    /// Keys in at least one of them.
    pub either: Estimate,
    /// Keys in both.
    pub both: Estimate,
    /// Keys in just one of them.
    pub differ: Estimate,
    /// `both / either`.
    pub jaccard: Estimate,
}

impl Overlap {
    pub(crate) fn of(overlap: &ffi::bly_overlap_t) -> Overlap {
        let estimate = |e: ffi::bly_estimate| Estimate { value: e.value, sd: e.sd };
        Overlap {
            a: estimate(overlap.a),
            b: estimate(overlap.b),
            either: estimate(overlap.either),
            both: estimate(overlap.both),
            differ: estimate(overlap.differ),
            jaccard: estimate(overlap.jaccard),
        }
    }
}

/// A kind of filter.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Kind {
    /// Its name, for [`Builder::kind`](crate::Builder::kind).
    pub name: &'static str,
    /// Its family, such as `"sets"`.
    pub family: &'static str,
    /// One line.
    pub summary: &'static str,
    /// `"core"`: the kinds to meet first; `"more"`: for rarer needs;
    /// `"experimental"`: its bytes may change in a later version.
    pub tier: &'static str,
    can: u64,
}

impl Kind {
    /// Returns whether filters of this kind have an ability, without options.
    pub fn can(&self, ability: Ability) -> bool {
        self.can & ability.flag() != 0
    }
}

/// Returns all kinds that were compiled, sorted by family.
///
/// ```
/// use bloomery::{kinds, Ability};
///
/// let blocked = kinds().into_iter().find(|kind| kind.name == "blocked").unwrap();
/// assert!(blocked.can(Ability::Share) && !blocked.can(Ability::Remove));
/// ```
pub fn kinds() -> Vec<Kind> {
    raw::kinds()
        .into_iter()
        .map(|([name, family, summary, tier], can)| Kind { name, family, summary, tier, can })
        .collect()
}

/// Returns the version of the library, which is that of this crate.
///
/// ```
/// assert_eq!(bloomery::version(), env!("CARGO_PKG_VERSION"));
/// ```
pub fn version() -> &'static str {
    raw::version()
}
