//! The `precast` command as people and scripts meet it: a process, its exit code, what it prints and what it leaves.
//!
//! | file | what it holds |
//! |---|---|
//! | `help` | transcripts of `--help` and of command lines that are wrong (trycmd) |
//! | `exit_codes` | what ends how, over all commands |
//! | `flow` | declare, build, deploy, run: right values with no compiler |
//! | `isa` | `PRECAST_ISA_LIMIT`: which variant is loaded |
//! | `locked` | lock files and pins |
//! | `look` | `ls`, `show`, `check`, `explain`, `doctor` |
//! | `model` | a model of sixty Applies, served in every way |
//! | `arrays` | bad `.npy` files and arrays that do not fit |
//! | `declarations` | bad manifests, expressions and graph files |
//! | `elsewhere`, `builder`, `real` | stores on web servers, in buckets and registries; the same from Rust |
//! | `homeless` | remotes without a home, and with a full disk |
//! | `farm` | a cache that builds share, a farm that compiles |
//! | `external` | ops whose C stands in files: a manifest and no Rust |
//! | `newcomers` | what somebody types who has not read the documents |
//! | `reference` | references of such ops: in C, or calling other ops; names that the library has too |
//! | `record` | programs that miss, their manifest, and its build |
//! | `release` | garbage collection, verifying, compiling again, comparing builders |
//! | `again` | machine code from archives alone, keys from declarations |
//! | `signing` | keys, signatures and keyrings; the program `minisign` as an oracle |
//! | `statements` | who built what, and what a bundle is made of, in the forms of others |
//! | `static_program` | a program that can load nothing, alone in a root directory |
//! | `trace` | what `explain --trace` shows |
//! | `store` | stores after a crash or a loss, and what others can change |
//! | `crash` | each call that changes a store killed, and refused, in turn |
//! | `interleave` | two commands at once, one stopped at each of these calls |
//! | `images` | what a disk has after a crash at each of these calls |
//! | `scale` | what commands read of large stores, and their memory |
//! | `damage` | truncated, flipped, foreign or unwritable stores and bundles |
//! | `versions` | what another version of precast built |
//! | `document`, `readme`, `pages`, `pipelines`, `production`, `releasing` | examples of documents, executed |
//! | `faults` | pipes where files belong, sizes beyond memory, no room to work, signals |
//!
//! Values are held against what the test computes itself, in plain Rust.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod again;
mod arrays;
mod builder;
mod check_op;
mod crash;
mod damage;
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
mod homeless;
mod images;
mod interleave;
mod isa;
mod keyrings;
mod libraries;
mod locked;
mod look;
mod model;
mod newcomers;
mod own_package;
mod pages;
mod picture;
mod pipelines;
mod production;
mod profile;
mod readme;
mod real;
mod record;
mod reference;
mod release;
mod releasing;
mod sandbox;
mod scale;
mod signals;
mod signing;
mod stabilise;
mod statements;
mod static_program;
mod store;
mod trace;
mod versions;
