//! The op library: declarations, reference `perform`, and the C of each op.
//!
//! ```text
//! scalar ──▶ elemwise, composite ──▶ reduce (with a fused map), argmax, running sums, row programs        the ops
//!   │                          dimshuffle, shape (reshape, join, …), index (subtensor, …), linalg (dot, …), order (sort, …), fft
//!   ├ rows: the functions that can be called by name, one row each, and everything generated from the rows
//!   └ math: the functions of c/precast/ops/math.h, which `perform` calls
//! control    loops and branches: ops that call graphs
//! registry   Ops: names for text and JSON, promotion, the C side     build   graphs in Rust, with operators
//! rewrite    passes from graphs to graphs with the same bits         combinations, fingerprint, serve
//! gradient   reverse mode: gradients as more Applies of a graph
//! derive     the program for each way to serve a graph, and the check of a stored program
//! ```
//! The C code of an op is in `c/`: headers (`precast/ops/*.h`) with all code that does not depend on the graph, and
//! templates (`*.c.in`) for the few lines that do. `README.md` has the accuracy, the NaN rules and the op × dtype
//! table.

mod call;
mod combinations;
mod composite;
mod control;
mod declared;
mod derive;
mod dimshuffle;
mod elements;
mod elemwise;
mod fft;
mod fingerprint;
mod generator;
mod gradient;
mod program;
mod reduce;
mod registry;
mod row_program;
mod rows;
mod serve;
mod sources;

pub mod build;
pub mod index;
mod linalg;
mod math;
mod order;
pub mod rewrite;
pub mod scalar;
pub mod shape;

pub use combinations::{Combination, CombinationsError, combinations, count_combinations};
pub use composite::Composite;
pub use control::{Body, Branch, CustomGradient, Scan, SmallGraph};
pub use derive::{CheckEntryError, check_entry, derive};
pub use dimshuffle::DimShuffle;
pub use elemwise::Elemwise;
pub use fft::{Fft, FftKind, FftScale};
pub use fingerprint::fingerprint;
pub use generator::{GENERATOR, OtherVersion};
pub use gradient::value_and_grad;
pub use linalg::{
    BatchedDot, Cholesky, Dot, Eig, EigenvalueSort, Eigh, LuFactor, Matmul, PivotToPermutation, Qr, Qz,
    Schur, Solve, SolveBanded, SolveTriangular, Svd,
};
pub use order::{SearchSorted, Sort};
pub use program::{Piece, program};
pub use reduce::{Argmax, CumOp, Reduce, ReduceKind};
pub use registry::{AddOpError, Ops, RunC, perform, reference, run_by_reference};
pub use row_program::RowProgram;
pub use rows::{Keyword, Row};
pub use serve::{MANIFEST_KEYS, ParseServeError, Serve};
