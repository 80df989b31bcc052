//! Checks that the same program gives the same tokens, so that builds are reproducible and rustc's
//! caches stay valid.

use proc_macro2::TokenStream;

use super::corpus::{ENUMS, FLOWS, NODES};
use super::output::errors;
use super::rustc::{Rustc, parse};

/// The number of nodes in the large flows: more than are queried in one chain.
const NODE_COUNT: usize = 150;

/// Mistakes that only the analysis finds, several of each kind.
const MISTAKES: &str = r#"
    node alone: step_1;
    node lonely: step_2 with retry(attempts = 2);
    step_3 - "no" >> step_4;
    step_5 - "never" >> step_6;
    node clash: step_7 { key_7 -> same, other_0 -> same, nothing <- claim };
    node looped: for claim in unknown { step_8 };
    branch either(missing, gone) { missing => "a", else => "b" }
    step_9 >> either >> clash;
"#;

fn large_nodes(rustc: &mut Rustc) -> Vec<TokenStream> {
    let node = |number: usize| {
        let settings = format!("writes(key_{number}, other_{})", number % 7);
        let item =
            format!("fn step_{number}(claim: &Claim) -> Result<(u8, String), E> {{ loop {{}} }}");
        rustc.node(parse(&settings), parse(&item))
    };
    (0..NODE_COUNT).flat_map(node).collect()
}

fn large_flow(rustc: &mut Rustc, more: &str) -> Vec<TokenStream> {
    let chain: String = (0..NODE_COUNT)
        .map(|number| format!("step_{number} >> "))
        .collect();
    let failures: String = (0..NODE_COUNT)
        .map(|number| {
            format!(
                "step_{number} - \"error\" >> end(\"failed_{}\");",
                number % 9
            )
        })
        .collect();
    let outputs = "key_3: Option<u8>, other_2: Option<String>";
    let flow =
        format!("Large(claim: Claim) -> ({outputs}) {{ start >> {chain} end; {failures} {more} }}");
    rustc.flow(parse(&flow))
}

/// The expansions of the whole corpus and of the large flows, as text.
fn expansions() -> String {
    proc_macro2::extra::invalidate_current_thread_spans();
    let mut rustc = Rustc::default();
    let mut all: Vec<TokenStream> = Vec::new();
    all.extend(ENUMS.map(|source| rustc.derive(&parse(source))));
    for node in NODES {
        all.extend(rustc.node(parse(node.settings), parse(node.item)));
    }
    for source in FLOWS {
        all.extend(rustc.flow(parse(source)));
    }
    all.extend(large_nodes(&mut rustc));
    all.extend(large_flow(&mut rustc, ""));
    all.extend(large_flow(&mut rustc, MISTAKES));
    let texts: Vec<String> = all.iter().map(TokenStream::to_string).collect();
    texts.join("\n")
}

#[test]
fn expansion_is_the_same_every_time() {
    let first = expansions();
    for _ in 1..20 {
        let again = expansions();
        let difference = first
            .lines()
            .zip(again.lines())
            .find(|(first, again)| first != again);
        assert_eq!(difference, None);
        assert_eq!(first.len(), again.len());
    }
}

/// The expansions compared above are not trivial.
#[test]
fn large_flows_reach_the_analysis() {
    let mut rustc = Rustc::default();
    large_nodes(&mut rustc);
    let mut errors = |more: &str| -> Vec<String> {
        let expansions = large_flow(&mut rustc, more);
        assert_eq!(
            expansions.len(),
            1 + NODE_COUNT.div_ceil(60) + 1,
            "each group of nodes has its own answer"
        );
        let errors = expansions.iter().flat_map(errors);
        errors.map(|error| error.message).collect()
    };
    assert_eq!(errors(""), Vec::<String>::new());
    let mistakes = errors(MISTAKES);
    for code in ["F001", "F002", "F003", "F005", "F015", "F021"] {
        let code = format!("[{code}]");
        assert!(
            mistakes.iter().any(|message| message.contains(&code)),
            "{code} of {mistakes:#?}"
        );
    }
}
