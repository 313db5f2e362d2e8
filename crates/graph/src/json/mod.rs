//! The JSON form of a graph: versioned, exact, and checked while it is read.
//!
//! ```json
//! {"precast_graph": 1,
//!  "inputs":    [{"name": "x", "type": "f64[?]"}],
//!  "constants": [{"id": "c0", "type": "f64[]", "shape": [], "bits": ["4000000000000000"]}],
//!  "applies":   [{"op": "mul", "inputs": ["x", "c0"], "outputs": [{"id": "v0", "type": "f64[?]"}]}],
//!  "outputs":   [{"name": "twice", "value": "v0"}]}
//! ```
//! Every variable has an id; the id of an input is its name. Ids are unique in a document, and an Apply only uses
//! variables declared before it. The optional `name` of a constant or a result is a name for readers. Names are 1 to
//! 255 bytes of letters, digits, `_`, `-` and `.`, and start with a letter, a digit or `_`.
//!
//! Elements of constants are their bits in hex, most significant digit first, in C order, so nothing is rounded. A
//! prop is `true`, `3`, `"text"`, `[…]`, `{"dtype": "f32"}`, `{"op": {"op": …, "props": …}}` or `{"graph": {…}}`; a
//! graph inside a prop is a document of the same form.
//!
//! Types of results are optional. A declared type is checked against the type that the op's `make_node` derives; it
//! may only have fewer known extents.
//!
//! Guarantees: `render ∘ parse ∘ render` produces the same text for every graph. A graph whose variables are numbered
//! inputs first, then constants, then results (the order of [`normalise`](crate::encode::normalise)) survives the
//! round trip unchanged.

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

/// The newest version of the form, and the only one so far.
pub const VERSION: u64 = 1;
