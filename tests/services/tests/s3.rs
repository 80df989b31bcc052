//! The server is a real one, and nothing is left of it.

use std::net::TcpStream;
use std::time::Duration;

use flow_services::S3;

#[test]
fn is_there_until_it_is_dropped() {
    let Some(server) = S3::start() else {
        return;
    };
    let endpoint = server.endpoint();
    let address = endpoint.strip_prefix("http://").unwrap().parse().unwrap();
    let connect = || TcpStream::connect_timeout(&address, Duration::from_secs(2));
    assert!(connect().is_ok());
    drop(server);
    assert!(connect().is_err());
}
