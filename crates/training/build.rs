//! Compiles the graphs of precast.toml, and writes a typed function for each.

fn main() {
    precast_build::Build::new().run();
}
