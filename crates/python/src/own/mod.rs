//! Ops and types that are written in Python: classes whose methods return C, like those of Aesara and PyTensor.
//!
//! ```text
//! precast.COp          c_code, c_support_code, … ── called once, when the op is applied ──▶ texts with marks ─▶ Captured
//! precast.ExternalCOp  files with sections ─────────────────────────────────────────────────────────────▶ ExternalCOp of codegen
//!                      perform ── called with the interpreter, by policy `interpret` and by checks ──────▶ OwnOp
//! precast.CType        c_declare, c_extract, … ─▶ texts with marks ─▶ OwnType ◀── filter, values_eq_approx
//! ```
//! The methods that return C are called where the user writes the call. So an exception has the right traceback, and
//! generating and compiling code do not need the interpreter. The names of variables are not known at that time, so the
//! texts contain marks in their place ([`texts`]).

mod code;
pub(crate) mod ctype;
mod external;
pub(crate) mod op;
mod params;
pub(crate) mod stash;
mod texts;
