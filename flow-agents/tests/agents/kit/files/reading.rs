use std::os::unix::fs::symlink;

use serde_json::json;

use super::Place;

fn place() -> Place {
    let place = Place::new();
    place.file("README.md", "# Weather\nIt rains.\r\nit shines\n");
    place.file("src/main.rs", "fn main() {\n    rains();\n}\n");
    place.file("src/deep/rain.rs", "// It rains, and rains.\n");
    place.file("image.png", b"\x89PNG\0It rains");
    place.file("empty.txt", "");
    place.file("odd\nname.txt", "It rains.\n");
    place
}

#[tokio::test]
async fn a_folder_is_listed_by_name_with_sizes() {
    let place = place();
    symlink("src", place.at("link")).unwrap();
    let listed = place.call("fs_ls", json!({})).await;
    let said = "README.md (31 bytes)\nempty.txt (0 bytes)\nimage.png (13 bytes)\nlink (link)\n\
                odd\\nname.txt (10 bytes)\nsrc/";
    assert_eq!(listed.as_deref(), Ok(said));
    let listed = place.call("fs_ls", json!({ "path": "./src/" })).await;
    assert_eq!(listed.as_deref(), Ok("deep/\nmain.rs (27 bytes)"));
    std::fs::create_dir(place.at("nothing")).unwrap();
    let listed = place.call("fs_ls", json!({ "path": "nothing" })).await;
    assert_eq!(listed.as_deref(), Ok("the folder is empty"));
}

#[tokio::test]
async fn files_are_found_by_a_pattern() {
    let place = place();
    let cases = [
        (
            json!({ "pattern": "*.rs" }),
            "src/deep/rain.rs\nsrc/main.rs",
        ),
        (json!({ "pattern": "src/*.rs" }), "src/main.rs"),
        (
            json!({ "pattern": "src/**/*.rs" }),
            "src/deep/rain.rs\nsrc/main.rs",
        ),
        (json!({ "pattern": "*.{md,png}" }), "README.md\nimage.png"),
        (
            json!({ "pattern": "deep/*", "path": "src" }),
            "src/deep/rain.rs",
        ),
        (json!({ "pattern": "main.??" }), "src/main.rs"),
        (json!({ "pattern": "odd*" }), "odd\\nname.txt"),
        (json!({ "pattern": "*.py" }), "no file matches"),
    ];
    for (arguments, found) in cases {
        assert_eq!(
            place.call("fs_glob", arguments.clone()).await.as_deref(),
            Ok(found),
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn lines_are_found_by_a_pattern() {
    let place = place();
    let binary = "\n… 1 file was not searched: binary";
    let cases = [
        (
            json!({ "pattern": "rains" }),
            format!(
                "README.md:2:It rains.\nodd\\nname.txt:1:It rains.\nsrc/deep/rain.rs:1:// It rains, \
                 and rains.\nsrc/main.rs:2:    rains();{binary}"
            ),
        ),
        (
            json!({ "pattern": "(?i)^IT S" }),
            format!("README.md:3:it shines{binary}"),
        ),
        (
            json!({ "pattern": "RAINS" }),
            format!("no line matches{binary}"),
        ),
        (
            json!({ "pattern": "rains", "glob": "*.rs", "path": "src" }),
            "src/deep/rain.rs:1:// It rains, and rains.\nsrc/main.rs:2:    rains();".to_owned(),
        ),
        (
            json!({ "pattern": "rains", "path": "src/main.rs", "context": 1 }),
            "src/main.rs-1-fn main() {\nsrc/main.rs:2:    rains();\nsrc/main.rs-3-}".to_owned(),
        ),
        (
            json!({ "pattern": "Weather|shines", "path": "README.md", "context": 1 }),
            "README.md:1:# Weather\nREADME.md-2-It rains.\nREADME.md:3:it shines".to_owned(),
        ),
    ];
    for (arguments, found) in cases {
        assert_eq!(
            place.call("fs_grep", arguments.clone()).await,
            Ok(found),
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn a_file_is_read_as_it_is() {
    let place = place();
    let read = place.call("fs_read", json!({ "path": "README.md" })).await;
    assert_eq!(read.as_deref(), Ok("# Weather\nIt rains.\r\nit shines\n"));
    let read = place
        .call(
            "fs_read",
            json!({ "path": "README.md", "offset": 2, "limit": 2 }),
        )
        .await;
    assert_eq!(read.as_deref(), Ok("It rains.\r\nit shines\n"));
    let read = place.call("fs_read", json!({ "path": "empty.txt" })).await;
    assert_eq!(read.as_deref(), Ok("… the file is empty"));
    place.file("without.txt", "no end of line");
    let read = place
        .call("fs_read", json!({ "path": "without.txt" }))
        .await;
    assert_eq!(read.as_deref(), Ok("no end of line"));
}
