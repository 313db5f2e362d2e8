//! Tests of precast-store through its public API. Each module mirrors a folder of `src/`. `golden` reads the frozen
//! bytes of `artifacts/golden/`. `processes` and `heal` start this test binary again as other processes.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail as its body may")]
#![allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]

mod archive;
mod batch;
mod bundle;
mod create;
mod dated;
mod export;
mod export_memory;
mod gc;
mod golden;
mod heal;
mod keyring;
mod keyring_setting;
mod keys;
mod metadata;
mod processes;
mod record;
mod sample;
mod signatures;
mod store;
mod supersede;
mod trust;
mod turn;
