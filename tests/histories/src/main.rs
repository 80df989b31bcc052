//! One of several processes that ask a store at random: `flow-histories STORE NUMBER SEED WORLDS
//! CALLS BEGIN_NS TURN_MS`. In each of the worlds, which last for a turn, they begin together. Prints
//! what it asked, and what it was answered.

use std::error::Error;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flow_histories::{Asks, Caller, Line, World, store_at};

fn now_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [place, number, seed, worlds, calls, begin_ns, turn_ms] = &arguments[..] else {
        return Err("STORE NUMBER SEED WORLDS CALLS BEGIN_NS TURN_MS".into());
    };
    let (number, seed, calls): (u8, u64, usize) = (number.parse()?, seed.parse()?, calls.parse()?);
    let turn = Duration::from_millis(turn_ms.parse()?);
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let store = tokio.block_on(store_at(place))?;
    let mut lines = Vec::new();
    let mut begin = Duration::from_nanos(begin_ns.parse()?);
    for world in 0..worlds.parse()? {
        begin += turn;
        sleep(begin.saturating_sub(Duration::from_nanos(now_ns())));
        let mut caller = Caller::new(number, seed + world, Asks::of(place));
        for _ in 0..calls {
            let call = caller.next_call();
            let asked_ns = now_ns();
            let answer = tokio.block_on(call.ask(&store, World::alone(world)));
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
