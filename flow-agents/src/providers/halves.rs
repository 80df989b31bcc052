//! Halves of letters in JSON texts.
//!
//! JSON can write a letter beyond the first 65,536 as two escapes, such as `\ud83c\udf27`. A server
//! that cuts its texts there sends one half with one event, and the other half with the next.
//! Neither half can be decoded alone, and a Rust string cannot hold it. So an event that ends with
//! a first half waits for the next one.

use std::borrow::Cow;

use super::events::Event;

/// The replacement for half a letter.
const REPLACED: &str = "\\ufffd";

/// Half of a letter: an escape without its other half next to it.
struct Half {
    /// The index of its escape.
    at: usize,
    is_first: bool,
    /// `true` for a first half at the end of its text, or another half at the beginning.
    is_at_edge: bool,
}

/// The number of bytes of an escape.
const ESCAPE: usize = REPLACED.len();

/// Joins the halves of letters that arrive in two events.
#[derive(Debug, Default)]
pub(super) struct Halves {
    /// An event that ends with half a letter.
    waits: Option<Event>,
}

impl Halves {
    /// Returns the event that waited, if any, and this one unless it has to wait itself.
    pub(super) fn push(&mut self, mut event: Event) -> impl Iterator<Item = Event> + use<> {
        let mut before = self.waits.take();
        if let Some(before) = &mut before {
            join(&mut before.data, &mut event.data);
        }
        let now = match first_at_end(&event.data) {
            None => Some(event),
            Some(_) => {
                self.waits = Some(event);
                None
            }
        };
        before.into_iter().chain(now)
    }

    /// Returns the event that still waits when no more events follow.
    pub(super) fn finish(&mut self) -> Option<Event> {
        self.waits.take()
    }
}

/// Replaces each half of a letter in a JSON text.
pub(super) fn replaced(json: &str) -> Cow<'_, str> {
    let halves = halves(json);
    if halves.is_empty() {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len());
    let mut done = 0;
    for half in halves {
        text += &json[done..half.at];
        text += REPLACED;
        done = half.at + ESCAPE;
    }
    text += &json[done..];
    Cow::Owned(text)
}

/// Moves a first half to its other half, if both exist.
fn join(before: &mut String, after: &mut String) {
    let other = halves(after).into_iter();
    let mut other = other.filter(|half| !half.is_first && half.is_at_edge);
    if let (Some(first), Some(other)) = (first_at_end(before), other.next()) {
        let half: String = before.drain(first.at..first.at + ESCAPE).collect();
        after.insert_str(other.at, &half);
    }
}

fn first_at_end(json: &str) -> Option<Half> {
    let mut halves = halves(json).into_iter();
    halves.find(|half| half.is_first && half.is_at_edge)
}

/// The halves of letters in a JSON text.
fn halves(json: &str) -> Vec<Half> {
    let (bytes, mut halves) = (json.as_bytes(), Vec::new());
    let (mut at, mut is_behind_quote) = (0, false);
    while let Some(byte) = bytes.get(at) {
        let was_behind_quote = std::mem::replace(&mut is_behind_quote, *byte == b'"');
        if *byte != b'\\' {
            at += 1;
            continue;
        }
        at += match code(bytes, at) {
            Some(0xd800..=0xdbff) => {
                if let Some(0xdc00..=0xdfff) = code(bytes, at + ESCAPE) {
                    2 * ESCAPE
                } else {
                    let is_at_edge = bytes.get(at + ESCAPE) == Some(&b'"');
                    halves.push(Half {
                        at,
                        is_first: true,
                        is_at_edge,
                    });
                    ESCAPE
                }
            }
            Some(0xdc00..=0xdfff) => {
                halves.push(Half {
                    at,
                    is_first: false,
                    is_at_edge: was_behind_quote,
                });
                ESCAPE
            }
            _ => 2,
        };
    }
    halves
}

/// The number of the escape at this place, such as `\ud83c`.
fn code(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    let mut digits = digits.iter().map(|digit| char::from(*digit).to_digit(16));
    digits.try_fold(0, |code, digit| Some(code * 16 + digit?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of these events after their halves are joined.
    fn joined(events: &[&str]) -> Vec<String> {
        let mut halves = Halves::default();
        let mut joined = Vec::new();
        for data in events {
            let data = (*data).to_owned();
            let name = String::new();
            joined.extend(halves.push(Event { name, data }));
        }
        joined.extend(halves.finish());
        joined.into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn the_halves_of_a_letter_are_put_together_from_two_events() {
        for (events, expected) in [
            (
                vec![r#"{"t":"a\uD83c"}"#, r#"{"t":"\udf27b"}"#],
                vec![r#"{"t":"a"}"#, r#"{"t":"\uD83c\udf27b"}"#],
            ),
            (
                vec![r#""\ud83c""#, r#""\udf27\ud83c""#, r#""\udf27""#],
                vec![r#""""#, r#""\ud83c\udf27""#, r#""\ud83c\udf27""#],
            ),
            // No other half follows, it follows elsewhere, or the escape is not half a letter.
            (vec![r#""\ud83c""#], vec![r#""\ud83c""#]),
            (
                vec![r#""\ud83c""#, "1", r#""\udf27""#],
                vec![r#""\ud83c""#, "1", r#""\udf27""#],
            ),
            (
                vec![r#""\ud83c""#, r#""\"\udf27""#],
                vec![r#""\ud83c""#, r#""\"\udf27""#],
            ),
            (
                vec![r#""\\ud83c""#, r#""\udf27""#],
                vec![r#""\\ud83c""#, r#""\udf27""#],
            ),
        ] {
            assert_eq!(joined(&events), expected, "{events:?}");
        }
    }

    #[test]
    fn only_an_event_that_ends_with_half_a_letter_waits() {
        for (data, waits) in [
            (r#""\ud83c""#, true),
            (r#""\ud83c ""#, false),
            (r#""\ud83c\udf27""#, false),
            (r#""\udf27""#, false),
            (r#""\\ud83c""#, false),
            (r#""\ud83"#, false),
            ("\\", false),
        ] {
            let (name, data) = (String::new(), data.to_owned());
            let mut halves = Halves::default();
            let event = Event { name, data };
            assert_eq!(halves.push(event).count(), usize::from(!waits));
            assert_eq!(halves.finish().is_some(), waits);
        }
    }

    #[test]
    fn half_a_letter_is_replaced() {
        for (json, expected) in [
            (r#"["\ud83c", "\udf27a"]"#, r#"["\ufffd", "\ufffda"]"#),
            (r#""\ud83c\ud83c\udf27""#, r#""\ufffd\ud83c\udf27""#),
            (r#""\\ud83c\\\udf27""#, r#""\\ud83c\\\ufffd""#),
            (r#""\ud83c\"ö""#, r#""\ufffd\"ö""#),
            (r#""\ud83c\u0041\ud83"#, r#""\ufffd\u0041\ud83"#),
        ] {
            assert_eq!(replaced(json), expected);
        }
    }
}
