//! What a flow writes at each of its ends: read as written behind that end, also through several
//! levels.

use flow_runtime::flow_spec::FlowDocument;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Action, Serialize, Deserialize)]
enum Funds {
    Enough,
    TooLittle,
}

#[node(actions = Funds)]
fn check_funds(balance: &u64, price: &u64) -> Funds {
    if balance >= price {
        Funds::Enough
    } else {
        Funds::TooLittle
    }
}

#[node(writes = parcel)]
fn ship(item: &str) -> String {
    format!("a parcel with a {item}")
}

#[node(writes = note)]
fn remind(item: &str) -> String {
    format!("the {item} is too expensive")
}

flow! {
    /// The flow is defined below the one that uses it.
    Day(item: String, balance: u64, price: u64) -> (told: String) {
        node tell_parcel: tell { text <- parcel };
        node tell_note: tell { text <- note };

        start >> Order >> tell_parcel >> end;
        Order - "unpaid" >> tell_note >> end;
    }
}

#[node(writes = told)]
fn tell(text: &str) -> String {
    text.to_uppercase()
}

flow! {
    #[derive(Clone, PartialEq)]
    Order(item: String, balance: u64, price: u64) -> (parcel: Option<String>, note: Option<String>) {
        start >> Shop >> end;
        Shop - "refused" >> end("unpaid");
    }
}

flow! {
    pub(crate) Shop(item: String, balance: u64, price: u64) -> (note: Option<String>, parcel: Option<String>) {
        start >> check_funds;
        check_funds - "enough"     >> ship >> end;
        check_funds - "too_little" >> remind >> end("refused");
    }
}

/// What somebody does who calls the flow.
async fn told_by_order(balance: u64) -> String {
    let input = OrderInput {
        item: "book".into(),
        balance,
        price: 15,
    };
    match Order::new().run(input).await.unwrap().into_outcome() {
        OrderOutcome::Default { parcel } => parcel,
        OrderOutcome::Unpaid { note } => note,
    }
}

#[tokio::test]
async fn a_caller_matches_on_the_end_with_its_outputs() {
    assert_eq!(told_by_order(20).await, "a parcel with a book");
    assert_eq!(told_by_order(5).await, "the book is too expensive");
}

fn day(balance: u64) -> DayInput {
    let input = DayInput::builder().item("book".into());
    input.balance(balance).price(15).build()
}

#[tokio::test]
async fn an_output_is_there_behind_the_end_that_writes_it_three_levels_up() {
    let told = Day::new().run(day(20)).await.unwrap().told;
    assert_eq!(told, "A PARCEL WITH A BOOK");
    let told = Day::new().run(day(5)).await.unwrap().told;
    assert_eq!(told, "THE BOOK IS TOO EXPENSIVE");
}

#[test]
fn the_document_says_what_each_end_of_an_inner_flow_writes() {
    let day = FlowDocument::parse_spec(Day::SPEC).unwrap();
    let order = day.nodes.iter().find(|node| node.id == "order").unwrap();
    let order = order.actions.as_ref().unwrap();
    let written: Vec<_> = order
        .iter()
        .map(|action| {
            (
                action.name.as_str(),
                &action.writes[..],
                &action.may_write[..],
            )
        })
        .collect();
    let (parcel, note) = (["parcel".to_owned()], ["note".to_owned()]);
    assert_eq!(
        written,
        [
            ("default", &parcel[..], &[][..]),
            ("unpaid", &note[..], &[][..])
        ]
    );
}

#[node(writes = parcel)]
fn old_parcel() -> String {
    "yesterday's parcel".into()
}

flow! {
    /// `parcel` is written on every path: by the order, or before it.
    Kept(item: String, balance: u64, price: u64) -> (parcel: String) {
        start >> old_parcel >> Order >> end;
        Order - "unpaid" >> end("unpaid");
    }
}

#[tokio::test]
async fn an_end_that_does_not_write_a_key_keeps_its_value() {
    let input = KeptInput {
        item: "book".into(),
        balance: 5,
        price: 15,
    };
    let output = Kept::new().run(input).await.unwrap();
    assert_eq!(
        (output.parcel.as_str(), output.end),
        ("yesterday's parcel", KeptEnd::Unpaid)
    );
}

#[node(writes = price)]
fn discount(price: u64, note: &str) -> u64 {
    price - note.len() as u64
}

flow! {
    /// A loop around the flow: the second round reads what the first one has written at its end.
    Haggle(item: String, balance: u64, price: u64) -> (parcel: String, note: Option<String>) {
        start >> Order >> end;
        Order - "unpaid" >> discount >> Order;
    }
}

#[tokio::test]
async fn a_loop_around_a_flow_ends_behind_the_end_that_writes() {
    let input = HaggleInput {
        item: "book".into(),
        balance: 5,
        price: 50,
    };
    let output = Haggle::new().run(input).await.unwrap();
    assert_eq!(output.parcel, "a parcel with a book");
    assert_eq!(output.note.as_deref(), Some("the book is too expensive"));
}

flow! {
    /// Its output is an `Option`, and written at its only end.
    Wrapped(item: String) -> (parcel: Option<String>) {
        start >> ship >> end;
    }
}

#[node(writes = weight)]
fn weigh(parcel: &str) -> usize {
    parcel.len()
}

flow! {
    /// A flow in a branch of a fork, and one that a loop over items runs.
    Several(item: String, items: Vec<String>) -> (weight: usize, told: String, parcels: Vec<Option<String>>) {
        node parcels: for item in items { Wrapped };

        start >> [Wrapped >> weigh, parcels] >> tell_item >> end;
        node tell_item: tell { text <- parcel };
    }
}

#[tokio::test]
async fn a_flow_in_a_fork_writes_at_its_end() {
    let input = SeveralInput {
        item: "pen".into(),
        items: vec!["nib".into()],
    };
    let output = Several::new().run(input).await.unwrap();
    assert_eq!(
        (output.weight, output.told.as_str()),
        (19, "A PARCEL WITH A PEN")
    );
    assert_eq!(output.parcels, [Some("a parcel with a nib".to_owned())]);
}

#[node(writes = best)]
fn find(items: &[u32]) -> Option<u32> {
    items.iter().max().copied()
}

flow! {
    Search(items: Vec<u32>) -> (best: Option<u32>) {
        start >> find >> end;
    }
}

#[node(writes = shown)]
fn show(best: Option<&u32>) -> String {
    format!("{best:?}")
}

flow! {
    /// A key that holds the `Option` of a node is written and may have no value.
    Shown(items: Vec<u32>) -> (shown: String) {
        start >> Search >> show >> end;
    }
}

#[tokio::test]
async fn an_option_that_a_node_returned_stays_one() {
    let shown = Shown::new()
        .run(ShownInput { items: vec![] })
        .await
        .unwrap()
        .shown;
    assert_eq!(shown, "None");
    let document = FlowDocument::parse_spec(Shown::SPEC).unwrap();
    assert_eq!(
        document.nodes[0].actions.as_ref().unwrap()[0].may_write,
        ["best"]
    );
}

#[tokio::test]
async fn flows_in_a_function_body_find_each_other() {
    flow! {
        Outer(item: String) -> (weight: usize) {
            start >> Local >> weigh >> end;
        }
    }
    flow! {
        Local(item: String) -> (parcel: Option<String>) {
            start >> ship >> end;
        }
    }
    let output = Outer::new()
        .run(OuterInput { item: "pen".into() })
        .await
        .unwrap();
    assert_eq!(output.weight, 19);
}

#[derive(Action, Serialize, Deserialize)]
enum Answer {
    Known { answer: u32 },
    Guessed,
    Unknown,
}

#[node(actions = Answer)]
fn think(question: &str) -> Answer {
    match question {
        "life" => Answer::Known { answer: 42 },
        "love" => Answer::Guessed,
        _ => Answer::Unknown,
    }
}

#[node(writes = doubt)]
fn doubt(question: &str) -> Doubt {
    Doubt(question.len())
}

/// It cannot be printed.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Doubt(usize);

flow! {
    #[derive(Clone, PartialEq)]
    Think(question: String) -> (
        question: String,
        /// What it is.
        answer: Option<u32>,
        doubt: Option<Doubt>,
    ) {
        start >> think;
        think - "known"   >> end("sure");
        think - "guessed" >> doubt >> end("sure");
        think - "unknown" >> end;
    }
}

async fn thought(question: &str) -> ThinkOutput {
    Think::new()
        .run(ThinkInput {
            question: question.into(),
        })
        .await
        .unwrap()
}

#[tokio::test]
async fn an_outcome_has_what_is_always_there_and_what_may_be() {
    let sure = thought("life").await.into_outcome();
    assert_eq!(
        format!("{sure:?}"),
        r#"Sure { question: "life", answer: Some(42), doubt: … }"#
    );
    let ThinkOutcome::Sure {
        answer: None,
        doubt: Some(doubt),
        ..
    } = thought("love").await.into_outcome()
    else {
        panic!("it has guessed");
    };
    assert!(doubt == Doubt(4));
    let unknown = thought("why").await.into_outcome();
    assert!(
        unknown
            == ThinkOutcome::Default {
                question: "why".into()
            }
    );
}

flow! {
    /// Both ends have the same output.
    Advised(balance: u64, price: u64, item: String) -> (told: String) {
        node tell_item: tell { text <- item };

        start >> tell_item >> check_funds;
        check_funds - "enough"     >> end;
        check_funds - "too_little" >> end("refused");
    }
}

#[tokio::test]
async fn an_outcome_of_ends_with_the_same_outputs() {
    let advised = |balance| async move {
        let input = AdvisedInput {
            balance,
            price: 5,
            item: "lamp".into(),
        };
        Advised::new().run(input).await.unwrap().into_outcome()
    };
    assert!(matches!(advised(9).await, AdvisedOutcome::Default { told } if told == "LAMP"));
    assert!(matches!(advised(1).await, AdvisedOutcome::Refused { told } if told == "LAMP"));
}

#[test]
#[should_panic(
    expected = "the output `parcel` is missing, which is always there at end \"default\""
)]
fn an_output_put_together_by_hand_may_lack_what_its_end_has() {
    let output = OrderOutput {
        parcel: None,
        note: None,
        end: OrderEnd::Default,
    };
    output.into_outcome();
}

flow_law::law! {
    nodes: [check_funds, ship, remind, tell, old_parcel, discount, weigh, find, show, think, doubt],
    flows: [
        Day,
        Order,
        Shop,
        Kept,
        Haggle,
        Wrapped,
        Several,
        Search,
        Shown,
        Think,
        Advised,
    ],
}
