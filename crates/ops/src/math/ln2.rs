//! Ln 2 in two parts, for exponentials and logarithms. `c/precast/ops/math/ln2.h` says how, line by line.

/// ln 2 in two parts: k * HI is exact for |k| < 2^11.
pub(super) const LOG2E_F64: f64 = f64::from_bits(0x3ff7_1547_652b_82fe); // 0x1.71547652b82fep+0
pub(super) const LN2_HI_F64: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800); // 0x1.62e42fefa3800p-1
pub(super) const LN2_LO_F64: f64 = f64::from_bits(0x3d2e_f357_93c7_6730); // 0x1.ef35793c76730p-45

/// ln 2 in two parts: k * HI is exact for |k| < 2^9.
pub(super) const LOG2E_F32: f32 = f32::from_bits(0x3fb8_aa3b); // 0x1.715476p+0f
pub(super) const LN2_HI_F32: f32 = f32::from_bits(0x3f31_7200); // 0x1.62e400p-1f
pub(super) const LN2_LO_F32: f32 = f32::from_bits(0x35bf_be8e); // 0x1.7f7d1cp-20f
