//! Lists of values of one type: the results of loops over items.

use std::any::{TypeId, type_name};

use flow_runtime::NodeError;

use crate::adder::Adder;
use crate::cell::AnyValue;
use crate::value::{CloneOf, ItemFunctions, ItemsOf, JsonOf, No, ValueType, Yes};

/// Lists of values of one type.
pub struct ListType {
    plain: ValueType,
    make: fn(Vec<AnyValue>) -> AnyValue,
    take: fn(AnyValue) -> Vec<AnyValue>,
    /// Lists of the results of a loop that keeps errors.
    of_results: ValueType,
    make_of_results: fn(Vec<Result<AnyValue, NodeError>>) -> AnyValue,
}

/// The result of one item of a loop.
pub(crate) type ItemResult = Result<AnyValue, NodeError>;

impl ListType {
    /// Collects the results of a loop, one for each item.
    pub(crate) fn collected(
        &self,
        results: impl Iterator<Item = ItemResult>,
        keeps_errors: bool,
    ) -> AnyValue {
        if keeps_errors {
            return (self.make_of_results)(results.collect());
        }
        (self.make)(results.map(without_error).collect())
    }

    /// The values in a list of this type, each by itself.
    pub(crate) fn taken(&self, list: AnyValue) -> Vec<AnyValue> {
        (self.take)(list)
    }

    /// The type of the results of a loop that keeps errors or not.
    pub(crate) fn ty(&'static self, keeps_errors: bool) -> &'static ValueType {
        if keeps_errors {
            &self.of_results
        } else {
            &self.plain
        }
    }
}

/// The value of an item, in a loop that keeps no errors.
pub(crate) fn without_error(result: ItemResult) -> AnyValue {
    match result {
        Ok(value) => value,
        Err(error) => unreachable!("the loop has failed before: {error}"),
    }
}

/// Provides the JSON functions of lists of `T` and of its results.
pub trait JsonOfLists<T>: JsonOf<Vec<T>> + JsonOf<Vec<Result<T, NodeError>>> {}

impl<T, J: JsonOf<Vec<T>> + JsonOf<Vec<Result<T, NodeError>>>> JsonOfLists<T> for J {}

/// The type of lists, given how a list is iterated over, and the type of lists of such lists.
pub(crate) const fn list_type<T, J, C>(
    items: Option<ItemFunctions>,
    list: Option<&'static ListType>,
) -> ListType
where
    T: Send + Sync + 'static,
    J: JsonOfLists<T>,
    C: CloneOf<Vec<T>>,
{
    ListType {
        plain: ValueType {
            id: TypeId::of::<Vec<T>>,
            name: type_name::<Vec<T>>,
            clone: <C as CloneOf<Vec<T>>>::FUNCTIONS,
            json: <J as JsonOf<Vec<T>>>::FUNCTIONS,
            display: None,
            items,
            option: None,
            schema: None,
            adders: [Some(Adder::of::<Vec<T>, Vec<T>>()), None, None, None, None],
            list,
        },
        make: |items| AnyValue::new(items.into_iter().map(AnyValue::open).collect::<Vec<T>>()),
        take: |list| {
            let values = list.open::<Vec<T>>().into_iter();
            values.map(AnyValue::new).collect()
        },
        of_results: ValueType {
            id: TypeId::of::<Vec<Result<T, NodeError>>>,
            name: type_name::<Vec<Result<T, NodeError>>>,
            clone: None,
            json: <J as JsonOf<Vec<Result<T, NodeError>>>>::FUNCTIONS,
            display: None,
            items: <Yes as ItemsOf<Vec<Result<T, NodeError>>, No>>::FUNCTIONS,
            option: None,
            schema: None,
            adders: [None; 5],
            list: None,
        },
        make_of_results: |items| {
            let items = items.into_iter().map(|item| item.map(AnyValue::open));
            AnyValue::new(items.collect::<Vec<Result<T, NodeError>>>())
        },
    }
}
