//! The tokens of a condition, as far as they have to be known before it is parsed.
//!
//! The parser recurses into brackets and the evaluation into operators, so the number of both is
//! limited here. The parser's errors say what it cannot read, but not what was probably meant.

use std::ops::RangeFrom;

use super::Misread;

/// The longest condition in bytes.
const LONGEST: usize = 16 << 10;

/// The maximum depth of nested brackets.
const MOST_BRACKETS: usize = 32;

/// The maximum depth of nested operators.
const MOST_OPERATORS: usize = 100;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A name or a keyword.
    Word,
    /// A name in backquotes.
    Name,
    /// A number or a text.
    Literal,
    Opens,
    Closes,
    Comma,
    /// Any other sign.
    Operator,
}

#[derive(Debug, Clone, Copy)]
struct Token<'t> {
    kind: Kind,
    text: &'t str,
    /// The position of its first byte.
    at: usize,
}

impl Token<'_> {
    /// Returns `true` if a value can end with it.
    fn is_operand(&self) -> bool {
        let is_in = self.kind == Kind::Word && self.text == "in";
        let ends = [Kind::Word, Kind::Name, Kind::Literal, Kind::Closes];
        ends.contains(&self.kind) && !is_in
    }
}

/// Signs of several characters, the longer ones first.
const SIGNS: [&str; 11] = [
    "===", "!==", "==", "!=", "<=", ">=", "=>", "=<", "<>", "&&", "||",
];

/// Signs of other languages, with their form in CEL.
const FOREIGN: [(&str, &str); 15] = [
    ("=", "=="),
    ("===", "=="),
    ("!==", "!="),
    ("<>", "!="),
    ("=>", ">="),
    ("=<", "<="),
    ("&", "&&"),
    ("|", "||"),
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("“", "\""),
    ("”", "\""),
    ("‘", "'"),
    ("’", "'"),
];

/// Words of other languages, with their form in CEL.
const FOREIGN_WORDS: [(&str, &str); 4] = [("and", "&&"), ("or", "||"), ("not", "!"), ("is", "==")];

/// A condition whose brackets and operators were counted.
pub(super) struct Counted {
    /// The text for the parser, which has no backquotes: other names replace those in them.
    pub(super) text: String,
    /// The names in backquotes, each after its replacement.
    pub(super) names: Vec<(String, String)>,
    /// The depth of nested brackets.
    pub(super) brackets: usize,
    /// The maximum depth of nested operators.
    pub(super) operators: usize,
}

/// Counts the brackets and operators of a condition, and replaces its names in backquotes.
///
/// # Errors
///
/// It is too long, nests too deeply, or has a sign of another language.
pub(super) fn count(text: &str) -> Result<Counted, Misread> {
    if text.len() > LONGEST {
        let message = format!("it has more than {} KiB", LONGEST >> 10);
        return Err(Misread::new(message).help("let a node decide, and read its result here"));
    }
    let tokens = tokens(text)?;
    refuse_foreign(text, &tokens)?;
    let (brackets, operators) = depths(text, &tokens)?;
    let (text, names) = without_backquotes(text, &tokens)?;
    Ok(Counted {
        text,
        names,
        brackets,
        operators,
    })
}

/// The place of something in a condition, for messages.
fn place(text: &str, at: usize) -> String {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default();
    let column = column.chars().count() + 1;
    match line {
        1 => format!("at its column {column}"),
        line => format!("at its line {line}, column {column}"),
    }
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, Misread> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (length, kind) = match first {
            _ if first.is_whitespace() => (first.len_utf8(), None),
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), None),
            '`' => match rest[1..].find('`') {
                Some(end) => (end + 2, Some(Kind::Name)),
                None => {
                    let place = place(text, at);
                    let message = format!("a name in backquotes does not end, {place}");
                    return Err(Misread::new(message));
                }
            },
            '(' | '[' | '{' => (1, Some(Kind::Opens)),
            ')' | ']' | '}' => (1, Some(Kind::Closes)),
            ',' => (1, Some(Kind::Comma)),
            _ if first.is_ascii_digit() => {
                let number = number(rest);
                if !is_number(number) {
                    let message = format!("`{number}` is not a number, {}", place(text, at));
                    return Err(Misread::new(message));
                }
                (number.len(), Some(Kind::Literal))
            }
            _ if prefix_of_text(rest).is_some() => {
                let prefix = prefix_of_text(rest).unwrap_or_default();
                let length = length_of_text(rest, prefix).map_err(|wrong| {
                    let place = place(text, at + wrong.at);
                    let misread = Misread::new(format!("{}, {place}", wrong.message));
                    misread.help(wrong.help)
                })?;
                (length, Some(Kind::Literal))
            }
            _ if is_letter(first) => {
                let length = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
                let word = &rest[..length];
                if !word.is_ascii() {
                    let message = format!("unexpected `{word}`, {}", place(text, at));
                    let help = "a name with other letters than those of ASCII stands in backquotes";
                    return Err(Misread::new(message).help(help));
                }
                (length, Some(Kind::Word))
            }
            _ => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
                let length = sign.map_or(first.len_utf8(), |sign| sign.len());
                (length, Some(Kind::Operator))
            }
        };
        if let Some(kind) = kind {
            let text = &rest[..length];
            tokens.push(Token { kind, text, at });
        }
        at += length;
    }
    Ok(tokens)
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The number at the start of the text, with any letters that follow it.
fn number(rest: &str) -> &str {
    let mut letters = rest.char_indices().peekable();
    let mut end = 0;
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, letter)| *letter);
        let is_point = letter == '.' && next.is_some_and(|next| next.is_ascii_digit());
        if !(is_letter(letter) || is_point) {
            break;
        }
        end = at + letter.len_utf8();
    }
    &rest[..end]
}

/// Returns `true` for a number in CEL, or for one up to the sign of its exponent.
fn is_number(text: &str) -> bool {
    let all =
        |digits: &str, is: fn(&u8) -> bool| !digits.is_empty() && digits.bytes().all(|it| is(&it));
    let unsigned = text.strip_suffix(['u', 'U']).unwrap_or(text);
    if let Some(digits) = unsigned.strip_prefix("0x") {
        return all(digits, u8::is_ascii_hexdigit);
    }
    if all(unsigned, u8::is_ascii_digit) {
        return true;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, ""));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    all(whole, u8::is_ascii_digit)
        && all(fraction, u8::is_ascii_digit)
        && (exponent.is_empty() || all(exponent, u8::is_ascii_digit))
}

/// The length of the prefix before the quotes, if a text starts here. `None` otherwise.
fn prefix_of_text(rest: &str) -> Option<usize> {
    // The rest may be long.
    let bytes = rest.bytes().take(3);
    let prefix = bytes
        .take_while(|byte| !matches!(byte, b'"' | b'\''))
        .count();
    let begins = matches!(rest.as_bytes().get(prefix), Some(b'"' | b'\''));
    let before = &rest.as_bytes()[..prefix];
    let is_prefix = [&b""[..], b"r", b"b", b"br"]
        .iter()
        .any(|known| before.eq_ignore_ascii_case(known));
    (begins && is_prefix).then_some(prefix)
}

/// A mistake in a text, with its place.
struct WrongText {
    at: usize,
    message: String,
    help: &'static str,
}

/// The length of the text that starts here. The parser has to find the same end: otherwise it would
/// parse an uncounted expression.
fn length_of_text(rest: &str, prefix: usize) -> Result<usize, WrongText> {
    let is_raw = rest[..prefix].contains(['r', 'R']);
    let quoted = &rest[prefix..];
    let quote = &quoted[..1];
    let three = quote.repeat(3);
    let has_three = quoted.starts_with(&three);
    let ends = if has_three { three.as_str() } else { quote };
    let wrong = |at: usize, message: &str, help| WrongText {
        at,
        message: message.to_owned(),
        help,
    };
    let mut at = ends.len();
    while let Some(letter) = quoted[at..].chars().next() {
        let here = &quoted[at..];
        if here.starts_with(ends) {
            return Ok(prefix + at + ends.len());
        }
        if !has_three && matches!(letter, '\n' | '\r') {
            let help = "write three quotes at both ends, or `\\n` for the line end";
            return Err(wrong(prefix + at, "a text does not end in its line", help));
        }
        if letter != '\\' || is_raw {
            at += letter.len_utf8();
        } else if let Some(length) = escape(here) {
            at += length;
        } else {
            let shown: String = here.chars().take(2).collect();
            let message = format!("`{shown}` means nothing in a text");
            let help = "a backslash is written twice, or the text begins with `r`";
            return Err(wrong(prefix + at, &message, help));
        }
    }
    Err(wrong(0, "a text does not end", "close its quotes"))
}

/// The length of the escape that starts here.
fn escape(text: &str) -> Option<usize> {
    let code = text.as_bytes();
    let digits = |count: usize, is: fn(&u8) -> bool| {
        let digits = code.get(2..2 + count)?;
        digits.iter().all(is).then_some(2 + count)
    };
    match code.get(1)? {
        b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`' => {
            Some(2)
        }
        b'x' | b'X' => digits(2, u8::is_ascii_hexdigit),
        b'u' => digits(4, u8::is_ascii_hexdigit),
        b'U' => digits(8, u8::is_ascii_hexdigit),
        b'0'..=b'3' => digits(2, |digit| matches!(digit, b'0'..=b'7')),
        _ => None,
    }
}

/// Refuses signs and words that other languages have and CEL does not.
fn refuse_foreign(text: &str, tokens: &[Token<'_>]) -> Result<(), Misread> {
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| tokens[before]);
        let follows_operand = before.is_some_and(|before| before.is_operand());
        let next_is_operand = tokens.get(index + 1).is_some_and(|next| {
            matches!(next.kind, Kind::Word | Kind::Name | Kind::Literal) && next.text != "in"
        });
        let meant = match token.kind {
            // In the conditions of `flow!`, a `&` before a key is a reference to it.
            Kind::Operator if token.text == "&" && !follows_operand => None,
            Kind::Operator => FOREIGN.iter().find(|(foreign, _)| *foreign == token.text),
            Kind::Word if token.text == "not" && !follows_operand && next_is_operand => {
                FOREIGN_WORDS.iter().find(|(word, _)| *word == "not")
            }
            Kind::Word if follows_operand && token.text != "not" => {
                FOREIGN_WORDS.iter().find(|(word, _)| *word == token.text)
            }
            _ => None,
        };
        if let Some((foreign, meant)) = meant {
            let place = place(text, token.at);
            let message = format!("CEL has no `{foreign}`, {place}");
            return Err(Misread::new(message).help(format!("write `{meant}`")));
        }
    }
    Ok(())
}

/// The maximum depth of nested brackets, and of nested operators.
fn depths(text: &str, tokens: &[Token<'_>]) -> Result<(usize, usize), Misread> {
    /// The content of a bracket that can still nest.
    #[derive(Clone, Copy, Default)]
    struct Inside {
        /// The operators since the last comma, `&&` or `||`, which nest in one another.
        operators: usize,
        /// The number of `? :`: each nests in the previous one, whatever is between them.
        choices: usize,
    }
    let mut open = vec![Inside::default()];
    let (mut brackets, mut operators) = (0, 0);
    for token in tokens {
        let is_inside = open.len() > 1;
        let Some(inside) = open.last_mut() else {
            break;
        };
        match token.kind {
            Kind::Opens => {
                inside.operators += 1;
                open.push(Inside::default());
            }
            // The parser reports a bracket that closes nothing.
            Kind::Closes if is_inside => drop(open.pop()),
            Kind::Comma => *inside = Inside::default(),
            // The parser builds a balanced tree of a chain of these.
            Kind::Operator if ["&&", "||"].contains(&token.text) => inside.operators = 0,
            Kind::Operator if token.text == "?" => inside.choices += 1,
            Kind::Operator => inside.operators += 1,
            Kind::Word if token.text == "in" => inside.operators += 1,
            _ => {}
        }
        let all = open.iter();
        let all: usize = all.map(|inside| inside.operators + inside.choices).sum();
        (brackets, operators) = (brackets.max(open.len() - 1), operators.max(all));
        let message = if brackets > MOST_BRACKETS {
            format!("its brackets stand more than {MOST_BRACKETS} deep in one another")
        } else if operators > MOST_OPERATORS {
            format!("more than {MOST_OPERATORS} of its operators follow one another")
        } else {
            continue;
        };
        let message = format!("{message}, {}", place(text, token.at));
        return Err(Misread::new(message).help("let a node decide, and read its result here"));
    }
    Ok((brackets, operators))
}

/// The text in which other names of the same length replace those in backquotes, and these names.
fn without_backquotes(
    text: &str,
    tokens: &[Token<'_>],
) -> Result<(String, Vec<(String, String)>), Misread> {
    let mut names: Vec<(String, String)> = Vec::new();
    let mut numbers = 0..;
    let mut without = String::new();
    let mut end = 0;
    for token in tokens.iter().filter(|token| token.kind == Kind::Name) {
        let name = &token.text[1..token.text.len() - 1];
        let is_part = |letter: char| {
            is_letter(letter) || unicode_ident::is_xid_continue(letter) || "-./ ".contains(letter)
        };
        if name.is_empty() || !name.chars().all(is_part) {
            let place = place(text, token.at);
            let message = format!("`{name}` in backquotes is not a name, {place}");
            return Err(Misread::new(message)
                .help("a name has letters, digits, spaces, `_`, `-`, `.` and `/`"));
        }
        let stand_in = match names.iter().find(|(_, known)| known == name) {
            Some((stand_in, _)) => stand_in.clone(),
            None => {
                let length = token.text.chars().count();
                let stand_in = free_name(text, length, &mut numbers);
                names.push((stand_in.clone(), name.to_owned()));
                stand_in
            }
        };
        without += &text[end..token.at];
        without += &stand_in;
        end = token.at + token.text.len();
    }
    without += &text[end..];
    Ok((without, names))
}

/// An unused name, of this length if possible. Each has a number of its own.
fn free_name(text: &str, length: usize, numbers: &mut RangeFrom<usize>) -> String {
    let padded = |number: usize| {
        let mut name = format!("_{number}_");
        while name.len() < length {
            name.push('_');
        }
        name
    };
    let mut names = numbers.map(padded);
    let free = names.find(|name| !text.contains(name.as_str()));
    free.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn help(text: &str) -> Option<String> {
        count(text).err().map(|misread| misread.to_string())
    }

    #[test]
    fn other_languages_are_translated() {
        for (text, foreign, meant) in [
            ("score = 8", "=", "=="),
            ("a === 1", "===", "=="),
            ("a !== 1", "!==", "!="),
            ("a <> 1", "<>", "!="),
            ("a => 1", "=>", ">="),
            ("a =< 1", "=<", "<="),
            ("a & b", "&", "&&"),
            ("a | b", "|", "||"),
            ("a and b", "and", "&&"),
            ("(a) or b", "or", "||"),
            ("a && not b", "not", "!"),
            ("a is null", "is", "=="),
            ("a ≥ 1", "≥", ">="),
            ("a == “x”", "“", "\""),
        ] {
            let said = help(text).unwrap();
            assert!(
                said.starts_with(&format!("CEL has no `{foreign}`, at its column ")),
                "{said}"
            );
            assert!(said.ends_with(&format!("(write `{meant}`)")), "{said}");
        }
        for text in [
            "a == '=' && b != \"a = b and c\" // a = b",
            "and == or && not == is",
            "*a == 1 && &b == 2",
            "a in [r'\\', '\\'', '''a ' = ''', b\"=\"]",
            "a.b.and == 1e3 || 1.5 < a[0].is",
        ] {
            assert_eq!(help(text), None, "{text}");
        }
    }

    /// The parser would continue where this finds a text.
    #[test]
    fn texts_that_the_parser_sees_to_end_elsewhere_are_refused() {
        let many = "(".repeat(40);
        for (text, message) in [
            (
                format!("'\n{many}"),
                "a text does not end in its line, at its column 2",
            ),
            (
                format!("x == '\r{many}'"),
                "a text does not end in its line, at its column 7",
            ),
            (format!("'{many}"), "a text does not end, at its column 1"),
            (
                format!("'''{many}'"),
                "a text does not end, at its column 1",
            ),
            (
                format!("'\\q{many}'"),
                "`\\q` means nothing in a text, at its column 2",
            ),
            (
                format!("'\\x4{many}'"),
                "`\\x` means nothing in a text, at its column 2",
            ),
            (
                format!("1r'\\' + {many}'"),
                "`1r` is not a number, at its column 1",
            ),
            (
                format!("är'\\' + {many}'"),
                "unexpected `är`, at its column 1",
            ),
        ] {
            assert!(
                help(&text).unwrap().starts_with(message),
                "{:?}",
                help(&text)
            );
        }
        // `rb` does not begin a text, so this is a name and a text that does not end.
        assert!(help(&format!("rb'\\' + {many}'")).is_none());
        assert!(help(&format!("rb'\\' + {many}' + {many}")).is_some());
        for text in [
            "br'\\' == b'\\\\'",
            "'\\u00e4\\x41\\101\\?'",
            "0x1Fu + 1.5e3 + 2e+5 + 7U",
        ] {
            assert_eq!(help(text), None, "{text}");
        }
    }

    #[test]
    fn names_in_backquotes_keep_their_length() {
        let counted = count("`größe` > 1 && a.`b-c` == `größe`").unwrap();
        assert_eq!(counted.text, "_0_____ > 1 && a._1___ == _0_____");
        // Combining signs are not letters, but they are parts of names.
        assert_eq!(count("`क्षमा` > 1").unwrap().text, "_0_____ > 1");
        assert_eq!(count("`m²` > 1").unwrap().text, "_0__ > 1");
        assert!(help("`a").is_some());
        assert!(help("`@result` == 1").is_some());
        assert!(help("`` == 1").is_some());
    }

    /// Each took a minute without optimizations when each word scanned the rest or all names.
    #[test]
    fn the_words_of_a_long_condition_are_read_in_time() {
        let names = (0..1200).map(|number| format!("`n {number}`"));
        let texts = [
            format!("a {}1", "in ".repeat(5000)),
            "a && ".repeat(3000),
            "a == b == ".repeat(1500),
            names.collect::<Vec<_>>().join(" && "),
        ];
        for text in texts {
            let began = Instant::now();
            let _ = count(&text);
            let took = began.elapsed();
            assert!(took < Duration::from_secs(20), "{took:?}: {}", &text[..20]);
        }
    }

    #[test]
    fn what_nests_too_deep_is_refused() {
        let nested = |open: &str, close: &str, levels: usize| {
            format!("{}1{} == 1", open.repeat(levels), close.repeat(levels))
        };
        assert_eq!(help(&nested("(", ")", 32)), None);
        assert!(help(&nested("(", ")", 33)).is_some());
        assert_eq!(help(&"a + ".repeat(90)), None);
        assert!(help(&"a + ".repeat(101)).is_some());
        assert!(help(&nested("a ? b : ", "", 101)).is_some());
        assert!(help(&nested("x.a", "", 101)).is_some());
        assert_eq!(help(&"a == 1 && ".repeat(1000)), None);
    }
}
