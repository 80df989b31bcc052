//! Ledgers: what each of them has to do.

use std::time::{Duration, SystemTime};

use flow_agents::{Account, Budget, Day, Ledger, Limit, MemoryLedger, Money, Spent, Usage};
use proptest::prelude::*;

fn money(text: &str) -> Money {
    text.parse().unwrap()
}

#[test]
fn a_day_is_that_of_utc() {
    let last = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * 365 - 1);
    assert_eq!(Day::utc(last), Day(364));
    assert_eq!(Day::utc(last + Duration::from_secs(1)), Day(365));
}

fn spent(calls: u64, tokens: u64) -> Spent {
    let mut spent = Spent::default();
    for _ in 0..calls {
        spent.add(Usage::new(tokens, 1), money("0.5"));
    }
    spent
}

/// What each ledger has to do.
pub(crate) async fn check_ledger(ledger: &impl Ledger) {
    let (ann, later) = (Account::new("ann", Day(1)), Account::new("ann", Day(2)));
    let bob = Account::new("bob", Day(1));
    let budget = Budget::new().calls(2);
    let total = async |account| ledger.spent(account).await.unwrap();
    assert_eq!(total(&ann).await, Spent::default());

    ledger
        .reserve(&ann, "a", spent(1, 0), &budget)
        .await
        .unwrap();
    ledger
        .reserve(&ann, "b", spent(1, 0), &budget)
        .await
        .unwrap();
    let error = ledger
        .reserve(&ann, "c", spent(1, 0), &budget)
        .await
        .unwrap_err();
    let over = error.over_budget().unwrap();
    assert_eq!((over.limit, over.spent), (Limit::Calls(2), spent(2, 0)));
    // A step that is repeated has the place that it had.
    ledger
        .reserve(&ann, "b", spent(1, 5), &budget)
        .await
        .unwrap();
    assert_eq!(total(&ann).await.usage, Usage::new(5, 2));

    let mut used = spent(1, 70);
    used.usage.cached_input_tokens = 30;
    used.time = Duration::from_micros(1500);
    for _ in 0..2 {
        ledger.settle(&ann, "a", used).await.unwrap();
        let mut sum = spent(1, 5);
        sum += used;
        assert_eq!(total(&ann).await, sum);
    }
    // While it is repeated, what it used stays counted.
    ledger
        .reserve(&ann, "a", spent(1, 8), &budget)
        .await
        .unwrap();
    let mut sum = spent(1, 5);
    sum += used;
    assert_eq!(total(&ann).await, sum);
    ledger.settle(&ann, "b", Spent::default()).await.unwrap();
    assert_eq!(total(&ann).await, used);
    // It is not forgotten if it fails then, without an answer.
    ledger.settle(&ann, "a", spent(1, 0)).await.unwrap();
    ledger.settle(&ann, "a", Spent::default()).await.unwrap();
    assert_eq!(total(&ann).await, used);
    ledger
        .reserve(&ann, "c", spent(1, 0), &budget)
        .await
        .unwrap();

    ledger
        .reserve(&bob, "a", spent(1, 1), &budget)
        .await
        .unwrap();
    ledger
        .reserve(&later, "a", spent(1, 2), &budget)
        .await
        .unwrap();
    ledger
        .settle(&later, "never reserved", spent(1, 3))
        .await
        .unwrap();
    assert_eq!(
        (total(&bob).await, total(&later).await.usage),
        (spent(1, 1), Usage::new(5, 2))
    );
    assert_eq!(total(&ann).await.calls, 2);
}

#[tokio::test]
async fn a_ledger_in_memory_replaces_entries_and_checks_the_others() {
    check_ledger(&MemoryLedger::new()).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_reserved_for_somebody_who_has_died_is_given_back() {
    let ledger = MemoryLedger::new();
    let (ann, budget) = (Account::new("ann", Day(1)), Budget::new().calls(1));
    let reserved = async |entry| ledger.reserve(&ann, entry, spent(1, 9), &budget).await;
    reserved("a").await.unwrap();
    tokio::time::advance(Duration::from_secs(3_599)).await;
    assert!(reserved("b").await.unwrap_err().over_budget().is_some());
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(ledger.spent(&ann).await.unwrap(), Spent::default());
    reserved("b").await.unwrap();
    // Whoever was only slow counts all the same.
    ledger.settle(&ann, "a", spent(1, 5)).await.unwrap();
    assert_eq!(ledger.spent(&ann).await.unwrap().calls, 2);
}

#[derive(Debug, Clone)]
enum Step {
    Reserve { entry: u8, calls: u64 },
    Settle { entry: u8, calls: u64 },
    Wait { seconds: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..5_u8, 1..4_u64).prop_map(|(entry, calls)| Step::Reserve { entry, calls }),
        (0..5_u8, 0..4_u64).prop_map(|(entry, calls)| Step::Settle { entry, calls }),
        (0..8_u64).prop_map(|seconds| Step::Wait { seconds }),
    ];
    prop::collection::vec(step, 1..40)
}

/// What an entry is in the law: the calls that were used, and those that are reserved until a time.
#[derive(Default, Clone, Copy)]
struct Lawful {
    settled: Option<u64>,
    reserved: Option<(u64, u64)>,
}

impl Lawful {
    fn counted(self, now: u64) -> u64 {
        let reserved = self.reserved.filter(|(_, until)| now < *until);
        let settled = self.settled.unwrap_or_default();
        settled.max(reserved.map_or(0, |(calls, _)| calls))
    }
}

/// What is counted is what was used, and what was reserved less than ten seconds ago.
async fn check_law<L: Ledger>(ledger: &L, steps: &[Step], wait: impl AsyncFn(u64)) {
    const BUDGET: u64 = 6;
    let (mut entries, mut now) = ([Lawful::default(); 5], 0);
    let ann = Account::new("ann", Day(1));
    let budget = Budget::new().calls(BUDGET);
    for step in steps {
        match *step {
            Step::Wait { seconds } => {
                now += seconds;
                wait(seconds).await;
            }
            Step::Settle { entry, calls } => {
                let id = entry.to_string();
                ledger.settle(&ann, &id, spent(calls, 1)).await.unwrap();
                let before = entries[usize::from(entry)].settled.unwrap_or_default();
                entries[usize::from(entry)] = Lawful {
                    settled: Some(calls.max(before)),
                    reserved: None,
                };
            }
            Step::Reserve { entry, calls } => {
                let id = entry.to_string();
                let reserved = ledger.reserve(&ann, &id, spent(calls, 1), &budget).await;
                let lawful = entries[usize::from(entry)];
                let all: u64 = entries.iter().map(|entry| entry.counted(now)).sum();
                let is_allowed = all - lawful.counted(now) < BUDGET;
                assert_eq!(reserved.is_ok(), is_allowed, "{step:?} in {steps:?}");
                if is_allowed {
                    let calls = calls.max(lawful.counted(now));
                    entries[usize::from(entry)].reserved = Some((calls, now + 10));
                }
            }
        }
        let all: u64 = entries.iter().map(|entry| entry.counted(now)).sum();
        let found = ledger.spent(&ann).await.unwrap().calls;
        assert_eq!(found, all, "after {step:?} in {steps:?}");
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_ledger_in_memory_counts_what_was_used_and_what_is_reserved(steps in steps()) {
        block_on(async {
            let ledger = MemoryLedger::new().give_back_after(Duration::from_secs(10));
            let wait = async |seconds| tokio::time::advance(Duration::from_secs(seconds)).await;
            check_law(&ledger, &steps, wait).await;
        });
    }
}

#[cfg(feature = "sqlite")]
mod file {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use flow_agents::{BudgetError, SqliteLedger};
    use futures_util::future::join_all;

    use super::*;

    fn opened(path: &Path, now: &Arc<AtomicU64>) -> SqliteLedger {
        let now = Arc::clone(now);
        let clock =
            move || SystemTime::UNIX_EPOCH + Duration::from_secs(now.load(Ordering::SeqCst));
        let ledger = SqliteLedger::open(path).unwrap().clock(clock);
        ledger.give_back_after(Duration::from_secs(10))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]

        #[test]
        fn a_ledger_in_a_file_counts_what_was_used_and_what_is_reserved(steps in steps()) {
            block_on(async {
                let folder = tempfile::tempdir().unwrap();
                let now = Arc::new(AtomicU64::new(1_000));
                let ledger = opened(&folder.path().join("spent.db"), &now);
                let wait = async |seconds| {
                    now.fetch_add(seconds, Ordering::SeqCst);
                };
                check_law(&ledger, &steps, wait).await;
            });
        }
    }

    /// The process that has reserved is gone, and another one opens the file.
    #[tokio::test]
    async fn what_another_process_has_reserved_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spent.db");
        let now = Arc::new(AtomicU64::new(1_000));
        let (ann, budget) = (Account::new("ann", Day(1)), Budget::new().calls(2));
        let died = opened(&path, &now);
        died.settle(&ann, "a", spent(1, 5)).await.unwrap();
        died.reserve(&ann, "a", spent(1, 9), &budget).await.unwrap();
        died.reserve(&ann, "b", spent(1, 9), &budget).await.unwrap();
        drop(died);
        let ledger = opened(&path, &now);
        let reserved = async || ledger.reserve(&ann, "c", spent(1, 0), &budget).await;
        assert!(reserved().await.unwrap_err().over_budget().is_some());
        now.fetch_add(10, Ordering::SeqCst);
        reserved().await.unwrap();
        assert_eq!(ledger.spent(&ann).await.unwrap().usage.input_tokens, 5);
    }

    #[tokio::test]
    async fn a_ledger_in_a_file_replaces_entries_and_checks_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spent.db");
        check_ledger(&SqliteLedger::open(&path).unwrap()).await;

        let again = SqliteLedger::open(&path).unwrap();
        let total = async |day| {
            let spent = again.spent(&Account::new("ann", Day(day))).await;
            spent.unwrap().calls
        };
        assert_eq!((total(1).await, total(2).await), (2, 2));
        again.forget_before(Day(2)).await.unwrap();
        assert_eq!((total(1).await, total(2).await), (0, 2));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn those_who_have_a_file_open_at_once_do_not_spend_the_same_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spent.db");
        let budget = Budget::new().calls(7);
        let ann = Account::new("ann", Day(1));
        let tasks = (0..5).map(|process| {
            let (path, ann) = (path.clone(), ann.clone());
            tokio::spawn(async move {
                let ledger = SqliteLedger::open(path).unwrap();
                let mut allowed = 0;
                for request in 0..4 {
                    let entry = format!("{process}/{request}");
                    match ledger.reserve(&ann, &entry, spent(1, 1), &budget).await {
                        Ok(()) => allowed += 1,
                        Err(error) => assert!(error.over_budget().is_some(), "{error:?}"),
                    }
                }
                allowed
            })
        });
        let allowed: Vec<u64> = join_all(tasks)
            .await
            .into_iter()
            .map(Result::unwrap)
            .collect();
        assert_eq!(allowed.iter().sum::<u64>(), 7, "{allowed:?}");
        let ledger = SqliteLedger::open(&path).unwrap();
        assert_eq!(ledger.spent(&ann).await.unwrap().calls, 7);
    }

    #[tokio::test]
    async fn the_largest_numbers_stay_the_largest() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = SqliteLedger::open(folder.path().join("spent.db")).unwrap();
        let ann = Account::new("ann", Day(u32::MAX));
        let mut most = spent(1, u64::MAX);
        most.money = Money::from_billionths(u64::MAX);
        most.time = Duration::MAX;
        ledger.settle(&ann, "a", most).await.unwrap();
        let over = async |budget: Budget| {
            let reserved = ledger.reserve(&ann, "b", spent(1, 1), &budget).await;
            reserved.unwrap_err().over_budget().is_some()
        };
        let billions = money("9000000000");
        assert!(over(Budget::new().money(billions)).await);
        assert!(over(Budget::new().input_tokens(1 << 62)).await);
        assert!(over(Budget::new().time(Duration::from_secs(1 << 33))).await);
    }

    fn refused(path: &Path) -> String {
        let error = SqliteLedger::open(path).unwrap_err();
        let BudgetError::Ledger { source } = error else {
            panic!("{error:?}")
        };
        source.to_string()
    }

    #[tokio::test]
    async fn a_file_of_another_version_or_program_is_refused_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spent.db");
        let ledger = SqliteLedger::open(&path).unwrap();
        ledger
            .settle(&Account::new("ann", Day(1)), "a", spent(1, 1))
            .await
            .unwrap();
        drop(ledger);
        let whole = std::fs::read(&path).unwrap();
        // Where the header of a file has its version and its program.
        for (place, reason) in [
            (
                63,
                "the file has the version 2, and this program knows the version 1",
            ),
            (71, "the file is a database of something else"),
        ] {
            let mut other = whole.clone();
            other[place] += 1;
            std::fs::write(&path, &other).unwrap();
            assert_eq!(refused(&path), reason);
            assert_eq!(std::fs::read(&path).unwrap(), other);
        }
        std::fs::write(&path, &whole).unwrap();
        SqliteLedger::open(&path).unwrap();
    }

    #[test]
    fn a_file_of_something_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.db");
        std::fs::write(
            &path,
            "a text that is long enough to be no database at all".repeat(90),
        )
        .unwrap();
        assert!(
            refused(&path).contains("not a database"),
            "{}",
            refused(&path)
        );
        assert!(
            refused(folder.path()).contains("unable to open"),
            "{}",
            refused(folder.path())
        );
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("a text"));
    }
}
