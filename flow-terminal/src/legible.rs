//! Shows questions so that people see exactly what they are asked.
//!
//! A question contains values, which may come from anywhere. No value may look like text of the
//! flow or the terminal. Control characters therefore do not reach the terminal, and each row of a
//! question with several rows is marked.

use std::borrow::Cow;

use flow_spec::visible;

use flow_runtime::BoxError;

use super::dialogue::{Check, Prompts};

/// The size of the terminal, in characters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// Prompts that make their texts [`visible`].
pub(crate) struct Legible<'p, P>(pub(crate) &'p mut P);

impl<P: Prompts> Legible<'_, P> {
    /// Shows a question.
    ///
    /// A question of one row is shown as it is. Longer texts have line breaks, which may belong to
    /// the flow or to a value. Every line break therefore starts a new row, and each row begins
    /// with a bar, including rows that the terminal would have wrapped. No part of a question can
    /// then look like output after the question.
    ///
    /// A value can push the rows before it off the screen. A question of more rows than half a
    /// screen therefore ends with its number of rows and its first row.
    pub(crate) fn ask(&mut self, question: &str) {
        let size = self.size();
        // The last column stays free, because some terminals start a new row once it is full.
        let room = size.columns.max(NARROWEST) - 1;
        let lines: Vec<Cow<'_, str>> = question.lines().map(visible).collect();
        if let [line] = &lines[..]
            && fitting(line, room).1.is_empty()
        {
            return self.show(line);
        }
        let room = room - BAR.len();
        let rows: Vec<&str> = lines.iter().flat_map(|line| rows(line, room)).collect();
        for row in &rows {
            self.show(&format!("{BAR}{row}"));
        }
        let first = rows.iter().find(|row| !row.trim().is_empty());
        if let Some(first) = first
            && rows.len() > size.rows / 2
        {
            self.show(&format!("The question has {} rows and begins:", rows.len()));
            self.show(&format!("{BAR}{first}"));
        }
    }
}

impl<P: Prompts> Prompts for Legible<'_, P> {
    fn size(&self) -> Size {
        self.0.size()
    }

    fn show(&mut self, line: &str) {
        self.0.show(&visible(line));
    }

    fn select(&mut self, prompt: &str, items: &[&str]) -> Result<usize, BoxError> {
        let items: Vec<Cow<'_, str>> = items.iter().map(|item| visible(item)).collect();
        let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
        self.0.select(&visible(prompt), &items)
    }

    fn confirm(&mut self, prompt: &str) -> Result<bool, BoxError> {
        self.0.confirm(&visible(prompt))
    }

    fn input(&mut self, prompt: &str, check: &Check<'_>) -> Result<String, BoxError> {
        let check = |line: &str| check(line).map_err(|reason| visible(&reason).into_owned());
        self.0.input(&visible(prompt), &check)
    }
}

/// The mark at the beginning of each row of a question of several rows.
const BAR: &str = "| ";

/// The minimum number of columns that a terminal is assumed to have.
const NARROWEST: usize = 8;

/// Breaks the line into rows of at most this width.
fn rows(line: &str, room: usize) -> Vec<&str> {
    let (first, mut rest) = fitting(line, room);
    let mut rows = vec![first];
    while !rest.is_empty() {
        let (row, after) = fitting(rest, room);
        rows.push(row);
        rest = after;
    }
    rows
}

/// Splits the line after the part that fits in a row.
fn fitting(line: &str, room: usize) -> (&str, &str) {
    let mut taken = 0;
    let end = line.char_indices().find(|(_, letter)| {
        taken += width(*letter);
        taken > room
    });
    line.split_at(end.map_or(line.len(), |(at, _)| at))
}

/// The maximum number of columns of a letter in a terminal.
fn width(letter: char) -> usize {
    if letter.is_ascii() { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records what is shown.
    #[derive(Default)]
    struct Shown(Vec<String>);

    impl Prompts for Shown {
        fn size(&self) -> Size {
            Size {
                rows: 10,
                columns: 40,
            }
        }

        fn show(&mut self, line: &str) {
            self.0.push(line.to_owned());
        }

        fn select(&mut self, _: &str, _: &[&str]) -> Result<usize, BoxError> {
            unreachable!("nothing is asked")
        }

        fn confirm(&mut self, _: &str) -> Result<bool, BoxError> {
            unreachable!("nothing is asked")
        }

        fn input(&mut self, _: &str, _: &Check<'_>) -> Result<String, BoxError> {
            unreachable!("nothing is asked")
        }
    }

    fn shown(question: &str) -> Vec<String> {
        let mut shown = Shown::default();
        Legible(&mut shown).ask(question);
        shown.0
    }

    #[test]
    fn a_question_of_one_row_is_shown_as_it_is() {
        assert_eq!(shown("Deploy 7?"), ["Deploy 7?"]);
        assert_eq!(shown("Deploy 7?\n"), ["Deploy 7?"]);
        assert_eq!(shown("Größe für Łódź?"), ["Größe für Łódź?"]);
        assert_eq!(shown(""), Vec::<String>::new());
    }

    #[test]
    fn a_value_cannot_erase_what_stands_before_it() {
        assert_eq!(
            shown("Pay 9 to Eve\r\u{1b}[2K\u{9b}1A\u{7}Pay 1?"),
            [r"| Pay 9 to Eve\r\u{1b}[2K\u{9b}1A\u{7}P", "| ay 1?"]
        );
        assert_eq!(shown("Pay \u{202e}9 to Ann?"), [r"Pay \u{202e}9 to Ann?"]);
        assert_eq!(
            shown("Pay\u{2028}Ann\u{200b}?"),
            [r"Pay\u{2028}Ann\u{200b}?"]
        );
    }

    /// A forged line has a bar in front of it, like the question.
    #[test]
    fn a_line_of_a_question_is_told_from_lines_of_the_terminal() {
        assert_eq!(
            shown("Pay 9 to Eve\nApproval:\r\n> Refuse?"),
            ["| Pay 9 to Eve", "| Approval:", "| > Refuse?"]
        );
    }

    /// So does text that the terminal would have put at the beginning of a row, in letters of any
    /// width.
    #[test]
    fn a_long_line_begins_no_row_without_a_bar() {
        for pad in [" ", "x", "世"] {
            let question = format!("Pay 9 to Eve{}Approval: Refuse", pad.repeat(120));
            let rows = shown(&question);
            assert!(rows.len() > 2, "{rows:?}");
            for row in rows {
                let is_ours = row.starts_with("The question has ");
                assert!(row.starts_with("| ") || is_ours, "{row}");
                assert!(row.chars().map(width).sum::<usize>() < 40, "{row}");
            }
        }
    }

    #[test]
    fn a_tall_question_says_how_it_begins() {
        let rows = shown(&format!("\nPay 9 to Eve{}Pay 1 to Ann?", "\n".repeat(30)));
        assert_eq!(rows.len(), 32 + 2);
        assert_eq!(rows[..2], ["| ", "| Pay 9 to Eve"]);
        let end = [
            "| Pay 1 to Ann?",
            "The question has 32 rows and begins:",
            "| Pay 9 to Eve",
        ];
        assert_eq!(rows[31..], end);
        assert_eq!(shown(&"a\n".repeat(5)).len(), 5);
        assert_eq!(shown(&"a\n".repeat(6)).len(), 6 + 2);
    }

    #[test]
    fn rows_are_as_wide_as_has_room() {
        assert_eq!(rows("", 4), [""]);
        assert_eq!(rows("abcd", 4), ["abcd"]);
        assert_eq!(rows("abcdefghi", 4), ["abcd", "efgh", "i"]);
        assert_eq!(rows("世界世界x", 5), ["世界", "世界x"]);
    }
}
