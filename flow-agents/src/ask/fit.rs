//! The value of a type within an answer.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ask::found_json::find_json;
use crate::ask::schema::ANSWER;

/// The last value in an answer that fits the type, and its JSON.
///
/// # Errors
/// The mistake in the last one, for the model to read.
pub(crate) fn fit<T: DeserializeOwned>(
    answer: &str,
    is_wrapped: bool,
) -> Result<(T, Value), String> {
    let (mut wrapped, mut bare) = (Vec::new(), Vec::new());
    for value in find_json(answer)?.into_iter().rev() {
        match value {
            Value::Object(mut object) if is_wrapped && object.len() == 1 => {
                match object.remove_entry(ANSWER) {
                    Some((_, value)) => wrapped.push((ANSWER, value)),
                    None => bare.push(("", Value::Object(object))),
                }
            }
            // A list, such as the number of a source in brackets, can be read as a struct.
            value if !is_wrapped && !value.is_object() => {}
            value => bare.push(("", value)),
        }
    }
    let mut mistake = None;
    for (place, json) in wrapped.into_iter().chain(bare) {
        match serde_path_to_error::deserialize(&json) {
            Ok(value) => return Ok((value, json)),
            Err(error) => mistake.get_or_insert_with(|| in_words(place, &error)),
        };
    }
    Err(mistake.unwrap_or_else(|| "there is no JSON object in it".to_owned()))
}

/// The mistake and its place.
fn in_words(place: &str, error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let path = error.path().to_string();
    let error = error.inner();
    let path = match (place, path.as_str()) {
        ("", ".") => return error.to_string(),
        (place, ".") => place.to_owned(),
        ("", path) => path.to_owned(),
        (place, path) if path.starts_with('[') => format!("{place}{path}"),
        (place, path) => format!("{place}.{path}"),
    };
    format!("`{path}`: {error}")
}
