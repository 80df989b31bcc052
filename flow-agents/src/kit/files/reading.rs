//! The tools that read a folder.

use flow_runtime::prelude::*;

use super::error::FileError;
use super::folder::Folder;
use super::grep::{Query, grep};
use super::{look, read};

/// A tool that lists a folder; see [`Folder`].
#[derive(Debug, Clone)]
pub struct FsLs {
    folder: Folder,
}

impl FsLs {
    /// Creates the tool for this folder.
    pub fn new(folder: &Folder) -> FsLs {
        let folder = folder.clone();
        FsLs { folder }
    }
}

/// Lists the entries of a folder, one on each line: folders end with `/`, files have their size in
/// bytes.
#[node]
impl FsLs {
    /// Lists a folder.
    ///
    /// # Errors
    /// See [`FileError`].
    ///
    /// # Panics
    /// If it is called outside tokio.
    pub async fn exec(
        &self,
        /// The folder, relative to the working folder. The default is the working folder itself.
        path: Option<String>,
    ) -> Result<String, FileError> {
        self.folder
            .look(move |root, limits| look::list(root, limits, path.as_deref()))
            .await
    }
}

/// A tool that finds files by their paths; see [`Folder`].
#[derive(Debug, Clone)]
pub struct FsGlob {
    folder: Folder,
}

impl FsGlob {
    /// Creates the tool for this folder.
    pub fn new(folder: &Folder) -> FsGlob {
        let folder = folder.clone();
        FsGlob { folder }
    }
}

/// Finds files by a pattern of their paths, such as `*.md` or `src/**/*.rs`, and returns their
/// paths, one on each line. Links are not followed.
#[node]
impl FsGlob {
    /// Finds files by a pattern.
    ///
    /// # Errors
    /// See [`FileError`].
    ///
    /// # Panics
    /// If it is called outside tokio.
    pub async fn exec(
        &self,
        /// `*` is any part of a name, `**` any folders, `?` one character, `{a,b}` one of several,
        /// `[a-z]` one of a range. A pattern without `/` matches names in all folders.
        pattern: String,
        /// The folder to search. The default is the whole working folder.
        path: Option<String>,
    ) -> Result<String, FileError> {
        let work = move |root: &_, limits| look::glob(root, limits, &pattern, path.as_deref());
        self.folder.look(work).await
    }
}

/// A tool that searches the text of files; see [`Folder`].
#[derive(Debug, Clone)]
pub struct FsGrep {
    folder: Folder,
}

impl FsGrep {
    /// Creates the tool for this folder.
    pub fn new(folder: &Folder) -> FsGrep {
        let folder = folder.clone();
        FsGrep { folder }
    }
}

/// Searches the text of files for a regular expression, line by line, and returns the lines that
/// match as `path:line number:text`. Lines around a match have `-` in place of `:`. Binary files
/// are not searched, and links are not followed.
#[node]
impl FsGrep {
    /// Searches files.
    ///
    /// # Errors
    /// See [`FileError`].
    ///
    /// # Panics
    /// If it is called outside tokio.
    pub async fn exec(
        &self,
        /// A regular expression, without backreferences and look-around. `(?i)` at its beginning
        /// ignores case.
        pattern: String,
        /// The folder or file to search. The default is the whole working folder.
        path: Option<String>,
        /// Only files whose paths match this pattern, such as `*.rs`.
        glob: Option<String>,
        /// The number of lines to return before and after each match, at most 20.
        context: Option<u8>,
    ) -> Result<String, FileError> {
        let query = Query {
            pattern,
            path,
            glob,
            context,
        };
        self.folder
            .look(move |root, limits| grep(root, limits, &query))
            .await
    }
}

/// A tool that reads a text file; see [`Folder`].
#[derive(Debug, Clone)]
pub struct FsRead {
    folder: Folder,
}

impl FsRead {
    /// Creates the tool for this folder.
    pub fn new(folder: &Folder) -> FsRead {
        let folder = folder.clone();
        FsRead { folder }
    }
}

/// Reads a text file. If the text is cut, the last line begins with `…` and says how much remains
/// and how to read it.
#[node]
impl FsRead {
    /// Reads a text file.
    ///
    /// # Errors
    /// See [`FileError`].
    ///
    /// # Panics
    /// If it is called outside tokio.
    pub async fn exec(
        &self,
        /// The file.
        path: String,
        /// The number of the first line to read, from 1.
        offset: Option<u32>,
        /// The number of lines to read. The default is as many as can be returned.
        limit: Option<u32>,
    ) -> Result<String, FileError> {
        let work = move |root: &_, limits| read::read(root, limits, &path, offset, limit);
        self.folder.look(work).await
    }
}
