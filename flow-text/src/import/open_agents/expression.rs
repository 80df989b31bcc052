//! Conditions of OpenAgents, which are JavaScript expressions, as CEL expressions.
//!
//! The two languages share names, fields, literals, comparisons, `&&`, `||`, `!`, `+`, `-` and `*`
//! with their precedence. Everything else of JavaScript is refused, because in CEL it would be a
//! different condition or an invalid one.

use std::collections::HashSet;

use flow_spec::document::__private::composed;

use crate::import::draft::key;

/// Names that begin a construct of JavaScript other than a value.
const KEYWORDS: [&str; 9] = [
    "await",
    "delete",
    "function",
    "in",
    "instanceof",
    "new",
    "this",
    "typeof",
    "void",
];

/// The operators and their forms in CEL, the longest first.
const OPERATORS: [(&str, &str); 15] = [
    ("===", "=="),
    ("!==", "!="),
    ("==", "=="),
    ("!=", "!="),
    ("<=", "<="),
    (">=", ">="),
    ("&&", "&&"),
    ("||", "||"),
    ("<", "<"),
    (">", ">"),
    ("!", "!"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("(", "("),
];

/// Translates a condition over the results of these steps to CEL.
///
/// # Errors
///
/// The part that CEL does not have.
pub(super) fn to_cel(text: &str, steps: &HashSet<&str>) -> Result<String, String> {
    let mut reader = Reader {
        rest: text.trim(),
        steps,
        cel: String::new(),
        compares: vec![false],
    };
    while !reader.rest.is_empty() {
        reader.token()?;
    }
    Ok(reader.cel.trim_end().to_owned())
}

struct Reader<'a> {
    rest: &'a str,
    steps: &'a HashSet<&'a str>,
    cel: String,
    /// For each open parenthesis, true if a comparison came after the last `&&` or `||`. CEL groups
    /// several comparisons in another way.
    compares: Vec<bool>,
}

impl Reader<'_> {
    fn token(&mut self) -> Result<(), String> {
        let first = self.rest.chars().next().unwrap_or_default();
        if first.is_whitespace() {
            self.rest = self.rest.trim_start();
            self.cel.push(' ');
            return Ok(());
        }
        if is_word(first) && !first.is_ascii_digit() {
            return self.value();
        }
        if first.is_ascii_digit() {
            let number = self.take(|letter| letter.is_ascii_alphanumeric() || letter == '.');
            // `010` is octal in JavaScript.
            let is_octal =
                number.starts_with('0') && number[1..].starts_with(|it: char| it.is_ascii_digit());
            let is_plain = number.parse::<f64>().is_ok() && !number.ends_with('.') && !is_octal;
            return self.push_if(is_plain, &number, &number);
        }
        if matches!(first, '"' | '\'') {
            let text = self.text()?;
            self.cel += &text;
            return Ok(());
        }
        if let Some(rest) = self.rest.strip_prefix(')') {
            self.rest = rest;
            self.cel.push(')');
            if self.compares.len() > 1 {
                self.compares.pop();
            }
            return Ok(());
        }
        self.operator()
    }

    fn operator(&mut self) -> Result<(), String> {
        let mut operators = OPERATORS.into_iter();
        let found = operators.find(|(own, _)| self.rest.starts_with(own));
        let Some((own, cel)) = found else {
            let first = self.rest.chars().next().unwrap_or_default();
            return Err(first.to_string());
        };
        // `++`, `**`, `=>` and the like.
        let after = &self.rest[own.len()..];
        if after.starts_with(['=', '>', '<']) || "+-*".contains(own) && after.starts_with(own) {
            return Err(self.rest.chars().take(own.len() + 1).collect());
        }
        let last = self.compares.last_mut();
        match own {
            "(" => self.compares.push(false),
            "&&" | "||" => last.into_iter().for_each(|compares| *compares = false),
            "!" | "+" | "-" | "*" => {}
            _ => {
                let compared = last.is_some_and(|compares| std::mem::replace(compares, true));
                if compared {
                    return Err(format!("a second `{own}` without parentheses"));
                }
            }
        }
        self.rest = after;
        self.cel += cel;
        Ok(())
    }

    /// A name with the fields after it.
    fn value(&mut self) -> Result<(), String> {
        let word = self.take(is_word);
        if matches!(word.as_str(), "true" | "false" | "null" | "undefined") {
            self.cel += if word == "undefined" { "null" } else { &word };
            return Ok(());
        }
        if KEYWORDS.contains(&word.as_str()) {
            return Err(word);
        }
        let is_context = word == "context" && !self.steps.contains("context");
        let name = if is_context {
            self.of_context()?
        } else {
            composed(&word).into_owned()
        };
        let mut value = in_cel(&name).ok_or(name)?;
        let mut is_size = false;
        loop {
            if self.rest.starts_with('(') || is_size && self.rest.starts_with(['.', '[']) {
                return Err(format!(
                    "{value}{}",
                    self.rest.chars().next().unwrap_or_default()
                ));
            }
            if let Some(rest) = self.rest.strip_prefix('.') {
                self.rest = rest;
                let field = self.take(is_word);
                match field.as_str() {
                    "" => return Err(".".to_owned()),
                    "length" => {
                        is_size = true;
                        value = format!("size({value})");
                    }
                    field => {
                        value = match in_cel(field) {
                            Some(field) => format!("{value}.{field}"),
                            None => format!("{value}['{field}']"),
                        }
                    }
                }
            } else if let Some(index) = self.index()? {
                value = format!("{value}[{index}]");
            } else {
                break;
            }
        }
        self.cel += &value;
        Ok(())
    }

    /// The key of a field of `context`, in which the id of a step may contain `-`.
    fn of_context(&mut self) -> Result<String, String> {
        if let Some(rest) = self.rest.strip_prefix('.') {
            let is_part = |letter: char| is_word(letter) || letter == '-';
            let whole = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
            let named = composed(&rest[..whole]);
            let begins = |id: &&str| {
                let behind = named.strip_prefix(id);
                behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('-'))
            };
            let ids = self.steps.iter().copied().filter(begins);
            if let Some(id) = ids.max_by_key(|id| id.len()) {
                // The end in the text before it is composed. No letter is composed from a `-`.
                let mut dashes = rest[..whole].match_indices('-').map(|(at, _)| at);
                let end = dashes.nth(id.matches('-').count()).unwrap_or(whole);
                self.rest = &rest[end..];
                return Ok(key(id));
            }
            self.rest = rest;
            let name = self.take(is_word);
            return match name.as_str() {
                "" => Err("context.".to_owned()),
                name => Ok(composed(name).into_owned()),
            };
        }
        let named = self.index()?.filter(|index| index.starts_with(['"', '\'']));
        let named = named.ok_or_else(|| "context".to_owned())?;
        Ok(key(&composed(&named[1..named.len() - 1])))
    }

    /// The number or the text in brackets.
    fn index(&mut self) -> Result<Option<String>, String> {
        let Some(rest) = self.rest.strip_prefix('[') else {
            return Ok(None);
        };
        self.rest = rest.trim_start();
        let index = if self.rest.starts_with(['"', '\'']) {
            self.text()?
        } else {
            self.take(|letter| letter.is_ascii_digit())
        };
        let Some(rest) = self
            .rest
            .trim_start()
            .strip_prefix(']')
            .filter(|_| !index.is_empty())
        else {
            return Err("[".to_owned());
        };
        self.rest = rest;
        Ok(Some(index))
    }

    /// A text in quotes, with the escapes that CEL has as well.
    fn text(&mut self) -> Result<String, String> {
        let mut letters = self.rest.char_indices();
        let quote = letters.next().map(|(_, quote)| quote).unwrap_or_default();
        while let Some((at, letter)) = letters.next() {
            if letter == quote {
                let (text, rest) = self.rest.split_at(at + 1);
                self.rest = rest;
                return Ok(text.to_owned());
            }
            let escaped = if letter == '\\' { letters.next() } else { None };
            if letter == '\n' || escaped.is_some_and(|(_, letter)| !"\\\"'nrt".contains(letter)) {
                break;
            }
        }
        Err(quote.to_string())
    }

    fn take(&mut self, is_part: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|letter| !is_part(letter));
        let (taken, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        taken.to_owned()
    }

    fn push_if(&mut self, holds: bool, cel: &str, own: &str) -> Result<(), String> {
        if !holds {
            return Err(own.to_owned());
        }
        self.cel += cel;
        Ok(())
    }
}

/// A name in CEL, in backquotes if it is not plain. `None` for a `$`, which no name has.
fn in_cel(name: &str) -> Option<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.contains('$') {
        None
    } else if name.chars().all(is_plain) && name != "in" {
        Some(name.to_owned())
    } else {
        Some(format!("`{name}`"))
    }
}

/// Returns true for a character of a name.
fn is_word(letter: char) -> bool {
    unicode_ident::is_xid_continue(letter) || letter == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cel(text: &str) -> String {
        let steps = [
            "test",
            "unit",
            "unit-tests",
            "plan",
            "café",
            "café-2",
            "क्षमा",
        ];
        let steps = HashSet::from(steps);
        to_cel(text, &steps).unwrap_or_else(|part| format!("refused: {part}"))
    }

    #[test]
    fn what_both_languages_have_is_the_same() {
        for (text, expected) in [
            ("test.passed === true", "test.passed == true"),
            ("context.test.success !== false", "test.success != false"),
            (" test.coverage > 80.5 ", "test.coverage > 80.5"),
            ("plan.files.length >= 1", "size(plan.files) >= 1"),
            ("input == 'a \\' b'", "input == 'a \\' b'"),
            ("!(test.a && plan) || unit", "!(test.a && plan) || unit"),
            ("context.unit-tests.failed < 1", "unit_tests.failed < 1"),
            ("context.unit - 1 > 0", "unit - 1 > 0"),
            (
                "context[\"unit-tests\"].failed == 0",
                "unit_tests.failed == 0",
            ),
            (
                "plan.files[0]['name'] != undefined",
                "plan.files[0]['name'] != null",
            ),
            ("a < 1 && (b > 2 || c <= -3)", "a < 1 && (b > 2 || c <= -3)"),
            ("länge > 1", "`länge` > 1"),
            ("test.länge > 1", "test.`länge` > 1"),
            ("context.größe > 1", "`größe` > 1"),
            ("test.in === 1", "test.`in` == 1"),
            ("test.$ref === 'x'", "test['$ref'] == 'x'"),
            ("test.a === 10", "test.a == 10"),
            // Letters with marks, and ids in another form than the one that is compared.
            (
                "context.क्षमा.x > 1 && क्षमा.x < 2",
                "`क्षमा`.x > 1 && `क्षमा`.x < 2",
            ),
            ("cafe\u{301}.x > 1", "`café`.x > 1"),
            ("context.cafe\u{301}-2.x > 1", "`café_2`.x > 1"),
            ("context['cafe\u{301}'] > 1", "`café` > 1"),
            ("context.the\u{301} > 1", "`thé` > 1"),
            ("the\u{301} > 1", "`thé` > 1"),
            ("test.cafe\u{301} > 1", "test.`cafe\u{301}` > 1"),
            ("test.a == 'cafe\u{301}'", "test.a == 'cafe\u{301}'"),
        ] {
            assert_eq!(cel(text), expected, "{text}");
        }
    }

    /// Each of its parts could be the id of a step.
    #[test]
    fn a_long_name_with_many_dashes_is_read_in_time() {
        let (id, named) = ("a-".repeat(10_000), "a-".repeat(20_000));
        let steps = HashSet::from([id.as_str()]);
        let began = std::time::Instant::now();
        let read = to_cel(&format!("context.{named}x > 1"), &steps);
        assert!(read.is_ok(), "{read:?}");
        assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    }

    #[test]
    fn what_only_javascript_has_is_refused() {
        for (text, part) in [
            ("plan.files.map(f => f.name)", "plan.files.map("),
            ("typeof plan === 'object'", "typeof"),
            ("a / 2 > 1", "/"),
            ("a ? b : c", "?"),
            ("a?.b", "?"),
            ("`a`", "`"),
            ("{ a: 1 }", "{"),
            ("a = 1", "="),
            ("a++", "++"),
            ("a ** 2 > 1", "**"),
            ("x => x", "="),
            ("a < b < c", "a second `<` without parentheses"),
            ("a === b === c", "a second `===` without parentheses"),
            ("plan.length.size", "size(plan)."),
            ("context", "context"),
            ("1.2.3 > a", "1.2.3"),
            ("010 === 8", "010"),
            ("$a > 1", "$a"),
            ("'a", "'"),
            ("'\\x41' == a", "'"),
            ("a[b]", "["),
            ("a & b", "&"),
            ("a;", ";"),
        ] {
            assert_eq!(cel(text), format!("refused: {part}"), "{text}");
        }
    }
}
