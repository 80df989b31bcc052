//! Chromium, controlled over the pipe that `--remote-debugging-pipe` opens: messages in JSON, each ended by a
//! zero byte. So no library for it is needed, and no port is open.
//!
//! Its one hard thing is a machine without it. There the tests say that they were skipped; where `CI` is
//! set, they fail.

use std::collections::HashMap;
use std::io::{BufReader, Write as _};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};

/// How long the browser may take to answer: longer than a page waits.
const LONGEST: Duration = Duration::from_secs(300);

pub(crate) struct Browser {
    input: Mutex<ChildStdin>,
    shared: Arc<Mutex<Shared>>,
    /// With the profile, which is removed when the process ends in an orderly way.
    _profile: tempfile::TempDir,
}

#[derive(Default)]
struct Shared {
    last_id: u64,
    waiting: HashMap<u64, Sender<Value>>,
    /// What went wrong in the pages, by session.
    problems: HashMap<String, Vec<String>>,
}

/// The browser of this process, or nothing if there is none here.
pub(crate) fn browser() -> Option<&'static Browser> {
    static BROWSER: OnceLock<Option<Browser>> = OnceLock::new();
    let browser = BROWSER
        .get_or_init(|| program().map(Browser::start))
        .as_ref();
    if browser.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "no Chromium: install the package `chromium`, or set CHROMIUM to the program"
        );
        println!("skipped: there is no Chromium here");
    }
    browser
}

fn program() -> Option<PathBuf> {
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

impl Browser {
    fn start(program: PathBuf) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // Chromium reads from descriptor 3 and writes to descriptor 4.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1",
            ])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--no-proxy-server",
                "--disable-background-networking",
                "--disable-background-timer-throttling",
                "--disable-renderer-backgrounding",
                "--disable-component-update",
                "--disable-sync",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let input = child.stdin.take().unwrap();
        let shared = Arc::new(Mutex::new(Shared::default()));
        let reader = shared.clone();
        // The browser ends when this process closes the pipe.
        std::thread::spawn(move || {
            read(output, &reader);
            child.wait()
        });
        Browser {
            input: Mutex::new(input),
            shared,
            _profile: profile,
        }
    }

    /// Sends a command and waits for its result.
    pub(crate) fn call(&self, session: Option<&str>, method: &str, params: Value) -> Value {
        let (id, answer) = self.expect_answer();
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let text = format!("{message}\0");
        self.input
            .lock()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        let answer = answer.recv_timeout(LONGEST);
        let answer = answer.unwrap_or_else(|_| panic!("the browser does not answer to {method}"));
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn expect_answer(&self) -> (u64, Receiver<Value>) {
        let (sender, receiver) = mpsc::channel();
        let mut shared = self.shared.lock().unwrap();
        shared.last_id += 1;
        let id = shared.last_id;
        shared.waiting.insert(id, sender);
        (id, receiver)
    }

    /// What went wrong in a page so far.
    pub(crate) fn problems(&self, session: &str) -> Vec<String> {
        let shared = self.shared.lock().unwrap();
        shared.problems.get(session).cloned().unwrap_or_default()
    }
}

fn read(mut output: impl std::io::BufRead, shared: &Mutex<Shared>) {
    let mut message = Vec::new();
    while output
        .read_until(0, &mut message)
        .is_ok_and(|length| length > 0)
    {
        message.pop();
        let Ok(parsed) = serde_json::from_slice::<Value>(&message) else {
            break;
        };
        message.clear();
        let mut shared = shared.lock().unwrap();
        if let Some(id) = parsed["id"].as_u64() {
            if let Some(waiting) = shared.waiting.remove(&id) {
                // The test may have given up.
                let _ = waiting.send(parsed);
            }
        } else if let Some(problem) = problem(&parsed) {
            let session = parsed["sessionId"].as_str().unwrap_or_default();
            let problems = shared.problems.entry(session.to_owned()).or_default();
            problems.push(problem);
        }
    }
}

/// Something that must not happen in a page. A request that fails is none: the page says so.
fn problem(event: &Value) -> Option<String> {
    let params = &event["params"];
    match event["method"].as_str()? {
        "Runtime.exceptionThrown" => Some(params["exceptionDetails"].to_string()),
        "Page.javascriptDialogOpening" => Some(format!("a dialog: {params}")),
        "Log.entryAdded" if params["entry"]["source"] != "network" => {
            Some(params["entry"]["text"].to_string())
        }
        _ => None,
    }
}
