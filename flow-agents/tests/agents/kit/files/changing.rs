use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::json;

use super::{Place, names};

#[tokio::test]
async fn a_file_is_written_and_the_folders_for_it() {
    let place = Place::new();
    let write = json!({ "path": "a/b/notes.txt", "content": "It rains.\n" });
    let said = place.call("fs_write", write).await;
    assert_eq!(
        said.as_deref(),
        Ok("wrote 10 bytes to a/b/notes.txt, which is new")
    );
    let write = json!({ "path": "a/b/notes.txt", "content": "" });
    let said = place.call("fs_write", write).await;
    assert_eq!(
        said.as_deref(),
        Ok("wrote 0 bytes to a/b/notes.txt, in place of what it was")
    );
    assert_eq!(place.content("a/b/notes.txt"), "");
    assert_eq!(names(&place.at("a/b")), ["notes.txt"]); // and no temporary file
}

#[tokio::test]
async fn a_file_keeps_its_permissions_and_one_that_is_read_only_its_text() {
    let place = Place::new();
    for (name, mode) in [("script.sh", 0o750), ("fixed.txt", 0o444)] {
        place.file(name, "before");
        fs::set_permissions(place.at(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    place
        .call(
            "fs_write",
            json!({ "path": "script.sh", "content": "after" }),
        )
        .await
        .unwrap();
    let mode = fs::metadata(place.at("script.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750);
    for (tool, arguments) in [
        (
            "fs_write",
            json!({ "path": "fixed.txt", "content": "after" }),
        ),
        (
            "fs_edit",
            json!({ "path": "fixed.txt", "old_string": "before", "new_string": "after" }),
        ),
    ] {
        let said = place.call(tool, arguments).await.unwrap_err();
        assert_eq!(said, "\"fixed.txt\" is read-only");
    }
    assert_eq!(place.content("fixed.txt"), "before");
}

/// Who reads a file while it is written sees what it was or what it becomes, and nothing between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_written_whole() {
    let place = Place::new();
    let contents = ["a".repeat(300_000), "b".repeat(400_000)];
    place.file("whole.txt", &contents[0]);
    let ended = Arc::new(AtomicBool::new(false));
    let seen: Arc<[AtomicUsize; 2]> = Arc::default();
    let reading = std::thread::spawn({
        let (ended, seen) = (Arc::clone(&ended), Arc::clone(&seen));
        let (file, contents) = (place.at("whole.txt"), contents.clone());
        move || {
            while !ended.load(Ordering::Relaxed) {
                let read = fs::read_to_string(&file).unwrap();
                let which = contents.iter().position(|content| *content == read);
                seen[which.expect("it is one of both")].fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    for turn in 0..10_000 {
        let content = &contents[(turn + 1) % 2];
        let arguments = json!({ "path": "whole.txt", "content": content });
        place.call("fs_write", arguments).await.unwrap();
        let times = |which: usize| seen[which].load(Ordering::Relaxed);
        if turn > 50 && times(0) > 5 && times(1) > 5 {
            break;
        }
    }
    ended.store(true, Ordering::Relaxed);
    reading.join().unwrap();
    assert!(
        seen.iter().all(|times| times.load(Ordering::Relaxed) > 5),
        "{seen:?}"
    );
    assert_eq!(names(&place.at("")), ["whole.txt"]);
}

#[tokio::test]
async fn a_text_that_occurs_once_is_replaced() {
    let place = Place::new();
    place.file("notes.txt", "one two\r\nthree $1 two\r\n");
    let edit = |old: &str, new: &str| {
        let arguments = json!({ "path": "notes.txt", "old_string": old, "new_string": new });
        place.call("fs_edit", arguments)
    };
    let cases = [
        ("four", "5", "`old_string` does not occur"),
        (
            "two",
            "2",
            "`old_string` occurs more than once; give more of the text around it",
        ),
        ("", "2", "`old_string` is empty"),
        ("one", "one", "`new_string` is the same as `old_string`"),
        (
            "two\nthree",
            "x",
            "`old_string` does not occur; the lines of the file end with \\r\\n",
        ),
    ];
    for (old, new, reason) in cases {
        let said = edit(old, new).await.unwrap_err();
        assert_eq!(said, format!("\"notes.txt\" is not changed: {reason}"));
    }
    assert_eq!(place.content("notes.txt"), "one two\r\nthree $1 two\r\n");
    let said = edit("two\r\nthree $1", "2\r\n$0").await;
    assert_eq!(said.as_deref(), Ok("replaced the text in notes.txt"));
    assert_eq!(place.content("notes.txt"), "one 2\r\n$0 two\r\n");

    place.file("notes.txt", "ababa üüü");
    for text in ["aba", "üü"] {
        let said = edit(text, "x").await.unwrap_err();
        assert!(
            said.contains("occurs more than once"),
            "overlapping: {said}"
        );
    }
}

/// Other changes wait for an edit, so it may not take a time that grows with both texts.
#[tokio::test]
async fn an_edit_of_a_text_that_repeats_is_fast() {
    let place = Place::new();
    place.file("same.txt", "a".repeat(800_000));
    let arguments = json!({
        "path": "same.txt", "old_string": "a".repeat(4_000), "new_string": "b",
    });
    let started = Instant::now();
    let said = place.call("fs_edit", arguments).await.unwrap_err();
    assert!(said.contains("occurs more than once"), "{said}");
    let took = started.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
}

/// A model may ask for several changes at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_of_one_file_that_are_made_at_once_are_all_kept() {
    let place = Place::new();
    let words: Vec<String> = (10..60).map(|number| format!("word{number}")).collect();
    place.file("notes.txt", words.join(" "));
    let edits = words.iter().map(|word| {
        let new = word.to_uppercase();
        let arguments = json!({ "path": "notes.txt", "old_string": word, "new_string": new });
        place.call("fs_edit", arguments)
    });
    for said in join_all(edits).await {
        said.unwrap();
    }
    assert_eq!(place.content("notes.txt"), words.join(" ").to_uppercase());
}

#[tokio::test]
async fn folders_are_made_and_removed() {
    let place = Place::new();
    let said = place.call("fs_mkdir", json!({ "path": "a/b/c" })).await;
    assert_eq!(said.as_deref(), Ok("made the folder a/b/c"));
    let said = place.call("fs_mkdir", json!({ "path": "a/b" })).await;
    assert_eq!(said.as_deref(), Ok("the folder a/b is there already"));
    place.file("a/b/notes.txt", "x");
    let said = place
        .call("fs_remove", json!({ "path": "a/b/notes.txt" }))
        .await;
    assert_eq!(said.as_deref(), Ok("removed a/b/notes.txt"));
    let said = place.call("fs_remove", json!({ "path": "a/b/c" })).await;
    assert_eq!(said.as_deref(), Ok("removed the empty folder a/b/c"));
    place.file("a/b/notes.txt", "x");
    let said = place
        .call("fs_remove", json!({ "path": "a", "recursive": true }))
        .await;
    assert_eq!(
        said.as_deref(),
        Ok("removed the folder a and all that was in it")
    );
    assert_eq!(names(&place.at("")), [""; 0]);
}
