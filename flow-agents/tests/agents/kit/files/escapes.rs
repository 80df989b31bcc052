//! Paths that try to leave the folder.

use serde_json::json;

use super::Place;

const DOTS: &str = "it has `..` in it";
const ABSOLUTE: &str = "it is absolute";
const DRIVE: &str = "it names a drive";
const BACKSLASH: &str = "it has a backslash in it";
const CONTROL: &str = "it has a control character in it";

/// Paths that are refused as they are written, whatever is there.
const WRITTEN: &[(&str, &str)] = &[
    ("..", DOTS),
    ("../", DOTS),
    ("../outside", DOTS),
    ("../outside/canary.txt", DOTS),
    ("./../outside/canary.txt", DOTS),
    (".//..//outside//canary.txt", DOTS),
    ("sub/../../outside/canary.txt", DOTS),
    ("sub/../notes.txt", DOTS), // it stays inside, and is refused all the same: the rule has no exceptions
    ("missing/../../outside/canary.txt", DOTS),
    ("notes.txt/../../outside/canary.txt", DOTS),
    ("sub/sub/../../../outside/canary.txt", DOTS),
    ("../inside/notes.txt", DOTS),
    ("../../../../../../../../../../etc/passwd", DOTS),
    ("sub/..", DOTS),
    ("/", ABSOLUTE),
    ("//", ABSOLUTE),
    ("/etc/passwd", ABSOLUTE),
    ("//etc/passwd", ABSOLUTE),
    ("/../etc/passwd", ABSOLUTE),
    ("/./notes.txt", ABSOLUTE),
    ("/proc/self/environ", ABSOLUTE),
    ("/proc/self/cwd/Cargo.toml", ABSOLUTE),
    ("/dev/stdin", ABSOLUTE),
    ("//server/share/canary.txt", ABSOLUTE),
    ("C:", DRIVE),
    ("C:\\Windows\\win.ini", DRIVE),
    ("c:/Windows/win.ini", DRIVE),
    ("C:notes.txt", DRIVE),
    ("..\\outside\\canary.txt", BACKSLASH),
    ("sub\\..\\..\\outside", BACKSLASH),
    ("\\\\server\\share", BACKSLASH),
    ("\\\\?\\C:\\Windows", BACKSLASH),
    ("\\etc\\passwd", BACKSLASH),
    ("notes.txt\0", CONTROL),
    ("notes.txt\0.png", CONTROL),
    ("\0", CONTROL),
    ("../outside/canary.txt\0", CONTROL),
    ("notes.txt\n", CONTROL),
    ("\r\n../outside", CONTROL),
    ("\u{1b}[2Jnotes.txt", CONTROL),
    ("sub/\u{7f}", CONTROL),
    ("\u{85}notes.txt", CONTROL),
];

#[tokio::test]
async fn a_path_that_is_written_as_one_outside_is_refused_by_every_tool() {
    let place = Place::new();
    place.file("notes.txt", "inside\n");
    place.file("sub/sub/notes.txt", "inside\n");
    let long = "a/".repeat(2_049);
    let wide = "../".repeat(100_000);
    let long = [
        (long.as_str(), "it is longer than 4,096 bytes"),
        (&wide, "it is longer than"),
    ];
    for (path, reason) in WRITTEN.iter().chain(&long) {
        for (tool, said) in place.call_all(path).await {
            let said = said.expect_err(path);
            assert!(
                said.starts_with("the path \""),
                "{tool} of {path:?}: {said}"
            );
            assert!(said.contains(reason), "{tool} of {path:?}: {said}");
            assert!(said.len() < 500, "{tool} of {path:?}: {} bytes", said.len());
        }
    }
    place.assert_untouched();
    assert_eq!(super::names(&place.at("")), ["notes.txt", "sub"]);
}

/// Names that look like a way out, and are names like any others.
#[tokio::test]
async fn a_name_that_only_looks_like_a_way_out_is_one_in_the_folder() {
    let place = Place::new();
    let names = [
        "%2e%2e/outside/canary.txt",
        "..%2foutside%2fcanary.txt",
        "%252e%252e/canary.txt",
        "．．/outside/canary.txt", // fullwidth
        "‥/outside/canary.txt",    // two dots in one character
        "。。/outside/canary.txt",
        "․․/outside/canary.txt",
        "..∕outside∕canary.txt", // a slash of mathematics
        "..⁄outside",
        "..../outside/canary.txt",
        "... /outside",
        ".. /outside/canary.txt",
        " ../outside/canary.txt",
        "~/canary.txt",
        "~root/.ssh/id_rsa",
        "$HOME/canary.txt",
        "${HOME}/canary.txt",
        "`pwd`/canary.txt",
        "file:///etc/passwd",
        "file:../outside/canary.txt",
        "--help",
        "*",
        "\u{202e}txt.yranac",
        "..\u{200b}/outside/canary.txt",
    ];
    for name in names {
        let said = place
            .call("fs_read", json!({ "path": name }))
            .await
            .unwrap_err();
        assert!(said.starts_with("there is nothing at "), "{name}: {said}");
        place
            .call("fs_write", json!({ "path": name, "content": "inside" }))
            .await
            .unwrap();
        let said = place.call("fs_read", json!({ "path": name })).await;
        assert_eq!(said.as_deref(), Ok("inside"), "{name}");
    }
    let long = format!("{}.txt", "n".repeat(300));
    let said = place
        .call("fs_write", json!({ "path": long, "content": "" }))
        .await
        .unwrap_err();
    assert!(said.contains("a name in it is too long"), "{said}");
    place.assert_untouched();
}
