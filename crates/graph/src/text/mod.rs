//! The text form: expressions as Python and NumPy write them.
//!
//! ```text
//! text       = statement {(";" | newline) statement}      the last one is the output, the others are intermediates
//! statement  = [name "="] comparison
//! comparison = or [("<" | "<=" | ">" | ">=" | "==" | "!=") or]        chaining is refused
//! or         = xor {"|" xor}       xor = and {"^" and}       and = shift {"&" shift}
//! shift      = sum {("<<" | ">>") sum}
//! sum        = term {("+" | "-") term}
//! term       = factor {("*" | "/" | "//" | "%" | "@") factor}
//! factor     = ("+" | "-" | "~") factor | power
//! power      = primary ["**" factor]
//! primary    = atom {"[" item {"," item} [","] "]"}
//! item       = comparison | [comparison] ":" [comparison] [":" [comparison]] | "None" | "..."
//! atom       = number | number "j" | "True" | "False" | name | name "(" arguments ")" | "(" comparison ")"
//! arguments  = [comparison {"," comparison}] {"," name "=" setting} [","]
//! setting    = integer | "True" | "False" | "None" | dtype | quoted text | "(" setting {"," setting} ")" | "[" … "]"
//! ```
//! A newline inside brackets is a space, and `#` begins a comment. Operators are calls of the functions that
//! [`OPERATORS`] names; what a function does, and which casts it inserts, is the [`OpLibrary`](crate::OpLibrary)'s
//! business. A setting of `None` is left out; a float is no setting, since props hold none.
//!
//! An index `x[i, 1:n, None, ::-1]` is a call of `subtensor` with the numbers as arguments and a text for each item in the
//! list `index`: `i` an index; `b`, `e`, `s` what is given of begin, end and step, `""` for `:`; `n` for `None`; `...`.
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
mod place;

pub use error::ParseTextError;
pub use input::{ParseInputError, parse_input};
pub use parse::{parse, parse_used};
pub use place::Place;

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
