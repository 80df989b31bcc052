//! What servers need of a Unix: users, permissions, and signals that do not reach them. On another
//! system none is started.

#[cfg(not(unix))]
pub(crate) use elsewhere::{give, is_of_root, leave_signals, make_private};
#[cfg(unix)]
pub(crate) use unix::{give, is_of_root, leave_signals, make_private};

#[cfg(unix)]
mod unix {
    use std::fs;
    use std::io;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;
    use std::process::Command;

    /// Whether a file belongs to root.
    pub(crate) fn is_of_root(path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|found| found.uid() == 0)
    }

    /// Gives a file to a user and a group.
    pub(crate) fn give(path: &Path, user: u32, group: u32) -> io::Result<()> {
        chown(path, Some(user), Some(group))
    }

    /// Gives a file to the owner of its folder, and lets nobody else read it.
    pub(crate) fn make_private(file: &Path, folder: &Path) -> io::Result<()> {
        let owner = fs::metadata(folder)?;
        give(file, owner.uid(), owner.gid())?;
        fs::set_permissions(file, fs::Permissions::from_mode(0o600))
    }

    /// Keeps signals of the terminal from a command.
    pub(crate) fn leave_signals(command: &mut Command) -> &mut Command {
        command.process_group(0)
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::io;
    use std::path::Path;
    use std::process::Command;

    pub(crate) fn is_of_root(_: &Path) -> bool {
        false
    }

    pub(crate) fn give(_: &Path, _: u32, _: u32) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn make_private(_: &Path, _: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn leave_signals(command: &mut Command) -> &mut Command {
        command
    }
}
