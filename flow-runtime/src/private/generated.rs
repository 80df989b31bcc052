//! Macros that generated code calls, whatever features are enabled. Without the feature, they
//! expand to nothing.

/// Defines the macro of a node, a flow or an enum, with these arms, and imports it under that name.
/// rustc expands what all of them have in common faster than a procedural macro does.
///
/// `$d` is a dollar sign. `$doc` is the word `doc` if the macro is public. Attributes are kept to a
/// minimum: for each, rustc walks over all macros before it.
#[doc(hidden)]
#[macro_export]
macro_rules! __named_macro {
    (
        $d:tt $own:ident $unique:ident $(contract {$($contract:tt)*})? {$($arms:tt)*}
        [$($doc:ident)?] $vis:vis use $($renamed:tt)*
    ) => {
        $(
            #[$doc(hidden)]
            #[allow(non_local_definitions, reason = "a node may be defined in a function")]
            #[macro_export]
        )?
        macro_rules! $unique {
            $(
                // Appends the contract to those before, and calls the next macro.
                (@contract [$d next:path $d(, $d rest:path)*] $d body:tt [$d($d told:tt)*]) => {
                    $d next! { @contract [$d($d rest),*] $d body [$d($d told)* $($contract)*] }
                };
                (@nothing) => {};
            )?
            $($arms)*
            // Items, unless they are those of another item of this name.
            (@own $own { $d($d items:tt)* }) => { $d($d items)* };
            (@own $d other:ident $d items:tt) => {};
        }
        $(
            #[$doc(hidden)]
            #[expect(clippy::pub_use, reason = "whoever imports a node imports its macro")]
        )?
        $vis use $($renamed)*;
    };
}

/// Tests if a flow asks people. False if its definition has errors.
#[doc(hidden)]
#[macro_export]
macro_rules! __asks_people {
    ($flow:ty) => {{
        use $crate::__private::Unresolved as _;
        <$flow>::__ASKS_PEOPLE
    }};
}

/// Tests if a flow opens transactions. False if its definition has errors.
#[doc(hidden)]
#[macro_export]
macro_rules! __opens_transactions {
    ($flow:ty) => {{
        use $crate::__private::Unresolved as _;
        <$flow>::__OPENS_TRANSACTIONS
    }};
}

/// Tests if a flow waits for signals. False if its definition has errors.
#[doc(hidden)]
#[macro_export]
macro_rules! __receives_signals {
    ($flow:ty) => {{
        use $crate::__private::Unresolved as _;
        <$flow>::__RECEIVES_SIGNALS
    }};
}

/// Tests if a flow awaits anything. True if its definition has errors.
#[doc(hidden)]
#[macro_export]
macro_rules! __awaits {
    ($flow:ty) => {{
        use $crate::__private::Unresolved as _;
        <$flow>::__AWAITS
    }};
}

/// Tests if visits of a flow can be undone. False if its definition has errors.
#[doc(hidden)]
#[macro_export]
macro_rules! __undoes {
    ($flow:ty) => {{
        use $crate::__private::Unresolved as _;
        <$flow>::__UNDOES
    }};
}

/// `impl Export` for a flow.
#[cfg(feature = "json")]
#[doc(hidden)]
#[macro_export]
macro_rules! __export_flow {
    ($flow:ty) => {
        impl $crate::Export for $flow {
            fn __collect(&self, __values: &mut $crate::__private::export_values::Values) {
                use $crate::__private::Unresolved as _;
                self.__values(__values)
            }
        }
    };
}

/// Expands to nothing.
#[cfg(not(feature = "json"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __export_flow {
    ($flow:ty) => {};
}

/// The method that passes on the values of a flow's nodes and the types of its keys.
#[cfg(feature = "json")]
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_values {
    (
        $this:ident {$($kind:ident $id:literal $value:expr,)*} {$($key:literal $type:ty,)*}
        {$($input:literal $default:expr,)*}
    ) => {
        #[doc(hidden)]
        pub fn __values(&$this, __values: &mut $crate::__private::export_values::Values) {
            use $crate::__private::export_values::traits::*;
            $($crate::__flow_value!(__values $kind $id $value);)*
            $crate::__flow_schemas!(__values $($key $type,)*);
            $(__values.default($input, || (&&$crate::__private::export_values::DefaultOf(&$default)).__default());)*
        }
    };
}

/// Expands to nothing.
#[cfg(not(feature = "json"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_values {
    ($($anything:tt)*) => {};
}

/// Expands to nothing.
#[cfg(not(feature = "stored"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_stored {
    ($($anything:tt)*) => {};
}

/// Passes on the values of one node.
#[cfg(feature = "json")]
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_value {
    ($values:ident flow $id:literal $value:expr) => {
        $values.flow($id, &$value)
    };
    ($values:ident node $id:literal $value:expr) => {
        $values.node($id, |__sensitive| {
            (&&&$crate::__private::export_values::SettingsOf(&$value)).__settings(__sensitive)
        })
    };
}

/// Passes on the schemas of the types of a flow's keys.
#[cfg(feature = "schemars")]
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_schemas {
    ($values:ident $($key:literal $type:ty,)*) => {
        $($values.schema($key, || (&&$crate::__private::export_values::SchemaOf::<$type>(::core::marker::PhantomData)).__schema());)*
    };
}

/// Expands to nothing.
#[cfg(all(feature = "json", not(feature = "schemars")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __flow_schemas {
    ($($anything:tt)*) => {};
}

/// The expansion for a type that people are asked for: the first item. Without the feature
/// `stored`, it is the second one.
#[cfg(feature = "stored")]
#[doc(hidden)]
#[macro_export]
macro_rules! __human_node {
    ({$($sound:tt)*} {$($unanswered:tt)*}) => { $($sound)* };
}

/// Expands to an error and the second item.
#[cfg(not(feature = "stored"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __human_node {
    ({$($sound:tt)*} {$($unanswered:tt)*}) => {
        ::core::compile_error!(
            "a human node needs the feature `stored` of flow-runtime\nhelp: add it: `cargo add typed-flows --features stored`"
        );
        $($unanswered)*
    };
}

/// The expansion for a type of signals: the first item. Without the feature `stored`, it is the
/// second one.
#[cfg(feature = "stored")]
#[doc(hidden)]
#[macro_export]
macro_rules! __signal_node {
    ({$($sound:tt)*} {$($unsent:tt)*}) => { $($sound)* };
}

/// Expands to an error and the second item.
#[cfg(not(feature = "stored"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __signal_node {
    ({$($sound:tt)*} {$($unsent:tt)*}) => {
        ::core::compile_error!(
            "a signal needs the feature `stored` of flow-runtime\nhelp: add it: `cargo add typed-flows --features stored`"
        );
        $($unsent)*
    };
}

/// `impl Human` or `impl Signal` for a type whose values come from outside.
#[cfg(feature = "stored")]
#[doc(hidden)]
#[macro_export]
macro_rules! __external {
    (check { $($check:tt)* }) => { $($check)* };
    (human $type:ident $name:literal { $($form:tt)* }) => {
        $crate::__external!(value $type $name { $($form)* });
        impl $crate::Human for $type {}
    };
    (signal $type:ident $name:literal { $($form:tt)* } { $parts:ty } |$signal:ident| $taken_apart:expr) => {
        $crate::__external!(value $type $name { $($form)* });
        impl $crate::Signal for $type {
            type Parts = $parts;
            fn parts(self) -> Self::Parts {
                let $signal = self;
                $taken_apart
            }
        }
    };
    (value $type:ident $name:literal { $($form:tt)* }) => {
        impl $crate::__private::External for $type {
            const NAME: &'static ::core::primitive::str = $name;
            const FORM: $crate::__private::Form<Self> = $($form)*;
            $crate::__external_schema!($type);
        }
    };
}

/// The schema of a type whose values come from outside.
#[cfg(all(feature = "stored", feature = "schemars"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __external_schema {
    ($type:ident) => {
        fn schema() -> ::core::option::Option<$crate::__private::Value> {
            use $crate::__private::export_values::traits::*;
            let __schema = (&&$crate::__private::export_values::SchemaOf::<$type>(
                ::core::marker::PhantomData,
            ))
                .__schema();
            __schema.map($crate::__private::Value::Object)
        }
    };
}

/// Expands to nothing.
#[cfg(all(feature = "stored", not(feature = "schemars")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __external_schema {
    ($($anything:tt)*) => {};
}

/// Makes known how an error of a node is stored.
#[cfg(feature = "stored")]
#[doc(hidden)]
#[macro_export]
macro_rules! __error_type {
    ($error:ty) => {
        const _: () = {
            use $crate::__private::OtherError as _;
            $crate::__private::inventory::submit! { <$crate::__private::ErrorTypeOf<$error>>::__TYPE }
        };
    };
}

/// Expands to nothing.
#[cfg(not(feature = "stored"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __error_type {
    ($error:ty) => {};
}
