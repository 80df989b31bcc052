//! Conditions and prompts with mistakes, and several mistakes at once.

use flow_loader::Format;

use super::article::{ARTICLE, problems, said};

#[test]
fn a_condition_is_marked_where_it_is_wrong() {
    assert_eq!(
        said("score >= 8", "score = 8"),
        "31:17: the condition cannot be used: CEL has no `=`, at its column 7 [F016]
at /nodes/2/params/cases/0/when
help: write `==`"
    );
    let unknown = said("score >= 8", "scroe >= 8");
    assert!(unknown.starts_with("31:17: "), "{unknown}");
    assert!(
        unknown.contains("at /nodes/2/params/cases/0/when"),
        "{unknown}"
    );
    let unknown = said("score >= 8", "score >= eight");
    assert!(
        unknown.contains("\nat /nodes/2/params/cases/0/when"),
        "{unknown}"
    );
    let function = said("score >= 8", "scor(text) > 8");
    assert!(
        function.contains("CEL has no function `scor`"),
        "{function}"
    );
    let typed = said("score >= 8", "score >= 'eight'");
    assert!(typed.contains("at /nodes/2/params/cases/0/when"), "{typed}");
}

#[test]
fn maps_with_numbers_as_keys() {
    assert_eq!(
        said("score >= 8", "\"{1: 'a'}.exists(n, n > int(score))\""),
        ""
    );
    assert_eq!(said("score >= 8", "\"score in {8: true, 9: true}\""), "");
    assert_eq!(said("score >= 8", "\"{8: true}[score]\""), "");
    let texts = said("score >= 8", "\"score in {'8': true}\"");
    assert!(texts.contains("is never true"), "{texts}");
    let texts = said("score >= 8", "\"{'8': true}[score]\"");
    assert!(
        texts.contains("`score` is a number, and should be text"),
        "{texts}"
    );
}

#[test]
fn a_prompt_is_marked_where_it_is_wrong() {
    let unknown = said("(score {score})", "(score {scroe})");
    assert!(unknown.starts_with("39:15: "), "{unknown}");
    assert!(unknown.contains("\nat /nodes/3/params/prompt"), "{unknown}");
    let open = said("(score {score})", "(score {score)");
    assert!(open.contains("\nat /nodes/3/params/prompt"), "{open}");
}

#[test]
fn texts_of_yaml_without_their_quotes() {
    let prompt = "\"Publish {text} (score {score})?\"";
    let pair = said(prompt, "Publish: {text}");
    assert!(
        pair.contains("help: write the value of `prompt` in quotes"),
        "{pair}"
    );
    let map = said(prompt, "{text}");
    assert!(
        map.contains("`prompt` is an object, and should be a string"),
        "{map}"
    );
    assert!(map.contains("help: write the text in quotes"), "{map}");
}

#[test]
fn advice_is_in_the_format_of_the_file() {
    let yaml = said(
        "    params:\n      prompt: \"Publish {text} (score {score})?\"\n",
        "    params: {}\n",
    );
    assert!(yaml.contains("`prompt: \"Deploy?\"`"), "{yaml}");
    let json =
        r#"{"version":"2.0.0","nodes":[{"type":"flow.human","id":"a","params":{}}],"edges":[]}"#;
    let found = problems(json, Format::Json);
    assert!(
        found[0].1.contains("`\"prompt\": \"Deploy?\"`"),
        "{found:?}"
    );
}

#[test]
fn several_mistakes_are_all_reported() {
    let text = ARTICLE
        .replace("score >= 8", "score = 8")
        .replace("round > 5", "round > > 5")
        .replace("{score})?", "{score)?")
        .replace("words: 50", "wrods: 50")
        .replace("type: shout\n", "type: shuot\n")
        .replace("to: draft, condition: again", "to: draft, condition: agian");
    let found = problems(&text, Format::Yaml);
    let pointers: Vec<&str> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    for pointer in [
        "/nodes/0/params/wrods",
        "/nodes/2/params/cases/0/when",
        "/nodes/2/params/cases/1/when",
        "/nodes/3/params/prompt",
        "/nodes/7/type",
        "/edges/2/condition",
    ] {
        assert!(pointers.contains(&pointer), "{pointer}: {found:#?}");
    }
}

/// A node that is not registered does not hide what is wrong elsewhere.
#[test]
fn an_unknown_node_hides_nothing() {
    let text = ARTICLE
        .replace("type: split_words", "type: split_wrods")
        .replace(
            "from: score, to: good, condition: default",
            "from: score, to: good, condition: defalt",
        );
    let found = problems(&text, Format::Yaml);
    let pointers: Vec<&str> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(
        pointers,
        ["/nodes/5/type", "/edges/1/condition"],
        "{found:#?}"
    );
}

#[test]
fn a_flow_without_nodes_has_its_edges_checked() {
    let text = "version: 2.0.0\nnodes: []\nedges:\n  - { from: a, to: b, condition: default }\n";
    let found = problems(text, Format::Yaml);
    let pointers: Vec<&str> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
    assert_eq!(pointers, ["/nodes", "/edges/0/from", "/edges/0/to"]);
}
