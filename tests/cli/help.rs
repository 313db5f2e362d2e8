//! Transcripts. `TRYCMD=overwrite cargo test -p precast-cli` rewrites them.

#[test]
fn transcripts_are_as_committed() {
    trycmd::TestCases::new()
        .register_bin("precast", std::path::Path::new(env!("CARGO_BIN_EXE_precast")))
        .register_bin("cargo-precast", std::path::Path::new(env!("CARGO_BIN_EXE_cargo-precast")))
        .env("PRECAST_STORE", "")
        .env("PRECAST_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cli-cache"))
        .case("../../tests/cli/transcripts/*.trycmd");
}
