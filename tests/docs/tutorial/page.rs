//! The code blocks of a page.

use std::fs;
use std::path::Path;

/// A fenced block.
pub(crate) struct Block {
    /// The line of the page at which it begins, from 1.
    pub(crate) line: usize,
    /// What stands behind the fence.
    pub(crate) language: String,
    pub(crate) text: String,
}

/// The blocks of a page, in their order.
pub(crate) fn blocks(page: &Path) -> Vec<Block> {
    let text =
        fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    let mut blocks = Vec::new();
    let mut lines = text.lines().zip(1..);
    while let Some((opening, line)) = lines.next() {
        if let Some(language) = opening.strip_prefix("```") {
            let inside = lines.by_ref().map(|(line, _)| line);
            let inside = inside.take_while(|line| *line != "```");
            let text = inside.map(|line| format!("{line}\n")).collect();
            let language = language.to_owned();
            blocks.push(Block {
                line,
                language,
                text,
            });
        }
    }
    blocks
}
