//! Advice: which kind for which need.

use bloomery_sys as ffi;

use crate::raw;
use crate::{Ability, Error, Plan};

/// What a ranking minimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aim {
    /// Time and size alike.
    #[default]
    Balance,
    /// Mostly the time of a lookup.
    Fast,
    /// Mostly size.
    Small,
}

/// A need, for [`advise`]. Fields that are 0 or false have the usual meaning.
#[derive(Clone, Copy, Debug, Default)]
pub struct Need<'a> {
    /// Number of keys; required, unless `unknown`.
    pub items: u64,
    /// False-positive rate; 0: 0.01.
    pub rate: f64,
    /// Share of the lookups whose key is present, from 0 to 1.
    pub present: f64,
    /// Required abilities.
    pub can: &'a [Ability],
    /// All keys are known before the build, and none are added later.
    pub fixed: bool,
    /// Only kinds of the tier "core".
    pub core: bool,
    /// The number of keys is not known: the filter must grow.
    pub unknown: bool,
    /// What to minimise.
    pub aim: Aim,
    /// Limit of the filter in bytes; 0: none.
    pub memory: u64,
    /// With [`Ability::Exact`]: keys that are queried and not members; 0: as many as
    /// there are members.
    pub others: u64,
    /// With [`Ability::Label`]: the largest label; 0: 255.
    pub label_most: u64,
    /// The filter must tell whether a key was added at least so often; 0: it need not.
    pub times: u64,
}

/// A kind, judged against a need.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Advice {
    /// The kind with options, for [`Builder::kind`](crate::Builder::kind).
    pub kind: String,
    /// The tier of the kind.
    pub tier: &'static str,
    /// Its plan and the nanoseconds expected for it; `None`: it does not meet the need.
    pub fits: Option<Fit>,
    /// One line: the reason for its rank, or what rules it out.
    pub why: String,
    /// The limit of a required ability, such as `"counts to 14"`; or empty.
    pub limit: String,
    /// The important abilities that it lacks or has only in part.
    pub lacks: String,
}

/// What a kind that meets a need would cost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fit {
    /// Its plan.
    pub plan: Plan,
    /// A kind ranked before it is at least as good.
    pub beaten: bool,
    /// Nanoseconds expected for a lookup in a batch.
    pub ns_lookup: f64,
    /// Nanoseconds expected for an add, or for a key of the build.
    pub ns_add: f64,
}

/// Ranks the kinds for a need, the best first; those that do not meet it come last.
/// Nothing is built or measured. Errors are of kind `Parameter` and `OutOfMemory`.
///
/// ```
/// use bloomery::{advise, Ability, Need};
///
/// let need = Need { items: 1_000_000, can: &[Ability::Remove], ..Need::default() };
/// let best = &advise(&need)?[0];
/// assert!(best.fits.is_some(), "{}", best.why);
/// # Ok::<(), bloomery::Error>(())
/// ```
pub fn advise(need: &Need<'_>) -> Result<Vec<Advice>, Error> {
    let fill = |raw: &mut ffi::bly_need| {
        raw.capacity = need.items;
        raw.rate = need.rate;
        raw.present = need.present;
        raw.can = need.can.iter().fold(0, |flags, ability| flags | ability.flag());
        raw.fixed = need.fixed;
        raw.core = need.core;
        raw.unknown = need.unknown;
        raw.aim = match need.aim {
            Aim::Balance => ffi::BLY_AIM_BALANCE,
            Aim::Fast => ffi::BLY_AIM_FAST,
            Aim::Small => ffi::BLY_AIM_SMALL,
        };
        raw.memory = need.memory;
        raw.others = need.others;
        raw.label_most = need.label_most;
        raw.times = need.times;
    };
    raw::advise(fill, |advice, tier| Advice {
        kind: raw::in_array(&advice.kind),
        tier,
        fits: advice.fits.then(|| Fit {
            plan: Plan::of(&advice.plan),
            beaten: advice.beaten,
            ns_lookup: advice.ns_lookup,
            ns_add: advice.ns_add,
        }),
        why: raw::in_array(&advice.why),
        limit: raw::in_array(&advice.limit),
        lacks: raw::in_array(&advice.lacks),
    })
}
