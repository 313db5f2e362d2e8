//! Graphs that are built in Python: variables with NumPy's operators and functions.
//!
//! ```text
//! precast.input("x", "f64[?]") ─▶ Node ─ x * y, np.exp(x), x[1:] ─▶ Node ─ precast.function([x, y], z) ─▶ FunctionGraph
//!                                  └ applied at once in the arena, for its type and for errors where they are made
//! ```
//! A [`node`] knows what it was made of, as in Python: variables that nobody refers to are gone, and one graph takes of them what
//! its outputs need. Names, promotion and settings are those of the op library's rows, which calls go through ([`replay`]), so
//! Python has no list of functions.
//!
//! | module | its job |
//! |---|---|
//! | `node` | what a variable was made of |
//! | `replay` | nodes into a graph of `precast-graph` |
//! | `convert` | Python's values as arguments of calls, and results as Python's |
//! | `call` | what `precast/_variable.py` calls |
//! | `whole` | a finished graph: its text, its picture |

pub(crate) mod call;
pub(crate) mod convert;
pub(crate) mod node;
pub(crate) mod replay;
pub(crate) mod whole;
