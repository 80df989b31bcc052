//! `cargo flow check`: a folder of exported flows against what they were exported from, or flow JSON by itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flow_spec::Problem;
use flow_spec::document::DEFAULT_DEPTH;
use similar::{ChangeTag, TextDiff};

use crate::args::{Build, Check};
use crate::style::{BAD, BOLD, DIM, GOOD, LITERAL, printable, styled};
use crate::{Error, Outcome, Screen, cargo, flow_json, target};

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
                "`{}` is no folder, so that nothing is built",
                path.display()
            ),
            help: "leave the build options out, or name a folder".to_owned(),
        }),
    }
}

/// Whether the files in the folder are the flows, and all of them.
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
    let mut expected = BTreeMap::new();
    for (stem, flow) in flows.stems().into_iter().zip(flows.as_slice()) {
        expected.insert(folder.join(format!("{stem}.json")), flow);
    }
    let mut text = String::new();
    let mut outdated = false;
    for path in target::json_files(folder)? {
        let shown = path.display().to_string();
        let Some(flow) = expected.remove(&path) else {
            text.push_str(&line(&shown, "belongs to no flow: remove it"));
            continue;
        };
        let committed = target::text(&path)?.replace("\r\n", "\n");
        let current = flow.to_json();
        if committed != current {
            outdated = true;
            text.push_str(&line(&shown, "is not up to date"));
            text.push_str(&difference(&committed, &current));
        }
    }
    for (path, flow) in &expected {
        outdated = true;
        let what = format!("is missing: the flow `{}`", flow.title());
        text.push_str(&line(&path.display().to_string(), &what));
    }
    if text.is_empty() {
        return Ok(Outcome::Fine);
    }
    screen.data(&text)?;
    if outdated {
        screen.help(&format!("`{}` updates them", update(folder, file, options)));
    }
    Ok(Outcome::Found)
}

/// The command that writes the folder anew.
fn update(folder: &Path, file: Option<&PathBuf>, options: &Check) -> String {
    let mut words = vec!["cargo flow export".to_owned()];
    words.extend(file.map(|file| file.display().to_string()));
    let build = cargo::arguments(&options.build);
    words.extend(build.iter().map(|word| word.display().to_string()));
    if options.depth != DEFAULT_DEPTH {
        words.push(format!("--depth {}", options.depth));
    }
    words.push(format!("--out {}", folder.display()));
    words.join(" ")
}

fn line(path: &str, what: &str) -> String {
    format!("{} {what}\n", styled(BOLD, printable(path)))
}

/// The lines that differ, with a few around them.
fn difference(committed: &str, current: &str) -> String {
    let diff = TextDiff::from_lines(committed, current);
    let mut text = String::new();
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        text.push_str(&format!("{}\n", styled(DIM, hunk.header())));
        for change in hunk.iter_changes() {
            let style = match change.tag() {
                ChangeTag::Delete => BAD,
                ChangeTag::Insert => GOOD,
                ChangeTag::Equal => anstyle::Style::new(),
            };
            let value = change.value().trim_end_matches('\n');
            let shown = format!("{}{}", change.tag(), printable(value));
            text.push_str(&format!("{}\n", styled(style, shown)));
            if change.missing_newline() {
                text.push_str("\\ no newline at the end\n");
            }
        }
    }
    text
}

/// Whether the flows in these files are sound.
fn sound(files: &[&Path], screen: &mut Screen<'_>) -> Result<Outcome, Error> {
    let mut text = String::new();
    for path in files {
        let bytes = target::bytes(path)?;
        if !flow_json::is_json(path, &bytes) {
            return Err(Error::Usage {
                message: format!("`{}` is no flow JSON", path.display()),
                help: format!(
                    "compare it with a folder of exported flows: `cargo flow check DIR {}`",
                    path.display()
                ),
            });
        }
        for problem in problems(&target::text(path)?) {
            text.push_str(&shown(path, &problem));
        }
    }
    let outcome = match text.is_empty() {
        true => Outcome::Fine,
        false => Outcome::Found,
    };
    screen.data(&text)?;
    Ok(outcome)
}

fn problems(text: &str) -> Vec<Problem> {
    match flow_json::parse(text) {
        Ok(flows) => flows.iter().flat_map(flow_json::Located::check).collect(),
        Err(problems) => problems,
    }
}

/// `flow.json:/nodes/0/id: message [F017]`, and what explains it.
fn shown(path: &Path, problem: &Problem) -> String {
    let problem = problem.to_string();
    let mut text = String::new();
    for (index, line) in printable(&problem).lines().enumerate() {
        let line = match (index, line.strip_prefix("help: ")) {
            (0, _) => format!("{}:{line}\n", printable(&path.display().to_string())),
            (_, Some(help)) => format!("  {}: {help}\n", styled(LITERAL, "help")),
            (_, None) => format!("  {line}\n"),
        };
        text.push_str(&line);
    }
    text
}
