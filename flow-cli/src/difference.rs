//! The difference between two versions of a file.

use similar::{ChangeTag, TextDiff};

use crate::Text;
use crate::style::{BAD, DIM, GOOD};

/// Adds the lines that differ, with a few lines around them.
pub(crate) fn push_difference(text: &mut Text, old: &str, new: &str) {
    let diff = TextDiff::from_lines(old, new);
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        let header = hunk.header().to_string();
        text.push_styled(DIM, header.trim_end()).end_line();
        for change in hunk.iter_changes() {
            let style = match change.tag() {
                ChangeTag::Delete => BAD,
                ChangeTag::Insert => GOOD,
                ChangeTag::Equal => anstyle::Style::new(),
            };
            let value = change.value().trim_end_matches('\n');
            text.push_styled(style, format!("{}{value}", change.tag()))
                .end_line();
            if change.missing_newline() {
                text.push("\\ no newline at the end").end_line();
            }
        }
    }
}
