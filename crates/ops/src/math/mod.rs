//! The functions that IEEE 754 does not define, as `c/precast/ops/math.h` has them: [`call`] calls that C.
//!
//! `perform` and constant folding must give the bits of the kernels. The functions of `math.h` have the same bits at every
//! ISA level, so `build.rs` compiles them once for the host, and there is no second text of them to keep in step.
//! `tests/it/math_bits.rs` compares what is called here with the C of every level.
//!
//! The build script and the callers here read the same rows, those of [`crate::rows`] with a header and no value in Rust.
//! Algorithms, sources and accuracy: `math.h` and `README.md`.
//!
//! NaN in, NaN out, but which NaN is left to the CPU: compare after making NaNs equal.

/// The value of `pc_<name>_<dtype>`.
///
/// C takes operands and result by address, so that how a complex number is passed by value is nobody's question.
macro_rules! call {
    ($name:ident, $d:ident: $t:ty, $x:expr) => { math::call!(@1 $name, $d: $t, $x) };
    ($name:ident, $d:ident: $t:ty, $x:expr, $y:expr) => { math::call!(@2 $name, $d: $t, $x, $y) };
    ($name:ident, $d:ident: $t:ty, $x:expr, $y:expr, $z:expr) => { math::call!(@3 $name, $d: $t, $x, $y, $z) };
    (@$operands:literal $name:ident, $d:ident: $t:ty, $($x:expr),+) => {{
        // SAFETY: `build.rs` makes the definition from the same row: it reads as many elements as the array has, writes `out`,
        // and touches nothing else, whatever the values are.
        #[allow(unsafe_code, reason = "an extern block is `unsafe`, even one that declares nothing but a pure function")]
        unsafe extern "C" {
            #[link_name = concat!("pc_math_", stringify!($name), "_", stringify!($d))]
            safe fn function(operands: &[$t; $operands], out: &mut $t);
        }
        let mut out = <$t>::default();
        function(&[$($x),+], &mut out);
        out
    }};
}
pub(crate) use call;
