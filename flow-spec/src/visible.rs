//! Makes text safe to show, so that people see its real contents.
//!
//! A name, a path or a value may come from anywhere, and so may its characters. Some are commands
//! to a terminal, some change the order of the letters around them, and some are invisible. This
//! module defines the set of them for everything that shows text: `cargo flow`, the terminal that
//! asks people, and pictures.

use std::borrow::Cow;

/// Returns `true` for a character that can make a text look like another one:
///
/// - control characters, including line breaks and tabs, with which a text can erase the text
///   before it or forge a line after it;
/// - characters of Unicode's bidirectional algorithm, which change the order in which letters are
///   shown;
/// - separators of lines and paragraphs;
/// - invisible characters: joiners, fillers, tags, variation selectors and everything else that
///   Unicode says to ignore where it is not supported.
///
/// U+FE0E and U+FE0F are not in the set, because people write them: they choose between text and
/// emoji for the character before them. Letters that resemble others are not in the set either.
///
/// The joiners U+200C and U+200D are in the set, but can be spelling: see [`deceptive`].
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

/// Returns each character of a text, with `true` if it is deceptive where it stands.
///
/// These characters of the set of [`is_deceptive`] are spelling in some places, where they are not
/// deceptive:
///
/// - the joiners U+200C and U+200D: between the letters of a script whose letters join, as in
///   Persian, and after a letter of such a script that takes the next one into itself, as in Hindi;
/// - U+200D between two emoji, which it joins into one;
/// - the selectors U+180B to U+180D and U+180F after a letter of Mongolian;
/// - the tags in the flags of England, Scotland and Wales.
///
/// # Examples
///
/// ```
/// use flow_spec::deceptive;
///
/// let is_harmless = |text: &str| deceptive(text).all(|(_, deceives)| !deceives);
/// assert!(is_harmless("می\u{200c}خواهم") && is_harmless("👩\u{200d}🚀"));
/// assert!(!is_harmless("pay\u{200d}pal"));
/// ```
pub fn deceptive(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut flag_ends = 0;
    text.char_indices().map(move |(at, letter)| {
        let (before, after) = (&text[..at], &text[at + letter.len_utf8()..]);
        if letter == BLACK_FLAG
            && let Some(flag) = FLAGS.iter().find(|flag| after.starts_with(**flag))
        {
            flag_ends = at + letter.len_utf8() + flag.len();
        }
        let is_spelling = match letter {
            '\u{200c}' | '\u{200d}' => joins(before, letter, after),
            '\u{180b}'..='\u{180d}' | '\u{180f}' => before.ends_with(is_mongolian),
            _ => at < flag_ends,
        };
        (letter, is_deceptive(letter) && !is_spelling)
    })
}

/// The flag before the tags of a region, and the tags of the three regions that have flags.
const BLACK_FLAG: char = '\u{1f3f4}';
const FLAGS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Returns `true` if a joiner is spelling between these texts.
fn joins(before: &str, joiner: char, after: &str) -> bool {
    let next = after.chars().next();
    let last = before.chars().next_back();
    if last.is_some_and(is_of_joining_script) {
        return next.is_some_and(is_of_joining_script) || last.is_some_and(takes_next);
    }
    let is_modifier = |letter: &char| matches!(letter, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}');
    let emoji = before.chars().rev().find(|letter| !is_modifier(letter));
    joiner == '\u{200d}' && emoji.is_some_and(is_emoji) && next.is_some_and(is_emoji)
}

/// Returns `true` for a letter or a mark of a script in which joiners are spelling: those from
/// Arabic to Mandaic, those of South and Southeast Asia, and Mongolian.
fn is_of_joining_script(letter: char) -> bool {
    let is_part = letter.is_alphabetic() || takes_next(letter) || is_mark(letter);
    is_part
        && matches!(
            letter,
            '\u{600}'..='\u{8ff}'
            | '\u{900}'..='\u{dff}'
            | '\u{f00}'..='\u{109f}'
            | '\u{1780}'..='\u{18af}'
            | '\u{1900}'..='\u{1aaf}'
            | '\u{1b00}'..='\u{1c4f}'
            | '\u{1cd0}'..='\u{1cff}'
            | '\u{a8e0}'..='\u{a8ff}'
            | '\u{a980}'..='\u{aaff}'
            | '\u{abc0}'..='\u{abff}'
            | '\u{fb50}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}'
            | '\u{10a00}'..='\u{10aff}'
            | '\u{11000}'..='\u{11fff}'
            | '\u{1e900}'..='\u{1e95f}'
        )
}

/// Returns `true` for a sign that belongs to the letter before it.
fn is_mark(letter: char) -> bool {
    // Such a sign continues a name and cannot begin one.
    unicode_ident::is_xid_continue(letter)
        && !unicode_ident::is_xid_start(letter)
        && !letter.is_numeric()
}

/// Returns `true` for a virama, the sign with which a letter takes the next one into itself. A
/// joiner after it determines how the two are drawn, even if no letter follows.
fn takes_next(letter: char) -> bool {
    matches!(
        letter,
        '\u{94d}'
            | '\u{9cd}'
            | '\u{a4d}'
            | '\u{acd}'
            | '\u{b4d}'
            | '\u{bcd}'
            | '\u{c4d}'
            | '\u{ccd}'
            | '\u{d4d}'
            | '\u{dca}'
            | '\u{f84}'
            | '\u{1039}'
            | '\u{17d2}'
    )
}

fn is_mongolian(letter: char) -> bool {
    matches!(letter, '\u{1820}'..='\u{18aa}' | '\u{180b}'..='\u{180d}' | '\u{180f}')
}

/// Returns `true` for a character that can be a part of a joined emoji.
fn is_emoji(letter: char) -> bool {
    matches!(
        letter,
        '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}'
        | '\u{2600}'..='\u{27bf}'
        | '\u{2b00}'..='\u{2bff}'
        | '\u{1f000}'..='\u{1f3fa}'
        | '\u{1f400}'..='\u{1faff}'
    )
}

/// Returns the text with each [deceptive] character as an escape of Rust: `\n`, `\u{202e}`. The
/// result is one line.
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
    for (letter, deceives) in deceptive(text) {
        if deceives {
            visible.extend(letter.escape_default())
        } else {
            visible.push(letter)
        }
    }
    Cow::Owned(visible)
}

/// The only deceptive character of ASCII that JSON need not escape.
const DELETE: u8 = 0x7f;

/// Returns the JSON with each [deceptive] character in its strings as an escape of JSON: `\u202e`.
/// The JSON means the same.
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
    // Most JSON has nothing to escape, and comparing bytes is faster than comparing characters:
    // each build of a flow runs this, without optimisation.
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
    for (letter, deceives) in deceptive(&json) {
        if letter < ' ' || !deceives {
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

    /// Joiners are spelling in some scripts and in emoji, and nowhere else.
    #[test]
    fn joiners_stay_where_they_are_spelling() {
        for text in [
            "می\u{200c}خواهم", // Persian
            "نام\u{200c}های کتاب\u{200c}ها",
            "क्\u{200d}ष, र्\u{200d}", // Hindi: half letters, also at the end
            "क्\u{200c}ष",
            "അവന്\u{200d} പറഞ്ഞു", // Malayalam
            "শ্রী র\u{200d}্য",   // Bengali
            "ශ්\u{200d}රී",       // Sinhala
            "👩\u{200d}🚀 👨\u{200d}👩\u{200d}👧 🏳\u{fe0f}\u{200d}🌈 👩🏽\u{200d}💻 ❤\u{fe0f}\u{200d}🔥 🧑\u{200d}⚕\u{fe0f}",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", // England
            "ᠠ\u{180b}",
        ] {
            assert_eq!(visible(text), text);
            assert_eq!(visible_json(format!("\"{text}\"")), format!("\"{text}\""));
        }
        for text in [
            "pay\u{200d}pal",
            "\u{200d}a",
            "می\u{200c}",
            "می\u{200c}\u{200c}خواهم",
            "می\u{200c}\u{202e}",
            "می\u{200c} x",
            "👩\u{200d}",
            "👩\u{200d}x",
            "👩\u{200c}🚀",
            "🏴\u{e0067}\u{e0062}\u{e0041}\u{e007f}",
            "x\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "a\u{180b}",
            "世\u{200d}界",
        ] {
            assert_ne!(visible(text), text, "{text:?}");
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
