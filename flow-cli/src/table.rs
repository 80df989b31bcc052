//! A table whose cells may have several lines.

use crate::style::{HEADER, printable, styled};

/// Writes rows under headings, each column as wide as what is in it.
pub(crate) fn table(headings: &[&str], rows: &[Vec<Vec<String>>]) -> String {
    let rows: Vec<Vec<Vec<String>>> = rows
        .iter()
        .map(|row| {
            let cells = row.iter();
            cells
                .map(|lines| lines.iter().map(|line| printable(line)).collect())
                .collect()
        })
        .collect();
    let widths: Vec<usize> = headings
        .iter()
        .enumerate()
        .map(|(column, heading)| {
            let lines = rows.iter().filter_map(|row| row.get(column)).flatten();
            let widths = lines.map(|line| line.chars().count());
            widths.chain([heading.len()]).max().unwrap_or_default()
        })
        .collect();
    let mut text = String::new();
    let headings: Vec<&str> = headings.to_vec();
    push_line(&mut text, &widths, &headings, true);
    for row in &rows {
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

fn push_line(text: &mut String, widths: &[usize], cells: &[&str], heading: bool) {
    let mut pending = 0;
    for (cell, width) in cells.iter().zip(widths) {
        if !cell.is_empty() {
            text.push_str(&" ".repeat(pending));
            pending = 0;
            match heading {
                true => text.push_str(&styled(HEADER, cell)),
                false => text.push_str(cell),
            }
        }
        pending += width + 2 - cell.chars().count();
    }
    text.push('\n');
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
        let table = anstream::adapter::strip_str(&super::table(&["FLOW", "N", "INPUTS"], &rows))
            .to_string();
        insta::assert_snapshot!(table, @"
        FLOW   N  INPUTS
        Grüße  1  a: u64
                  b: String
        Q
        ");
    }
}
