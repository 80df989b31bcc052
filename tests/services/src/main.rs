//! Starts a server by hand, prints its address, and ends it when its input ends or Enter is
//! pressed.

use std::process::ExitCode;

use flow_services::{Postgres, Redis, Restate, S3};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [service] = &arguments[..] else {
        eprintln!(
            "say which server to start, `postgres`, `redis`, `restate` or `s3`: `cargo run --package flow-services -- postgres`"
        );
        return ExitCode::FAILURE;
    };
    match service.as_str() {
        "postgres" => match Postgres::start() {
            Some(server) => serve(&server.url()),
            None => ExitCode::FAILURE,
        },
        "redis" => match Redis::start() {
            Some(server) => serve(&server.url()),
            None => ExitCode::FAILURE,
        },
        "restate" => match Restate::start() {
            Some(server) => serve(&format!("{} (admin: {})", server.ingress(), server.admin())),
            None => ExitCode::FAILURE,
        },
        "s3" => match S3::start() {
            Some(server) => serve(&format!(
                "{} (bucket: {})",
                server.endpoint(),
                server.bucket()
            )),
            None => ExitCode::FAILURE,
        },
        other => {
            eprintln!("there is no server `{other}`: only `postgres`, `redis`, `restate` and `s3`");
            ExitCode::FAILURE
        }
    }
}

fn serve(url: &str) -> ExitCode {
    println!("{url}");
    let _ = std::io::stdin().read_line(&mut String::new());
    ExitCode::SUCCESS
}
