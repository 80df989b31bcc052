//! Outputs without end: what comes back has a largest size, and says what is missing.

use std::time::Duration;

use serde_json::json;

use super::Place;

/// More than a tool returns: 20,000 characters, and what it says of the rest.
const MOST: usize = 20_400;

#[tokio::test]
async fn a_long_file_is_read_in_parts_that_lose_nothing() {
    let place = Place::new();
    let content: String = (1..=5_000).map(|line| format!("line {line} ü\n")).collect();
    place.file("long.txt", &content);
    let mut whole = String::new();
    let mut offset = 1;
    let mut parts = 0;
    loop {
        let part = place
            .call("fs_read", json!({ "path": "long.txt", "offset": offset }))
            .await
            .unwrap();
        assert!(part.chars().count() < MOST);
        parts += 1;
        let Some((lines, note)) = part.split_once("… ") else {
            whole.push_str(&part);
            break;
        };
        whole.push_str(lines);
        let next = note.split("read on with offset ").nth(1).unwrap();
        offset = next.parse().unwrap();
    }
    assert_eq!(whole, content);
    assert_eq!(parts, 3);
    let part = json!({ "path": "long.txt", "offset": 4_998, "limit": 2 });
    let part = place.call("fs_read", part).await;
    let said = "line 4998 ü\nline 4999 ü\n… 1 more line; read on with offset 5000";
    assert_eq!(part.as_deref(), Ok(said));
    let beyond = place
        .call("fs_read", json!({ "path": "long.txt", "offset": 5_001 }))
        .await;
    assert_eq!(
        beyond.as_deref(),
        Ok("… there is no line 5,001; the file has 5,000 lines")
    );
}

#[tokio::test]
async fn a_line_without_end_is_cut() {
    let place = Place::new();
    place.file("line.txt", format!("{}\nnext\n", "ü".repeat(1_000_000)));
    let read = place
        .call("fs_read", json!({ "path": "line.txt" }))
        .await
        .unwrap();
    let (line, notes) = read.split_once('\n').unwrap();
    assert_eq!(line, "ü".repeat(20_000));
    let said = "… 980,001 more characters of line 1, which cannot be read: the line is too long\n\
                … 1 more line; read on with offset 2";
    assert_eq!(notes, said);
    let found = place
        .call("fs_grep", json!({ "pattern": "ü" }))
        .await
        .unwrap();
    assert_eq!(found, format!("line.txt:1:{}…", "ü".repeat(500)));
}

#[tokio::test]
async fn a_file_that_is_too_large_is_read_at_its_beginning_and_not_edited() {
    let mut place = Place::new();
    place.folder = place.folder.max_file_bytes(10);
    place.file("large.txt", "1234567\nü9ab"); // the tenth byte is the second one of ü
    place.file("cut.txt", "12345678\nü9ab");
    let read = place.call("fs_read", json!({ "path": "large.txt" })).await;
    let said = "1234567\nü\n… 3 more bytes, which cannot be read: the file is too large";
    assert_eq!(read.as_deref(), Ok(said));
    let read = place
        .call("fs_read", json!({ "path": "cut.txt" }))
        .await
        .unwrap();
    assert!(read.starts_with("12345678\n… "), "{read}");
    let found = place.call("fs_grep", json!({ "pattern": "9" })).await;
    let said = "no line matches\n… 2 files were searched only at the beginning: too large";
    assert_eq!(found.as_deref(), Ok(said));
    let edit = json!({ "path": "large.txt", "old_string": "1", "new_string": "2" });
    let said = place.call("fs_edit", edit).await.unwrap_err();
    assert_eq!(
        said,
        "\"large.txt\" is too large: 13 bytes, and at most 10 are allowed"
    );
    let write = json!({ "path": "large.txt", "content": "x".repeat(11) });
    let said = place.call("fs_write", write).await.unwrap_err();
    assert_eq!(
        said,
        "\"large.txt\" is too large: 11 bytes, and at most 10 are allowed"
    );
    place.file("small.txt", "1234567890");
    let edit = json!({ "path": "small.txt", "old_string": "0", "new_string": "ab" });
    let said = place.call("fs_edit", edit).await.unwrap_err();
    assert_eq!(
        said,
        "\"small.txt\" is too large: 11 bytes, and at most 10 are allowed"
    );
    assert_eq!(place.content("large.txt"), "1234567\nü9ab");
    assert_eq!(place.content("small.txt"), "1234567890");
}

/// A search goes on when its tool is dropped, so it has to end by itself.
#[tokio::test]
async fn a_search_that_takes_too_long_ends() {
    let mut place = Place::new();
    place.folder = place.folder.max_search_time(Duration::ZERO);
    place.file("1.txt", "here\n");
    let search = json!({ "pattern": "here" });
    let found = place.call("fs_grep", search).await.unwrap();
    println!("{found}");
    let note =
        "… not all was searched within 0ns; use a simpler pattern, or name a folder in `path`";
    assert!(found.ends_with(note), "{found}");
    assert!(!found.contains("1.txt"), "{found}");
}

#[tokio::test]
async fn a_long_line_is_searched_at_its_beginning() {
    let place = Place::new();
    let long = "ü".repeat(50_000);
    place.file("long.txt", format!("near {long} far\nfar\n"));
    let search = |pattern: &str| place.call("fs_grep", json!({ "pattern": pattern }));
    let found = search("far").await;
    let said = "long.txt:2:far\n… 1 line was searched only at the beginning: too long";
    assert_eq!(found.as_deref(), Ok(said));
    let found = search("near").await.unwrap();
    assert!(found.starts_with("long.txt:1:near") && !found.contains("too long"));
    // What is often searched for is not too large a pattern.
    let found = search(r"fn \w+\(\w+: \w+, \w+: \w+\) -> (?i:\w+)").await;
    assert!(found.unwrap().starts_with("no line matches"));
}

#[tokio::test]
async fn a_folder_of_many_files_is_listed_in_part() {
    let place = Place::new();
    for number in 0..3_000 {
        place.file(&format!("many/file_{number:04}.txt"), "x\n");
    }
    let listed = place
        .call("fs_ls", json!({ "path": "many" }))
        .await
        .unwrap();
    assert!(
        listed.starts_with("file_0000.txt (2 bytes)\nfile_0001.txt"),
        "{listed}"
    );
    let shown = listed.lines().count() - 1;
    let left = 3_000 - shown;
    let said = format!("\n… {},{:03} more entries", left / 1_000, left % 1_000);
    assert!(
        listed.ends_with(&said) && listed.chars().count() < MOST,
        "{listed}"
    );
    let found = place
        .call("fs_glob", json!({ "pattern": "*_2*" }))
        .await
        .unwrap();
    assert_eq!(found.lines().count(), 1_000);
    let found = place
        .call("fs_glob", json!({ "pattern": "*.txt" }))
        .await
        .unwrap();
    let shown = found.lines().count() - 1;
    assert!(found.ends_with(&format!(
        "… {},{:03} more files",
        (3_000 - shown) / 1_000,
        (3_000 - shown) % 1_000
    )));
    let found = place
        .call("fs_grep", json!({ "pattern": "x" }))
        .await
        .unwrap();
    assert!(found.chars().count() < MOST);
    assert!(
        found.ends_with("\n… there is more; narrow the pattern, the path or the glob"),
        "{found}"
    );
}

#[tokio::test]
async fn folders_without_end_are_left_at_some_depth() {
    let place = Place::new();
    place.file(&format!("{}deepest.txt", "d/".repeat(70)), "x\n");
    place.file(&format!("{}last.txt", "d/".repeat(63)), "x\n");
    let found = place
        .call("fs_glob", json!({ "pattern": "*.txt" }))
        .await
        .unwrap();
    let note = "… 1 folder more than 64 folders deep: not looked into";
    assert_eq!(found, format!("{}last.txt\n{note}", "d/".repeat(63)));
    let deep = "d/".repeat(50);
    let found = place
        .call("fs_glob", json!({ "pattern": "deep*", "path": deep }))
        .await
        .unwrap();
    assert_eq!(found, format!("{}deepest.txt", "d/".repeat(70)));
}
