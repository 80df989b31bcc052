//! Traits that choose by the abilities of a type. Generated code imports all of them; for a
//! `Probe<T>`, rustc takes the first that applies.

use std::fmt::Display;
use std::hash::Hash;

use flow_runtime::Accumulate;
use serde::Serialize;
use serde::de::Deserialize;

use crate::value::{Collection, No, Optional, Probe, Yes};

/// A probe of the items of a collection.
pub trait HasItem {
    /// The item.
    type Item;
    /// The probe.
    fn __item(&self) -> Probe<Self::Item> {
        Probe::new()
    }
}

impl<C: Collection + 'static> HasItem for Probe<C> {
    type Item = C::Item;
}

/// A type without items.
pub trait HasNoItem {
    /// Returns a probe of a type without abilities.
    fn __item(&self) -> Probe<No> {
        Probe::new()
    }
}

impl<T> HasNoItem for &Probe<T> {}

macro_rules! probes {
    ($($yes:ident $no:ident $method:ident [$($bounds:tt)*];)*) => {$(
        /// Implemented if the type has this ability.
        pub trait $yes {
            /// Returns `Yes`.
            fn $method(&self) -> Yes {
                Yes
            }
        }

        impl<T: $($bounds)*> $yes for Probe<T> {}

        /// Implemented if the type lacks this ability.
        pub trait $no {
            /// Returns `No`.
            fn $method(&self) -> No {
                No
            }
        }

        impl<T> $no for &Probe<T> {}
    )*};
}
probes! {
    IsJson IsNotJson __json [Serialize + Deserialize<'static> + Send + Sync + 'static];
    IsClone IsNotClone __cloned [Clone + Send + Sync + 'static];
    IsDisplay IsNotDisplay __displayed [Display + Send + Sync + 'static];
    IsCollection IsNotCollection __items [Collection + 'static];
    IsOption IsNotOption __option [Optional<Value: Send + Sync + 'static> + 'static];
    IsAddedToItself IsNotAddedToItself __added_to_itself [Accumulate<T> + Default + Send + Sync + 'static];
    IsOrdered IsNotOrdered __ordered [Ord + Send + Sync + 'static];
    IsHashed IsNotHashed __hashed [Eq + Hash + Send + Sync + 'static];
}

#[cfg(feature = "schemars")]
probes! {
    IsSchema IsNotSchema __schema [schemars::JsonSchema];
}

/// Without the feature `schemars`, no type is known to have a schema.
#[cfg(not(feature = "schemars"))]
pub trait IsNotSchema {
    /// Returns `No`.
    fn __schema(&self) -> No {
        No
    }
}

#[cfg(not(feature = "schemars"))]
impl<T> IsNotSchema for Probe<T> {}
