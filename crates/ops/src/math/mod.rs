//! The functions that IEEE 754 does not define, as `c/precast/ops/math.h` has them: this module calls that C.
//!
//! `perform` and constant folding must give the bits of the kernels. The functions of `math.h` have the same bits at every
//! ISA level, so `build.rs` compiles them once for the host, and there is no second text of them to keep in step.
//! `tests/it/math_bits.rs` compares what is called here with the C of every level.
//!
//! `pc_<name>_<dtype>` in C is `<name>_<dtype>` here. A new function is its C and a line of [`functions`]; [`header`] says
//! which header a module needs for it. Algorithms, sources and accuracy: `math.h` and `README.md`.
//!
//! NaN in, NaN out, but which NaN is left to the CPU: compare after making NaNs equal.
#![allow(
    unsafe_code,
    reason = "an extern block is `unsafe`, even one that declares nothing but pure functions"
)]

/// Declares the C functions of a list, and wraps each in a function that takes its operands by value.
///
/// C takes operands and result by address, so that how a complex number is passed by value is nobody's question.
macro_rules! functions {
    (#[$doc:meta] $module:ident: $narrow:ident = $n:ty, $wide:ident = $w:ty;
     $($f:ident, $g:ident ($($x:ident),+) of $header:literal;)+) => {
        #[$doc]
        pub mod $module {
            mod c {
                // SAFETY: `build.rs` makes the definitions from the same lines: each reads as many elements as the array has,
                // writes `out`, and touches nothing else, whatever the values are.
                unsafe extern "C" {
                    $(
                        #[link_name = concat!("pc_math_", stringify!($f))]
                        pub(super) safe fn $f(operands: &[$n; [$(stringify!($x)),+].len()], out: &mut $n);
                        #[link_name = concat!("pc_math_", stringify!($g))]
                        pub(super) safe fn $g(operands: &[$w; [$(stringify!($x)),+].len()], out: &mut $w);
                    )+
                }
            }

            $(
                #[doc = concat!("`pc_", stringify!($f), "` of `precast/ops/math/", $header, "`.")]
                #[must_use]
                pub fn $f($($x: $n),+) -> $n {
                    let mut out = Default::default();
                    c::$f(&[$($x),+], &mut out);
                    out
                }

                #[doc = concat!("`pc_", stringify!($g), "` of `precast/ops/math/", $header, "`.")]
                #[must_use]
                pub fn $g($($x: $w),+) -> $w {
                    let mut out = Default::default();
                    c::$g(&[$($x),+], &mut out);
                    out
                }
            )+

            /// The functions of the wider dtype, by name and header.
            pub(in crate::math) const HEADERS: &[(&str, &str)] =
                &[$((stringify!($g), concat!("precast/ops/math/", $header))),+];
        }
    };
}

mod functions;

pub use functions::floats::*;
pub use functions::{complex, floats};

/// Functions of complex numbers that stand outside of `math/complex`, and the header that declares them.
const MAGNITUDE: &[(&str, &str)] =
    &[("abs_c128", "precast/ops/scalar/magnitude.h"), ("sign_c128", "precast/ops/scalar/magnitude.h")];

/// The header that declares `pc_<name>_<dtype>` for the floats; `None` for what the header of the dtype has.
#[must_use]
pub fn header(name: &str) -> Option<&'static str> {
    find(HEADERS, name, "_f64")
}

/// The header that declares `pc_<name>_<dtype>` for the complex numbers; `None` for what the header of the dtype has.
#[must_use]
pub fn complex_header(name: &str) -> Option<&'static str> {
    find(complex::HEADERS, name, "_c128").or_else(|| find(MAGNITUDE, name, "_c128"))
}

fn find(list: &[(&'static str, &'static str)], name: &str, suffix: &str) -> Option<&'static str> {
    list.iter().find(|(known, _)| known.strip_suffix(suffix) == Some(name)).map(|(_, header)| *header)
}
