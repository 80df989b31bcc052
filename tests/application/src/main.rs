//! Uses the nodes and the flow of another crate: by path, imported, renamed, re-exported, and as a
//! node.

use flow_runtime::prelude::*;
use flow_tests_library::nodes::{Topic, classify as find_topic};
use flow_tests_library::{Desk, DeskEnd, DeskInput, Lookup, reply};

/// Shouts where the library would answer.
#[node(writes = answer)]
fn shout(question: &str) -> String {
    question.to_uppercase()
}

flow! {
    /// The library's nodes, wired otherwise.
    OwnDesk(question: String) -> (answer: String, format: String) {
        node book: Lookup = Lookup::new([("rust", "a language")]);
        start >> find_topic;
        find_topic - "known" >> book >> reply >> flow_tests_library::nodes::style::format >> end;
        find_topic - "unknown" >> shout >> flow_tests_library::nodes::style::format;
        book - "error" >> shout;
    }
}

flow! {
    /// The library's flow as a node.
    FrontOffice(visitor: String, question: String) -> (letter: String) {
        node desk: Desk;
        start >> desk >> sign >> end;
        desk - "not_found" >> flow_tests_library::classify;
        flow_tests_library::classify - "known" >> sign;
        flow_tests_library::classify - "unknown" >> sign;
    }
}

#[node(writes = letter)]
fn sign(visitor: &str, answer: &str, term: Option<&str>) -> String {
    match term {
        None => format!("{visitor}, {answer}"),
        Some(term) => format!("{visitor}, {answer} (asked for {term})"),
    }
}

async fn front_office(question: &str) -> Result<String, FlowError> {
    let desk = Desk::builder()
        .book(Lookup::new([("rust", "a language")]))
        .build();
    let office = FrontOffice::builder().desk(desk).build();
    let input = FrontOfficeInput::builder()
        .visitor("Ann".into())
        .question(question.into())
        .build();
    Ok(office.run(input).await?.letter)
}

async fn own_desk(question: &str) -> Result<String, FlowError> {
    let input = OwnDeskInput::builder().question(question.into()).build();
    Ok(OwnDesk::new().run(input).await?.format)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FlowError> {
    println!("{}", front_office("what is rust?").await?);
    println!("{}", own_desk("who are you?").await?);

    let desk = Desk::builder().book(Lookup::default()).build();
    let out = desk
        .run(
            DeskInput::builder()
                .question("what is rust?".into())
                .build(),
        )
        .await?;
    assert_eq!(out.end, DeskEnd::NotFound);
    assert_eq!(find_topic("who?"), Topic::Other);
    println!("{}", out.answer);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_nodes_of_another_crate_are_wired() {
        assert_eq!(
            own_desk("what is rust?").await.unwrap(),
            "> what is rust? It is a language."
        );
        assert_eq!(own_desk("what is go?").await.unwrap(), "> WHAT IS GO?");
        assert_eq!(own_desk("who?").await.unwrap(), "> WHO?");
    }

    #[tokio::test]
    async fn the_flow_of_another_crate_is_a_node() {
        for (question, letter) in [
            ("what is rust?", "Ann, what is rust? It is a language."),
            (
                "what is go?",
                "Ann, what is go? Sorry: no entry for `go`. (asked for go)",
            ),
            ("who?", "Ann, who? Nobody knows."),
        ] {
            assert_eq!(front_office(question).await.unwrap(), letter);
        }
    }

    #[test]
    fn a_renamed_node_is_named_as_it_is_used() {
        let names: Vec<_> = OwnDeskNode::ALL.iter().map(|node| node.as_str()).collect();
        assert_eq!(names, ["book", "find_topic", "reply", "format", "shout"]);
    }

    #[test]
    fn the_program_runs() {
        main().unwrap();
    }
}
