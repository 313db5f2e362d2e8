//! Tests of precast-store through its public API. Each module mirrors a folder of `src/`; `golden` reads the frozen bytes
//! of `artifacts/golden/`, and `processes` is the only one that starts another process: this test binary again.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail as its body may")]

mod archive;
mod bundle;
mod golden;
mod keys;
mod processes;
mod record;
mod sample;
mod store;
