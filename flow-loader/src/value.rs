//! Values whose types are known only at run time, and the abilities of their types.
//!
//! The abilities of a type are found where a node is registered, without any bounds on the type.
//! Generated code calls a method on a [`Probe`], and rustc chooses an implementation: the one for
//! types with the ability, or the one for all others. See `probes`.

use std::any::{Any, TypeId, type_name};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

use flow_runtime::Accumulate;
use flow_runtime::engine::{Unfit, read_input};
use flow_spec::document::Property;
use flow_spec::short_name;
use serde::Serialize;
use serde::de::Deserialize;
use serde_json::Value;

use crate::adder::Adder;
use crate::cell::{AnyValue, opened_ref, unopened};
use crate::list::{JsonOfLists, ListType, list_type};

/// Shows a value to people.
pub type Shown = fn(&dyn Any) -> &(dyn fmt::Display + Send + Sync);

/// The type of a value, with its abilities.
#[derive(Clone, Copy)]
pub struct ValueType {
    pub(crate) id: fn() -> TypeId,
    pub(crate) name: fn() -> &'static str,
    /// Clones a value. `None` if the type is not `Clone`.
    pub(crate) clone: Option<CloneFunctions>,
    /// Writes values as JSON and reads them. `None` if the type is not `Serialize` and
    /// `Deserialize`.
    pub(crate) json: Option<JsonFunctions>,
    /// Shows a value to people. `None` if the type is not `Display`.
    pub(crate) display: Option<Shown>,
    /// The items of a collection.
    pub(crate) items: Option<ItemFunctions>,
    /// The value in an `Option`.
    pub(crate) option: Option<OptionFunctions>,
    /// Its JSON Schema. `None` if the type is not `JsonSchema`, or without the feature `schemars`.
    pub(crate) schema: Option<SchemaFunction>,
    /// Adders to values of other types.
    pub(crate) adders: [Option<Adder>; 5],
    /// The type of a list of such values. `None` for lists of lists, and for the value in an
    /// `Option`.
    pub(crate) list: Option<&'static ListType>,
}

/// Makes the JSON Schema of a type.
pub type SchemaFunction = fn() -> Option<Property>;

/// Writes the values of a type as JSON and reads them.
#[derive(Clone, Copy)]
pub struct JsonFunctions {
    pub(crate) serialize: fn(&dyn Any) -> &dyn erased_serde::Serialize,
    pub(crate) read: fn(Value) -> Result<AnyValue, serde_json::Error>,
    /// Like `read`, for an input from outside the program.
    pub(crate) read_input: fn(Value) -> Result<AnyValue, Unfit>,
}

/// Clones a value.
#[derive(Clone, Copy)]
pub struct CloneFunctions {
    boxed: fn(&dyn Any) -> AnyValue,
    /// `T::clone`, as a `fn(&T) -> T`.
    typed: &'static (dyn Any + Send + Sync),
}

/// Iterates over a collection.
#[derive(Clone, Copy)]
pub struct ItemFunctions {
    pub(crate) id: fn() -> TypeId,
    pub(crate) name: fn() -> &'static str,
    /// Shows an item.
    pub(crate) display: Option<Shown>,
    /// True if the items always have the same order: see `flow_runtime::Ordered`.
    pub(crate) are_ordered: bool,
    /// True if the collection is a list in JSON: see `flow_runtime::Sequence`.
    pub(crate) are_a_list: bool,
    pub(crate) all: for<'a> fn(&'a dyn Any) -> Vec<ItemValue<'a>>,
}

/// An item of a collection.
pub enum ItemValue<'a> {
    /// An item that the collection holds.
    Borrowed(&'a (dyn Any + Sync)),
    /// An item made for the loop: an entry of a map as a pair, or an item read from JSON.
    Owned(AnyValue),
}

impl ItemValue<'_> {
    pub(crate) fn any(&self) -> &(dyn Any + Sync) {
        match self {
            ItemValue::Borrowed(value) => *value,
            ItemValue::Owned(value) => value.get(),
        }
    }
}

/// Takes the value out of an `Option`.
#[derive(Clone, Copy)]
pub struct OptionFunctions {
    /// The type of the value.
    pub(crate) inner: &'static ValueType,
    pub(crate) take: fn(AnyValue) -> Option<AnyValue>,
    /// Adders of the `Option` to lists.
    pub(crate) adders: [Adder; 2],
}

impl ValueType {
    /// Returns the type's full name, as rustc writes it.
    pub fn name(&self) -> &'static str {
        (self.name)()
    }

    /// The name without its paths.
    pub(crate) fn short_name(&self) -> String {
        short_name(self.name())
    }

    /// The number of `Option`s around the value.
    pub(crate) fn options(&self) -> usize {
        let mut name = self.name();
        let mut options = 0;
        while let Some(inner) = name.strip_prefix("core::option::Option<") {
            name = inner;
            options += 1;
        }
        options
    }

    /// Returns `true` if values of this type can be written as JSON and read from it.
    pub fn is_json(&self) -> bool {
        // A value that is read from a store owns its data, so a reference has nothing to point to.
        self.json.is_some() && !self.name().contains('&')
    }

    /// A clone of a value of this type, which is `T`.
    #[inline]
    pub(crate) fn cloned<T: 'static>(&self, value: &T) -> T {
        match self.clone_functions().typed.downcast_ref::<fn(&T) -> T>() {
            Some(clone) => clone(value),
            None => unopened::<T>(),
        }
    }

    /// A clone in a box.
    pub(crate) fn cloned_box(&self, value: &dyn Any) -> AnyValue {
        (self.clone_functions().boxed)(value)
    }

    #[inline]
    fn clone_functions(&self) -> CloneFunctions {
        match self.clone {
            Some(functions) => functions,
            None => unreachable!("loading checks that what is cloned is `Clone`"),
        }
    }

    /// The adder of values of this type to those of another one, if the types show it.
    pub(crate) fn adder_to(&self, other: &ValueType) -> Option<Adder> {
        let of_option = self.option.map(|option| option.adders);
        let adders = self.adders.into_iter().flatten();
        let mut adders = adders.chain(of_option.into_iter().flatten());
        let other = (other.id)();
        adders.find(|adder| adder.adds_to(other))
    }

    /// Returns `true` if both are the same type.
    pub(crate) fn is(&self, other: &ValueType) -> bool {
        (self.id)() == (other.id)()
    }
}

impl fmt::Debug for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ValueType").field(&self.name()).finish()
    }
}

/// Values of the type `T`, as a value by which rustc chooses an implementation.
pub struct Probe<T>(PhantomData<fn() -> T>);

impl<T> Probe<T> {
    /// Creates a probe.
    #[expect(clippy::new_without_default, reason = "only generated code makes one")]
    pub const fn new() -> Self {
        Probe(PhantomData)
    }
}

/// A type has this ability.
pub struct Yes;

/// A type lacks this ability, or it is not known.
pub struct No;

/// Provides the JSON functions of `T`: [`Yes`] has them, [`No`] has none.
pub trait JsonOf<T> {
    /// The functions, if the type has the ability.
    const FUNCTIONS: Option<JsonFunctions>;
}

impl<T> JsonOf<T> for No {
    const FUNCTIONS: Option<JsonFunctions> = None;
}

// rustc cannot tell here that `&'static str` is not `DeserializeOwned`: see `is_json`.
impl<T: Serialize + Deserialize<'static> + Send + Sync + 'static> JsonOf<T> for Yes {
    const FUNCTIONS: Option<JsonFunctions> = Some(JsonFunctions {
        serialize: |value| opened_ref::<T>(value),
        read: |value| Ok(AnyValue::new(T::deserialize(value)?)),
        read_input: |value| Ok(AnyValue::new(read_input::<T>(value)?)),
    });
}

/// Provides the clone functions of `T`.
pub trait CloneOf<T> {
    /// The functions, if the type has the ability.
    const FUNCTIONS: Option<CloneFunctions>;
}

impl<T> CloneOf<T> for No {
    const FUNCTIONS: Option<CloneFunctions> = None;
}

impl<T: Clone + Send + Sync + 'static> CloneOf<T> for Yes {
    const FUNCTIONS: Option<CloneFunctions> = Some(CloneFunctions {
        boxed: |value| AnyValue::new(opened_ref::<T>(value).clone()),
        typed: &(T::clone as fn(&T) -> T),
    });
}

/// Provides the function that shows a `T`.
pub trait DisplayOf<T> {
    /// The function, if the type has the ability.
    const FUNCTION: Option<Shown>;
}

impl<T> DisplayOf<T> for No {
    const FUNCTION: Option<Shown> = None;
}

impl<T: fmt::Display + Send + Sync + 'static> DisplayOf<T> for Yes {
    const FUNCTION: Option<Shown> = Some(|value| opened_ref::<T>(value));
}

/// Provides the schema function of `T`.
pub trait SchemaOf<T> {
    /// The function, if the type has the ability.
    const FUNCTION: Option<SchemaFunction>;
}

impl<T> SchemaOf<T> for No {
    const FUNCTION: Option<SchemaFunction> = None;
}

#[cfg(feature = "schemars")]
impl<T: schemars::JsonSchema> SchemaOf<T> for Yes {
    const FUNCTION: Option<SchemaFunction> = Some(|| {
        use flow_runtime::__private::export_values::{SchemaOf, UserSchema};
        <&SchemaOf<T> as UserSchema>::__schema(&&SchemaOf(PhantomData))
    });
}

/// The JSON Schema of the type that a probe stands for.
pub const fn schema_of<T, S: SchemaOf<T>>(_: &Probe<T>, _: &S) -> Option<SchemaFunction> {
    S::FUNCTION
}

/// Provides the functions of a collection `T`, whose items can be shown or not.
pub trait ItemsOf<T, D> {
    /// The functions, if the type has the ability.
    const FUNCTIONS: Option<ItemFunctions>;
}

impl<T, D> ItemsOf<T, D> for No {
    const FUNCTIONS: Option<ItemFunctions> = None;
}

impl<C: Collection + 'static, D: DisplayOf<C::Item>> ItemsOf<C, D> for Yes {
    const FUNCTIONS: Option<ItemFunctions> = Some(ItemFunctions {
        id: TypeId::of::<C::Item>,
        name: type_name::<C::Item>,
        display: D::FUNCTION,
        are_ordered: C::IS_ORDERED,
        are_a_list: C::IS_SEQUENCE,
        all: |value| opened_ref::<C>(value).all(),
    });
}

/// Provides the functions of an `Option`, whose value has these abilities.
pub trait OptionOf<T, J, C> {
    /// The functions, if the type has the ability.
    const FUNCTIONS: Option<OptionFunctions>;
}

impl<T, J, C> OptionOf<T, J, C> for No {
    const FUNCTIONS: Option<OptionFunctions> = None;
}

impl<O, J, C> OptionOf<O, J, C> for Yes
where
    O: Optional + 'static,
    O::Value: Send + Sync + 'static,
    J: JsonOf<O::Value>,
    C: CloneOf<O::Value>,
{
    const FUNCTIONS: Option<OptionFunctions> = Some(OptionFunctions {
        inner: &ValueType {
            id: TypeId::of::<O::Value>,
            name: type_name::<O::Value>,
            clone: C::FUNCTIONS,
            json: J::FUNCTIONS,
            display: None,
            items: None,
            option: None,
            schema: None,
            adders: [None; 5],
            list: None,
        },
        take: |value| {
            let value = value.open::<O>().into_option();
            value.map(AnyValue::new)
        },
        adders: [
            Adder::of::<Vec<O::Value>, Option<O::Value>>(),
            Adder::of::<VecDeque<O::Value>, Option<O::Value>>(),
        ],
    });
}

/// Provides the adder of a `T` to another `T`.
pub trait AddsToItself<T> {
    /// The adder, if the type has the ability.
    const ADDER: Option<Adder>;
}

impl<T> AddsToItself<T> for No {
    const ADDER: Option<Adder> = None;
}

impl<T: Accumulate<T> + Default + Send + Sync + 'static> AddsToItself<T> for Yes {
    const ADDER: Option<Adder> = Some(Adder::of::<T, T>());
}

/// Provides the adder of a `T` to a `BTreeSet<T>`.
pub trait AddsToOrdered<T> {
    /// The adder, if the type has the ability.
    const ADDER: Option<Adder>;
}

impl<T> AddsToOrdered<T> for No {
    const ADDER: Option<Adder> = None;
}

impl<T: Ord + Send + Sync + 'static> AddsToOrdered<T> for Yes {
    const ADDER: Option<Adder> = Some(Adder::of::<BTreeSet<T>, T>());
}

/// Provides the adder of a `T` to a `HashSet<T>`.
pub trait AddsToHashed<T> {
    /// The adder, if the type has the ability.
    const ADDER: Option<Adder>;
}

impl<T> AddsToHashed<T> for No {
    const ADDER: Option<Adder> = None;
}

impl<T: Eq + Hash + Send + Sync + 'static> AddsToHashed<T> for Yes {
    const ADDER: Option<Adder> = Some(Adder::of::<HashSet<T>, T>());
}

/// An `Option`. A trait rather than the type, so that rustc does not take a type that it cannot
/// infer for an `Option` and report that.
pub trait Optional {
    /// The value in it.
    type Value;
    /// Returns the `Option` itself.
    fn into_option(self) -> Option<Self::Value>;
}

impl<T> Optional for Option<T> {
    type Value = T;
    fn into_option(self) -> Option<T> {
        self
    }
}

/// A collection of owned items.
pub trait Collection {
    /// Its items.
    type Item: 'static;
    /// True if its items always have the same order.
    const IS_ORDERED: bool = true;
    /// True if it is a list in JSON, each part of which is such a collection too.
    const IS_SEQUENCE: bool = false;
    /// Returns all items, in its order.
    fn all(&self) -> Vec<ItemValue<'_>>;
}

macro_rules! collections {
    ($([$($generics:tt)*] $collection:ty { $($what:ident = $is:literal)? },)*) => {$(
        impl<T: Sync + 'static, $($generics)*> Collection for $collection {
            type Item = T;
            $(const $what: bool = $is;)?
            fn all(&self) -> Vec<ItemValue<'_>> {
                self.iter().map(|item| ItemValue::Borrowed(item)).collect()
            }
        }
    )*};
}
collections! {
    [] Vec<T> { IS_SEQUENCE = true },
    [] VecDeque<T> { IS_SEQUENCE = true },
    [] BTreeSet<T> { IS_SEQUENCE = true },
    [S] HashSet<T, S> { IS_ORDERED = false },
    [const N: usize] [T; N] {},
    [] Box<[T]> { IS_SEQUENCE = true },
    [] Arc<[T]> {},
}

macro_rules! maps {
    ($([$($generics:tt)*] $map:ty { $($what:ident = $is:literal)? },)*) => {$(
        impl<K, V, $($generics)*> Collection for $map
        where
            K: Clone + Send + Sync + 'static,
            V: Clone + Send + Sync + 'static,
        {
            type Item = (K, V);
            $(const $what: bool = $is;)?
            fn all(&self) -> Vec<ItemValue<'_>> {
                let pairs = self.iter().map(|(key, value)| (key.clone(), value.clone()));
                pairs.map(|pair| ItemValue::Owned(AnyValue::new(pair))).collect()
            }
        }
    )*};
}
maps! {
    [] BTreeMap<K, V> {},
    [S] HashMap<K, V, S> { IS_ORDERED = false },
}

/// The value type of `T`, given its abilities.
#[expect(clippy::too_many_arguments, reason = "one for each capability")]
pub const fn value_type<T, J, C, D, I, E, O, S, A, B, H>(
    _: &Probe<T>,
    _: &J,
    _: &C,
    _: &D,
    _: &I,
    _: &E,
    _: &O,
    _: &S,
    _: &A,
    _: &B,
    _: &H,
) -> &'static ValueType
where
    T: Send + Sync + 'static,
    J: JsonOf<T> + JsonOfLists<T> + JsonOfLists<Vec<T>>,
    C: CloneOf<T> + CloneOf<Vec<T>> + CloneOf<Vec<Vec<T>>>,
    D: DisplayOf<T>,
    I: ItemsOf<T, E>,
    O: OptionOf<T, J, C>,
    S: SchemaOf<T>,
    A: AddsToItself<T>,
    B: AddsToOrdered<T>,
    H: AddsToHashed<T>,
{
    const {
        &ValueType {
            id: TypeId::of::<T>,
            name: type_name::<T>,
            clone: <C as CloneOf<T>>::FUNCTIONS,
            json: <J as JsonOf<T>>::FUNCTIONS,
            display: D::FUNCTION,
            items: <I as ItemsOf<T, E>>::FUNCTIONS,
            option: <O as OptionOf<T, J, C>>::FUNCTIONS,
            schema: S::FUNCTION,
            adders: [
                A::ADDER,
                Some(Adder::of::<Vec<T>, T>()),
                Some(Adder::of::<VecDeque<T>, T>()),
                B::ADDER,
                H::ADDER,
            ],
            list: Some(&list_type::<T, J, C>(
                <Yes as ItemsOf<Vec<T>, D>>::FUNCTIONS,
                Some(
                    const {
                        let items = <Yes as ItemsOf<Vec<Vec<T>>, No>>::FUNCTIONS;
                        &list_type::<Vec<T>, J, C>(items, None)
                    },
                ),
            )),
        }
    }
}

/// The value type of a probe's type. For generated code.
#[doc(hidden)]
#[macro_export]
macro_rules! __value_type {
    ($probe:expr) => {{
        use $crate::__private::probes::*;
        let __probe = &$probe;
        $crate::__private::value_type(
            __probe,
            &__probe.__json(),
            &__probe.__cloned(),
            &__probe.__displayed(),
            &__probe.__items(),
            &(&__probe.__item()).__displayed(),
            &__probe.__option(),
            &__probe.__schema(),
            &__probe.__added_to_itself(),
            &__probe.__ordered(),
            &__probe.__hashed(),
        )
    }};
}

/// The JSON Schema of a type. For generated code.
#[doc(hidden)]
#[macro_export]
macro_rules! __schema_of {
    ($type:ty) => {{
        use $crate::__private::probes::*;
        let __probe = &$crate::__private::Probe::<$type>::new();
        $crate::__private::schema_of(__probe, &__probe.__schema())
    }};
}
