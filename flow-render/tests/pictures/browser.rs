//! A real browser: Chromium without a window.
//!
//! Its one hard thing is a machine without it. There the test says that it was skipped; where `CI`
//! is set, it fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// How long a page may take, in milliseconds.
const LONGEST: u32 = 30_000;

/// What a script finds out in a page: it is run at the end of the page, and what it returns comes back as JSON.
/// Nothing if there is no browser here.
pub(crate) fn run(page: &str, script: &str) -> Option<Value> {
    let Some(browser) = browser() else {
        assert!(
            std::env::var_os("CI").is_none(),
            "no Chromium: install the package `chromium`, or set CHROMIUM to the program"
        );
        println!("skipped: there is no Chromium here");
        return None;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    fs::write(&file, with_script(page, script)).expect("the page is written");
    let dom = dom(&browser, folder.path(), &file);
    let result = dom.split("<pre id=\"result\">").nth(1);
    let result = result.and_then(|rest| rest.split("</pre>").next());
    let result = result.unwrap_or_else(|| panic!("the script has no result:\n{dom}"));
    let plain = result.replace("&lt;", "<").replace("&gt;", ">");
    let plain = plain.replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    Some(serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{error}: {plain}")))
}

/// Errors of the page itself are caught from its beginning on.
fn with_script(page: &str, script: &str) -> String {
    let head =
        "<script>window.problems = []; onerror = (message) => { problems.push(String(message)); };
window.alert = () => { problems.push('alert'); };</script>";
    let tail = format!(
        "<script>
let result;
try {{ result = (() => {{ {script} }})(); }} catch (error) {{ problems.push(String(error)); }}
const shown = document.createElement('pre');
shown.id = 'result';
shown.textContent = JSON.stringify({{ result, problems }});
document.body.append(shown);
</script>
</body>"
    );
    let page = page.replacen("<head>", &format!("<head>{head}"), 1);
    let (before, after) = page.rsplit_once("</body>").expect("a body");
    format!("{before}{tail}{after}")
}

fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").filter(|name| !name.is_empty());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let mut known = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    named
        .map(PathBuf::from)
        .or_else(|| known.find(|file| file.is_file()))
}

fn dom(browser: &Path, folder: &Path, file: &Path) -> String {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1400,1000",
            "--dump-dom",
        ])
        .arg(format!("--timeout={LONGEST}"))
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(file)
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && !dom.is_empty(),
        "{}: {errors}",
        output.status
    );
    dom
}
