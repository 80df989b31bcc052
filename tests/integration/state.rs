//! What nodes read and write: borrowed, moved or cloned, and what may be missing.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::support::Calls;

/// Notes how often it is cloned.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Counted(Calls);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.note("cloned");
        Counted(self.0.clone())
    }
}

#[node]
fn look(item: &Counted) -> bool {
    item.0.count() == 0
}

#[node]
fn take(item: Counted) -> usize {
    item.0.count()
}

#[node]
fn take_again(item: Counted) -> usize {
    item.0.count()
}

flow! {
    Borrows(item: Counted) -> (look: bool) {
        node again: look { look -> again };
        start >> look >> again >> end;
    }
}

flow! {
    MovesToTheLastReader(item: Counted) -> (look: bool, take: usize) {
        start >> look >> take >> end;
    }
}

flow! {
    ClonesForALaterReader(item: Counted) -> (take: usize, look: bool, take_again: usize) {
        start >> take >> look >> take_again >> end;
    }
}

flow! {
    ClonesForAnOutput(item: Counted) -> (take: usize, item: Counted) {
        start >> take >> end;
    }
}

#[tokio::test]
async fn borrowing_clones_nothing() {
    let item = Counted::default();
    let calls = item.0.clone();
    Borrows::new()
        .run(BorrowsInput::builder().item(item).build())
        .await
        .unwrap();
    assert_eq!(calls.count(), 0);
}

#[tokio::test]
async fn the_last_reader_is_given_the_value_itself() {
    let item = Counted::default();
    let calls = item.0.clone();
    let input = MovesToTheLastReaderInput::builder().item(item).build();
    let out = MovesToTheLastReader::new().run(input).await.unwrap();
    assert_eq!((out.look, out.take, calls.count()), (true, 0, 0));
}

#[tokio::test]
async fn a_value_that_is_read_later_is_cloned_once() {
    let item = Counted::default();
    let calls = item.0.clone();
    let input = ClonesForALaterReaderInput::builder().item(item).build();
    let out = ClonesForALaterReader::new().run(input).await.unwrap();
    assert_eq!((out.take, out.look, out.take_again), (1, false, 1));
    assert_eq!(calls.count(), 1);
}

#[tokio::test]
async fn a_value_that_is_an_output_is_cloned() {
    let item = Counted::default();
    let calls = item.0.clone();
    let input = ClonesForAnOutputInput::builder().item(item).build();
    let out = ClonesForAnOutput::new().run(input).await.unwrap();
    assert_eq!((out.take, out.item.0.count(), calls.count()), (1, 1, 1));
}

#[derive(Action, Serialize, Deserialize)]
enum Round {
    Again,
    Stop,
}

#[node(writes = left, actions = Round)]
fn next_round(left: &u32) -> (u32, Round) {
    match left {
        1 => (0, Round::Stop),
        left => (left - 1, Round::Again),
    }
}

#[node(writes = item)]
fn pass_on(item: Counted) -> Counted {
    item
}

flow! {
    MovesAroundALoop(item: Counted, left: u32) -> (item: Counted) {
        start >> pass_on >> next_round;
        next_round - "again" >> pass_on;
        next_round - "stop" >> end;
    }
}

flow! {
    ClonesAroundALoop(item: Counted, left: u32) -> (take: usize) {
        start >> take >> next_round;
        next_round - "again" >> take;
        next_round - "stop" >> end;
    }
}

#[tokio::test]
async fn a_loop_that_writes_anew_what_it_takes_moves_it() {
    let item = Counted::default();
    let calls = item.0.clone();
    let input = MovesAroundALoopInput::builder().item(item).left(10).build();
    MovesAroundALoop::new().run(input).await.unwrap();
    assert_eq!(calls.count(), 0);
}

#[tokio::test]
async fn a_loop_that_takes_the_same_value_clones_it() {
    let item = Counted::default();
    let calls = item.0.clone();
    let input = ClonesAroundALoopInput::builder().item(item).left(3).build();
    let out = ClonesAroundALoop::new().run(input).await.unwrap();
    assert_eq!((out.take, calls.count()), (3, 3));
}

/// Moved on one path, and cloned on the other, where it is read later.
#[node(actions = Round)]
fn choose(left: &u32) -> Round {
    if *left == 0 {
        Round::Stop
    } else {
        Round::Again
    }
}

flow! {
    MovesByPath(item: Counted, left: u32) -> (take: Option<usize>, take_again: Option<usize>) {
        start >> choose;
        choose - "again" >> take >> end;
        choose - "stop" >> take_again >> end;
    }
}

#[tokio::test]
async fn a_reader_on_another_path_is_not_later() {
    let item = Counted::default();
    let calls = item.0.clone();
    let input = MovesByPathInput::builder().item(item).left(1).build();
    let out = MovesByPath::new().run(input).await.unwrap();
    assert_eq!(
        (out.take, out.take_again, calls.count()),
        (Some(0), None, 0)
    );
}

/// Not `Clone`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Ticket(u32);

#[node(writes = ticket)]
fn issue() -> Ticket {
    Ticket(7)
}

#[node(writes = stamped)]
fn stamp(ticket: Ticket) -> Ticket {
    Ticket(ticket.0 * 10)
}

#[node(writes = ticket)]
fn exchange(stamped: Option<Ticket>) -> Ticket {
    Ticket(stamped.map_or(0, |ticket| ticket.0 + 1))
}

flow! {
    TicketOffice() -> (ticket: Ticket) {
        start >> issue >> stamp >> exchange >> end;
    }
}

flow! {
    InnerOffice(ticket: Ticket) -> (stamped: Ticket) {
        start >> stamp >> end;
    }
}

flow! {
    OuterOffice() -> (ticket: Ticket) {
        start >> issue >> InnerOffice >> exchange >> end;
    }
}

#[tokio::test]
async fn what_is_not_clone_is_moved_through() {
    let out = TicketOffice::new()
        .run(TicketOfficeInput::builder().build())
        .await;
    assert_eq!(out.unwrap().ticket, Ticket(71));

    let out = OuterOffice::new()
        .run(OuterOfficeInput::builder().build())
        .await;
    assert_eq!(out.unwrap().ticket, Ticket(71));
}

/// Reads of all kinds, of what is there and of what is not.
#[expect(clippy::too_many_arguments, reason = "each is a way to read")]
#[node]
fn describe(
    text: &str,
    words: &[String],
    file: &Path,
    title: Option<&str>,
    tags: Option<&[String]>,
    home: Option<&Path>,
    count: Option<&u32>,
    owner: Option<String>,
    index: &BTreeMap<String, u32>,
) -> String {
    format!(
        "{text} {words:?} {} {title:?} {tags:?} {home:?} {count:?} {owner:?} {index:?}",
        file.display()
    )
}

flow! {
    Describes(
        text: String, words: Vec<String>, file: PathBuf, title: Option<String>, tags: Option<Vec<String>>,
        home: Option<PathBuf>, count: Option<u32>, owner: Option<String>, index: BTreeMap<String, u32>,
    ) -> (describe: String) {
        start >> describe >> end;
    }
}

#[tokio::test]
async fn reads_borrow_what_the_state_owns() {
    let input = DescribesInput::builder()
        .text("t".into())
        .words(vec!["w".into()])
        .file("f.txt".into())
        .index(BTreeMap::new())
        .build();
    let out = Describes::new().run(input).await.unwrap();
    assert_eq!(out.describe, r#"t ["w"] f.txt None None None None None {}"#);

    let input = DescribesInput::builder()
        .text("t".into())
        .words(Vec::new())
        .file("f.txt".into())
        .title("T".into())
        .tags(vec!["a".into(), "b".into()])
        .home("/home".into())
        .count(3)
        .owner("Ann".into())
        .index(BTreeMap::from([("x".into(), 1)]))
        .build();
    let out = Describes::new().run(input).await.unwrap();
    assert_eq!(
        out.describe,
        r#"t [] f.txt Some("T") Some(["a", "b"]) Some("/home") Some(3) Some("Ann") {"x": 1}"#
    );
}

#[node(writes(left, right))]
fn split(text: &str) -> (String, Option<String>) {
    match text.split_once(' ') {
        Some((left, right)) => (left.to_owned(), Some(right.to_owned())),
        None => (text.to_owned(), None),
    }
}

/// An `Option` that a node writes is the value of the key, and is read as it is.
#[node]
fn right_length(right: &Option<String>) -> usize {
    right.as_ref().map_or(0, String::len)
}

flow! {
    Splits(text: String) -> (left: String, right_length: usize) {
        start >> split >> right_length >> end;
    }
}

#[tokio::test]
async fn a_node_writes_a_tuple_under_its_keys() {
    for (text, left, right_length) in [("one two", "one", 3), ("one", "one", 0)] {
        let input = SplitsInput::builder().text(text.into()).build();
        let out = Splits::new().run(input).await.unwrap();
        assert_eq!((out.left.as_str(), out.right_length), (left, right_length));
    }
}

#[derive(Action, Serialize, Deserialize)]
enum Found {
    Found { place: String },
    Missing,
}

#[node(actions = Found)]
fn find(name: &str) -> Found {
    match name {
        "Ann" => Found::Found {
            place: "Rome".into(),
        },
        _ => Found::Missing,
    }
}

#[node]
fn greet(name: &str, place: Option<&str>) -> String {
    format!("Hello {name} in {}", place.unwrap_or("the world"))
}

#[node]
fn greet_owned(name: String, place: Option<String>) -> String {
    format!("Bye {name} in {}", place.as_deref().unwrap_or("the world"))
}

flow! {
    Greets(name: String) -> (greet: String, greet_owned: String, place: Option<String>) {
        start >> find;
        find - "found" >> greet;
        find - "missing" >> greet;
        greet >> greet_owned >> end;
    }
}

#[tokio::test]
async fn what_one_path_does_not_write_is_optional() {
    for (name, place) in [("Ann", Some("Rome")), ("Bob", None)] {
        let input = GreetsInput::builder().name(name.into()).build();
        let out = Greets::new().run(input).await.unwrap();
        let expected = place.unwrap_or("the world");
        assert_eq!(out.greet, format!("Hello {name} in {expected}"));
        assert_eq!(out.greet_owned, format!("Bye {name} in {expected}"));
        assert_eq!(out.place.as_deref(), place);
    }
}

#[node(writes = first)]
fn first_word(text: &str) -> String {
    text.split(' ').next().unwrap_or_default().to_owned()
}

flow! {
    ReturnsItsInput(text: String, unused: Option<u8>) -> (text: String, first: String, unused: Option<u8>) {
        start >> first_word >> end;
    }
}

#[tokio::test]
async fn an_input_may_be_an_output() {
    let input = ReturnsItsInputInput::builder()
        .text("a b".into())
        .unused(4)
        .build();
    let out = ReturnsItsInput::new().run(input).await.unwrap();
    assert_eq!(
        (out.text.as_str(), out.first.as_str(), out.unused),
        ("a b", "a", Some(4))
    );
}

#[node(writes = note)]
fn annotate(note: Option<String>) -> String {
    note.map_or_else(|| "new".to_owned(), |note| format!("{note}!"))
}

flow! {
    Annotates(note: Option<String>) -> (note: String) {
        start >> annotate >> end;
    }
}

#[tokio::test]
async fn an_optional_input_may_be_written() {
    let out = Annotates::new()
        .run(AnnotatesInput::builder().build())
        .await
        .unwrap();
    assert_eq!(out.note, "new");
    let input = AnnotatesInput::builder().note("old".into()).build();
    assert_eq!(Annotates::new().run(input).await.unwrap().note, "old!");
}

/// A flow that may leave its output unwritten, used as a node, leaves the key as it was.
#[tokio::test]
async fn an_output_left_unwritten_overwrites_nothing() {
    flow! {
        FindsPlace(name: String) -> (place: Option<String>) {
            start >> find;
            find - "found" >> end;
            find - "missing" >> end;
        }
    }

    #[node(writes = place)]
    fn guess() -> String {
        "Paris".into()
    }

    flow! {
        GuessesPlace(name: String) -> (place: String) {
            start >> guess >> FindsPlace >> end;
        }
    }

    for (name, place) in [("Ann", "Rome"), ("Bob", "Paris")] {
        let input = GuessesPlaceInput::builder().name(name.into()).build();
        assert_eq!(GuessesPlace::new().run(input).await.unwrap().place, place);
    }
}

#[node]
fn shout(text: &str) -> String {
    text.to_uppercase()
}

flow! {
    Shouts(text: &'static str) -> (shout: String) {
        start >> shout >> end;
    }
}

flow! {
    ShoutsOfCow(text: Cow<'static, str>) -> (shout: String) {
        start >> shout >> end;
    }
}

flow! {
    ShoutsOfBox(text: Box<str>) -> (shout: String) {
        start >> shout >> end;
    }
}

#[tokio::test]
async fn text_is_read_from_whatever_holds_it() {
    let input = ShoutsInput::builder().text("a").build();
    assert_eq!(Shouts::new().run(input).await.unwrap().shout, "A");
    let input = ShoutsOfCowInput::builder().text("b".into()).build();
    assert_eq!(ShoutsOfCow::new().run(input).await.unwrap().shout, "B");
    let input = ShoutsOfBoxInput::builder().text("c".into()).build();
    assert_eq!(ShoutsOfBox::new().run(input).await.unwrap().shout, "C");
}

/// The phases of a type share the reads of the flow: `prep` takes, `post` borrows something else.
struct Ask;

#[node(writes = answer)]
impl Ask {
    fn prep(&self, question: String, context: &[String]) -> (String, usize) {
        (question, context.len())
    }

    async fn exec(&self, (question, lines): (String, usize)) -> String {
        format!("{question} ({lines})")
    }

    fn post(&self, exec_res: String, context: &[String]) -> String {
        format!("{exec_res}: {}", context.join(", "))
    }
}

flow! {
    Asks(question: String, context: Vec<String>) -> (answer: String) {
        node ask: Ask = Ask;
        start >> ask >> end;
    }
}

#[tokio::test]
async fn the_phases_of_a_type_read_the_state() {
    let context = vec!["a".to_owned(), "b".to_owned()];
    let input = AsksInput::builder()
        .question("why".into())
        .context(context)
        .build();
    assert_eq!(
        Asks::new().run(input).await.unwrap().answer,
        "why (2): a, b"
    );
}

/// What nodes return may hold references that are `'static`, written or implied.
mod static_values {
    use std::borrow::Cow;
    use std::sync::Arc;

    use flow_runtime::prelude::*;

    pub(super) trait Model: Send + Sync {
        fn answer(&self) -> u32;
    }

    struct Constant;

    impl Model for Constant {
        fn answer(&self) -> u32 {
            42
        }
    }

    type Function = Box<dyn Fn(u32) -> u32 + Send + Sync>;

    #[node]
    fn name() -> &'static str {
        "name"
    }

    #[node]
    async fn title(name: &'static str) -> Result<Cow<'static, str>, String> {
        Ok(Cow::Borrowed(name))
    }

    #[node]
    fn model() -> Arc<dyn Model> {
        Arc::new(Constant)
    }

    #[node]
    fn function(model: &Arc<dyn Model>) -> Function {
        let answer = model.answer();
        Box::new(move |by| answer / by)
    }

    #[derive(Action)]
    pub(super) enum Halved {
        Halved { half: u32, note: &'static str },
    }

    #[node(actions = Halved)]
    async fn halve(function: &Function) -> Halved {
        Halved::Halved {
            half: function(2),
            note: "by two",
        }
    }

    flow! {
        pub(super) Halves() -> (name: &'static str, title: Cow<'static, str>, half: u32, note: &'static str) {
            start >> name >> title >> model >> function >> halve - "halved" >> end;
        }
    }
}

#[tokio::test]
async fn values_may_hold_static_references() {
    use static_values::{Halves, HalvesInput};

    let out = Halves::new()
        .run(HalvesInput::builder().build())
        .await
        .unwrap();
    assert_eq!((out.name, out.title.as_ref()), ("name", "name"));
    assert_eq!((out.half, out.note), (21, "by two"));
}

mod returned_options {
    use super::*;

    #[node]
    fn found(name: &str) -> Option<String> {
        (!name.is_empty()).then(|| name.to_uppercase())
    }

    #[node]
    fn length(found: Option<&str>) -> usize {
        found.map_or(0, str::len)
    }

    #[node(writes = kept)]
    fn keep(found: Option<String>) -> String {
        found.unwrap_or_else(|| "nobody".into())
    }

    flow! {
        Finds(name: String) -> (found: Option<String>, kept: String, length: usize) {
            start >> found >> length >> keep >> end;
        }
    }

    #[tokio::test]
    async fn an_option_that_a_node_returned_is_a_value_that_may_be_missing() {
        for (name, found, kept, length) in [("ann", Some("ANN"), "ANN", 3), ("", None, "nobody", 0)]
        {
            let out = Finds::new()
                .run(FindsInput::builder().name(name.into()).build())
                .await
                .unwrap();
            assert_eq!(
                (out.found.as_deref(), &*out.kept, out.length),
                (found, kept, length)
            );
        }
    }
}

flow_law::law! {
    nodes: [look, take, take_again, next_round, pass_on, choose, issue, stamp, exchange, describe, split, right_length, find, greet, greet_owned, first_word, annotate, shout],
    flows: [
        Borrows,
        MovesToTheLastReader,
        ClonesForALaterReader,
        ClonesForAnOutput,
        MovesAroundALoop,
        ClonesAroundALoop,
        MovesByPath,
        TicketOffice,
        InnerOffice,
        OuterOffice,
        Describes,
        Splits,
        Greets,
        ReturnsItsInput,
        Annotates,
        ShoutsOfCow,
        ShoutsOfBox,
        Asks with [Ask = Ask],
    ],
    types: [Counted, Ticket, PathBuf, Cow<'static, str>, BTreeMap<String, u32>],
    left_out: [Shouts],
}
