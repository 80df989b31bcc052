//! Storage of the values of a flow: its inputs, the state between two of its nodes, and its
//! outputs, each as a JSON object by key.
//!
//! The bounds are on a type parameter, `K: Keep<Claim>`, and not on the types of the keys. So a
//! flow with a type that cannot be stored compiles, and only a durable run of it does not.

use flow_spec::FlowDocument;

use crate::external::ExternalType;
use crate::flow::Flow;
use crate::input::InputError;
use crate::json::{Saved, Unkept, Unstorable};
use crate::signal::{SignalTypes, TakesSignals};
use crate::step_key::NodePath;

/// The state of a flow whose values `K` can store.
pub trait StoredState<K>: Sized {
    /// The state as JSON.
    fn save(&self) -> Result<Saved, Unstorable>;
    /// Reads a saved state.
    fn load(saved: Saved) -> Result<Self, Unstorable>;
}

/// A flow whose outputs `K` can store.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow whose outputs can be stored",
    label = "not such a flow"
)]
pub trait StoredOutput<K>: Flow {
    /// The outputs as JSON, with the label of the end as `end`.
    fn save_output(output: &Self::Output) -> Result<Saved, Unstorable>;
    /// Reads saved outputs. An output that every path to the end writes is required.
    fn load_output(saved: Saved) -> Result<Self::Output, Unstorable>;
}

/// A flow whose inputs and outputs `K` can store.
pub trait StoredFlow<K>: StoredOutput<K> + TellsSettings {
    /// The names of the inputs.
    const INPUTS: &'static [&'static str];
    /// The inputs as JSON.
    fn save_input(input: &Self::Input) -> Result<Saved, Unstorable>;
    /// Reads saved inputs.
    fn load_input(saved: Saved) -> Result<Self::Input, InputError>;
    /// The type of the value that the node at this path gets from outside. The path begins with the
    /// name of a node of this flow.
    fn external(path: &str) -> Option<ExternalType>;
}

/// A flow that can report its settings with the feature `json`: every flow.
#[cfg(feature = "json")]
pub trait TellsSettings: crate::export::Export {}

#[cfg(feature = "json")]
impl<F: crate::export::Export + ?Sized> TellsSettings for F {}

/// A flow that can report its settings with the feature `json`: every flow.
#[cfg(not(feature = "json"))]
pub trait TellsSettings {}

#[cfg(not(feature = "json"))]
impl<F: ?Sized> TellsSettings for F {}

#[diagnostic::do_not_recommend]
impl<F: Flow + StoredFlow<Unkept>> TakesSignals for F {
    fn signals(&self) -> SignalTypes {
        match FlowDocument::parse_spec(F::SPEC) {
            Ok(document) => SignalTypes::new(&document, F::external),
            Err(_) => unreachable!("`flow!` wrote the structure of the flow"),
        }
    }
}

/// Splits a path into its first segment, without the index of an item, and the rest.
pub fn first_segment(path: &str) -> (&str, &str) {
    let (first, rest) = NodePath::new(path).first();
    (first, rest.as_str())
}

/// Implements the storage of the inputs, the state and the outputs of a flow.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_stored {
    (broken $flow:ident $input:ident $output:ident) => {
        impl<__K> $crate::__private::StoredFlow<__K> for $flow {
            const INPUTS: &'static [&'static ::core::primitive::str] = &[];
            fn save_input(_: &$input) -> ::core::result::Result<$crate::__private::Saved, $crate::__private::Unstorable> {
                ::core::unreachable!("a flow with mistakes does not compile")
            }
            fn load_input(_: $crate::__private::Saved) -> ::core::result::Result<$input, $crate::__private::InputError> {
                ::core::unreachable!("a flow with mistakes does not compile")
            }
            fn external(_: &::core::primitive::str) -> ::core::option::Option<$crate::__private::ExternalType> {
                ::core::option::Option::None
            }
        }
        impl<__K> $crate::__private::StoredOutput<__K> for $flow {
            fn save_output(_: &$output) -> ::core::result::Result<$crate::__private::Saved, $crate::__private::Unstorable> {
                ::core::unreachable!("a flow with mistakes does not compile")
            }
            fn load_output(_: $crate::__private::Saved) -> ::core::result::Result<$output, $crate::__private::Unstorable> {
                ::core::unreachable!("a flow with mistakes does not compile")
            }
        }
    };
    (
        $flow:ident $input:ident $output:ident $end:ident
        {$($input_kind:tt $input_text:literal $input_key:ident $input_type:ty,)*}
        {$($state_kind:ident $state_text:literal $state_key:ident $state_type:ty,)*}
        {$($output_kind:ident $output_text:literal $output_key:ident $output_type:ty,)*}
        {$($at_end:ident $certain_text:literal $certain_key:ident,)*}
        {$($external_kind:ident $external_text:literal $external_type:ty,)*}
    ) => {
        impl<__K> $crate::__private::StoredState<__K> for __State
        where
            $(__K: $crate::__private::Keep<$state_type>,)*
        {
            fn save(&self) -> ::core::result::Result<$crate::__private::Saved, $crate::__private::Unstorable> {
                let mut __saved = <$crate::__private::Saved as ::core::default::Default>::default();
                $($crate::__private::Saved::put::<__K, $state_type>(&mut __saved, $state_text, ::core::option::Option::as_ref(&self.$state_key))?;)*
                ::core::result::Result::Ok(__saved)
            }
            fn load(mut __saved: $crate::__private::Saved) -> ::core::result::Result<Self, $crate::__private::Unstorable> {
                ::core::result::Result::Ok(__State {
                    $($state_key: $crate::__private::Saved::take::<__K, $state_type>(&mut __saved, $state_text)?,)*
                })
            }
        }
        impl<__K> $crate::__private::StoredFlow<__K> for $flow
        where
            $(__K: $crate::__private::Keep<$input_type>,)*
            $(__K: $crate::__private::Keep<$output_type>,)*
        {
            const INPUTS: &'static [&'static ::core::primitive::str] = &[$($input_text),*];
            fn save_input(__input: &$input) -> ::core::result::Result<$crate::__private::Saved, $crate::__private::Unstorable> {
                let mut __saved = <$crate::__private::Saved as ::core::default::Default>::default();
                $($crate::__private::Saved::put::<__K, $input_type>(
                    &mut __saved,
                    $input_text,
                    $crate::__stored_field!(as_ref $input_kind __input.$input_key),
                )?;)*
                ::core::result::Result::Ok(__saved)
            }
            fn load_input(__saved: $crate::__private::Saved) -> ::core::result::Result<$input, $crate::__private::InputError> {
                let mut __reader = $crate::__private::InputReader::new(__saved);
                let __read = |__reader: &mut $crate::__private::InputReader| {
                    let _ = &__reader;
                    ::core::option::Option::Some($input {
                        $($input_key: $crate::__stored_field!(read $input_kind __reader __K $input_type, $input_text),)*
                    })
                };
                if let ::core::option::Option::Some(__input) = __read(&mut __reader) {
                    return ::core::result::Result::Ok(__input);
                }
                $crate::__private::InputReader::again(&mut __reader);
                $($crate::__stored_field!(check $input_kind __reader __K $input_type, $input_text);)*
                ::core::result::Result::Err($crate::__private::InputReader::error(__reader))
            }
            fn external(__path: &::core::primitive::str) -> ::core::option::Option<$crate::__private::ExternalType> {
                Self::__external(__path)
            }
        }
        impl<__K> $crate::__private::StoredOutput<__K> for $flow
        where
            $(__K: $crate::__private::Keep<$output_type>,)*
        {
            fn save_output(__output: &$output) -> ::core::result::Result<$crate::__private::Saved, $crate::__private::Unstorable> {
                let mut __saved = <$crate::__private::Saved as ::core::default::Default>::default();
                $($crate::__private::Saved::put::<__K, $output_type>(
                    &mut __saved,
                    $output_text,
                    $crate::__stored_field!(as_ref $output_kind __output.$output_key),
                )?;)*
                $crate::__private::Saved::put_end(&mut __saved, __output.end.as_str());
                ::core::result::Result::Ok(__saved)
            }
            fn load_output(mut __saved: $crate::__private::Saved) -> ::core::result::Result<$output, $crate::__private::Unstorable> {
                let __end = $crate::__private::Saved::take_end(&mut __saved, $end::__ALL, |__end| __end.as_str())?;
                let __output = $output {
                    $($output_key: $crate::__stored_field!(take $output_kind __saved __K $output_type, $output_text),)*
                    end: __end,
                };
                $(if __end == $end::$at_end && ::core::option::Option::is_none(&__output.$certain_key) {
                    return ::core::result::Result::Err($crate::__private::Saved::missing($certain_text));
                })*
                ::core::result::Result::Ok(__output)
            }
        }
        impl $flow {
            #[doc(hidden)]
            pub fn __external(__path: &::core::primitive::str) -> ::core::option::Option<$crate::__private::ExternalType> {
                use $crate::__private::Unresolved as _;
                let (__first, __rest) = $crate::__private::first_segment(__path);
                match __first {
                    $($external_text => $crate::__stored_external!($external_kind $external_type, __rest),)*
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
        ::core::option::Option::as_ref(&$value.$key)
    };
    (as_ref (default $default:expr) $value:ident.$key:ident) => {
        ::core::option::Option::Some(&$value.$key)
    };
    (read required $reader:ident $k:ident $type:ty, $text:literal) => {
        $crate::__private::InputReader::required::<$k, $type>($reader, $text)?
    };
    (read optional $reader:ident $k:ident $type:ty, $text:literal) => {
        $crate::__private::InputReader::optional::<$k, $type>($reader, $text)?
    };
    (read (default $default:expr) $reader:ident $k:ident $type:ty, $text:literal) => {
        $crate::__private::InputReader::optional::<$k, $type>($reader, $text)?
            .unwrap_or_else(|| $default)
    };
    (check (default $default:expr) $reader:ident $k:ident $type:ty, $text:literal) => {
        $crate::__private::InputReader::check_optional::<$k, $type>(&mut $reader, $text)
    };
    (check required $reader:ident $k:ident $type:ty, $text:literal) => {
        $crate::__private::InputReader::check_required::<$k, $type>(&mut $reader, $text)
    };
    (check optional $reader:ident $k:ident $type:ty, $text:literal) => {
        $crate::__private::InputReader::check_optional::<$k, $type>(&mut $reader, $text)
    };
    (take required $saved:ident $k:ident $type:ty, $text:literal) => {
        $crate::__private::Saved::take_required::<$k, $type>(&mut $saved, $text)?
    };
    (take optional $saved:ident $k:ident $type:ty, $text:literal) => {
        $crate::__private::Saved::take::<$k, $type>(&mut $saved, $text)?
    };
}

/// The type of the value that one node gets from outside.
#[doc(hidden)]
#[macro_export]
macro_rules! __stored_external {
    (value $type:ty, $rest:ident) => {
        ::core::option::Option::Some($crate::__private::ExternalType::of::<$type>())
    };
    (flow $type:ty, $rest:ident) => {
        <$type>::__external($rest)
    };
}
