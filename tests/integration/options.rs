//! Values that are themselves an `Option`, under keys that may be missing.

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[node]
fn found(word: &str) -> Option<usize> {
    (!word.is_empty()).then_some(word.len())
}

#[node(writes = shown)]
fn show(given: Option<&Option<u8>>) -> String {
    format!("{given:?}")
}

flow! {
    Given(given: Option<Option<u8>>) -> (shown: String) {
        start >> show >> end;
    }
}

#[node(writes = shown)]
fn show_taken(given: Option<Option<u8>>) -> String {
    format!("{given:?}")
}

flow! {
    Taken(given: Option<Option<u8>>) -> (shown: String) {
        start >> show_taken >> end;
    }
}

flow! {
    Twice(given: Option<Option<u8>>) -> (given: Option<Option<u8>>, shown: String) {
        start >> show_taken >> end;
    }
}

flow! {
    Found(word: String) -> (found: Option<Option<usize>>) {
        start >> found >> end;
    }
}

#[derive(Action, Serialize, Deserialize)]
enum Way {
    Look,
    Skip,
}

#[node(actions = Way)]
fn way(word: &str) -> Way {
    if word == "skip" { Way::Skip } else { Way::Look }
}

flow! {
    Perhaps(word: String) -> (found: Option<Option<usize>>) {
        start >> way;
        way - "look" >> found >> end;
        way - "skip" >> end;
    }
}

#[node(writes = shown)]
fn show_found(found: Option<&Option<usize>>) -> String {
    format!("{found:?}")
}

#[node(writes = shown)]
fn take_found(found: Option<Option<usize>>) -> String {
    format!("{found:?}")
}

flow! {
    Shown(word: String) -> (shown: String) {
        start >> way;
        way - "look" >> found >> show_found;
        way - "skip" >> show_found >> end;
    }
}

flow! {
    TakenLater(word: String) -> (shown: String) {
        start >> way;
        way - "look" >> found >> take_found;
        way - "skip" >> take_found >> end;
    }
}

flow! {
    Outer(word: String) -> (found: Option<Option<usize>>) {
        start >> Perhaps >> end;
    }
}

#[node]
fn doubly(word: &str) -> Option<Option<usize>> {
    match word {
        "" => None,
        "x" => Some(None),
        word => Some(Some(word.len())),
    }
}

#[node(writes = shown)]
fn show_doubly(doubly: &Option<Option<usize>>) -> String {
    format!("{doubly:?}")
}

flow! {
    Doubly(word: String) -> (doubly: Option<Option<usize>>, shown: String) {
        start >> doubly >> show_doubly >> end;
    }
}

#[node(writes = shown)]
fn show_content(given: Option<&u8>, name: Option<&str>) -> String {
    format!("{given:?} {name:?}")
}

#[node(writes = shown)]
fn take_content(given: Option<u8>, name: Option<String>, shown: String) -> String {
    format!("{shown} {given:?} {name:?}")
}

flow! {
    Contents(given: Option<Option<u8>>, name: Option<Option<String>>) -> (shown: String) {
        start >> [show_content] >> take_content >> end;
    }
}

#[tokio::test]
async fn an_option_in_an_option_is_read_as_its_content() {
    for given in [None, Some(None), Some(Some(3))] {
        let name = given.map(|given| given.map(|_| "Ann".to_owned()));
        let content = format!("{:?} {:?}", given.flatten(), name.clone().flatten());
        let output = Contents::new().run(ContentsInput { given, name }).await;
        assert_eq!(output.unwrap().shown, format!("{content} {content}"));
    }
    for word in ["", "x", "abc"] {
        let input = DoublyInput { word: word.into() };
        let output = Doubly::new().run(input).await.unwrap();
        assert_eq!(output.doubly, doubly(word));
        assert_eq!(output.shown, format!("{:?}", doubly(word)));
    }
}

#[tokio::test]
async fn an_option_in_an_option_keeps_both() {
    for given in [None, Some(None), Some(Some(3))] {
        let output = Given::new().run(GivenInput { given }).await.unwrap();
        assert_eq!(output.shown, format!("{given:?}"));
        let output = Taken::new().run(TakenInput { given }).await.unwrap();
        assert_eq!(output.shown, format!("{given:?}"));
        let output = Twice::new().run(TwiceInput { given }).await.unwrap();
        assert_eq!((output.given, output.shown), (given, format!("{given:?}")));
    }
    let words = [("skip", None), ("", Some(None)), ("abc", Some(Some(3)))];
    for (word, found) in words {
        let word = word.to_owned();
        let input = PerhapsInput { word: word.clone() };
        assert_eq!(Perhaps::new().run(input).await.unwrap().found, found);
        let input = OuterInput { word: word.clone() };
        assert_eq!(Outer::new().run(input).await.unwrap().found, found);
        let input = ShownInput { word: word.clone() };
        assert_eq!(
            Shown::new().run(input).await.unwrap().shown,
            format!("{found:?}")
        );
        let input = TakenLaterInput { word };
        assert_eq!(
            TakenLater::new().run(input).await.unwrap().shown,
            format!("{found:?}")
        );
    }
    for (word, found) in [("", Some(None)), ("abc", Some(Some(3)))] {
        let input = FoundInput { word: word.into() };
        assert_eq!(Found::new().run(input).await.unwrap().found, found);
    }
}

flow_law::law! {
    nodes: [found, show, show_taken, way, show_found, take_found, doubly, show_doubly, show_content, take_content],
    flows: [
        Given,
        Taken,
        Twice,
        Found,
        Perhaps,
        Shown,
        TakenLater,
        Outer,
        Doubly,
    ],
    left_out: [Contents],
}
