//! The text of pages.

use super::{Server, answer, fetch, fetched};

/// The text of a page, which is at `/a/page`.
async fn read(html: &'static str) -> String {
    read_as("text/html", html).await
}

async fn read_as(kind: &str, page: &'static str) -> String {
    let head = format!("content-type: {kind}\r\n");
    let server = Server::start(move |_| answer("200 OK", &head, page)).await;
    let text = fetched(&fetch(), &server.url("/a/page")).await.unwrap();
    text.replace(&server.url(""), "http://pages.test")
}

#[tokio::test]
async fn a_page_is_read_as_its_text() {
    let page = "<!doctype html><html><head><title>The  weather</title><style>p { color: red }</style>\
        <script>let a = '<p>not text</p>';</script><meta charset=utf-8></head>\n<body>\n\
        <!-- <p>not text</p> -->\n<h1>Weather</h1>\n<p>It <b>rains</b>\n  in <a href='/towns/ulm?a=b'>Ulm</a>, \
        &amp; it&#39;s <em>cold</em>.</p><noscript><p>not text</p></noscript>\n\
        <h2>Towns</h2><ul><li>Ulm</li><li>Bonn<ul><li>Beuel</li></ul></li></ul>\
        <ol><li>one<li>two</ol><div>Wind:<br>strong</div><div>Sun: none</div>\
        <table><tr><th>Town</th><th>Rain</th></tr><tr><td>Ulm</td><td>3&nbsp;mm</td></tr></table>\
        <pre>  a\n    b</pre><hr><img src=a.png alt='A cloud'>\
        <template><p>not text</p></template></body></html>";
    let text = "# The weather\n\n# Weather\n\nIt rains in [Ulm](http://pages.test/towns/ulm?a=b), & it's \
        cold.\n\n## Towns\n\n- Ulm\n- Bonn\n\n- Beuel\n\n- one\n- two\n\nWind:\nstrong\nSun: none\n\nTown | Rain\n\
        Ulm | 3\u{a0}mm\n\n  a\n    b\n\n---\n\nA cloud";
    assert_eq!(read(page).await, text);
}

#[tokio::test]
async fn links_are_kept_with_their_whole_addresses() {
    let cases = [
        (
            "<a href='next'>Next</a> page",
            "[Next](http://pages.test/a/next) page",
        ),
        ("<a href='../up'> Up </a>!", "[Up](http://pages.test/up) !"),
        (
            "<a href='https://docs.rs/'>docs</a>",
            "[docs](https://docs.rs/)",
        ),
        ("<a href='//docs.rs/x'>docs</a>", "[docs](http://docs.rs/x)"),
        ("<a href='#part'>Part</a>", "Part"),
        ("<a href='mailto:a@b.test'>Write</a>", "Write"),
        ("<a href='javascript:alert(1)'>Click</a>", "Click"),
        ("<a name=here>Here</a>", "Here"),
        ("<a href=x></a>empty", "empty"),
        (
            "<a href=x>one<a href=y>two</a>",
            "[one](http://pages.test/a/x)[two](http://pages.test/a/y)",
        ),
        ("<a href=x>open", "[open](http://pages.test/a/x)"),
        (
            "<a href=x><h3>Title</h3><p>More</p></a>after",
            "### Title\n\nMore (http://pages.test/a/x)\n\nafter",
        ),
    ];
    for (page, text) in cases {
        assert_eq!(read(page).await, text, "{page}");
    }
}

#[tokio::test]
async fn a_page_that_is_broken_is_read_as_far_as_it_goes() {
    let cases = [
        ("<p>one<p>two", "one\n\ntwo"),
        ("</div></p></a></pre>text", "text"),
        (
            "<p>a < b & c > d &unknown; &#0;",
            "a < b & c > d &unknown; \u{fffd}",
        ),
        ("text <b", "text"),
        ("<b>text</i>", "text"),
        ("<script>never closed <p>text", "… the text is empty"),
        ("", "… the text is empty"),
        ("<h1></h1>text", "text"),
        ("<h1> </h1><p>text", "text"),
        ("<ul><li><p>text</p>", "- text"),
        ("plain text\n\n of two   lines", "plain text of two lines"),
    ];
    for (page, text) in cases {
        assert_eq!(read(page).await, text, "{page}");
    }
}

#[tokio::test]
async fn a_page_in_xml_closes_elements_where_it_opens_them() {
    let cases = [
        (
            "<html><head><script src='a.js'/><title/></head><body><p>one</p><iframe/><p/>two</body></html>",
            "one\n\ntwo",
        ),
        (
            "<ul><li><br/>one</li><li>two<br/>three</li></ul>",
            "- one\n- two\nthree",
        ),
        (
            "<p>a<hr/>b <img src='c.png' alt='c'/></p>",
            "a\n\n---\n\nb c",
        ),
        (
            "<script>//<![CDATA[\nif (a > 1 && i <n.length) { s = \"x>'\" }\n//]]></script><p>text</p>",
            "text",
        ),
        (
            "<p><![CDATA[a < b &amp; c]]> d &amp; <![CDATA[e",
            "a < b &amp; c d & e",
        ),
    ];
    for (page, text) in cases {
        let read = read_as("application/xhtml+xml", page).await;
        assert_eq!(read, text, "{page}");
    }
    // In HTML, a script ends where it is closed.
    let read = read("<script src='a.js'/><p>not text</p></script><p>text").await;
    assert_eq!(read, "text");
}
