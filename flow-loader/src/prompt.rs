//! The prompts of questions, as documents write them.

use std::collections::HashMap;
use std::fmt::{Display, Write as _};

/// A prompt: text in which each `{key}` stands for a value that the node reads.
pub(crate) struct Prompt {
    pieces: Vec<Piece>,
    /// The keys, without duplicates.
    keys: Vec<String>,
}

enum Piece {
    Text(String),
    /// A value, by the index of its key.
    Value(usize),
}

impl Prompt {
    /// Reads a prompt.
    ///
    /// # Errors
    ///
    /// The prompt is wrong; the error is a message, and how to fix it.
    pub(crate) fn parse(text: &str) -> Result<Self, (String, &'static str)> {
        let mut prompt = Prompt {
            pieces: Vec::new(),
            keys: Vec::new(),
        };
        let mut numbers = HashMap::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, braces) = rest.split_at(at);
            prompt.text(before);
            if let Some(after) = ["{{", "}}"].iter().find_map(|two| braces.strip_prefix(two)) {
                prompt.text(&braces[..1]);
                rest = after;
                continue;
            }
            let Some(inner) = braces.strip_prefix('{') else {
                let message = "this prompt has a `}` that closes nothing".to_owned();
                return Err((message, "write `}}` for a brace that is shown"));
            };
            let Some((key, after)) = inner.split_once('}') else {
                let message = "this prompt has a `{` that is not closed".to_owned();
                return Err((message, "write `{{` for a brace that is shown"));
            };
            prompt.key(key, &mut numbers)?;
            rest = after;
        }
        prompt.text(rest);
        Ok(prompt)
    }

    /// Returns the keys that it names, without duplicates.
    pub(crate) fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Returns the text with these values, by the indexes of the keys.
    pub(crate) fn shown<'a>(
        &self,
        value: impl Fn(usize) -> &'a (dyn Display + Send + Sync),
    ) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Value(key) => {
                    // Writing to a `String` fails only if the value's own `Display` does.
                    let written = write!(text, "{}", value(*key));
                    written.unwrap_or_else(|_| text.push('…'));
                }
            }
        }
        text
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    /// Adds a key as written, with its existing index if it is already known.
    fn key<'t>(
        &mut self,
        written: &'t str,
        numbers: &mut HashMap<&'t str, usize>,
    ) -> Result<(), (String, &'static str)> {
        let key = written.strip_prefix("r#").unwrap_or(written);
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        if key.is_empty() || !key.chars().all(is_letter) || key.starts_with(char::is_numeric) {
            let message = format!("`{{{written}}}` in this prompt is not a key");
            let help =
                "name one key, as in `{version}`, or write `{{` and `}}` for braces that are shown";
            return Err((message, help));
        }
        let number = *numbers.entry(key).or_insert(self.keys.len());
        if number == self.keys.len() {
            self.keys.push(key.to_owned());
        }
        self.pieces.push(Piece::Value(number));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_once_and_braces_shown() {
        let prompt =
            Prompt::parse("{{a}} {version} of {r#type}, {version}{{{version}}} ü").unwrap();
        assert_eq!(prompt.keys(), ["version", "type"]);
        let values: [&(dyn Display + Send + Sync); 2] = [&7, &"x"];
        assert_eq!(prompt.shown(|key| values[key]), "{a} 7 of x, 7{7} ü");
    }

    #[test]
    fn what_names_no_key_is_a_mistake() {
        for text in [
            "{}", "{ }", "{a", "a}", "{a b}", "{a:?}", "{0}", "{a{b}", "{{a}", "{a.b}",
        ] {
            assert!(Prompt::parse(text).is_err(), "{text}");
        }
    }
}
