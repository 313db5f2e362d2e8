//! Random numbers, as functions of a key: `random_normal(key, shape)`, in text `random.normal(key, shape)`.
//!
//! ```text
//! key u32[2] ── word u64 ── threefry(word, counter of each element) ── transformation or sampler ── cast
//! ```
//! | file | functions |
//! |---|---|
//! | `key` | keys, and keys that are derived from keys |
//! | `elements` | shapes, and the counter of each element of a result |
//! | `uniform` | bits, uniform floats and integers |
//! | `continuous` | transformations of one uniform number |
//! | `sampled` | draws of C functions that reject candidates: gamma, Poisson and others |
//! | `vectors` | vectors and matrices |
//! | `choice` | categories, permutations and choices |
//!
//! The bits of keys and uniform numbers are those of `jax.random`. A function of several independent draws derives a key for
//! each. Everything is computed in f64 except uniform numbers and their transformations, which are computed in the dtype of the
//! result, or in f32 for 16 bits.

mod choice;
mod continuous;
mod elements;
mod key;
mod sampled;
mod uniform;
mod vectors;

pub(super) use choice::{categorical, choice, permutation};
pub(super) use continuous::{normal, transformed, truncated_normal};
pub(super) use key::{fold_in, key, split};
pub(super) use sampled::{beta, binomial, gamma, negative_binomial, poisson, student_t, von_mises};
pub(super) use uniform::{bernoulli, bits, randint, uniform};
pub(super) use vectors::{dirichlet, multinomial, multivariate_normal, wishart};
