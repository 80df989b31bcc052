//! Looks for a node's enum of actions in the file around the node.
//!
//! An enum passes on its actions by a macro that its derive defines. Without the derive, that macro
//! is missing, and rustc reports the macro, the node's macro and the flow. A macro cannot ask
//! whether another one exists, but it can look at the file: an enum next to the node, without the
//! derive, is reported once, in our words. Unclear cases are left to rustc.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use proc_macro2::Ident;
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, ItemEnum, Path, Stmt, Token};

use crate::editor;

/// The part that an enum of actions lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lacks {
    /// It does not derive `Action`.
    Derive,
    /// It derives `Action`, but the file does not import `Action`.
    Import,
}

/// The distance before an enum within which its derive is searched before the file is parsed.
const DERIVE_WITHIN: usize = 300;

/// Attributes that derive nothing.
const INERT: [&str; 10] = [
    "doc",
    "allow",
    "expect",
    "warn",
    "deny",
    "non_exhaustive",
    "must_use",
    "repr",
    "serde",
    "derive",
];

/// Derives that cannot be another name of `Action`.
const OTHERS: [&str; 12] = [
    "Debug",
    "Clone",
    "Copy",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "Hash",
    "Default",
    "Serialize",
    "Deserialize",
    "JsonSchema",
];

/// A file, with the facts that need no parsing.
struct File {
    path: PathBuf,
    text: String,
    /// For each enum, true if the word `Action` precedes it.
    enums: HashMap<String, bool>,
    /// True if the file may import `Action`.
    imports: bool,
}

/// The file of the last node: nodes usually come file by file.
static LAST: Mutex<Option<Arc<File>>> = Mutex::new(None);

/// The part that the enum with this name clearly lacks in the file of the node that names it.
pub(super) fn lacks(actions: &Path) -> Option<Lacks> {
    let name = actions.get_ident().filter(|_| !editor::expands())?;
    let file = file_of(name)?;
    let text = name.to_string();
    let derived = *file.enums.get(&text)?;
    if derived && file.imports {
        return None;
    }
    let items = syn::parse_file(&file.text).ok()?.items;
    in_list(&items.iter().collect::<Vec<_>>(), &text, file.imports)
}

fn file_of(name: &Ident) -> Option<Arc<File>> {
    let path = name.span().local_file()?;
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = last.as_ref().filter(|file| file.path == path) {
        return Some(Arc::clone(file));
    }
    let text = std::fs::read_to_string(&path).ok()?;
    let file = Arc::new(File {
        enums: enums(&text),
        imports: imports(&text),
        path,
        text,
    });
    *last = Some(Arc::clone(&file));
    Some(file)
}

/// The names of the enums of a text. The value is true if the derive seems to be there.
fn enums(text: &str) -> HashMap<String, bool> {
    let mut enums = HashMap::new();
    for (at, word) in text.match_indices("enum ") {
        let rest = &text[at + word.len()..];
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let name = rest[..end.unwrap_or(rest.len())].to_owned();
        let mut from = at.saturating_sub(DERIVE_WITHIN);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let derived = text[from..at].contains("Action");
        *enums.entry(name).or_insert(true) &= derived;
    }
    enums
}

/// Returns true if `Action` may be in scope: by an import, or by `#[macro_use]` in another file, in
/// which case this one imports no `node` either.
fn imports(text: &str) -> bool {
    let mut imports_node = false;
    for rest in text.split("use ").skip(1) {
        let import = rest.split(';').next().unwrap_or_default();
        if import.contains("Action") || import.contains('*') {
            return true;
        }
        let mut words = import.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        imports_node |= words.any(|word| word == "node");
    }
    !imports_node || text.contains("macro_use")
}

/// Looks for the node and its enum in one module or block, and in those within it.
fn in_list(items: &[&Item], name: &str, imports: bool) -> Option<Lacks> {
    let names_it = items.iter().any(|item| is_node_with(item, name));
    let mut enums = items.iter().filter_map(|item| match item {
        Item::Enum(item) if item.ident == name => Some(item),
        _ => None,
    });
    if let (true, Some(item), None) = (names_it, enums.next(), enums.next()) {
        return of_enum(item, imports);
    }
    items.iter().find_map(|item| {
        let inner: Vec<&Item> = match item {
            Item::Mod(module) => module.content.iter().flat_map(|(_, items)| items).collect(),
            Item::Fn(function) => {
                let statements = function.block.stmts.iter();
                statements
                    .filter_map(|statement| match statement {
                        Stmt::Item(item) => Some(item),
                        _ => None,
                    })
                    .collect()
            }
            _ => return None,
        };
        in_list(&inner, name, imports)
    })
}

/// Returns true for a `#[node(actions = …)]` that contains the name.
fn is_node_with(item: &Item, name: &str) -> bool {
    let attributes = match item {
        Item::Fn(function) => &function.attrs,
        Item::Impl(block) => &block.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| {
        let is_node = attribute
            .path()
            .segments
            .last()
            .is_some_and(|last| last.ident == "node");
        let settings = attribute.meta.require_list().ok().filter(|_| is_node);
        settings.is_some_and(|settings| {
            let settings = settings.tokens.to_string();
            let mut words =
                settings.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            settings.contains("actions") && words.any(|word| word == name)
        })
    })
}

fn of_enum(item: &ItemEnum, imports: bool) -> Option<Lacks> {
    let mut derives_action = false;
    for attribute in &item.attrs {
        let known = INERT
            .into_iter()
            .find(|inert| attribute.path().is_ident(inert))?;
        if known == "derive" {
            for path in derived(attribute)? {
                if path.is_ident("Action") {
                    derives_action = true;
                } else if OTHERS
                    .iter()
                    .all(|other| path.segments.last().is_none_or(|last| last.ident != other))
                {
                    return None;
                }
            }
        }
    }
    match (derives_action, imports) {
        (false, _) => Some(Lacks::Derive),
        (true, false) => Some(Lacks::Import),
        (true, true) => None,
    }
}

fn derived(attribute: &Attribute) -> Option<Punctuated<Path, Token![,]>> {
    attribute.parse_args_with(Punctuated::parse_terminated).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Lacks> {
        let file = syn::parse_file(text).expect("a file");
        in_list(
            &file.items.iter().collect::<Vec<_>>(),
            "Verdict",
            imports(text),
        )
    }

    const NODE: &str = "#[node(actions = Verdict)] fn review() -> Verdict { Verdict::Good }";

    #[test]
    fn what_is_plain_to_see_is_said() {
        for (before, lacks) in [
            ("enum Verdict { Good }", Lacks::Derive),
            (
                "use flow_runtime::prelude::*; #[derive(Debug)] enum Verdict { Good }",
                Lacks::Derive,
            ),
            (
                "use flow_runtime::{flow, node}; #[derive(Action)] enum Verdict { Good }",
                Lacks::Import,
            ),
        ] {
            for text in [
                format!("{before} {NODE}"),
                format!("mod inner {{ {before} {NODE} }}"),
                format!("fn main() {{ {before} {NODE} }}"),
            ] {
                assert_eq!(of(&text), Some(lacks), "{text}");
            }
        }
    }

    #[test]
    fn the_rest_is_left_to_rustc() {
        for before in [
            "use flow_runtime::prelude::*; #[derive(Action)] enum Verdict { Good }",
            "use flow_runtime::Action as Choice; #[derive(Choice)] enum Verdict { Good }",
            "#[derive(flow_runtime::Action)] enum Verdict { Good }",
            "#[cfg_attr(all(), derive(Action))] enum Verdict { Good }",
            "#[cfg(a)] enum Verdict { Good } #[derive(Action)] enum Verdict { Good }",
            "#[my::actions] enum Verdict { Good }",
            // Elsewhere: `#[macro_use] extern crate flow_runtime;`
            "use flow_runtime::Context; #[derive(Action)] enum Verdict { Good }",
            "use elsewhere::Verdict;",
            "mod other { enum Verdict { Good } } use elsewhere::Verdict;",
            "enums! { enum Verdict { Good } }",
        ] {
            let text = format!("{before} {NODE}");
            assert_eq!(of(&text), None, "{text}");
        }
    }

    #[test]
    fn a_derive_is_seen_without_parsing() {
        let text = "#[derive(Action)]\npub enum Verdict {}\nenum Other { A }\n";
        let text = format!("{}{text}", " ".repeat(DERIVE_WITHIN + 1));
        assert_eq!(enums(&text).get("Verdict"), Some(&true));
        let far = format!(
            "#[derive(Action)]{}enum Far {{}}",
            " ".repeat(DERIVE_WITHIN)
        );
        assert_eq!(enums(&far).get("Far"), Some(&false));
    }
}
