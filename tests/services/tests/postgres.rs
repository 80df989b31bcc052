//! The server is a real one, and nothing is left of it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use flow_services::Postgres;

#[test]
fn keeps_what_was_committed_when_it_is_killed() {
    let Some(mut server) = Postgres::start() else {
        return;
    };
    server.query("CREATE TABLE t AS SELECT 7 AS n");
    server.kill();
    assert!(!is_listening(server.port()));
    server.start_again();
    assert_eq!(server.query("SELECT n FROM t"), "7");
    let port = server.port();
    drop(server);
    assert!(!is_listening(port));
}

#[test]
fn ends_with_the_process_that_started_it() {
    if Postgres::start().is_none() {
        return;
    }
    let mut program = Command::new(env!("CARGO_BIN_EXE_flow-services"))
        .arg("postgres")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    program.stdin.as_mut().unwrap().flush().unwrap();
    let mut url = String::new();
    let printed = program.stdout.take().unwrap();
    BufReader::new(printed).read_line(&mut url).unwrap();
    let port = url.rsplit_once(':').unwrap().1;
    let port: u16 = port.split('/').next().unwrap().parse().unwrap();
    assert!(is_listening(port));
    program.kill().unwrap(); // `kill -9`: nothing is dropped
    program.wait().unwrap();
    let began = Instant::now();
    while is_listening(port) {
        assert!(began.elapsed() < Duration::from_secs(200), "it still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn is_reached_through_a_pooler() {
    let Some(server) = Postgres::start() else {
        return;
    };
    let Some(pooler) = server.pooler() else {
        return;
    };
    assert_ne!(pooler.url(), server.url());
    let shown = Command::new("psql")
        .args([&pooler.url(), "--no-psqlrc", "-Atc", "SELECT 3 + 4"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&shown.stdout).trim(), "7");
    let clients =
        server.query("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'");
    assert_eq!(clients, "2", "that of the pooler, and this one");
}

fn is_listening(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}
