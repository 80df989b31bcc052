//! Loops over flows whose results have no type in the program until a node reads them.

use flow_loader::registry;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support;

#[derive(Action, Serialize, Deserialize)]
enum Parity {
    Even { half: u32 },
    Odd,
}

#[node(actions = Parity)]
fn parity(number: &u32) -> Parity {
    match number % 2 {
        0 => Parity::Even { half: number / 2 },
        _ => Parity::Odd,
    }
}

#[node]
fn doubled(number: &u32) -> Result<u32, String> {
    if *number > 100 {
        return Err("too large".to_owned());
    }
    Ok(number * 2)
}

flow! {
    #[derive(Clone, Serialize, Deserialize)]
    Look(number: u32) -> (doubled: u32, half: Option<u32>) {
        start >> doubled >> parity;
        parity - "even" >> end;
        parity - "odd"  >> end("not_even");
    }
}

#[node]
fn told(looks: &[LookOutput]) -> Vec<String> {
    let looks = looks.iter();
    looks
        .map(|look| format!("{} {:?} {}", look.doubled, look.half, look.end))
        .collect()
}

#[node]
fn first(look: LookOutput) -> u32 {
    look.doubled
}

flow! {
    Looks(numbers: Vec<u32>) -> (looks: Vec<LookOutput>, told: Vec<String>, firsts: Vec<u32>) {
        node looks: for number in numbers { Look } with concurrency(2);
        node firsts: for look in looks { first };
        start >> looks >> told >> firsts >> end;
    }
}
law!(all_outputs_and_the_end: Looks::new(), Looks, registry![parity, doubled, told, first], [
    json!({ "numbers": [] }),
    json!({ "numbers": [1, 2, 3] }),
    json!({ "numbers": [1, 200] }),
]);

#[node]
fn failed(looks: &[Result<LookOutput, NodeError>]) -> Vec<String> {
    let errors = looks.iter().filter_map(|look| look.as_ref().err());
    errors.map(|error| format!("{error:#}")).collect()
}

flow! {
    AllLooks(numbers: Vec<u32>) -> (failed: Vec<String>, looks: Vec<Result<LookOutput, NodeError>>) {
        node looks: for number in numbers { Look } with collect_errors;
        start >> looks >> failed >> end;
    }
}
law!(errors_beside_outputs: AllLooks::new(), AllLooks, registry![parity, doubled, failed], [
    json!({ "numbers": [1, 200, 4] }),
]);

flow! {
    #[derive(Serialize, Deserialize)]
    Ends(number: u32) {
        start >> parity;
        parity - "even" >> end("even");
        parity - "odd"  >> end("odd");
    }
}

flow! {
    AllEnds(numbers: Vec<u32>) -> (ends: Vec<EndsOutput>) {
        node ends: for number in numbers { Ends };
        start >> ends >> end;
    }
}
law!(the_end_alone: AllEnds::new(), AllEnds, registry![parity], [json!({ "numbers": [1, 2] })]);

flow! {
    Half(number: u32) -> (half: Option<u32>) {
        start >> parity;
        parity - "even" >> end;
        parity - "odd"  >> end;
    }
}

#[node]
fn halved(halves: &[Option<u32>]) -> usize {
    halves.iter().flatten().count()
}

flow! {
    Halved(numbers: Vec<u32>) -> (halves: Vec<Option<u32>>, halved: usize) {
        node halves: for number in numbers { Half };
        start >> halves >> halved >> end;
    }
}
law!(values_that_may_be_missing: Halved::new(), Halved, registry![parity, halved], [
    json!({ "numbers": [1, 2, 3, 4] }),
]);

#[node]
fn checked(number: &u32) -> Result<(), String> {
    match number {
        0 => Err("nothing".to_owned()),
        _ => Ok(()),
    }
}

flow! {
    Check(number: u32) {
        start >> checked >> end;
    }
}

flow! {
    Checks(numbers: Vec<u32>) -> (checks: Vec<Result<(), NodeError>>) {
        node checks: for number in numbers { Check } with collect_errors;
        start >> checks >> end;
    }
}
law!(errors_of_flows_without_outputs: Checks::new(), Checks, registry![checked], [
    json!({ "numbers": [1, 0] }),
]);

flow! {
    Row(numbers: Vec<u32>) -> (row: Vec<u32>) {
        node row: for number in numbers { doubled };
        start >> row >> end;
    }
}

flow! {
    Sheet(rows: Vec<Vec<u32>>) -> (sheet: Vec<Vec<u32>>) {
        node sheet: for numbers in rows { Row };
        start >> sheet >> end;
    }
}

flow! {
    Book(sheets: Vec<Vec<Vec<u32>>>) -> (book: Vec<Vec<Vec<u32>>>) {
        node book: for rows in sheets { Sheet };
        start >> book >> end;
    }
}

#[node]
fn pages(book: &[Vec<Vec<u32>>]) -> usize {
    book.len()
}

#[node]
fn cells(shelf: &[Vec<Vec<Vec<u32>>>]) -> usize {
    shelf.iter().flatten().flatten().flatten().count()
}

flow! {
    Shelf(books: Vec<Vec<Vec<Vec<u32>>>>, one: Vec<Vec<Vec<u32>>>) -> (cells: usize, pages: usize) {
        node shelf: for sheets in books { Book };
        node read: Book { sheets <- one };
        start >> shelf >> cells >> read >> pages >> end;
    }
}
law!(lists_of_any_depth: Shelf::new(), Shelf, registry![doubled, cells, pages], [
    json!({ "books": [[[[1, 2], []], []], []], "one": [[[1]], []] }),
]);
