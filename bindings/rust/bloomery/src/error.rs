//! Errors: what went wrong, and the library's sentence about it.

use std::fmt;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $status:ident,)*) => {
        /// The reason for which a call failed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[$doc])* $name,)*
            /// A status that this version of the crate does not know.
            Other,
        }

        impl ErrorKind {
            pub(crate) fn of(status: bloomery_sys::bly_status) -> ErrorKind {
                match status {
                    $(bloomery_sys::$status => ErrorKind::$name,)*
                    _ => ErrorKind::Other,
                }
            }
        }
    };
}

kinds! {
    /// Out of memory.
    OutOfMemory = BLY_ENOMEM,
    /// A parameter is out of its range, or a value cannot be a key of the filter.
    Parameter = BLY_EPARAM,
    /// Unknown kind of filter, or a kind that was not compiled.
    Kind = BLY_EKIND,
    /// The kind has no such option, or the option not that value.
    Option = BLY_EOPTION,
    /// Unknown hash function, or one that does not suit the kind.
    Hash = BLY_EHASH,
    /// The filter would be larger than can be addressed.
    TooBig = BLY_ETOOBIG,
    /// The bytes are not a filter.
    Format = BLY_EFORMAT,
    /// The filter was written by another version.
    Version = BLY_EVERSION,
    /// The bytes are damaged or cut short.
    Corrupt = BLY_ECORRUPT,
    /// The file is being written, or its writer died.
    Unsealed = BLY_EUNSEALED,
    /// The system refused to read or write: see [`Error::raw_os_error`].
    Io = BLY_EIO,
    /// The filters differ in kind, plan, hash, seed or form of keys.
    Mismatch = BLY_EMISMATCH,
    /// The filter is full, and unchanged.
    Full = BLY_EFULL,
    /// The key is not in the filter, and nothing was changed.
    Absent = BLY_EABSENT,
    /// This kind of filter does not support the operation.
    Unsupported = BLY_EUNSUPPORTED,
    /// The filter was opened for reading only.
    ReadOnly = BLY_EREADONLY,
    /// The key cannot be removed without risk to others.
    Unsafe = BLY_EUNSAFE,
    /// The key was removed once and cannot be added again.
    Removed = BLY_EREMOVED,
    /// The secret is missing, wrong or not needed.
    Secret = BLY_ESECRET,
    /// The new file is in place, but a crash may undo that.
    Unflushed = BLY_EUNFLUSHED,
    /// The key is of another class than the filter's keys.
    Form = BLY_EFORM,
    /// The call was cancelled.
    Cancelled = BLY_ECANCELED,
    /// More memory would be needed than the limit allows.
    Limit = BLY_ELIMIT,
}

/// A failed call: its [kind](ErrorKind), and one sentence for people that says what
/// was wrong and how to fix it.
///
/// ```
/// use bloomery::{ErrorKind, Filter};
///
/// let error = Filter::builder().items(1000).rate(2.0).build().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Parameter);
/// assert!(error.to_string().contains("give one between 0 and 1"));
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    why: String,
    os: i32,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, why: impl Into<String>, os: i32) -> Error {
        Error(Box::new(Inner { kind, why: why.into(), os }))
    }

    /// Returns the reason.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the system's error number, if the system caused the failure.
    pub fn raw_os_error(&self) -> Option<i32> {
        (self.0.os != 0).then_some(self.0.os)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.why)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}: {})", self.0.kind, self.0.why)
    }
}

impl std::error::Error for Error {}

/// An [`std::io::Error`] with the system's reason, or of kind `Other`.
impl From<Error> for std::io::Error {
    fn from(error: Error) -> std::io::Error {
        let kind = error
            .raw_os_error()
            .map_or(std::io::ErrorKind::Other, |os| std::io::Error::from_raw_os_error(os).kind());
        std::io::Error::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorKind;
    use crate::raw;

    #[test]
    fn every_status_has_a_kind() {
        for status in -200..0 {
            let unknown = raw::general(status).to_string() == "unknown status";
            assert_eq!(ErrorKind::of(status) == ErrorKind::Other, unknown, "{status}");
        }
    }
}
