//! The text form: expressions as Python and NumPy write them.
//!
//! The language and its grammar are in `crates/ops/LANGUAGE.md`, whose examples are tests. A newline inside brackets is a
//! space, and `#` begins a comment.
//!
//! | written | becomes a call of |
//! |---|---|
//! | `x + y` | the function that [`OPERATORS`] names |
//! | `f(x, axis=0)`, `np.f(x, axis=0)` | `f`, with operands by position and by name |
//! | `x.f(0)`, `x.T` | [`OpLibrary::method`](crate::OpLibrary::method), [`OpLibrary::attribute`](crate::OpLibrary::attribute) |
//! | `x[i, 1:n, None]` | `subtensor`, with the numbers as one list and in `index` a text for each item |
//!
//! The texts of an index: `i` an index; `b`, `e`, `s` what is given of begin, end and step, `""` for `:`; `n` for `None`; `...`.
//! What a function does, how it binds its arguments and which casts it inserts is the [`OpLibrary`](crate::OpLibrary)'s business.
//! Lists, tuples, texts, dtypes and `None` are values too ([`Operand`](crate::Operand)); what Python does with lists alone
//! (`+`, `*`, an index) is done here.
//!
//! A name is bound once, and every statement is used: as an output, or by its name. A literal bound to a name stays a
//! [`Literal`](crate::Literal): it takes the dtype of what it meets. So does what operators and functions make of literals
//! alone, as in Python: `x * (1/3)` and `x / sqrt(2)` are f32 when `x` is, and `2**100 / 2**99` is 2.
//!
//! Brackets nest at most 100 deep, and the texts of a graph have at most 100 000 tokens.
//!
//! ```text
//! text ──lex──▶ tokens ──parse──▶ OpLibrary::call ──▶ FunctionGraph        one pass, no tree between
//! ```

mod atom;
mod call;
mod error;
mod expression;
mod index;
mod input;
mod lex;
mod list;
mod names;
mod parse;
mod position;

pub use error::{Member, ParseTextError};
pub use input::{ParseInputError, parse_input};
pub use parse::{parse, parse_used, parse_using};
pub use position::Position;

/// The operators of the text form and the function of the op library that each one calls.
///
/// `-` with one operand is `neg`, `~` is `invert`; `+` with one operand is nothing at all.
pub const OPERATORS: [(&str, &str); 19] = [
    ("<", "lt"),
    ("<=", "le"),
    (">", "gt"),
    (">=", "ge"),
    ("==", "eq"),
    ("!=", "ne"),
    ("|", "bitwise_or"),
    ("^", "bitwise_xor"),
    ("&", "bitwise_and"),
    ("<<", "left_shift"),
    (">>", "right_shift"),
    ("+", "add"),
    ("-", "sub"),
    ("*", "mul"),
    ("/", "div"),
    ("//", "floor_div"),
    ("%", "mod"),
    ("@", "matmul"),
    ("**", "pow"),
];
