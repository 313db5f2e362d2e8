//! End-to-end tests, one topic per file.
//!
//! ```text
//! graphs, compiled, process   the building blocks of the tests: graphs, their artifacts, other processes
//! backtrace  combinations  cross  damage  digest  exit  external  floats  frozen  fuzz  isa  keys  native  operands  page  policy
//! program  race  record  reload  same_bytes  stack  telemetry  trace  tutorial  types  writing_ops
//! ```
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod backtrace;
mod combinations;
mod compiled;
mod cross;
mod damage;
mod digest;
mod examples;
mod exit;
mod external;
mod floats;
mod frozen;
mod fuzz;
mod graphs;
mod isa;
mod keys;
mod native;
mod operands;
mod page;
mod policy;
mod process;
mod program;
mod race;
mod record;
mod reload;
mod same_bytes;
mod stack;
mod telemetry;
mod trace;
mod tutorial;
mod types;
mod writing_ops;
