//! The layout of `flow!` in Rust source: [`lay_out`].
//!
//! A source is split into tokens (`lexer`). Each `flow!` in it is found (`blocks`), parsed
//! (`parser`, over a `cursor`) and written again (`printer`). The hard thing is that comments can
//! be anywhere and must not get lost. So the syntax consists of tokens, and a token carries the
//! comments before it. A result with other tokens or comments than the source is refused.

mod align;
mod blocks;
mod cursor;
mod lexer;
mod measure;
mod parser;
mod printer;
mod syntax;
#[cfg(test)]
mod tests;

use parser::Parsed;
use printer::{INDENT, Place, Printer, Style};
use syntax::Statement;

pub use blocks::brackets_of_macro;
pub use lexer::{Fault, Kind, Source, Token};

/// A source with its `flow!` laid out.
#[derive(Debug)]
pub struct LaidOut {
    /// The new text of the source.
    pub text: String,
    /// The reasons why some or all of them are unchanged.
    pub faults: Vec<Fault>,
}

/// Lays out each `flow!` of a source.
///
/// # Examples
///
/// ```
/// use flow_render::layout::lay_out;
///
/// let laid_out = lay_out("flow!{Qa(question: String){start>>answer>>end;}}");
/// assert_eq!(laid_out.text, "\
/// flow!{
///     Qa(question: String) {
///         start >> answer >> end;
///     }
/// }");
/// assert!(laid_out.faults.is_empty());
/// ```
pub fn lay_out(text: &str) -> LaidOut {
    let mut laid_out = LaidOut {
        text: text.to_owned(),
        faults: Vec::new(),
    };
    if !text.contains("flow") {
        return laid_out;
    }
    let source = match Source::new(text) {
        Ok(source) => source,
        Err(fault) => {
            laid_out.faults.push(fault);
            return laid_out;
        }
    };
    let style = style(&source);
    // From the last to the first, so that the places of earlier ones do not change.
    for (open, close) in blocks::blocks(&source).into_iter().rev() {
        let (from, to) = (source.tokens[open].start + 1, source.tokens[close].start);
        match block(&source, open, close, style) {
            Ok(block) => laid_out.text.replace_range(from..to, &block),
            Err(fault) => laid_out.faults.insert(0, fault),
        }
    }
    laid_out
}

/// The line ends and the indentation of a file, as its first lines have them.
fn style(source: &Source<'_>) -> Style {
    let first_line = source.text.split_inclusive('\n').next();
    let mut indented = source
        .text
        .lines()
        .filter(|line| line.starts_with([' ', '\t']));
    Style {
        line_end: if first_line.is_some_and(|line| line.ends_with("\r\n")) {
            "\r\n"
        } else {
            "\n"
        },
        tabs: indented.next().is_some_and(|line| line.starts_with('\t')),
    }
}

/// The content of the brackets of a `flow!`, laid out.
fn block(source: &Source<'_>, open: usize, close: usize, style: Style) -> Result<String, Fault> {
    let mut parsed = parser::parse(source, open, close)?;
    align::align(source, &mut parsed);
    let indent = source.indent_of(&source.tokens[open]);
    let block = print(source, &parsed, close, style, indent);
    let (from, to) = (source.tokens[open].start, source.tokens[close].start + 1);
    let ends = (source.tokens[open].text, source.tokens[close].text);
    if is_same(
        &source.text[from..to],
        &format!("{}{block}{}", ends.0, ends.1),
    ) {
        Ok(block)
    } else {
        Err(Fault {
            at: from,
            message: "its layout would change more than space: please report this flow".to_owned(),
        })
    }
}

fn print(
    source: &Source<'_>,
    parsed: &Parsed,
    close: usize,
    style: Style,
    indent: usize,
) -> String {
    let flow = &parsed.flow;
    let mut printer = Printer::new(source, parsed, style, indent);
    let inner = indent + INDENT;
    for attribute in &flow.attributes {
        printer.lead(attribute.start, Place::Line(inner));
        printer.tokens(attribute.clone());
    }
    printer.line(&flow.head.segments, inner);
    for statement in &flow.statements {
        match statement {
            Statement::Plain(line) => printer.line(&line.segments, inner + INDENT),
            Statement::Edge(edge) => printer.line(&edge.line.segments, inner + INDENT),
            Statement::Branch(branch) => {
                printer.line(&branch.head.segments, inner + INDENT);
                for case in &branch.cases {
                    printer.line(&case.line.segments, inner + 2 * INDENT);
                    printer.comma(case.comma, true);
                }
                printer.close(branch.close, inner + INDENT);
            }
        }
    }
    printer.close(flow.close, inner);
    printer.lead(close, Place::Line(indent));
    printer.finish()
}

/// Compares the tokens and comments of two texts, except for commas before closing brackets.
fn is_same(before: &str, after: &str) -> bool {
    let parts = |text| Source::new(text).ok().map(|source| essence(&source));
    let before = parts(before);
    before.is_some() && before == parts(after)
}

/// The tokens and the comments, without the parts that a layout may change.
fn essence(source: &Source<'_>) -> (Vec<String>, Vec<Vec<String>>) {
    let is_trailing = |index: usize| {
        let next = source.tokens.get(index + 1);
        source.tokens[index].text == "," && next.is_some_and(|next| next.kind == Kind::Close)
    };
    let tokens = (0..source.tokens.len()).filter(|index| !is_trailing(*index));
    let lines = |comment: &Token<'_>| {
        comment
            .text
            .lines()
            .map(|line| line.trim_start().to_owned())
            .collect()
    };
    (
        tokens
            .map(|index| source.tokens[index].text.to_owned())
            .collect(),
        source.comments().iter().map(lines).collect(),
    )
}
