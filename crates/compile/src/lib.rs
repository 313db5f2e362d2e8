//! The only way to a C compiler: finds and fingerprints the toolchain, compiles units reproducibly
