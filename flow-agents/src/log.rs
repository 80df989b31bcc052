//! Warnings through `tracing`, if the feature of that name is on.

/// Logs a warning with a text and named values. Does nothing without the feature.
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
