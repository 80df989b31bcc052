//! Text in XML and HTML.

use flow_spec::deceptive;

/// The text with all markup escaped, also for attributes. Deceptive characters are made visible,
/// except line breaks and tabs. Characters that XML does not allow become `�`.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (letter, deceives) in deceptive(text) {
        match letter {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            '\n' | '\t' => safe.push(letter),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            letter if deceives => safe.extend(letter.escape_default()),
            letter => safe.push(letter),
        }
    }
    safe
}
