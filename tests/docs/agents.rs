//! `docs/agents.md` shows the programs that `benches/run agents` measures, word for word, and counts their lines.

use std::fs;
use std::path::Path;

/// In the order of the table's columns.
const PROGRAMS: [(&str, &str); 4] = [
    ("rust,ignore", "contenders/agents/src/ours.rs"),
    ("python", "python/agents/langgraph_agent.py"),
    ("rust,ignore", "contenders/agents-rig/src/agent.rs"),
    ("python", "python/agents/pocketflow_agent.py"),
];

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn program(path: &str) -> String {
    read(&format!("benches/{path}"))
}

#[test]
fn the_page_shows_the_programs_that_are_measured() {
    let page = read("docs/agents.md");
    for (language, path) in PROGRAMS {
        let block = format!("```{language}\n{}```\n", program(path));
        assert!(
            page.contains(&block),
            "docs/agents.md does not show {path} as it is"
        );
    }
    let blocks = page.lines().filter(|line| line.starts_with("```")).count();
    assert_eq!(blocks, 2 * PROGRAMS.len(), "a program that is not measured");
}

#[test]
fn the_page_counts_their_lines() {
    let page = read("docs/agents.md");
    let row = page
        .lines()
        .find(|line| line.starts_with("| lines of the program"));
    let cells = row.expect("there is a row of lines").split('|').skip(2);
    for (cell, (_, path)) in cells.zip(PROGRAMS) {
        let counted = program(path)
            .lines()
            .filter(|line| !line.trim().is_empty())
            .count();
        let said = cell.trim().split(',').next().and_then(|it| it.parse().ok());
        assert_eq!(said, Some(counted), "{path}");
    }
}
