//! Finds the identifiers of generated code, and writes programs that use them as their own names.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use proc_macro2::{Group, TokenStream, TokenTree};

/// The words of Rust, which name nothing.
const WORDS: [&str; 52] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// The words of flows, which name no node and no key.
const WORDS_OF_FLOWS: [&str; 12] = [
    "branch",
    "build",
    "commit",
    "end",
    "error",
    "for",
    "human",
    "namespace",
    "node",
    "start",
    "undo",
    "wait",
];

/// The names that the programs themselves use as types, and that of the prelude of tools, which
/// generated code cannot do without.
const TYPES_OF_THE_PROGRAMS: [&str; 4] = ["bool", "diagnostic", "str", "u64"];

fn main() -> Result<(), Box<dyn Error>> {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut names = BTreeSet::new();
    for source in ["flow-macros", "flow-runtime", "flow-loader", "flow-agents"] {
        let source = packages.join(source).join("src");
        println!("cargo::rerun-if-changed={}", source.display());
        read_folder(&source, &mut names)?;
    }
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=build.rs");
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    let names: Vec<String> = names.into_iter().collect();
    assert!(
        names.len() > 400 && names.iter().any(|name| name == "after_node"),
        "the identifiers of generated code are no longer where they were: {names:?}"
    );
    let kit = fs::read_to_string("src/kit.txt")?;
    for (file, program) in programs(&names, &kit) {
        fs::write(Path::new(&out).join(file), program)?;
    }
    Ok(())
}

fn read_folder(folder: &Path, names: &mut BTreeSet<String>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_test = path.ends_with("tests") || path.ends_with("tests.rs");
        if path.is_dir() && !is_test {
            read_folder(&path, names)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            let text = fs::read_to_string(&path)?;
            let tokens: TokenStream = text
                .parse()
                .map_err(|error| format!("{}: {error}", path.display()))?;
            read(tokens, names);
        }
    }
    Ok(())
}

/// Adds the identifiers of the templates among these tokens: those of `quote!` and
/// `quote_spanned!`, of the macros of the runtime, and the names that the macros make.
fn read(tokens: TokenStream, names: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        match called(&tokens[..index]).as_deref() {
            Some("quote" | "quote_spanned") => template(group.stream(), '#', names),
            Some(name) if name.starts_with("macro_rules __") => {
                template(group.stream(), '$', names);
            }
            Some("format_ident" | "Ident::new") => add_made(group, names),
            _ => read(group.stream(), names),
        }
    }
}

/// The macro or the function that is called by what stands before its arguments.
fn called(before: &[TokenTree]) -> Option<String> {
    let word = |back: usize| match before.get(before.len().checked_sub(back)?)? {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    };
    let is_mark = |back: usize| {
        let at = before.len().checked_sub(back).and_then(|at| before.get(at));
        matches!(at, Some(TokenTree::Punct(mark)) if mark.as_char() == '!')
    };
    if is_mark(1) {
        return word(2);
    }
    match (word(1), word(4)) {
        (Some(name), _) if is_mark(2) => Some(format!("{} {name}", word(3)?)),
        (Some(name), Some(ty)) if name == "new" && ty == "Ident" => Some("Ident::new".to_owned()),
        _ => None,
    }
}

/// Adds the identifiers of a template, except for those that stand for something else.
fn template(tokens: TokenStream, mark: char, names: &mut BTreeSet<String>) {
    let mut before: Option<char> = None;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if before != Some(mark) => add(&word.to_string(), names),
            TokenTree::Group(group) => template(group.stream(), mark, names),
            TokenTree::Punct(punct) => {
                before = Some(punct.as_char());
                continue;
            }
            _ => {}
        }
        before = None;
    }
}

/// Adds the name that is the first argument.
fn add_made(arguments: &Group, names: &mut BTreeSet<String>) {
    if let Some(TokenTree::Literal(text)) = arguments.stream().into_iter().next() {
        add(text.to_string().trim_matches('"'), names);
    }
}

fn add(name: &str, names: &mut BTreeSet<String>) {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_name =
        name.chars().all(is_letter) && !name.starts_with(|first: char| first.is_ascii_digit());
    if is_name && !name.is_empty() && !name.starts_with('_') && !WORDS.contains(&name) {
        names.insert(name.to_owned());
    }
}

/// The programs, by their files.
fn programs(names: &[String], kit: &str) -> Vec<(&'static str, String)> {
    let lower = || names.iter().filter(|name| !starts_large(name));
    let plain = || lower().filter(|name| !WORDS_OF_FLOWS.contains(&name.as_str()));
    let keys: Vec<&String> = plain().collect();
    let nodes: Vec<&String> = plain()
        .filter(|name| !TYPES_OF_THE_PROGRAMS.contains(&name.as_str()))
        .collect();
    let camel: BTreeSet<String> = names.iter().map(|name| camel_case(name)).collect();
    let camel: Vec<&String> = camel.iter().filter(|name| *name != "Error").collect();
    // Traits of std have methods of these names, which are to be called by the kit's own code.
    let methods: Vec<&String> = lower().filter(|name| *name != "fmt").collect();
    let constants: Vec<&String> = names
        .iter()
        .filter(|name| name.chars().all(|letter| !letter.is_lowercase()))
        .collect();
    let types: Vec<&String> = names
        .iter()
        .filter(|name| !TYPES_OF_THE_PROGRAMS.contains(&name.as_str()))
        .filter(|name| {
            !["core", "flow_agents", "flow_loader", "flow_runtime", "std"].contains(&name.as_str())
        })
        .collect();
    // The error of a failed node is read under this name.
    let statics = names.iter().filter(|name| *name != "error");
    let statics = listed(statics, |name| format!("pub static {name}: u8 = 0;"));
    let structs = listed(types.into_iter(), |name| format!("pub struct {name} {{}}"));
    let trait_of = |items: String| {
        format!("pub trait Ext {{ {items} }}\nimpl<T: ?Sized> Ext for T {{}}\n{kit}")
    };
    let taken = |items: String| {
        format!("mod taken {{ {items} }}\npub mod kit {{ use super::taken::*;\n{kit} }}")
    };
    let by_value = listed(methods.iter().copied(), |name| {
        format!("fn {name}(self) -> u8 where Self: Sized {{ 0 }}")
    });
    let by_reference = listed(methods.iter().copied(), |name| {
        format!("fn {name}(&self) -> u8 {{ 0 }}")
    });
    let functions = listed(methods.iter().copied(), |name| {
        format!("fn {name}() -> u8 where Self: Sized {{ 0 }}")
    });
    let constants = listed(constants.into_iter(), |name| {
        format!("const {name}: u8 = 0;")
    });
    vec![
        ("keys.rs", keys_program(&keys)),
        ("nodes.rs", nodes_program(&nodes)),
        ("type_nodes.rs", type_nodes_program(&camel)),
        ("actions.rs", actions_program(&camel)),
        ("statics.rs", taken(statics)),
        ("types.rs", taken(structs)),
        ("methods_by_value.rs", trait_of(by_value)),
        ("methods_by_reference.rs", trait_of(by_reference)),
        (
            "functions_and_constants.rs",
            trait_of(functions + &constants),
        ),
    ]
}

/// A flow whose inputs and outputs have these names. Its nodes are in modules of their own, as a
/// node has few parameters.
fn keys_program(keys: &[&String]) -> String {
    let mut program = String::new();
    let mut chain = String::from("start");
    for (index, keys) in keys.chunks(12).enumerate() {
        let reads = listed(keys.iter().copied(), |key| format!("{key}: &u64,"));
        let _ = writeln!(
            program,
            "#[::flow_runtime::node] pub fn zreads_{index}({reads}) -> u64 {{ 0 }}"
        );
        let _ = write!(chain, " >> zreads_{index}");
    }
    let parameters = listed(keys.iter().copied(), |key| format!("{key}: u64,"));
    let _ = writeln!(
        program,
        "::flow_runtime::flow! {{ pub ZKeys({parameters}) -> ({parameters}) {{ {chain} >> end; }} }}"
    );
    program
}

fn nodes_program(nodes: &[&String]) -> String {
    let items = listed(nodes.iter().copied(), |node| {
        format!("#[::flow_runtime::node(writes = zwritten)] pub fn {node}() -> u64 {{ 0 }}")
    });
    let chain = listed(nodes.iter().copied(), |node| format!(">> {node}"));
    format!(
        "{items}\n::flow_runtime::flow! {{ pub ZNodes() -> (zwritten: u64) {{ start {chain} >> end; }} }}"
    )
}

fn type_nodes_program(types: &[&String]) -> String {
    let mut seen = BTreeSet::new();
    let mut items = String::new();
    let mut chain = String::from("start");
    for ty in types {
        let snake = snake_case(ty);
        if WORDS_OF_FLOWS.contains(&snake.as_str()) || !seen.insert(camel_case(&snake)) {
            continue;
        }
        let _ = writeln!(
            items,
            "mod z_{snake} {{ #[derive(Default)] pub struct {ty} {{}}\n\
             #[::flow_runtime::node(writes = zwritten)] impl {ty} {{ fn exec(&self) -> u64 {{ 0 }} }} }}"
        );
        let _ = write!(chain, " >> z_{snake}::{ty}");
    }
    format!(
        "{items}\n::flow_runtime::flow! {{ pub ZTypes() -> (zwritten: u64) {{ {chain} >> end; }} }}"
    )
}

fn actions_program(actions: &[&String]) -> String {
    let variants = listed(actions.iter().copied(), |action| {
        format!("#[action(\"{action}\")] {action} {{ zfield_{action}: u64 }},")
    });
    let edges = listed(actions.iter().copied(), |action| {
        format!("zpick - \"{action}\" >> end(\"{action}\");")
    });
    let first = actions.first().map_or("", |first| first.as_str());
    format!(
        "#[derive(::flow_runtime::Action)] pub enum ZActions {{ {variants} }}\n\
         #[::flow_runtime::node(actions = ZActions)]\n\
         pub fn zpick() -> ZActions {{ ZActions::{first} {{ zfield_{first}: 0 }} }}\n\
         ::flow_runtime::flow! {{ pub ZRoutes() {{ start >> zpick; {edges} }} }}"
    )
}

fn listed<'a>(names: impl Iterator<Item = &'a String>, item: impl Fn(&str) -> String) -> String {
    names.map(|name| item(name) + "\n").collect()
}

fn starts_large(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_uppercase())
}

/// `after_node` as `AfterNode`.
fn camel_case(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_uppercase() + rest
        })
        .collect()
}

/// `AfterNode` as `after_node`, for names of modules and nodes.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let letters: Vec<char> = name.chars().collect();
    for (index, letter) in letters.iter().enumerate() {
        let begins = letter.is_uppercase()
            && index > 0
            && (!letters[index - 1].is_uppercase()
                || letters
                    .get(index + 1)
                    .is_some_and(|next| next.is_lowercase()));
        if begins {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
