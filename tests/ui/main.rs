//! What the compiler says of each mistake, and what it must not complain about.
//!
//! The files in `{flow,node,registry}/pass` are the modules of one program, which is compiled and run. So are the same
//! files with their nodes and flows from a `macro_rules!`: see `fragments`.
//!
//! A file in `{flow,node,registry}/fail` holds one kind of mistake and is named after it; those named `several_…` hold
//! more, and those named `uses_…` go on to use what is broken. A `//~` stands on each line where an error is to be, and nowhere else
//! is there one. The `.stderr` beside it is all that rustc prints. It belongs to the compiler that `rust-toolchain.toml`
//! names: raise both together. The programs of `docs/errors.md` are treated alike: in each section the first one is
//! wrong, then comes its message, and the second one is mended. What only a flow JSON can have wrong is compared by the
//! tests of `flow-spec`.
//!
//! ```text
//! cargo test -p flow-tests-ui -- fail trybuild=unrouted    # the cases whose path contains `unrouted`
//! TRYBUILD=overwrite cargo test -p flow-tests-ui           # takes over what rustc prints now, also in the page
//! git diff                                                 # to be read as the one who made the mistake
//! ```

mod fragments;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flow_spec::Code;

/// How many lines a case may have.
const LONGEST_CASE: usize = 19;

/// Mistakes that rustc finds in Rust code by itself, and explains without our code.
const SAID_BY_RUSTC: [Code; 1] = [Code::UnknownNode];

/// Names that mean nothing to the reader of a message.
const HIDDEN: [&str; 7] = [
    "__",
    "private::",
    "/private/",
    "_::",
    "{closure",
    "{constant",
    "{anon_assoc",
];

/// Cases whose message has such a name all the same, and why.
const SHOWS_HIDDEN_NAME: [(&str, &str); 6] = [
    (
        "flow/fail/missing_input",
        "`_::` is rustc's path of the generated `build`, in a note below the headline",
    ),
    (
        "flow/fail/default_of_one_declared_node_of_two",
        "as `missing_input`",
    ),
    ("flow/fail/missing_setting", "as `missing_input`"),
    (
        "flow/fail/new_without_a_required_setting",
        "as `missing_input`, of the generated `new`",
    ),
    (
        "flow/fail/input_set_twice",
        "as `missing_input`, of the generated `amount`",
    ),
    (
        "flow/fail/setting_set_twice",
        "as `missing_input`, of the generated `pay`",
    ),
];

/// Cases with two errors at one place all the same: rustc says first that no macro has the name, and
/// only the second error says what to write.
const TWO_ERRORS_AT_ONE_PLACE: [&str; 7] = [
    "flow/fail/human_before_what_is_no_node",
    "flow/fail/type_without_node_attribute",
    "node/fail/actions_misspelt",
    "node/fail/actions_that_do_not_exist",
    "node/fail/actions_without_derive",
    "node/fail/uses_actions_without_derive",
    "node/fail/uses_actions_without_import",
];

/// Mistakes that no program can have: their sections show JSON.
const ONLY_IN_JSON: [Code; 1] = [Code::Document];

#[test]
fn fail() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("*/fail/*.rs");
    drop(cases);
    let wrong: String = cases_in("fail")
        .iter()
        .map(|case| misplaced(case))
        .collect();
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn pass() {
    let cases = cases_in("pass");
    run("pass", cases.iter().map(|case| (module(case), read(case))));
}

/// The same programs, as macros of their author's would write them.
#[test]
fn pass_from_macros() {
    let cases = cases_in("pass");
    let programs = cases
        .iter()
        .map(|case| (module(case), fragments::from_macros(&read(case))));
    run("pass_from_macros", programs);
}

/// The name of a case, as that of a module: `flow_pass_every_end`.
fn module(case: &Path) -> String {
    let case = case
        .strip_prefix(env!("CARGO_MANIFEST_DIR"))
        .expect("a case of this package");
    let names = case.with_extension("");
    names.to_string_lossy().replace(['/', '\\'], "_")
}

/// Compiles the programs as the modules of one program, and runs the `main` of each. Each by itself would take three calls
/// of cargo and a linker.
fn run(name: &str, programs: impl Iterator<Item = (String, String)>) {
    let (mut modules, mut calls) = (String::new(), String::new());
    for (module, program) in programs {
        let _ = write!(
            modules,
            "/// A program.\npub mod {module} {{\n{program}\n/// Runs it.\npub fn run() {{ super::succeed(main()) }}\n}}\n"
        );
        let _ = writeln!(calls, "println!(\"{module}\"); {module}::run();");
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.rs"));
    fs::write(
        &path,
        format!("{modules}{SUCCEED}fn main() {{\n{calls}}}\n"),
    )
    .expect("a file for the programs");
    trybuild::TestCases::new().pass(path);
}

/// What the program does with what a `main` returns.
const SUCCEED: &str = "
fn succeed(ended: impl std::process::Termination) {
    let success = format!(\"{:?}\", std::process::ExitCode::SUCCESS);
    assert_eq!(format!(\"{:?}\", ended.report()), success);
}
";

/// Says where the errors of a case are not those that it marks.
fn misplaced(case: &Path) -> String {
    let (program, printed) = (read(case), read(&case.with_extension("stderr")));
    let lines = program.lines().enumerate();
    let mut marked: Vec<usize> = lines
        .flat_map(|(index, line)| vec![index + 1; line.matches("//~").count()])
        .collect();
    let mut found: Vec<usize> = error_lines(&printed);
    marked.sort_unstable();
    found.sort_unstable();
    let mut wrong = String::new();
    if marked != found {
        let _ = writeln!(
            wrong,
            "{}: errors at lines {found:?}, marked are {marked:?}",
            case.display()
        );
    }
    if program.lines().count() > LONGEST_CASE {
        let _ = writeln!(
            wrong,
            "{}: longer than {LONGEST_CASE} lines",
            case.display()
        );
    }
    wrong
}

/// The line of the program at which each error is.
fn error_lines(printed: &str) -> Vec<usize> {
    let places = error_places(printed).into_iter();
    places
        .map(|place| {
            let line = place.rsplit(':').nth(1).and_then(|line| line.parse().ok());
            line.unwrap_or_default()
        })
        .collect()
}

/// The place of each error: `file:line:column`.
fn error_places(printed: &str) -> Vec<&str> {
    let mut places = Vec::new();
    let mut rest = printed.lines();
    while let Some(line) = rest.next() {
        if line.starts_with("error") {
            let place = rest.find_map(|line| line.trim_start().strip_prefix("--> "));
            places.push(place.unwrap_or_default());
        }
    }
    places
}

/// No place has two errors, of which the second would follow from the first, but for the exceptions,
/// each of which is one.
#[test]
fn one_error_at_each_place() {
    let mut wrong = String::new();
    for message in files_in("fail", "stderr") {
        let printed = read(&message);
        let mut places = error_places(&printed);
        places.sort_unstable();
        let doubled = places.windows(2).any(|pair| pair[0] == pair[1]);
        let case = message.with_extension("");
        let mut excused = TWO_ERRORS_AT_ONE_PLACE.iter();
        if doubled != excused.any(|excused| case.ends_with(Path::new(excused))) {
            let _ = writeln!(
                wrong,
                "{}: two errors at one place: {doubled}",
                case.display()
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Messages have no name that their reader cannot know, but for the exceptions, each of which is
/// one.
#[test]
fn no_hidden_names() {
    let mut wrong = String::new();
    for message in files_in("fail", "stderr") {
        let printed = read(&message);
        // The lines of the program itself have its own names.
        let said = || {
            printed.lines().filter(|line| {
                let code =
                    line.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == ' ');
                !code.starts_with("| ") || code.contains('^')
            })
        };
        let shown: Vec<&str> = HIDDEN
            .into_iter()
            .filter(|name| said().any(|line| line.contains(name)))
            .collect();
        let case = message.with_extension("");
        let excuse = SHOWS_HIDDEN_NAME
            .iter()
            .find(|(excused, _)| case.ends_with(Path::new(excused)));
        let _ = match (shown.is_empty(), excuse) {
            (true, None) | (false, Some(_)) => Ok(()),
            (false, None) => writeln!(wrong, "{}: shows {shown:?}", message.display()),
            (true, Some((case, _))) => {
                writeln!(wrong, "{case}: is listed, and shows no hidden name")
            }
        };
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Traits that rustc names because a bound is not met, and that their reader can look up.
const PUBLIC_TRAITS: [&str; 8] = [
    "Action",
    "Flow",
    "Node",
    "Send",
    "Sequence",
    "Submission",
    "Sync",
    "Unattended",
];

/// The ends of the names of traits that `flow!` generates, whose other half is a name of the user:
/// rustc names a trait wherever it looks for one, and only a bound makes a builder complete.
const GENERATED_TRAITS: [&str; 3] = ["_is_set", "_is_not_set", "_has_a_default"];

/// A trait that a message names is documented, or of the program itself.
#[test]
fn traits_in_messages_are_documented() {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bounds = ["flow-runtime", "flow-loader"]
        .map(|package| read(&packages.join(package).join("src/bounds.rs")))
        .concat();
    let mut wrong = String::new();
    for message in files_in("fail", "stderr") {
        let (printed, program) = (read(&message), read(&message.with_extension("rs")));
        for named in printed.split("the trait `").skip(1) {
            let end = named.find(['`', '<']).unwrap_or_default();
            let name = named[..end].rsplit(':').next().unwrap_or_default();
            let is_generated = GENERATED_TRAITS.iter().any(|end| name.ends_with(end));
            let is_known = PUBLIC_TRAITS.contains(&name) || is_generated;
            if !is_known && ![&bounds, &program].iter().any(|text| text.contains(name)) {
                let _ = writeln!(wrong, "{}: names `{name}`", message.display());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What rustc prints of std's own source is there only where that is installed.
#[test]
fn no_message_shows_the_source_of_std() {
    let messages = files_in("fail", "stderr");
    let shows = messages
        .iter()
        .filter(|message| read(message).contains("$RUST"));
    let shown: Vec<&PathBuf> = shows.collect();
    assert!(shown.is_empty(), "{shown:?}");
}

#[test]
fn every_code_has_a_case() {
    let printed: String = cases_in("fail")
        .iter()
        .map(|case| read(&case.with_extension("stderr")))
        .collect();
    let lacks_case = |code: &Code| {
        !SAID_BY_RUSTC.contains(code)
            && !ONLY_IN_JSON.contains(code)
            && !printed.contains(&format!("[{code}]"))
    };
    let lacking: Vec<Code> = Code::ALL.into_iter().filter(lacks_case).collect();
    assert!(lacking.is_empty(), "no case in `tests/ui` for {lacking:?}");
}

#[test]
fn every_message_has_its_case() {
    let stale: Vec<PathBuf> = files_in("fail", "stderr")
        .into_iter()
        .filter(|message| !message.with_extension("rs").exists())
        .collect();
    assert!(stale.is_empty(), "no case beside {stale:?}");
}

/// The cases of `*/fail` or `*/pass`.
fn cases_in(kind: &str) -> Vec<PathBuf> {
    files_in(kind, "rs")
}

fn files_in(kind: &str, extension: &str) -> Vec<PathBuf> {
    let mut cases = Vec::new();
    for topic in ["flow", "node", "registry"] {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(topic).join(kind);
        for entry in fs::read_dir(&directory).expect("the directory of the cases") {
            let path = entry.expect("an entry of the directory").path();
            if path.extension().is_some_and(|found| found == extension) {
                cases.push(path);
            }
        }
    }
    cases.sort();
    cases
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn errors_page() {
    let page = Page::read();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("errors_page");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory for the programs of the page");
    {
        let wrong = trybuild::TestCases::new();
        for section in &page.sections {
            wrong.compile_fail(section.write_wrong(&directory));
        }
    }
    let mended = page.sections.iter().map(|section| {
        let program = format!("{}\n{MAIN}", section.mended);
        (section.code.to_lowercase(), program)
    });
    run("errors_page_mended", mended);
    if env::var_os("TRYBUILD").is_some_and(|update| update == "overwrite") {
        page.take_over(&directory);
    }
}

#[test]
fn errors_page_has_every_code() {
    let page = read(&Page::path());
    let sections = page.split("\n## ").skip(1);
    let written: Vec<&str> = sections.map(Section::code).collect();
    let all: Vec<String> = Code::ALL.iter().map(Code::to_string).collect();
    assert_eq!(written, all);
}

/// The programs of the page are libraries, and those of trybuild have a `main`.
const MAIN: &str = "fn main() {}\n";

/// `docs/errors.md`.
struct Page {
    text: String,
    sections: Vec<Section>,
}

/// A section: `## F007 …`, a wrong program, its message, and the program mended.
struct Section {
    code: String,
    wrong: String,
    message: String,
    mended: String,
}

impl Page {
    fn path() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md")
    }

    fn read() -> Self {
        let text = read(&Page::path());
        let sections = text.split("\n## ").skip(1);
        let sections = sections.filter(|section| {
            let is_it = |code: &Code| code.to_string() == Section::code(section);
            !ONLY_IN_JSON.iter().any(is_it)
        });
        Page {
            sections: sections.map(Section::of).collect(),
            text,
        }
    }

    /// Writes into the page what rustc has printed.
    fn take_over(&self, directory: &Path) {
        let mut text = self.text.clone();
        for section in &self.sections {
            let program = section.path(directory, "wrong");
            let printed = read(&program.with_extension("stderr"));
            let message = printed.replace(&as_trybuild_shows(&program), Section::SHOWN_PATH);
            let (before, after) = text
                .split_once(&section.wrong)
                .expect("the wrong program is in the page");
            let after = after.replacen(
                &format!("```text\n{}```", section.message),
                &format!("```text\n{message}```"),
                1,
            );
            text = format!("{before}{}{after}", section.wrong);
        }
        fs::write(Page::path(), text).expect("the page can be written");
    }
}

/// The path as it is in a message, which has slashes on Windows too.
fn as_trybuild_shows(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

impl Section {
    /// What the messages of the page call the file.
    const SHOWN_PATH: &str = "src/main.rs";

    fn code(text: &str) -> &str {
        text.split_whitespace().next().unwrap_or_default()
    }

    fn of(text: &str) -> Self {
        let code = Section::code(text).to_owned();
        let block = |language: &str, number: usize| {
            let start = format!("```{language}\n");
            let block = text.split(&start).nth(number + 1);
            let block = block.and_then(|rest| rest.split("```").next());
            block
                .unwrap_or_else(|| panic!("{code} lacks a block of {language}"))
                .to_owned()
        };
        Section {
            wrong: block("rust", 0),
            message: block("text", 0),
            mended: block("rust", 1),
            code,
        }
    }

    fn path(&self, directory: &Path, kind: &str) -> PathBuf {
        directory.join(format!("{}_{kind}.rs", self.code))
    }

    fn write_wrong(&self, directory: &Path) -> PathBuf {
        let path = self.path(directory, "wrong");
        let message = self
            .message
            .replace(Self::SHOWN_PATH, &as_trybuild_shows(&path));
        fs::write(&path, format!("{}\n{MAIN}", self.wrong)).expect("a file for the program");
        fs::write(path.with_extension("stderr"), message).expect("a file for the message");
        path
    }
}
