//! Folders whose documents are loaded again when they change.

use std::fs;
use std::path::{MAIN_SEPARATOR, Path};

use flow_loader::{Folder, Format, LoadedFlow, Registry, Reload, load, registry};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tempfile::TempDir;

#[cfg(feature = "watch")]
mod watched;

#[node]
fn greet(name: &str) -> String {
    format!("Hello, {name}!")
}

#[node(writes = greet)]
fn shout(greet: &str) -> String {
    greet.to_uppercase()
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "Greet {name}?")]
enum Consent {
    Yes,
    No,
}

fn nodes() -> Registry {
    registry![greet, shout, Consent]
}

/// A flow with this name and these nodes, one after the other.
fn text(flow: &str, nodes: &[&str]) -> String {
    let mut text = format!(
        "version: 2.0.0\n\
         name: {flow}\n\
         namespace: {}\n\
         inputs: {{ type: object, properties: {{ name: {{}} }}, required: [name] }}\n\
         outputs: {{ type: object, properties: {{ greet: {{}} }}, required: [greet] }}\n\
         nodes:\n",
        flow.to_lowercase()
    );
    for node in nodes {
        text += &format!("  - {{ type: {node}, id: {} }}\n", node.to_lowercase());
    }
    text += &format!("entryNodeId: {}\nedges: [\n", nodes[0].to_lowercase());
    for pair in nodes.windows(2) {
        let (from, to) = (pair[0].to_lowercase(), pair[1].to_lowercase());
        text += &format!("  {{ from: {from}, to: {to}, condition: default }},\n");
    }
    let last = nodes[nodes.len() - 1].to_lowercase();
    text + &format!("]\nends:\n  - {{ from: {last}, condition: default, label: default }}\n")
}

struct Test {
    path: TempDir,
    folder: Folder,
}

impl Test {
    fn new() -> Self {
        let path = tempfile::tempdir().unwrap();
        let folder = Folder::new(path.path(), nodes());
        Test { path, folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.path.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// The names of what has changed and of what is gone, and the problems.
    fn reload(&mut self) -> [Vec<String>; 3] {
        let Reload {
            changed,
            removed,
            problems,
            ..
        } = self.folder.reload();
        let root = format!("{}{MAIN_SEPARATOR}", self.path.path().display());
        let changed = changed.iter().map(|flow| flow.name().to_owned());
        let problems = problems.iter().map(|problem| problem.to_string());
        [
            changed.collect(),
            removed,
            problems.map(|text| text.replace(&root, "")).collect(),
        ]
    }

    #[track_caller]
    fn assert(&mut self, changed: &[&str], removed: &[&str], problems: &[&str]) {
        assert_eq!(self.reload(), [changed, removed, problems]);
    }

    fn names(&self) -> Vec<&str> {
        self.folder.flows().map(LoadedFlow::name).collect()
    }

    /// What a flow says to Ann.
    fn said(&self, flow: &str) -> String {
        let mut flows = self.folder.flows();
        let flow = flows.find(|other| other.name() == flow).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let ran = flow.run(json!({ "name": "Ann" }));
        let output = runtime.unwrap().block_on(ran).unwrap();
        output["greet"].as_str().unwrap().to_owned()
    }
}

#[test]
fn documents_are_loaded_and_what_has_changed_is_loaded_again() {
    let mut test = Test::new();
    test.write("a.yaml", text("A", &["greet"]));
    let json = load(text("B", &["greet"]), Format::Yaml, &nodes()).unwrap();
    test.write("inside/b.JSON", json.structure());
    test.write("README.md", "nothing");
    test.write(".a.yaml", "nothing");
    test.write(".inside/a.yaml", "nothing");
    test.write("a.yaml~", "nothing");
    test.assert(&["A", "B"], &[], &[]);
    test.assert(&[], &[], &[]);
    test.write("a.yaml", format!("# A comment\n{}", text("A", &["greet"])));
    test.assert(&[], &[], &[]);
    test.write("a.yaml", text("A", &["greet", "shout"]));
    assert_eq!(test.said("A"), "Hello, Ann!");
    test.assert(&["A"], &[], &[]);
    assert_eq!(test.said("A"), "HELLO, ANN!");
    test.remove("a.yaml");
    test.assert(&[], &["A"], &[]);
    test.write("inside/b.JSON", json.structure().replace("\"B\"", "\"C\""));
    test.assert(&["C"], &["B"], &[]);
}

#[test]
fn a_broken_edit_leaves_the_flow_as_it_was() {
    let mut test = Test::new();
    let good = text("A", &["greet"]);
    test.write("a.yaml", &good);
    test.assert(&["A"], &[], &[]);
    let cut = &good[..good.len() / 2];
    for broken in [
        cut,
        "",
        "\u{0}",
        "nodes: [",
        &good.replace("type: greet", "type: great"),
    ] {
        test.write("a.yaml", broken);
        let [changed, removed, problems] = test.reload();
        assert_eq!((changed.len(), removed.len()), (0, 0), "{broken}");
        assert!(problems[0].starts_with("a.yaml:"), "{problems:?}");
        assert_eq!(test.said("A"), "Hello, Ann!");
    }
    let misspelt = "a.yaml:7:13: no node `great` is registered [F004]\nat /nodes/0/type\nhelp: did you mean `greet`?";
    test.assert(&[], &[], &[misspelt]);
    test.write("a.yaml", good);
    test.assert(&[], &[], &[]);
}

#[test]
fn documents_name_the_flows_of_others() {
    let mut test = Test::new();
    // Each before those that it names.
    test.write("a.yaml", text("Outer", &["Middle"]));
    test.write("b.yaml", text("Middle", &["Inner"]));
    test.write("c.yaml", text("Inner", &["greet"]));
    test.assert(&["Outer", "Middle", "Inner"], &[], &[]);
    assert_eq!(test.said("Outer"), "Hello, Ann!");

    // What is changed in one is changed in those that name it.
    test.write("c.yaml", text("Inner", &["greet", "shout"]));
    test.assert(&["Outer", "Middle", "Inner"], &[], &[]);
    assert_eq!(test.said("Outer"), "HELLO, ANN!");

    // A mistake is reported once, and those that name the flow have it as it was.
    test.write("c.yaml", text("Inner", &["greet", "shaut"]));
    test.write("b.yaml", text("Middle", &["Inner", "shout"]));
    let misspelt = "c.yaml:8:13: no node `shaut` is registered [F004]\nat /nodes/1/type\nhelp: did you mean `shout`?";
    test.assert(&["Outer", "Middle"], &[], &[misspelt]);
    test.write("c.yaml", "nodes: [");
    let [changed, removed, problems] = test.reload();
    assert!(changed.is_empty() && removed.is_empty() && problems.len() == 1);
    assert_eq!(test.said("Outer"), "HELLO, ANN!");

    // So is one in a document that is new.
    test.write("c.yaml", text("Inner", &["greet"]));
    test.write("d.yaml", text("New", &["gret"]));
    test.write("e.yaml", text("Other", &["New"]));
    let [changed, _, problems] = test.reload();
    assert_eq!(changed, ["Outer", "Middle", "Inner"]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    test.write("d.yaml", text("New", &["greet"]));
    test.assert(&["New", "Other"], &[], &[]);

    // What is gone is missed by those that name it.
    test.remove("d.yaml");
    let missing = "e.yaml:7:13: no node `New` is registered [F004]\nat /nodes/0/type\nhelp: register it: `registry![New]`";
    test.assert(&[], &["New"], &[missing]);
    assert_eq!(test.said("Other"), "Hello, Ann!");
}

/// F014
#[test]
fn documents_that_name_one_another_in_a_ring() {
    let mut test = Test::new();
    test.write("a.yaml", text("A", &["B"]));
    test.write("b.yaml", text("B", &["greet"]));
    test.assert(&["A", "B"], &[], &[]);
    test.write("b.yaml", text("B", &["A"]));
    test.write("c.yaml", text("C", &["A"]));
    test.write("d.yaml", text("D", &["D"]));
    let [changed, removed, problems] = test.reload();
    assert_eq!((changed, removed.len()), (vec!["C".to_owned()], 0));
    let [ring, itself] = &problems[..] else {
        panic!("{problems:#?}")
    };
    assert!(ring.contains("contains itself [F014]"), "{ring}");
    assert!(ring.contains("the way round: B > A > B"), "{ring}");
    assert!(
        itself.starts_with("d.yaml:7:13: the flow `D` contains itself [F014]"),
        "{itself}"
    );
    assert_eq!(test.said("C"), "Hello, Ann!");
}

#[test]
fn a_long_chain_of_names_is_loaded_or_refused() {
    let mut test = Test::new();
    for file in 0..60 {
        let text = text(&format!("F{file}"), &[&format!("F{}", file + 1)]);
        test.write(&format!("{file}.yaml"), text);
    }
    test.write("60.yaml", text("F60", &["greet"]));
    let [changed, _, problems] = test.reload();
    assert_eq!(changed.len(), 33, "the last ones");
    let deep = "27.yaml:7:13: flows nest deeper than 32 levels [F023]\nat /nodes/0/type";
    assert_eq!(problems, [deep], "the others follow from this one");
}

#[test]
fn two_files_with_flows_of_one_name() {
    let mut test = Test::new();
    test.write("b.yaml", text("A", &["greet"]));
    test.assert(&["A"], &[], &[]);
    // Whoever had the name first keeps it.
    test.write("a.yaml", text("A", &["greet", "shout"]));
    let twice = "a.yaml:2:7: the flow `A` is in `b.yaml` already [F017]\nat /name\nhelp: give one of them another name";
    test.assert(&[], &[], &[twice]);
    test.remove("b.yaml");
    test.assert(&["A"], &[], &[]);
    // A name that another file gave up at the same time can be taken.
    test.write("a.yaml", text("B", &["greet"]));
    test.write("b.yaml", text("A", &["greet"]));
    test.assert(&["B", "A"], &[], &[]);
    // Even if the other file is broken.
    test.write("a.yaml", text("C", &["grit"]));
    test.write("b.yaml", text("B", &["greet", "shout"]));
    let [changed, removed, problems] = test.reload();
    assert_eq!((changed.len(), removed.len(), problems.len()), (1, 1, 1));
    assert_eq!(test.names(), ["B"]);
}

#[cfg(unix)]
#[test]
fn links_that_leave_the_folder_and_what_is_not_a_file_are_refused() {
    use std::os::unix::fs::symlink;
    let mut test = Test::new();
    let outside = Test::new();
    outside.write("secret.yaml", text("Secret", &["greet"]));
    symlink(outside.path("secret.yaml"), test.path("out.yaml")).unwrap();
    symlink(outside.path.path(), test.path("folder.yaml")).unwrap();
    symlink("nowhere.yaml", test.path("dangling.yaml")).unwrap();
    symlink(".", test.path("ring")).unwrap();
    symlink("loop.yaml", test.path("loop.yaml")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(test.path("pipe.yaml"))
        .status();
    assert!(made.unwrap().success());
    // As Kubernetes mounts a file.
    test.write(".data/a.yaml", text("A", &["greet"]));
    symlink(".data/a.yaml", test.path("a.yaml")).unwrap();
    let [changed, _, problems] = test.reload();
    assert_eq!(changed, ["A"]);
    let [dangling, folder, ring, out, pipe] = &problems[..] else {
        panic!("{problems:#?}")
    };
    assert_eq!(dangling, "dangling.yaml: this link leads to nothing");
    assert_eq!(folder, "folder.yaml: this link leads out of the folder");
    assert!(ring.starts_with("loop.yaml: "), "{ring}");
    assert_eq!(out, "out.yaml: this link leads out of the folder");
    assert_eq!(pipe, "pipe.yaml: this is not a regular file");
}

#[test]
fn a_folder_has_limits() {
    let mut test = Test::new();
    test.write("a.yaml", text("A", &["greet"]));
    test.assert(&["A"], &[], &[]);
    let large = fs::File::create(test.path("large.json")).unwrap();
    large.set_len(flow_text::LARGEST as u64).unwrap();
    drop(large); // on Windows, an open file may not be gone at once
    let [changed, removed, problems] = test.reload();
    assert_eq!((changed.len(), removed.len()), (0, 0));
    let too_large = "the documents of this folder have more than 32 MiB";
    assert!(problems[0].ends_with(too_large), "{problems:?}");
    test.remove("large.json");

    for file in 0..Folder::MOST_FILES {
        test.write(&format!("inside/{file}.yaml"), "");
    }
    let [changed, removed, problems] = test.reload();
    assert_eq!((changed.len(), removed.len()), (0, 0));
    assert!(
        problems[0].ends_with("this folder has more than 1000 documents"),
        "{problems:?}"
    );
    assert_eq!(test.names(), ["A"]);

    fs::remove_dir_all(test.path("inside")).unwrap();
    test.write(&format!("{}b.yaml", "x/".repeat(20)), text("B", &["greet"]));
    let [.., problems] = test.reload();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].ends_with("folders are read up to 16 levels deep"),
        "{problems:?}"
    );
}

#[test]
fn a_folder_that_is_gone_keeps_its_flows() {
    let mut test = Test::new();
    test.write("a.yaml", text("A", &["greet"]));
    test.assert(&["A"], &[], &[]);
    fs::remove_dir_all(test.path.path()).unwrap();
    let [changed, removed, problems] = test.reload();
    assert_eq!((changed.len(), removed.len(), problems.len()), (0, 0, 1));
    assert_eq!(test.names(), ["A"]);
    let mut nowhere = Folder::new(Path::new("nowhere"), nodes());
    let reload = nowhere.reload();
    assert_eq!(reload.problems[0].path(), Path::new("nowhere"));
    assert!(reload.problems[0].to_string().starts_with("nowhere: "));
}

const OUTER: &str = "
version: 2.0.0
name: Outer
namespace: outer
inputs: { type: object, properties: { name: {} }, required: [name] }
outputs: { type: object, properties: { greet: {} } }
nodes:
  - { type: flow.human, id: consent, params: { expects: Consent, prompt: 'Greet {name}?' } }
  - { type: Inner, id: inner }
entryNodeId: consent
edges:
  - { from: consent, to: inner, condition: 'yes' }
ends:
  - { from: consent, condition: 'no', label: refused }
  - { from: inner, condition: default, label: default }
";

#[tokio::test(start_paused = true)]
async fn executions_finish_on_the_document_on_which_they_started() {
    use std::sync::Arc;

    use flow_durable::{MemoryStore, Runtime, RuntimeOptions, StartOptions, Status};

    let store = Arc::new(MemoryStore::new());
    let test = Test::new();
    let process = |folder: &mut Folder| {
        let options = RuntimeOptions::new();
        let options = options.load_versions(|structure| load(structure, Format::Json, &nodes()));
        let runtime = Runtime::with_options(store.clone(), options);
        let reload = folder.reload();
        assert!(reload.problems.is_empty(), "{}", reload.problems[0]);
        for flow in reload.changed {
            runtime.replace(Arc::new(flow)).unwrap();
        }
        runtime
    };
    let start = async |runtime: &Runtime| {
        let input = json!({ "name": "Ann" });
        let started = runtime
            .executions()
            .start_json("Outer", input, StartOptions::new());
        let execution = started.await.unwrap().settled().await.unwrap();
        assert_eq!(execution.status(), Status::Paused);
        execution.id()
    };
    let answered = async |runtime: &Runtime, id| {
        let execution = runtime.executions().get(id).await.unwrap();
        let token = execution.questions().await.unwrap()[0].token();
        let execution = runtime
            .executions()
            .resume(token, Consent::Yes)
            .await
            .unwrap();
        let output = execution.settled().await.unwrap().output_json().unwrap();
        output.unwrap()["greet"].clone()
    };
    test.write("outer.yaml", OUTER);
    test.write("inner.yaml", text("Inner", &["greet"]));
    let mut folder = Folder::new(test.path.path(), nodes());
    let first = process(&mut folder);
    let waiting = [
        start(&first).await,
        start(&first).await,
        start(&first).await,
    ];

    // The file that is edited is not that of the flow which waits.
    test.write("inner.yaml", text("Inner", &["greet", "shout"]));
    for flow in folder.reload().changed {
        first.replace(Arc::new(flow)).unwrap();
    }
    let new = start(&first).await;
    assert_eq!(answered(&first, waiting[0]).await, "Hello, Ann!");
    assert_eq!(answered(&first, new).await, "HELLO, ANN!");
    first.shut_down().await;

    // A process that has only the new documents loads the others from the store.
    let mut folder = Folder::new(test.path.path(), nodes());
    let second = process(&mut folder);
    assert_eq!(answered(&second, waiting[1]).await, "Hello, Ann!");
    let new = start(&second).await;
    assert_eq!(answered(&second, new).await, "HELLO, ANN!");
    second.retire("Outer").unwrap();
    assert_eq!(answered(&second, waiting[2]).await, "Hello, Ann!");
}

/// A link that leads to nothing for a moment, as while what it leads to is exchanged, keeps its flow.
#[cfg(unix)]
#[test]
fn a_link_that_leads_to_nothing_keeps_its_flow() {
    use std::os::unix::fs::symlink;
    let mut test = Test::new();
    test.write(".data/a.yaml", text("A", &["greet"]));
    symlink(".data/a.yaml", test.path("a.yaml")).unwrap();
    test.assert(&["A"], &[], &[]);
    test.remove(".data/a.yaml");
    test.assert(&[], &[], &["a.yaml: this link leads to nothing"]);
    test.write(".data/a.yaml", text("A", &["greet", "shout"]));
    test.assert(&["A"], &[], &[]);
    // A link that is gone itself is one of a flow that is gone.
    test.remove("a.yaml");
    test.assert(&[], &["A"], &[]);
}

/// However much of a file has been written when it is read, its flow is the old one or the new one, or one
/// that is a sound document by itself.
#[test]
fn a_file_that_is_half_written_keeps_its_flow() {
    let mut test = Test::new();
    let (old, new) = (text("A", &["greet"]), text("A", &["greet", "shout"]));
    test.write("a.yaml", &old);
    test.assert(&["A"], &[], &[]);
    for length in 0..new.len() {
        test.write("a.yaml", &new[..length]);
        let [changed, removed, problems] = test.reload();
        assert!(removed.is_empty(), "{length}: {removed:?}");
        if changed.is_empty() {
            assert_eq!(test.said("A"), "Hello, Ann!", "{length}: {problems:?}");
        } else {
            assert!(problems.is_empty(), "{length}: {problems:?}");
            assert_eq!(test.said("A"), "HELLO, ANN!", "{length}");
            test.write("a.yaml", &old);
            test.assert(&["A"], &[], &[]);
        }
    }
    test.write("a.yaml", &new);
    test.assert(&["A"], &[], &[]);
}
