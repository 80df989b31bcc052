//! What is read from a text.

use std::sync::Arc;

use flow_agents::ScriptedModel;
use flow_agents::knowledge::{
    Fact, Graph as _, Learn, LearnEnd, LearnInput, LearnOutput, MemoryGraph,
};
use serde_json::{Value, json};

fn mention(name: &str, kind: &str) -> Value {
    json!({ "name": name, "kind": kind, "summary": format!("{name} is a {kind}.") })
}

fn statement(subject: &str, relation: &str, object: &str) -> Value {
    let text = format!("{subject} {relation} {object}.");
    json!({ "subject": subject, "relation": relation, "object": object, "text": text })
}

/// Texts that are read one after the other, into one graph.
struct Reader {
    graph: Arc<MemoryGraph>,
}

impl Reader {
    fn new() -> Reader {
        Reader {
            graph: Arc::new(MemoryGraph::new()),
        }
    }

    /// Reads a text with a model that gives these answers, and says what it was asked.
    async fn read(&self, input: LearnInput, answers: &[Value]) -> (LearnOutput, Vec<String>) {
        let answers = answers.iter().map(Value::to_string);
        let script = answers.fold(ScriptedModel::new(), ScriptedModel::text);
        let model = Arc::new(script);
        let learn = Learn::of(model.clone(), self.graph.clone());
        let output = learn.run(input).await.unwrap();
        model.assert_used();
        let asked = model.requests().into_iter();
        let asked = asked.map(|it| it.messages.last().unwrap().text());
        (output, asked.collect())
    }

    async fn facts(&self) -> Vec<Fact> {
        let all = self
            .graph
            .find("Ann Lee, Acme, Bolt, Paris", 9)
            .await
            .unwrap();
        let ids: Vec<String> = all.into_iter().map(|it| it.id).collect();
        self.graph.facts(&ids, 99).await.unwrap()
    }
}

fn input(source: &str) -> LearnInput {
    let input = LearnInput::builder().text(format!("The text of {source}."));
    input.source(source.to_owned()).build()
}

/// M-056: what is about nothing ends at once.
#[tokio::test]
async fn a_text_about_nothing_keeps_nothing() {
    let reader = Reader::new();
    let (output, asked) = reader
        .read(
            input("a"),
            &[json!([{ "name": " ", "kind": "", "summary": "" }])],
        )
        .await;
    assert_eq!(output.end, LearnEnd::Nothing);
    assert_eq!((output.entities, output.facts), (None, None));
    assert_eq!(asked, ["The text of a."]);
}

/// M-056, `disableFactExtractionV2`: only the entities are kept.
#[tokio::test]
async fn facts_are_looked_for_only_if_they_are_wanted() {
    let reader = Reader::new();
    let only_entities = LearnInput {
        with_facts: false,
        ..input("a")
    };
    let named = json!([mention("Ann Lee", "person"), mention("ann  lee", "Person")]);
    let (output, _) = reader.read(only_entities, &[named]).await;
    let entities = output.entities.unwrap();
    assert_eq!(entities.len(), 1);
    assert_eq!(
        (entities[0].id.as_str(), output.facts),
        ("person:ann lee", None)
    );
    assert_eq!(reader.graph.find("Ann", 9).await.unwrap(), entities);
}

/// M-056: without facts, the entities are saved.
#[tokio::test]
async fn entities_without_facts_are_kept() {
    let reader = Reader::new();
    let (output, _) = reader
        .read(
            input("a"),
            &[json!([mention("Acme", "company")]), json!([])],
        )
        .await;
    assert_eq!((output.end, output.facts), (LearnEnd::Default, None));
    assert_eq!(reader.graph.find("Acme", 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_statement_about_something_else_is_said_and_left_out() {
    let reader = Reader::new();
    let named = json!([mention("Ann Lee", "person"), mention("Acme", "company")]);
    let stated = json!([
        statement("ann LEE", "works at", "Acme"),
        statement("Zoe", "leads", "Acme")
    ]);
    let (output, _) = reader.read(input("a"), &[named, stated]).await;
    assert_eq!(output.unplaced.unwrap(), ["Zoe leads Acme."]);
    let facts = output.facts.unwrap();
    assert_eq!(facts.len(), 1);
    assert_eq!(
        (facts[0].subject.as_str(), facts[0].object.as_str()),
        ("person:ann lee", "company:acme")
    );
    assert_eq!(reader.facts().await, facts);
}

#[tokio::test]
async fn the_same_under_another_name_is_one_entity_and_the_model_is_asked_about_it_only() {
    let reader = Reader::new();
    reader
        .read(
            input("a"),
            &[json!([mention("Acme", "company")]), json!([])],
        )
        .await;
    let named = json!([mention("Acme Inc.", "company"), mention("Paris", "city")]);
    let same =
        json!([{ "entity": 1, "is": "company:acme" }, { "entity": 2, "is": "company:acme" }]);
    let stated = json!([statement("Acme Inc.", "is in", "Paris")]);
    let (output, asked) = reader.read(input("b"), &[named, same, stated]).await;
    let shown = "1. Acme Inc. (company): Acme Inc. is a company.\n   candidate company:acme: Acme (company): Acme is a company.\n";
    assert_eq!(asked[1], shown);
    let ids: Vec<String> = output
        .entities
        .unwrap()
        .into_iter()
        .map(|it| it.id)
        .collect();
    assert_eq!(ids, ["city:paris", "company:acme"]);
    let acme = &reader.graph.find("Acme", 9).await.unwrap()[0];
    assert_eq!(
        (acme.name.as_str(), &acme.sources[..]),
        ("Acme", &["a".to_owned(), "b".to_owned()][..])
    );
    assert_eq!(output.facts.unwrap()[0].subject, "company:acme");
}

#[tokio::test]
async fn candidates_that_are_not_the_same_and_ids_that_were_not_offered_make_new_entities() {
    let reader = Reader::new();
    reader
        .read(
            input("a"),
            &[json!([mention("Acme", "company")]), json!([])],
        )
        .await;
    let named = json!([mention("Acme Paris", "company")]);
    let same =
        json!([{ "entity": 1, "is": "company:other" }, { "entity": 0, "is": "company:acme" }]);
    let (output, _) = reader.read(input("b"), &[named, same, json!([])]).await;
    assert_eq!(output.entities.unwrap()[0].id, "company:acme paris");
}

/// M-056: isolated entities are looked at once more.
#[tokio::test]
async fn entities_without_a_fact_are_asked_about_once_more() {
    let reader = Reader::new();
    let named = json!([
        mention("Ann Lee", "person"),
        mention("Acme", "company"),
        mention("Paris", "city")
    ]);
    let stated = json!([statement("Ann Lee", "works at", "Acme")]);
    let more = json!([
        statement("Acme", "is in", "Paris"),
        statement("Ann Lee", "works at", "Acme")
    ]);
    let (output, asked) = reader.read(input("a"), &[named, stated, more]).await;
    assert!(
        asked[2]
            .starts_with("First list: \"Paris\"\nSecond list: \"Ann Lee\", \"Acme\", \"Paris\"\n")
    );
    assert_eq!(output.facts.unwrap().len(), 2);
    assert_eq!(reader.facts().await.len(), 2);
}

/// Two texts: Ann works at Acme, and later at Bolt.
async fn moved(with_dates: bool) -> (Reader, Vec<Fact>) {
    let reader = Reader::new();
    let ann = mention("Ann Lee", "person");
    let first = [
        json!([ann, mention("Acme", "company")]),
        json!([statement("Ann Lee", "works at", "Acme")]),
    ];
    reader.read(input("a"), &first).await;
    let mut second = vec![
        json!([ann, mention("Bolt", "company")]),
        json!([statement("Ann Lee", "works at", "Bolt")]),
        json!([{ "statement": 1, "same_as": null, "replaces": [1, 7] }]),
    ];
    if with_dates {
        second.push(json!([{ "fact": 1, "since": "2024-03", "until": null }]));
    }
    let later = LearnInput {
        with_dates,
        date: Some("2024-05-01".to_owned()),
        ..input("b")
    };
    let (output, asked) = reader.read(later, &second).await;
    assert_eq!(
        asked[2],
        "Statements:\n1. Ann Lee works at Bolt.\n\nKnown facts:\n1. Ann Lee works at Acme.\n"
    );
    if with_dates {
        let told = "Facts:\n1. Ann Lee works at Bolt.\n\nThe date of the text: 2024-05-01\n\nText:\nThe text of b.";
        assert_eq!(asked[3], told);
    }
    (reader, output.facts.unwrap())
}

#[tokio::test]
async fn what_a_later_text_contradicts_is_replaced() {
    let (reader, _) = moved(false).await;
    let facts = reader.facts().await;
    assert_eq!(facts[0].text, "Ann Lee works at Bolt.");
    assert_eq!(facts[1].replaced_by.as_ref(), Some(&facts[0].id));
    assert_eq!(
        facts[1].to_string(),
        "Ann Lee works at Acme. (not true any more; source: a)"
    );

    // The first text again: it says nothing new, and what it said is not true again.
    let again = [
        json!([mention("Ann Lee", "person"), mention("Acme", "company")]),
        json!([statement("Ann Lee", "works at", "Acme")]),
    ];
    reader.read(input("a"), &again).await;
    assert_eq!(reader.facts().await, facts);
}

/// M-056, `enableTemporalExtraction`.
#[tokio::test]
async fn facts_have_dates_and_what_is_replaced_ends() {
    let (reader, _) = moved(true).await;
    let facts = reader.facts().await;
    assert_eq!(
        facts[0].to_string(),
        "Ann Lee works at Bolt. (since 2024-03; source: b)"
    );
    assert_eq!(
        facts[1].to_string(),
        "Ann Lee works at Acme. (until 2024-03; source: a)"
    );
}

#[tokio::test]
async fn a_date_that_is_none_is_asked_for_again() {
    let reader = Reader::new();
    let dated = LearnInput {
        with_dates: true,
        ..input("a")
    };
    let answers = [
        json!([mention("Ann Lee", "person"), mention("Acme", "company")]),
        json!([statement("Ann Lee", "works at", "Acme")]),
        json!([{ "fact": 1, "since": "last year", "until": null }]),
        json!([{ "fact": 1, "since": "2023", "until": null }]),
    ];
    let (output, asked) = reader.read(dated, &answers).await;
    assert_eq!(output.facts.unwrap()[0].since.as_deref(), Some("2023"));
    assert!(
        asked[3].contains("\"last year\" is not a date as YYYY, YYYY-MM or YYYY-MM-DD"),
        "{}",
        asked[3]
    );
}

#[tokio::test]
async fn the_same_in_other_words_has_one_more_source() {
    let reader = Reader::new();
    let named = json!([mention("Ann Lee", "person"), mention("Acme", "company")]);
    reader
        .read(
            input("a"),
            &[
                named.clone(),
                json!([statement("Ann Lee", "works at", "Acme")]),
            ],
        )
        .await;
    let same = json!([{ "statement": 1, "same_as": 1, "replaces": [1] }]);
    let stated = json!([statement("Acme", "employs", "Ann Lee")]);
    reader
        .read(input("b"), &[named.clone(), stated, same])
        .await;
    // The same relation needs no model.
    reader
        .read(
            input("c"),
            &[named, json!([statement("Ann Lee", "Works  at", "Acme")])],
        )
        .await;
    let facts = reader.facts().await;
    assert_eq!(facts.len(), 1);
    assert_eq!(facts[0].sources, ["a", "b", "c"]);
    assert_eq!(facts[0].replaced_by, None);
}

fn said(subject: &str, relation: &str, object: &str, text: &str) -> Value {
    json!({ "subject": subject, "relation": relation, "object": object, "text": text })
}

/// Two amounts are two facts, of one text or of two.
#[tokio::test]
async fn the_same_relation_in_other_words_is_compared() {
    let reader = Reader::new();
    let named = json!([mention("Ann Lee", "person"), mention("Acme", "company")]);
    let owes = |amount: u32| {
        let text = format!("Ann Lee owes Acme {amount} euros.");
        said("Ann Lee", "owes", "Acme", &text)
    };
    let both = json!([owes(100), owes(50), owes(100)]);
    reader.read(input("a"), &[named.clone(), both]).await;
    assert_eq!(reader.facts().await.len(), 2);
    let replaces = json!([{ "statement": 1, "same_as": null, "replaces": [1] }]);
    let later = [named.clone(), json!([owes(200)]), replaces];
    let (_, asked) = reader.read(input("b"), &later).await;
    assert!(asked[2].starts_with("Statements:\n1. Ann Lee owes Acme 200 euros."));
    let facts = reader.facts().await;
    let told: Vec<String> = facts.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "Ann Lee owes Acme 50 euros. (source: a)",
            "Ann Lee owes Acme 200 euros. (source: b)",
            "Ann Lee owes Acme 100 euros. (not true any more; source: a)",
        ]
    );
    // A text that has changed says what it says now.
    let again = json!([owes(300), owes(50)]);
    reader.read(input("a"), &[named, again]).await;
    let texts: Vec<String> = reader.facts().await.into_iter().map(|it| it.text).collect();
    assert!(
        texts.contains(&"Ann Lee owes Acme 300 euros.".to_owned()),
        "{texts:?}"
    );
    assert!(
        !texts.contains(&"Ann Lee owes Acme 100 euros.".to_owned()),
        "{texts:?}"
    );
}

/// A model that says of two facts that each replaces the other one does not make both untrue.
#[tokio::test]
async fn what_a_text_says_is_not_replaced_by_what_it_says_elsewhere() {
    let reader = Reader::new();
    let named = json!([
        mention("Ann Lee", "person"),
        mention("Acme", "company"),
        mention("Bolt", "company")
    ]);
    let stated = json!([
        statement("Ann Lee", "works at", "Acme"),
        statement("Ann Lee", "works at", "Bolt")
    ]);
    reader.read(input("a"), &[named.clone(), stated]).await;
    let other_words = json!([
        statement("Acme", "employs", "Ann Lee"),
        statement("Bolt", "employs", "Ann Lee")
    ]);
    let each_other = json!([
        { "statement": 1, "same_as": 1, "replaces": [2] },
        { "statement": 2, "same_as": 2, "replaces": [1] }
    ]);
    reader
        .read(input("b"), &[named, other_words, each_other])
        .await;
    let facts = reader.facts().await;
    assert_eq!(facts.len(), 2);
    assert!(
        facts.iter().all(|fact| fact.replaced_by.is_none()),
        "{facts:?}"
    );
}

/// Of many entities with similar names, the one of the same name and kind is the same.
#[tokio::test]
async fn one_of_many_with_the_same_name_is_known() {
    let reader = Reader::new();
    let kinds = ["city", "person", "river", "school", "ship", "state"];
    let named: Vec<Value> = kinds.iter().map(|kind| mention("Paris", kind)).collect();
    reader.read(input("a"), &[json!(named), json!([])]).await;
    let silent = json!([{ "name": "Paris", "kind": "state", "summary": "" }]);
    let (output, asked) = reader.read(input("b"), &[silent, json!([])]).await;
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert_eq!(output.entities.unwrap()[0].summary, "Paris is a state.");
}

/// Two entities of one name are told apart.
#[tokio::test]
async fn a_fact_is_about_the_entity_that_is_meant() {
    let reader = Reader::new();
    let named = json!([
        mention("Paris", "person"),
        mention("Paris", "city"),
        mention("Acme", "company")
    ]);
    let stated = json!([
        said(
            "Paris (city:paris)",
            "is home of",
            "Acme",
            "Acme is in Paris."
        ),
        said("Paris", "leads", "Acme", "Paris leads Acme.")
    ]);
    let (output, asked) = reader.read(input("a"), &[named, stated, json!([])]).await;
    let listed = r#"Entities: "Paris (person:paris)", "Paris (city:paris)", "Acme""#;
    assert!(asked[1].starts_with(listed), "{}", asked[1]);
    let facts = output.facts.unwrap();
    assert_eq!(facts.len(), 1);
    assert_eq!(facts[0].subject, "city:paris");
    assert_eq!(output.unplaced.unwrap(), ["Paris leads Acme."]);
}

/// A text that was written before another one does not end what begins later.
#[tokio::test]
async fn nothing_ends_before_it_begins() {
    let reader = Reader::new();
    let named = json!([
        mention("Ann Lee", "person"),
        mention("Acme", "company"),
        mention("Bolt", "company")
    ]);
    let dated = |source: &str| LearnInput {
        with_dates: true,
        ..input(source)
    };
    let first = [
        named.clone(),
        json!([
            statement("Ann Lee", "works at", "Acme"),
            statement("Bolt", "owns", "Acme")
        ]),
        json!([{ "fact": 1, "since": "2020", "until": "2019" }]),
        json!([{ "fact": 1, "since": "2020", "until": null }]),
    ];
    let (output, _) = reader.read(dated("a"), &first[..3]).await;
    assert_eq!(output.facts.unwrap()[0].since, None);
    reader
        .read(
            dated("a"),
            &[named.clone(), first[1].clone(), first[3].clone()],
        )
        .await;
    let archive = [
        named,
        json!([
            statement("Ann Lee", "works at", "Bolt"),
            statement("Bolt", "owns", "Acme")
        ]),
        json!([{ "statement": 1, "same_as": null, "replaces": [1] }]),
        json!([{ "fact": 1, "since": "2010", "until": null }]),
    ];
    let (_, asked) = reader.read(dated("b"), &archive).await;
    assert!(
        asked[2].contains("Ann Lee works at Acme. (since 2020)"),
        "{}",
        asked[2]
    );
    let facts = reader.facts().await;
    let acme = facts
        .iter()
        .find(|it| it.text == "Ann Lee works at Acme.")
        .unwrap();
    assert_eq!(
        (acme.since.as_deref(), acme.until.as_deref()),
        (Some("2020"), None)
    );
}
