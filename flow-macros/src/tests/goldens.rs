//! Generated code of a flow and of nodes, pretty-printed for people to read.

use proc_macro2::TokenStream;

use super::rustc::{Rustc, parse};

fn shown(expansion: TokenStream) -> String {
    let file = syn::parse2(expansion).expect("an expansion is made of items");
    without_hashes(&prettyplease::unparse(&file))
}

/// Replaces the hashes of 16 digits, which depend on the place of a node.
fn without_hashes(code: &str) -> String {
    let mut shown = String::with_capacity(code.len());
    let mut digits = String::new();
    for letter in code.chars().chain([' ']) {
        if letter.is_ascii_digit() || ('a'..='f').contains(&letter) {
            digits.push(letter);
            continue;
        }
        let is_hash = digits.len() == 16 && shown.ends_with('_');
        shown.push_str(if is_hash { "HASH" } else { &digits });
        digits.clear();
        shown.push(letter);
    }
    shown.pop();
    without_places(shown)
}

/// Replaces the hash of a flow's place, which depends on earlier parses of the thread.
fn without_places(code: String) -> String {
    let line = |line: &str| match line.split_once("place: ") {
        Some((before, _)) => format!("{before}place: HASH,\n"),
        None => format!("{line}\n"),
    };
    code.lines().map(line).collect()
}

#[test]
fn retried_function() {
    let mut rustc = Rustc::default();
    let mut expansions = rustc.node(
        parse(r#"writes = claim, retry(attempts = 3, wait = "200ms", backoff = 2.0), timeout = "30s""#),
        parse(
            "pub async fn revise(claim: Claim, feedback: &str) -> Result<Claim, ReviseError> {
                ask(claim, feedback).await
            }",
        ),
    );
    insta::assert_snapshot!(shown(expansions.remove(0)));
}

/// The rest is as in `retried_function`.
#[test]
fn function_retried_after_some_errors() {
    let mut rustc = Rustc::default();
    let mut expansions = rustc.node(
        parse("writes = claim, retry(attempts = 3, if = ReviseError::is_transient)"),
        parse(
            "pub async fn revise(claim: &Claim) -> Result<Claim, ReviseError> {
                ask(claim).await
            }",
        ),
    );
    insta::assert_snapshot!(shown(expansions.remove(0)));
}

#[test]
fn small_flow() {
    let mut rustc = Rustc::default();
    rustc.derive(&parse(
        "enum Verdict { Approved { amount: u64 }, NeedsRevision { feedback: String } }",
    ));
    for (settings, item) in [
        (
            "actions = Verdict",
            "fn review(claim: &Claim) -> Verdict { decide(claim) }",
        ),
        (
            "writes = claim",
            "async fn revise(claim: Claim, feedback: &str) -> Result<Claim, ReviseError> { ask() }",
        ),
        (
            "writes = receipt",
            "impl Pay { async fn exec(&self, amount: &u64) -> Receipt { Receipt } }",
        ),
    ] {
        rustc.node(parse(settings), parse(item));
    }
    let expansions = rustc.flow(parse(
        r#"
        /// Approves a claim.
        pub Approval(claim: Claim) -> (receipt: Option<Receipt>) {
            node pay: Pay = Pay::new("bank") with timeout = "5s";
            start >> review;
            review - "approved" >> pay >> end;
            review - "needs_revision" >> revise >> review;
            revise - "error" >> end("given_up");
        }"#,
    ));
    let [first_half, second_half] = expansions
        .try_into()
        .expect("a flow without mistakes has two halves");
    insta::assert_snapshot!("small_flow_first_half", shown(first_half));
    insta::assert_snapshot!("small_flow_second_half", shown(second_half));
}

#[test]
fn mappings_of_edges() {
    let mut rustc = Rustc::default();
    rustc.derive(&parse(
        "enum Verdict { Approved { amount: u64 }, Unclear { question: String } }",
    ));
    rustc.node(
        parse("actions = Verdict"),
        parse("fn review(claim: &str) -> Verdict { decide(claim) }"),
    );
    let expansions = rustc.flow(parse(
        r#"
        Approval(text: String) -> (sum: u64, text: String) {
            start >> review { claim <- text };
            review - "approved" >> end { sum <- amount };
            review - "unclear" >> review { claim <- question };
        }"#,
    ));
    let second_half = expansions.into_iter().nth(1);
    let second_half = second_half.expect("a flow without mistakes has two halves");
    insta::assert_snapshot!(shown(second_half));
}
