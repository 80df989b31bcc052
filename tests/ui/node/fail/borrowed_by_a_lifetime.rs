use std::borrow::Cow;
use flow_runtime::prelude::*;

struct Page<'a>(&'a str);

#[node]
fn page<'a>(text: &'a str) -> Page<'a> { Page(text) } //~
#[node]
fn short(text: &str) -> Cow<'_, str> { text.into() } //~
#[node]
fn show(short: &str) -> usize { short.len() }
#[node]
fn boxed() -> std::pin::Pin<Box<dyn Future<Output = u64> + Send>> { Box::pin(async { 1 }) } //~

flow! { Pages(text: String) { start >> page >> short >> show >> boxed >> end; } }

fn main() {}
