//! The JSON form of a graph: versioned, exact, and checked while it is read.
//!
//! ```json
//! {"precast_graph": 1,
//!  "inputs":    [{"name": "x", "type": "f64[?]"}],
//!  "constants": [{"id": "c0", "type": "f64[]", "shape": [], "bits": ["4000000000000000"]}],
//!  "applies":   [{"op": "mul", "inputs": ["x", "c0"], "outputs": [{"id": "v0", "type": "f64[?]"}]}],
//!  "outputs":   [{"name": "twice", "value": "v0"}]}
//! ```
//! Every variable has an id, an input's is its name; ids are unique in a document, and an Apply uses only what stands
//! before it. `name` on a constant or a result is a name for people, where the graph has one. Names are 1 to 255 bytes of letters,
//! digits, `_`, `-` and `.`, the first a letter, a digit or `_`.
//!
//! Elements of constants are their bits in hex, most significant digit first, in C order, so nothing is rounded. A prop is
//! `true`, `3`, `"text"`, `[…]`, `{"dtype": "f32"}`, `{"op": {"op": …, "props": …}}` or `{"graph": {…}}`; a graph inside a
//! prop is a document of this same form.
//!
//! Types of results may be left out. Where they stand they are held against what the op's `make_node` derives, and may
//! only know fewer extents than that.
//!
//! What is exact: `render ∘ parse ∘ render` gives the same text for every graph; a graph whose variables are numbered
//! inputs first, then constants, then results (as [`normalise`](crate::encode::normalise) leaves it) comes back equal.

mod cycle;
mod document;
mod error;
mod ops;
mod parse;
mod prop;
mod render;

pub use error::ParseJsonError;
pub use parse::{from_json, parse};
pub use render::{render, to_json};

/// The newest version of the form; also the only one so far.
pub const VERSION: u64 = 1;
