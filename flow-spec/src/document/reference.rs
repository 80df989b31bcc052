//! References in the texts of `params`: to variables, credentials, and secrets that were left out.

use std::borrow::Cow;
use std::fmt;

use super::MASK;

/// The prefix of a reference to a credential.
const CREDENTIAL: &str = "@cred:";

/// The prefix of a reference to a variable. The variable's name and `}` follow.
const VARIABLE: &str = "${";

/// A part of a text in `params`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPart<'a> {
    /// The text itself, unescaped.
    Literal(String),
    /// `${NAME}`: the value of a variable.
    Variable(&'a str),
    /// `@cred:name`, as the whole text: a credential.
    Credential(&'a str),
    /// [`MASK`], as the whole text: a secret that the document does not have.
    Masked,
}

/// The reason why a text in `params` cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextError {
    /// The text between `${` and `}` is not a name.
    VariableName(String),
    /// There is no `}` after `${`.
    Unclosed,
    /// `@cred:` is not followed by a name, up to the end of the text.
    CredentialName,
    /// A text precedes `@cred:`.
    CredentialInside,
}

/// Returns the parts of a text in `params`.
///
/// `$${` is the text `${`, and `@@cred:` is the text `@cred:`; [`escape_text`] writes them.
///
/// # Errors
///
/// The text contains `${` or `@cred:` in another form.
///
/// # Examples
///
/// ```
/// use flow_spec::document::{TextPart, text_parts};
///
/// let parts = text_parts("Bearer ${TOKEN}").unwrap();
/// assert_eq!(parts, [TextPart::Literal("Bearer ".into()), TextPart::Variable("TOKEN")]);
/// assert_eq!(text_parts("@cred:openai"), Ok(vec![TextPart::Credential("openai")]));
/// assert_eq!(text_parts("Dear $${name}"), Ok(vec![TextPart::Literal("Dear ${name}".into())]));
/// ```
pub fn text_parts(text: &str) -> Result<Vec<TextPart<'_>>, TextError> {
    if text == MASK {
        return Ok(vec![TextPart::Masked]);
    }
    if let Some(name) = text.strip_prefix(CREDENTIAL) {
        let is_part = |letter: char| letter.is_alphanumeric() || "_-./".contains(letter);
        return if !name.is_empty() && name.chars().all(is_part) {
            Ok(vec![TextPart::Credential(name)])
        } else {
            Err(TextError::CredentialName)
        };
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(VARIABLE) {
        let (before, from) = rest.split_at(at);
        let plain = before.trim_end_matches('$');
        // Each two `$` before a `{` are one. A remaining one begins a variable.
        let dollars = before.len() - plain.len() + 1;
        let literal = literal(plain)? + &"$".repeat(dollars / 2);
        let from = &from[VARIABLE.len()..];
        if dollars % 2 == 0 {
            push(&mut parts, literal + "{");
            rest = from;
            continue;
        }
        push(&mut parts, literal);
        let (name, after) = from.split_once('}').ok_or(TextError::Unclosed)?;
        if !is_variable(name) {
            return Err(TextError::VariableName(name.to_owned()));
        }
        parts.push(TextPart::Variable(name));
        rest = after;
    }
    push(&mut parts, literal(rest)?);
    Ok(parts)
}

/// Appends a text to the previous one, if there is one.
fn push(parts: &mut Vec<TextPart<'_>>, text: String) {
    match parts.last_mut() {
        Some(TextPart::Literal(before)) => *before += &text,
        _ if text.is_empty() => {}
        _ => parts.push(TextPart::Literal(text)),
    }
}

fn is_variable(name: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.starts_with(|first: char| !first.is_ascii_digit()) && name.chars().all(is_part)
}

/// The text without the escapes of [`CREDENTIAL`].
fn literal(text: &str) -> Result<String, TextError> {
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(CREDENTIAL) {
        let before = rest[..at].strip_suffix('@');
        literal += before.ok_or(TextError::CredentialInside)?;
        literal += CREDENTIAL;
        rest = &rest[at + CREDENTIAL.len()..];
    }
    Ok(literal + rest)
}

/// Escapes a text so that [`text_parts`] reads it as this text. [`MASK`] cannot be escaped and is
/// returned unchanged.
///
/// # Examples
///
/// ```
/// use flow_spec::document::escape_text;
///
/// assert_eq!(escape_text("Dear ${name}"), "Dear $${name}");
/// assert_eq!(escape_text("Dear $name"), "Dear $name");
/// ```
pub fn escape_text(text: &str) -> Cow<'_, str> {
    if !text.contains(VARIABLE) && !text.contains(CREDENTIAL) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(VARIABLE) {
        let before = &rest[..at];
        let dollars = at - before.trim_end_matches('$').len() + 1;
        escaped += before;
        escaped += &"$".repeat(dollars + 1);
        escaped.push('{');
        rest = &rest[at + VARIABLE.len()..];
    }
    escaped += rest;
    Cow::Owned(escaped.replace(CREDENTIAL, "@@cred:"))
}

impl TextError {
    /// Returns help for fixing the text.
    pub fn help(&self) -> &'static str {
        match self {
            TextError::VariableName(_) | TextError::Unclosed => {
                "write `${NAME}` for a variable, or `$${` for the text `${`"
            }
            TextError::CredentialName | TextError::CredentialInside => {
                "write `@cred:NAME` and nothing else for a credential, or `@@cred:` for the text `@cred:`"
            }
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextError::VariableName(name) => {
                write!(f, "`${{{name}}}` does not contain the name of a variable")
            }
            TextError::Unclosed => f.write_str("`${` is not followed by `}`"),
            TextError::CredentialName => f.write_str("`@cred:` is not followed by a name"),
            TextError::CredentialInside => f.write_str("`@cred:` does not begin this text"),
        }
    }
}

impl std::error::Error for TextError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match text_parts(text) {
            Ok(parts) => parts.iter().map(|part| format!("{part:?} ")).collect(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn parts_of_texts() {
        let cases = [
            ("", ""),
            ("a $b {c} d@e", r#"Literal("a $b {c} d@e") "#),
            ("${A}", r#"Variable("A") "#),
            ("${A}${b_1}", r#"Variable("A") Variable("b_1") "#),
            ("x ${A} y", r#"Literal("x ") Variable("A") Literal(" y") "#),
            ("$${A}", r#"Literal("${A}") "#),
            ("$$${A}", r#"Literal("$") Variable("A") "#),
            ("$$$${A} $${", r#"Literal("$${A} ${") "#),
            ("***", "Masked "),
            ("****", r#"Literal("****") "#),
            (
                "@cred:team/open-ai.key",
                r#"Credential("team/open-ai.key") "#,
            ),
            ("@@cred:a", r#"Literal("@cred:a") "#),
            ("@@@cred:a ${B}", r#"Literal("@@cred:a ") Variable("B") "#),
            ("${}", "`${}` does not contain the name of a variable"),
            ("${1}", "`${1}` does not contain the name of a variable"),
            ("${a.b}", "`${a.b}` does not contain the name of a variable"),
            ("a ${b", "`${` is not followed by `}`"),
            ("@cred:", "`@cred:` is not followed by a name"),
            ("@cred:a b", "`@cred:` is not followed by a name"),
            ("Bearer @cred:a", "`@cred:` does not begin this text"),
            ("${A} @cred:a", "`@cred:` does not begin this text"),
        ];
        for (text, parts) in cases {
            assert_eq!(read(text), parts, "{text}");
        }
    }

    /// All texts of up to seven of these pieces.
    #[test]
    fn an_escaped_text_is_read_as_it_was() {
        let pieces = ["$", "{", "}", "@", "cred:", "*", "a"];
        let mut texts = vec![String::new()];
        for _ in 0..6 {
            let longer = texts
                .iter()
                .flat_map(|text| pieces.map(|piece| format!("{text}{piece}")));
            texts = longer.chain([String::new()]).collect();
        }
        for text in texts.iter().filter(|text| *text != MASK) {
            let escaped = escape_text(text);
            let literal = match text.as_str() {
                "" => vec![],
                text => vec![TextPart::Literal(text.into())],
            };
            assert_eq!(text_parts(&escaped), Ok(literal), "{text} as {escaped}");
        }
    }
}
