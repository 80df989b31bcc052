//! URLs that try to reach what is not public.

use flow_agents::kit::Fetch;
use serde_json::json;

use super::{HOST, LOOPBACK, Server, called, fetch, fetched, text};

const LOCAL: &str = " is a loopback address";
const THIS: &str = " is an address of this machine";
const MACHINE: &str = "localhost is this machine";
const PRIVATE: &str = " is a private address";
const LINK: &str = " is a link-local address";
const DOCUMENTATION: &str = " is an address for documentation";
const MULTICAST: &str = " is a multicast address";
const RESERVED: &str = " is a reserved address";
const USER: &str = "it has a user name or a password in it";
const SCHEME: &str = "only http and https are fetched";

/// URLs that are refused as they are written. `PORT` is the port of a server that waits for them.
const WRITTEN: &[(&str, &str)] = &[
    ("http://127.0.0.1:PORT/", LOCAL),
    ("https://127.0.0.1:PORT/", LOCAL),
    ("HTTP://127.0.0.1:PORT/", LOCAL),
    ("http://127.0.0.2:PORT/", LOCAL),
    ("http://127.255.255.254:PORT/", LOCAL),
    ("http://127.1:PORT/", LOCAL),
    ("http://127.0.1:PORT/", LOCAL),
    ("http://2130706433:PORT/", LOCAL),
    ("http://0x7f000001:PORT/", LOCAL),
    ("http://0x7f.0.0.1:PORT/", LOCAL),
    ("http://0x7f.1:PORT/", LOCAL),
    ("http://017700000001:PORT/", LOCAL),
    ("http://0177.0.0.01:PORT/", LOCAL),
    ("http://127.0.0.1.:PORT/", LOCAL),
    ("http://１２７.０.０.１:PORT/", LOCAL),
    ("http://①②⑦.⓪.⓪.①:PORT/", LOCAL),
    ("http://127。0。0。1:PORT/", LOCAL),
    ("http://%31%32%37.0.0.1:PORT/", LOCAL),
    ("http:127.0.0.1:PORT/", LOCAL),
    ("http:/127.0.0.1:PORT/", LOCAL),
    ("http:////127.0.0.1:PORT/", LOCAL),
    ("http:\\\\127.0.0.1:PORT\\", LOCAL),
    (" \t http://127.0.0.1:PORT/ \n", LOCAL),
    ("ht\ntp://127.0\t.0.1:PORT/", LOCAL),
    ("http://127.0.0.1:PORT/?http://docs.rs/", LOCAL),
    ("http://127.0.0.1:PORT#@docs.rs/", LOCAL),
    ("http://127.0.0.1:PORT\\@docs.rs/", LOCAL),
    ("http://[::1]:PORT/", LOCAL),
    ("http://[0:0:0:0:0:0:0:1]:PORT/", LOCAL),
    ("http://[::ffff:127.0.0.1]:PORT/", LOCAL),
    ("http://[::ffff:7f00:1]:PORT/", LOCAL),
    ("http://[64:ff9b::127.0.0.1]:PORT/", LOCAL),
    ("http://[64:ff9b::7f00:1]:PORT/", LOCAL),
    ("http://0:PORT/", THIS),
    ("http://0.0.0.0:PORT/", THIS),
    ("http://0x0:PORT/", THIS),
    ("http://0.1.2.3:PORT/", THIS),
    ("http://[::]:PORT/", THIS),
    ("http://[::ffff:0.0.0.0]:PORT/", THIS),
    ("http://localhost:PORT/", MACHINE),
    ("http://LOCALHOST:PORT/", MACHINE),
    ("http://localhost.:PORT/", MACHINE),
    ("http://docs.localhost:PORT/", MACHINE),
    ("http://loc%61lhost:PORT/", MACHINE),
    ("http://ｌｏｃａｌｈｏｓｔ:PORT/", MACHINE),
    ("http://10.0.0.1/", PRIVATE),
    ("http://172.16.0.1/", PRIVATE),
    ("http://172.31.255.255/", PRIVATE),
    ("http://192.168.1.1/", PRIVATE),
    ("http://0xc0a80101/", PRIVATE),
    ("http://[::ffff:10.0.0.1]/", PRIVATE),
    ("http://[64:ff9b::10.0.0.1]/", PRIVATE),
    ("http://[fc00::1]/", PRIVATE),
    ("http://[fd00:ec2::254]/latest/meta-data/", PRIVATE),
    ("http://169.254.169.254/latest/meta-data/", LINK),
    ("http://2852039166/latest/meta-data/", LINK),
    ("http://0xa9fea9fe/", LINK),
    ("http://0251.0376.0251.0376/", LINK),
    ("http://[::ffff:169.254.169.254]/", LINK),
    ("http://[::ffff:a9fe:a9fe]/", LINK),
    ("http://169.254.170.2/v2/credentials", LINK),
    ("http://[fe80::1]/", LINK),
    ("http://100.64.0.1/", "an address that a provider shares"),
    (
        "http://100.100.100.200/latest/meta-data/",
        "an address that a provider shares",
    ),
    ("http://192.0.0.192/opc/v2/", "an address for protocols"),
    (
        "http://168.63.129.16/machine/",
        "an address of the services of a cloud",
    ),
    ("http://198.18.0.1/", "an address for benchmarks"),
    ("http://192.0.2.1/", DOCUMENTATION),
    ("http://198.51.100.1/", DOCUMENTATION),
    ("http://203.0.113.1/", DOCUMENTATION),
    ("http://[2001:db8::1]/", DOCUMENTATION),
    ("http://[3fff::1]/", DOCUMENTATION),
    ("http://192.88.99.1/", "an address of a 6to4 relay"),
    ("http://[2002:7f00:1::]/", "an address of 6to4"),
    (
        "http://[2001:0:7f00:1::1]/",
        "an address for protocols, such as Teredo",
    ),
    ("http://224.0.0.1/", MULTICAST),
    ("http://239.255.255.250:1900/", MULTICAST),
    ("http://[ff02::1]/", MULTICAST),
    ("http://240.0.0.1/", RESERVED),
    ("http://255.255.255.255/", RESERVED),
    ("http://[::127.0.0.1]:PORT/", RESERVED),
    ("http://[64:ff9b:1::7f00:1]/", RESERVED),
    ("http://[fec0::1]/", RESERVED),
    ("http://[100::1]/", RESERVED),
    ("http://user@pages.test:PORT/", USER),
    ("http://user:secret@pages.test:PORT/", USER),
    ("http://:secret@pages.test:PORT/", USER),
    ("http://docs.rs@127.0.0.1:PORT/", USER),
    ("http://docs.rs:80@127.0.0.1:PORT/", USER),
    ("http://127.0.0.1:PORT@docs.rs/", USER),
    ("file:///etc/passwd", SCHEME),
    ("file://localhost/etc/passwd", SCHEME),
    ("FILE:/etc/passwd", SCHEME),
    ("gopher://127.0.0.1:PORT/_GET", SCHEME),
    ("ftp://127.0.0.1:PORT/", SCHEME),
    ("dict://127.0.0.1:PORT/info", SCHEME),
    ("ldap://127.0.0.1:PORT/", SCHEME),
    ("ws://127.0.0.1:PORT/", SCHEME),
    ("unix:///var/run/docker.sock", SCHEME),
    ("http+unix://%2fvar%2frun%2fdocker.sock/info", SCHEME),
    ("jar:http://127.0.0.1:PORT/!/", SCHEME),
    ("view-source:http://127.0.0.1:PORT/", SCHEME),
    ("data:text/plain,the canary sings", SCHEME),
    ("javascript:fetch('http://127.0.0.1:PORT/')", SCHEME),
    ("about:blank", SCHEME),
    ("", "relative URL without a base"),
    ("docs.rs", "relative URL without a base"),
    ("//127.0.0.1:PORT/", "relative URL without a base"),
    ("/etc/passwd", "relative URL without a base"),
    ("http://", "empty host"),
    ("http://:PORT/", "empty host"),
    ("http://127.0.0.1:99999/", "invalid port number"),
    ("http://127.0.0.1:PORT:80/", "invalid port number"),
    ("http://256.256.256.256/", "invalid IPv4 address"),
    ("http://1.2.3.4.5/", "invalid IPv4 address"),
    ("http://[::1/", "invalid IPv6 address"),
    ("http://[fe80::1%25lo]/", "invalid IPv6 address"),
    (
        "http://docs.rs%40127.0.0.1/",
        "invalid international domain name",
    ),
    (
        "http://docs.rs%00.localhost/",
        "invalid international domain name",
    ),
    ("http://docs rs/", "invalid international domain name"),
];

#[tokio::test]
async fn a_url_of_what_is_not_public_is_refused() {
    let canary = Server::canary().await;
    let port = canary.address.port().to_string();
    for (url, reason) in WRITTEN {
        let url = url.replace("PORT", &port);
        let said = fetched(&fetch(), &url).await.expect_err(&url);
        assert!(said.starts_with("the URL \""), "{url:?}: {said}");
        assert!(said.contains(reason), "{url:?}: {said}");
        assert!(said.len() < 600, "{url:?}: {} bytes", said.len());
    }
    let long = format!("http://{HOST}:{port}/{}", "a".repeat(10_000));
    let said = fetched(&fetch(), &long).await.unwrap_err();
    assert!(
        said.contains("it is longer than 8,192 bytes") && said.len() < 600,
        "{said}"
    );
    canary.assert_silent();
}

/// What is behind the host of a URL is not its host, however it looks.
#[tokio::test]
async fn only_the_host_of_a_url_is_connected_to() {
    let (server, canary) = (
        Server::start(|path| text("text/plain", path)).await,
        Server::canary().await,
    );
    let other = canary.address.port();
    for path in [
        format!("/@127.0.0.1:{other}"),
        format!("/\\@127.0.0.1:{other}"),
        format!("/?u=http://127.0.0.1:{other}/"),
    ] {
        let said = fetched(&fetch(), &server.url(&path)).await.unwrap();
        assert_eq!(said, path.replace('\\', "/"));
    }
    canary.assert_silent();
}

/// DNS can say anything of a name, also different things one after the other: what it says for the connection is checked.
#[tokio::test]
async fn a_name_with_an_address_that_is_not_public_is_refused() {
    let canary = Server::canary().await;
    let port = canary.address.port();
    let public = "93.184.215.14";
    let cases: &[(&[&str], &str)] = &[
        (&["127.0.0.1"], "a.test is at 127.0.0.1, a loopback address"),
        (&["127.9.9.9"], "a.test is at 127.9.9.9, a loopback address"),
        (
            &["0.0.0.0"],
            "a.test is at 0.0.0.0, an address of this machine",
        ),
        (&["::1"], "a.test is at ::1, a loopback address"),
        (
            &["::ffff:127.0.0.1"],
            "a.test is at ::ffff:127.0.0.1, a loopback address",
        ),
        (
            &["64:ff9b::127.0.0.1"],
            "a.test is at 64:ff9b::7f00:1, a loopback address",
        ),
        (&["10.1.2.3"], "a.test is at 10.1.2.3, a private address"),
        (
            &["169.254.169.254"],
            "a.test is at 169.254.169.254, a link-local address",
        ),
        (
            &["fd00:ec2::254"],
            "a.test is at fd00:ec2::254, a private address",
        ),
        (
            &["100.64.0.1"],
            "a.test is at 100.64.0.1, an address that a provider shares",
        ),
        (
            &[public, "127.0.0.1"],
            "a.test is at 127.0.0.1, a loopback address",
        ),
        (
            &["127.0.0.1", public],
            "a.test is at 127.0.0.1, a loopback address",
        ),
        (&[], "a.test has no address"),
    ];
    for (addresses, reason) in cases {
        let addresses = addresses.iter().map(|address| address.parse().unwrap());
        let fetch = fetch().resolve("a.test", addresses);
        for host in ["a.test", "A.TEST", "a.test.", "ａ.test"] {
            let said = fetched(&fetch, &format!("http://{host}:{port}/"))
                .await
                .unwrap_err();
            assert!(
                said.starts_with("the URL \"http://a.test") && said.contains(reason),
                "{said}"
            );
        }
    }
    canary.assert_silent();
}

#[tokio::test]
async fn only_hosts_that_are_allowed_are_fetched_from() {
    let server = Server::start(|_| text("text/plain", "hello")).await;
    let port = server.address.port();
    let fetch = [
        "a.test",
        "b.a.test",
        "c.b.a.test",
        "nota.test",
        "a.test.evil.test",
    ]
    .iter()
    .fold(fetch(), |fetch, host| {
        fetch
            .resolve(host, [LOOPBACK])
            .allow_private([host])
            .unwrap()
    });
    let one = fetch.clone().only_hosts(["A.test."]).unwrap();
    let below = fetch.clone().only_hosts(["*.a.test", "127.0.0.1"]).unwrap();
    let cases = [
        ("a.test", true, false),
        ("A.TEST.", true, false),
        ("b.a.test", false, true),
        ("c.b.a.test", false, true),
        ("nota.test", false, false),
        ("a.test.evil.test", false, false),
        (HOST, false, false),
    ];
    for (host, is_one, is_below) in cases {
        for (fetch, is_allowed) in [(&one, is_one), (&below, is_below), (&fetch, true)] {
            let said = fetched(fetch, &format!("http://{host}:{port}/")).await;
            if is_allowed {
                assert_eq!(said.as_deref(), Ok("hello"), "{host}");
            } else {
                let said = said.unwrap_err();
                assert!(
                    said.contains("is not among the hosts that are allowed"),
                    "{host}: {said}"
                );
            }
        }
    }
    // That a host is allowed does not make its address public.
    let said = fetched(&below, &format!("http://127.0.0.1:{port}/"))
        .await
        .unwrap_err();
    assert!(said.contains("127.0.0.1 is a loopback address"), "{said}");
}

#[tokio::test]
async fn a_name_is_resolved_however_people_write_it() {
    let server = Server::start(|_| text("text/plain", "hello")).await;
    let port = server.address.port();
    let names = [
        "münchen.test",
        "MÜNCHEN.Test.",
        "mu\u{308}nchen.test",
        "münchen。test",
        "xn--mnchen-3ya.test",
        "XN--MNCHEN-3YA.TEST.",
    ];
    for known in names {
        let fetch = Fetch::new().resolve(known, [LOOPBACK]);
        let fetch = fetch.allow_private([known]).unwrap();
        for asked in names {
            let said = fetched(&fetch, &format!("http://{asked}:{port}/")).await;
            assert_eq!(said.as_deref(), Ok("hello"), "{known} {asked}");
        }
    }
    // The last addresses of a name hold, however it is written.
    let fetch = Fetch::new().resolve("münchen.test", ["93.184.216.34".parse().unwrap()]);
    let fetch = fetch.resolve("xn--mnchen-3ya.test.", [LOOPBACK]);
    let said = fetched(&fetch, "http://münchen.test/").await.unwrap_err();
    assert!(
        said.contains("is at 127.0.0.1, a loopback address"),
        "{said}"
    );
}

#[tokio::test]
async fn what_is_not_looked_up_is_not_resolved() {
    for (name, reason) in [
        ("127.0.0.1", "it is an IP address, which is not looked up"),
        ("[::1]", "it is an IP address, which is not looked up"),
        ("::1", "it is an IP address, which is not looked up"),
        ("0x7f.1", "it is an IP address, which is not looked up"),
        ("*.docs.rs", "it stands for many names"),
        ("https://docs.rs", "invalid"),
        ("docs.rs:443", "invalid"),
        ("", "empty host"),
    ] {
        let fetch = Fetch::new().resolve(name, [LOOPBACK]);
        let said = fetched(&fetch, "http://docs.rs/").await.unwrap_err();
        assert!(
            said.contains("is not a host") && said.contains(reason),
            "{name}: {said}"
        );
    }
}

#[tokio::test]
async fn hosts_are_read_as_people_write_them() {
    let server = Server::start(|_| text("text/plain", "hello")).await;
    let url = format!("http://münchen.test:{}/", server.address.port());
    for host in ["München.test", "xn--mnchen-3ya.test"] {
        let fetch = Fetch::new().resolve("xn--mnchen-3ya.test", [LOOPBACK]);
        let fetch = fetch.allow_private([host]).unwrap();
        let fetch = fetch.only_hosts([host]).unwrap();
        assert_eq!(fetched(&fetch, &url).await.as_deref(), Ok("hello"));
    }
    for host in [
        "https://docs.rs",
        "docs.rs/",
        "docs.rs:443",
        "",
        "*",
        "*docs.rs",
        "docs.*.rs",
        "*.127.0.0.1",
        "a b",
    ] {
        let said = Fetch::new().only_hosts([host]).unwrap_err().to_string();
        assert!(
            said.starts_with(&format!("{host:?} is not a host: ")),
            "{said}"
        );
        assert!(Fetch::new().allow_private([host]).is_err(), "{host}");
    }
}

#[tokio::test]
async fn a_host_can_be_allowed_to_be_private_by_each_of_its_names() {
    let server = Server::start(|_| text("text/plain", "hello")).await;
    let port = server.address.port();
    for host in ["127.0.0.1", "localhost", "LOCALHOST"] {
        let fetch = Fetch::new().allow_private([host]).unwrap();
        assert_eq!(
            fetched(&fetch, &format!("http://{host}:{port}/"))
                .await
                .as_deref(),
            Ok("hello")
        );
    }
    let fetch = Fetch::new().allow_private(["localhost"]).unwrap();
    let said = fetched(&fetch, &format!("http://127.0.0.1:{port}/"))
        .await
        .unwrap_err();
    assert!(said.contains("127.0.0.1 is a loopback address"), "{said}");
    let fetch = Fetch::new().allow_private(["::1"]).unwrap(); // nothing listens there
    let said = fetched(&fetch, &format!("http://[::1]:{port}/"))
        .await
        .unwrap_err();
    assert!(said.contains("cannot be fetched"), "{said}");
}

#[tokio::test]
async fn arguments_of_a_wrong_shape_are_refused() {
    let cases = [
        (json!({}), "`url` is missing"),
        (json!({ "url": null }), "`url`: invalid type: null"),
        (json!({ "url": 80 }), "`url`: invalid type: integer"),
        (
            json!({ "url": ["http://pages.test/"] }),
            "`url`: invalid type: sequence",
        ),
        (
            json!({ "url": "http://pages.test/", "offset": -1 }),
            "`offset`: invalid value",
        ),
        (
            json!({ "url": "http://pages.test/", "offset": "0" }),
            "`offset`: invalid type",
        ),
        (
            json!({ "url": "http://pages.test/", "method": "POST" }),
            "no argument `method`",
        ),
        (
            json!({ "url": "http://pages.test/", "headers": {} }),
            "no argument `headers`",
        ),
        (
            json!("http://pages.test/"),
            "the arguments are not a JSON object",
        ),
    ];
    for (arguments, reason) in cases {
        let said = called(&fetch(), arguments.clone()).await.unwrap_err();
        assert!(said.contains(reason), "{arguments}: {said}");
    }
}
