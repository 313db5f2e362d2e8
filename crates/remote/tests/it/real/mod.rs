//! Servers that others have written; `cargo xtask remotes` installs and starts them, and says where they are.

mod bucket;
mod registry;
mod web;

/// What `cargo xtask remotes` says of a server; what is skipped is skipped aloud.
fn told(variable: &str, what: &str) -> Option<String> {
    let told = std::env::var(variable).ok();
    if told.is_none() {
        eprintln!("skipped: {what}: `cargo xtask remotes` starts one");
    }
    told
}
