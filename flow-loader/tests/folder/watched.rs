//! Folders that are watched.

use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use super::*;

/// Nothing takes this long unless it does not happen.
const AT_LAST: Duration = Duration::from_secs(60);

fn next(reports: &Receiver<Reload>) -> [Vec<String>; 3] {
    let reload = reports.recv_timeout(AT_LAST).unwrap();
    let changed = reload.changed.iter().map(|flow| flow.name().to_owned());
    let problems = reload.problems.iter().map(ToString::to_string);
    [
        changed.collect(),
        reload.removed.clone(),
        problems.collect(),
    ]
}

#[test]
fn changes_of_files_are_reported() {
    let test = Test::new();
    test.write("a.yaml", text("A", &["greet"]));
    let (sender, reports) = mpsc::channel();
    let folder = Folder::new(test.path.path(), nodes());
    let watch = folder
        .watch(move |reload| sender.send(reload).unwrap())
        .unwrap();
    let none = || Vec::<String>::new();
    assert_eq!(next(&reports), [vec!["A".to_owned()], none(), none()]);

    test.write("a.yaml", text("A", &["greet", "shout"]));
    assert_eq!(next(&reports), [vec!["A".to_owned()], none(), none()]);

    // As editors do it: a new file is given the name of the old one.
    test.write(".a.yaml.new", text("A", &["gret"]));
    fs::rename(test.path(".a.yaml.new"), test.path("a.yaml")).unwrap();
    let [changed, removed, problems] = next(&reports);
    assert_eq!((changed, removed), (none(), none()));
    assert!(
        problems[0].contains("a.yaml:7:13: no node `gret`"),
        "{problems:?}"
    );

    test.write("inside/b.yaml", text("B", &["greet"]));
    test.write("a.yaml", text("A", &["greet"]));
    let (mut changed, mut last) = (Vec::new(), Vec::new());
    while changed.len() < 2 {
        let [now, _, problems] = next(&reports);
        changed.extend(now);
        last = problems;
    }
    changed.sort();
    assert_eq!(
        (changed, last),
        (vec!["A".to_owned(), "B".to_owned()], none())
    );

    // A folder that is there again is watched again.
    let (aside, root) = (tempfile::tempdir().unwrap(), test.path.path());
    let aside = aside.path().join("aside");
    fs::rename(root, &aside).unwrap();
    let [changed, removed, problems] = next(&reports);
    assert_eq!((changed, removed, problems.len()), (none(), none(), 1));
    fs::rename(&aside, root).unwrap();
    assert_eq!(next(&reports), [none(), none(), none()]);
    test.remove("a.yaml");
    assert_eq!(next(&reports), [none(), vec!["A".to_owned()], none()]);

    drop(watch);
    // The sender is dropped with the thread.
    assert!(
        reports
            .recv_timeout(AT_LAST)
            .is_err_and(|error| error == mpsc::RecvTimeoutError::Disconnected)
    );
}

/// No event says so: what is around the folder is not watched.
#[cfg(unix)]
#[test]
fn a_folder_that_is_gone_with_the_one_around_it_is_reported() {
    let test = Test::new();
    test.write("around/inside/a.yaml", text("A", &["greet"]));
    let (sender, reports) = mpsc::channel();
    let folder = Folder::new(test.path("around/inside"), nodes());
    let watch = folder
        .watch(move |reload| sender.send(reload).unwrap())
        .unwrap();
    assert_eq!(next(&reports), [vec!["A".to_owned()], vec![], vec![]]);
    fs::rename(test.path("around"), test.path("aside")).unwrap();
    let [changed, removed, problems] = next(&reports);
    assert_eq!((changed.len(), removed.len(), problems.len()), (0, 0, 1));
    drop(watch);
}

#[test]
fn what_is_not_there_cannot_be_watched() {
    let folder = Folder::new("nowhere", nodes());
    let error = folder.watch(|_| {}).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
}

/// As deployments do it: a link leads to the release of now, and is set to the next one at once. Nothing
/// in the folder to which it led changes. What changes in the one to which it leads is seen, too.
#[cfg(unix)]
#[test]
fn a_link_that_leads_to_another_folder_is_followed() {
    use std::os::unix::fs::symlink;
    let test = Test::new();
    test.write("releases/1/a.yaml", text("A", &["greet"]));
    test.write("releases/2/a.yaml", text("A", &["greet", "shout"]));
    let set = |release: &str| {
        symlink(test.path(release), test.path("next")).unwrap();
        fs::rename(test.path("next"), test.path("current")).unwrap();
    };
    set("releases/1");
    let (sender, reports) = mpsc::channel();
    let folder = Folder::new(test.path("current"), nodes());
    let watch = folder
        .watch(move |reload| sender.send(reload).unwrap())
        .unwrap();
    let a = || vec!["A".to_owned()];
    let none = || Vec::<String>::new();
    assert_eq!(next(&reports), [a(), none(), none()]);
    set("releases/2");
    assert_eq!(next(&reports), [a(), none(), none()]);
    // The new one is watched.
    test.write("releases/2/a.yaml", text("A", &["greet"]));
    assert_eq!(next(&reports), [a(), none(), none()]);
    // So is another folder of the name of one around it.
    fs::rename(test.path("releases"), test.path("earlier")).unwrap();
    test.write("releases/2/a.yaml", text("A", &["greet", "shout"]));
    let mut changed = Vec::new();
    while changed.is_empty() {
        let [now, removed, _] = next(&reports);
        assert_eq!(removed, none());
        changed = now;
    }
    assert_eq!(changed, a());
    drop(watch);
}
