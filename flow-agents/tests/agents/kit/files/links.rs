//! Links that lead out of the folder, and what is not a file.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use super::Place;

/// A folder with links out of it, in each of the ways.
fn with_links() -> Place {
    let place = Place::new();
    place.file("notes.txt", "inside\n");
    place.file("deep/a/b/notes.txt", "inside\n");
    symlink("../outside", place.at("out")).unwrap();
    symlink(place.outside(), place.at("out_absolute")).unwrap();
    symlink("../outside/canary.txt", place.at("canary")).unwrap();
    symlink(
        place.outside().join("canary.txt"),
        place.at("canary_absolute"),
    )
    .unwrap();
    symlink("../outside/new.txt", place.at("dangling")).unwrap();
    symlink("../../../../outside", place.at("deep/a/b/up")).unwrap();
    symlink("chain2", place.at("chain1")).unwrap();
    symlink("./chain3", place.at("chain2")).unwrap();
    symlink("deep/a/b/up", place.at("chain3")).unwrap();
    symlink("deep/../../outside", place.at("there_and_back")).unwrap();
    symlink("..", place.at("parent")).unwrap();
    symlink("/", place.at("root")).unwrap();
    symlink("/proc/self/environ", place.at("environ")).unwrap();
    symlink("/proc/self/root", place.at("proc_root")).unwrap();
    symlink("/proc/self/fd/0", place.at("input")).unwrap();
    symlink("/dev/zero", place.at("zero")).unwrap();
    place
}

const OUT: &str = "a link in it leads out of the folder";

#[tokio::test]
async fn what_is_behind_a_link_that_leads_out_is_refused_by_every_tool() {
    let place = with_links();
    let paths = [
        "out/canary.txt",
        "out/new.txt",
        "out/new/folder",
        "./out/./canary.txt",
        "out_absolute/canary.txt",
        "deep/a/b/up/canary.txt",
        "chain1/canary.txt",
        "chain3/canary.txt",
        "there_and_back/canary.txt",
        "parent/outside/canary.txt",
        "parent/inside/notes.txt",
        "root/etc/passwd",
        "proc_root/etc/passwd",
    ];
    for path in paths {
        for (tool, said) in place.call_all(path).await {
            let said = said.expect_err(path);
            assert!(said.contains(OUT), "{tool} of {path}: {said}");
        }
        place.assert_untouched();
    }
}

#[tokio::test]
async fn a_link_that_leads_out_is_refused_by_every_tool_and_can_be_removed() {
    let paths = [
        "out",
        "out_absolute",
        "canary",
        "canary_absolute",
        "dangling",
        "deep/a/b/up",
        "chain1",
        "there_and_back",
        "parent",
        "root",
        "environ",
        "proc_root",
        "input",
        "zero",
    ];
    for path in paths {
        let place = with_links();
        for (tool, said) in place.call_all(path).await {
            if tool == "fs_remove" {
                assert_eq!(said, Ok(format!("removed {path}")));
                assert!(fs::symlink_metadata(place.at(path)).is_err(), "{path}");
            } else {
                let said = said.expect_err(path);
                assert!(said.contains(OUT), "{tool} of {path}: {said}");
            }
        }
        place.assert_untouched();
    }
}

#[tokio::test]
async fn a_search_does_not_follow_links() {
    let place = with_links();
    let found = place.call("fs_glob", json!({ "pattern": "**" })).await;
    assert_eq!(found.as_deref(), Ok("deep/a/b/notes.txt\nnotes.txt"));
    let found = place.call("fs_grep", json!({ "pattern": "." })).await;
    assert_eq!(
        found.as_deref(),
        Ok("deep/a/b/notes.txt:1:inside\nnotes.txt:1:inside")
    );
    let listed = place.call("fs_ls", json!({})).await.unwrap();
    assert!(
        listed.contains("canary (link)\n") && listed.contains("out (link)\n"),
        "{listed}"
    );
    assert!(
        place
            .call("fs_remove", json!({ "path": "deep", "recursive": true }))
            .await
            .is_ok()
    );
    place.assert_untouched(); // `deep/a/b/up` is gone, and what it led to is there
}

#[tokio::test]
async fn a_link_that_stays_inside_is_followed_and_kept() {
    let place = Place::new();
    place.file("sub/notes.txt", "one two");
    symlink("sub/notes.txt", place.at("link")).unwrap();
    symlink("../sub", place.at("sub/again")).unwrap();
    symlink(".", place.at("self")).unwrap();
    symlink("round", place.at("round")).unwrap();
    let read = place
        .call("fs_read", json!({ "path": "self/sub/again/notes.txt" }))
        .await;
    assert_eq!(read.as_deref(), Ok("one two"));
    let edit = json!({ "path": "link", "old_string": "two", "new_string": "three" });
    place.call("fs_edit", edit).await.unwrap();
    assert_eq!(place.content("sub/notes.txt"), "one three");
    assert!(fs::symlink_metadata(place.at("link")).unwrap().is_symlink());
    for (path, reason) in [
        ("self", "is a link to the folder"),
        ("round", "\"round\" cannot be "),
    ] {
        let write = json!({ "path": path, "content": "" });
        let said = place.call("fs_write", write).await.unwrap_err();
        assert!(said.contains(reason), "{said}");
    }
}

/// Another process puts a link in the place of a folder, again and again, while the tools work in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_is_swapped_in_meanwhile_leads_nowhere() {
    let place = Place::new();
    place.file("real/canary.txt", "inside\n");
    let (swap, real, ended) = (
        place.at("swap"),
        place.at("real"),
        Arc::new(AtomicBool::new(false)),
    );
    symlink(place.outside(), place.at("link")).unwrap();
    fs::rename(&real, &swap).unwrap();
    let rounds = Arc::new(AtomicUsize::new(0));
    let swapping = std::thread::spawn({
        let (ended, rounds) = (Arc::clone(&ended), Arc::clone(&rounds));
        let link = place.at("link");
        let other = place.at("other");
        move || {
            // What a tool has made while the place was empty has to go.
            let put = |from: &Path, to: &Path| {
                while fs::rename(from, to).is_err() {
                    let _ = fs::remove_dir_all(to); // a tool may be making it just now
                }
            };
            // Now and then it waits for whole rounds of the tools: a machine with much to do may
            // stop this thread always at the same place.
            let wait = || {
                let whole = rounds.load(Ordering::Relaxed) + 3;
                while rounds.load(Ordering::Relaxed) < whole && !ended.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
            };
            for swaps in 0_u64.. {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                let waits = swaps.is_multiple_of(100);
                if waits {
                    wait();
                }
                put(&swap, &other);
                put(&link, &swap);
                if waits {
                    wait();
                }
                std::thread::yield_now();
                put(&swap, &link);
                put(&other, &swap);
            }
        }
    });
    // Until both have been met: the folder, and the link in its place.
    let (mut written, mut refused) = (0, 0);
    for round in 0..100_000 {
        for (tool, said) in place.call_all("swap/canary.txt").await {
            let text = said.unwrap_or_else(|said| said);
            assert!(!text.contains("sings"), "{tool}: {text}");
            written += usize::from(tool == "fs_write" && text.starts_with("wrote"));
            refused += usize::from(text.contains(OUT));
        }
        rounds.fetch_add(1, Ordering::Relaxed);
        if round > 100 && written > 0 && refused > 0 {
            break;
        }
    }
    ended.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    place.assert_untouched();
    assert!(
        written > 0 && refused > 0,
        "{written} written, {refused} refused"
    );
}

#[tokio::test]
async fn pipes_sockets_and_devices_are_not_waited_for() {
    let place = Place::new();
    place.file("notes.txt", "inside\n");
    let made = Command::new("mkfifo")
        .arg(place.at("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    let _socket = UnixListener::bind(place.at("socket")).unwrap();
    for path in ["pipe", "socket"] {
        for tool in [
            "fs_read", "fs_write", "fs_edit", "fs_grep", "fs_ls", "fs_mkdir",
        ] {
            let arguments = match tool {
                "fs_write" => json!({ "path": path, "content": "x" }),
                "fs_edit" => json!({ "path": path, "old_string": "x", "new_string": "y" }),
                "fs_grep" => json!({ "path": path, "pattern": "x" }),
                _ => json!({ "path": path }),
            };
            let said = tokio::time::timeout(Duration::from_secs(60), place.call(tool, arguments));
            let said = said.await.expect("it is not waited for").unwrap_err();
            assert!(
                said.contains("is a pipe, a device or another special file"),
                "{tool}: {said}"
            );
        }
    }
    let found = place.call("fs_grep", json!({ "pattern": "." })).await;
    assert_eq!(found.as_deref(), Ok("notes.txt:1:inside"));
}
