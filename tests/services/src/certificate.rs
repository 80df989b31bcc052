//! A certificate for a server of this machine, signed by itself.

use std::path::{Path, PathBuf};

use crate::process::{Folder, output};

/// A certificate of `localhost` and `127.0.0.1`, signed by itself: who trusts it trusts the server.
#[derive(Debug, Clone)]
pub struct Certificate {
    pub(crate) file: PathBuf,
    pub(crate) key: PathBuf,
}

impl Certificate {
    /// The file of the certificate, in PEM.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Makes one, in the folder of a server.
    pub(crate) fn new(folder: &Folder) -> Certificate {
        let file = folder.path().join("server.crt");
        let key = folder.path().join("server.key");
        let mut openssl = folder.command(Path::new("openssl"));
        openssl
            .args(["req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"])
            .args(["-pkeyopt", "ec_paramgen_curve:P-256"])
            .args(["-subj", "/CN=localhost"])
            .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&file);
        output(&mut openssl);
        Certificate { file, key }
    }
}
