//! `cargo flow check`: compares a folder of exported flows with their program, or checks flow
//! documents by themselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flow_spec::FlowDocument;
use flow_spec::document::DEFAULT_DEPTH;
use flow_text::{Document, Format, Notation, Problem};

use super::diff;
use crate::args::{Build, Check};
use crate::difference::push_difference;
use crate::style::{BOLD, LITERAL};
use crate::{Error, Outcome, Screen, Text, cargo, document, read, target};

pub(crate) fn check(options: &Check, screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let path = &options.path;
    match &options.files[..] {
        [] if path.is_dir() => folder_of(path, None, options, screen),
        [file] if path.is_dir() => folder_of(path, Some(file), options, screen),
        files if options.build == Build::default() => {
            let paths: Vec<&Path> = std::iter::once(path)
                .chain(files)
                .map(PathBuf::as_path)
                .collect();
            sound(&paths, screen)
        }
        _ => Err(Error::Usage {
            message: format!(
                "`{}` is not a folder, so that nothing is built",
                path.display()
            ),
            help: "leave the build options out, or name a folder".to_owned(),
        }),
    }
}

/// Checks that the files in the folder are exactly these flows.
fn folder_of(
    folder: &Path,
    file: Option<&PathBuf>,
    options: &Check,
    screen: &mut Screen<'_>,
) -> Result<Outcome, Error> {
    let flows = match file {
        Some(file) => target::of_file(file)?,
        None => target::of_package(&options.build)?,
    };
    let flows = flows.cut(options.depth);
    let files = target::document_files(folder)?;
    let format = format_of_all(&files);
    let mut expected = BTreeMap::new();
    for (stem, flow) in flows.stems().into_iter().zip(flows.as_slice()) {
        expected.insert(folder.join(format!("{stem}.{}", format.ending())), flow);
    }
    let mut text = Text::default();
    let mut outdated = false;
    for path in files {
        let shown = path.display().to_string();
        let Some(flow) = expected.remove(&path) else {
            push_line(&mut text, &shown, "belongs to no flow: remove it");
            continue;
        };
        let committed = read::text(&path)?.replace("\r\n", "\n");
        let current = document::text(flow, format);
        if committed != current {
            outdated = true;
            push_line(&mut text, &shown, "is not up to date");
            if !push_changes(&mut text, &path, flow) {
                push_difference(&mut text, &committed, &current);
            }
        }
    }
    for (path, flow) in &expected {
        outdated = true;
        let what = format!("is missing: the flow `{}`", flow.title());
        push_line(&mut text, &path.display().to_string(), &what);
    }
    if text.is_empty() {
        return Ok(Outcome::Fine);
    }
    screen.show(&text)?;
    if outdated {
        let update = update(folder, file, format, options);
        screen.help(&format!("`{update}` updates them"));
    }
    Ok(Outcome::Found)
}

/// Adds the changes since a file was written, as `cargo flow diff` shows them. Returns `false` if
/// there are none but in the text, or if the file has no sound flow.
fn push_changes(text: &mut Text, path: &Path, flow: &FlowDocument) -> bool {
    let Ok(written) = target::sound(path) else {
        return false;
    };
    match written.as_slice() {
        [written] => diff::push_changes(text, written, flow),
        _ => false,
    }
}

/// Returns the format of an exported folder, or YAML for an empty one.
fn format_of_all(files: &[PathBuf]) -> Format {
    let is_yaml = |path: &PathBuf| Format::of_name(path) == Some(Format::Yaml);
    if !files.is_empty() && files.iter().all(is_yaml) {
        Format::Yaml
    } else {
        Format::Json
    }
}

/// Returns the command that writes the folder again.
fn update(folder: &Path, file: Option<&PathBuf>, format: Format, options: &Check) -> String {
    let mut words = vec!["cargo flow export".to_owned()];
    words.extend(file.map(|file| file.display().to_string()));
    let build = cargo::arguments(&options.build);
    words.extend(build.iter().map(|word| word.display().to_string()));
    if options.depth != DEFAULT_DEPTH {
        words.push(format!("--depth {}", options.depth));
    }
    if format == Format::Yaml {
        words.push("--format yaml".to_owned());
    }
    words.push(format!("--out {}", folder.display()));
    words.join(" ")
}

fn push_line(text: &mut Text, path: &str, what: &str) {
    text.push_styled(BOLD, path).push(" ").push(what).end_line();
}

/// Checks that the flows in these files are sound.
fn sound(files: &[&Path], screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let mut text = Text::default();
    let mut notes = Vec::new();
    for path in files {
        let bytes = read::bytes(path)?;
        let Some(format) = document::format(path, &bytes) else {
            return Err(Error::Usage {
                message: format!("`{}` is not a flow document", path.display()),
                help: format!(
                    "compare it with a folder of exported flows: `cargo flow check DIR {}`",
                    path.display()
                ),
            });
        };
        let documents = match flow_text::read_all(&bytes, format) {
            Ok(documents) => documents,
            Err(problems) => {
                for problem in problems {
                    push_problem(&mut text, path, problem);
                }
                continue;
            }
        };
        for problem in flow_text::check_all(&documents) {
            push_problem(&mut text, path, problem);
        }
        notes.extend(imported(path, &documents));
        notes.extend(left_open(path, &documents));
    }
    let outcome = if text.is_empty() {
        Outcome::Fine
    } else {
        Outcome::Found
    };
    screen.show(&text)?;
    for note in notes {
        screen.note(&note);
    }
    Ok(outcome)
}

/// Like [`imported`], for the path of a file.
pub(super) fn imported_in(path: &Path) -> Result<Vec<String>, Error> {
    let bytes = read::bytes(path)?;
    let documents =
        document::format(path, &bytes).map(|format| flow_text::read_all(&bytes, format));
    Ok(match documents {
        Some(Ok(documents)) => imported(path, &documents),
        Some(Err(_)) | None => Vec::new(),
    })
}

/// Reports the workflows of other tools in a file, and their parts that no flow expresses.
fn imported(path: &Path, documents: &[Document]) -> Vec<String> {
    let mut notes = Vec::new();
    for document in documents {
        if document.notation() == Notation::Flow {
            continue;
        }
        let (path, place) = (path.display(), document.place(""));
        notes.push(format!("{path}:{place}: this is {}", document.notation()));
        for left_out in document.left_out() {
            let help = left_out.help.as_deref().unwrap_or_default();
            let (place, message) = (left_out.place, &left_out.message);
            notes.push(format!("{path}:{place}: {message}: {help}"));
        }
    }
    notes
}

/// Reports the parts of a file that could not be checked, if any.
fn left_open(path: &Path, documents: &[Document]) -> Option<String> {
    let mut nodes = Vec::new();
    for document in documents {
        add_left_open(document.flow(), &mut nodes);
    }
    let first = nodes.first()?;
    let which = match nodes.len() - 1 {
        0 => format!("`{first}` reads and writes"),
        1 => format!("`{first}` and 1 other node read and write"),
        others => format!("`{first}` and {others} other nodes read and write"),
    };
    Some(format!(
        "{}: it does not say what {which}, so values are checked only when a program loads it",
        path.display()
    ))
}

fn add_left_open<'a>(flow: &'a FlowDocument, nodes: &mut Vec<&'a str>) {
    for node in &flow.nodes {
        match &node.internal_flow {
            Some(inner) => add_left_open(inner, nodes),
            None if node.is_left_open() => nodes.push(&node.id),
            None => {}
        }
    }
}

/// Adds a problem as `flow.json:12:5: message [F017]`, with its JSON pointer, notes and help.
pub(super) fn push_problem(text: &mut Text, path: &Path, mut problem: Problem) {
    let help = problem.help.take();
    text.push(path.display()).push(":");
    for (index, line) in problem.to_string().lines().enumerate() {
        let indent = if index == 0 { "" } else { "  " };
        text.push(indent).push(line).end_line();
    }
    if let Some(help) = help {
        text.push("  ").push_styled(LITERAL, "help");
        text.push(": ").push(help).end_line();
    }
}
