//! Documents as text: how they are read and written, and where their problems are.
//!
//! Properties run 256 cases each; `PROPTEST_CASES=10000 cargo test -p typed-flows-text --test text` runs
//! more.

#[path = "../../../flow-spec/tests/properties/dice.rs"]
mod dice;
#[path = "../../../flow-spec/tests/documents/generate.rs"]
mod generate;
mod hostile;
mod law;
mod pages;
mod places;
mod workflows;
mod yaml;

use flow_text::{Format, read};

/// What is wrong with a text, as it is printed.
fn said(text: impl AsRef<[u8]>, format: Format) -> String {
    let problems = match read(text.as_ref(), format) {
        Ok(document) => document.check(),
        Err(problems) => problems,
    };
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}
