//! Whatever comes from users is text.

use std::num::NonZeroU32;

use flow_durable::StartOptions;
use serde_json::json;

use crate::flows::gate;
use crate::page::Page;
use crate::server::Served;

/// Does something if any part of the page takes it for markup.
const MARKUP: &str =
    "\"'><img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>";

/// The markup, as often as the page shows it as text, and whether it became anything else.
const SHOWN: &str = "({ \
    text: document.body.innerText.includes('<img src=x onerror=alert(1)>'), \
    elements: all('img, main script, [onerror], [onload], iframe').length })";

#[test]
fn markup_of_users_is_text_in_each_view() {
    let served = Served::new();
    let owned = served.runtime.owned_by(MARKUP);
    let start = |flow: &'static str, input| {
        let options = StartOptions::new().idempotency_key(MARKUP);
        served
            .block_on(owned.start_json(flow, input, options))
            .unwrap()
    };
    let asked = start("Claim", json!({ "employee": MARKUP, "amount": 300 }));
    served.block_on(asked.settled()).unwrap();
    let cancelled = start(
        "Rounds",
        json!({ "round": 0, "rounds": 9, "pause_ms": 600_000 }),
    );
    served
        .block_on(owned.cancel(cancelled.id(), MARKUP))
        .unwrap();
    let writes = start("Report", json!({ "topic": MARKUP }));
    let failed = start("Fails", json!({ "text": MARKUP }));
    served.block_on(failed.settled()).unwrap();
    let Some(page) = Page::open(&served.at("flows/Fails")) else {
        return;
    };
    let is_text = |view: &str, ready: &str| {
        page.go(&served.at(view));
        page.wait(ready);
        assert_eq!(
            page.eval(SHOWN),
            json!({ "text": true, "elements": 0 }),
            "{view}"
        );
    };
    // In the description, which is also a title in the picture.
    is_text("flows/Fails", "find('flow-picture svg')");
    is_text("executions", "all('.executions .row').length === 4");
    is_text("questions", "find('.cards li')");
    let question = served.block_on(asked.questions()).unwrap().remove(0);
    is_text(
        &format!("questions/{}", question.token()),
        "find('form.question')",
    );
    is_text(
        &format!("executions/{}", asked.id()),
        "find('form.question') && find('[data-key=employee]')",
    );
    is_text(
        &format!("executions/{}", cancelled.id()),
        "find('h1 .status').textContent === 'cancelled'",
    );
    is_text(
        &format!("executions/{}", failed.id()),
        "find('.timeline [data-state=failed] .told')?.textContent.includes('<script>')",
    );
    page.go(&served.at(&format!("executions/{}", writes.id())));
    page.wait("find('[data-path=write]').dataset.state === 'running'");
    gate(MARKUP).add_permits(MARKUP.split(' ').count());
    page.wait("find('.texts pre')?.textContent.includes('onload=alert(3)>')");
    assert_eq!(page.eval(SHOWN), json!({ "text": true, "elements": 0 }));
    // Nothing was refused by the policy either: it never came so far.
    page.has_no_problems();
}

/// Keys of objects, parts of JSON, answers, places in the queue, and what a dialog offers to change.
#[test]
fn markup_inside_values_is_text() {
    let served = Served::new();
    let owned = served.runtime.owned_by(MARKUP);
    let value = json!({ MARKUP: [MARKUP, { MARKUP: MARKUP }] });
    let options = StartOptions::new()
        .priority(3)
        .concurrency_key(MARKUP, NonZeroU32::MIN);
    let asked = owned.start_json("Anything", json!({ "value": value }), options);
    let asked = served.block_on(asked).unwrap();
    let asked = served.block_on(asked.settled()).unwrap();
    let question = served.block_on(asked.questions()).unwrap().remove(0);
    let at = served.at(&format!("executions/{}", asked.id()));
    let Some(page) = Page::open(&at) else {
        return;
    };
    let is_text = |what: &str, ready: &str| {
        page.wait(ready);
        assert_eq!(
            page.eval(SHOWN),
            json!({ "text": true, "elements": 0 }),
            "{what}"
        );
    };
    is_text("values", "find('[data-key=shown]')");
    let key =
        "all('dt').find((one) => one.textContent === 'Concurrency key').nextSibling.textContent";
    let shown = page.eval(key);
    assert_eq!(shown, format!("{MARKUP} (at most 1 at once)"));
    page.click("named('button', 'Copy from here …')");
    is_text("the dialog", "find('dialog[open] textarea')");
    page.click("named('dialog[open] button', 'Close')");
    // It is executed neither where it is written nor where it is read.
    page.fill("Your answer", MARKUP);
    page.click("named('button', 'Answer')");
    is_text(
        "the answer",
        "find('h1 .status').textContent === 'completed' && find('[data-key=opinion]')",
    );
    page.go(&served.at("questions"));
    assert!(served.block_on(owned.question(question.token())).is_err());
    page.has_no_problems();
}

/// An address is somebody else's text too: that of a link that one follows.
#[test]
fn markup_in_addresses_is_text() {
    let served = Served::new();
    let Some(page) = Page::open(&served.address) else {
        return;
    };
    let markup: String = MARKUP.bytes().map(|byte| format!("%{byte:02X}")).collect();
    for view in [
        markup.clone(),
        format!("flows/{markup}"),
        format!("executions/{markup}"),
        format!("questions/{markup}"),
        format!("executions?flow={markup}&status={markup}&id={markup}&from={markup}"),
        format!("executions/01a00000-0000-7000-8000-000000000000?link={markup}"),
        format!("questions/{markup}?link={markup}"),
        format!("javascript:alert(1)//{MARKUP}"),
    ] {
        page.go(&served.at(&view));
        assert_eq!(page.eval(SHOWN)["elements"], 0, "{view}");
    }
    page.opened_no_dialog();
}

#[test]
fn the_page_may_load_its_own_files_only() {
    let served = Served::new();
    let Some(page) = Page::open(&served.address) else {
        return;
    };
    let policy = page.eval("(await fetch('')).headers.get('content-security-policy')");
    let policy = policy.as_str().unwrap();
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.split("; ").any(|one| one == part), "{policy}");
    }
    // A browser that has a file asks whether it is still the same.
    let again = "fetch('studio/app.js', { headers: { 'if-none-match': '\"old\", ' + \
        (await fetch('studio/app.js')).headers.get('etag') } }).then((answer) => answer.status)";
    assert_eq!(page.eval(again), 304);
    assert_eq!(
        page.eval("fetch('studio/mod.rs').then((answer) => answer.status)"),
        404
    );
    page.has_no_problems();
}

#[test]
fn a_picture_that_the_server_did_not_draw_is_refused() {
    let served = Served::new();
    let Some(page) = Page::open(&served.at("flows")) else {
        return;
    };
    let refused = |picture: &str| {
        let text = json!(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\">{picture}</svg>"
        ));
        let script = format!(
            "import(new URL('studio/picture.js', location.href)).then(async (module) => {{
                const shown = await module.pictureFrom(Promise.resolve({text}), 'test');
                return shown.textContent;
            }})"
        );
        page.run(&script)
            .as_str()
            .unwrap()
            .contains("does not draw")
    };
    for picture in [
        "<script>alert(1)</script>",
        "<g onclick=\"alert(1)\"/>",
        "<a href=\"javascript:alert(1)\"><text>x</text></a>",
        "<foreignObject/>",
        "<image href=\"x\"/>",
        "<g style=\"fill: red\"/>",
        "<div xmlns=\"http://www.w3.org/1999/xhtml\"/>",
    ] {
        assert!(refused(picture), "{picture}");
    }
    assert!(!refused(
        "<g class=\"tile\" data-path=\"a\"><rect class=\"body\" x=\"1\"/></g>"
    ));
    // The policy of the page refuses some of it as well, before it is looked at.
    page.opened_no_dialog();
}
