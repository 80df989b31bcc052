//! The server is a real one, and nothing is left of it.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use flow_services::Redis;

#[test]
fn keeps_what_was_confirmed_when_it_is_killed() {
    let Some(mut server) = Redis::start() else {
        return;
    };
    server.command(&["SET", "n", "7"]);
    server.kill();
    assert!(!is_listening(server.port()));
    server.start_again();
    assert_eq!(server.command(&["GET", "n"]), "7");
    server.rewrite_log();
    assert!(server.log_file().ends_with("appendonly.aof.2.incr.aof"));
    let port = server.port();
    drop(server);
    assert!(!is_listening(port));
}

#[test]
fn is_a_cluster_of_two() {
    let Some([one, other]) = Redis::start_cluster() else {
        return;
    };
    assert_eq!(one.command(&["SET", "b", "1"]), "OK"); // slot 3300
    assert_eq!(other.command(&["SET", "a", "1"]), "OK"); // slot 15495
}

#[test]
fn ends_with_the_process_that_started_it() {
    if Redis::start().is_none() {
        return;
    }
    let mut program = Command::new(env!("CARGO_BIN_EXE_flow-services"))
        .arg("redis")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    let printed = program.stdout.take().unwrap();
    BufReader::new(printed).read_line(&mut url).unwrap();
    let port: u16 = url.trim().rsplit_once(':').unwrap().1.parse().unwrap();
    assert!(is_listening(port));
    program.kill().unwrap(); // `kill -9`: nothing is dropped
    program.wait().unwrap();
    let began = Instant::now();
    while is_listening(port) {
        assert!(began.elapsed() < Duration::from_secs(200), "it still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_listening(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}
