//! What `#[node(blocking)]` gains: eight items of the same work, one at a time and eight at a time.
//! With n idle cores, eight at a time take about 1/n of the time, down to an eighth. Plain threads
//! show what the machine can give just now.

use std::error::Error;
use std::hint::black_box;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use flow_runtime::prelude::*;

const ROUNDS: usize = 10;

/// Keeps one core busy, and needs no memory to speak of.
#[node(blocking)]
fn spin(seed: u64) -> u64 {
    (0..black_box(100_000_000)).fold(seed, |state, step| {
        state.rotate_left(5).wrapping_mul(31) ^ step
    })
}

flow! {
    OneAtATime(seeds: Vec<u64>) -> (sums: Vec<u64>) {
        node sums: for seed in seeds { spin } with concurrency(1);
        start >> sums >> end;
    }
}

flow! {
    EightAtATime(seeds: Vec<u64>) -> (sums: Vec<u64>) {
        node sums: for seed in seeds { spin } with concurrency(8);
        start >> sums >> end;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let seeds: Vec<u64> = (1..=8).collect();
    let [mut one, mut eight, mut threads] = [Duration::MAX; 3];
    // In turns, so that what else the machine does falls on all alike.
    for _ in 0..ROUNDS {
        let input = OneAtATimeInput {
            seeds: seeds.clone(),
        };
        let began = Instant::now();
        let first = OneAtATime::new().run(input).await?;
        one = one.min(began.elapsed());

        let input = EightAtATimeInput {
            seeds: seeds.clone(),
        };
        let began = Instant::now();
        let second = EightAtATime::new().run(input).await?;
        eight = eight.min(began.elapsed());

        let began = Instant::now();
        std::thread::scope(|scope| {
            for &seed in &seeds {
                scope.spawn(move || black_box(spin(seed)));
            }
        });
        threads = threads.min(began.elapsed());

        assert_eq!(first.sums, second.sums);
    }
    println!("cores            {:>8}", available_parallelism()?);
    for (what, time) in [
        ("one at a time", one),
        ("eight at a time", eight),
        ("eight threads", threads),
    ] {
        let ratio = time.as_secs_f64() / one.as_secs_f64();
        println!(
            "{what:<16} {:>8.1} ms  {ratio:.2}",
            time.as_secs_f64() * 1000.0
        );
    }
    Ok(())
}
