//! Tests of the workspace as a whole; see `integration` and `ui`.
