//! The page, used as a reader uses it: in a browser, by mouse and by keyboard.

use flow_render as render;
use flow_render::Direction;
use serde_json::{Value, json};

use crate::browser;
use crate::flows::{fulfilment, research_desk};

/// What the scripts below have in common: how to find things, and what can be seen.
const TOOLS: &str = r#"
const seen = (element) => element.checkVisibility();
const find = (selector) => {
  const found = document.querySelector(selector);
  if (!found) throw new Error("there is no " + selector);
  return found;
};
const click = (selector) => find(selector).dispatchEvent(new MouseEvent("click", { bubbles: true }));
const press = (selector, key) => {
  const element = find(selector);
  element.focus();
  if (document.activeElement !== element) throw new Error(selector + " takes no focus");
  element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
};
const list = () => [...document.querySelectorAll("nav li")].filter(seen).map((item) => {
  const opener = item.querySelector(":scope > .open");
  const state = opener ? opener.textContent + (opener.getAttribute("aria-expanded") === "true" ? "+ " : "- ") : "";
  return state + item.querySelector(":scope > .pick").dataset.path;
});
const levels = () => [...document.querySelectorAll("section.level")].filter(seen).map((level) => level.dataset.inside);
const contract = () => {
  const shown = [...document.querySelectorAll("article")].filter(seen);
  if (shown.length !== 1) throw new Error(shown.length + " contracts are shown");
  return shown[0];
};
"#;

/// What the script returns, without any error in the page. Nothing without a browser.
fn in_browser(script: &str) -> Option<Value> {
    let page = render::html(&research_desk());
    let found = browser::run(&page, &format!("{TOOLS}\n{script}"))?;
    assert_eq!(found["problems"], json!([]));
    Some(found["result"].clone())
}

/// B-068
#[test]
fn only_flows_open_and_all_are_closed_at_first() {
    let script = "return { list: list(), levels: levels(), contract: contract().querySelector('h2').textContent };";
    let Some(found) = in_browser(script) else {
        return;
    };
    let expected = [
        "plan",
        "▶- research",
        "write_up",
        "translate",
        "proofread",
        "illustrate",
        "enrich",
        "size",
        "shorten",
        "end",
        "approve",
        "revise",
        "apologise",
    ];
    assert_eq!(found["list"], json!(expected));
    assert_eq!(found["levels"], json!([]));
    assert_eq!(found["contract"], "ResearchDesk");
}

/// B-068
#[test]
fn a_click_opens_a_flow_in_the_list_and_in_the_picture_and_its_inner_ones_stay_closed() {
    let script = r#"
        const states = [];
        const state = () => states.push({ list: list().filter((item) => item.startsWith("▶") || item.startsWith("▼")), levels: levels() });
        click('nav [data-open="research"]'); state();
        click('svg [data-open="research.answer_one"]'); state();
        click('section [data-open="research.answer_one.cite"]'); state();
        const sign = find('svg [data-open="research.answer_one.cite"]');
        states.push({ sign: sign.querySelector("rect + text").textContent, expanded: sign.getAttribute("aria-expanded"), label: sign.getAttribute("aria-label") });
        click('section.level > h2 [data-open="research.answer_one"]'); state();
        click('nav [data-open="research"]'); state();
        return states;
    "#;
    let Some(found) = in_browser(script) else {
        return;
    };
    let one = "research.answer_one";
    let cite = "research.answer_one.cite";
    assert_eq!(
        found,
        json!([
            { "list": ["▼+ research", "▶- research.answer_one"], "levels": ["research"] },
            {
                "list": ["▼+ research", "▼+ research.answer_one", "▶- research.answer_one.cite"],
                "levels": ["research", one]
            },
            {
                "list": ["▼+ research", "▼+ research.answer_one", "▼+ research.answer_one.cite"],
                "levels": ["research", one, cite]
            },
            { "sign": "▼", "expanded": "true", "label": "close research.answer_one.cite" },
            { "list": ["▼+ research", "▶- research.answer_one"], "levels": ["research"] },
            { "list": ["▶- research"], "levels": [] },
        ])
    );
}

#[test]
fn a_click_on_a_node_shows_its_contract() {
    let script = r#"
        click('svg [data-path="plan"] text');
        const shown = contract();
        return {
            path: shown.dataset.contract,
            doc: shown.querySelector(".doc").textContent,
            text: shown.innerText,
            chosen: [...document.querySelectorAll(".chosen")].filter(seen).length,
            address: decodeURIComponent(location.hash),
        };
    "#;
    let Some(found) = in_browser(script) else {
        return;
    };
    assert_eq!(found["path"], "plan");
    assert_eq!(
        found["doc"].as_str(),
        research_desk().nodes[0].description.as_deref()
    );
    assert_eq!(found["chosen"], 2, "in the list and in the picture");
    assert_eq!(found["address"], "#plan");
    let text = found["text"].as_str().unwrap_or_default();
    let (_, after) = text.split_once("INPUTS").expect("what it reads");
    let lines = after.lines().map(|line| line.trim().replace('\t', " | "));
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    topic | String
    policy optional | Policy
    OUTPUTS
    outline | Outline
    The chapters, in order.
    ACTIONS
    default → research
    writes outline
    error → apologise
    SETTINGS
    retry | 3 attempts, 200ms before the second, 2 times as long before each further one, never longer than 5s, a share of 0.1 of it random, only if desk::is_busy says so
    timeout | 30s
    PARAMS
    model | small "fast" <b>
    temperature | 0.2
    api_key | ***
    client | left out: it cannot be written as JSON
    "#);
}

#[test]
fn actions_say_where_they_lead_and_what_they_write() {
    let script = r#"
        const actions = (path) => {
            click(`nav [data-path="${path}"]`);
            return [...contract().querySelectorAll(".actions li")].map((item) => item.innerText.replace(/\s+/g, " "));
        };
        const paths = ["approve", "size", "research", "proofread", "research.answer_one", "research.answer_one.lookup", "apologise"];
        const found = Object.fromEntries(paths.map((path) => [path, actions(path)]));
        click('nav [data-path="approve"]');
        click('article[data-contract="approve"] .pick[data-path="revise"]');
        found.followed = contract().dataset.contract;
        return found;
    "#;
    let Some(found) = in_browser(script) else {
        return;
    };
    let expected = json!({
        "approve": [
            "approved → end writes report",
            "needs_revision → revise writes feedback",
            "rejected → end rejected"
        ],
        "size": ["long → shorten", "short → end rejected", "default → end"],
        "research": ["default → write_up writes findings", "nothing_found → end nothing_found", "error → apologise"],
        "proofread": ["default → goes on in enrich writes proof"],
        "research.answer_one": ["default → goes on in answers writes answer", "error → kept as a value by answers"],
        "research.answer_one.lookup": ["found → cite writes passage", "nothing → guess", "error → the flow fails"],
        "apologise": ["default → end failed"],
        "followed": "revise",
    });
    assert_eq!(found, expected);
}

/// The parts of a page as text, without its elements.
fn contract_of(page: &str, path: &str) -> String {
    let from = page
        .split(&format!("<article data-contract=\"{path}\""))
        .nth(1);
    let article = from.and_then(|rest| rest.split("</article>").next());
    let mut text = String::new();
    let mut rest = article.expect("a contract").split_once('>').unwrap().1;
    while let Some((before, after)) = rest.split_once('<') {
        text += before;
        text.push(' ');
        rest = after.split_once('>').unwrap().1;
    }
    let words = text.split_whitespace();
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn contracts_say_which_node_takes_back_which() {
    let page = render::html(&fulfilment());
    let contract = |path| contract_of(&page, path);
    insta::assert_snapshot!(contract("charge"), @"charge Charge after reserve Outputs receipt any Actions default → both Settings undo refund takes back what was done retry 5 attempts");
    insta::assert_snapshot!(contract("refund"), @"Give back Refund refund takes back charge , bill Inputs receipt optional any reservation optional any Actions default → taken back Settings retry 3 attempts");
    insta::assert_snapshot!(contract("undo"), @"undo flow.undo after both Actions default → end refused");
}

#[test]
fn everything_works_by_keyboard() {
    let script = r#"
        const found = [];
        press('svg [data-open="research"]', "Enter"); found.push(levels());
        press('svg [data-open="research"]', " "); found.push(levels());
        press('svg [data-path="enrich"]', " "); found.push(contract().dataset.contract);
        press('svg [data-path="size"]', "x"); found.push(contract().dataset.contract);
        const buttons = [...document.querySelectorAll("nav button, aside button, h2 button, header button")];
        found.push(buttons.every((button) => button.tabIndex === 0));
        return found;
    "#;
    let Some(found) = in_browser(script) else {
        return;
    };
    assert_eq!(found, json!([["research"], [], "enrich", "enrich", true]));
}

#[test]
fn a_search_finds_nodes_at_any_level() {
    let script = r##"
        const search = find("#search");
        const type = (text) => { search.value = text; search.dispatchEvent(new Event("input")); };
        const names = () => list().map((item) => item.replace(/^.. /, ""));
        type("PASSAGE"); const within = names();
        type("nothing like it"); const none = names();
        type("quote"); press("#search", "Enter"); const found = contract().dataset.contract;
        const opened = levels();
        type(""); const all = names().length;
        return { within, none, found, opened, all };
    "##;
    let Some(found) = in_browser(script) else {
        return;
    };
    let expected = json!({
        "within": ["research", "research.answer_one", "research.answer_one.lookup"],
        "none": [],
        "found": "research.answer_one.cite.quote",
        "opened": ["research", "research.answer_one", "research.answer_one.cite"],
        "all": 22,
    });
    assert_eq!(found, expected);
}

#[test]
fn all_levels_open_and_close_at_once_and_are_one_picture_too() {
    let script = r##"
        const found = [];
        click("#open-all"); found.push(levels().length);
        click("#whole"); found.push(levels().length, seen(find("#all svg")), find("#whole").getAttribute("aria-pressed"));
        click('#all svg [data-path="research.answer_one.cite.quote"]'); found.push(contract().dataset.contract);
        click("#whole"); found.push(levels().length, seen(find("#all")));
        click("#close-all"); found.push(levels().length);
        return found;
    "##;
    let Some(found) = in_browser(script) else {
        return;
    };
    let quote = "research.answer_one.cite.quote";
    assert_eq!(found, json!([3, 0, true, "true", quote, 3, false, 0]));
}

#[test]
fn the_node_in_the_address_is_shown() {
    let script = r##"
        location.hash = "#" + encodeURIComponent("research.answer_one.guess");
        dispatchEvent(new HashChangeEvent("hashchange"));
        const found = [contract().dataset.contract, levels()];
        for (const wrong of ["#nothing", "#%E0%A4%A", "#"]) {
            history.replaceState(null, "", wrong);
            dispatchEvent(new HashChangeEvent("hashchange"));
            found.push(contract().dataset.contract);
        }
        return found;
    "##;
    let Some(found) = in_browser(script) else {
        return;
    };
    let guess = "research.answer_one.guess";
    assert_eq!(
        found,
        json!([guess, ["research", "research.answer_one"], guess, guess, ""])
    );
}

/// The texts of the flow are texts: they are no elements, no scripts, and nothing is fetched.
#[test]
fn nothing_of_the_flow_is_run_and_nothing_is_fetched() {
    let script = r#"
        return {
            scripts: document.scripts.length,
            outside: [...document.querySelectorAll("[src], link, iframe, image, use, a[href]")].length,
            bold: document.querySelectorAll("aside em:not(th em), aside b, aside article script").length,
            fetched: performance.getEntriesByType("resource").length,
            prompt: find('svg [data-path="approve"]').textContent.includes('asks: Publish "{draft}" <now>?'),
        };
    "#;
    let Some(found) = in_browser(script) else {
        return;
    };
    let expected = json!({ "scripts": 3, "outside": 0, "bold": 0, "fetched": 0, "prompt": true });
    assert_eq!(
        found, expected,
        "one script is the page's, two are the test's"
    );
}

#[test]
fn a_flow_without_inner_flows_has_nothing_to_open() {
    let mut flow = research_desk();
    flow.cut(0);
    let page = render::html(&flow);
    assert!(!page.contains("data-open="), "there is nothing to open");
    assert!(
        !page.contains("id=\"whole\""),
        "one picture is all there is"
    );
    assert!(page.contains("flow, left out of this export"));
}

/// Those of each level, and the one of everything.
#[test]
fn all_pictures_of_a_page_have_its_direction() {
    let flow = research_desk();
    assert_eq!(
        render::html(&flow),
        render::html_in(&flow, Direction::TopToBottom)
    );
    let page = render::html_in(&flow, Direction::LeftToRight);
    let pictures = page
        .split("<svg ")
        .skip(1)
        .filter(|text| text.contains("tile start"));
    let mut count = 0;
    for picture in pictures {
        let size = |name: &str| -> f64 {
            let (_, rest) = picture.split_once(&format!(" {name}=\"")).expect("a size");
            let (number, _) = rest.split_once('"').expect("its end");
            number.parse().expect("a number")
        };
        assert!(size("width") > 2.0 * size("height"), "{picture}");
        count += 1;
    }
    assert_eq!(count, 5, "four flows, and everything");
}

/// A picture that is too high is scrolled anyway.
#[test]
fn a_picture_that_is_too_wide_is_not_made_smaller() {
    let script = r#"
        const picture = document.querySelector("main svg");
        return picture.getBoundingClientRect().width / Number(picture.getAttribute("width"));
    "#;
    let page = render::html_in(&research_desk(), Direction::LeftToRight);
    if let Some(found) = browser::run(&page, script) {
        assert!(found["result"].as_f64() > Some(0.99), "{found}");
    }
}

#[test]
fn the_same_flow_is_always_the_same_page() {
    let flow = research_desk();
    assert_eq!(render::html(&flow), render::html(&flow));
}
