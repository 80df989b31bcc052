//! Tokens, signed links, and a server below a prefix.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use flow_durable::MemoryStore;
use flow_server::{BearerTokens, Links, Server};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::page::Page;
use crate::server::Served;

const TOKEN: &str = "a token that nobody guesses";

fn with_token() -> Served {
    let tokens = BearerTokens::new().operator(TOKEN);
    Served::with(MemoryStore::new(), |server| {
        server.authentication(tokens).links(Links::new([7; 32]))
    })
}

#[test]
fn a_token_is_asked_for_and_kept_for_the_tab() {
    let served = with_token();
    let Some(page) = Page::open(&served.at("executions")) else {
        return;
    };
    page.wait("named('dialog[open] h2', 'Who are you?')");
    page.fill("Bearer token", "another token");
    page.press("Enter");
    // It is not known, so the page asks again.
    page.wait("find('main .problem') && named('dialog[open] h2', 'Who are you?') && labelled('Bearer token').value === ''");
    page.fill("Bearer token", TOKEN);
    page.press("Enter");
    page.wait("named('#connection', 'Live')");
    let id = served.run("Claim", json!({ "employee": "Ann", "amount": 3 }));
    page.wait(&format!("find('[data-id=\"{id}\"]')"));
    page.go(&served.at(&format!("executions/{id}")));
    page.wait("find('[data-path=pay]').dataset.state === 'done'");
    assert_eq!(
        page.eval("JSON.stringify({ ...localStorage }).includes('token that')"),
        false
    );
    page.has_no_problems();
}

#[test]
fn a_link_shows_one_execution_and_nothing_else() {
    let served = with_token();
    let links = Links::new([7; 32]);
    let id = served.run("Claim", json!({ "employee": "Ann", "amount": 300 }));
    let other = served.run("Claim", json!({ "employee": "Bob", "amount": 3 }));
    let link = links.execution(id.parse().unwrap(), Duration::from_secs(600));
    let Some(page) = Page::open(&served.at(&format!("executions/{id}?link={link}"))) else {
        return;
    };
    page.wait("find('[data-path=decision]').dataset.state === 'waiting'");
    assert_eq!(
        page.eval("find('header nav').hidden && !named('button', 'Cancel …')"),
        true
    );
    page.click("all('input[type=radio]')[1]");
    page.fill("reason", "too much");
    page.click("named('button', 'Answer')");
    page.wait("find('h1 .status').textContent === 'completed'");
    page.go(&served.at(&format!("executions/{other}?link={link}")));
    page.wait("find('main .problem').textContent.includes('no execution')");
    page.go(&served.at(&format!("executions/{id}?link={}", &link[..40])));
    page.wait("find('main .problem').textContent.includes('This link cannot be used')");
    assert_eq!(page.eval("find('dialog')"), Value::Null);
    page.has_no_problems();
}

#[test]
fn a_link_is_made_in_the_page() {
    let served = with_token();
    let id = served.run("Claim", json!({ "employee": "Ann", "amount": 300 }));
    let Some(page) = Page::open(&served.at(&format!("executions/{id}"))) else {
        return;
    };
    page.fill("Bearer token", TOKEN);
    page.press("Enter");
    let made = |button: &str| {
        page.click(&format!("named('button', '{button}')"));
        page.fill("Days", "2");
        page.click("named('dialog[open] button', 'Make the link')");
        let link = page.wait("labelled('Link')?.value");
        page.click("named('dialog[open] button', 'Close')");
        link.as_str().unwrap().to_owned()
    };
    let to_execution = made("Link …");
    let to_question = made("Link to this question …");
    // Somebody else opens them, without a token.
    let other = Page::open(&to_execution).unwrap();
    other.wait("find('[data-path=decision]').dataset.state === 'waiting'");
    other.go(&to_question);
    other.wait("find('form.question')");
    assert_eq!(other.eval("find('header nav').hidden"), true);
    other.has_no_problems();
    page.has_no_problems();
}

#[test]
fn a_link_shows_one_question_and_nothing_else() {
    let served = with_token();
    let id = served.run("Claim", json!({ "employee": "Ann", "amount": 300 }));
    let execution = served
        .block_on(served.runtime.executions().get(id.parse().unwrap()))
        .unwrap();
    let question = served.block_on(execution.questions()).unwrap().remove(0);
    let link = Links::new([7; 32]).question(&question, Duration::from_secs(600));
    let at = served.at(&format!("questions/{}?link={link}", question.token()));
    let Some(page) = Page::open(&at) else {
        return;
    };
    assert_eq!(
        page.eval("find('header nav').hidden && all('main a').length === 0"),
        true
    );
    page.click("all('input[type=radio]')[2]");
    page.click("named('button', 'Answer')");
    page.wait("named('p', 'Your answer has arrived.')");
    page.go(&served.at(&format!("executions/{id}?link={link}")));
    page.wait("find('main .problem').textContent.includes('no execution')");
    page.has_no_problems();
}

#[test]
fn the_page_works_below_a_prefix() {
    let served = Served::new();
    let address = served.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router =
            Router::new().nest("/team/flows", Server::new(served.runtime.clone()).router());
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, service).await });
        format!("http://{address}/team/flows")
    });
    let id = served.run("Claim", json!({ "employee": "Ann", "amount": 3 }));
    let Some(page) = Page::open(&format!("{address}#/executions")) else {
        return;
    };
    page.click(&format!("find('[data-id=\"{id}\"] a')"));
    page.wait("find('[data-path=pay]').dataset.state === 'done'");
    page.has_no_problems();
}
