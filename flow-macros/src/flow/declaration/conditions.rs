//! Checks that the conditions of a `branch` use only the keys that the branch names, since they see
//! no other state.
//!
//! A name in a condition may be anything. To avoid false reports, it is reported only if it stands
//! for a value and is a key, and if the condition cannot define names itself.

use flow_spec::{Code, Node, NodeRead, ReadMode};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens as _;

use crate::flow::instances::{InstanceKind, Instances};
use crate::flow::syntax::FlowSyntax;
use crate::names::plain;
use crate::report::Report;

/// Reports keys that a condition uses but its branch does not name. The node counts as reading
/// them, so that they are not also reported as unused.
pub(in crate::flow) fn check_conditions(
    flow: &FlowSyntax,
    instances: &Instances,
    nodes: &mut [Node],
    report: &mut Report,
) {
    let actions = nodes.iter().flat_map(|node| &node.actions);
    let written = actions.flat_map(|action| &action.writes);
    let mut keys: Vec<String> = written.map(|write| write.key.clone()).collect();
    keys.extend(flow.inputs.iter().map(|input| plain(&input.name)));
    keys.extend(flow.mapped_keys());
    for ((_, instance), node) in instances.iter().zip(nodes) {
        let InstanceKind::Branch(index) = instance.kind else {
            continue;
        };
        let branch = &flow[index];
        let mut named: Vec<String> = branch.reads.iter().map(plain).collect();
        let mut looked_at = Vec::new();
        for (condition, _) in &branch.cases {
            values(condition.to_token_stream(), &mut looked_at);
        }
        for name in looked_at {
            let key = plain(&name);
            if named.contains(&key) || !keys.contains(&key) {
                continue;
            }
            let listed = named.iter().chain([&key]).cloned().collect::<Vec<_>>();
            let message = format!("`{}` looks at `{key}`, which it does not name", branch.name);
            let help = format!(
                "write `branch {}({}) {{ … }}`",
                branch.name,
                listed.join(", ")
            );
            report.error(Code::NamesNothing, name.span(), message, help);
            named.push(key.clone());
            node.reads.push(NodeRead {
                key,
                mode: ReadMode::Borrow,
                optional: true,
                rust_type: String::new(),
                mapped: false,
            });
        }
    }
}

/// The names in a condition that stand for values: no fields, methods, paths, functions or macros.
/// Empty for a condition with closures or patterns, which introduce names themselves.
fn values(tokens: TokenStream, found: &mut Vec<Ident>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_punct = |token: Option<&TokenTree>, letters: &[char]| matches!(token, Some(TokenTree::Punct(punct)) if letters.contains(&punct.as_char()));
    // After a value, `|` is an operator; elsewhere it begins the parameters of a closure.
    let is_value = |token: Option<&TokenTree>| match token {
        Some(TokenTree::Ident(word)) => word != "move",
        Some(TokenTree::Punct(punct)) => punct.as_char() == '|',
        other => other.is_some(),
    };
    let binds = |(index, token): (usize, &TokenTree)| match token {
        TokenTree::Ident(word) => ["let", "match", "for"]
            .iter()
            .any(|keyword| word == keyword),
        TokenTree::Punct(punct) if punct.as_char() == '|' => {
            !is_value(index.checked_sub(1).map(|at| &tokens[at]))
        }
        _ => false,
    };
    if tokens.iter().enumerate().any(binds) {
        return;
    }
    for (index, token) in tokens.iter().enumerate() {
        let (before, after) = (
            index.checked_sub(1).and_then(|before| tokens.get(before)),
            tokens.get(index + 1),
        );
        match token {
            TokenTree::Group(group) => values(group.stream(), found),
            TokenTree::Ident(name) => {
                let called = matches!(after, Some(TokenTree::Group(_)));
                if !called && !is_punct(before, &['.', ':']) && !is_punct(after, &[':', '!']) {
                    found.push(name.clone());
                }
            }
            _ => {}
        }
    }
}
