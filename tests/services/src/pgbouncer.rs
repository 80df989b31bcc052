//! PgBouncer, a pool of connections before Postgres.

use std::path::Path;
use std::process::{Child, Stdio};

use crate::postgres::url_at;
use crate::process::{self, Folder};

/// PgBouncer in transaction mode: each transaction runs on whichever connection to the server is
/// free.
#[derive(Debug)]
pub struct PgBouncer {
    port: u16,
    server: Child,
    // Held to be removed at the end.
    _folder: Folder,
}

impl PgBouncer {
    pub(crate) fn start(postgres: u16) -> Option<PgBouncer> {
        let program = crate::installed("pgbouncer", &["/usr/sbin".into()], "pgbouncer")?;
        let folder = Folder::new("postgres");
        folder.write("users.txt", "\"flow\" \"\"\n");
        let (port, server) = (0..5)
            .find_map(|_| serve(&program, &folder, postgres))
            .expect("PgBouncer starts");
        Some(PgBouncer {
            port,
            server,
            _folder: folder,
        })
    }

    /// The address of the database through it.
    pub fn url(&self) -> String {
        url_at(self.port)
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        // It keeps nothing. And it ignores other signals if a shell in the background had it ignore them.
        process::end(&mut self.server, "KILL");
    }
}

fn serve(program: &Path, folder: &Folder, postgres: u16) -> Option<(u16, Child)> {
    let port = process::free_port();
    let settings = format!(
        "[databases]\n\
         * = host=127.0.0.1 port={postgres}\n\
         [pgbouncer]\n\
         listen_addr = 127.0.0.1\n\
         listen_port = {port}\n\
         unix_socket_dir =\n\
         auth_type = trust\n\
         auth_file = users.txt\n\
         pool_mode = transaction\n\
         default_pool_size = 4\n\
         max_client_conn = 200\n\
         pidfile = pgbouncer.pid\n"
    );
    folder.write("pgbouncer.ini", &settings);
    let mut pgbouncer = folder.command(program);
    pgbouncer
        .args(["--quiet", "pgbouncer.ini"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut server = pgbouncer.spawn().expect("PgBouncer can be started");
    process::is_up(&mut server, port, || true).then_some((port, server))
}
