//! Answers without end: in their size, in time, and in what they unfold to.

use std::time::Duration;

use super::{Body, Server, answer, fetch, fetched};

#[tokio::test]
async fn of_an_answer_without_end_the_beginning_is_read() {
    let server = Server::start(|path| {
        let headers = match path {
            "/length" => "content-type: text/plain\r\ncontent-length: 99999999999999\r\n",
            _ => "content-type: text/plain\r\n",
        };
        let (head, _) = answer("200 OK", headers, "");
        (head, Body::Endless(b"abcdefghi\n".repeat(1_000)))
    });
    let server = server.await;
    for path in ["/", "/length"] {
        let said = fetched(&fetch().max_bytes(100_000), &server.url(path))
            .await
            .unwrap();
        let (text, notes) = said.split_once('…').unwrap();
        assert_eq!(text, "abcdefghi\n".repeat(2_000));
        let said = " 80,000 more characters; read on with offset 20000\n… only the first 100,000 bytes of \
                    the answer were read";
        assert_eq!(notes, said);
    }
}

#[tokio::test]
async fn a_head_without_end_is_given_up() {
    let server = Server::start(|path| match path {
        "/lines" => (
            "HTTP/1.1 200 OK\r\n".to_owned(),
            Body::Endless(b"a: b\r\n".repeat(100)),
        ),
        _ => (
            "HTTP/1.1 200 OK\r\na: ".to_owned(),
            Body::Endless(vec![b'b'; 1_000]),
        ),
    });
    let server = server.await;
    for path in ["/lines", "/line"] {
        let said = fetched(&fetch(), &server.url(path)).await.unwrap_err();
        assert!(said.contains("cannot be fetched: "), "{said}");
    }
}

/// One that unfolds to much more is not unfolded at all.
#[tokio::test]
async fn a_compressed_answer_is_refused() {
    for encoding in [
        "gzip",
        "br",
        "zstd",
        "deflate",
        "gzip, gzip",
        "GZIP",
        "x-unknown",
    ] {
        let headers = format!("content-type: text/plain\r\ncontent-encoding: {encoding}\r\n");
        let server =
            Server::start(move |_| answer("200 OK", &headers, [0x1f, 0x8b, 8, 0, 0, 0])).await;
        let said = fetched(&fetch(), &server.url("/")).await.unwrap_err();
        assert!(
            said.ends_with(&format!("is not read: it is compressed, as {encoding:?}")),
            "{said}"
        );
        let requests = server.requests.lock().unwrap();
        assert!(
            !requests[0].to_lowercase().contains("accept-encoding"),
            "{}",
            requests[0]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_takes_too_long_is_given_up() {
    let server = Server::start(|path| match path {
        "/silent" => (String::new(), Body::Hanging(Vec::new())),
        "/head" => ("HTTP/1.1 200 OK\r\n".to_owned(), Body::Hanging(Vec::new())),
        "/redirect" => answer("302 Found", "location: /silent\r\n", ""),
        "/refused" => {
            let (head, _) = answer("500 Oh", "content-type: text/plain\r\n", "");
            (head, Body::Hanging(b"half".to_vec()))
        }
        _ => {
            let (head, _) = answer("200 OK", "content-type: text/plain\r\n", "");
            (head, Body::Hanging(b"half an answer".to_vec()))
        }
    });
    let server = server.await;
    for path in ["/silent", "/head", "/redirect", "/refused", "/half"] {
        let url = server.url(path);
        let began = tokio::time::Instant::now();
        let said = fetched(&fetch(), &url).await;
        assert_eq!(
            said,
            Err(format!("{url:?} is not answered in full within 30s"))
        );
        assert_eq!(began.elapsed().as_secs(), 30);
        let said = fetched(&fetch().max_time(Duration::from_secs(5)), &url).await;
        assert_eq!(
            said,
            Err(format!("{url:?} is not answered in full within 5s"))
        );
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_an_error() {
    let server = Server::start(|path| match path {
        "/nothing" => (String::new(), Body::Whole(Vec::new())),
        "/noise" => (
            "SSH-2.0-OpenSSH_9.6\r\n".to_owned(),
            Body::Whole(Vec::new()),
        ),
        _ => answer(
            "200 OK",
            "content-type: text/plain\r\ncontent-length: 100\r\n",
            "half",
        ),
    });
    let server = server.await;
    for path in ["/nothing", "/noise", "/half"] {
        let said = fetched(&fetch(), &server.url(path)).await.unwrap_err();
        assert!(said.contains("cannot be fetched: "), "{said}");
    }
}

/// Pages on which a program that builds a tree of elements takes minutes, or has no more stack.
#[tokio::test]
async fn a_page_that_is_deep_is_read_as_fast_as_any_other() {
    let pages = [
        "<div>",
        "<b>",
        "<p><font>",
        "<table><tr><td>",
        "<ul><li>",
        "<a href=x>",
        "<svg>",
        "<!--",
        "<![CDATA[",
        "</p>",
        "&amp",
        "<pre>",
        "<x a=b c=d>",
        "<div </x>",
        "<template>",
        "<",
    ];
    for page in pages {
        let body = format!("<p>before</p>{}", page.repeat(300_000 / page.len()));
        let server =
            Server::start(move |_| answer("200 OK", "content-type: text/html\r\n", &body)).await;
        let began = std::time::Instant::now();
        let said = fetched(&fetch(), &server.url("/")).await.unwrap();
        assert!(
            said.starts_with("before") && said.chars().count() < 20_200,
            "{page}: {said}"
        );
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "{page}: {:?}",
            began.elapsed()
        );
    }
}
