//! The spans and metrics of plain and durable runs, as they arrive at an exporter.

mod durable;
mod otlp;
mod plain;
mod support;
