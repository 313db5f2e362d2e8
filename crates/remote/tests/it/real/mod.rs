//! Tests with third-party servers. `cargo xtask remotes` installs and starts them, and passes their addresses.

mod bucket;
mod registry;
mod web;

/// Returns the address of a server from `cargo xtask remotes`; prints a message if the test is skipped.
fn told(variable: &str, what: &str) -> Option<String> {
    let told = std::env::var(variable).ok();
    if told.is_none() {
        eprintln!("skipped: {what}: `cargo xtask remotes` starts one");
    }
    told
}
