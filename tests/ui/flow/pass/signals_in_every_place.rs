use flow_runtime::{SignalSender, prelude::*};
use serde::{Deserialize, Serialize};
#[derive(Serialize, Deserialize)] #[node(signal)] pub struct Ping;
#[node(signal, timeout = "1h")] #[derive(Serialize, Deserialize)] pub struct Paid { cents: u64, by: String }
#[node(signal, writes = +moves)] #[derive(Clone, Serialize, Deserialize)] pub struct Move { street: String }
#[node(signal)] #[derive(Serialize, Deserialize)] pub enum Change { Stop { reason: String }, #[action("go")] On }
#[node] fn note(n: &u8) { let _ = n; }
flow! { Inner(n: u8) -> (reason: Option<String>) { start >> note >> Change - "stop" >> end; Change - "go" >> end("go"); } }
flow! {
    Outer(ns: Vec<u8>, n: u8, moves: Vec<Move>) -> (moves: Vec<Move>, all: Option<Vec<InnerOutput>>, by: Option<String>) {
        node second: signal self::Paid { cents -> price, by -> by } with timeout = "2h";
        node all: for n in ns { Inner }; node again: signal Ping;
        node next: first { Ping => "ping", Paid, wait(2d) => "late" };
        start >> Inner >> second >> [Move, again] >> all >> next - "ping" >> end;
        Inner - "go" >> second - "timeout" >> all; all - "error" >> next;
        next - "default" >> end("paid"); next - "late" >> end("late"); next - "timeout" >> end("timeout");
    }
}
fn main() { let _ = SignalSender::new(&Outer::new()).send(Ping); }
