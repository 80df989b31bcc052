//! Finds the source files in a folder or of a package.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use flow_render::layout::{Source, brackets_of_macro};

use crate::args::Build;
use crate::{Error, cargo, read};

/// Returns these files, and all `.rs` files in these folders except in hidden folders and `target`.
/// Links in a folder are not followed.
///
/// # Errors
///
/// A folder cannot be read.
pub(crate) fn in_paths(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            add_folder(path, &mut files)?
        } else {
            files.push(path.clone())
        }
    }
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    Ok(files)
}

fn add_folder(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let unreadable = |source| Error::Read {
            path: folder.clone(),
            source,
        };
        let mut entries = Vec::new();
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            entries.push((entry.path(), entry.file_type().map_err(unreadable)?));
        }
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut inner = Vec::new();
        for (path, kind) in entries {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            if kind.is_dir() && !name.starts_with(b".") && name != b"target" {
                inner.push(path);
            } else if kind.is_file() && name.ends_with(b".rs") {
                files.push(path);
            }
        }
        folders.extend(inner.into_iter().rev());
    }
    Ok(())
}

/// Returns the sources that cargo compiles for these packages: the root of each target and its
/// modules, found like rustc does. Files that tests only read, such as ones that must not compile,
/// are not among them.
///
/// # Errors
///
/// There is no package here, or none with a requested name.
pub(crate) fn of_packages(build: &Build) -> Result<Vec<PathBuf>, Error> {
    let here = std::env::current_dir().unwrap_or_default();
    let mut files = Vec::new();
    let mut seen = HashSet::new();
    for package in cargo::packages(build)? {
        for target in &package.targets {
            let root = target.src_path.as_std_path();
            add_modules(
                root.strip_prefix(&here).unwrap_or(root),
                &mut seen,
                &mut files,
            );
        }
    }
    Ok(files)
}

/// A file of a crate.
struct File {
    path: PathBuf,
    /// The folder of its modules.
    folder: PathBuf,
}

fn add_modules(root: &Path, seen: &mut HashSet<PathBuf>, files: &mut Vec<PathBuf>) {
    let mut open = vec![File::with_modules_beside(root.to_owned())];
    while let Some(file) = open.pop() {
        if !seen.insert(file.path.clone()) {
            continue;
        }
        // An unreadable file is reported where it is used.
        if let Ok(text) = read::text(&file.path)
            && let Ok(source) = Source::new(&text)
        {
            let modules = modules(&source);
            open.extend(
                modules
                    .iter()
                    .rev()
                    .filter_map(|module| file.module(module)),
            );
        }
        files.push(file.path);
    }
}

/// A declaration `mod name;`.
struct Module<'a> {
    name: &'a str,
    /// The modules in this file that contain it.
    within: Vec<&'a str>,
    /// The text of `#[path = "…"]`.
    path: Option<&'a str>,
}

impl File {
    fn with_modules_beside(path: PathBuf) -> Self {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        File { path, folder }
    }

    /// Returns the file of a module, or `None` if it is missing, which is fine for a module that a
    /// `cfg` leaves out.
    fn module(&self, module: &Module<'_>) -> Option<File> {
        let mut folder = self.folder.clone();
        folder.extend(&module.within);
        if let Some(path) = module.path {
            let beside = self.path.parent().unwrap_or(Path::new(""));
            let base = if module.within.is_empty() {
                beside
            } else {
                &folder
            };
            let path = base.join(path);
            return path.is_file().then(|| File::with_modules_beside(path));
        }
        let in_folder = folder.join(module.name).join("mod.rs");
        let path = folder.join(format!("{}.rs", module.name));
        if path.is_file() {
            let folder = folder.join(module.name);
            return Some(File { path, folder });
        }
        in_folder
            .is_file()
            .then(|| File::with_modules_beside(in_folder))
    }
}

/// Returns the modules of a source that have separate files.
fn modules<'a>(source: &Source<'a>) -> Vec<Module<'a>> {
    let text = |index: usize| source.tokens.get(index).map_or("", |token| token.text);
    let mut modules = Vec::new();
    let mut within: Vec<(&str, usize)> = Vec::new();
    let mut path = None;
    let mut index = 0;
    while index < source.tokens.len() {
        within.retain(|(_, close)| index < *close);
        if let Some(open) = brackets_of_macro(source, index) {
            index = source.partner(open);
        }
        let name = text(index + 1);
        let name = name.strip_prefix("r#").unwrap_or(name);
        match (text(index), text(index + 2)) {
            ("mod", ";") => modules.push(Module {
                name,
                within: within.iter().map(|(name, _)| *name).collect(),
                path,
            }),
            ("mod", "{") => within.push((name, source.partner(index + 2))),
            ("path", literal) if text(index + 1) == "=" && text(index - index.min(1)) == "[" => {
                path = literal
                    .strip_prefix('"')
                    .and_then(|text| text.strip_suffix('"'));
            }
            (";" | "{" | "}", _) => path = None,
            _ => {}
        }
        index += 1;
    }
    modules
}
