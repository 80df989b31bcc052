//! Pages of the web, and nothing of the networks around the program.

mod address;
mod answer;
mod error;
mod html;
mod names;
mod rules;
mod tool;

pub use error::FetchError;
pub use tool::Fetch;
