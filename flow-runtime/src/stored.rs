//! How what a flow knows is stored: its inputs, the state between two of its nodes, and its outputs, each as a JSON object by key.
//!
//! The bounds on the types of the keys lie on a type parameter, `K: Keep<Claim>`, and not on the types: a flow with a type
//! that cannot be stored compiles, and only a durable run of it does not.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::flow::Flow;

use crate::question::QuestionType;

/// A value that a journal can keep: `Serialize` and `Deserialize`, without borrowing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored, so a flow with such a value cannot be a durable run",
    label = "not `Serialize` and `Deserialize`",
    note = "derive `serde::Serialize` and `serde::Deserialize` for `{Self}`; a plain `run` does not need them"
)]
pub trait Stored: Serialize + DeserializeOwned + Send {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send> Stored for T {}

/// A way to keep values of type `T`. There is one, [`Json`], for types that are [`Stored`].
pub trait Keep<T> {
    /// The value as JSON.
    fn keep(value: &T) -> Result<Value, serde_json::Error>;
    /// The value of this JSON.
    fn give(value: Value) -> Result<T, serde_json::Error>;
}

/// Keeps values as JSON.
#[derive(Debug)]
pub struct Json;

impl<T: Stored> Keep<T> for Json {
    fn keep(value: &T) -> Result<Value, serde_json::Error> {
        serde_json::to_value(value)
    }

    fn give(value: Value) -> Result<T, serde_json::Error> {
        serde_json::from_value(value)
    }
}

/// The values of a flow by key, as JSON: its inputs, the state between two of its nodes, or its outputs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Saved(pub Map<String, Value>);

/// A value that could not be stored or read.
#[derive(Debug)]
pub struct Unstorable {
    /// Its key.
    pub key: String,
    /// Why.
    pub reason: String,
}

impl fmt::Display for Unstorable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.key, self.reason)
    }
}

impl Saved {
    /// The members of a JSON object. `None` if it is something else.
    pub fn from_json(value: Value) -> Option<Saved> {
        match value {
            Value::Object(values) => Some(Saved(values)),
            _ => None,
        }
    }

    /// A JSON object.
    pub fn into_json(self) -> Value {
        Value::Object(self.0)
    }

    /// Adds a value, if there is one.
    #[doc(hidden)]
    pub fn put<K: Keep<T>, T>(&mut self, key: &str, value: Option<&T>) -> Result<(), Unstorable> {
        if let Some(value) = value {
            let value = K::keep(value).map_err(|error| unstorable(key, &error))?;
            self.0.insert(key.to_owned(), value);
        }
        Ok(())
    }

    /// Takes a value out that may be missing.
    #[doc(hidden)]
    pub fn take<K: Keep<T>, T>(&mut self, key: &str) -> Result<Option<T>, Unstorable> {
        let value = self.0.remove(key).map(K::give).transpose();
        value.map_err(|error| unstorable(key, &error))
    }

    /// Adds the label of the end.
    #[doc(hidden)]
    pub fn put_end(&mut self, end: &str) {
        self.0
            .insert("end".to_owned(), Value::String(end.to_owned()));
    }

    /// Takes the end out that has this label.
    #[doc(hidden)]
    pub fn take_end<E: Copy>(
        &mut self,
        ends: &[E],
        label: fn(E) -> &'static str,
    ) -> Result<E, Unstorable> {
        let found = self.0.remove("end");
        let text = found.as_ref().and_then(Value::as_str).unwrap_or_default();
        ends.iter()
            .copied()
            .find(|end| label(*end) == text)
            .ok_or_else(|| Unstorable {
                key: "end".to_owned(),
                reason: format!("the flow has no end \"{text}\""),
            })
    }

    /// Takes a value out that has to be there.
    #[doc(hidden)]
    pub fn take_required<K: Keep<T>, T>(&mut self, key: &str) -> Result<T, Unstorable> {
        let missing = || Unstorable {
            key: key.to_owned(),
            reason: "it is missing".to_owned(),
        };
        self.take::<K, T>(key)?.ok_or_else(missing)
    }
}

fn unstorable(key: &str, error: &serde_json::Error) -> Unstorable {
    Unstorable {
        key: key.to_owned(),
        reason: error.to_string(),
    }
}

/// The state of a flow, whose values `K` can keep.
pub trait StoredState<K>: Sized {
    /// The state as JSON.
    fn save(&self) -> Result<Saved, Unstorable>;
    /// The state that was saved.
    fn load(saved: Saved) -> Result<Self, Unstorable>;
}

/// A flow whose inputs and outputs `K` can keep.
pub trait StoredFlow<K>: Flow {
    /// The inputs as JSON.
    fn save_input(input: &Self::Input) -> Result<Saved, Unstorable>;
    /// The inputs that were saved.
    fn load_input(saved: Saved) -> Result<Self::Input, Unstorable>;
    /// The outputs as JSON, with the label of the end as `end`.
    fn save_output(output: &Self::Output) -> Result<Saved, Unstorable>;
    /// The outputs that were saved.
    fn load_output(saved: Saved) -> Result<Self::Output, Unstorable>;
    /// What a person is asked at this path, which begins with the name of a node of this flow.
    fn question(path: &str) -> Option<QuestionType>;
}

/// The first segment of a path without the index of an item, and the rest of it.
pub fn first_segment(path: &str) -> (&str, &str) {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    (first.split('[').next().unwrap_or(first), rest)
}

/// How the inputs, the state and the outputs of a flow are stored.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_stored {
    (broken $flow:ident $input:ident $output:ident) => {
        impl<K> $crate::__private::StoredFlow<K> for $flow {
            fn save_input(_: &$input) -> ::core::result::Result<$crate::__private::Saved, $crate::__private::Unstorable> {
                ::core::unreachable!("a flow with mistakes does not compile")
            }
            fn load_input(_: $crate::__private::Saved) -> ::core::result::Result<$input, $crate::__private::Unstorable> {
                ::core::unreachable!("a flow with mistakes does not compile")
            }
            fn save_output(_: &$output) -> ::core::result::Result<$crate::__private::Saved, $crate::__private::Unstorable> {
                ::core::unreachable!("a flow with mistakes does not compile")
            }
            fn load_output(_: $crate::__private::Saved) -> ::core::result::Result<$output, $crate::__private::Unstorable> {
                ::core::unreachable!("a flow with mistakes does not compile")
            }
            fn question(_: &str) -> ::core::option::Option<$crate::__private::QuestionType> {
                ::core::option::Option::None
            }
        }
    };
    (
        $flow:ident $input:ident $output:ident $end:ident
        {$($input_kind:ident $input_text:literal $input_key:ident $input_type:ty,)*}
        {$($state_kind:ident $state_text:literal $state_key:ident $state_type:ty,)*}
        {$($output_kind:ident $output_text:literal $output_key:ident $output_type:ty,)*}
        {$($question_kind:ident $question_text:literal $question_type:ty,)*}
    ) => {
        impl<__K> $crate::__private::StoredState<__K> for __State
        where
            $(__K: $crate::__private::Keep<$state_type>,)*
        {
            fn save(&self) -> ::core::result::Result<$crate::__private::Saved, $crate::__private::Unstorable> {
                let mut saved = $crate::__private::Saved::default();
                $(saved.put::<__K, $state_type>($state_text, self.$state_key.as_ref())?;)*
                ::core::result::Result::Ok(saved)
            }
            fn load(mut saved: $crate::__private::Saved) -> ::core::result::Result<Self, $crate::__private::Unstorable> {
                ::core::result::Result::Ok(__State {
                    $($state_key: saved.take::<__K, $state_type>($state_text)?,)*
                })
            }
        }
        impl<__K> $crate::__private::StoredFlow<__K> for $flow
        where
            $(__K: $crate::__private::Keep<$input_type>,)*
            $(__K: $crate::__private::Keep<$output_type>,)*
        {
            fn save_input(input: &$input) -> ::core::result::Result<$crate::__private::Saved, $crate::__private::Unstorable> {
                let mut saved = $crate::__private::Saved::default();
                $(saved.put::<__K, $input_type>(
                    $input_text,
                    $crate::__stored_field!(as_ref $input_kind input.$input_key),
                )?;)*
                ::core::result::Result::Ok(saved)
            }
            fn load_input(mut saved: $crate::__private::Saved) -> ::core::result::Result<$input, $crate::__private::Unstorable> {
                ::core::result::Result::Ok($input {
                    $($input_key: $crate::__stored_field!(take $input_kind saved __K $input_type, $input_text),)*
                })
            }
            fn save_output(output: &$output) -> ::core::result::Result<$crate::__private::Saved, $crate::__private::Unstorable> {
                let mut saved = $crate::__private::Saved::default();
                $(saved.put::<__K, $output_type>(
                    $output_text,
                    $crate::__stored_field!(as_ref $output_kind output.$output_key),
                )?;)*
                saved.put_end(output.end.as_str());
                ::core::result::Result::Ok(saved)
            }
            fn load_output(mut saved: $crate::__private::Saved) -> ::core::result::Result<$output, $crate::__private::Unstorable> {
                let end = saved.take_end($end::ALL, |end| end.as_str())?;
                ::core::result::Result::Ok($output {
                    $($output_key: $crate::__stored_field!(take $output_kind saved __K $output_type, $output_text),)*
                    end,
                })
            }
            fn question(path: &str) -> ::core::option::Option<$crate::__private::QuestionType> {
                Self::__question(path)
            }
        }
        impl $flow {
            #[doc(hidden)]
            pub fn __question(path: &str) -> ::core::option::Option<$crate::__private::QuestionType> {
                use $crate::__private::Unresolved as _;
                let (first, rest) = $crate::__private::first_segment(path);
                match first {
                    $($question_text => $crate::__stored_question!($question_kind $question_type, rest),)*
                    _ => ::core::option::Option::None,
                }
            }
        }
    };
}

/// One field of an input or an output.
#[doc(hidden)]
#[macro_export]
macro_rules! __stored_field {
    (as_ref required $value:ident.$key:ident) => {
        ::core::option::Option::Some(&$value.$key)
    };
    (as_ref optional $value:ident.$key:ident) => {
        $value.$key.as_ref()
    };
    (take required $saved:ident $k:ident $type:ty, $text:literal) => {
        $saved.take_required::<$k, $type>($text)?
    };
    (take optional $saved:ident $k:ident $type:ty, $text:literal) => {
        $saved.take::<$k, $type>($text)?
    };
}

/// What is asked at one node.
#[doc(hidden)]
#[macro_export]
macro_rules! __stored_question {
    (human $type:ty, $rest:ident) => {
        ::core::option::Option::Some($crate::__private::QuestionType::of::<$type>())
    };
    (flow $type:ty, $rest:ident) => {
        <$type>::__question($rest)
    };
}
