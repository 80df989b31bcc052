//! Chooses by what a type can do. Generated code imports all of these traits; for a `Probe<T>`, rustc
//! takes the first that applies.

use std::fmt::Display;

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
    /// A probe of a type that can do nothing.
    fn __item(&self) -> Probe<No> {
        Probe::new()
    }
}

impl<T> HasNoItem for &Probe<T> {}

macro_rules! probes {
    ($($yes:ident $no:ident $method:ident [$($bounds:tt)*];)*) => {$(
        /// The type can do this.
        pub trait $yes {
            /// Yes.
            fn $method(&self) -> Yes {
                Yes
            }
        }

        impl<T: $($bounds)*> $yes for Probe<T> {}

        /// The type cannot do this.
        pub trait $no {
            /// No.
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
}

#[cfg(feature = "schemars")]
probes! {
    IsSchema IsNotSchema __schema [schemars::JsonSchema];
}

/// Without the feature `schemars`, no type is known to have a schema.
#[cfg(not(feature = "schemars"))]
pub trait IsNotSchema {
    /// No.
    fn __schema(&self) -> No {
        No
    }
}

#[cfg(not(feature = "schemars"))]
impl<T> IsNotSchema for Probe<T> {}
