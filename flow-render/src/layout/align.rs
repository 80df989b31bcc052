//! Aligns the actions of neighbouring edges.

use super::lexer::Source;
use super::measure::Measure;
use super::parser::Parsed;
use super::syntax::{Gap, Statement};

/// Widens the gaps before the `-` and the `>>` of edges that begin `source - "action" >>`. They are
/// then aligned in consecutive edges without an empty line between.
pub(super) fn align(source: &Source<'_>, parsed: &mut Parsed) {
    let mut gaps = Vec::new();
    let measure = Measure::new(source, parsed);
    let mut rest = &parsed.flow.statements[..];
    while !rest.is_empty() {
        let is_neighbour = |(index, statement): &(usize, &Statement)| {
            *index == 0 || !source.has_empty_line_before(statement.first())
        };
        let neighbours = rest.iter().enumerate().take_while(is_neighbour);
        let run: Vec<Columns> = neighbours
            .map_while(|(_, statement)| Columns::of(statement, measure))
            .collect();
        let source_width = run.iter().map(|edge| edge.source).max().unwrap_or_default();
        let action_width = run.iter().map(|edge| edge.action).max().unwrap_or_default();
        for edge in &run {
            gaps.push((edge.minus, 1 + source_width - edge.source));
            gaps.push((edge.arrow, 1 + action_width - edge.action));
        }
        rest = &rest[run.len().max(1)..];
    }
    for (index, blanks) in gaps {
        parsed.gaps[index - parsed.first] = Gap::Blanks(blanks);
    }
}

/// The widths of the text before the `-` and the `>>` of an edge, and the places of both.
struct Columns {
    source: usize,
    minus: usize,
    action: usize,
    arrow: usize,
}

impl Columns {
    /// Returns `None` if the statement is not such an edge, or has line breaks in its source.
    fn of(statement: &Statement, measure: Measure<'_, '_>) -> Option<Self> {
        let Statement::Edge(edge) = statement else {
            return None;
        };
        Some(Columns {
            source: measure.width(edge.line.first()..edge.minus)?,
            minus: edge.minus,
            action: measure.width(edge.minus + 1..edge.arrow)?,
            arrow: edge.arrow,
        })
    }
}
