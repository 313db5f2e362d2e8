//! End-to-end tests, one theme a file.
//!
//! ```text
//! graphs, compiled, process   what the tests are made of: graphs, their artifacts, other processes
//! cross  digest  same_bytes  fuzz  external  floats  frozen  isa  combinations  keys  native  operands  page  program  policy  race  damage  record  reload  telemetry  trace  types  writing_ops
//! ```
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod combinations;
mod compiled;
mod cross;
mod damage;
mod digest;
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
mod types;
mod writing_ops;
