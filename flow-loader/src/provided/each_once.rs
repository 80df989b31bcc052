//! Maps of texts without duplicate names.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserializer;
use serde::de::{Error as _, MapAccess, Visitor};

/// Reads texts by name. A duplicate name is an error, because it is unclear which one was meant.
pub(super) fn read<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    struct EachOnce;

    impl<'de> Visitor<'de> for EachOnce {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("texts by name")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut read = BTreeMap::new();
            while let Some((name, sealed)) = map.next_entry()? {
                if read.insert(name, sealed).is_some() {
                    return Err(A::Error::custom("a name is there twice"));
                }
            }
            Ok(read)
        }
    }

    from.deserialize_map(EachOnce)
}
