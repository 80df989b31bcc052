//! What is told to `tracing`, with the feature of that name.

/// A warning: its text, and values with their names. Without the feature, nothing.
macro_rules! warning {
    ($text:literal $(, $name:ident = $value:expr)* $(,)?) => {{
        #[cfg(feature = "tracing")]
        tracing::warn!($($name = $value,)* $text);
        #[cfg(not(feature = "tracing"))]
        {
            $(let _ = &$value;)*
        }
    }};
}

pub(crate) use warning;
