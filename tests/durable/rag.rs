//! Documents and questions that are stopped anywhere: nothing is asked again whose answer is recorded, and
//! nothing is kept twice.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flow_agents::agent::{CallTool, Listen, MessageQueue, Think, count_failures};
use flow_agents::rag::{
    Answer, AnswerByAgent, AnswerInput, Cite, Index, IndexInput, Keep, MemoryPassages, Passage,
    Passages as _, RemoveOld, Retrieve, Rewrite, Split, answer_of, tell_passages, tell_question,
};
use flow_agents::{
    BagOfWords, Chat, Embedded, Embedding, Message, Messages, Model, ModelError, Reply, Request,
    Stop, Tools, Usage,
};
use flow_durable::{Record, RecordKind, Runtime, StartOptions, Status};
use flow_runtime::prelude::*;

use crate::prefixes::the_same_from_everywhere;
use crate::support::{options, store};

thread_local! {
    /// How often the embedding was asked.
    static EMBEDDED: Cell<usize> = const { Cell::new(0) };
    /// How often the model was asked.
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

struct Counted;

#[async_trait]
impl Embedding for Counted {
    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        EMBEDDED.set(EMBEDDED.get() + 1);
        tokio::time::sleep(Duration::from_millis(30)).await;
        BagOfWords::new(64).embed(texts).await
    }
}

struct Librarian;

#[async_trait]
impl Model for Librarian {
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        ASKED.set(ASKED.get() + 1);
        tokio::time::sleep(Duration::from_millis(30)).await;
        let asked = request.messages.first().map(Message::text);
        let rewrites = asked.is_some_and(|asked| asked.starts_with("Write the last question"));
        let answer = if rewrites {
            "trains"
        } else {
            "By train [a#0]."
        };
        Ok(Reply::new(answer, Vec::new(), Usage::new(5, 2), Stop::Done))
    }
}

fn index() -> Index {
    Index::of(Counted, MemoryPassages::new())
}

/// Three groups of passages.
fn document() -> IndexInput {
    IndexInput {
        source: "a".to_owned(),
        text: "Trains are paid. ".repeat(16_000),
    }
}

#[tokio::test(start_paused = true)]
async fn a_document_that_is_kept_and_stopped_anywhere_is_kept_whole() {
    let output = the_same_from_everywhere(index, document, |_| None).await;
    // More than one group of passages.
    assert!(output["number"].as_u64() > Some(200), "{output}");
}

fn answer(passages: &Arc<MemoryPassages>) -> Answer {
    Answer::of(Librarian, Counted, Arc::clone(passages))
}

async fn kept() -> Arc<MemoryPassages> {
    let passages = Arc::new(MemoryPassages::new());
    let text = "Trains are paid in second class.".to_owned();
    let vectors = Counted
        .embed(std::slice::from_ref(&text))
        .await
        .unwrap()
        .vectors;
    let passage = Passage {
        source: "a".to_owned(),
        place: 0,
        text,
    };
    let kept: Vec<_> = std::iter::once(passage).zip(vectors).collect();
    passages.add(&kept).await.unwrap();
    passages
}

fn question() -> AnswerInput {
    let history = Messages::from_iter([Message::user("Hello."), Message::assistant("Hello.")]);
    let question = AnswerInput::builder().question("And how?".to_owned());
    question.history(history).build()
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_stopped_anywhere_has_the_same_answer() {
    let passages = kept().await;
    let output = the_same_from_everywhere(|| answer(&passages), question, |_| None).await;
    assert_eq!(
        output["citations"][0]["text"],
        "Trains are paid in second class."
    );
}

/// How many steps of these names have an outcome up to a record.
fn done(journal: &[Record], seq: u64, steps: &[&str]) -> usize {
    let before = journal
        .iter()
        .filter(|it| it.seq <= seq && it.kind == RecordKind::Outcome);
    before
        .filter(|it| steps.iter().any(|step| it.step.contains(step)))
        .count()
}

#[tokio::test(start_paused = true)]
async fn each_vector_and_each_answer_is_asked_for_once_whichever_record_was_the_last() {
    let passages = kept().await;
    let runtime = Runtime::with_options(store(), options());
    runtime.register(index()).unwrap();
    runtime.register(answer(&passages)).unwrap();
    runtime.recover().await.unwrap();
    EMBEDDED.set(0);
    let read = runtime
        .executions()
        .start::<Index>(document(), StartOptions::new());
    let read = read.await.unwrap().settled().await.unwrap();
    let asked = runtime
        .executions()
        .start::<Answer>(question(), StartOptions::new());
    let asked = asked.await.unwrap().settled().await.unwrap();
    assert_eq!((EMBEDDED.take(), ASKED.take()), (4, 2));
    for (first, vectors, answers) in [(read, 3, 0), (asked, 1, 2)] {
        let journal = first.journal().await.unwrap();
        for record in &journal {
            let copy = runtime
                .executions()
                .copy(first.id(), record.seq)
                .await
                .unwrap();
            let copy = copy.settled().await.unwrap();
            assert_eq!(copy.status(), Status::Completed);
            let left = (
                vectors - done(&journal, record.seq, &[".kept", ".retrieve"]).min(vectors),
                answers - done(&journal, record.seq, &[".rewrite", ".chat"]),
            );
            assert_eq!((EMBEDDED.take(), ASKED.take()), left, "after {record:?}");
        }
    }
}

fn by_agent() -> AnswerByAgent {
    AnswerByAgent::of(Librarian, Tools::new(), MemoryPassages::new())
}

flow! {
    Answers(question: String, with_passages: bool, with_citations: bool) -> (
        answer: Option<String>,
        unfounded: Option<Vec<String>>,
    ) {
        node answer: Answer;
        start >> answer >> end;
        answer - "nothing" >> end("nothing");
    }
}

flow! {
    AnswersByAgent(question: String, with_citations: bool) -> (
        answer: Option<String>,
        unfounded: Option<Vec<String>>,
        turns: u32,
    ) {
        node answer: AnswerByAgent;
        start >> answer >> end;
        answer - "incomplete" >> end("incomplete");
        answer - "limit"      >> end("limit");
        answer - "budget"     >> end("budget");
    }
}

fn answers() -> Answers {
    let answer = answer(&Arc::new(MemoryPassages::new()));
    Answers::builder().answer(answer).build()
}

fn answers_by_agent() -> AnswersByAgent {
    AnswersByAgent::builder().answer(by_agent()).build()
}

flow_law::law! {
    nodes: [
        Split = Split::new(),
        Keep = Keep::new(Counted, MemoryPassages::new()),
        RemoveOld = RemoveOld::new(MemoryPassages::new()),
        Rewrite = Rewrite::new(Librarian),
        Retrieve = Retrieve::new(Counted, MemoryPassages::new()),
        Chat = Chat::new(Librarian),
        Cite = Cite::new(MemoryPassages::new()),
        Think = Think::new(Librarian, Tools::new()),
        CallTool = CallTool::new(Tools::new()),
        Listen = Listen::to(MessageQueue::new()),
        answer_of,
        count_failures,
        tell_passages,
        tell_question,
    ],
    flows: [Answers(answers()), AnswersByAgent(answers_by_agent()), Index(index())],
    registries: [crate::agents::adds_messages()],
    types: [Passage],
    left_out: [Answer, AnswerByAgent],
}
