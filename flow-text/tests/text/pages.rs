//! The pages about documents say what is.

use std::fs;
use std::path::Path;

use flow_text::{Format, read, to_yaml};

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The blocks of a language in a page.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let begin = format!("```{language}\n");
    let blocks = page.split(&begin).skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_example_begins_so_in_yaml() {
    let page = page("flow-json.md");
    let document = read(blocks(&page, "json")[0].as_bytes(), Format::Json).unwrap();
    let yaml = to_yaml(document.flow());
    let beginning = &blocks(&page, "yaml")[0];
    assert!(yaml.starts_with(beginning), "{yaml}");
    let again = read(yaml.as_bytes(), Format::Yaml).unwrap();
    assert_eq!((again.flow(), again.check()), (document.flow(), Vec::new()));
}
