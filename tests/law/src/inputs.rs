//! Inputs for a flow, by the types that its document names.

use flow_spec::FlowDocument;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::dream::{Dice, dream};

/// Makes up a value of a type.
#[doc(hidden)]
pub struct Type {
    name: String,
    dream: fn(&mut Dice) -> Result<Value, serde::de::value::Error>,
}

impl Type {
    /// The type with this text.
    pub fn of<T: DeserializeOwned>(text: &str) -> Self {
        Type {
            name: without_spaces(text),
            dream: dream::<T>,
        }
    }
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The types that any flow may have.
fn common() -> Vec<Type> {
    macro_rules! types {
        ($($type:ty),* $(,)?) => { vec![$(Type::of::<$type>(stringify!($type))),*] };
    }
    types![
        bool,
        char,
        String,
        u8,
        u16,
        u32,
        u64,
        u128,
        usize,
        i8,
        i16,
        i32,
        i64,
        isize,
        f32,
        f64,
        Value,
        Box<str>,
        std::time::Duration,
        Duration,
        (),
    ]
}

/// `Duration` is how flows name it.
type Duration = std::time::Duration;

/// A value of each input of a flow.
///
/// # Errors
///
/// A type is not known.
pub(crate) fn input(
    flow: &FlowDocument,
    types: &[&Type],
    dice: &mut Dice,
) -> Result<Value, String> {
    let common = common();
    let known: Vec<&Type> = types.iter().copied().chain(&common).collect();
    let mut input = Map::new();
    for (name, rust_type, required) in flow.inputs.values() {
        if !required && dice.below(3) == 0 {
            continue;
        }
        let text = without_spaces(rust_type.unwrap_or_default());
        input.insert(name.to_owned(), value(&text, &known, dice)?);
    }
    Ok(Value::Object(input))
}

fn value(text: &str, known: &[&Type], dice: &mut Dice) -> Result<Value, String> {
    if let Some(known) = known.iter().find(|known| known.name == text) {
        return (known.dream)(dice).map_err(|error| format!("`{text}`: {error}"));
    }
    let inside = |name: &str| {
        let rest = text.strip_prefix(name)?.strip_prefix('<')?;
        rest.strip_suffix('>')
    };
    if let Some(inner) = inside("Option") {
        return match dice.below(3) {
            0 => Ok(Value::Null),
            _ => value(inner, known, dice),
        };
    }
    for list in ["Vec", "VecDeque"] {
        if let Some(inner) = inside(list) {
            let items = (0..dice.below(5)).map(|_| value(inner, known, dice));
            return items.collect::<Result<Vec<_>, _>>().map(Value::Array);
        }
    }
    Err(format!(
        "no value of `{text}` is known: list the type in `types`"
    ))
}
