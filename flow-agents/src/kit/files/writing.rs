//! The tools that change a folder.

use flow_runtime::prelude::*;

use super::change;
use super::error::FileError;
use super::folder::Folder;

/// A tool that writes a text file; see [`Folder`].
#[derive(Debug, Clone)]
pub struct FsWrite {
    folder: Folder,
}

impl FsWrite {
    /// Creates the tool for this folder.
    pub fn new(folder: &Folder) -> FsWrite {
        let folder = folder.clone();
        FsWrite { folder }
    }
}

/// Writes a text file. Replaces an existing file, and makes missing folders.
#[node]
impl FsWrite {
    /// Writes a text file, as a whole or not at all.
    ///
    /// # Errors
    /// See [`FileError`]. Folders that were made for the file remain.
    ///
    /// # Panics
    /// If it is called outside tokio.
    pub async fn exec(
        &self,
        /// The file.
        path: String,
        /// The whole text of the file.
        content: String,
    ) -> Result<String, FileError> {
        let work = move |root: &_, limits| change::write(root, limits, &path, &content);
        self.folder.change(work).await
    }
}

/// A tool that changes a text file; see [`Folder`].
#[derive(Debug, Clone)]
pub struct FsEdit {
    folder: Folder,
}

impl FsEdit {
    /// Creates the tool for this folder.
    pub fn new(folder: &Folder) -> FsEdit {
        let folder = folder.clone();
        FsEdit { folder }
    }
}

/// Changes a text file: replaces a text that occurs in it exactly once.
#[node]
impl FsEdit {
    /// Replaces a text in a file, or leaves the file as it is.
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
        /// The text to replace, exactly as it is in the file, with enough around it to occur only
        /// once.
        old_string: String,
        /// The text to put in its place.
        new_string: String,
    ) -> Result<String, FileError> {
        let work =
            move |root: &_, limits| change::edit(root, limits, &path, &old_string, &new_string);
        self.folder.change(work).await
    }
}

/// A tool that makes folders; see [`Folder`].
#[derive(Debug, Clone)]
pub struct FsMkdir {
    folder: Folder,
}

impl FsMkdir {
    /// Creates the tool for this folder.
    pub fn new(folder: &Folder) -> FsMkdir {
        let folder = folder.clone();
        FsMkdir { folder }
    }
}

/// Makes a folder, and the folders above it that are missing.
#[node]
impl FsMkdir {
    /// Makes a folder.
    ///
    /// # Errors
    /// See [`FileError`].
    ///
    /// # Panics
    /// If it is called outside tokio.
    pub async fn exec(
        &self,
        /// The folder.
        path: String,
    ) -> Result<String, FileError> {
        self.folder
            .change(move |root, _| change::make_folder(root, &path))
            .await
    }
}

/// A tool that removes files and folders; see [`Folder`].
#[derive(Debug, Clone)]
pub struct FsRemove {
    folder: Folder,
}

impl FsRemove {
    /// Creates the tool for this folder.
    pub fn new(folder: &Folder) -> FsRemove {
        let folder = folder.clone();
        FsRemove { folder }
    }
}

/// Removes a file, a link or a folder. It cannot be undone.
#[node]
impl FsRemove {
    /// Removes a file or a folder.
    ///
    /// # Errors
    /// See [`FileError`]. If the removal of a folder fails, part of its contents may be gone.
    ///
    /// # Panics
    /// If it is called outside tokio.
    pub async fn exec(
        &self,
        /// The file, link or folder to remove.
        path: String,
        /// True to remove a folder with its contents. By default, only an empty folder is removed.
        recursive: Option<bool>,
    ) -> Result<String, FileError> {
        let is_recursive = recursive.unwrap_or(false);
        let work = move |root: &_, _| change::remove(root, &path, is_recursive);
        self.folder.change(work).await
    }
}
