//! `cargo flow new`: makes a project with a flow.

use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};
use std::{env, fs, io};

use cargo_metadata::Package;
use serde_json::Value;

use crate::args::{Build, New};
use crate::{Error, Outcome, Screen, cargo};

/// The files of a project, and their templates.
///
/// A template has [placeholders](Project::fill). It has another name than its file if tools would
/// take it for one of this repository.
const FILES: [(&str, &str); 8] = [
    ("Cargo.toml", include_str!("../../template/Cargo.toml.txt")),
    ("src/main.rs", include_str!("../../template/src/main.rs")),
    ("src/flows.rs", include_str!("../../template/src/flows.rs")),
    (".gitignore", include_str!("../../template/gitignore")),
    (".dockerignore", include_str!("../../template/dockerignore")),
    (
        ".github/workflows/ci.yml",
        include_str!("../../template/github/workflows/ci.yml"),
    ),
    ("Dockerfile", include_str!("../../template/Dockerfile")),
    ("README.md", include_str!("../../template/README.md.txt")),
];

/// The words of Rust, which no package can have as its name.
const KEYWORDS: [&str; 51] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Names that cargo refuses or warns of, and those of the dependencies of a project.
const TAKEN: [&str; 12] = [
    "alloc",
    "build",
    "core",
    "deps",
    "examples",
    "incremental",
    "proc_macro",
    "serde",
    "std",
    "test",
    "tokio",
    "typed-flows",
];

pub(crate) fn new(options: &New, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let name = options.name.as_str();
    if let Some(fault) = fault(name) {
        return Err(Error::Usage {
            message: format!("`{name}` cannot be the name of a package: {fault}"),
            help: "name it as `cargo new` does: `cargo flow new refunds`".to_owned(),
        });
    }
    let here = env::current_dir().map_err(|source| Error::Read {
        path: ".".into(),
        source,
    })?;
    let project = Project {
        name,
        path: match &options.path {
            Some(path) => Some(dependency(path, &here.join(name))?),
            None => None,
        },
        in_workspace: is_in_workspace(&here),
    };
    project.write()?;
    screen.note(&format!(
        "created `{name}` with a flow, its tests, CI and a Dockerfile"
    ));
    if project.in_workspace {
        screen.warning("it is a workspace of its own, and not a member of the one around it");
    }
    screen.help(&format!(
        "`cd {name}`, then `cargo run -- serve`; README.md has more"
    ));
    Ok(Outcome::Fine)
}

/// A new project.
struct Project<'a> {
    name: &'a str,
    /// The path of typed-flows, with quotation marks. Without it, it comes from the registry.
    path: Option<String>,
    /// True if a folder above has a workspace. The project does not become a member of it.
    in_workspace: bool,
}

impl Project<'_> {
    /// Writes the files into a new folder.
    ///
    /// # Errors
    ///
    /// The folder exists, or a file cannot be written. Then there is no new folder.
    fn write(&self) -> Result<(), Error> {
        let folder = Path::new(self.name);
        let failed = |path: &Path, source| Error::Write {
            path: path.to_owned(),
            source,
        };
        fs::create_dir(folder).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists {
                path: folder.to_owned(),
            },
            _ => failed(folder, error),
        })?;
        let written = FILES.iter().try_for_each(|(file, template)| {
            let path = folder.join(file);
            let created = path.parent().map_or(Ok(()), fs::create_dir_all);
            let written = created.and_then(|()| fs::write(&path, self.fill(template)));
            written.map_err(|error| failed(&path, error))
        });
        written.inspect_err(|_| {
            // The first error is the one to tell.
            let _ = fs::remove_dir_all(folder);
        })
    }

    /// Fills a template. A line that begins with `{path?}` is only for projects with a path,
    /// one with `{version?}` for the others, and one with `{workspace?}` for a project inside a
    /// workspace.
    fn fill(&self, template: &str) -> String {
        let marks = [
            ("{path?}", self.path.is_some()),
            ("{version?}", self.path.is_none()),
            ("{workspace?}", self.in_workspace),
        ];
        let mut text = String::new();
        for line in template.lines() {
            let marked = |(mark, holds)| Some((line.strip_prefix(mark)?, holds));
            let (line, holds) = marks.into_iter().find_map(marked).unwrap_or((line, true));
            if holds {
                text.push_str(line);
                text.push('\n');
            }
        }
        text.replace("{name}", self.name)
            .replace("{version}", env!("CARGO_PKG_VERSION"))
            .replace("{path}", self.path.as_deref().unwrap_or_default())
    }
}

/// Returns what is wrong with the name of a package, if it is wrong. The rules are those of `cargo
/// new`, and its warnings are errors: a program that it warns of may not compile.
fn fault(name: &str) -> Option<String> {
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let begins = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    if let Some(letter) = name.chars().find(|letter| !is_allowed(*letter)) {
        Some(format!(
            "`{letter}` is not an ASCII letter, a digit, `-` or `_`"
        ))
    } else if !name.starts_with(begins) {
        Some("it does not begin with a letter".to_owned())
    } else if KEYWORDS.contains(&name) {
        Some("it is a keyword of Rust".to_owned())
    } else if TAKEN.contains(&name) {
        Some("cargo, Rust or a dependency of the project has this name".to_owned())
    } else {
        None
    }
}

/// Returns the path of typed-flows as the manifest of the project names it: relative, as `cargo add
/// --path` writes it, and in quotation marks.
///
/// # Errors
///
/// There is no package `typed-flows`, or the path is not Unicode.
fn dependency(path: &Path, project: &Path) -> Result<String, Error> {
    let manifest = fs::canonicalize(path.join("Cargo.toml")).ok();
    let packages = match &manifest {
        Some(_) => cargo::packages(&Build {
            manifest_path: Some(path.join("Cargo.toml")),
            ..Build::default()
        })?,
        None => Vec::new(),
    };
    let is_meant = |package: &Package| {
        package.name == "typed-flows" && fs::canonicalize(&package.manifest_path).ok() == manifest
    };
    if !packages.iter().any(is_meant) {
        return Err(Error::Usage {
            message: format!("there is no package `typed-flows` in `{}`", path.display()),
            help: "name the folder that has its Cargo.toml: the root of a copy of the repository"
                .to_owned(),
        });
    }
    let absolute = std::path::absolute(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    let relative = relative(&without_parents(&absolute), project);
    let text = relative.to_str().ok_or_else(|| Error::Usage {
        message: format!("`{}` is not UTF-8", relative.display()),
        help: "rename the folder, since Cargo.toml cannot name it".to_owned(),
    })?;
    // What JSON escapes, TOML escapes in the same way.
    Ok(Value::from(text.replace(MAIN_SEPARATOR, "/")).to_string())
}

/// Applies each `..` of an absolute path to the part in front of it, as cargo does.
fn without_parents(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
        path
    })
}

/// Returns the path from one absolute folder to another. On Windows, it is absolute if they are on
/// two drives.
fn relative(to: &Path, from: &Path) -> PathBuf {
    let pairs = to.components().zip(from.components());
    match pairs.take_while(|(to, from)| to == from).count() {
        0 => to.to_owned(),
        shared => {
            let up = from.components().skip(shared).map(|_| Component::ParentDir);
            up.chain(to.components().skip(shared)).collect()
        }
    }
}

/// Returns `true` if cargo finds a workspace in this folder or above it.
fn is_in_workspace(folder: &Path) -> bool {
    folder.ancestors().any(|folder| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        let mut lines = manifest.lines();
        lines.any(|line| line.trim_start().starts_with("[workspace"))
    })
}
