//! Fetches public pages of the web, never addresses of private networks.

mod address;
mod answer;
mod error;
mod html;
mod names;
mod rules;
mod tool;

pub use error::FetchError;
pub use tool::Fetch;
