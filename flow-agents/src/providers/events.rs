//! Server-sent events, read from the pieces of a body.
//!
//! The hard part is that a piece may end anywhere: within a letter, a line end of two bytes, or the
//! mark at the beginning. So bytes are split into lines, and only whole lines are decoded. Invalid
//! UTF-8 is replaced, as the format requires.
//!
//! The format is [that of WHATWG](https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream),
//! with one exception: a last event without its empty line counts.
//!
//! Existing crates are not used. `eventsource-stream` waits for an LF after a CR, so with CR as
//! line end it loses the last event. `sse-stream` fails at an unknown field, which the format says
//! to ignore, and returns that error before the events that arrived with it.

use crate::error::ModelError;

/// The byte order mark, with which a body in UTF-8 may begin.
pub(super) const MARK: &[u8] = "\u{feff}".as_bytes();

/// The names of the fields of an event.
const FIELDS: [&str; 4] = ["data", "event", "id", "retry"];

/// An event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// Its name; empty if it has none.
    pub(super) name: String,
    /// Its lines of data, joined by line breaks.
    pub(super) data: String,
}

/// Reads events from the pieces of a body.
#[derive(Debug)]
pub(super) struct Events {
    /// The line so far.
    line: Vec<u8>,
    /// The name of the event so far. An event without a line of data is dropped.
    name: String,
    data: Option<String>,
    /// `true` if the last byte was a CR: an LF after it belongs to the same line end.
    was_return: bool,
    is_first_line: bool,
    /// The first line that does not belong to an event.
    strange: Option<String>,
    /// `true` if such a line came before all events; `None` before both.
    strange_is_first: Option<bool>,
    /// The maximum number of bytes of an event.
    limit: usize,
}

impl Events {
    /// Reads events of at most this many bytes.
    pub(super) fn new(limit: usize) -> Events {
        Events {
            line: Vec::new(),
            name: String::new(),
            data: None,
            was_return: false,
            is_first_line: true,
            strange: None,
            strange_is_first: None,
            limit,
        }
    }

    /// Reads a piece, and appends the events that it completes to `events`.
    ///
    /// # Errors
    /// [`ModelError::TooLarge`] if an event has more bytes than the limit. The events before it are
    /// read.
    pub(super) fn push(
        &mut self,
        mut piece: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), ModelError> {
        while let [first, rest @ ..] = piece {
            if std::mem::take(&mut self.was_return) && *first == b'\n' {
                piece = rest;
                continue;
            }
            let end = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (more, behind) = piece.split_at(end.unwrap_or(piece.len()));
            let data = self.data.as_ref().map_or(0, String::len);
            if self.line.len() + more.len() + data > self.limit {
                return Err(ModelError::TooLarge { limit: self.limit });
            }
            self.line.extend_from_slice(more);
            let [end, behind @ ..] = behind else {
                return Ok(());
            };
            self.was_return = *end == b'\r';
            piece = behind;
            events.extend(self.end_line());
        }
        Ok(())
    }

    /// Returns the last event if only its line end or its empty line is missing.
    pub(super) fn finish(&mut self) -> Option<Event> {
        let line = match self.line.strip_prefix(MARK) {
            Some(rest) if self.is_first_line => rest,
            _ => &self.line,
        };
        let is_begun = |field: &&str| field.as_bytes().starts_with(line);
        if FIELDS.iter().any(is_begun) || MARK.starts_with(line) {
            self.line.clear();
        }
        self.end_line().or_else(|| self.end_event())
    }

    /// The first line that does not belong to an event, such as one of a web page.
    pub(super) fn strange(&self) -> Option<&str> {
        self.strange.as_deref()
    }

    /// The `strange` line, if it came before all events.
    pub(super) fn strange_at_first(&self) -> Option<&str> {
        self.strange()
            .filter(|_| self.strange_is_first == Some(true))
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let mut rest = line.as_slice();
        if std::mem::take(&mut self.is_first_line) {
            rest = rest.strip_prefix(MARK).unwrap_or(rest);
        }
        if rest.is_empty() {
            return self.end_event();
        }
        let colon = rest.iter().position(|byte| *byte == b':');
        let (field, value) = rest.split_at(colon.unwrap_or(rest.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                let text = String::from_utf8_lossy(value);
                match &mut self.data {
                    None => self.data = Some(text.into_owned()),
                    Some(data) => {
                        data.push('\n');
                        data.push_str(&text);
                    }
                }
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"" | b"id" | b"retry" => {}
            _ => {
                let line = || String::from_utf8_lossy(rest).into_owned();
                self.strange.get_or_insert_with(line);
                self.strange_is_first.get_or_insert(true);
            }
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let data = self.data.take()?;
        self.strange_is_first.get_or_insert(false);
        Some(Event { name, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a body that arrives in these pieces.
    fn read(pieces: &[&[u8]]) -> Vec<Event> {
        let (mut events, mut read) = (Events::new(1000), Vec::new());
        for piece in pieces {
            events.push(piece, &mut read).unwrap();
        }
        read.extend(events.finish());
        read
    }

    #[test]
    fn events_are_the_same_wherever_a_body_is_split() {
        let body = "\u{feff}: hello\nevent: one\ndata: Köln\ndata:\u{1f327}\nid: 7\nretry: soon\nnew: x\n\n\n\
                    data\n\nevent: none\n\ndata: last\n\n";
        let expected = [("one", "Köln\n\u{1f327}"), ("", ""), ("", "last")];
        let expected = expected.map(|(name, data)| Event {
            name: name.to_owned(),
            data: data.to_owned(),
        });
        for end in ["\n", "\r\n", "\r"] {
            let body = body.replace('\n', end);
            let bytes = body.as_bytes();
            for first in 0..=bytes.len() {
                for second in [first, first + 1, bytes.len()] {
                    let second = second.min(bytes.len());
                    let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                    assert_eq!(read(&pieces), expected, "{end:?} {first} {second}");
                }
            }
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(read(&single), expected, "{end:?}");
        }
    }

    #[test]
    fn an_event_that_only_lacks_its_end_counts() {
        for body in ["data: 1", "data: 1\n", "data: 1\r"] {
            assert_eq!(read(&[body.as_bytes()])[0].data, "1");
        }
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_replaced() {
        let body = b"data: K\xc3ln \xff\ndata: \xf0\x9f\n\ndata: \xc3";
        let events = read(&[body]);
        let data: Vec<&str> = events.iter().map(|event| event.data.as_str()).collect();
        assert_eq!(data, ["K\u{fffd}ln \u{fffd}\n\u{fffd}", "\u{fffd}"]);
    }

    #[test]
    fn a_line_that_is_cut_is_not_a_strange_one() {
        for (body, strange) in [
            ("\u{feff}dat", None),
            ("eve", None),
            ("data: 1\nretr", None),
            ("<html", Some("<html")),
            ("data: 1\n{}\n", Some("{}")),
        ] {
            let mut events = Events::new(1000);
            let body = body.as_bytes();
            events.push(body, &mut Vec::new()).unwrap();
            events.finish();
            assert_eq!(events.strange(), strange);
        }
        let mut events = Events::new(1000);
        events.push(&MARK[..2], &mut Vec::new()).unwrap();
        events.finish();
        assert_eq!(events.strange(), None);
    }

    #[test]
    fn a_line_and_an_event_without_end_stop_at_the_limit() {
        for piece in ["x".repeat(100), "data: x\n".repeat(20)] {
            let (mut events, mut read) = (Events::new(1000), Vec::new());
            let pushed = (0..100).try_for_each(|_| events.push(piece.as_bytes(), &mut read));
            assert!(matches!(pushed, Err(ModelError::TooLarge { limit: 1000 })));
            assert!(events.line.capacity() < 4000, "{}", events.line.capacity());
        }
    }
}
