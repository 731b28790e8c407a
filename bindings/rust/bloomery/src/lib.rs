//! Approximate membership filters: one interface for Bloom filters and over thirty
//! other kinds.
//!
//! A filter remembers a set of keys in a few bits each and answers "have I seen this
//! key?" with *certainly not* or *perhaps*. A key that was added is always found. Any
//! other key is found with a small, known probability.
//!
//! ```
//! use bloomery::Filter;
//!
//! let mut seen = Filter::builder().kind("blocked").items(1_000_000).rate(0.01).build()?;
//! assert!(seen.add("swordfish")?);        // new
//! assert!(seen.contains("swordfish")?);   // no false negatives
//! assert!(!seen.contains("sardine")?);    // certainly not there
//!
//! let bytes = seen.to_bytes()?;           // the same in every language
//! assert!(Filter::from_bytes(&bytes)?.contains("swordfish")?);
//! # Ok::<(), bloomery::Error>(())
//! ```
//!
//! - [`Builder`] makes filters, [`OpenOptions`] reads them, and [`Filter`] does the rest.
//! - [`Key`] defines which values are keys, and their bytes.
//! - [`kinds`] lists the kinds, and [`advise`] ranks them for a need.
//! - [`SharedFilter`] takes keys from many threads.
//! - [`Error`] says what was wrong and how to fix it. Nothing panics on bad input.
//!
//! Features: `all` (the default) compiles all kinds, and `core` those to meet first,
//! besides the Bloom filters of family "sets". `serde` makes a [`Filter`]
//! serializable, as its bytes. `nettle` and `icu` link with these libraries, for a few
//! formats of other systems and for the case folding of Unicode.

#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_docs)]

mod advise;
mod batch;
mod builder;
mod error;
mod facts;
mod filter;
mod key;
mod raw;
mod shared;
#[cfg(feature = "serde")]
mod with_serde;

pub use advise::{advise, Advice, Aim, Fit, Need};
pub use builder::{Builder, OpenOptions};
pub use error::{Error, ErrorKind};
pub use facts::{kinds, version, Ability, Estimate, Info, Kind, Labels, Overlap, Plan};
pub use filter::{Filter, ListKeys, Listed};
pub use key::{Key, Value};
pub use shared::SharedFilter;
