//! A page in the browser, with what a person can do there.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::browser::{Browser, browser};

/// A tab with a storage of its own.
pub(crate) struct Page {
    browser: &'static Browser,
    context: String,
    session: String,
}

/// Waits in the page until something is true, on a busy machine for long.
const WAIT: &str = "async (holds) => {
    const end = performance.now() + 240000;
    for (;;) {
        let found;
        try { found = await holds(); } catch {}
        if (found) return found;
        if (performance.now() > end) throw new Error(`not within four minutes; the page shows:\\n${document.body.innerText}`);
        await new Promise((done) => setTimeout(done, 20));
    }
}";

/// What stands in each script of a test: finding, waiting and looking.
const TOOLS: &str = "
const find = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const named = (selector, text) => all(selector).find((one) => one.textContent.trim() === text);
const labelled = (text) => {
    const label = all('label').find((one) => one.textContent.trim() === text);
    return label?.control;
};
";

impl Page {
    /// Opens an address. Nothing if there is no browser here.
    pub(crate) fn open(address: &str) -> Option<Page> {
        let page = Page::new()?;
        page.go(address);
        Some(page)
    }

    fn new() -> Option<Page> {
        let browser = browser()?;
        let context = browser.call(None, "Target.createBrowserContext", json!({}));
        let context = text(&context["browserContextId"]);
        let target = browser.call(
            None,
            "Target.createTarget",
            json!({ "url": "about:blank", "browserContextId": context, "width": 1200, "height": 900 }),
        );
        let attached = browser.call(
            None,
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        );
        let page = Page {
            browser,
            context,
            session: text(&attached["sessionId"]),
        };
        for domain in ["Page", "Runtime", "Log"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        page.viewport(1200, 900, false);
        // Screenshots look the same on each machine.
        page.call("Emulation.setLocaleOverride", json!({ "locale": "en-GB" }));
        page.call(
            "Emulation.setTimezoneOverride",
            json!({ "timezoneId": "UTC" }),
        );
        Some(page)
    }

    /// Opens the address of a server that is about to start. Nothing if there is no browser here.
    pub(crate) fn open_when_there(address: &str) -> Option<Page> {
        let page = Page::new()?;
        page.wait_for_server(address);
        page.go(address);
        Some(page)
    }

    fn wait_for_server(&self, address: &str) {
        let params = json!({ "url": address });
        for _ in 0..300 {
            if self
                .call("Page.navigate", params.clone())
                .get("errorText")
                .is_none()
            {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("there is no server at {address}");
    }

    fn call(&self, method: &str, params: Value) -> Value {
        self.browser.call(Some(&self.session), method, params)
    }

    /// Goes to an address, and waits until its view is there.
    pub(crate) fn go(&self, address: &str) {
        // The same page with another `#…` is not loaded again by itself.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.wait("location.href === 'about:blank'");
        self.call("Page.navigate", json!({ "url": address }));
        self.wait("find('#main')?.dataset.ready !== undefined && find('.view')");
    }

    pub(crate) fn viewport(&self, width: u32, height: u32, mobile: bool) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    pub(crate) fn colours(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
    }

    /// The value of an expression.
    pub(crate) fn eval(&self, expression: &str) -> Value {
        self.run(&format!(
            "(async () => {{ {TOOLS} return ({expression}); }})()"
        ))
    }

    /// The value of an expression, when it is neither false nor empty.
    pub(crate) fn wait(&self, expression: &str) -> Value {
        self.run(&format!(
            "({WAIT})(async () => {{ {TOOLS} return ({expression}); }})"
        ))
    }

    /// What a script returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        let params = json!({ "expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let answer = self.call("Runtime.evaluate", params);
        if let Some(thrown) = answer.get("exceptionDetails") {
            let thrown = &thrown["exception"]["description"];
            panic!("{script}: {}", thrown.as_str().unwrap_or_default());
        }
        answer["result"]["value"].clone()
    }

    /// Waits for something and clicks it.
    pub(crate) fn click(&self, expression: &str) {
        self.wait(&format!(
            "((found) => found && (found.click(), true))({expression})"
        ));
    }

    /// Writes a text where the focus is.
    pub(crate) fn write(&self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Writes a text into the field with this label.
    pub(crate) fn fill(&self, label: &str, text: &str) {
        let label = json!(label);
        self.wait(&format!(
            "labelled({label}) && (labelled({label}).focus(), labelled({label}).select?.(), true)"
        ));
        self.write(text);
    }

    /// Scrolls to what an expression finds, and returns its middle in the window.
    fn scrolled_to(&self, expression: &str) -> (f64, f64) {
        self.wait(&format!(
            "((found) => found && (found.scrollIntoView({{ block: 'center', inline: 'center' }}), true))({expression})"
        ));
        self.middle(expression)
    }

    /// The middle of what an expression finds, in the window.
    fn middle(&self, expression: &str) -> (f64, f64) {
        let found = self.wait(&format!(
            "((found) => {{
                if (!found) return;
                const box = found.getBoundingClientRect();
                return [box.left + box.width / 2, box.top + box.height / 2];
            }})({expression})"
        ));
        (found[0].as_f64().unwrap(), found[1].as_f64().unwrap())
    }

    /// Moves the mouse from the middle of one thing to another point, with its button held down.
    fn drag_to(&self, from: (f64, f64), to: (f64, f64)) {
        self.hold_at(from, to);
        self.mouse("mouseReleased", to, 0);
    }

    fn hold_at(&self, from: (f64, f64), to: (f64, f64)) {
        self.mouse("mouseMoved", from, 0);
        self.mouse("mousePressed", from, 1);
        for step in 1..=4 {
            let part = f64::from(step) / 4.0;
            let at = |from: f64, to: f64| from + (to - from) * part;
            self.mouse("mouseMoved", (at(from.0, to.0), at(from.1, to.1)), 1);
        }
    }

    fn mouse(&self, kind: &str, (x, y): (f64, f64), buttons: u8) {
        let params = json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Drags a thing by a distance, and holds it there.
    pub(crate) fn hold(&self, from: &str, x: f64, y: f64) {
        let from = self.scrolled_to(from);
        self.hold_at(from, (from.0 + x, from.1 + y));
    }

    /// Lets go of what is held, wherever it is.
    pub(crate) fn let_go(&self) {
        let params = json!({ "type": "mouseReleased", "x": 0, "y": 0, "button": "left", "buttons": 0, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Clicks with the mouse.
    pub(crate) fn point(&self, at: &str) {
        let at = self.scrolled_to(at);
        self.drag_to(at, at);
    }

    /// Drags one thing to another.
    pub(crate) fn drag(&self, from: &str, to: &str) {
        self.scrolled_to(to);
        let from = self.scrolled_to(from);
        // Both are in the window, or the page is made too small.
        self.drag_to(from, self.middle(to));
    }

    /// Drags a thing by a distance.
    pub(crate) fn drag_by(&self, from: &str, x: f64, y: f64) {
        let from = self.scrolled_to(from);
        self.drag_to(from, (from.0 + x, from.1 + y));
    }

    /// Presses a key and lets it go.
    pub(crate) fn press(&self, key: &str) {
        self.press_with(key, 0);
    }

    /// Presses a key while Ctrl is held down.
    pub(crate) fn press_with_ctrl(&self, key: &str) {
        self.press_with(key, 2);
    }

    fn press_with(&self, key: &str, modifiers: u8) {
        let (key, code, number, text) = match key {
            "Enter" => ("Enter", "Enter", 13, "\r"),
            "Space" => (" ", "Space", 32, " "),
            "Tab" => ("Tab", "Tab", 9, ""),
            "ArrowDown" => (key, key, 40, ""),
            "ArrowUp" => (key, key, 38, ""),
            "End" => (key, key, 35, ""),
            "Home" => (key, key, 36, ""),
            "ArrowRight" => (key, key, 39, ""),
            "Delete" => (key, key, 46, ""),
            "s" => (key, "KeyS", 83, ""),
            "y" => (key, "KeyY", 89, ""),
            "z" => (key, "KeyZ", 90, ""),
            _ => panic!("no such key: {key}"),
        };
        let kind = if text.is_empty() {
            "rawKeyDown"
        } else {
            "keyDown"
        };
        let event = |kind: &str| json!({ "type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number, "text": text, "modifiers": modifiers });
        self.call("Input.dispatchKeyEvent", event(kind));
        self.call("Input.dispatchKeyEvent", event("keyUp"));
    }

    /// Presses Tab until this has the focus.
    pub(crate) fn tab_to(&self, expression: &str) {
        for _ in 0..60 {
            if self.eval(&format!("document.activeElement === ({expression})")) == true {
                return;
            }
            self.press("Tab");
        }
        panic!("Tab does not lead to {expression}");
    }

    /// Writes a picture of the page to the documentation, if `STUDIO_SCREENSHOTS` is set.
    pub(crate) fn picture(&self, name: &str) {
        if std::env::var_os("STUDIO_SCREENSHOTS").is_none() {
            return;
        }
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let png = STANDARD.decode(text(&shot["data"])).unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/studio");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), png).unwrap();
    }

    /// Checks that no script failed, nothing was refused by the page's policy, and no dialog was opened.
    pub(crate) fn has_no_problems(&self) {
        let problems = self.browser.problems(&self.session);
        assert_eq!(problems, Vec::<String>::new());
    }

    pub(crate) fn opened_no_dialog(&self) {
        let problems = self.browser.problems(&self.session);
        let dialogs = problems.iter().filter(|one| one.starts_with("a dialog"));
        assert_eq!(dialogs.count(), 0, "{problems:?}");
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // A test that has failed may have lost the browser.
        if !std::thread::panicking() {
            let context = json!({ "browserContextId": self.context });
            self.browser
                .call(None, "Target.disposeBrowserContext", context);
        }
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("not a text: {value}"))
        .to_owned()
}
