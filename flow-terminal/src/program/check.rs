//! The command `check`.

use std::path::Path;

use flow_loader::{FileProblem, Folder, load_file};
use flow_spec::visible;

use super::{Program, arguments};
use crate::output::{Outcome, print, tell_error};

impl Program {
    pub(super) fn check(&self, arguments: &arguments::Check) -> Result<Outcome, String> {
        let mut outcome = Outcome::Fine;
        for path in &arguments.paths {
            let (names, problems) = self.checked(path);
            for problem in problems {
                outcome = Outcome::Found;
                tell_error(&problem.to_string());
            }
            for name in names {
                let path = path.display().to_string();
                print(&format!(
                    "{}: `{}` is sound\n",
                    visible(&path),
                    visible(&name)
                ))?;
            }
        }
        Ok(outcome)
    }

    /// Returns the names of the sound flows, and the problems of the others.
    fn checked(&self, path: &Path) -> (Vec<String>, Vec<FileProblem>) {
        if path.is_dir() {
            let loaded = Folder::new(path, self.nodes.clone()).reload();
            let names = loaded.changed.iter().map(|flow| flow.name().to_owned());
            return (names.collect(), loaded.problems);
        }
        match load_file(path, &self.nodes) {
            Ok(flow) => (vec![flow.name().to_owned()], Vec::new()),
            Err(problems) => (Vec::new(), problems),
        }
    }
}
