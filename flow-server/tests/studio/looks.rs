//! How the page looks: to those who see it on a phone or in the dark, and to those who hear it.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::page::Page;
use crate::server::Served;

/// The checks of axe-core, which `.ci/install` puts into the target folder. Nothing if they are not there.
pub(crate) fn axe() -> Option<String> {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = target.parent()?.join("axe-core/axe.min.js");
    let script = std::fs::read_to_string(&file).ok();
    if script.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "no axe-core: `.ci/install` puts it to {}",
            file.display()
        );
        println!("skipped: there is no axe-core, which `.ci/install` fetches");
    }
    script
}

/// What is serious in a page, each with the elements.
pub(crate) const SERIOUS: &str = "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html, any }) => html + ' ' + (any[0]?.message ?? '')).join(' | ')}`))";

/// The views, each with what is there when it is complete.
fn views(served: &Served) -> Vec<(&'static str, String, &'static str)> {
    served.run("Claim", json!({ "employee": "Ann", "amount": 30 }));
    let cancelled = served.run("Claim", json!({ "employee": "Eve", "amount": 999 }));
    served
        .block_on(
            served
                .runtime
                .executions()
                .cancel(cancelled.parse().unwrap(), "no"),
        )
        .unwrap();
    let failed = served.run("Fails", json!({ "text": "nothing" }));
    let asked = served.run("Claim", json!({ "employee": "Bob", "amount": 950 }));
    let execution = served
        .block_on(served.runtime.executions().get(asked.parse().unwrap()))
        .unwrap();
    let question = served.block_on(execution.questions()).unwrap().remove(0);
    let values = "find('[data-path]') && find('.journal .row .kind') && find('.values .value')";
    vec![
        (
            "flows",
            served.at("flows/Claim"),
            "find('flow-picture svg')",
        ),
        (
            "executions",
            served.at("executions"),
            "all('.executions .row').length === 4",
        ),
        (
            "execution",
            served.at(&format!("executions/{asked}")),
            values,
        ),
        ("failed", served.at(&format!("executions/{failed}")), values),
        ("questions", served.at("questions"), "find('.cards li')"),
        (
            "question",
            served.at(&format!("questions/{}", question.token())),
            "find('form.question')",
        ),
    ]
}

#[test]
fn axe_finds_nothing_serious_in_light_and_dark() {
    let served = Served::new();
    let views = views(&served);
    let (Some(page), Some(axe)) = (Page::open(&served.address), axe()) else {
        return;
    };
    for colours in ["light", "dark"] {
        page.colours(colours);
        for (name, address, ready) in &views {
            page.go(address);
            page.wait(ready);
            if find_choice(&page) {
                page.click("find('input[type=radio]')");
            }
            // What is closed is not looked at.
            page.eval("all('details').forEach((one) => { one.open = true; })");
            page.run(&format!("{axe}; true"));
            assert_eq!(page.run(SERIOUS), json!([]), "{name}, {colours}");
            match (*name, colours) {
                ("executions" | "questions", "light") => page.picture(name),
                ("execution", "dark") => page.picture("dark"),
                _ => {}
            }
        }
        page.go(&views[2].1);
        page.click("named('button', 'Copy from here …')");
        page.run(&format!("{axe}; true"));
        assert_eq!(page.run(SERIOUS), json!([]), "dialog, {colours}");
    }
    page.has_no_problems();
}

fn find_choice(page: &Page) -> bool {
    page.eval("Boolean(find('input[type=radio]'))") == true
}

#[test]
fn the_switch_of_colours_wins_over_the_system() {
    let served = Served::new();
    let Some(page) = Page::open(&served.at("flows/Claim")) else {
        return;
    };
    page.wait("find('flow-picture svg')");
    let colours = |page: &Page| -> Value {
        page.eval(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(find('.step .body')).fill].join()",
        )
    };
    page.colours("light");
    let light = colours(&page);
    page.colours("dark");
    page.wait("getComputedStyle(find('.step .body')).fill === 'rgb(31, 41, 55)'");
    let dark = colours(&page);
    assert_ne!(light, dark);
    let choose = |theme: &str| {
        page.eval(&format!(
            "(find('#theme').value = '{theme}', find('#theme').dispatchEvent(new Event('change')), true)"
        ));
    };
    choose("light");
    assert_eq!(colours(&page), light);
    // It is still chosen when the page is opened again.
    page.go(&served.at("flows/Claim"));
    page.wait("find('flow-picture svg')");
    assert_eq!(colours(&page), light);
    choose("system");
    assert_eq!(colours(&page), dark);
    page.has_no_problems();
}

#[test]
fn a_phone_shows_each_view_without_scrolling_sideways() {
    let served = Served::new();
    let views = views(&served);
    let Some(page) = Page::open(&served.address) else {
        return;
    };
    page.viewport(390, 800, true);
    for (name, address, ready) in &views {
        page.go(address);
        page.wait(ready);
        assert_eq!(
            page.eval("document.documentElement.scrollWidth"),
            390,
            "{name}"
        );
        // Nothing stands side by side.
        let columns = "all('.columns, .progress, .with-side')
            .map((one) => getComputedStyle(one).gridTemplateColumns.split(' ').length)
            .every((count) => count === 1)";
        assert_eq!(page.eval(columns), true, "{name}");
    }
    // A question can be answered there.
    page.click("all('input[type=radio]')[1]");
    page.fill("reason", "no");
    page.picture("phone");
    page.click("named('button', 'Answer')");
    page.wait("named('p', 'Your answer has arrived.')");
    page.has_no_problems();
}
