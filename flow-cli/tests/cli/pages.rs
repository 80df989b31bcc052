//! `docs/errors.md` on broken documents: what the program says of each.

use std::fs;
use std::path::Path;

use crate::program::Folder;

#[test]
fn ten_broken_documents() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md");
    let page = fs::read_to_string(path).expect("the page");
    let (_, rest) = page
        .split_once("\n### Ten broken documents\n")
        .expect("the section");
    let (section, _) = rest
        .split_once("\n## ")
        .expect("another error after the section");
    let mut checked = 0;
    for part in section.split("\n#### ").skip(1) {
        let blocks: Vec<&str> = part.split("```").collect();
        let [title, document, _, said, _] = blocks[..] else {
            panic!("a document and what is said of it: {part}")
        };
        let (ending, document) = document.split_once('\n').expect("a language");
        let name = format!("draft.{ending}");
        let seen = Folder::new()
            .with(&name, document)
            .run(&format!("check {name}"));
        let said = said.strip_prefix("text\n").expect("text");
        assert_eq!(seen, format!("{said}[exit code 1]"), "{title}");
        checked += 1;
    }
    assert_eq!(checked, 10);
}
