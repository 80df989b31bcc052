//! Makes text safe to show: people see what is really there.
//!
//! A name, a path or a value may come from anywhere, and so may its characters. Some characters are
//! commands to a terminal, some change the order of the letters around them, and some are
//! invisible. This module defines the set of them for everything that shows text: `cargo flow`, the
//! terminal that asks people, and pictures.

use std::borrow::Cow;

/// Returns true for a character that can make a text look like another one:
///
/// - control characters, including line breaks and tabs, with which a text can erase the text
///   before it or forge a line after it;
/// - characters of Unicode's bidirectional algorithm, which change the order in which letters are
///   shown;
/// - separators of lines and paragraphs;
/// - invisible characters: joiners, fillers, tags, variation selectors and whatever else Unicode
///   says to ignore where it is not supported.
///
/// U+FE0E and U+FE0F are not in the set, because people write them: they choose between text and
/// emoji for the character before them. Letters that resemble others are not in the set either.
///
/// # Examples
///
/// ```
/// use flow_spec::is_deceptive;
///
/// assert!(is_deceptive('\u{1b}') && is_deceptive('\u{202e}') && is_deceptive('\u{200b}'));
/// assert!(!is_deceptive('é') && !is_deceptive('📦') && !is_deceptive(' '));
/// ```
pub fn is_deceptive(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}' // the soft hyphen
            | '\u{34f}'
            | '\u{61c}' // the Arabic letter mark
            | '\u{115f}'..='\u{1160}' // fillers of Hangul
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' // zero-width characters and marks of direction
            | '\u{2028}'..='\u{202e}' // separators, embeddings and overrides
            | '\u{2060}'..='\u{206f}' // joiners, invisible operators and isolates
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}' // the byte order mark
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' // annotations between lines
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}' // tags and further selectors
        )
}

/// The text with each [deceptive](is_deceptive) character as an escape of Rust: `\n`, `\u{202e}`.
/// The result is one line.
///
/// # Examples
///
/// ```
/// use flow_spec::visible;
///
/// assert_eq!(visible("Pay 9 to Eve\r\u{1b}[2KPay 1 to Ann"), r"Pay 9 to Eve\r\u{1b}[2KPay 1 to Ann");
/// assert_eq!(visible("Grüße, 世界 ✔️"), "Grüße, 世界 ✔️");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_deceptive(letter) {
            visible.extend(letter.escape_default())
        } else {
            visible.push(letter)
        }
    }
    Cow::Owned(visible)
}

/// The only deceptive character of ASCII that JSON need not escape.
const DELETE: u8 = 0x7f;

/// The JSON with each [deceptive](is_deceptive) character in its strings as an escape of JSON:
/// `\u202e`. The JSON means the same.
///
/// # Examples
///
/// ```
/// use flow_spec::visible_json;
///
/// let json = serde_json::json!({ "name": "a\u{202e}b" });
/// assert_eq!(visible_json(json.to_string()), r#"{"name":"a\u202eb"}"#);
/// ```
pub fn visible_json(json: String) -> String {
    // Most JSON has nothing to escape, and bytes are compared faster than characters: each build
    // of a flow comes here, without optimisation.
    if json.is_ascii() && !json.as_bytes().contains(&DELETE) {
        return json;
    }
    // Characters below the space are already escaped in texts, so an unescaped one is between
    // texts.
    let is_in_text = |letter: char| letter >= ' ' && is_deceptive(letter);
    if !json.contains(is_in_text) {
        return json;
    }
    let mut visible = String::with_capacity(json.len() + 8);
    for letter in json.chars() {
        if !is_in_text(letter) {
            visible.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            visible += &format!("\\u{unit:04x}");
        }
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Characters of terminal escapes, and characters known from "Trojan Source" attacks.
    const DECEPTIVE: &str = "\0\u{7}\u{8}\t\n\r\u{1b}\u{7f}\u{80}\u{85}\u{9b}\u{9d}\u{ad}\u{61c}\u{180e}\u{200b}\u{200c}\
        \u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2060}\u{2064}\u{2066}\u{2067}\
        \u{2068}\u{2069}\u{206f}\u{feff}\u{fff9}\u{e0001}\u{e0020}\u{e007f}\u{e0100}";

    #[test]
    fn json_means_the_same_with_escapes() {
        let value = serde_json::json!({ DECEPTIVE: [DECEPTIVE, "\\", "\"é世📦"] });
        for json in [value.to_string(), format!("{value:#}")] {
            let visible = visible_json(json);
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&visible).unwrap(),
                value
            );
            assert!(
                !visible.contains(|letter| letter != '\n' && is_deceptive(letter)),
                "{visible}"
            );
            assert!(
                visible.contains(r"\udb40\udc01") && visible.contains("é世📦"),
                "{visible}"
            );
        }
    }

    #[test]
    fn what_deceives_is_escaped() {
        for letter in DECEPTIVE.chars() {
            let text = format!("a{letter}b");
            let shown = visible(&text);
            assert_eq!(shown, format!("a{}b", letter.escape_default()), "{shown}");
            assert!(!shown.contains(is_deceptive));
        }
    }

    #[test]
    fn what_people_write_stays_as_it_is() {
        for text in [
            "",
            "plain text, with 'quotes' and \\ a backslash",
            "Straße, naïve, e\u{301}",
            "שלום, مرحبا, नमस्ते",
            "世界 こんにちは 한국어",
            "📦 ✔\u{fe0f} 1\u{fe0f}\u{20e3} ✔\u{fe0e} 👍🏽 🇩🇪",
            "\u{a0}\u{2003}\u{3000}",
        ] {
            assert!(
                matches!(visible(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }
}
