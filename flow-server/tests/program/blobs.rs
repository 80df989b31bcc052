//! Large values beside the store.

use std::fs;

use crate::Folder;

#[test]
fn values_above_a_size_are_in_the_folder_that_the_command_line_names() {
    let folder = Folder::new();
    let blobs = &["--blobs", "values", "--blobs-above", "100"][..];
    let employee = "Ann".repeat(100);
    let given = format!("employee={employee}");
    let start = ["start", "Claim", &given, "amount=30"];
    let done = folder.call(&[&start[..], blobs].concat()).json();
    assert_eq!(done["status"], "completed");
    let id = done["execution"].as_str().unwrap();
    let kept = folder.place.path().join("values").join(id);
    assert!(fs::read_dir(kept).unwrap().count() > 0);
    let receipt = format!("30 EUR to {employee}");
    assert_eq!(done["output"]["receipt"], receipt.as_str());
    let shown = folder
        .call(&[&["show", "--json", id], blobs].concat())
        .json();
    assert_eq!(shown["output"]["receipt"], receipt.as_str());

    let without = folder.call(&["show", "--json", id]);
    let told = format!("{}{}", without.output, without.error);
    assert!(told.contains("is kept as a blob"), "{told}");
    folder.call(&[&["delete", id], blobs].concat()).fine();
    let left = fs::read_dir(folder.place.path().join("values")).unwrap();
    assert_eq!(left.count(), 1, "the folder of what is being written");
}

#[test]
fn what_is_not_a_place_is_said() {
    let folder = Folder::new();
    for (arguments, words) in [
        (
            &["list", "--blobs", "ftp://host/blobs"][..],
            "`ftp://host/blobs` is not a place for blobs",
        ),
        (&["list", "--blobs", ""], "is not a place for blobs"),
        (
            &["list", "--blobs-above", "100"],
            "help: add `--blobs FOLDER`",
        ),
        (
            &["list", "--blobs", "values", "--blobs-above", "1k"],
            "invalid value '1k'",
        ),
    ] {
        let called = folder.call(arguments);
        assert!(called.refused().contains(words), "{}", called.error);
        assert!(
            !called.error.contains("the store failed"),
            "{}",
            called.error
        );
    }
}

#[test]
fn what_is_left_of_executions_that_are_gone_is_removed() {
    let folder = Folder::new();
    let blobs = &["--blobs", "values", "--blobs-above", "100"][..];
    let call = |arguments: &[&str]| folder.call(&[arguments, blobs].concat());
    let employee = format!("employee={}", "Ann".repeat(100));
    let start = ["start", "Claim", &employee, "amount=30"];
    let [gone, kept] = [call(&start).json(), call(&start).json()];
    let [gone, kept] = [&gone, &kept].map(|done| done["execution"].as_str().unwrap());
    // Without its blobs, only the row is removed.
    folder.call(&["delete", gone]).fine();

    assert_eq!(call(&["orphans"]).fine(), "", "they may be new");
    let orphans = ["orphans", "--older-than", "0s"];
    assert_eq!(call(&orphans).fine().trim(), gone);
    let other = ["--store", "sqlite:other.db", "--delete"];
    let refused = call(&[&orphans[..], &other].concat());
    assert!(refused.refused().contains("the store has no executions"));
    let deleted = call(&[&orphans[..], &["--delete"]].concat());
    assert_eq!(deleted.fine().trim(), "1");
    assert_eq!(call(&orphans).fine(), "");
    let values = folder.place.path().join("values");
    assert!(!values.join(gone).exists() && values.join(kept).exists());
    call(&["show", kept]).fine();

    let without = folder.call(&["orphans"]);
    assert!(without.refused().contains("add `--blobs FOLDER`"));
}
