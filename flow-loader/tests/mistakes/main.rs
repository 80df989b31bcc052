//! Mistakes in documents: each is reported where it is, in the words of its format.

mod article;
mod mutations;
mod settings;
mod texts;
