//! Escapes texts for storage, since texts of Postgres cannot contain NUL.

use std::borrow::Cow;

/// The escape character, from the private use area.
const ESCAPE: char = '\u{E0F7}';

pub(super) fn stored(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut stored = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => stored.extend([ESCAPE, '0']),
            ESCAPE => stored.extend([ESCAPE, '1']),
            other => stored.push(other),
        }
    }
    Cow::Owned(stored)
}

pub(super) fn read(stored: String) -> String {
    if !stored.contains(ESCAPE) {
        return stored;
    }
    let mut text = String::with_capacity(stored.len());
    let mut characters = stored.chars();
    while let Some(character) = characters.next() {
        match character {
            ESCAPE => text.extend(characters.next().map(|next| match next {
                '0' => '\0',
                _ => ESCAPE,
            })),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        for text in [
            "",
            "a",
            "\0",
            "\0\u{E0F7}0\u{E0F7}",
            "\u{E0F7}",
            "\u{E0F7}1é",
        ] {
            let stored = stored(text);
            assert!(!stored.contains('\0'));
            assert_eq!(read(stored.into_owned()), text);
        }
    }
}
