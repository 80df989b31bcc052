//! Texts that are meant to do harm: an error with a place, within bounded time and memory, and
//! never a panic.

use std::time::{Duration, Instant};

use flow_spec::FlowDocument;
use flow_text::{Format, LARGEST, Problem, read, read_all, to_yaml};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::generate::documents;

const BOTH: [Format; 2] = [Format::Json, Format::Yaml];

/// Far more than any of these texts takes, on a machine with other work.
const SOON: Duration = Duration::from_secs(60);

/// The problems of a text that is not a flow.
fn problems(bytes: &[u8], format: Format) -> Vec<Problem> {
    let begin = Instant::now();
    let problems = read(bytes, format).expect_err("it is not a flow");
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    assert!(problems.len() <= 101, "{}", problems.len());
    for problem in &problems {
        assert!(problem.to_string().len() < 50_000);
    }
    problems
}

/// The first problem.
fn said(bytes: impl AsRef<[u8]>, format: Format) -> String {
    problems(bytes.as_ref(), format)[0].to_string()
}

#[test]
fn bytes_that_are_no_text() {
    for format in BOTH {
        assert_eq!(
            said(b"a: \xc3\xa9\n\xe9", format),
            "2:1: this byte is not UTF-8 [F023]"
        );
        let utf16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        said(utf16, format);
    }
    assert_eq!(
        said("\0", Format::Json),
        "1:1: this is not JSON: expected value [F023]"
    );
    assert!(said("version: \0", Format::Yaml).starts_with("1:10: "));
    assert!(said("a: \u{1}", Format::Yaml).starts_with("1:4: "));
}

#[test]
fn what_is_too_large_is_not_read() {
    let large = vec![b' '; 100 << 20];
    for format in BOTH {
        assert_eq!(
            said(&large, format),
            "1:1: this has more than 32 MiB [F023]"
        );
    }
}

/// A hundred thousand levels, in each way to nest.
#[test]
fn what_is_too_deep_is_refused() {
    let deep = 100_000;
    assert_eq!(
        said("[".repeat(deep), Format::Json),
        "1:128: lists and objects stand too deep in one another [F023]"
    );
    for part in ["[", "{a: ", "- ", "? ", "a: [", "&a [", "[ - "] {
        let said = said(part.repeat(deep), Format::Yaml);
        assert!(said.contains("[F023]"), "{said}");
    }
    let stairs: String = (0..2000).map(|level| " ".repeat(level) + "a:\n").collect();
    assert!(said(stairs, Format::Yaml).contains("too deep"));
    let nested = |levels: usize| format!("a: {}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(!said(nested(126), Format::Yaml).contains("too deep"));
    assert!(said(nested(127), Format::Yaml).contains("too deep"));
}

/// Nine levels of nine aliases each: 400 million values.
#[test]
fn a_bomb_of_aliases_does_not_go_off() {
    let mut bomb = "l0: &l0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..9 {
        let alias = format!("*l{}", level - 1);
        bomb += &format!("l{level}: &l{level} [{}]\n", vec![alias; 9].join(", "));
    }
    let said = said(&bomb, Format::Yaml);
    assert!(
        said.contains("the values of anchors and aliases have more than 4 MiB together"),
        "{said}"
    );
    let text = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(1 << 20),
        vec!["*a"; 100].join(", ")
    );
    assert!(self::said(text, Format::Yaml).contains("more than 4 MiB"));
    let nested = format!("{}x{}", "&a [".repeat(100), "]".repeat(100));
    self::said(nested, Format::Yaml);
}

/// As much as is read, of what takes the most memory or time for each byte.
#[test]
fn large_texts_end_soon() {
    let size = if cfg!(debug_assertions) {
        LARGEST / 64
    } else {
        LARGEST
    };
    let fill = |part: &str, before: &str, after: &str| {
        let count = (size - before.len() - after.len()) / part.len();
        format!("{before}{}{after}", part.repeat(count))
    };
    for text in [
        fill("0,", "[", "0]"),
        fill("[],", "[", "0]"),
        fill("\"a\":{},", "{", "\"b\":0}"),
        fill("\\u0041", "\"", "\""),
    ] {
        problems(text.as_bytes(), Format::Json);
        problems(text.as_bytes(), Format::Yaml);
    }
    for part in [
        "- \n",
        "a\n",
        "# comment\n",
        "a: b\n",
        "? \n",
        "- - - - a\n",
        "-\n\n",
        "&a ",
        "\t",
        "'",
        "\"\n",
        "*a ",
        "|\n",
        "%\n",
        "---\n",
        "!a ",
    ] {
        problems(fill(part, "", "").as_bytes(), Format::Yaml);
    }
    let names: String = (0..size / 12)
        .map(|index| format!("k{index:07}: 1\n"))
        .collect();
    problems(names.as_bytes(), Format::Yaml);
}

#[test]
fn too_many_values_are_refused() {
    let text = format!("[{}0]", "0,".repeat(1_000_000));
    let too_many = "1:2000001: there are more than 1000000 values up to here [F023]";
    assert_eq!(said(&text, Format::Json), too_many);
    let strings = format!("{{\"a\": \"{}\\\"\"}}", ",[".repeat(1_000_000));
    assert!(!said(&strings, Format::Json).contains("more than"));
    if !cfg!(debug_assertions) {
        let too_many = "1:2000000: there are more than 1000000 values up to here [F023]";
        assert_eq!(said(&text, Format::Yaml), too_many);
    }
}

/// A document, written in either format.
fn texts() -> impl Strategy<Value = (String, Format)> {
    (documents(), any::<bool>()).prop_map(|(flow, is_json)| {
        if is_json {
            (flow.to_json(), Format::Json)
        } else {
            (to_yaml(&flow), Format::Yaml)
        }
    })
}

/// Pieces of YAML and JSON.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "a: ",
        "- ",
        "\n",
        "\n  ",
        "\n    ",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "? ",
        "&a ",
        "*a",
        "!t ",
        "|",
        ">-",
        "'",
        "\"",
        "#",
        "# c\n",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "<<: ",
        "~",
        "1",
        ".inf",
        "\t",
        "\u{feff}",
        "\u{85}",
        "é",
        "\\",
        "nodes:\n",
        "version: 2.0.0\n",
        "edges: []\n",
        "null",
        "\r\n",
        "@",
        "`",
        "\0",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Reads the bytes in both formats. Each problem is in the text.
fn is_read(bytes: &[u8]) {
    for format in BOTH {
        let problems = match read_all(bytes, format) {
            Ok(documents) => flow_text::check_all(&documents),
            Err(problems) => problems,
        };
        let lines = String::from_utf8_lossy(bytes).matches('\n').count() + 1;
        let longest = bytes.split(|byte| *byte == b'\n').map(<[u8]>::len).max();
        for problem in problems {
            let place = problem.place;
            assert!((1..=lines + 1).contains(&place.line), "{problem}");
            assert!(
                (1..=longest.unwrap_or(0) + 1).contains(&place.column),
                "{problem}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        is_read(&bytes);
    }

    #[test]
    fn any_pieces_are_read(text in pieces()) {
        is_read(text.as_bytes());
    }

    /// A document with some bytes changed, removed, or doubled.
    #[test]
    fn changed_documents_are_read(
        (text, _) in texts(),
        changes in prop::collection::vec((any::<Index>(), any::<Index>(), 0..4_u8, any::<u8>()), 1..5),
    ) {
        let mut bytes = text.into_bytes();
        for (from, to, change, byte) in changes {
            if bytes.is_empty() {
                break;
            }
            let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
            match change {
                0 => bytes[from] = byte,
                1 => bytes[from] = b" -:[]{}\"'#&*!|>?,\n\t"[usize::from(byte) % 19],
                2 => drop(bytes.drain(from.min(to)..from.max(to).min(from.min(to) + 20))),
                _ => {
                    let part = bytes[from.min(to)..from.max(to).min(from.min(to) + 50)].to_vec();
                    bytes.splice(from..from, part);
                }
            }
        }
        is_read(&bytes);
    }

    /// What YAML means does not depend on who reads it: a document that can be read is written and
    /// read again as the same.
    #[test]
    fn what_is_read_is_written(text in pieces()) {
        let text = format!("version: 2.0.0\nedges: []\nnodes: [{{ type: a, id: a }}]\ndescription: {text}");
        if let Ok(document) = read(text.as_bytes(), Format::Yaml) {
            let again = read(to_yaml(document.flow()).as_bytes(), Format::Yaml);
            prop_assert_eq!(again.map(|again| again.into_flow()), Ok(document.into_flow()));
        }
    }

    /// JSON is accepted if `FlowDocument::parse` accepts it.
    #[test]
    fn json_is_accepted_as_ever(text in pieces()) {
        let ours = read(text.as_bytes(), Format::Json).map(|document| document.into_flow()).ok();
        prop_assert_eq!(ours, FlowDocument::parse(&text).ok());
    }
}
