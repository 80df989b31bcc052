//! The tools for one folder: what they do, and what they refuse.

mod arguments;
// Links, permissions and names as Unix has them.
#[cfg(unix)]
mod changing;
#[cfg(unix)]
mod escapes;
mod giants;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod reading;

use std::fs;
use std::path::{Path, PathBuf};

use flow_agents::kit::Folder;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::call;

/// The text of a file outside of the folder, which no tool may return or change.
const CANARY: &str = "the canary sings\n";

/// A folder to work in, and one beside it that nothing may touch.
struct Place {
    whole: TempDir,
    folder: Folder,
}

impl Place {
    fn new() -> Place {
        let whole = tempfile::tempdir().unwrap();
        fs::create_dir(whole.path().join("inside")).unwrap();
        fs::create_dir(whole.path().join("outside")).unwrap();
        fs::write(whole.path().join("outside/canary.txt"), CANARY).unwrap();
        let folder = Folder::open(whole.path().join("inside")).unwrap();
        Place { whole, folder }
    }

    /// A path in the folder.
    fn at(&self, path: &str) -> PathBuf {
        self.whole.path().join("inside").join(path)
    }

    /// A file in the folder.
    fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), content).unwrap();
    }

    fn content(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    fn outside(&self) -> PathBuf {
        self.whole.path().join("outside")
    }

    /// Calls a tool with the folder.
    async fn call(&self, tool: &str, arguments: Value) -> Result<String, String> {
        call(&self.folder.tools(), tool, arguments).await
    }

    /// Calls each tool with a path, and returns what each says.
    async fn call_all(&self, path: &str) -> Vec<(&'static str, Result<String, String>)> {
        let calls = [
            ("fs_ls", json!({ "path": path })),
            ("fs_glob", json!({ "path": path, "pattern": "*" })),
            ("fs_grep", json!({ "path": path, "pattern": "." })),
            ("fs_read", json!({ "path": path })),
            (
                "fs_write",
                json!({ "path": path, "content": "written by a tool" }),
            ),
            (
                "fs_edit",
                json!({ "path": path, "old_string": "sings", "new_string": "is mute" }),
            ),
            ("fs_mkdir", json!({ "path": path })),
            ("fs_remove", json!({ "path": path, "recursive": true })),
        ];
        let mut said = Vec::new();
        for (tool, arguments) in calls {
            said.push((tool, self.call(tool, arguments).await));
        }
        said
    }

    /// Nothing outside of the folder has changed.
    #[track_caller]
    fn assert_untouched(&self) {
        assert_eq!(names(self.whole.path()), ["inside", "outside"]);
        assert_eq!(names(&self.outside()), ["canary.txt"]);
        assert_eq!(
            fs::read_to_string(self.outside().join("canary.txt")).unwrap(),
            CANARY
        );
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
