//! Transcripts. `TRYCMD=overwrite cargo test -p precast-cli` writes them anew.

#[test]
fn transcripts_are_as_committed() {
    trycmd::TestCases::new()
        .register_bin("precast", std::path::Path::new(env!("CARGO_BIN_EXE_precast")))
        .register_bin("cargo-precast", std::path::Path::new(env!("CARGO_BIN_EXE_cargo-precast")))
        .env("PRECAST_STORE", "")
        .case("../../tests/cli/transcripts/*.trycmd");
}
