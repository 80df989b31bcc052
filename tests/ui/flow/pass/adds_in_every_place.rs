// Additions by an action, a mapping, an inner flow, a question, a loop and branches of a fork.
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Action)]
enum Found { Some { #[action(add)] notes: Vec<String>, #[action(add)] cost: u64 }, Nothing }
#[node(actions = Found)]
fn search(topic: &str) -> Found {
    if topic.is_empty() { Found::Nothing } else { Found::Some { notes: vec![topic.to_owned()], cost: 1 } }
}
#[node]
fn look_up(topic: &str) -> Option<String> { Some(topic.to_owned()) }
#[node]
fn sum_up(topic: &str) -> String { topic.to_uppercase() }
#[node(writes = +cost)]
fn length(line: &str) -> u64 { line.len() as u64 }
#[node(writes = +notes)]
fn remark(notes: &[String]) -> String { notes.len().to_string() }
#[node]
fn count(notes: &[String]) -> usize { notes.len() }

#[node(human = "What else about {topic}?", writes = +answers)]
#[derive(Serialize, Deserialize)]
pub struct Answer { text: String }

flow! { Inner(topic: String) -> (sum_up: String) { start >> sum_up >> end; } }
flow! {
    pub Research(topic: String, lines: Vec<String>)
        -> (notes: Option<Vec<String>>, cost: Option<u64>, answers: Vec<Answer>, count: usize)
    {
        node look_up: look_up { look_up -> +notes };
        node inner: Inner { sum_up -> +notes };
        node lengths: for line in lines { length };
        node remarks: for line in lines { sum_up { topic <- line, sum_up -> +notes } };
        start >> search;
        search - "some" >> look_up;
        search - "nothing" >> look_up;
        look_up >> inner >> [remark >> count, lengths >> remarks] >> Answer >> end;
    }
}

fn main() {
    let _: fn(ResearchOutput) -> Option<u64> = |output| {
        let texts = output.answers.iter().map(|answer| answer.text.len()).sum::<usize>();
        output.cost.filter(|_| texts + output.count > 0 && output.notes.is_some())
    };
}
