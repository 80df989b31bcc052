//! Mutated programs: the entry points never panic, and their output parses. `PROPTEST_CASES` sets
//! the number of cases.

use proc_macro2::{TokenStream, TokenTree};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use quote::quote;

use crate::{action, flow, node};

use super::corpus::{ENUMS, FLOWS, NODES};
use super::editor::expanded as expanded_for_an_editor;
use super::mutation::{mutated, mutations};
use super::output::{check, check_places};
use super::rustc::{Rustc, items, parse};

thread_local! {
    /// The nodes in scope, which are the same for every case.
    static CORPUS: Rustc = Rustc::new();
}

/// Expands twice and compares: nothing may depend on the order of a hash map.
fn twice(expand: impl Fn() -> TokenStream) -> Result<TokenStream, TestCaseError> {
    let (first, second) = (expand(), expand());
    prop_assert_eq!(first.to_string(), second.to_string());
    Ok(first)
}

/// Drops the places of one case before the next.
fn forget_places() {
    proc_macro2::extra::invalidate_current_thread_spans();
}

/// Tests a property with the requested number of cases. syn recurses as deep as its input, and
/// unoptimised code needs a lot of stack for that.
fn property<S: Strategy + 'static>(
    strategy: fn() -> S,
    test: fn(S::Value) -> Result<(), TestCaseError>,
) {
    on_a_large_stack(move || {
        let config = ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        };
        let tried = TestRunner::new(config).run(&strategy(), test);
        tried.unwrap_or_else(|error| panic!("{error}"));
    });
}

fn on_a_large_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    let thread = thread.spawn(test).expect("a thread can be started");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// The first half.
#[test]
fn flows() {
    let strategy = || (select(&FLOWS[..]), mutations(6));
    property(strategy, |(source, mutations)| {
        forget_places();
        let flow = mutated(parse(source), &mutations);
        let output = twice(|| items(flow::define(flow.clone())))?;
        check(&flow, &output)?;
        check_places(&flow, &output)?;
        prop_assert!(!output.is_empty());
        Ok(())
    });
}

/// Both halves as rustc would run them. The second half also runs if the first one has found
/// mistakes.
#[test]
fn flows_with_their_contracts() {
    let strategy = || (select(&FLOWS[..]), mutations(4));
    property(strategy, |(source, mutations)| {
        forget_places();
        let mut rustc = CORPUS.with(Rustc::clone);
        let flow = mutated(parse(source), &mutations);
        let told = rustc.told_to(flow.clone());
        let mut outputs = rustc.flow(flow.clone());
        outputs.push(twice(|| flow::resolved(quote!({ #flow } [#told])))?);
        outputs.extend(expanded_for_an_editor(&rustc, &flow));
        for output in outputs {
            check(&flow, &output)?;
            check_places(&flow, &output)?;
        }
        Ok(())
    });
}

/// The second half with contracts that are mutated, missing or in another order.
#[test]
fn flows_with_other_contracts() {
    let strategy = || {
        (
            select(&FLOWS[..]),
            mutations(2),
            mutations(4),
            any::<Option<u8>>(),
        )
    };
    property(strategy, |(source, of_flow, of_contracts, order)| {
        forget_places();
        let flow = mutated(parse(source), &of_flow);
        let told = CORPUS.with(|rustc| rustc.told_to(parse(source)));
        let mut told: Vec<TokenTree> = mutated(told, &of_contracts).into_iter().collect();
        if let (Some(by), false) = (order, told.is_empty()) {
            let by = usize::from(by) % told.len();
            told.rotate_left(by);
        }
        let told: TokenStream = told.into_iter().collect();
        let input = quote!({ #flow } [#told]);
        let output = twice(|| flow::resolved(input.clone()))?;
        check(&input, &output)?;
        Ok(())
    });
}

/// The second halves with arbitrary input.
#[test]
fn second_halves() {
    let strategy = || (select(&FLOWS[..]), mutations(4));
    property(strategy, |(source, mutations)| {
        forget_places();
        let flow = parse(source);
        for input in [
            quote!({ #flow } [{ function [] {} {} {} }]),
            quote!({ @define __collected } [{ function [] {} {} {} }]),
        ] {
            let input = mutated(input, &mutations);
            let output = twice(|| flow::resolved(input.clone()))?;
            check(&input, &output)?;
        }
        let contract = quote!({ function [] { borrow claim "Claim", } { a 0usize false "A", } {} });
        let input =
            quote!({ pub(crate) review #contract } { "a" A { b 0usize false "B", } } broken);
        let input = mutated(input, &mutations);
        let output = twice(|| node::with_actions(input.clone()))?;
        check(&input, &output)?;
        Ok(())
    });
}

/// The output without the attributes that an enum of a human node or a signal gets.
fn without_own_attributes(output: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = output.into_iter().collect();
    let is_own = |token: Option<&TokenTree>| {
        let text = token.map(|token| token.to_string().replace(' ', ""));
        text.is_some_and(|text| {
            text == "[derive(::flow_runtime::Action)]"
                || text == "[action(__told_by_node)]"
                || text.starts_with("[action(crate=")
        })
    };
    let kept = tokens.iter().enumerate().filter(|(index, token)| {
        let is_sign = matches!(token, TokenTree::Punct(mark) if mark.as_char() == '#');
        !(is_own(Some(token)) || is_sign && is_own(tokens.get(index + 1)))
    });
    kept.map(|(_, token)| token.clone()).collect()
}

/// `#[node]`: the item does not change, except for doc comments on parameters and the attributes
/// that turn the enum of a human node or a signal into an enum of actions. The code next to it parses.
#[test]
fn nodes() {
    let strategy = || (select(&NODES[..]), mutations(3), mutations(5));
    property(strategy, |(source, of_settings, of_item)| {
        forget_places();
        let settings = mutated(parse(source.settings), &of_settings);
        let item = mutated(parse(source.item), &of_item);
        let output = twice(|| items(node::define(settings.clone(), item.clone())))?;
        let input = quote!(#[node(#settings)] #item);
        let expected = node::item_of(settings.clone(), item.clone());
        let length = expected.clone().into_iter().count();
        let output = without_own_attributes(output);
        let kept: TokenStream = output.clone().into_iter().take(length).collect();
        let beside: TokenStream = output.into_iter().skip(length).collect();
        prop_assert_eq!(kept.to_string(), expected.to_string());
        prop_assert!(!beside.is_empty());
        // rustc passes only items.
        if syn::parse2::<syn::Item>(item.clone()).is_ok() {
            check(&input, &beside)?;
            check_places(&input, &beside)?;
        }
        for output in Rustc::default().node(settings, item).into_iter().skip(1) {
            check(&input, &output)?;
        }
        Ok(())
    });
}

#[test]
fn actions() {
    let strategy = || (select(&ENUMS[..]), mutations(5));
    property(strategy, |(source, mutations)| {
        forget_places();
        let item = mutated(parse(source), &mutations);
        let output = twice(|| items(action::derive(item.clone())))?;
        check(&item, &output)?;
        check_places(&item, &output)?;
        prop_assert!(!output.is_empty());
        Ok(())
    });
}

/// Input that is unreasonably long or deep, but not a mistake.
#[test]
fn long_chains_and_deep_groups() {
    on_a_large_stack(|| {
        let mut rustc = Rustc::default();
        let chain: String = (0..1000)
            .map(|number| format!("step_{number} >> "))
            .collect();
        let round = "a >> b >> ".repeat(2000);
        let nested = |open: &str, inner: &str, close: &str| {
            format!("{}{inner}{}", open.repeat(200), close.repeat(200))
        };
        for body in [
            format!("start >> {chain} end;"),
            format!("start >> {round} end;"),
            format!("start >> {} >> end;", nested("[", "a", "]")),
            format!("node a: {}; start >> a >> end;", nested("Ask<", "u8", ">")),
            format!(
                "node a: Ask = {}; start >> a >> end;",
                nested("(", "1", ")")
            ),
            format!(
                "node a: Ask = {}; start >> a >> end;",
                nested("{", "1", "}")
            ),
            format!("start >> a {} >> end;", nested("- [", "1", "]")),
            ";".repeat(1000),
        ] {
            let flow = parse(&format!(
                "Long(a: {}) {{ {body} }}",
                nested("Vec<", "u8", ">")
            ));
            for output in rustc.flow(flow.clone()) {
                syn::parse2::<syn::File>(output).expect("items");
            }
        }
    });
}
