//! A table whose cells may have several lines.

use flow_spec::visible;

use crate::Text;
use crate::style::HEADER;

/// Writes rows under headings. Each column is as wide as its content.
pub(crate) fn table(headings: &[&str], rows: &[Vec<Vec<String>>]) -> Text {
    let widths: Vec<usize> = headings
        .iter()
        .enumerate()
        .map(|(column, heading)| {
            let lines = rows.iter().filter_map(|row| row.get(column)).flatten();
            let widths = lines.map(|line| width(line));
            widths.chain([heading.len()]).max().unwrap_or_default()
        })
        .collect();
    let mut text = Text::default();
    push_line(&mut text, &widths, headings, true);
    for row in rows {
        let height = row.iter().map(Vec::len).max().unwrap_or_default().max(1);
        for line in 0..height {
            let cells = row
                .iter()
                .map(|cell| cell.get(line).map_or("", String::as_str));
            push_line(&mut text, &widths, &cells.collect::<Vec<_>>(), false);
        }
    }
    text
}

/// The width of a line of a cell as shown.
fn width(line: &str) -> usize {
    visible(line).chars().count()
}

fn push_line(text: &mut Text, widths: &[usize], cells: &[&str], heading: bool) {
    let mut pending = 0;
    for (cell, column) in cells.iter().zip(widths) {
        if !cell.is_empty() {
            text.push(" ".repeat(pending));
            pending = 0;
            if heading {
                text.push_styled(HEADER, cell)
            } else {
                text.push(cell)
            };
        }
        pending += column + 2 - width(cell);
    }
    text.end_line();
}

#[cfg(test)]
mod tests {
    #[test]
    fn cells_stand_under_each_other() {
        let cell = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let rows = [
            vec![cell("Grüße"), cell("1"), cell("a: u64\nb: String")],
            vec![cell("Q"), cell(""), cell("")],
        ];
        let table = super::table(&["FLOW", "N", "INPUTS"], &rows);
        let table = anstream::adapter::strip_str(table.as_str()).to_string();
        insta::assert_snapshot!(table, @"
        FLOW   N  INPUTS
        Grüße  1  a: u64
                  b: String
        Q
        ");
    }
}
