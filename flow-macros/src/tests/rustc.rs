//! The part of rustc between the two halves of a macro: expands the contract macros, which pass on
//! their data.

use std::collections::HashMap;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

use crate::{action, flow, node, protocol};

use super::corpus::{ENUMS, FLOWS, NODES, NodeSource};

/// The contract macros in scope, as text, because tokens would keep places that are dropped between
/// cases.
#[derive(Default, Clone)]
pub(super) struct Rustc {
    contracts: HashMap<String, String>,
    actions: HashMap<String, String>,
}

/// The macro calls with which a flow queries its nodes.
struct Ask {
    nodes: Vec<String>,
    body: TokenTree,
}

impl Rustc {
    /// With the contract macros of the whole corpus.
    pub(super) fn new() -> Self {
        let mut rustc = Rustc::default();
        for source in ENUMS {
            rustc.derive(&parse(source));
        }
        for NodeSource { settings, item } in NODES {
            rustc.node(parse(settings), parse(item));
        }
        for source in FLOWS {
            rustc.flow(parse(source));
        }
        rustc
    }

    /// `#[derive(Action)]`
    pub(super) fn derive(&mut self, item: &TokenStream) -> TokenStream {
        let expansion = items(action::derive(item.clone()));
        if let (Some(name), Some(actions)) = (type_name(item), told_actions(&expansion)) {
            self.actions.entry(name).or_insert(actions.to_string());
        }
        expansion
    }

    /// `#[node]`, and the second half if the actions are those of an enum.
    pub(super) fn node(&mut self, settings: TokenStream, item: TokenStream) -> Vec<TokenStream> {
        let expansion = items(node::define(settings, item));
        let mut expansions = vec![expansion.clone()];
        if let Some((of_enum, node)) = asked_for_actions(&expansion) {
            let actions = self.actions.get(&of_enum);
            let actions = actions.map_or_else(|| quote!({}), |actions| parse(actions));
            expansions.push(items(node::with_actions(quote!(#node #actions))));
        }
        for expansion in &expansions {
            self.learn(expansion);
        }
        expansions
    }

    /// `flow!`, and the second half if there are no mistakes in the first.
    pub(super) fn flow(&mut self, tokens: TokenStream) -> Vec<TokenStream> {
        let expansion = items(flow::define(tokens));
        self.learn(&expansion);
        let mut expansions = vec![expansion.clone()];
        for Ask { nodes, body } in asks(&expansion) {
            let contracts = self.contracts(&nodes);
            let expansion = flow::resolved(quote!(@contract [] #body [#contracts]));
            self.learn(&expansion);
            expansions.push(expansion);
        }
        expansions
    }

    /// The plan of a flow without mistakes.
    pub(super) fn plan(&self, tokens: TokenStream) -> String {
        let first_half = items(flow::define(tokens));
        let asks = asks(&first_half);
        let [Ask { nodes, body }] = &asks[..] else {
            panic!("a flow without mistakes asks once: {first_half}");
        };
        let contracts = self.contracts(nodes);
        flow::shown_plan(quote!(@contract [] #body [#contracts]))
    }

    /// The contracts that the nodes of a flow pass on, in the order in which it queries them.
    pub(super) fn told_to(&self, tokens: TokenStream) -> TokenStream {
        let asks = asks(&items(flow::define(tokens)));
        let nodes: Vec<String> = asks.into_iter().flat_map(|ask| ask.nodes).collect();
        self.contracts(&nodes)
    }

    fn contracts(&self, nodes: &[String]) -> TokenStream {
        let nothing = || quote!({ function none never [] "" "" {} {} {} });
        let contract = |name: &String| {
            self.contracts
                .get(name)
                .map_or_else(nothing, |contract| parse(contract))
        };
        nodes.iter().map(contract).collect()
    }

    /// Defines the contract macros of an expansion.
    fn learn(&mut self, expansion: &TokenStream) {
        if let Some(sound) = from_outside(expansion) {
            self.learn(&sound);
        }
        let tokens: Vec<TokenTree> = expansion.clone().into_iter().collect();
        for window in tokens.windows(4) {
            let [TokenTree::Ident(word), _, third, fourth] = window else {
                continue;
            };
            let found = match (word.to_string().as_str(), third, fourth) {
                ("named_macro", TokenTree::Group(named), _) => contract_of(named),
                // The definition by the end of a group.
                ("macro_rules", TokenTree::Ident(name), TokenTree::Group(arms)) => {
                    told(arms).map(|told| (name.to_string(), told))
                }
                _ => None,
            };
            if let Some((name, contract)) = found {
                self.contracts.insert(own_name(&name), contract.to_string());
            }
        }
    }
}

/// `{ $ own name contract { … } … }`
fn contract_of(named: &Group) -> Option<(String, TokenStream)> {
    let tokens: Vec<TokenTree> = named.stream().into_iter().collect();
    match &tokens[..] {
        [
            TokenTree::Punct(_),
            TokenTree::Ident(_),
            TokenTree::Ident(name),
            TokenTree::Ident(_),
            TokenTree::Group(contract),
            ..,
        ] => Some((name.to_string(), contract.stream())),
        _ => None,
    }
}

/// The items of an expansion, even those that are left out next to others of their name.
pub(super) fn items(expansion: TokenStream) -> TokenStream {
    let mut items: Vec<TokenTree> = Vec::new();
    for token in expansion {
        match only_if_own(&token) {
            None => items.push(token),
            Some(own) => {
                // `review!` or `Review_is_a_node::first!`
                items.pop();
                let called = items.pop();
                if called.is_some_and(|name| name.to_string() == "first") {
                    // The macro and the module that decide precede it.
                    let guard = items.iter().position(|token| token.to_string() == "#");
                    items.truncate(guard.expect("the attributes of the macro"));
                }
                items.extend(own);
            }
        }
    }
    items.into_iter().collect()
}

/// `{ @own name { … } }`
fn only_if_own(token: &TokenTree) -> Option<TokenStream> {
    let TokenTree::Group(group) = token else {
        return None;
    };
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    match &tokens[..] {
        [
            TokenTree::Punct(_),
            TokenTree::Ident(word),
            _,
            TokenTree::Group(items),
        ] if word == "own" => Some(items.stream()),
        _ => None,
    }
}

/// Source text as tokens.
pub(super) fn parse(source: &str) -> TokenStream {
    source.parse().expect("the corpus is made of tokens")
}

/// `__flow_review_0123456789abcdef` and `pub_is_missing_before_review` are macros of `review`. The
/// name of `__flow_Big_nodes_0` is unchanged.
fn own_name(unique: &str) -> String {
    if let Some(private) = unique.strip_prefix("pub_is_missing_before_") {
        return private.to_owned();
    }
    let own = unique
        .strip_prefix("__flow_")
        .and_then(|name| name.rsplit_once('_'))
        .filter(|(_, hash)| hash.len() == 16);
    own.map_or(unique, |(name, _)| name).to_owned()
}

/// The tokens after `$($told)*`.
fn told(arms: &Group) -> Option<TokenStream> {
    search(arms.stream(), &|group| {
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        let repeated = matches!(&tokens[..], [TokenTree::Punct(dollar), TokenTree::Group(_), TokenTree::Punct(star), _, ..]
            if dollar.as_char() == '$' && star.as_char() == '*');
        (group.delimiter() == Delimiter::Bracket && repeated)
            .then(|| tokens.into_iter().skip(3).collect())
    })
}

/// The tokens after `$node`.
fn told_actions(expansion: &TokenStream) -> Option<TokenStream> {
    search(expansion.clone(), &|group| {
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        match &tokens[..] {
            [TokenTree::Punct(_), TokenTree::Ident(node), actions @ ..] if node == "node" => {
                let is_list = matches!(actions, [TokenTree::Group(_), ..]);
                is_list.then(|| actions.iter().cloned().collect())
            }
            _ => None,
        }
    })
}

/// `human! { {…} {…} }` or `signal! { {…} {…} }`: the first group, which the node becomes if a value can
/// come from outside.
pub(super) fn from_outside(expansion: &TokenStream) -> Option<TokenStream> {
    let tokens: Vec<TokenTree> = expansion.clone().into_iter().collect();
    tokens.windows(3).find_map(|window| match window {
        [
            TokenTree::Ident(name),
            TokenTree::Punct(_),
            TokenTree::Group(group),
        ] if name == "human" || name == "signal" => match group.stream().into_iter().next() {
            Some(TokenTree::Group(sound)) => Some(sound.stream()),
            _ => None,
        },
        _ => None,
    })
}

/// `Verdict! { @actions [node_contract] { … } }`
fn asked_for_actions(expansion: &TokenStream) -> Option<(String, TokenTree)> {
    let tokens: Vec<TokenTree> = expansion.clone().into_iter().collect();
    let node_of = |group: &Group| {
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        match &tokens[..] {
            [TokenTree::Punct(_), TokenTree::Ident(word), _, node] if word == "actions" => {
                Some(node.clone())
            }
            _ => None,
        }
    };
    tokens.windows(3).find_map(|window| match window {
        [
            TokenTree::Ident(name),
            TokenTree::Punct(_),
            TokenTree::Group(group),
        ] => Some((name.to_string(), node_of(group)?)),
        _ => None,
    })
}

/// `review! { @contract [pay, crate::nodes::revise] { … } [] }`
fn asks(expansion: &TokenStream) -> Vec<Ask> {
    let tokens: Vec<TokenTree> = expansion.clone().into_iter().collect();
    let asked = |window: &[TokenTree]| match window {
        [TokenTree::Ident(name), _, TokenTree::Group(group)]
            if name == "every_node_needs_the_attribute_node" =>
        {
            Some(protocol::asked(group.stream()))
        }
        _ => None,
    };
    if let Some(calls) = tokens.windows(3).find_map(asked) {
        return asks(&calls);
    }
    let ask = |window: &[TokenTree]| {
        let [TokenTree::Ident(first), _, TokenTree::Group(group)] = window else {
            return None;
        };
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        match &tokens[..] {
            [
                TokenTree::Punct(at),
                TokenTree::Ident(word),
                TokenTree::Group(rest),
                body,
                _,
            ] if at.as_char() == '@' && word == "contract" => {
                let mut nodes = vec![plain(&first.to_string())];
                nodes.extend(last_names(rest));
                // The last of the chain is `flow!` itself.
                nodes.pop();
                Some(Ask {
                    nodes,
                    body: body.clone(),
                })
            }
            _ => None,
        }
    };
    tokens.windows(3).filter_map(ask).collect()
}

/// `pay, crate::nodes::revise`: the last name of each.
fn last_names(paths: &Group) -> Vec<String> {
    let tokens: Vec<TokenTree> = paths.stream().into_iter().collect();
    let is_comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
    let paths = tokens.split(is_comma).filter_map(|path| path.last());
    paths.map(|last| plain(&last.to_string())).collect()
}

fn type_name(item: &TokenStream) -> Option<String> {
    let item: syn::DeriveInput = syn::parse2(item.clone()).ok()?;
    Some(item.ident.to_string())
}

fn plain(name: &str) -> String {
    name.strip_prefix("r#").unwrap_or(name).to_owned()
}

/// The first group, at any depth, in which `find` finds something.
fn search<T>(tokens: TokenStream, find: &dyn Fn(&Group) -> Option<T>) -> Option<T> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) => find(&group).or_else(|| search(group.stream(), find)),
        _ => None,
    })
}
