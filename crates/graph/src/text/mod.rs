//! The text form: expressions in the syntax of Python and NumPy.
//!
//! `crates/ops/LANGUAGE.md` describes the language and its grammar; its examples are tests. A newline inside brackets
//! counts as a space, and `#` begins a comment.
//!
//! | written | becomes a call of |
//! |---|---|
//! | `x + y` | the function given by [`OPERATORS`] |
//! | `f(x, axis=0)`, `np.f(x, axis=0)` | `f`, with positional and keyword operands |
//! | `x.f(0)`, `x.T` | [`OpLibrary::method`](crate::OpLibrary::method), [`OpLibrary::attribute`](crate::OpLibrary::attribute) |
//! | `x[i, 1:n, None]` | `subtensor`, with the numbers as one list and one text per item in `index` |
//!
//! The text of an index item is `i` for an index, `n` for `None`, or `...`. For a slice it has a letter for each
//! given part, `b`egin, `e`nd and `s`tep, so it is `""` for `:`. The [`OpLibrary`](crate::OpLibrary) defines the
//! functions, binds their arguments and inserts casts. Lists, tuples, strings, dtypes and `None` are values too
//! ([`Operand`](crate::Operand)); this module evaluates Python's operations on lists alone (`+`, `*`, indexing).
//!
//! A statement can declare the type of its value, `y: f32[n] = x / 255`. A name in an extent stands for one number, in the
//! types of inputs and of statements; see `declared`.
//!
//! A name is bound once, and every statement must be used: as an output, or by its name. A literal bound to a name
//! stays a [`Literal`](crate::Literal) and takes the dtype of the operand it is combined with. The same holds for
//! results of operators and functions on literals alone, as in Python: `x * (1/3)` and `x / sqrt(2)` are f32 when `x`
//! is, and `2**100 / 2**99` is 2.
//!
//! Brackets nest at most 100 deep, and the texts of a graph have at most 100 000 tokens.
//!
//! ```text
//! text ──lex──▶ tokens ──parse──▶ OpLibrary::call ──▶ FunctionGraph        one pass, no tree between
//! ```

mod atom;
mod call;
mod declared;
mod error;
mod expression;
mod function;
mod index;
mod input;
mod lex;
mod limits;
mod list;
mod names;
mod parse;
mod position;
mod read;
mod target;

pub use error::{Member, ParseTextError};
pub use input::{ParseInputError, parse_input};
pub use position::Position;
pub use read::{evaluate, parse, parse_used, parse_using};

/// The operators of the text form, each with the function of the op library that it calls.
///
/// Unary `-` is `neg`, `~` is `invert`; unary `+` has no effect.
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
