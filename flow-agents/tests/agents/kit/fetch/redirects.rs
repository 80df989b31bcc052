//! Redirects, each of which is checked as if the model had written it.

use super::{Body, HOST, LOOPBACK, Server, answer, fetch, fetched, text};

/// Where a redirect may not lead. `PORT` is the port of a server that waits for it.
const REFUSED: &[(&str, &str)] = &[
    ("http://127.0.0.1:PORT/", " is a loopback address"),
    ("//127.0.0.1:PORT/", " is a loopback address"),
    ("http://2130706433:PORT/", " is a loopback address"),
    ("http://[::ffff:127.0.0.1]:PORT/", " is a loopback address"),
    ("http:\\\\127.0.0.1:PORT", " is a loopback address"),
    ("http://0:PORT/", " is an address of this machine"),
    ("http://localhost:PORT/", "localhost is this machine"),
    (
        "http://other.test:PORT/",
        "other.test is at 127.0.0.1, a loopback address",
    ),
    (
        "http://169.254.169.254/latest/meta-data/",
        " is a link-local address",
    ),
    (
        "http://user:secret@pages.test:PORT/",
        "it has a user name or a password in it",
    ),
    ("file:///etc/passwd", "only http and https are fetched"),
    (
        "gopher://127.0.0.1:PORT/",
        "only http and https are fetched",
    ),
    (
        "data:text/plain,the canary sings",
        "only http and https are fetched",
    ),
    ("javascript:alert(1)", "only http and https are fetched"),
];

#[tokio::test]
async fn a_redirect_to_what_is_not_public_is_refused() {
    let canary = Server::canary().await;
    let port = canary.address.port().to_string();
    let fetch = fetch().resolve("other.test", [LOOPBACK]);
    for status in [
        "301 Moved Permanently",
        "302 Found",
        "303 See Other",
        "307 Temporary Redirect",
        "308 Permanent Redirect",
    ] {
        for (place, reason) in REFUSED {
            let place = place.replace("PORT", &port);
            let head = format!("location: {place}\r\n");
            let server = Server::start(move |path| match path {
                "/" => answer(status, "location: /next\r\n", ""),
                _ => answer(status, &head, ""),
            });
            let server = server.await;
            for path in ["/", "/next"] {
                let said = fetched(&fetch, &server.url(path)).await.unwrap_err();
                assert!(
                    said.contains("is refused: ") && said.contains(reason),
                    "{place}: {said}"
                );
            }
        }
    }
    canary.assert_silent();
}

/// Redirects from `/5` to `/4`, and so on to `/0`.
async fn countdown() -> Server {
    Server::start(|path| match path[1..].parse::<u32>() {
        Ok(0) => text("text/plain", "arrived"),
        Ok(left) => answer("302 Found", &format!("location: {}\r\n", left - 1), ""),
        Err(_) => answer("302 Found", "location: /round\r\n", ""),
    })
    .await
}

#[tokio::test]
async fn five_redirects_are_followed_and_no_more() {
    let server = countdown().await;
    let said = fetched(&fetch(), &server.url("/5")).await;
    assert_eq!(
        said,
        Ok(format!("arrived\n… the text is at {}", server.url("/0")))
    );
    for (path, last) in [("/6", "/1"), ("/round", "/round")] {
        let said = fetched(&fetch(), &server.url(path)).await.unwrap_err();
        assert!(
            said.ends_with(&format!("{last}\" redirects once more, after 5 redirects")),
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_redirect_leads_only_to_hosts_that_are_allowed() {
    let server = countdown().await;
    let port = server.address.port();
    let there = Server::start(move |_| {
        answer(
            "302 Found",
            &format!("location: http://{HOST}:{port}/0\r\n"),
            "",
        )
    })
    .await;
    let fetch = fetch()
        .resolve("start.test", [LOOPBACK])
        .allow_private(["start.test"])
        .unwrap();
    let url = format!("http://start.test:{}/", there.address.port());
    let said = fetched(&fetch, &url).await.unwrap();
    assert!(said.starts_with("arrived"), "{said}");
    let said = fetched(&fetch.only_hosts(["start.test"]).unwrap(), &url)
        .await
        .unwrap_err();
    assert!(
        said.contains("pages.test is not among the hosts that are allowed"),
        "{said}"
    );
}

#[tokio::test]
async fn a_redirect_to_nowhere_is_an_error() {
    for (headers, problem) in [
        ("", "redirects to nowhere"),
        ("location: http://[\r\n", "redirects to what is not a URL"),
        ("location: \u{e9}\r\n", "redirects to what is not a URL"),
    ] {
        let server = Server::start(move |_| answer("302 Found", headers, "")).await;
        let said = fetched(&fetch(), &server.url("/")).await.unwrap_err();
        assert!(said.ends_with(problem), "{said}");
    }
}

/// A redirect whose body never ends is not read.
#[tokio::test]
async fn the_body_of_a_redirect_is_not_waited_for() {
    let server = Server::start(|path| match path {
        "/" => {
            let (head, _) = answer("302 Found", "location: /next\r\n", "");
            (head, Body::Endless(vec![b'x'; 1_000]))
        }
        _ => text("text/plain", "arrived"),
    });
    let server = server.await;
    let said = fetched(&fetch(), &server.url("/")).await.unwrap();
    assert!(said.starts_with("arrived"), "{said}");
}
