//! Graphs that are built in Python: variables with NumPy's operators and functions.
//!
//! ```text
//! precast.input("x", "f64[?]") ─▶ Node ─ x * y, np.exp(x), x[1:] ─▶ Node ─ precast.function([x, y], z) ─▶ FunctionGraph
//!                                  └ applied at once in the arena, to get its type and to report errors at the right line
//! ```
//! A [`node`] refers to its sources, as objects do in Python. Unreferenced variables are freed, and a graph contains
//! only the nodes that its outputs need. Names, type promotion and settings come from the tables of the op library,
//! which all calls go through ([`replay`]). So Python has no list of functions.
//!
//! | module | purpose |
//! |---|---|
//! | `node` | the origin of a variable |
//! | `replay` | converts nodes to a graph of `precast-graph` |
//! | `convert` | converts Python's values to call arguments, and results to Python's values |
//! | `traced` | Python functions as arguments of calls |
//! | `call` | the native part of `precast/_variable.py` |
//! | `whole` | a finished graph: its text, its picture |

pub(crate) mod call;
pub(crate) mod convert;
pub(crate) mod node;
pub(crate) mod replay;
pub(crate) mod traced;
pub(crate) mod whole;
