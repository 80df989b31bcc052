//! What becomes of the file at the path: made, taken as it is, or refused and left alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use flow_durable::{Store, StoreError};
use flow_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;

use crate::{Folder, number};
use flow_store::suite::fixtures::{signal, started};
use flow_store::{CANCEL, Sent};

/// What the files of stores have as their application id: `flow`.
const OURS: i64 = 0x666c_6f77;

/// The bytes and the time of the last change of each file in a folder, by name.
fn seen(folder: &Folder) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let entries = std::fs::read_dir(folder.0.path()).unwrap();
    entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let changed = std::fs::metadata(&path).unwrap().modified().unwrap();
            let bytes = std::fs::read(&path).unwrap();
            (path, (bytes, changed))
        })
        .collect()
}

#[track_caller]
fn is_refused(opened: Result<SqliteStore, StoreError>, at: &Path, because: &str) {
    match opened {
        Err(StoreError::NotAStore { path, reason }) => {
            assert_eq!(path, at);
            assert!(reason.contains(because), "{reason}");
        }
        other => panic!("expected {} to be refused: {other:?}", at.display()),
    }
}

#[tokio::test]
async fn a_file_of_another_program_is_refused_and_left_as_it_was() {
    type Make = fn(&Path);
    let makes: [(Make, &str); 8] = [
        (
            |path| std::fs::write(path, "no database, but a text. ".repeat(999)).unwrap(),
            "it is not an SQLite file",
        ),
        (
            |path| std::fs::write(path, "short").unwrap(),
            "it is not an SQLite file",
        ),
        (
            |path| std::fs::write(path, [0; 8192]).unwrap(),
            "it is not an SQLite file",
        ),
        (
            |path| database(path, "CREATE TABLE dreams (id TEXT)"),
            "application id is 0x00000000",
        ),
        (
            |path| {
                database(
                    path,
                    "PRAGMA user_version = 1; CREATE TABLE executions (id TEXT)",
                )
            },
            "application id is 0x00000000",
        ),
        (
            |path| {
                database(
                    path,
                    "PRAGMA application_id = 0x47504b47; CREATE TABLE maps (id TEXT)",
                )
            },
            "application id is 0x47504b47",
        ),
        (
            |path| {
                database(
                    path,
                    "PRAGMA journal_mode = wal; CREATE TABLE dreams (id TEXT)",
                )
            },
            "application id is 0x00000000",
        ),
        // Another program has crashed, and will find what it wrote in the log.
        (
            |path| {
                let whole = path.with_extension("whole");
                let live = Connection::open(&whole).unwrap();
                live.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE dreams (id TEXT)")
                    .unwrap();
                for suffix in ["", "-wal"] {
                    let named = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
                    std::fs::copy(named(&whole), named(path)).unwrap();
                }
                drop(live);
                std::fs::remove_file(whole).unwrap();
            },
            "application id is 0x00000000",
        ),
    ];
    for (make, reason) in makes {
        let folder = Folder::new();
        make(&folder.path());
        let before = seen(&folder);
        std::thread::sleep(Duration::from_millis(20)); // a change would have a later time
        is_refused(
            SqliteStore::open(folder.path()).await,
            &folder.path(),
            reason,
        );
        assert_eq!(seen(&folder), before, "{reason}");
    }
}

fn database(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[tokio::test]
async fn what_is_not_a_file_is_refused() {
    let folder = Folder::new();
    let inner = folder.0.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    is_refused(SqliteStore::open(&inner).await, &inner, "it is a folder");
    assert_eq!(std::fs::read_dir(&inner).unwrap().count(), 0);

    let memory = Path::new(":memory:");
    is_refused(SqliteStore::open(memory).await, memory, "`MemoryStore`");

    let opened = SqliteStore::open(folder.0.path().join("no/such/folder.db")).await;
    assert!(matches!(opened, Err(StoreError::Other(_))), "{opened:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_or_a_device_is_refused_without_waiting_for_it() {
    let folder = Folder::new();
    let pipe = folder.path();
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    for path in [&*pipe, Path::new("/dev/zero")] {
        let opening = tokio::time::timeout(Duration::from_secs(60), SqliteStore::open(path));
        is_refused(opening.await.unwrap(), path, "it is not a file");
    }
}

#[tokio::test]
async fn any_name_of_a_file_will_do() {
    let folder = Folder::new();
    let names = [
        "a b.db",
        "50%.db",
        "ä.db",
        "%41#1?x=y&immutable=1.db",
        "file:c.db?mode=memory",
    ];
    // Windows has no file with a `?` in its name.
    let names = &names[..if cfg!(windows) { 3 } else { names.len() }];
    for name in names {
        let path = folder.0.path().join(name);
        for _ in 0..2 {
            started(&SqliteStore::open(&path).await.unwrap()).await;
        }
        let store = SqliteStore::open(&path).await.unwrap();
        assert_eq!(store.last_offset().await.unwrap(), 2, "{name}");
        assert!(path.exists(), "{name}");
    }
}

/// On Windows, such a path begins with `\\?\`.
#[tokio::test]
async fn a_path_without_links_will_do() {
    let folder = Folder::new();
    let path = folder.0.path().canonicalize().unwrap().join("runs.db");
    for _ in 0..2 {
        started(&SqliteStore::open(&path).await.unwrap()).await;
    }
}

#[tokio::test]
async fn an_empty_file_becomes_a_store_and_says_that_it_is_one() {
    let folder = Folder::new();
    std::fs::write(folder.path(), "").unwrap();
    let id = started(&folder.open().await).await;
    let raw = folder.raw();
    assert_eq!(number(&raw, "PRAGMA application_id"), OURS);
    let again = folder.open().await;
    assert!(again.execution(id).await.unwrap().is_some());
}

#[tokio::test]
async fn a_file_of_an_earlier_version_gets_what_it_lacks_and_keeps_its_executions() {
    let to_fourth = "DROP INDEX executions_cancelling; \
         ALTER TABLE executions DROP COLUMN cancelled_ms; \
         PRAGMA user_version = 4;";
    let to_third = "DROP TABLE signals; \
         ALTER TABLE executions DROP COLUMN signals; \
         ALTER TABLE executions DROP COLUMN untaken; \
         ALTER TABLE executions DROP COLUMN awaited; \
         PRAGMA user_version = 3;";
    let to_second = "DROP INDEX executions_halted; \
         ALTER TABLE executions DROP COLUMN halted; \
         ALTER TABLE executions DROP COLUMN take_overs; \
         ALTER TABLE executions DROP COLUMN taken_over_at; \
         PRAGMA user_version = 2;";
    let to_first = "DROP INDEX executions_queued; DROP INDEX executions_by_concurrency; \
         ALTER TABLE executions DROP COLUMN priority; \
         ALTER TABLE executions DROP COLUMN not_before_ms; \
         ALTER TABLE executions DROP COLUMN concurrency_key; \
         ALTER TABLE executions DROP COLUMN concurrency_limit; \
         PRAGMA user_version = 1;";
    for back in [
        to_fourth.to_owned(),
        format!("{to_fourth}{to_third}"),
        format!("{to_fourth}{to_third}{to_second}"),
        format!("{to_fourth}{to_third}{to_second}{to_first}"),
    ] {
        let folder = Folder::new();
        let id = started(&folder.open().await).await;
        folder.raw().execute_batch(&back).unwrap();
        let store = folder.open().await;
        assert_eq!(number(&folder.raw(), "PRAGMA user_version"), 5);
        let row = store.execution(id).await.unwrap().unwrap();
        let unset = (row.priority, row.not_before_ms, row.concurrency);
        assert_eq!(unset, (0, None, None));
        assert_eq!((row.halted, row.take_overs), (None, None));
        assert_eq!(row.cancelled_ms, None);
        assert!(store.signals(id).await.unwrap().is_empty());
        let sent = store.signal(id, signal("paid")).await.unwrap();
        assert_eq!(sent, Sent::New(1));
        assert_eq!(store.signals(id).await.unwrap().len(), 1);
        store.signal(id, signal(CANCEL)).await.unwrap();
        let row = store.execution(id).await.unwrap().unwrap();
        assert!(row.is_cancelling());
    }
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused_and_left_alone() {
    let folder = Folder::new();
    let raw = folder.raw();
    raw.execute_batch(
        "PRAGMA application_id = 0x666c6f77; CREATE TABLE dreams (id TEXT); PRAGMA user_version = 7",
    )
    .unwrap();
    let opened = SqliteStore::open(folder.path()).await;
    assert!(
        matches!(opened, Err(StoreError::TooNew { found: 7, known: 5 })),
        "{opened:?}"
    );
    let tables = number(&raw, "SELECT count(*) FROM sqlite_schema");
    assert_eq!(tables, 1);
}

/// Tells a copy of this program which file to open.
const FILE: &str = "FLOW_STORES_TEST_FILE";

/// What a copy of this program does; nothing in the others.
#[tokio::test]
async fn process_that_opens() {
    let Some(path) = std::env::var_os(FILE).map(PathBuf::from) else {
        return;
    };
    let go = path.with_extension("go");
    while !go.exists() {
        std::thread::yield_now();
    }
    let store = SqliteStore::open(&path).await.unwrap();
    started(&store).await;
    #[cfg(unix)]
    assert_eq!(modes(&path), [0o600; 3]);
}

/// A copy of this program that opens a file once there is one beside it that ends in `.go`.
#[cfg(unix)]
fn opens(path: &Path, umask: &str) -> Child {
    let this = std::env::current_exe().unwrap();
    let script = format!("umask {umask} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(this);
    command.args(["--exact", "opening::process_that_opens", "--nocapture"]);
    command
        .env(FILE, path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn processes_that_make_the_same_file_at_once_all_succeed() {
    for _ in 0..5 {
        let folder = Folder::new();
        let processes: Vec<Child> = (0..4).map(|_| opens(&folder.path(), "022")).collect();
        std::thread::sleep(Duration::from_millis(50)); // until they are about to begin
        std::fs::write(folder.path().with_extension("go"), "").unwrap();
        for mut process in processes {
            assert!(process.wait().unwrap().success());
        }
        let store = folder.open().await;
        assert_eq!(store.last_offset().await.unwrap(), 4);
    }
}

/// SQLite itself does not wait for them where it begins a log.
#[tokio::test]
async fn opening_waits_for_others_for_as_long_as_it_is_told_to() {
    let folder = Folder::new();
    let raw = folder.raw();
    raw.execute_batch("PRAGMA application_id = 0x666c6f77; BEGIN IMMEDIATE")
        .unwrap();
    let open = async |wait| {
        let options = SqliteOptions::new().busy_timeout(wait);
        SqliteStore::open_with(folder.path(), options).await
    };
    let (wait, before) = (Duration::from_millis(100), Instant::now());
    let opened = open(wait).await;
    assert!(matches!(opened, Err(StoreError::Locked(_))), "{opened:?}");
    let waited = before.elapsed();
    assert!(wait <= waited && waited < 50 * wait, "{waited:?}");

    let leaves = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        drop(raw);
    });
    started(&open(Duration::from_secs(60)).await.unwrap()).await;
    leaves.join().unwrap();
}

/// Who may do what with the file and those that SQLite puts beside it.
#[cfg(unix)]
fn modes(path: &Path) -> [u32; 3] {
    use std::os::unix::fs::PermissionsExt as _;
    ["", "-wal", "-shm"].map(|suffix| {
        let path = format!("{}{suffix}", path.display());
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    })
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_is_its_owners_only() {
    for umask in ["000", "022", "077", "377"] {
        let folder = Folder::new();
        std::fs::write(folder.path().with_extension("go"), "").unwrap();
        assert!(opens(&folder.path(), umask).wait().unwrap().success());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_is_there_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    std::fs::write(folder.path(), "").unwrap();
    let shared = std::fs::Permissions::from_mode(0o664);
    std::fs::set_permissions(folder.path(), shared).unwrap();
    for _ in 0..2 {
        let store = folder.open().await;
        started(&store).await;
        assert_eq!(modes(&folder.path()), [0o664; 3]);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_to_a_file_that_is_not_there_makes_it() {
    let folder = Folder::new();
    let target = folder.0.path().join("target.db");
    std::os::unix::fs::symlink(&target, folder.path()).unwrap();
    let store = folder.open().await;
    started(&store).await;
    assert_eq!(modes(&target), [0o600; 3]);
}
