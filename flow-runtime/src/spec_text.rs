//! Text that is put together while compiling.

/// The text that these bytes are.
pub const fn as_text(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("it consists of texts"),
    }
}
