//! Ops and types that are written in Python: classes whose methods return C, as those of Aesara and PyTensor.
//!
//! ```text
//! precast.COp          c_code, c_support_code, … ── asked once, when the op is applied ──▶ texts with marks ─▶ Captured
//! precast.ExternalCOp  files with sections ─────────────────────────────────────────────────────────────▶ ExternalCOp of codegen
//!                      perform ── called with the interpreter, by policy `interpret` and by checks ──────▶ OwnOp
//! precast.CType        c_declare, c_extract, … ─▶ texts with marks ─▶ OwnType ◀── filter, values_eq_approx
//! ```
//! Python is asked for its C where the user writes the call: an exception has the right traceback, and generating code and
//! compiling need no interpreter. Names of variables are not known then, so that the texts have marks in their places ([`texts`]).

mod code;
pub(crate) mod ctype;
mod external;
pub(crate) mod op;
mod params;
pub(crate) mod stash;
mod texts;
