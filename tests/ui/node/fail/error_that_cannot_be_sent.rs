use flow_runtime::prelude::*;
use std::error::Error;

#[node]
fn parse(text: &str) -> Result<u64, Box<dyn Error>> { Ok(text.parse()?) } //~

#[node]
async fn fetch(url: &str) -> Result<String, Box<dyn Error>> { Ok(url.parse()?) } //~

fn main() {}
