//! The errors of commands, with help.

use std::io;
use std::path::PathBuf;

use flow_spec::did_you_mean;

use crate::section::{Absence, Fault};

/// The maximum size in bytes of flow documents in one file, and of all its flows together.
pub(crate) const LARGEST_TEXT: u64 = flow_text::LARGEST as u64;

/// The error of a command.
///
/// A problem that a check finds is not an error: see [`Outcome`](crate::Outcome).
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A file cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write `{path}`")]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Standard output cannot be written to.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
    /// The path is not a regular file.
    #[error("`{path}` is {what}")]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The thing at the path.
        what: &'static str,
    },
    /// A file is too large.
    #[error("`{place}` {}", too_large(*limit))]
    TooLarge {
        /// The file.
        place: String,
        /// The limit, in bytes.
        limit: u64,
    },
    /// There is no file with executions.
    #[cfg(feature = "executions")]
    #[error("there is no store `{path}`")]
    NoStore {
        /// The file.
        path: PathBuf,
    },
    /// The command for the executions of a store failed.
    #[cfg(feature = "executions")]
    #[error("{}", .0.lines().next().unwrap_or_default())]
    Executions(String),
    /// A file is where a folder should be.
    #[error("`{path}` is not a folder")]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// There is something where a new folder should be.
    #[error("`{path}` exists already")]
    Exists {
        /// The file or folder.
        path: PathBuf,
    },
    /// No flows can be read from a file.
    #[error("`{place}` {fault}")]
    Section {
        /// The file, with the member if it is an archive.
        place: String,
        /// The fault of the file.
        fault: Fault,
    },
    /// The files can be read, but contain no flows.
    #[error("no flows in {}", quoted(places))]
    NoFlows {
        /// The files.
        places: Vec<PathBuf>,
        /// The reason, if they are binaries.
        absence: Option<Absence>,
    },
    /// JSON or YAML is not a flow.
    #[error("{}`{path}` is not a flow", of_record(record))]
    NotAFlow {
        /// The file.
        path: PathBuf,
        /// The place of the flow's record, if it is a binary.
        record: Option<u64>,
        /// The problems.
        problems: Vec<String>,
    },
    /// The analysis finds mistakes in a flow as JSON or YAML.
    #[error("`{path}` is not sound")]
    Unsound {
        /// The file.
        path: PathBuf,
        /// The mistakes, each with its place.
        problems: Vec<String>,
    },
    /// `flow!` cannot express a flow.
    #[error("this cannot be said in `flow!`")]
    Unsaid {
        /// The inexpressible parts, each with its place.
        problems: Vec<String>,
    },
    /// A `flow!` whose layout is unknown.
    #[error("cannot format `{place}`: {message}")]
    Layout {
        /// The file, the line and the column of the token that is wrong.
        place: String,
        /// The problem of the token.
        message: String,
    },
    /// No package has the requested name.
    #[error("there is no package `{name}`")]
    UnknownPackage {
        /// The name.
        name: String,
        /// The names of the existing packages.
        packages: Vec<String>,
    },
    /// No flow has the requested name.
    #[error("there is no flow `{name}`")]
    UnknownFlow {
        /// The name.
        name: String,
        /// The names of the existing flows.
        flows: Vec<String>,
    },
    /// The format holds one flow in a file, and there are several.
    #[error("{format} shows one flow, and there are {}: {}", flows.len(), quoted(flows))]
    SeveralFlows {
        /// The format.
        format: String,
        /// The names of the flows.
        flows: Vec<String>,
    },
    /// Several flows cannot be written to one file.
    #[error("`{path}` is one file, and there are {} flows: {}", flows.len(), quoted(flows))]
    OneFile {
        /// The file.
        path: PathBuf,
        /// The names of the flows.
        flows: Vec<String>,
    },
    /// The arguments on the command line do not fit together.
    #[error("{message}")]
    Usage {
        /// The problem.
        message: String,
        /// A hint how to fix it.
        help: String,
    },
    /// Cargo cannot be run.
    #[error("cannot run `{program}`")]
    Cargo {
        /// The program.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// Cargo cannot list the packages.
    #[error("cannot find the package")]
    Metadata(#[source] cargo_metadata::Error),
    /// The package does not build.
    #[error("the package does not build")]
    Build,
    /// The package builds, but no file of the build can contain flows.
    #[error("the build made no executable and no library")]
    NothingBuilt,
}

impl Error {
    /// Returns facts that explain the error, each of one or more lines.
    pub(crate) fn notes(&self) -> Vec<String> {
        match self {
            Error::NotAFlow { problems, .. } | Error::Unsound { problems, .. } | Error::Unsaid { problems } => {
                problems.iter().map(|one| listed(one)).collect()
            }
            Error::NoFlows {
                absence: Some(absence),
                ..
            } => vec![
                match absence {
                    Absence::Stripped => "it has no sections that flows could be in: they were removed",
                    Absence::Bitcode => {
                        "its code is kept for link-time optimisation, and is not compiled yet"
                    }
                    Absence::ThinArchive => "it is a thin archive, which only names its members",
                    _ => {
                        "it is built without flow-runtime, or from nothing that has flows: a library that its program \
                         never names is not linked"
                    }
                }
                .to_owned(),
            ],
            #[cfg(feature = "executions")]
            Error::Executions(text) => text.lines().skip(1).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns a hint how to fix the error.
    pub(crate) fn help(&self) -> Option<String> {
        let help = match self {
            Error::Section { fault, .. } => help_after(fault),
            Error::NotAFlow {
                record: Some(_), ..
            } => {
                "if a newer typed-flows built it, update this program: install the newest `typed-flows-cli`"
            }
            Error::NoFlows { absence, .. } => match (*absence)? {
                Absence::Stripped => {
                    "leave the sections in: `strip` and `strip = true` keep the flows, `--strip-sections` and `wasm-strip` do not"
                }
                Absence::Bitcode => "name the program that it is linked into",
                Absence::ThinArchive => "name its members, or make an archive that holds them",
                _ => {
                    "name something of that library in the program, or name the library's own file instead"
                }
            },
            Error::Exists { .. } => "choose another name, or go to another folder",
            Error::UnknownFlow { name, flows: names }
            | Error::UnknownPackage {
                name,
                packages: names,
            } => {
                return did_you_mean(name, names.iter().map(String::as_str));
            }
            Error::SeveralFlows { .. } => {
                "choose one with `--flow NAME`, or write them into a folder with `--out DIR`"
            }
            Error::OneFile { path, .. } => {
                let folder = path.with_extension("");
                return Some(format!(
                    "choose one with `--flow NAME`, or name a folder: `--out {}/`",
                    folder.display()
                ));
            }
            Error::Usage { help, .. } => help,
            Error::NotAFile {
                what: "a folder", ..
            } => "name a file in it",
            Error::NotAFile { .. } => "write what comes out of it to a file, and name that",
            Error::TooLarge { limit, .. } if *limit == LARGEST_TEXT => {
                "leave some of the flows out: more is not read of one file"
            }
            Error::TooLarge { .. } => {
                "strip it, which leaves the flows in: more is not read of one file"
            }
            Error::Unsound { .. } => "only sound flows are compared, since others do not run",
            Error::Build => "cargo says above why; if a file is there already, name it instead",
            Error::NothingBuilt => "name a package that has flows: `--package NAME`",
            _ => return None,
        };
        Some(help.to_owned())
    }
}

/// Returns a hint how to fix a file whose flows cannot be read.
fn help_after(fault: &Fault) -> &'static str {
    match fault {
        Fault::NotBinary(_) => {
            "name an executable, a library, an object, a WebAssembly module, or a flow as `.json` or `.yaml`"
        }
        Fault::Damaged(_) => "build or copy it again",
        Fault::Record { .. } => "build it again: something has changed its section `flowspec`",
        Fault::Newer { .. } => "update it: install the newest `typed-flows-cli`",
    }
}

fn too_large(limit: u64) -> String {
    match limit {
        LARGEST_TEXT => format!("has more than {} MiB of flows", limit >> 20),
        limit => format!("is larger than {} GiB", limit >> 30),
    }
}

fn of_record(record: &Option<u64>) -> String {
    record.map_or_else(String::new, |offset| {
        format!("the record at byte {offset} of ")
    })
}

/// Formats one of several problems. Further lines are indented, to separate it from the next.
fn listed(problem: &str) -> String {
    problem.replace('\n', "\n  ")
}

fn quoted<T: std::fmt::Debug + AsRef<std::ffi::OsStr>>(names: &[T]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref().display()))
        .collect();
    quoted.join(", ")
}
