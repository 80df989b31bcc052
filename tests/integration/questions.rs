//! People in flows: what they are asked, what their answers decide, and what becomes of a run that
//! they do not answer.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flow_runtime::prelude::*;
use flow_runtime::{Answer, BoxError, Question};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::Recorder;

/// What a flow asked: `path: prompt`.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    fn note(&self, question: &Question) {
        let line = format!("{}: {}", question.path(), question.prompt());
        self.0.lock().unwrap().push(line);
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Answers with these, one after the other.
fn answers(
    asked: &Asked,
    answers: impl IntoIterator<Item = Value>,
) -> impl Fn(&Question) -> Value + Send + Sync + 'static {
    let asked = asked.clone();
    let answers: Vec<Value> = answers.into_iter().collect();
    let answers = Mutex::new(answers.into_iter());
    move |question: &Question| {
        asked.note(question);
        answers.lock().unwrap().next().expect("no more questions")
    }
}

/// Never answers.
struct Nobody;

#[async_trait]
impl Answer for Nobody {
    async fn answer(&self, _: &Question) -> Result<Value, BoxError> {
        pending().await
    }
}

/// Whether to deploy.
#[node(human = "Deploy {version} to {place}?")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Approval {
    Approved {
        by: String,
        urgency: u8,
    },
    #[action("not_now")]
    Refused {
        reason: String,
    },
    Later,
}

#[node(writes = report)]
fn deploy(version: &u32, by: &str, urgency: &u8) -> String {
    format!("{version} by {by}, urgency {urgency}")
}

#[node(writes = report)]
fn explain(reason: &str) -> String {
    format!("refused: {reason}")
}

flow! {
    Release(version: u32, place: String) -> (report: Option<String>) {
        start >> Approval;
        Approval - "approved" >> deploy >> end;
        Approval - "not_now" >> explain >> end("refused");
        Approval - "later" >> Approval;
    }
}

async fn release(asked: &Asked, given: Vec<Value>) -> Result<ReleaseOutput, FlowError> {
    let input = ReleaseInput {
        version: 7,
        place: "the {moon}".into(),
    };
    let options = RunOptions::answer(answers(asked, given));
    Release::new().run_with(input, options).await
}

#[tokio::test]
async fn an_enum_routes_by_the_variant_and_writes_its_fields() {
    let asked = Asked::default();
    let approved = json!({ "Approved": { "by": "Ann", "urgency": 3 } });
    let output = release(&asked, vec![json!("Later"), approved])
        .await
        .unwrap();
    assert_eq!(output.report.as_deref(), Some("7 by Ann, urgency 3"));
    assert_eq!(output.end, ReleaseEnd::Default);
    assert_eq!(
        asked.all(),
        vec!["release.approval: Deploy 7 to the {moon}?"; 2]
    );

    let refused = json!({ "Refused": { "reason": "Friday" } });
    let output = release(&asked, vec![refused]).await.unwrap();
    assert_eq!(output.report.as_deref(), Some("refused: Friday"));
    assert_eq!(output.end, ReleaseEnd::Refused);
}

#[tokio::test]
async fn an_answer_of_another_type_ends_the_run() {
    for (wrong, reason) in [
        (json!("Approved"), "invalid type: unit variant"),
        (json!("Perhaps"), "unknown variant `Perhaps`"),
        (
            json!({ "Refused": { "reason": 3 } }),
            "invalid type: integer `3`",
        ),
    ] {
        let error = release(&Asked::default(), vec![wrong]).await.unwrap_err();
        let FlowError::Unanswered { path, error } = error else {
            panic!("{error}");
        };
        assert_eq!(path, "release.approval");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test]
async fn an_observer_sees_the_decision() {
    let recorder = Recorder::shared();
    let given = vec![json!({ "Refused": { "reason": "no" } })];
    let options = RunOptions::answer(answers(&Asked::default(), given)).observer(recorder.clone());
    let input = ReleaseInput {
        version: 1,
        place: "x".into(),
    };
    Release::new().run_with(input, options).await.unwrap();
    assert_eq!(
        recorder.events()[..2],
        [
            "release.approval started",
            "release.approval finished: not_now"
        ]
    );
}

/// An enum of actions that other nodes take as well.
#[node(human = "Which way?")]
#[derive(Debug, Serialize, Deserialize, Action)]
pub(crate) enum Way {
    Left { steps: u8 },
    Right,
}

#[node(actions = Way)]
fn guess(known: &bool) -> Way {
    if *known {
        Way::Right
    } else {
        Way::Left { steps: 2 }
    }
}

flow! {
    Walk(known: bool) -> (steps: Option<u8>) {
        start >> guess;
        guess - "left" >> Way;
        guess - "right" >> end;
        Way - "left" >> end;
        Way - "right" >> end("right");
    }
}

#[tokio::test]
async fn an_enum_that_people_submit_is_one_of_actions_too() {
    let asked = Asked::default();
    let options = RunOptions::answer(answers(&asked, [json!({ "Left": { "steps": 9 } })]));
    let output = Walk::new()
        .run_with(WalkInput { known: false }, options)
        .await;
    assert_eq!(output.unwrap().steps, Some(9));
    assert_eq!(asked.all(), ["walk.way: Which way?"]);
    assert_eq!(Way::Right.action(), "right");
}

/// Where something goes.
#[node(human = "Where to, {name}? {{{name}}} {{}}")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
struct Address {
    street: String,
    floor: Option<u8>,
}

#[node(human = "And how much?", writes = amount)]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Amount(u64);

flow! {
    Shipping(name: String) -> (address: Address, amount: Amount) {
        start >> Address >> Amount >> end;
    }
}

#[tokio::test]
async fn a_struct_is_written_whole() {
    let asked = Asked::default();
    let given = [json!({ "street": "Main", "floor": null }), json!(12)];
    let options = RunOptions::answer(answers(&asked, given));
    let input = ShippingInput { name: "Bo".into() };
    let output = Shipping::new().run_with(input, options).await.unwrap();
    assert_eq!(output.address.street, "Main");
    assert_eq!(output.amount, Amount(12));
    assert_eq!(
        asked.all(),
        [
            "shipping.address: Where to, Bo? {Bo} {}",
            "shipping.amount: And how much?"
        ]
    );
}

#[tokio::test]
async fn a_question_says_what_it_expects() {
    type Seen = (String, bool, Option<Duration>);
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let log = seen.clone();
    let options = RunOptions::answer(move |question: &Question| {
        let schema = question.schema();
        let floor = schema.is_some_and(|schema| schema["properties"].get("floor").is_some());
        let expected = question.expected().to_owned();
        log.lock()
            .unwrap()
            .push((expected, floor, question.timeout()));
        assert!(question.check(&json!("nonsense")).is_err());
        match question.expected() {
            "Address" => json!({ "street": "Main" }),
            _ => json!(1),
        }
    });
    let input = ShippingInput { name: "Bo".into() };
    Shipping::new().run_with(input, options).await.unwrap();
    assert_eq!(
        *seen.lock().unwrap(),
        [
            ("Address".to_owned(), true, None),
            ("Amount".to_owned(), false, None)
        ]
    );
}

#[node(human = "Sign {contract}", timeout = "24h")]
#[derive(Debug, Serialize, Deserialize)]
struct Signature {
    name: String,
}

flow! {
    Contract(contract: u32) -> (signature: Option<Signature>) {
        start >> Signature >> end;
        Signature - "timeout" >> end("too_late");
    }
}

flow! {
    Reminded(contract: u32) -> (signature: Option<Signature>) {
        start >> Signature >> end;
        Signature - "error" >> end("failed");
    }
}

flow! {
    Strict(contract: u32) -> (signature: Signature) {
        node signed: human Signature { signature -> signature } with timeout = "2h";

        start >> signed >> end;
    }
}

flow! {
    Hurried(version: u32, place: String) -> (report: Option<String>) {
        node soon: human Approval with timeout = "90s";

        start >> soon;
        soon - "approved" >> deploy >> end;
        soon - "not_now" >> explain >> end;
        soon - "later" >> end;
        soon - "timeout" >> end("nobody");
    }
}

#[tokio::test(start_paused = true)]
async fn who_does_not_answer_in_time_takes_timeout_or_error_or_fails() {
    let began = tokio::time::Instant::now();
    let input = ContractInput { contract: 1 };
    let output = Contract::new()
        .run_with(input, RunOptions::answer(Nobody))
        .await;
    assert_eq!(output.unwrap().end, ContractEnd::TooLate);
    assert_eq!(began.elapsed(), Duration::from_secs(24 * 3600));

    let input = RemindedInput { contract: 1 };
    let output = Reminded::new()
        .run_with(input, RunOptions::answer(Nobody))
        .await;
    assert_eq!(output.unwrap().end, RemindedEnd::Failed);

    let began = tokio::time::Instant::now();
    let recorder = Recorder::shared();
    let options = RunOptions::answer(Nobody).observer(recorder.clone());
    let input = StrictInput { contract: 1 };
    let error = Strict::new().run_with(input, options).await.unwrap_err();
    assert!(
        matches!(&error, FlowError::Node(error) if error.path() == "strict.signed"),
        "{error}"
    );
    assert_eq!(began.elapsed(), Duration::from_secs(2 * 3600));
    let failed = recorder.events();
    assert!(failed[2].starts_with("strict.signed failed"), "{failed:?}");

    let input = HurriedInput {
        version: 1,
        place: "x".into(),
    };
    let output = Hurried::new()
        .run_with(input, RunOptions::answer(Nobody))
        .await;
    assert_eq!(output.unwrap().end, HurriedEnd::Nobody);
}

#[tokio::test(start_paused = true)]
async fn a_question_tells_its_time() {
    for (flow_has, expected) in [(false, 24), (true, 2)] {
        let options = RunOptions::answer(move |question: &Question| {
            assert_eq!(
                question.timeout(),
                Some(Duration::from_secs(expected * 3600))
            );
            json!({ "name": "Ann" })
        });
        let signed = if flow_has {
            let run = Strict::new()
                .run_with(StrictInput { contract: 1 }, options)
                .await;
            run.unwrap().signature
        } else {
            let run = Contract::new()
                .run_with(ContractInput { contract: 1 }, options)
                .await;
            run.unwrap().signature.unwrap()
        };
        assert_eq!(signed.name, "Ann");
    }
}

#[node(human = "Grade of {name}?")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Grade {
    points: u8,
}

#[node(human = "And of {name} in sport?", writes = sport)]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Sport(bool);

#[node]
fn shout(name: &str) -> String {
    name.to_uppercase()
}

flow! {
    Both(name: String) -> (grade: Grade, sport: Sport, shout: String) {
        start >> [Grade, Sport, shout] >> end;
    }
}

#[tokio::test]
async fn branches_of_a_fork_ask() {
    let asked = Asked::default();
    let options = RunOptions::answer(answers(&asked, [json!({ "points": 9 }), json!(true)]));
    let input = BothInput { name: "Cy".into() };
    let output = Both::new().run_with(input, options).await.unwrap();
    assert_eq!((output.grade.points, output.sport), (9, Sport(true)));
    assert_eq!(output.shout, "CY");
    assert_eq!(
        asked.all(),
        [
            "both.grade: Grade of Cy?",
            "both.sport: And of Cy in sport?"
        ]
    );
}

flow! {
    Class(names: Vec<String>) -> (grades: Vec<Grade>, released: Vec<BothOutput>, ways: Vec<Towards>) {
        node grades: for name in names { Grade };
        node released: for name in names { Both } with concurrency(2);
        node ways: for name in names { Towards };

        start >> grades >> released >> ways >> end;
    }
}

/// Where somebody goes.
#[node(human = "Where does {name} go?")]
#[derive(Debug, Serialize, Deserialize)]
enum Towards {
    North { steps: u8 },
    South,
}

#[tokio::test]
async fn a_loop_asks_for_each_item() {
    let asked = Asked::default();
    let given = [
        json!({ "points": 1 }),
        json!({ "points": 2 }),
        json!({ "points": 3 }),
        json!(true),
        json!({ "points": 4 }),
        json!(false),
        json!({ "North": { "steps": 5 } }),
        json!("South"),
    ];
    let options = RunOptions::answer(answers(&asked, given));
    let names = vec!["Di".to_owned(), "Ed".to_owned()];
    let output = Class::new().run_with(ClassInput { names }, options).await;
    let output = output.unwrap();
    let points = |grades: &[Grade]| grades.iter().map(|grade| grade.points).collect::<Vec<_>>();
    assert_eq!(points(&output.grades), [1, 2]);
    assert_eq!(output.released[1].sport, Sport(false));
    assert!(matches!(
        output.ways[..],
        [Towards::North { steps: 5 }, Towards::South]
    ));
    assert_eq!(
        asked.all(),
        [
            "class.grades[0]: Grade of Di?",
            "class.grades[1]: Grade of Ed?",
            "class.released[0].grade: Grade of Di?",
            "class.released[0].sport: And of Di in sport?",
            "class.released[1].grade: Grade of Ed?",
            "class.released[1].sport: And of Ed in sport?",
            "class.ways[0]: Where does Di go?",
            "class.ways[1]: Where does Ed go?",
        ]
    );
}

flow! {
    Twice(first: String, second: String) -> (one: Grade, other: Grade) {
        node first_grade: human Grade { name <- first, grade -> one };
        node second_grade: human Grade { name <- second, grade -> other };

        start >> first_grade >> second_grade >> end;
    }
}

flow! {
    Nested(first: String, second: String) -> (one: Grade) {
        start >> Twice >> end;
    }
}

/// A function of the name that is a word of the language.
#[node]
async fn human() -> u8 {
    3
}

flow! {
    Human() -> (human: u8) {
        node x: human;
        node y: human with timeout = "1s";

        start >> x >> y >> end;
    }
}

#[tokio::test]
async fn a_type_is_asked_for_under_several_names_and_keys() {
    let asked = Asked::default();
    let given = [json!({ "points": 1 }), json!({ "points": 2 })];
    let options = RunOptions::answer(answers(&asked, given));
    let input = NestedInput {
        first: "Fo".into(),
        second: "Gi".into(),
    };
    let output = Nested::new().run_with(input, options).await.unwrap();
    assert_eq!(output.one.points, 1);
    assert_eq!(
        asked.all(),
        [
            "nested.twice.first_grade: Grade of Fo?",
            "nested.twice.second_grade: Grade of Gi?"
        ]
    );
    assert_eq!(Human::new().run(HumanInput {}).await.unwrap().human, 3);
}

#[tokio::test]
async fn a_flow_says_what_it_asks_in_its_document() {
    let document = flow_spec::FlowDocument::parse_spec(Strict::SPEC).unwrap();
    let node = &document.nodes[0];
    assert_eq!(node.r#type, "flow.human");
    assert_eq!(
        Value::Object(node.params.clone()),
        json!({ "prompt": "Sign {contract}", "expects": "Signature" })
    );
    assert_eq!(node.settings.timeout.as_deref(), Some("2h"));
    assert!(node.fallible);
    // Neither without a time limit, nor if the flow routes what happens after it.
    for spec in [Release::SPEC, Contract::SPEC] {
        let document = flow_spec::FlowDocument::parse_spec(spec).unwrap();
        assert_eq!(document.nodes[0].r#type, "flow.human");
        assert!(!document.nodes[0].fallible, "{}", document.name);
    }
    for spec in [
        Release::SPEC,
        Walk::SPEC,
        Shipping::SPEC,
        Contract::SPEC,
        Reminded::SPEC,
        Strict::SPEC,
        Hurried::SPEC,
        Both::SPEC,
        Class::SPEC,
        Nested::SPEC,
    ] {
        let document = flow_spec::FlowDocument::parse_spec(spec).unwrap();
        assert_eq!(document.check(), []);
    }
}

#[tokio::test]
async fn an_answerer_that_fails_ends_the_run() {
    struct Gone;

    #[async_trait]
    impl Answer for Gone {
        async fn answer(&self, _: &Question) -> Result<Value, BoxError> {
            Err("gone home".into())
        }
    }

    let input = ContractInput { contract: 1 };
    let error = Contract::new()
        .run_with(input, RunOptions::answer(Gone))
        .await;
    let error = error.unwrap_err();
    assert!(
        matches!(&error, FlowError::Unanswered { path, error }
            if path == "contract.signature" && error.to_string() == "gone home"),
        "{error}"
    );
}

sources! {
    "questions.rs":
    Release => ReleaseAgain,
    Walk => WalkAgain,
    Contract => ContractAgain,
    Reminded => RemindedAgain,
    Strict => StrictAgain,
    Hurried => HurriedAgain,
    Human => HumanAgain,
}

flow_law::law! {
    nodes: [Approval, deploy, explain, Way, guess, Address, Amount, Signature, Grade, Sport, shout, Towards, human],
    flows: [
        Release,
        Walk,
        Shipping,
        Contract,
        Reminded,
        Strict,
        Hurried,
        Both,
        Twice,
        Nested,
        Human,
    ],
    types: [Grade, Signature],
    not_json: [Class],
}
