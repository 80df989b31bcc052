//! Ports and keys: renaming what a node reads and writes, and using a node twice.

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::support::traced;

#[derive(Action, Serialize, Deserialize)]
enum Produced {
    Complete { chat_response: String, tokens: u32 },
}

#[node(actions = Produced)]
fn producer(question: &str) -> Produced {
    Produced::Complete {
        chat_response: format!("go {question}"),
        tokens: 7,
    }
}

#[node(writes = done)]
fn consumer(action: &str, cost: &u32) -> String {
    format!("{action} for {cost}")
}

flow! {
    MapsReads(question: String) -> (done: String) {
        node consumer: consumer { action <- chat_response, cost <- tokens };
        start >> producer - "complete" >> consumer >> end;
    }
}

flow! {
    MapsWrites(question: String) -> (done: String) {
        node producer: producer { chat_response -> action, tokens -> cost };
        start >> producer - "complete" >> consumer >> end;
    }
}

flow! {
    MapsBoth(question: String) -> (done: String) {
        node producer: producer { question <- question, chat_response -> said, tokens -> spent };
        node consumer: consumer { action <- said, cost <- spent, done -> done };
        start >> producer - "complete" >> consumer >> end;
    }
}

/// BP-20
#[tokio::test]
async fn a_consumer_reads_what_a_producer_writes_under_another_name() {
    let input = MapsReadsInput::builder().question("left".into()).build();
    let read = MapsReads::new().run(input).await.unwrap();
    let input = MapsWritesInput::builder().question("left".into()).build();
    let written = MapsWrites::new().run(input).await.unwrap();
    let input = MapsBothInput::builder().question("left".into()).build();
    let both = MapsBoth::new().run(input).await.unwrap();
    assert_eq!([read.done, written.done, both.done], ["go left for 7"; 3]);
}

flow! {
    MapsOntoWhatIsThere(question: String, action: String, cost: u32) -> (done: String, action: String) {
        node producer: producer { chat_response -> action, tokens -> cost };
        start >> producer - "complete" >> consumer >> end;
    }
}

/// BP-20 and D-25: what is there already is overwritten, be it equal or not.
#[tokio::test]
async fn a_mapping_overwrites_what_is_there() {
    for action in ["go left", "stay"] {
        let input = MapsOntoWhatIsThereInput::builder()
            .question("left".into())
            .action(action.into())
            .cost(0)
            .build();
        let out = MapsOntoWhatIsThere::new().run(input).await.unwrap();
        assert_eq!(
            (out.done.as_str(), out.action.as_str()),
            ("go left for 7", "go left")
        );
    }
}

#[node(writes = revised)]
fn revise(draft: &str) -> String {
    format!("{draft}+")
}

flow! {
    RevisesThrice(draft: String) -> (revised: String, second: String) {
        node again: revise { draft <- revised, revised -> second };
        node in_place: revise { draft <- second, revised -> second };
        start >> revise >> again >> in_place >> end;
    }
}

#[tokio::test]
async fn a_node_is_used_several_times_under_other_names() {
    let input = RevisesThriceInput::builder().draft("d".into()).build();
    let (out, trace) = traced(&RevisesThrice::new(), input).await;
    assert_eq!((out.revised.as_str(), out.second.as_str()), ("d+", "d+++"));
    assert_eq!(trace, "revise again in_place");
}

#[derive(Default)]
struct Counter {
    step: u32,
}

#[node(writes = total)]
impl Counter {
    fn exec(&self, total: u32) -> u32 {
        total + self.step
    }
}

flow! {
    Counts(apples: u32, pears: u32) -> (apples: u32, pears: u32) {
        node first_apples: Counter { total <- apples, total -> apples } = Counter { step: 1 };
        node first_pears: Counter { total <- pears, total -> pears } = Counter { step: 10 };
        node more_pears: Counter { total <- pears, total -> pears };
        start >> first_apples >> first_pears >> more_pears >> apples_again >> end;
        node apples_again: Counter { total <- apples, total -> apples } = Default::default();
    }
}

#[tokio::test]
async fn instances_of_a_type_have_values_of_their_own() {
    let flow = Counts::builder().more_pears(Counter { step: 100 }).build();
    let out = flow
        .run(CountsInput::builder().apples(0).pears(0).build())
        .await
        .unwrap();
    assert_eq!((out.apples, out.pears), (1, 110));
}

flow! {
    CountsOn(before: u32) -> (before: u32, after: u32) {
        node count: Counter { total <- before, total -> after } = Counter { step: 5 };
        start >> count >> end;
    }
}

#[tokio::test]
async fn a_port_is_read_under_one_key_and_written_under_another() {
    let input = CountsOnInput::builder().before(1).build();
    let out = CountsOn::new().run(input).await.unwrap();
    assert_eq!((out.before, out.after), (1, 6));
}

flow! {
    Greeting(name: String, title: Option<String>) -> (greeting: String, shouted: Option<String>) {
        node greet: greet { salutation -> greeting };
        start >> greet >> is_loud;
        is_loud - "loud" >> shout >> end("loud");
        is_loud - "quiet" >> end;
    }
}

#[node(writes = salutation)]
fn greet(name: &str, title: Option<&str>) -> String {
    format!("Hello {}{name}", title.unwrap_or_default())
}

#[derive(Action, Serialize, Deserialize)]
enum Volume {
    Loud,
    Quiet,
}

#[node(actions = Volume)]
fn is_loud(title: Option<&str>) -> Volume {
    if title.is_some() {
        Volume::Loud
    } else {
        Volume::Quiet
    }
}

#[node(writes = shouted)]
fn shout(greeting: &str) -> String {
    greeting.to_uppercase()
}

flow! {
    GreetsTwo(guest: String, host: String, rank: String, nickname: Option<String>)
        -> (to_guest: String, to_host: String, shout: Option<String>)
    {
        node for_guest: Greeting { name <- guest, title <- rank, greeting -> to_guest, shouted -> shout } = Greeting::new();
        node for_host: Greeting { name <- host, title <- nickname, greeting -> to_host, shouted -> other } = Greeting::new();
        start >> for_guest;
        for_guest - "loud" >> for_host;
        for_guest - "default" >> for_host;
        for_host - "loud" >> end;
        for_host - "default" >> end;
    }
}

#[tokio::test]
async fn a_nested_flow_is_mapped_like_any_node() {
    let input = GreetsTwoInput::builder()
        .guest("Ann".into())
        .host("Bob".into())
        .rank("Dr ".into())
        .build();
    let (out, trace) = traced(&GreetsTwo::new(), input).await;
    assert_eq!(
        (out.to_guest.as_str(), out.to_host.as_str()),
        ("Hello Dr Ann", "Hello Bob")
    );
    assert_eq!(out.shout.as_deref(), Some("HELLO DR ANN"));
    assert_eq!(trace, "greet is_loud shout greet is_loud");
}

sources! {
    "mappings.rs":
    MapsReads => MapsReadsAgain,
    MapsWrites => MapsWritesAgain,
    MapsBoth => MapsBothAgain,
    MapsOntoWhatIsThere => MapsOntoWhatIsThereAgain,
    RevisesThrice => RevisesThriceAgain,
    Counts => CountsAgain,
    CountsOn => CountsOnAgain,
    Greeting => GreetingAgain,
}

flow_law::law! {
    nodes: [producer, consumer, revise, Counter, greet, is_loud, shout],
    flows: [
        MapsReads,
        MapsWrites,
        MapsBoth,
        MapsOntoWhatIsThere,
        RevisesThrice,
        Greeting,
        GreetsTwo,
    ],
    left_out: [Counts, CountsOn],
}
