//! One of several processes that ask a store at random: `flow-histories FILE NUMBER SEED WORLDS
//! CALLS BEGIN_NS`. In each of the worlds they begin together. Prints what it asked, and what it
//! was answered.

use flow_sqlite::{Durability, SqliteOptions, SqliteStore};
use std::error::Error;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flow_histories::{Caller, Line, World};

use futures_executor::block_on;

/// How long a world lasts.
const TURN: Duration = Duration::from_millis(15);

fn now_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, number, seed, worlds, calls, begin_ns] = &arguments[..] else {
        return Err("FILE NUMBER SEED WORLDS CALLS BEGIN_NS".into());
    };
    let (number, seed, calls): (u8, u64, usize) = (number.parse()?, seed.parse()?, calls.parse()?);
    let options = SqliteOptions::new().durability(Durability::Normal);
    let store = block_on(SqliteStore::open_with(file, options))?;
    let mut lines = Vec::new();
    let mut begin = Duration::from_nanos(begin_ns.parse()?);
    for world in 0..worlds.parse()? {
        begin += TURN;
        sleep(begin.saturating_sub(Duration::from_nanos(now_ns())));
        let mut caller = Caller::new(number, seed + world);
        for _ in 0..calls {
            let call = caller.next_call();
            let asked_ns = now_ns();
            let answer = block_on(call.ask(&store, World::alone(world)));
            let answered_ns = now_ns();
            caller.learn(&call, &answer);
            lines.push(Line {
                world,
                call,
                asked_ns,
                answer: answer.text,
                answered_ns,
            });
        }
    }
    // Only now: who has to wait for a reader would fall behind the others.
    for line in lines {
        println!("{}", serde_json::to_string(&line)?);
    }
    Ok(())
}
