//! What is not a file is not read, and what is too large is not read to its end.

use std::process::Stdio;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::files::{elf, record_of};
use crate::program::{Folder, QA};

const MIB: u64 = 1 << 20;

/// What the program writes, if it ends soon, and its exit code.
fn soon(folder: &Folder, words: &str) -> String {
    let out = tempfile::NamedTempFile::new().expect("a file");
    let into = || Stdio::from(out.as_file().try_clone().expect("the same file"));
    let mut command = folder.command(words);
    let child = command.stdin(Stdio::null()).stdout(into()).stderr(into());
    let mut child = child.spawn().expect("it runs");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be asked") {
            break status;
        }
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().expect("it ends");
            child.wait().expect("it has ended");
            panic!("`{words}` goes on for ever");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let said = std::fs::read_to_string(out.path()).expect("text");
    format!("{said}{}", status.code().expect("no signal ends it"))
}

#[cfg(unix)]
fn fifo(folder: &Folder, name: &str) {
    let made = std::process::Command::new("mkfifo")
        .arg(folder.path().join(name))
        .status();
    assert!(made.expect("mkfifo runs").success());
}

#[cfg(unix)]
#[test]
fn what_is_not_a_file_is_named_and_not_read() {
    let folder = Folder::new().with("qa.json", QA).with("flows/qa.json", QA);
    fifo(&folder, "pipe");
    fifo(&folder, "pipe.json");
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket"));
    assert_snapshot!(soon(&folder, "list pipe"), @"
    error: `pipe` is a pipe
           help: write what comes out of it to a file, and name that
    2
    ");
    assert_snapshot!(soon(&folder, "check qa.json pipe.json"), @"
    error: `pipe.json` is a pipe
           help: write what comes out of it to a file, and name that
    2
    ");
    assert_snapshot!(soon(&folder, "check flows pipe"), @"
    error: `pipe` is a pipe
           help: write what comes out of it to a file, and name that
    2
    ");
    assert_snapshot!(soon(&folder, "diff qa.json pipe"), @"
    error: `pipe` is a pipe
           help: write what comes out of it to a file, and name that
    2
    ");
    assert_snapshot!(soon(&folder, "render /dev/zero"), @"
    error: `/dev/zero` is a device
           help: write what comes out of it to a file, and name that
    2
    ");
    assert_snapshot!(soon(&folder, "export socket"), @"
    error: `socket` is a socket
           help: write what comes out of it to a file, and name that
    2
    ");
    assert_snapshot!(soon(&folder, "list flows"), @"
    error: `flows` is a folder
           help: name a file in it
    2
    ");
}

/// In a folder, only files are flow JSON. Elsewhere the system says it in other words.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_is_read_without_what_is_not_a_file() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new().with("qa.json", QA).with("flows/qa.json", QA);
    fifo(&folder, "flows/pipe.json");
    let link = |to: &str, from: &str| symlink(to, folder.path().join(from)).expect("a link");
    link(".", "flows/itself.json");
    link("..", "flows/above");
    link("round.json", "flows/round.json");
    link("/dev/zero", "flows/zero.json");
    link("nowhere", "flows/broken.json");
    link("a", "b");
    link("b", "a");
    assert_snapshot!(soon(&folder, "check flows qa.json"), @"0");
    assert_snapshot!(soon(&folder, "diff flows qa.json"), @"
    no changes
    0
    ");
    assert_snapshot!(soon(&folder, "list flows/above/flows/above/qa.json"), @"
    FLOW  NAMESPACE  NODES  INPUTS            OUTPUTS         ENDS
    Qa    qa         1      question: String  answer: String  default
    0
    ");
    assert_snapshot!(soon(&folder, "list a"), @"
    error: cannot read `a`: Too many levels of symbolic links (os error 40)
    2
    ");
    assert_snapshot!(soon(&folder, "diff flows/round.json qa.json"), @"
    error: cannot read `flows/round.json`: Too many levels of symbolic links (os error 40)
    2
    ");
}

/// The files have no more on the disk than their beginning.
#[cfg(unix)]
#[test]
fn a_file_that_is_too_large_is_not_read_to_its_end() {
    use std::fs::File;

    let folder = Folder::new().with("qa.json", QA);
    let sparse = |name: &str, begins: &[u8], bytes: u64| {
        std::fs::write(folder.path().join(name), begins).expect("a file");
        let file = File::options().append(true).open(folder.path().join(name));
        file.expect("the file").set_len(bytes).expect("room");
    };
    sparse("large.json", b"", 32 * MIB + 1);
    sparse("large", b" [{", 32 * MIB + 1);
    sparse("program", b"\x7fELF", (4 << 30) + 1);
    assert_snapshot!(soon(&folder, "list large.json"), @"
    error: `large.json` has more than 32 MiB of flows
           help: leave some of the flows out: more is not read of one file
    2
    ");
    assert_snapshot!(soon(&folder, "check qa.json large"), @"
    error: `large` has more than 32 MiB of flows
           help: leave some of the flows out: more is not read of one file
    2
    ");
    assert_snapshot!(soon(&folder, "list program"), @"
    error: `program` is larger than 4 GiB
           help: strip it, which leaves the flows in: more is not read of one file
    2
    ");
    assert_snapshot!(soon(&folder, "check program"), @"
    error: `program` is larger than 4 GiB
           help: strip it, which leaves the flows in: more is not read of one file
    2
    ");
    // As large as may be: it is read, and is something else.
    sparse("largest.json", b"", 32 * MIB);
    assert!(soon(&folder, "list largest.json").contains("is not JSON"));
}

/// The flows in a binary are no more text than in a file.
#[test]
fn records_that_are_too_large_are_not_read() {
    let spaces = " ".repeat(33 * MIB as usize);
    let folder = Folder::new().with("app", elf(&record_of(1, &spaces)));
    assert_snapshot!(soon(&folder, "list app"), @"
    error: `app` has more than 32 MiB of flows
           help: leave some of the flows out: more is not read of one file
    2
    ");
}

#[test]
fn the_first_problems_are_enough() {
    let list = |item: &str| format!("[{}]", vec![item; 50_000].join(","));
    let nodes = format!(r#"{{"version":"2.0.0","nodes":{},"edges":[]}}"#, list("{}"));
    let unsound = QA.replace("\"condition\": \"default\"", "\"condition\": \"other\"");
    let folder = Folder::new()
        .with("numbers.json", list("0"))
        .with("nodes.json", nodes)
        .with(
            "unsound.json",
            format!("[{}]", vec![unsound; 200].join(",")),
        );
    for (file, command) in [
        ("numbers.json", "list"),
        ("numbers.json", "check"),
        ("nodes.json", "list"),
        ("nodes.json", "check"),
        ("unsound.json", "check"),
    ] {
        let said = soon(&folder, &format!("{command} {file}"));
        assert_eq!(
            said.matches(" [F").count(),
            101,
            "{command} {file}: {}",
            &said[..2000.min(said.len())]
        );
        assert!(said.len() < 100_000, "{}", said.len());
        let last = said.lines().rfind(|line| line.contains(" [F"));
        assert!(last.is_some_and(|line| line.contains("more")), "{last:?}");
    }
}
