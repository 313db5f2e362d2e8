//! The functions that IEEE 754 does not define, implemented in `c/precast/ops/math.h`. [`call`] calls that C code.
//!
//! `perform` and constant folding must give the same bits as the kernels. The functions of `math.h` have the same
//! bits at every ISA level, so `build.rs` compiles them once for the host, and a second implementation is not needed.
//! `tests/it/math_bits.rs` compares these host functions with the C code of every level.
//!
//! The build script and the callers here read the same rows: the rows of [`crate::rows`] with a header and no Rust
//! value. `math.h` and `README.md` document algorithms, sources and accuracy.
//!
//! A NaN input gives a NaN result, but the CPU determines the NaN's payload. Normalise NaNs before comparing.

/// Returns the value of `pc_<name>_<dtype>`.
///
/// The C function takes operands and result by address, which avoids the ABI differences of complex numbers passed by
/// value.
macro_rules! call {
    ($name:ident, $d:ident: $t:ty, $x:expr) => { math::call!(@1 $name, $d: $t, $x) };
    ($name:ident, $d:ident: $t:ty, $x:expr, $y:expr) => { math::call!(@2 $name, $d: $t, $x, $y) };
    ($name:ident, $d:ident: $t:ty, $x:expr, $y:expr, $z:expr) => { math::call!(@3 $name, $d: $t, $x, $y, $z) };
    ($name:ident, $d:ident: $t:ty, $x:expr, $y:expr, $z:expr, $w:expr) => { math::call!(@4 $name, $d: $t, $x, $y, $z, $w) };
    (@$operands:literal $name:ident, $d:ident: $t:ty, $($x:expr),+) => {{
        // SAFETY: `build.rs` generates the definition from the same row. The function reads as many elements as the
        // array has, writes `out`, and touches nothing else, for any values.
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
