//! Text with a maximum size, and a note about what was cut.

/// The first characters of a text, with "…" if there are more. For quotes in errors.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A number with a comma between each three digits.
#[cfg(any(feature = "fetch", feature = "files"))]
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and a noun in the singular or the plural.
#[cfg(any(feature = "fetch", feature = "files"))]
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", grouped(number))
}
