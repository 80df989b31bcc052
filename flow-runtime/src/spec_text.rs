//! Text that is assembled at compile time.

/// Returns these bytes as text.
pub const fn as_text(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("it consists of texts"),
    }
}
