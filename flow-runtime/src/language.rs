#![doc = include_str!("../docs/language.md")]
//!
//! [`Context`]: crate::Context
//! [`Context::emit`]: crate::Context::emit
//! [`Flow`]: crate::Flow
//! [`Flow::run`]: crate::Flow::run
//! [`Flow::run_with`]: crate::Flow::run_with
//! [`Flow::SPEC`]: crate::Flow::SPEC
//! [`FlowAction`]: enum@crate::FlowAction
//! [`FlowError`]: crate::FlowError
//! [`FlowError::Cancelled`]: crate::FlowError::Cancelled
//! [`FlowError::Node`]: crate::FlowError::Node
//! [`FlowError::Panicked`]: crate::FlowError::Panicked
//! [`FlowError::StepLimit`]: crate::FlowError::StepLimit
//! [`FlowError::TimedOut`]: crate::FlowError::TimedOut
//! [`FlowError::Unanswered`]: crate::FlowError::Unanswered
//! [`Observer`]: crate::Observer
//! [`RunOptions`]: crate::RunOptions
