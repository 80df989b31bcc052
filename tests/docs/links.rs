//! The links of the Markdown files lead to files and headings that are there, and the README leads
//! to each file.
//!
//! Links to Rust items (`crate::Flow`) are checked by rustdoc, and addresses on the web by nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The Markdown files by their paths in the repository.
type Pages = BTreeMap<PathBuf, String>;

#[test]
fn links_lead_somewhere() {
    let pages = pages();
    let wrong: Vec<String> = pages
        .iter()
        .flat_map(|(page, text)| {
            let wrong = links(text)
                .into_iter()
                .filter(|link| !leads_somewhere(&pages, page, link));
            wrong.map(move |link| format!("{}: {link}", page.display()))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "links that lead nowhere:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_readme_leads_to_each_page() {
    let pages = pages();
    let mut seen = BTreeSet::new();
    let mut next = vec![PathBuf::from("README.md")];
    while let Some(page) = next.pop() {
        if let Some(text) = pages.get(&page).filter(|_| seen.insert(page.clone())) {
            let targets = links(text).into_iter().map(|link| target(&page, &link).0);
            next.extend(targets.flat_map(|target| [target.join("README.md"), target]));
        }
    }
    let lost: Vec<&PathBuf> = pages.keys().filter(|page| !seen.contains(*page)).collect();
    assert!(lost.is_empty(), "no link leads to {lost:?}");
}

#[test]
fn headings_have_the_anchors_of_github() {
    let page = "# The `Flow` trait\n```sh\n# a comment\n```\n## What's new?\n## What's new?\n";
    assert_eq!(
        anchors(page),
        ["the-flow-trait", "whats-new", "whats-new-1"]
    );
}

#[test]
fn links_in_code_are_no_links() {
    let page =
        "[a](b.md) and `[c](d.md)`\n```\n[e](f.md)\n```\n[g](https://h) [`i`](crate::I) [j](#k)\n";
    assert_eq!(links(page), ["b.md", "#k"]);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Pages {
    let mut pages = Pages::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder of the repository") {
            let entry = entry.expect("an entry of the folder");
            let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
            let is_folder = entry.file_type().expect("its type").is_dir();
            if is_folder && name != "target" && !name.as_encoded_bytes().starts_with(b".") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(entry.path()).expect("the page can be read");
                pages.insert(path, text);
            }
        }
    }
    pages
}

fn leads_somewhere(pages: &Pages, page: &Path, link: &str) -> bool {
    let (path, anchor) = target(page, link);
    match (pages.get(&path), anchor) {
        (Some(text), Some(anchor)) => anchors(text).iter().any(|known| known == anchor),
        (None, Some(_)) => false,
        (_, None) => root().join(path).exists(),
    }
}

/// The path in the repository that a link of a page names, and the anchor in it.
fn target<'a>(page: &Path, link: &'a str) -> (PathBuf, Option<&'a str>) {
    let (path, anchor) = match link.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (link, None),
    };
    if path.is_empty() {
        return (page.to_owned(), anchor);
    }
    let mut found = page.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(found.pop()),
            part => found.push(part),
        }
    }
    (found, anchor)
}

/// The links of a page to files and headings.
fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(page) {
        // Every other piece is code.
        let text: String = line.split('`').step_by(2).collect();
        let targets = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        let is_here = |target: &&str| {
            !["://", "::", "@", "mailto:"]
                .iter()
                .any(|sign| target.contains(sign))
        };
        links.extend(targets.filter(is_here).map(str::to_owned));
    }
    links
}

/// The anchors of a page's headings, as GitHub and rustdoc name them.
fn anchors(page: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut counts = BTreeMap::new();
    for line in prose(page).filter(|line| line.starts_with('#')) {
        let title = line
            .trim_start_matches('#')
            .trim()
            .to_lowercase()
            .replace(' ', "-");
        let anchor: String = title
            .chars()
            .filter(|sign| sign.is_alphanumeric() || "-_".contains(*sign))
            .collect();
        let count = counts.entry(anchor.clone()).or_insert(0);
        anchors.push(if *count == 0 {
            anchor
        } else {
            format!("{anchor}-{count}")
        });
        *count += 1;
    }
    anchors
}

/// The lines of a page that are not in a block of code.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}
