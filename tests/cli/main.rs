//! Tests of the `precast` command from the outside: a process, its exit code, its output and the files it leaves.
//!
//! | file | contents |
//! |---|---|
//! | `help` | transcripts of `--help` and of invalid command lines (trycmd) |
//! | `exit_codes` | exit codes of all commands |
//! | `flow` | declare, build, deploy, run: right values with no compiler |
//! | `isa` | `PRECAST_ISA_LIMIT`: which variant is loaded |
//! | `locked` | lock files |
//! | `pinned` | pinned archives |
//! | `look` | `ls`, `show`, `check`, `explain`, `doctor` |
//! | `model` | a model of sixty Applies, served in every way |
//! | `arrays` | invalid `.npy` files and mismatched arrays |
//! | `declarations` | invalid manifests, expressions and graph files |
//! | `elsewhere`, `builder`, `real` | stores on web servers, in buckets and registries; the same from Rust |
//! | `homeless` | remotes without a home, and with a full disk |
//! | `build_systems` | ninja, make, CMake and Meson: outputs, inputs, stale signatures |
//! | `farm` | a shared build cache, a farm that compiles |
//! | `external` | ops written in C files: a manifest and no Rust |
//! | `outside` | headers and libraries that no key covers; stores that several processes create |
//! | `newcomers` | commands of users who have not read the documentation |
//! | `reference` | references of such ops: in C, or calling other ops; names that the library also has |
//! | `record` | programs with cache misses, their manifest, and its build |
//! | `release` | garbage collection, verifying, compiling again, comparing builders |
//! | `releases` | releases of a store: switch, roll back, collect |
//! | `challenged` | results of builders compared in bundles and exports |
//! | `dated` | signatures that expire, the day of issue of a keyring, roles of keys |
//! | `attested` | provenance signed by other programs, pushed and pulled |
//! | `again` | machine code from archives alone, keys from declarations |
//! | `served` | imports under a keyring |
//! | `signing` | keys, signatures and keyrings; the program `minisign` as an oracle |
//! | `statements` | provenance of builds and bills of materials, in standard formats |
//! | `validators` | these documents, read by the libraries of CycloneDX, in-toto, SLSA and Sigstore |
//! | `static_program` | a program that cannot load code, alone in a root directory |
//! | `trace` | the output of `explain --trace` |
//! | `store` | stores after a crash, a loss, or changes by another user |
//! | `crash` | each call that changes a store killed, and failed, in turn |
//! | `interleave` | two commands at once, one stopped at each of these calls |
//! | `together` | fifty builds at once, by the starts of the compiler |
//! | `images` | disk contents after a crash at each of these calls |
//! | `secrets` | secrets in arguments and variables; searched in every output and file |
//! | `scale` | the files that commands read of large stores, and their memory |
//! | `damage` | truncated, flipped, foreign or unwritable stores and bundles |
//! | `unprotected` | places that other users can change, under a keyring; keys from descriptors and programs |
//! | `verified` | bundles compared with lock files and manifests; signatures and names of other files |
//! | `versions` | artifacts of another version of precast |
//! | `document`, `readme`, `pages`, `pipelines`, `production`, `releasing` | examples of documents, executed |
//! | `faults` | pipes instead of files, sizes beyond memory, no space to work, signals |
//!
//! Values are compared with results that the test computes itself, in plain Rust.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod again;
mod arrays;
mod attested;
mod bridgestan;
mod build_systems;
mod builder;
mod challenged;
mod check_op;
mod crash;
mod damage;
mod dated;
mod debugger;
mod declarations;
mod deployed;
mod document;
mod elsewhere;
mod exit_codes;
mod external;
mod farm;
mod faults;
mod flow;
mod help;
mod hints;
mod homeless;
mod images;
mod interleave;
mod isa;
mod kept;
mod keyrings;
mod libraries;
mod locked;

mod look;
mod metadata;
mod model;
mod newcomers;
mod outside;
mod own_package;
mod pages;
mod picture;
mod pinned;
mod pipelines;
mod production;
mod profile;
mod readme;
mod real;
mod record;
mod reference;
mod release;
mod releases;
mod releasing;
mod sandbox;
mod scale;
mod searched;
mod secrets;
mod served;
mod signals;
mod signing;
mod stabilise;
mod statements;
mod static_program;
mod store;
mod together;
mod trace;
mod unprotected;
mod validators;
mod verified;
mod versions;
