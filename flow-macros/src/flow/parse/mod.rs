//! Parses `flow!`. It does not judge meaning, and continues after a statement that cannot be read,
//! so that it returns most of a half-typed flow.

mod declarations;
mod edges;
mod foreign;
mod recovery;
mod signature;

use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Attribute, Ident, Token, Visibility, braced, token};

use crate::report::Report;
use crate::runtime;

use super::syntax::{FlowSyntax, Parsed};

use recovery::{Body, end_of_statement, ends, name_ahead, skip_statement, skip_to_end};
use signature::{inputs, outputs};

/// Reads the tokens of a `flow!`.
pub(crate) fn parse(tokens: TokenStream, report: &mut Report) -> Parsed {
    let mut found = None;
    let parsed = (|input: ParseStream<'_>| {
        found = Some(flow(input, report)?);
        Ok(())
    })
    .parse2(tokens.clone());
    // After a mistake in parentheses, syn also reports the unread rest: one report is enough.
    if found.is_none() || report.is_empty() {
        report.ok(parsed);
    }
    Parsed {
        flow: found,
        tokens,
    }
}

fn flow(input: ParseStream<'_>, report: &mut Report) -> syn::Result<FlowSyntax> {
    let attributes = input.call(Attribute::parse_outer)?;
    let mut flow = FlowSyntax {
        runtime: runtime::of_item(&attributes, "flow", report),
        attributes,
        after_attributes: input.fork().parse()?,
        vis: visibility(input, report)?,
        name: input
            .parse()
            .map_err(|error| syn::Error::new(error.span(), "expected the flow's name"))?,
        inputs: inputs(input, report)?,
        outputs: if foreign::before_the_outputs(input, report)? {
            outputs(input, report)?
        } else {
            Vec::new()
        },
        namespace: None,
        nodes: Vec::new(),
        branches: Vec::new(),
        edges: Vec::new(),
        waits: 0,
        unread: Vec::new(),
        unread_ends: Vec::new(),
    };
    if !input.peek(token::Brace) {
        let text = "expected the flow's body: `{ start >> first_node; … }`";
        report.text(flow.name.span(), text);
        skip_to_end(input)?;
        return Ok(flow);
    }
    let content;
    braced!(content in input);
    let body = Body::of(&content)?;
    while !content.is_empty() {
        let statement = content.fork();
        if let Err(error) = item(&content, &body, &mut flow, report) {
            report.push(error);
            skip_statement(&content)?;
            flow.unread_ends.extend(ends(&statement)?);
        }
    }
    if !input.is_empty() {
        report.push(foreign::after_the_body(input));
        skip_to_end(input)?;
    }
    Ok(flow)
}

/// One statement.
fn item(
    input: ParseStream<'_>,
    body: &Body,
    flow: &mut FlowSyntax,
    report: &mut Report,
) -> syn::Result<()> {
    if input.peek(Token![;]) {
        let extra: Token![;] = input.parse()?;
        report.text(extra.span(), "this `;` ends nothing");
        return Ok(());
    }
    foreign::attributes(input, report)?;
    foreign::statement(input, flow)?;
    let keyword = input.fork().call(Ident::parse_any).ok();
    let is = |word: &str| keyword.as_ref().is_some_and(|keyword| keyword == word);
    if is("node") && input.peek2(syn::Ident::peek_any) {
        let name = name_ahead(input);
        let node = declarations::node(input, &mut flow.waits, report)
            .inspect_err(|_| flow.unread.extend(name))?;
        flow.nodes.push(node);
        return end_of_statement(input, body, report);
    }
    if is("namespace") && !input.peek2(Token![>>]) && !input.peek2(Token![-]) {
        signature::namespace(input, flow, report)?;
        return end_of_statement(input, body, report);
    }
    if is("branch") && input.peek2(syn::Ident::peek_any) {
        let name = name_ahead(input);
        let branch =
            declarations::branch(input, report).inspect_err(|_| flow.unread.extend(name))?;
        flow.branches.push(branch);
        return foreign::behind_the_cases(input);
    }
    let ahead = input.fork();
    let edges = edges::chain(input, &mut flow.waits, report)
        .inspect_err(|_| flow.unread.extend(recovery::generic_nodes(&ahead)))?;
    flow.edges.extend(edges);
    end_of_statement(input, body, report)
}

/// `pub` and similar, up to the flow's name.
fn visibility(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Visibility> {
    let visibility = input.parse()?;
    foreign::before_the_name(input, report)?;
    Ok(visibility)
}
