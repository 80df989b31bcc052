//! Macros for the items that are alike in all flows. rustc expands them faster than a procedural
//! macro writes their tokens.
//!
//! Callers pass whatever rustc may point at in a message, such as names, bounds and the header of an
//! `impl`: these tokens have the places of the user's words, and rustc does not name the macro. They
//! also pass the local variables that occur in passed code, as macros have their own.

/// `Debug` of a struct or an enum, which requires nothing of the types of the fields.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_debug {
    ($name:ident $text:literal { $($field:ident $key:literal,)* }) => {
        impl ::core::fmt::Debug for $name {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                use $crate::__private::{PrintedDebug as _, PrintedOpaque as _};
                $crate::__private::printed(
                    __f, $text, &[$(($key, (&&$crate::__private::Printed(&self.$field)).__field()),)*],
                )
            }
        }
    };
    ($name:ident { $($variant:ident $text:literal { $($field:ident $local:ident $key:literal,)* })* }) => {
        impl ::core::fmt::Debug for $name {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                use $crate::__private::{PrintedDebug as _, PrintedOpaque as _};
                match self {
                    $(Self::$variant { $($field: $local,)* } => $crate::__private::printed(
                        __f, $text, &[$(($key, (&&$crate::__private::Printed($local)).__field()),)*],
                    ),)*
                }
            }
        }
    };
    (opaque $name:ident $(<$parameter:ident>)? $text:literal) => {
        impl $(<$parameter>)? ::core::fmt::Debug for $name $(<$parameter>)? {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                $crate::__private::printed_without_fields(__f, $text)
            }
        }
    };
}

/// An enum of names: of nodes, or of ends.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_names {
    ({ $($enumeration:tt)* } $name:ident { $($variant:ident $text:literal,)* }) => {
        #[derive(
            ::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy, ::core::cmp::PartialEq,
            ::core::cmp::Eq, ::core::hash::Hash, ::core::cmp::PartialOrd, ::core::cmp::Ord
        )]
        #[allow(clippy::enum_variant_names, reason = "named as the flow says")]
        $($enumeration)*
        impl $name {
            /// All of them, in the order written.
            pub const ALL: &'static [Self] = Self::__ALL;
            // Under names that no variant has.
            #[doc(hidden)]
            pub const __ALL: &'static [Self] = &[$(Self::$variant,)*];
            const __NAMES: &'static [&'static ::core::primitive::str] = &[$($text,)*];
            /// The name, as the flow spells it.
            pub const fn as_str(self) -> &'static ::core::primitive::str {
                Self::__NAMES[self as ::core::primitive::usize]
            }
        }
        impl ::core::fmt::Display for $name {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                __f.pad(Self::as_str(*self))
            }
        }
    };
}

/// A builder: its struct, and the function that begins with nothing set. `$items` are its methods,
/// and the traits of its fields.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_builder {
    (
        $doc:literal { $($structure:tt)* } $name:ident $text:literal for $built:ident $nothing:tt
        { $($items:tt)* }
    ) => {
        #[doc = $doc]
        #[must_use]
        #[derive(::core::clone::Clone)]
        $($structure)*
        $crate::__flow_debug!(opaque $name <__Set> $text);
        impl $built {
            #[doc = $doc]
            pub fn builder() -> $name {
                $name { __set: $nothing }
            }
        }
        const _: () = {
            // Used, so that no lint reports an unused builder for a flow that nothing calls.
            const _: fn() -> $name = $built::builder;
            $($items)*
        };
    };
}

/// The traits of a field of a builder: one for a field that is set or has a default, and one for a
/// field that is not set.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_field {
    (
        $is_set:ident {$($lifetime:tt)*} {$($type:tt)*} $message:tt $label:tt $note:tt
        $({ $($bound:tt)* } $default:block)?;
        $is_not_set:ident $twice:tt $remove:tt
    ) => {
        #[doc(hidden)]
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
        pub trait $is_set $($lifetime)* {
            fn completed(self) -> $($type)*;
        }
        #[diagnostic::do_not_recommend]
        impl $($lifetime)* $is_set $($lifetime)* for ($($type)*,) {
            fn completed(self) -> $($type)* { self.0 }
        }
        $crate::__flow_field!(default $is_set {$($lifetime)*} {$($type)*} $({ $($bound)* } $default)?);
        #[doc(hidden)]
        #[diagnostic::on_unimplemented(message = $twice, label = "is set already", note = $remove)]
        pub trait $is_not_set {}
        #[diagnostic::do_not_recommend]
        impl $is_not_set for () {}
    };
    (default $is_set:ident {$($lifetime:tt)*} {$($type:tt)*}) => {};
    (default $is_set:ident {$($lifetime:tt)*} {$($type:tt)*} { $($bound:tt)* } $default:block) => {
        #[diagnostic::do_not_recommend]
        impl $($lifetime)* $is_set $($lifetime)* for () $($bound)* {
            fn completed(self) -> $($type)* $default
        }
    };
}

/// `impl Flow`, with what follows from it.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_itself {
    (
        {$($implementation:tt)*} $name:ident $text:literal $namespace:literal {$($input:tt)*}
        $output:ident $node:ident $end:ident $routes:expr
    ) => {
        // For a flow with mistakes, which has no methods of its own that come first.
        use $crate::__private::Unresolved as _;
        $($implementation)* {
            type Input = $($input)*;
            type Output = $output;
            type Node = $node;
            type End = $end;
            const NAME: &'static ::core::primitive::str = $text;
            const NAMESPACE: &'static ::core::primitive::str = $namespace;
            const __SPEC: &'static [::core::primitive::u8] = $crate::__private::spec!($name, $namespace);
            const ROUTES: &'static [$crate::__private::Route<$node, $end>] = &$routes;
            #[inline]
            fn __run(&self, __input: Self::Input) -> $crate::__private::Running<'_, $output> {
                ::std::boxed::Box::pin(self.__run_direct(__input))
            }
            #[inline]
            fn __run_with(
                &self,
                __input: Self::Input,
                __settings: $crate::__private::RunSettings,
            ) -> $crate::__private::Running<'_, $output> {
                ::std::boxed::Box::pin(self.__run_observed(__input, __settings))
            }
        }
        #[diagnostic::do_not_recommend]
        impl<'__a> $crate::__private::Unasked<'__a> for $name where
            $crate::__private::AsksPeople<{ $name::__ASKS_PEOPLE }>: $crate::__private::Unasked<'__a>
        {
        }
        #[diagnostic::do_not_recommend]
        impl<'__a> $crate::__private::Untransacted<'__a> for $name where
            $crate::__private::OpensTransactions<{ $name::__OPENS_TRANSACTIONS }>:
                $crate::__private::Untransacted<'__a>
        {
        }
        #[diagnostic::do_not_recommend]
        impl<'__a> $crate::__private::WithoutSignals<'__a> for $name where
            $crate::__private::ReceivesSignals<{ $name::__RECEIVES_SIGNALS }>:
                $crate::__private::WithoutSignals<'__a>
        {
        }
        impl $crate::__private::Described for $name {
            const INFO: &'static $crate::__private::FlowInfo =
                &$crate::__private::FlowInfo::of_static($namespace, $node::__NAMES);
            type Runner = $crate::__private::RunnerOf<{ $name::__UNDOES }>;
        }
        $crate::__private::export!($name);
    };
}

/// The flows inside a flow, as a type.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_inside {
    ($name:ident) => {
        #[diagnostic::do_not_recommend]
        impl $crate::__private::Node for $name {
            type Held = Self;
            type Inside = $crate::__private::NothingInside;
        }
    };
    ($name:ident name: $text:literal, place: $place:literal, inner: $inner:expr) => {
        #[diagnostic::do_not_recommend]
        impl $crate::__private::Node for $name {
            type Held = Self;
            type Inside = __Inside;
        }
        pub struct __Inside;
        impl $crate::__private::Inside for __Inside {
            const VALUE: Self = __Inside;
        }
        impl __Inside {
            #[inline]
            pub const fn __nesting(&self) -> &'static $crate::__private::Nesting {
                static __NESTING: $crate::__private::Nesting = $crate::__private::Nesting {
                    name: $text,
                    module: ::core::module_path!(),
                    place: $place,
                    inner: &$inner,
                };
                &__NESTING
            }
        }
    };
}

/// The methods that run a flow: those behind the trait `Flow`, and those of a flow that
/// needs no more than its input. These take precedence over the trait's, whose futures are boxed.
///
/// The methods name the borrows of their futures: rustc would propose it at the flow's name.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_runs {
    (
        $name:ident $input:ident $run:ident $run_with:ident
        {$($ended:tt)*} {$($sent:tt)*}
        {$($alone:tt)*}
    ) => {
        impl $name where $($sent)* {
            #[doc(hidden)]
            #[inline]
            pub fn __run_direct(
                &self, __input: <$name as $crate::__private::Flow>::Input,
            ) -> $($ended)* + use<'_> {
                $crate::__private::run_direct(self, __input)
            }
            #[doc(hidden)]
            #[inline]
            pub fn __run_observed(
                &self,
                __input: <$name as $crate::__private::Flow>::Input,
                __settings: $crate::__private::RunSettings,
            ) -> $($ended)* + use<'_> {
                $crate::__private::run_with(self, __input, __settings)
            }
        }
        impl $name where $($sent)* $($alone)* {
            /// Runs the flow to an end: as `Flow::run`, without a box.
            #[inline]
            pub fn $run(&self, __input: $input) -> $($ended)* + use<'_> {
                $crate::__private::run_direct(self, __input)
            }
            /// Runs the flow to an end with options: as `Flow::run_with`, without a box.
            #[inline]
            pub fn $run_with<Answers>(
                &self, __input: $input, __options: $crate::RunOptions<Answers>,
            ) -> $($ended)* + use<'_, Answers> {
                $crate::__private::run_with(self, __input, __options.settings)
            }
        }
        // A use of both: callers may have no other.
        impl $crate::__private::Runs for $name where $($sent)* $($alone)* {
            fn methods() {
                let _ = ($name::$run, $name::$run_with::<()>);
            }
        }
    };
}

/// The state of a flow.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_state {
    ($given:ident: $input:ident { $($key:ident: {$($type:tt)*} = $value:expr,)* }) => {
        struct __State { $($key: $crate::__private::Option<$($type)*>,)* }
        impl __State {
            #[inline]
            fn new($given: $input) -> Self {
                __State { $($key: $value,)* }
            }
        }
    };
}

/// The constants that are true if a flow asks people, opens transactions, waits for signals, awaits
/// anything, or can be undone.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_requirements {
    ($asks:expr, $opens:expr, $receives:expr, $awaits:expr, $undoes:expr) => {
        #[doc(hidden)]
        pub const __ASKS_PEOPLE: ::core::primitive::bool = $asks;
        #[doc(hidden)]
        pub const __OPENS_TRANSACTIONS: ::core::primitive::bool = $opens;
        #[doc(hidden)]
        pub const __RECEIVES_SIGNALS: ::core::primitive::bool = $receives;
        #[doc(hidden)]
        pub const __AWAITS: ::core::primitive::bool = $awaits;
        #[doc(hidden)]
        pub const __UNDOES: ::core::primitive::bool = $undoes;
    };
}

/// The function with which an engine runs a flow.
///
/// It is not an `async fn`, which would move its arguments once more when it starts.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_drive {
    (
        {$($implementation:tt)*} {$($undo:tt)*}
        $this:ident $engine:ident $scope:ident $input:ident {$($future:tt)*} $($work:tt)*
    ) => {
        $($implementation)* {
            $($undo)*
            fn drive(
                &$this,
                $engine: &__E,
                $scope: &$crate::__private::Scope<'_>,
                $input: <Self as $crate::__private::Flow>::Input,
            ) -> $($future)* {
                $($work)*
            }
        }
    };
}

/// Begins at a node, or where an engine continues.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_resume {
    ($engine:ident $scope:ident $state:ident $at:ident: $node:ident) => {
        if let $crate::__private::Some((__at, __restored)) =
            $crate::__private::StateHooks::<__State>::resume_from($engine, $scope)?
        {
            $at = $node::__ALL[__at];
            $state = __restored;
        }
        $crate::__private::StateHooks::before_node(
            $engine,
            $scope,
            $at as ::core::primitive::u16,
            &$state,
        )?;
    };
}

/// Reports to the engine the action of a node that has led to the next one. Not with `?`, which
/// takes rustc longer.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_after_node {
    ($engine:ident $scope:ident $node:ident $action:ident $state:expr) => {
        if let $crate::__private::Err(__failed) = $crate::__private::StateHooks::after_node(
            $engine,
            $scope,
            $action,
            $node as ::core::primitive::u16,
            $state,
        ) {
            return $crate::__private::Err(__failed);
        }
    };
}

/// The outcome of a run, from its output.
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_outcome {
    ($output:ident as $outcome:ident: $this:ident { $($arms:tt)* }) => {
        impl $output {
            /// The end of the run, with the outputs that are there, to be matched on.
            ///
            /// # Panics
            ///
            /// If an output is missing that every path to the end writes. A run never returns such
            /// an output; one that is put together by hand may be.
            pub fn into_outcome($this) -> $outcome {
                match $this.end { $($arms)* }
            }
        }
        // A use: callers may have no other.
        const _: fn($output) -> $outcome = $output::into_outcome;
    };
}
