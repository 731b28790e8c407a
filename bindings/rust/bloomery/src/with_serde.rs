//! Filters in serde's formats: as the bytes of a file.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};

use crate::Filter;

/// As the bytes of [`Filter::to_bytes`].
impl Serialize for Filter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes().map_err(S::Error::custom)?)
    }
}

/// By [`Filter::from_bytes`], which checks everything.
impl<'de> Deserialize<'de> for Filter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Filter, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }
}

struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Filter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a Bloomery filter")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Filter, E> {
        Filter::from_bytes(bytes).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Filter, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element()? {
            bytes.push(byte);
        }
        Filter::from_bytes(&bytes).map_err(A::Error::custom)
    }
}
