//! Authentication and authorization of requests.
//!
//! A handler gets executions only from a [`Caller`], and only an authenticated request has a
//! [`Caller`].

mod bearer;
mod caller;
mod guard;
#[cfg(feature = "jwt")]
mod jwt;
mod limiter;
mod links;
mod loopback;
mod once;
mod principal;

pub use bearer::{BearerTokens, TokenFileError};
pub(crate) use caller::{Caller, Operator, not_too_long};
pub(crate) use guard::Guard;
#[cfg(feature = "jwt")]
pub use jwt::{InvalidKey, JsonWebTokens};
pub use links::Links;
pub use principal::{Authenticate, Principal};
