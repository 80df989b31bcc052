//! What is damaged is an error that says where, and stays what it is.

use std::sync::Arc;
use std::time::Duration;

use flow_durable::{
    Append, Created, Damaged, DamagedRecord, EndIf, EventFilter, Execution, ExecutionId,
    ListOptions, ListQuery, Logged, PauseRow, PauseState, Record, RecordKind, Row, RuntimeOptions,
    Settlement, StartOptions, Status, Store, StoreError, Token,
};
use flow_sqlite::SqliteStore;
use rusqlite::Connection;
use uuid::Uuid;

use crate::flips::{self, Payment, PaymentInput, Rounds, RoundsInput};
use crate::{Folder, until};
use flow_store::suite::fixtures::{LEASE, NOW, append, claimed, question, records, started};

const NO_FIT: &str = "its checksum does not fit";

#[tokio::test]
async fn damage_is_reported_where_it_is_and_nowhere_else() {
    let damages = [
        ("kind = 'node_strated'", "`node_strated` is not known"),
        ("kind = CAST(x'6ff8' AS TEXT)", "column `kind`"),
        ("payload = CAST(x'ff' AS TEXT)", "column `payload`"),
        ("at_ms = -1", "column `at_ms`"),
        ("at_ms = at_ms + 1", NO_FIT),
        ("payload = '{ }'", NO_FIT),
        ("item = 0", NO_FIT),
        ("owner = 'eve'", NO_FIT),
        ("visit = 4294967296", "column `visit`"),
    ];
    for (damage, reason) in damages {
        let folder = Folder::new();
        let store = folder.open().await;
        let (id, fence) = claimed(&store).await;
        store
            .append(id, fence, append(records(1..5)))
            .await
            .unwrap();
        let other = started(&store).await;
        let sql = format!("UPDATE records SET {damage} WHERE execution = ?1 AND seq = 3");
        let changed = folder.raw().execute(&sql, [id.to_string()]).unwrap();
        assert_eq!(changed, 1);

        let place = format!("execution {id}, record 3");
        is_corrupt(store.records(id, 0, 10).await, &place, reason);
        let log = store.log(None, 0, 10).await.unwrap();
        let of_log = |entry: &Result<Logged, DamagedRecord>| match entry {
            Ok(logged) => (logged.offset, None),
            Err(record) => (record.offset, Some(record.damaged.clone())),
        };
        let (offsets, damaged): (Vec<u64>, Vec<_>) = log.iter().map(of_log).unzip();
        assert_eq!(offsets, (1..=6).collect::<Vec<_>>());
        for (offset, damaged) in offsets.iter().zip(damaged) {
            match damaged {
                Some(damaged) => is_damaged(&damaged, Some(id), &place, reason),
                None => assert_ne!(*offset, 4),
            }
        }
        assert_eq!(store.last_offset().await.unwrap(), 6);
        assert_eq!(store.records(id, 0, 3).await.unwrap(), records(0..3));
        assert_eq!(store.records(id, 4, 3).await.unwrap(), records(4..5));
        assert_eq!(store.records(other, 0, 10).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn damaged_rows_and_questions_are_reported() {
    let folder = Folder::new();
    let store = folder.open().await;
    let (id, fence) = claimed(&store).await;
    let token = Token::from(Uuid::new_v4());
    let pause = Append {
        opened: vec![PauseRow {
            token,
            ..question(id)
        }],
        ..append(records(1..2))
    };
    store.append(id, fence, pause).await.unwrap();
    let other = started(&store).await;
    let raw = folder.raw();

    raw.execute("UPDATE pauses SET state = 'opne'", []).unwrap();
    let place = format!("execution {id}, question of `orders.approve#3`");
    is_corrupt(store.pause(token).await, &place, "`opne` is not known");
    is_corrupt(store.pauses(id).await, &place, "`opne` is not known");
    let settled = store.settle(token, Settlement::TimedOut, NOW).await;
    is_corrupt(settled, &place, "`opne` is not known");

    let place = format!("execution {id}");
    for (damage, reason) in [
        ("status = 'runing'", "`runing` is not known"),
        (
            "status = 'running', copied_from = 'nobody'",
            "`nobody` is not the id",
        ),
        ("copied_from = NULL, next_seq = -2", "column `next_seq`"),
        ("next_seq = 3", NO_FIT),
        ("next_seq = 2, result = 'yes'", NO_FIT),
        ("result = NULL, claimed_until_ms = 0", NO_FIT),
    ] {
        let sql = format!("UPDATE executions SET {damage} WHERE id = ?1");
        raw.execute(&sql, [id.to_string()]).unwrap();
        is_corrupt(store.execution(id).await, &place, reason);
        let listed = store.list(&ListQuery::default()).await.unwrap();
        assert_eq!(listed.len(), 2);
        assert_eq!(listed[0].as_ref().unwrap().id, other);
        let damaged = listed[1].as_ref().unwrap_err();
        is_damaged(damaged, Some(id), &place, reason);
        let at = NOW + LEASE;
        is_corrupt(
            store.claim(id, Uuid::new_v4(), at, at + 1).await,
            &place,
            reason,
        );
    }
    assert!(store.execution(other).await.unwrap().is_some());

    let sql = "UPDATE executions SET id = 'garbage', next_seq = 2 WHERE id = ?1";
    raw.pragma_update(None, "foreign_keys", false).unwrap();
    raw.execute(sql, [id.to_string()]).unwrap();
    let place = "execution garbage";
    let listed = store.list(&ListQuery::default()).await.unwrap();
    let due = store.due(NOW + LEASE, None, 10).await.unwrap();
    let listed = listed.into_iter().map(|row| row.map(|row| row.id));
    for found in [listed.collect::<Vec<_>>(), due] {
        let (found, damaged): (Vec<_>, Vec<_>) = found.into_iter().partition(Result::is_ok);
        assert_eq!(found, [Ok(other)]);
        let damaged = damaged[0].as_ref().unwrap_err();
        is_damaged(damaged, None, place, "`garbage`");
    }
}

#[tokio::test]
async fn a_row_that_was_moved_is_damaged() {
    for (moves, seq) in [
        ("UPDATE records SET seq = 9 WHERE seq = 2", 9),
        ("UPDATE records SET \"offset\" = 99 WHERE seq = 2", 2),
        // Over another one, and to another execution.
        (
            "DELETE FROM records WHERE seq = 2; \
             UPDATE records SET seq = 2 WHERE seq = 1 AND execution = (SELECT min(id) FROM executions)",
            2,
        ),
        (
            "DELETE FROM records WHERE seq = 1; \
             UPDATE records SET execution = (SELECT max(id) FROM executions) WHERE seq = 2",
            2,
        ),
    ] {
        let folder = Folder::new();
        let store = folder.open().await;
        let (id, fence) = claimed(&store).await;
        store
            .append(id, fence, append(records(1..3)))
            .await
            .unwrap();
        let (other, fence) = claimed(&store).await;
        store
            .append(other, fence, append(records(1..2)))
            .await
            .unwrap();
        careless(&folder).execute_batch(moves).unwrap();
        let moved_to = if moves.contains("max(id)") { other } else { id };
        let place = format!("execution {moved_to}, record {seq}");
        is_corrupt(store.records(moved_to, 0, 10).await, &place, NO_FIT);
        let log = store.log(None, 0, 10).await.unwrap();
        let mut damaged = log.iter().filter_map(|entry| entry.as_ref().err());
        let record = damaged.next().unwrap();
        is_damaged(&record.damaged, Some(moved_to), &place, NO_FIT);
        assert_eq!(damaged.next(), None);
    }
}

/// A row that is whole is not the right one if a damaged index leads to it.
#[tokio::test]
async fn an_index_that_leads_to_another_row_is_damaged() {
    let folder = Folder::new();
    let store = folder.open().await;
    let mut written = Vec::new();
    // Their numbers are 1, 2 and 3. SQLite writes no byte for a 1.
    for _ in 0..3 {
        let id = crate::new_id();
        let row = Row {
            idempotency_key: Some(id.to_string()),
            ..crate::row(id)
        };
        let asked = [(); 2].map(|()| question(id));
        let token = asked[1].token;
        let created = store.create(row.clone(), records(0..3), asked.into(), None);
        assert_eq!(created.await.unwrap(), Created::New);
        written.push((row, token));
    }
    let ((row, token), (other, other_token)) = (written[1].clone(), written[2].clone());
    let (id, before, other) = (row.id, written[0].0.id, other.id);
    drop(store);
    let log = folder.0.path().join("flows.db-wal");
    until(async || !log.exists()).await;
    let whole = Pages(std::fs::read(folder.path()).unwrap());

    let folder = Folder::new();
    let opened = async |name: &str, damaged: Pages| {
        let path = folder.0.path().join(name);
        std::fs::write(&path, damaged.0).unwrap();
        SqliteStore::open(path).await.unwrap()
    };
    let astray = "an index leads to another one";

    // Entries whose last value, the number of the row, is another one's.
    let by_id = whole.entry(&[85, 1], &id.to_string(), 2);
    let store = opened("by id", whole.with(by_id, 3)).await;
    let place = format!("execution {id}");
    is_corrupt(store.execution(id).await, &place, NO_FIT);
    is_corrupt(store.delete(id).await, &place, astray);
    assert!(store.execution(other).await.unwrap().is_some());

    let by_token = whole.entry(&[85, 1], &token.to_string(), 4);
    let store = opened("by token", whole.with(by_token, 6)).await;
    let place = format!("execution {other}, question of `orders.approve#3`");
    is_corrupt(store.pause(token).await, &place, NO_FIT);
    let answer = Settlement::Answer("1".to_owned());
    is_corrupt(store.settle(token, answer, NOW).await, &place, NO_FIT);
    let untouched = store.pause(other_token).await.unwrap().unwrap();
    assert_eq!(untouched.state, PauseState::Open);

    let flow = u8::try_from(13 + 2 * row.flow.len()).unwrap();
    let by_key = whole.entry(&[flow, 85, 13, 9, 1], &format!("{}{id}", row.flow), 2);
    let store = opened("by key", whole.with(by_key, 3)).await;
    let created = store.create(row, records(0..1), Vec::new(), None).await;
    is_corrupt(created, &format!("execution {other}"), NO_FIT);

    let of_record = |id, row| whole.entry(&[85, 1, 1], &format!("{id}\u{2}"), row);
    let store = opened("of records", whole.with(of_record(id, 6), 9)).await;
    let claim = store.claim(id, Uuid::new_v4(), NOW, NOW + LEASE).await;
    let fence = claim.unwrap().unwrap().fence;
    let snapshot = Record {
        kind: RecordKind::Snapshot,
        ..records(3..4)[0].clone()
    };
    let prunes = Append {
        records: vec![snapshot],
        prune_before: Some(3),
        ..append(records(0..0))
    };
    let place = format!("execution {id}, record 2");
    is_corrupt(store.records(id, 0, 10).await, &place, NO_FIT);
    is_corrupt(store.append(id, fence, prunes).await, &place, astray);
    is_corrupt(store.delete(id).await, &place, astray);
    assert_eq!(store.records(other, 0, 10).await.unwrap(), records(0..3));

    // Entries that stand where those of another execution should.
    let place = format!("execution {id}");
    let twice = whole.with_twice(of_record(before, 3), of_record(id, 6));
    let store = opened("records", twice).await;
    is_corrupt(store.records(id, 0, 10).await, &place, astray);

    let of_question = |id, row| whole.entry(&[85, 21, 1], &format!("{id}open"), row);
    let twice = whole.with_twice(of_question(before, 2), of_question(id, 4));
    let store = opened("questions", twice).await;
    is_corrupt(store.pauses(id).await, &place, astray);
}

/// A file of SQLite.
struct Pages(Vec<u8>);

/// Where an entry begins, and where it ends.
type Entry = std::ops::Range<usize>;

impl Pages {
    const LENGTH: usize = 4096;

    /// An entry of an index: the kinds of its values (85 is a text of 36 bytes), the values, and the number of the row.
    fn entry(&self, kinds: &[u8], values: &str, row: u8) -> Entry {
        let mut entry = vec![u8::try_from(kinds.len()).unwrap() + 1];
        entry.extend_from_slice(kinds);
        entry.extend_from_slice(values.as_bytes());
        entry.push(row);
        entry.insert(0, u8::try_from(entry.len()).unwrap());
        let mut places = self.0.windows(entry.len()).enumerate();
        let (place, _) = places.find(|(_, bytes)| *bytes == entry).unwrap();
        place..place + entry.len()
    }

    /// The file with another row at the end of an entry.
    fn with(&self, entry: Entry, row: u8) -> Pages {
        let mut pages = Pages(self.0.clone());
        pages.0[entry.end - 1] = row;
        pages
    }

    /// The file with one entry of a page also where another one should be.
    fn with_twice(&self, one: Entry, other: Entry) -> Pages {
        let page = one.start / Self::LENGTH * Self::LENGTH;
        let pointer = |entry: Entry| u16::try_from(entry.start - page).unwrap().to_be_bytes();
        let (one, other) = (pointer(one), pointer(other));
        let mut pages = Pages(self.0.clone());
        // The pointers to the entries come after eight bytes.
        let mut pointers = pages.0[page + 8..page + Self::LENGTH].chunks_exact_mut(2);
        let found = pointers.find(|bytes| **bytes == other).unwrap();
        found.copy_from_slice(&one);
        pages
    }
}

#[tokio::test]
async fn an_answer_and_a_structure_that_were_changed_are_damaged() {
    let folder = Folder::new();
    let store = folder.open().await;
    let (id, token) = asked(&store).await;
    let answer = Settlement::Answer("1".to_owned());
    store.settle(token, answer, NOW).await.unwrap();
    store.put_structure("5f2c", "{}").await.unwrap();
    let raw = folder.raw();
    raw.execute_batch("UPDATE pauses SET answer = '2'; UPDATE structures SET structure = '[]'")
        .unwrap();
    let place = format!("execution {id}, question of `orders.approve#3`");
    is_corrupt(store.pause(token).await, &place, NO_FIT);
    is_corrupt(store.pauses(id).await, &place, NO_FIT);
    is_corrupt(store.structure("5f2c").await, "structure 5f2c", NO_FIT);

    // A key that was changed hides the row, unless somebody looks who is beside it.
    raw.execute_batch("UPDATE structures SET hash = '5f2d'")
        .unwrap();
    let beside = "a damaged one beside it";
    is_corrupt(store.structure("5f2c").await, "hash 5f2c", beside);
    let another = Token::from(Uuid::new_v4());
    let sql = "UPDATE pauses SET token = ?1";
    raw.execute(sql, [another.to_string()]).unwrap();
    is_corrupt(store.pause(token).await, &format!("token {token}"), beside);
}

/// A checksum that is made anew would make damage look like what was written.
#[tokio::test]
async fn what_is_damaged_is_not_written_over() {
    let folder = Folder::new();
    let store = folder.open().await;
    let (id, token) = asked(&store).await;
    let raw = folder.raw();
    let now = NOW + 2 * LEASE;
    let row = store.execution(id).await.unwrap().unwrap();

    raw.execute_batch("UPDATE executions SET options = '[]'")
        .unwrap();
    let place = format!("execution {id}");
    let end = || Record {
        kind: RecordKind::RunCancelled,
        ..records(0..1)[0].clone()
    };
    let claimed = store.claim(id, Uuid::new_v4(), now, now + LEASE).await;
    is_corrupt(claimed, &place, NO_FIT);
    let appended = store.append(id, row.fence, append(records(2..3))).await;
    is_corrupt(appended, &place, NO_FIT);
    let settled = store.settle(token, Settlement::TimedOut, NOW).await;
    is_corrupt(settled, &place, NO_FIT);
    let ended = store
        .end(id, Status::Cancelled, "", end(), EndIf::NotOver)
        .await;
    is_corrupt(ended, &place, NO_FIT);
    raw.execute_batch("UPDATE executions SET options = '{}'")
        .unwrap();
    assert_eq!(store.execution(id).await.unwrap(), Some(row.clone()));

    raw.execute_batch("UPDATE pauses SET prompt = 'Refuse?'")
        .unwrap();
    let place = format!("execution {id}, question of `orders.approve#3`");
    let settled = store.settle(token, Settlement::TimedOut, NOW).await;
    is_corrupt(settled, &place, NO_FIT);
    let close = Append {
        closed: vec![token],
        ..append(records(2..3))
    };
    is_corrupt(store.append(id, row.fence, close).await, &place, NO_FIT);
    let ended = store
        .end(id, Status::Cancelled, "", end(), EndIf::NotOver)
        .await;
    is_corrupt(ended, &place, NO_FIT);
    raw.execute_batch("UPDATE pauses SET prompt = 'Approve?'")
        .unwrap();
    assert!(store.pause(token).await.is_ok());
    assert_eq!(store.execution(id).await.unwrap(), Some(row));
    assert_eq!(store.records(id, 0, 10).await.unwrap(), records(0..2));
}

#[tokio::test]
async fn what_is_missing_is_noticed() {
    let missing = "it is missing";
    for (hides, seq) in [
        ("seq = 0", Some(0)),
        ("seq = 1", Some(1)),
        ("seq = 3", Some(3)),
        ("seq IN (1, 2, 3)", Some(1)),
        ("seq >= 0", Some(0)),
        ("seq = 7", None),
    ] {
        let folder = Folder::new();
        let store = folder.open().await;
        let (id, fence) = claimed(&store).await;
        store
            .append(id, fence, append(records(1..4)))
            .await
            .unwrap();
        let sql = format!("DELETE FROM records WHERE {hides}");
        careless(&folder).execute_batch(&sql).unwrap();
        let read = store.records(id, 0, 10).await;
        match seq {
            Some(seq) => is_corrupt(read, &format!("execution {id}, record {seq}"), missing),
            None => assert_eq!(read.unwrap(), records(0..4)),
        }
        // What is asked for is there.
        if hides == "seq = 3" {
            assert_eq!(store.records(id, 0, 3).await.unwrap(), records(0..3));
            assert!(store.records(id, 4, 3).await.unwrap().is_empty());
        }
    }

    let folder = Folder::new();
    let store = folder.open().await;
    let (id, token) = asked(&store).await;
    let raw = careless(&folder);
    raw.execute_batch("DELETE FROM pauses").unwrap();
    let place = format!("execution {id}");
    is_corrupt(store.pauses(id).await, &place, "of its 1 questions");
    assert_eq!(store.pause(token).await.unwrap(), None);
    raw.execute_batch("DELETE FROM executions").unwrap();
    let not_there = "it has records, and is not there itself";
    is_corrupt(store.execution(id).await, &place, not_there);
    is_corrupt(store.records(id, 0, 10).await, &place, not_there);
}

#[tokio::test]
async fn records_that_were_pruned_are_not_missing() {
    let folder = Folder::new();
    let store = folder.open().await;
    let (id, fence) = claimed(&store).await;
    let mut prune = append(records(1..4));
    prune.records[1].kind = RecordKind::Snapshot;
    prune.prune_before = Some(2);
    store.append(id, fence, prune.clone()).await.unwrap();
    for from in 0..3 {
        let kept = store.records(id, from, 10).await.unwrap();
        assert_eq!(kept, prune.records[1..]);
    }
    careless(&folder)
        .execute_batch("DELETE FROM records WHERE seq = 2")
        .unwrap();
    let place = format!("execution {id}, record 2");
    is_corrupt(store.records(id, 0, 10).await, &place, "it is missing");
}

#[tokio::test]
async fn what_is_before_the_damage_can_be_looked_at_and_copied() {
    let folder = Folder::new();
    let store = Arc::new(folder.open().await);
    let runtime = flips::runtime(store.clone(), RuntimeOptions::new());
    let input = RoundsInput { number: 3 };
    let started = runtime
        .executions()
        .start::<Rounds>(input, StartOptions::new())
        .await;
    let execution = started.unwrap().settled().await.unwrap();
    let before = runtime.executions().state(execution.id(), 5).await.unwrap();
    folder
        .raw()
        .execute_batch("UPDATE records SET payload = '7' WHERE seq = 9")
        .unwrap();
    assert!(execution.journal().await.is_err());
    assert!(runtime.executions().state(execution.id(), 9).await.is_err());
    assert!(runtime.executions().copy(execution.id(), 9).await.is_err());
    assert_eq!(
        runtime.executions().state(execution.id(), 5).await.unwrap(),
        before
    );
    let copy = runtime.executions().copy(execution.id(), 5).await.unwrap();
    let copy = copy.settled().await.unwrap();
    assert_eq!(
        copy.output_json().unwrap(),
        execution.output_json().unwrap()
    );
}

#[tokio::test]
async fn a_file_with_other_tables_is_damaged_and_one_with_more_is_not() {
    let folder = Folder::new();
    started(&folder.open().await).await;
    let more = "CREATE TABLE mine (id TEXT); CREATE INDEX mine_too ON records (kind)";
    folder.raw().execute_batch(more).unwrap();
    drop(folder.open().await);
    let less = "DROP INDEX executions_due; \
         CREATE INDEX executions_due ON executions (due_ms, id) WHERE due_ms IS NULL";
    folder.raw().execute_batch(less).unwrap();
    let place = "the schema of executions_due";
    is_corrupt(SqliteStore::open(folder.path()).await, place, "makes");
}

/// A connection past the store that may break what the tables promise.
fn careless(folder: &Folder) -> Connection {
    let raw = folder.raw();
    raw.pragma_update(None, "foreign_keys", false).unwrap();
    raw
}

/// An execution with two records that is claimed, and a question of it.
async fn asked(store: &SqliteStore) -> (ExecutionId, Token) {
    let (id, fence) = claimed(store).await;
    let token = Token::from(Uuid::new_v4());
    let pause = Append {
        opened: vec![PauseRow {
            token,
            ..question(id)
        }],
        ..append(records(1..2))
    };
    store.append(id, fence, pause).await.unwrap();
    (id, token)
}

/// One execution of which the row is damaged, and one of which a record is, beside others of two owners.
#[tokio::test]
async fn what_is_damaged_keeps_nobody_from_the_others() {
    let folder = Folder::new();
    let store = Arc::new(folder.open().await);
    let runtime = flips::runtime(store.clone(), RuntimeOptions::new());
    let ann = runtime.owned_by("ann");
    let mut ids = Vec::new();
    for amount in 1..5 {
        let input = PaymentInput { amount };
        let started = runtime
            .executions()
            .start::<Payment>(input, StartOptions::new())
            .await;
        ids.push(started.unwrap().settled().await.unwrap().id());
    }
    let input = PaymentInput { amount: 1 };
    let started = ann.start::<Payment>(input, StartOptions::new()).await;
    let anns = started.unwrap().settled().await.unwrap().id();
    let hit = |sql: &str, id: ExecutionId| {
        assert_eq!(folder.raw().execute(sql, [id.to_string()]).unwrap(), 1);
    };
    hit("UPDATE executions SET options = '[]' WHERE id = ?1", ids[1]);
    let sql = "UPDATE records SET at_ms = 0 WHERE execution = ?1 AND seq = 2";
    hit(sql, ids[2]);
    let place = format!("execution {}", ids[1]);

    let listed = runtime.executions().list(ListOptions::new()).await.unwrap();
    let found: Vec<ExecutionId> = listed.iter().map(Execution::id).collect();
    assert_eq!(found, [ids[3], ids[2], ids[0]]);
    assert_eq!(listed.damaged().len(), 1);
    is_damaged(&listed.damaged()[0], Some(ids[1]), &place, NO_FIT);
    let anns_list = ann.list(ListOptions::new()).await.unwrap();
    assert_eq!(anns_list.len(), 1);
    assert!(anns_list.damaged().is_empty());

    // Both damages once each, in their places.
    let filter = EventFilter::new().from_start().until_now();
    let mut events = runtime.executions().events(filter.clone()).await.unwrap();
    let (mut seen, mut errors) = (Vec::new(), Vec::new());
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => seen.push((event.execution().unwrap(), event.record().unwrap().seq)),
            Err(error) => errors.push((seen.len(), error.to_string())),
        }
    }
    let mut expected = Vec::new();
    for logged in store
        .log(None, 0, 1000)
        .await
        .unwrap()
        .into_iter()
        .flatten()
    {
        if logged.owner.is_none() {
            expected.push((logged.execution, logged.record.seq));
        }
    }
    assert_eq!(seen, expected);
    let error = |at: &str| format!("execution {at}: {NO_FIT}");
    let first = expected.iter().position(|(id, _)| *id == ids[1]).unwrap();
    let row = format!(
        "execution {0}: the store is damaged at execution {0}: {NO_FIT}",
        ids[1]
    );
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert_eq!(errors[0], (first, row));
    assert!(
        errors[1]
            .1
            .ends_with(&error(&format!("{}, record 2", ids[2]))),
        "{errors:?}"
    );
    let mut events = ann.events(filter).await.unwrap();
    while let Some(event) = events.next().await {
        assert_eq!(event.unwrap().execution(), Some(anns));
    }

    // All that wait have an answer but the one that is damaged, so that they are due.
    for (id, index) in [(ids[0], 0), (ids[2], 2), (ids[3], 3), (anns, 4)] {
        let token = store.pauses(id).await.unwrap()[0].token;
        if index != 3 {
            let answer = Settlement::Answer("\"No\"".to_owned());
            store.settle(token, answer, NOW).await.unwrap();
        }
    }
    hit(
        "UPDATE executions SET options = '[]', due_ms = 0 WHERE id = ?1",
        ids[1],
    );
    let recovered = runtime.recover().await.unwrap();
    assert_eq!(recovered.resumed, [ids[0], anns]);
    let refused: Vec<_> = recovered.refused.iter().map(|(id, _)| *id).collect();
    assert_eq!(refused, [ids[1], ids[2]]);
    for (_, error) in &recovered.refused {
        assert!(error.to_string().ends_with(NO_FIT), "{error}");
    }
    assert!(recovered.damaged.is_empty());
    assert!(
        runtime
            .executions()
            .get(ids[0])
            .await
            .unwrap()
            .settled()
            .await
            .is_ok()
    );

    let expired = runtime.executions().expire(Duration::ZERO).await.unwrap();
    let cancelled: Vec<ExecutionId> = expired.iter().map(Execution::id).collect();
    assert_eq!(cancelled, [ids[3]], "the others have been answered");
    assert_eq!(expired.damaged().len(), 1);
    is_damaged(&expired.damaged()[0], Some(ids[1]), &place, NO_FIT);

    careless(&folder)
        .execute(
            "UPDATE executions SET id = 'garbage' WHERE id = ?1",
            [ids[1].to_string()],
        )
        .unwrap();
    let recovered = runtime.recover().await.unwrap();
    assert_eq!(recovered.damaged.len(), 1);
    is_damaged(
        &recovered.damaged[0],
        None,
        "execution garbage",
        "`garbage`",
    );
}

#[track_caller]
fn is_damaged(damaged: &Damaged, of: Option<ExecutionId>, at: &str, because: &str) {
    assert_eq!((damaged.execution, &*damaged.place), (of, at));
    assert!(damaged.reason.contains(because), "{}", damaged.reason);
}

#[track_caller]
fn is_corrupt<T: std::fmt::Debug>(outcome: Result<T, StoreError>, at: &str, because: &str) {
    match outcome {
        Err(StoreError::Corrupt { place, reason }) => {
            assert_eq!(place, at);
            assert!(reason.contains(because), "{reason}");
        }
        other => panic!("expected {at} to be damaged: {other:?}"),
    }
}

#[tokio::test]
async fn a_text_that_is_none_is_damaged() {
    let folder = Folder::new();
    let store = folder.open().await;
    let (id, _) = asked(&store).await;
    let sql = "UPDATE records SET path = CAST(x'66ff' AS TEXT) WHERE seq = 1";
    folder.raw().execute(sql, []).unwrap();
    let place = format!("execution {id}, record 1");
    let reason = "column `path`: it is not text (invalid utf-8 sequence";
    is_corrupt(store.records(id, 0, 10).await, &place, reason);
}

#[tokio::test]
async fn a_file_with_damaged_pages_is_damaged() {
    let folder = Folder::new();
    started(&folder.open().await).await;
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    folder.raw().execute_batch(checkpoint).unwrap();
    let mut bytes = std::fs::read(folder.path()).unwrap();
    bytes[4096..].fill(0xff);
    std::fs::write(folder.path(), bytes).unwrap();
    let opened = SqliteStore::open(folder.path()).await;
    is_corrupt(opened, "the file", "malformed");
}
