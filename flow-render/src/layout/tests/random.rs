//! Sources made at random: flows with space, comments and pieces of source put anywhere, and text
//! of any kind.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::proof::checked;

/// Uses the whole language.
const FLOW: &str = r####"
mod flows {
    flow! {
        /// A flow.
        #[derive(Clone)]
        pub(crate) All(question: String, #[doc = "x"] depth: Option<Vec<u8>>, limits: HashMap<u8, Vec<u8>> = HashMap::<u8, Vec<u8>>::from([(1, vec![2])]), low: i64=-5) -> (answer: Vec<String>) {
            namespace "all.of.it";
            node ask: Ask<{ 3 }, 'static, Vec<Vec<u8>>> { prompt <- question, ask -> answer } = Ask::new("a", [1, 2]).with(r#"b"#) with retry(attempts = 3, wait = "1s", if = is_transient), timeout = "2s";
            node made: Made = match x {
                1 => "one
   two",
                _ => 'x',
            };
            node again: human crate::people::Release { version <- next };
            node stop: signal shop::CancelRequest { reason -> why } with timeout = "2d";
            node each: for file in files { average { values <- file } } with concurrency(4), collect_errors;
            node charge: Charge with undo = crate::refund, retry(attempts = 5);
            node both: [spelling >> style, facts] with concurrency(2);
            node race: first { fulfil >> pack => "shipped", People, wait(2d) => "late" };
            node named: first { text <- draft };
            branch choose(amount, known) { *amount > 1_000 && !known => "check", else => "pay" }
            start >> choose; // why
            choose - "check" >> wait(1h 30m) >> [a, b >> crate::c] >> end("x");
            choose - "undo" >> charge >> commit >> undo >> end("x");
            /* a
             * b */
            a_long_name - "pay" >> r#type { a <- b, c<-d } - "error" >> end { answer <- x };

            first >> second_with_a_long_name >> third_with_a_long_name >> fourth_with_a_long_name >> fifth;
        }
    }
}
"####;

const PIECES: &[&str] = &[
    " ",
    "  ",
    "\n",
    "\n\n",
    "\n\n\n",
    "\t",
    "\r\n",
    "// c\n",
    "/* c */",
    "/* c\n   d */",
    "/// d\n",
    "/** d\n e */",
    ",",
    ";",
    ">>",
    "-",
    "->",
    "<-",
    "=>",
    "::",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "=",
    ":",
    "#",
    "$",
    "!",
    ".",
    "'",
    "\"",
    "'a",
    "'b'",
    "r#\"",
    "b'x'",
    "with",
    "with retry(attempts = 2)",
    "with undo = x",
    "end(\"x\")",
    "node x: y;",
    "branch",
    "[a, b,]",
    "{ a <- b, }",
    "[[[[",
    "\u{200e}",
    "漢字",
    "\"漢字\"",
    "e\u{301}",
    "\0",
    "\u{feff}",
    "x >> y;",
    "flow! {",
    "long_long_long_long_long_long_long_long_long_long_long_long",
];

/// A change at one place: something removed, and something inserted.
fn changes() -> impl Strategy<Value = Vec<(Index, usize, &'static str)>> {
    let piece = prop_oneof![3 => select(PIECES), 1 => Just("")];
    vec(
        (
            any::<Index>(),
            prop_oneof![3 => Just(0), 1 => 0..9_usize],
            piece,
        ),
        0..8,
    )
}

fn changed(source: &str, changes: &[(Index, usize, &str)]) -> String {
    let mut letters: Vec<char> = source.chars().collect();
    for (at, removed, inserted) in changes {
        let at = at.index(letters.len() + 1);
        let end = (at + removed).min(letters.len());
        letters.splice(at..end, inserted.chars());
    }
    letters.into_iter().collect()
}

/// Space and comments only, between tokens: the flow stays one.
fn spaced(source: &str, changes: &[(Index, usize)]) -> String {
    let mut text = source.to_owned();
    for (at, piece) in changes {
        let spaces: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
        let at = spaces[at.index(spaces.len())];
        text.replace_range(at..=at, PIECES[piece % 12]);
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_flows(changes in changes()) {
        checked(&changed(FLOW, &changes));
    }

    #[test]
    fn flows_with_other_space(changes in vec((any::<Index>(), any::<usize>()), 0..12), windows in any::<bool>()) {
        let text = spaced(FLOW, &changes);
        checked(&if windows { text.replace('\n', "\r\n") } else { text });
    }

    #[test]
    fn any_text(text in ".*", pieces in vec(select(PIECES), 0..40)) {
        checked(&text);
        checked(&format!("flow! {{ F() {{ {text} }} }}"));
        checked(&format!("flow! {{ {} }}", pieces.concat()));
    }
}

#[test]
fn brackets_can_be_nested_without_end() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}")] {
        let (open, close) = (open.repeat(100_000), close.repeat(100_000));
        let nested = [
            format!("flow! {{ F() {{ start >> {open}{close} >> end; }} }}"),
            format!("flow! {{ F() {{ node a: A = {open}{close}; }} }}"),
            format!("flow! {{ F(a: {open}{close}) {{}} }}"),
            format!("fn f() {{ {open} flow! {{ F() {{}} }} {close} }}"),
        ];
        for text in nested {
            let laid_out = super::super::lay_out(&text);
            assert_eq!(super::super::lay_out(&laid_out.text).text, laid_out.text);
        }
    }
    let open = "flow! { F() { start >> [".repeat(100_000);
    assert_eq!(super::super::lay_out(&open).faults.len(), 1);
}
