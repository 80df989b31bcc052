//! What is read of an answer: its status, its type and its characters.

use std::process::Command;

use serde_json::json;

use super::{Server, answer, called, fetch, fetched, text};

#[tokio::test]
async fn nothing_is_sent_but_the_request() {
    let server = Server::start(|_| {
        answer(
            "200 OK",
            "content-type: text/plain\r\nset-cookie: id=1\r\n",
            "ok",
        )
    })
    .await;
    let fetch = fetch();
    for _ in 0..2 {
        assert_eq!(
            fetched(&fetch, &server.url("/a?b=c#d")).await.as_deref(),
            Ok("ok")
        );
    }
    let host = format!("pages.test:{}", server.address.port());
    let version = env!("CARGO_PKG_VERSION");
    let request = format!(
        "GET /a?b=c HTTP/1.1\r\naccept: text/*, application/json, application/xml, */*;q=0.1\r\nuser-agent: \
         flow-agents/{version}\r\nhost: {host}\r\n\r\n"
    );
    assert_eq!(*server.requests.lock().unwrap(), [request.clone(), request]);
}

/// Runs itself again with proxies in its environment, which belongs to the whole process.
#[tokio::test]
async fn proxies_of_the_environment_are_not_used() {
    if std::env::var_os("IS_BEHIND_A_PROXY").is_some() {
        let server = Server::start(|_| text("text/plain", "direct")).await;
        assert_eq!(
            fetched(&fetch(), &server.url("/")).await.as_deref(),
            Ok("direct")
        );
        return;
    }
    let canary = Server::canary().await;
    let proxy = format!("http://{}", canary.address);
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args([
        "--exact",
        "kit::fetch::answers::proxies_of_the_environment_are_not_used",
    ]);
    for name in [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        again.env(name, &proxy);
    }
    again
        .env("IS_BEHIND_A_PROXY", "1")
        .env_remove("NO_PROXY")
        .env_remove("no_proxy");
    let output = tokio::task::spawn_blocking(move || again.output())
        .await
        .unwrap()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
    canary.assert_silent();
}

#[tokio::test]
async fn a_status_that_is_not_a_success_is_an_error_with_what_is_said() {
    let long = "x".repeat(100_000);
    let cases = [
        (
            "404 Not Found",
            "text/plain",
            "no such page\n",
            "404 Not Found: no such page",
        ),
        (
            "500 Internal Server Error",
            "text/html",
            "<h1>Oh</h1>",
            "500 Internal Server Error: # Oh",
        ),
        ("403 Forbidden", "image/png", "\u{1}", "403 Forbidden"),
        (
            "401 Unauthorized",
            "text/plain",
            &long,
            &format!("401 Unauthorized: {}…", &long[..500]),
        ),
        ("304 Not Modified", "text/plain", "", "304 Not Modified"),
    ];
    for (status, kind, body, said) in cases {
        let (head, body) = (format!("content-type: {kind}\r\n"), body.to_owned());
        let server = Server::start(move |_| answer(status, &head, &body)).await;
        let url = server.url("/");
        let error = fetched(&fetch(), &url).await.unwrap_err();
        assert_eq!(error, format!("{url:?} is answered with the status {said}"));
    }
}

#[tokio::test]
async fn what_is_not_text_is_refused() {
    let cases: &[(&str, &[u8], &str)] = &[
        (
            "image/png",
            b"\x89PNG",
            "its type is \"image/png\", which is not text",
        ),
        (
            "application/pdf",
            b"%PDF",
            "its type is \"application/pdf\", which is not text",
        ),
        (
            "application/octet-stream",
            b"a",
            "its type is \"application/octet-stream\"",
        ),
        ("application/zip", b"PK", "its type is \"application/zip\""),
        (
            "multipart/x-mixed-replace; boundary=a",
            b"--a",
            "its type is \"multipart/x-mixed-replace\"",
        ),
        ("video/mp4", b"", "its type is \"video/mp4\""),
        ("", b"a", "its type is \"\""),
        ("text", b"a", "its type is \"text\""),
        ("text/plain", b"a\0b", "it is binary"),
        (
            "text/plain; charset=klingon",
            b"a",
            "encoded as \"klingon\", which is not known",
        ),
    ];
    for (kind, body, reason) in cases {
        let head = format!("content-type: {kind}\r\n");
        let server = Server::start(move |_| answer("200 OK", &head, body)).await;
        let said = fetched(&fetch(), &server.url("/")).await.unwrap_err();
        assert!(
            said.contains("is not read: ") && said.contains(reason),
            "{kind}: {said}"
        );
    }
}

#[tokio::test]
async fn text_is_read_in_its_encoding() {
    let cases: &[(&str, &[u8], &str)] = &[
        ("content-type: text/plain\r\n", b"f\xc3\xbcr\n", "für\n"),
        ("", b"{}", "{}"),
        (
            "content-type: application/json\r\n",
            b"{\"a\": 1}",
            "{\"a\": 1}",
        ),
        ("content-type: application/problem+json\r\n", b"{}", "{}"),
        (
            "content-type: application/atom+xml; charset=utf-8\r\n",
            b"<feed/>",
            "<feed/>",
        ),
        ("content-type: TEXT/CSV\r\n", b"a,b", "a,b"),
        (
            "content-type: text/plain; charset=iso-8859-1\r\n",
            b"f\xfcr",
            "für",
        ),
        (
            "content-type: text/plain; Charset=\"Shift_JIS\"\r\n",
            b"\x93\xfa\x96{",
            "日本",
        ),
        (
            "content-type: text/plain; charset=utf-16le\r\n",
            b"a\0b\0",
            "ab",
        ),
        ("content-type: text/plain\r\n", b"\xef\xbb\xbfa", "a"),
        (
            "content-type: text/html\r\n",
            b"<meta charset='windows-1252'><p>f\xfcr",
            "für",
        ),
        (
            "content-type: text/html\r\n",
            b"<meta http-equiv=a content='text/html; charset=windows-1252'><p>f\xfcr",
            "für",
        ),
        (
            "content-type: text/html\r\n",
            b"<meta charset='utf-16'><p>f\xc3\xbcr",
            "für",
        ),
        (
            "content-type: text/plain\r\n",
            b"f\xfcr",
            "f\u{fffd}r\n… some characters of the answer could not be read",
        ),
        ("content-type: text/plain\r\n", b"", "… the text is empty"),
    ];
    for (headers, body, read) in cases {
        let server = Server::start(move |_| answer("200 OK", headers, body)).await;
        let said = fetched(&fetch(), &server.url("/")).await;
        assert_eq!(said.as_deref(), Ok(*read), "{headers}");
    }
}

#[tokio::test]
async fn a_long_text_is_read_in_parts_that_lose_nothing() {
    let whole: String = (0..10_000).map(|line| format!("line {line} ü\n")).collect();
    let body = whole.clone();
    let server =
        Server::start(move |_| answer("200 OK", "content-type: text/plain\r\n", &body)).await;
    let (mut read, mut offset) = (String::new(), 0);
    loop {
        let part = called(
            &fetch(),
            json!({ "url": server.url("/"), "offset": offset }),
        )
        .await
        .unwrap();
        assert!(part.chars().count() < 20_200);
        let Some((text, note)) = part.rsplit_once("… ") else {
            read.push_str(&part);
            break;
        };
        let left = whole.chars().count() - read.chars().count() - 20_000;
        assert!(
            note.starts_with(&format!(
                "{},{:03} more characters",
                left / 1_000,
                left % 1_000
            )),
            "{note}"
        );
        read.extend(text.chars().take(20_000));
        offset = note.rsplit(' ').next().unwrap().parse().unwrap();
    }
    assert_eq!(read, whole);
    let beyond = called(
        &fetch(),
        json!({ "url": server.url("/"), "offset": 4_000_000 }),
    )
    .await;
    assert_eq!(
        beyond.as_deref(),
        Ok("… the text has only 118,890 characters")
    );
}

#[tokio::test]
async fn empty_encodings_of_an_answer_do_not_count() {
    let server = Server::start(|path| {
        let encoding = match path {
            "/none" => "",
            "/comma" => " ,\t, ",
            "/behind" => "identity,",
            "/before" => ", Identity",
            "/gzip-behind" => "gzip,",
            _ => ", , gzip",
        };
        let headers = format!("content-type: text/plain\r\ncontent-encoding: {encoding}\r\n");
        answer("200 OK", &headers, "hello")
    })
    .await;
    let fetch = fetch();
    for path in ["/none", "/comma", "/behind", "/before"] {
        let read = fetched(&fetch, &server.url(path)).await;
        assert_eq!(read.as_deref(), Ok("hello"), "{path}");
    }
    for path in ["/gzip-behind", "/gzip-before"] {
        let said = fetched(&fetch, &server.url(path)).await.unwrap_err();
        assert!(
            said.contains("it is compressed, as \"gzip\""),
            "{path}: {said}"
        );
    }
}

/// Of two headers, or of a list, nobody knows what holds.
#[tokio::test]
async fn answers_that_say_something_twice_are_refused() {
    let server = Server::start(|path| {
        let headers = match path {
            "/plain" => "content-encoding: Identity\r\n",
            "/first" => "content-encoding: identity\r\ncontent-encoding: gzip\r\n",
            "/second" => "content-encoding: gzip\r\ncontent-encoding: identity\r\n",
            "/twice" => "content-encoding: identity\r\ncontent-encoding: identity\r\n",
            "/list" => "content-encoding: identity, gzip\r\n",
            "/places" => "location: /plain\r\nlocation: /list\r\n",
            _ => "content-type: text/html\r\n",
        };
        let status = if path == "/places" {
            "302 Found"
        } else {
            "200 OK"
        };
        answer(
            status,
            &format!("content-type: text/plain\r\n{headers}"),
            "hello",
        )
    })
    .await;
    let fetch = fetch();
    assert_eq!(
        fetched(&fetch, &server.url("/plain")).await.as_deref(),
        Ok("hello")
    );
    for (path, reason) in [
        ("/first", "it is compressed, as \"identity, gzip\""),
        ("/second", "it is compressed, as \"gzip, identity\""),
        ("/twice", "it is compressed, as \"identity, identity\""),
        ("/list", "it is compressed, as \"identity, gzip\""),
        ("/places", "redirects to two places"),
        ("/types", "it says more than once of what type it is"),
    ] {
        let said = fetched(&fetch, &server.url(path)).await.unwrap_err();
        assert!(said.contains(reason), "{path}: {said}");
    }
}
