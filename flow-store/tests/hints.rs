//! Hints over a channel in memory, at a paused clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flow_store::hints::{Channel, Heard, Hints, Unheard, Written};
use flow_store::{Change, Changes};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout};

const RECORDS: Written = Written {
    records: true,
    work: false,
};
const WORK: Written = Written {
    records: false,
    work: true,
};

/// Passes on what is sent to all that listen.
#[derive(Default)]
struct Bus {
    listeners: Mutex<Vec<UnboundedSender<String>>>,
    sent: Mutex<Vec<String>>,
    /// Whether what is sent arrives nowhere.
    is_deaf: AtomicBool,
}

impl Bus {
    fn cut_off(&self) {
        self.listeners.lock().unwrap().clear();
    }

    /// What was sent, without the tests.
    fn told(&self) -> Vec<String> {
        let sent = self.sent.lock().unwrap();
        let hints = sent.iter().filter(|text| !text.starts_with("test"));
        hints.cloned().collect()
    }
}

#[derive(Clone, Default)]
struct OnBus(Arc<Bus>);

#[async_trait]
impl Channel for OnBus {
    async fn send(&self, text: &str) {
        self.0.sent.lock().unwrap().push(text.to_owned());
        if !self.0.is_deaf.load(Ordering::SeqCst) {
            let mut listeners = self.0.listeners.lock().unwrap();
            listeners.retain(|to| to.send(text.to_owned()).is_ok());
        }
    }

    async fn listen(&self) -> Result<Heard, Unheard> {
        let (to, texts) = unbounded_channel();
        self.0.listeners.lock().unwrap().push(to);
        Ok(Heard::new(texts, ()))
    }
}

async fn next(changes: &mut Box<dyn Changes>) -> Change {
    let next = timeout(Duration::from_secs(3600), changes.next()).await;
    next.expect("a change is told of")
}

async fn is_quiet(changes: &mut Box<dyn Changes>, seconds: u64) {
    let next = timeout(Duration::from_secs(seconds), changes.next()).await;
    assert!(next.is_err(), "{next:?}");
}

const LIVE: Change = Change {
    records: true,
    work: true,
    is_live: true,
};

#[tokio::test(start_paused = true)]
async fn many_writes_are_told_by_one_text() {
    let bus = OnBus::default();
    let (writer, reader) = (Hints::new(bus.clone()), Hints::new(bus.clone()));
    let mut changes = reader.changes();
    assert_eq!(next(&mut changes).await, LIVE);
    let began = Instant::now();
    for _ in 0..100 {
        writer.tell(RECORDS);
    }
    let told = next(&mut changes).await;
    assert_eq!((told.records, told.work), (true, false));
    assert_eq!(began.elapsed(), Duration::from_millis(10));
    writer.tell(RECORDS);
    writer.tell(WORK);
    let told = next(&mut changes).await;
    assert_eq!((told.records, told.work), (true, true));
    assert_eq!(bus.0.told().len(), 2);
    is_quiet(&mut changes, 600).await;
}

#[tokio::test(start_paused = true)]
async fn who_hears_nothing_is_not_live_and_tries_again_in_a_minute() {
    let bus = OnBus::default();
    bus.0.is_deaf.store(true, Ordering::SeqCst);
    let hints = Hints::new(bus.clone());
    let mut changes = hints.changes();
    is_quiet(&mut changes, 60).await;
    let tests = bus.0.sent.lock().unwrap().len();
    assert_eq!(tests, 1);
    bus.0.is_deaf.store(false, Ordering::SeqCst);
    let began = Instant::now();
    assert_eq!(next(&mut changes).await, LIVE);
    assert!(began.elapsed() <= Duration::from_secs(6));
    // It goes deaf: the next test says so.
    bus.0.is_deaf.store(true, Ordering::SeqCst);
    assert!(!next(&mut changes).await.is_live);
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_made_again_in_a_second() {
    let bus = OnBus::default();
    let hints = Hints::new(bus.clone());
    let mut changes = hints.changes();
    assert_eq!(next(&mut changes).await, LIVE);
    let began = Instant::now();
    bus.0.cut_off();
    assert!(!next(&mut changes).await.is_live);
    // What came meanwhile was not heard.
    assert_eq!(next(&mut changes).await, LIVE);
    assert_eq!(began.elapsed(), Duration::from_secs(1));
}

/// What another runtime has not sent any more keeps nobody from sending.
#[test]
fn the_end_of_a_tokio_runtime_leaves_hints_to_the_next_one() {
    let bus = OnBus::default();
    let hints = Hints::new(bus.clone());
    let runtime = || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().start_paused(true).build().unwrap()
    };
    // Its task never begins.
    runtime().block_on(async { hints.tell(WORK) });
    // And here it does not come to its end.
    runtime().block_on(async {
        hints.tell(WORK);
        tokio::task::yield_now().await;
    });
    assert_eq!(bus.0.told().len(), 0);
    runtime().block_on(async {
        hints.tell(RECORDS);
        tokio::time::sleep(Duration::from_secs(1)).await;
    });
    assert_eq!(bus.0.told(), ["1"]);
}
