//! The expansion for an editor. `tests/editor` checks the reading of a real one.

use std::collections::HashMap;

use proc_macro2::{Ident, Spacing, TokenStream, TokenTree};

use crate::editor::FORCED;

use super::corpus::FLOWS;
use super::output::{check, errors};
use super::rustc::{Rustc, parse};

/// The expansions of a flow for an editor.
pub(super) fn expanded(rustc: &Rustc, flow: &TokenStream) -> Vec<TokenStream> {
    FORCED.set(true);
    let expansions = rustc.clone().flow(flow.clone());
    FORCED.set(false);
    expansions
}

/// A word, and where it is.
type Word = (String, String);

/// The macros of the runtime whose arguments are code.
const TAKE_CODE: [&str; 1] = ["names"];

/// The number of occurrences of each of the user's words in the code, without arguments of macros
/// that do not take code.
fn shown(tokens: TokenStream, words: &mut HashMap<Word, usize>) {
    let (mut is_argument, mut takes_code) = (false, false);
    for token in tokens {
        match &token {
            TokenTree::Ident(ident) => {
                *words.entry(word(ident)).or_default() += 1;
                is_argument = false;
                takes_code = TAKE_CODE.contains(&ident.to_string().as_str());
            }
            TokenTree::Punct(punct) => is_argument = punct.as_char() == '!' && !takes_code,
            TokenTree::Group(group) if !is_argument => shown(group.stream(), words),
            TokenTree::Group(_) | TokenTree::Literal(_) => is_argument = false,
        }
    }
}

fn word(ident: &Ident) -> Word {
    let place = ident.span();
    (
        ident.to_string(),
        format!("{} {:?}", place.file(), place.start()),
    )
}

/// The words before a `:`.
fn declared(flow: TokenStream) -> Vec<Word> {
    let tokens: Vec<TokenTree> = flow.into_iter().collect();
    let before_a_colon = tokens.windows(2).filter_map(|pair| match pair {
        [TokenTree::Ident(ident), TokenTree::Punct(punct)]
            if punct.as_char() == ':' && punct.spacing() == Spacing::Alone =>
        {
            Some(word(ident))
        }
        _ => None,
    });
    let inside = tokens.iter().flat_map(|token| match token {
        TokenTree::Group(group) => declared(group.stream()),
        _ => Vec::new(),
    });
    before_a_colon.chain(inside).collect()
}

/// The words of a flow.
fn names(flow: TokenStream) -> Vec<Word> {
    let mut names = HashMap::new();
    shown(flow, &mut names);
    names.into_keys().collect()
}

#[test]
fn each_word_of_a_flow_is_shown_at_most_once() {
    let rustc = Rustc::new();
    for source in FLOWS {
        let flow = parse(source);
        let declared = declared(flow.clone());
        let mut words = HashMap::new();
        for expansion in expanded(&rustc, &flow) {
            shown(expansion, &mut words);
        }
        for name in names(flow) {
            let times = words.get(&name).copied().unwrap_or_default();
            // An input is a field and a key, and a loop is a node and a key.
            let most = if declared.contains(&name) { 2 } else { 1 };
            assert!(
                times <= most,
                "{name:?} is shown {times} times of\n{source}"
            );
        }
    }
}

#[test]
fn methods_of_builders_are_shown_at_the_words_that_they_set() {
    let flow = parse("Expense(claim: u64) { node pay: Payment; start >> pay >> end; }");
    let mut methods = Vec::new();
    for expansion in expanded(&Rustc::default(), &flow) {
        methods_of(expansion, &mut methods);
    }
    for name in ["claim", "pay"] {
        let words = names(flow.clone());
        let shown = |method: &&Word| method.0 == name && words.contains(method);
        let times = methods.iter().filter(shown).count();
        assert_eq!(times, 1, "{name} of {methods:?}");
    }
}

/// The names behind `fn`, with those in arguments of macros.
fn methods_of(tokens: TokenStream, methods: &mut Vec<Word>) {
    let mut in_function = false;
    for token in tokens {
        if let (true, TokenTree::Ident(ident)) = (in_function, &token) {
            methods.push(word(ident));
        }
        in_function = matches!(&token, TokenTree::Ident(ident) if ident == "fn");
        if let TokenTree::Group(group) = token {
            methods_of(group.stream(), methods);
        }
    }
}

#[test]
fn nodes_are_shown_also_in_a_flow_with_mistakes() {
    let body = "start >> [review, nodes::pay] >> ; review - ; revise - ";
    let flow = parse(&format!("Expense(claim: u64) {{ {body} }}"));
    let expansions = expanded(&Rustc::default(), &flow);
    assert!(!errors(&expansions[0]).is_empty());
    let mut words = HashMap::new();
    shown(expansions[0].clone(), &mut words);
    let missing = |node: &Word| !words.contains_key(node);
    let is_node = |(name, _): &Word| ["review", "nodes", "pay", "revise"].contains(&name.as_str());
    let nodes: Vec<Word> = names(flow).into_iter().filter(is_node).collect();
    assert_eq!(nodes.len(), 5);
    assert!(!nodes.iter().any(missing), "{nodes:?} of {words:?}");
}

#[test]
fn undo_nodes_are_shown_behind_their_declarations() {
    let body = "node pay: review with undo = refund; node ship: review with undo = nodes::recall; \
                node refund: revise; start >> pay >> ship >> ;";
    let flow = parse(&format!("Expense(claim: u64) {{ {body} }}"));
    let expansions = expanded(&Rustc::default(), &flow);
    let text = expansions[0].to_string();
    let at = |text_of: &str| {
        let found = text.find(text_of);
        found.unwrap_or_else(|| panic!("{text_of} is not in {text}"))
    };
    assert!(at("let refund = ()") < at("let _ = refund"));
    assert!(at("let ship = ()") < at("let _ = nodes :: recall"));
}

#[test]
fn what_stands_where_a_node_is_to_be_leaves_code_that_can_be_read() {
    let body = "node pay: start<Bank>; node file: try; start >> try >> review; review >> end;";
    let flow = parse(&format!("Expense(claim: u64) {{ {body} }}"));
    let expansions = expanded(&Rustc::default(), &flow);
    assert!(!errors(&expansions[0]).is_empty());
    check(&flow, &expansions[0]).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn an_editor_is_shown_items_and_the_errors_that_rustc_reports() {
    let rustc = Rustc::new();
    for source in FLOWS {
        let flow = parse(source);
        let messages = |expansions: &[TokenStream]| -> Vec<String> {
            let errors = expansions.iter().flat_map(errors);
            errors.map(|error| error.message).collect()
        };
        let for_rustc = rustc.clone().flow(flow.clone());
        let for_editor = expanded(&rustc, &flow);
        for expansion in &for_editor {
            check(&flow, expansion).unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(messages(&for_editor), messages(&for_rustc));
    }
}
