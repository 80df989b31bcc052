//! Finds the flows for the arguments of a command: a file of flow documents, a built file, a folder
//! of flow documents, or the package.

use std::fs;
use std::path::{Path, PathBuf};

use flow_spec::FlowDocument;
use flow_text::{Document, Format};

use crate::args::{Build, Place};
use crate::error::LARGEST_TEXT;
use crate::section::{self, Absence};
use crate::{Error, Flows, cargo, document, read};

/// Reads the flows of a file or, without a file, those of the package in the current directory.
///
/// # Errors
///
/// The file cannot be read or has no flows; the package does not build.
pub(crate) fn flows(source: &Place) -> Result<Flows, Error> {
    match &source.file {
        Some(path) => of_file(path),
        None => of_package(&source.build),
    }
}

/// Reads the flows of a file.
///
/// # Errors
///
/// The file cannot be read, or has no flows.
pub(crate) fn of_file(path: &Path) -> Result<Flows, Error> {
    some(vec![path.to_owned()], vec![found(path)?])
}

/// Reads the flows of a file, or of all flow documents in a folder, which have to be sound. Those
/// of built files are, since the compiler has checked them.
///
/// # Errors
///
/// Errors of [`of_file`], or the analysis finds mistakes in a document.
pub(crate) fn sound(path: &Path) -> Result<Flows, Error> {
    let files = if path.is_dir() {
        document_files(path)?
    } else {
        vec![path.to_owned()]
    };
    let found = files
        .iter()
        .map(|file| checked(file))
        .collect::<Result<_, _>>()?;
    if files.is_empty() {
        some(vec![path.to_owned()], Vec::new())
    } else {
        some(files, found)
    }
}

/// Builds the package and reads the files of the build: executables, shared libraries and Rust
/// libraries. An executable contains only the parts of a library that it uses. If executables are
/// requested by name, the libraries are read only if these contain no flows.
///
/// # Errors
///
/// The package does not build, or has no flows.
pub(crate) fn of_package(build: &Build) -> Result<Flows, Error> {
    let artifacts = cargo::build(build)?;
    let mut places = Vec::new();
    let mut found = Vec::new();
    for files in [artifacts.linked, artifacts.libraries] {
        for file in files {
            found.push(self::found(&file)?);
            places.push(file);
        }
        let named = !build.bin.is_empty() || !build.example.is_empty() || build.examples;
        if named && found.iter().any(|found| !found.flows.is_empty()) {
            break;
        }
    }
    if places.is_empty() {
        Err(Error::NothingBuilt)
    } else {
        some(places, found)
    }
}

/// Returns the files of flow documents in a folder, ordered by name.
///
/// # Errors
///
/// The folder cannot be read.
pub(crate) fn document_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |source| Error::Read {
        path: folder.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if Format::of_name(&path).is_some() && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

struct Found {
    flows: Vec<FlowDocument>,
    /// The reason if a binary contains no flows.
    absence: Option<Absence>,
}

fn found(path: &Path) -> Result<Found, Error> {
    read_with(path, |_| Ok(()))
}

/// Reads the flows of a file if its documents are sound.
fn checked(path: &Path) -> Result<Found, Error> {
    read_with(path, |documents| {
        let problems = flow_text::check_all(documents);
        if problems.is_empty() {
            return Ok(());
        }
        Err(Error::Unsound {
            path: path.to_owned(),
            problems: problems.iter().map(ToString::to_string).collect(),
        })
    })
}

fn read_with(
    path: &Path,
    check: impl FnOnce(&[Document]) -> Result<(), Error>,
) -> Result<Found, Error> {
    let bytes = read::bytes(path)?;
    let Some(format) = document::format(path, &bytes) else {
        return in_binary(path, &bytes);
    };
    let documents = document::read(path, &bytes, format)?;
    check(&documents)?;
    Ok(Found {
        flows: documents.into_iter().map(Document::into_flow).collect(),
        absence: None,
    })
}

fn in_binary(path: &Path, bytes: &[u8]) -> Result<Found, Error> {
    let contents = section::read(bytes).map_err(|error| {
        let mut place = path.display().to_string();
        for member in &error.members {
            place = format!("{place}({})", member.escape_debug());
        }
        Error::Section {
            place,
            fault: error.fault,
        }
    })?;
    let json = contents
        .records
        .iter()
        .map(|record| record.json.len() as u64);
    if json.sum::<u64>() > LARGEST_TEXT {
        return Err(Error::TooLarge {
            place: path.display().to_string(),
            limit: LARGEST_TEXT,
        });
    }
    let flow = |record: &section::Record<'_>| {
        FlowDocument::parse_spec(record.json).map_err(|problems| Error::NotAFlow {
            path: path.to_owned(),
            record: Some(record.offset),
            problems: problems.iter().map(ToString::to_string).collect(),
        })
    };
    Ok(Found {
        flows: contents
            .records
            .iter()
            .map(flow)
            .collect::<Result<_, _>>()?,
        absence: Some(contents.absence),
    })
}

/// Returns everything that was found, or an error if nothing was found.
fn some(places: Vec<PathBuf>, found: Vec<Found>) -> Result<Flows, Error> {
    let absence = found
        .iter()
        .filter_map(|found| found.absence)
        .reduce(|first, other| {
            if first == other {
                first
            } else {
                Absence::default()
            }
        });
    let flows: Vec<FlowDocument> = found.into_iter().flat_map(|found| found.flows).collect();
    if flows.is_empty() {
        Err(Error::NoFlows { places, absence })
    } else {
        Ok(Flows::new(flows))
    }
}
