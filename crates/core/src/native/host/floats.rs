//! The floating-point environment of a thread: rounding, and the treatment of subnormal numbers.
//!
//! It is stored in registers of the thread. A caller or another library may have changed it, with `fesetround` or with
//! `-ffast-math`, which flushes subnormal numbers to zero. Kernels, reference implementations and literals rely on the
//! default, so that every host gets the same bits. So all entry points that compute call [`DefaultFloats::set`] first.
//! Modules undo changes by an author's C themselves. Native functions, which are called without a host, set the default too
//! (`precast/float_state.h` of `codegen`).
//!
//! ```text
//! check  x86-64: a sum of four pairs of floats, each of which differs in some other environment; AArch64: FPCR
//! set    x86-64: MXCSR and the x87 control word; AArch64: FPCR. Other CPUs: nothing
//! ```
//! The check takes 0.3 ns on Zen 4, where reading MXCSR takes 5 ns. Setting the environment takes about 20 ns, which only a
//! call in another environment pays. Exception flags stay set, and traps are left unchanged.

use std::marker::PhantomData;

/// A guard that sets the default environment and restores the thread's previous environment on drop.
#[derive(Debug)]
#[must_use = "the environment is restored when the value is dropped"]
pub struct DefaultFloats {
    kept: Option<State>,
    /// The registers belong to one thread.
    thread: PhantomData<*const ()>,
}

impl DefaultFloats {
    /// Sets the default environment of this thread, if it has another one.
    #[inline(always)]
    pub fn set() -> Self {
        let kept = if is_default() { None } else { Some(change()) };
        Self { kept, thread: PhantomData }
    }
}

impl Drop for DefaultFloats {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(kept) = &self.kept {
            restore(kept);
        }
    }
}

#[cold]
#[inline(never)]
fn change() -> State {
    let kept = State::read();
    kept.to_default().write();
    kept
}

#[cold]
#[inline(never)]
fn restore(kept: &State) {
    State::read().back_to(kept).write();
}

#[cfg(target_arch = "x86_64")]
mod registers {
    #[cfg(feature = "watch")]
    use super::OtherFloats;
    use std::arch::asm;

    /// The exception flags of MXCSR.
    const FLAGS: u32 = 0x3f;
    /// The bits of MXCSR for the rounding direction, results flushed to zero, and operands treated as zero.
    const MXCSR: u32 = 0xe040;
    /// The bits of the x87 control word: the rounding direction, and the precision of a new thread.
    const X87: (u16, u16) = (0x0c00, 0x0300);

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct State {
        mxcsr: u32,
        x87: u16,
    }

    #[cfg(feature = "watch")]
    pub(super) const OTHERS: &[OtherFloats] = &[
        OtherFloats::Upward,
        OtherFloats::Downward,
        OtherFloats::TowardsZero,
        OtherFloats::FlushesResults,
        OtherFloats::FlushesOperands,
    ];

    #[cfg(feature = "watch")]
    pub(super) fn other(which: OtherFloats) -> State {
        let State { mxcsr, x87 } = State::read().to_default();
        let (vector, direction) = match which {
            OtherFloats::Upward => (0x4000, 0x0800),
            OtherFloats::Downward => (0x2000, 0x0400),
            OtherFloats::TowardsZero => (0x6000, 0x0c00),
            OtherFloats::FlushesResults => (0x8000, 0),
            OtherFloats::FlushesOperands => (0x0040, 0),
        };
        State { mxcsr: mxcsr | vector, x87: x87 | direction }
    }

    /// Four floats, four more, and their sums in the default environment. The first differs if sums are rounded up, the
    /// second if they are rounded down. The third is a subnormal result, and the fourth has subnormal operands.
    #[repr(C, align(16))]
    struct Probe([[f32; 4]; 3]);

    /// 2⁻²³. Both 1 + ¼·2⁻²³ and 1 + ¾·2⁻²³ are rounded.
    const ULP: f32 = f32::EPSILON;
    const LEAST: f32 = f32::MIN_POSITIVE;

    static PROBE: Probe = Probe([
        [1.0, 1.0, 1.5 * LEAST, 0.5 * LEAST],
        [0.25 * ULP, 0.75 * ULP, -LEAST, 0.75 * LEAST],
        [1.0, 1.0 + ULP, 0.5 * LEAST, 1.25 * LEAST],
    ]);

    #[inline(always)]
    pub(super) fn is_default() -> bool {
        let equal: u32;
        // SAFETY: only reads the table.
        unsafe {
            asm!(
                "movaps {sum}, [{probe}]",
                "addps {sum}, [{probe} + 16]",
                "pcmpeqd {sum}, [{probe} + 32]",
                "pmovmskb {equal:e}, {sum}",
                probe = in(reg) &raw const PROBE,
                sum = out(xmm_reg) _,
                equal = out(reg) equal,
                options(readonly, nostack, preserves_flags)
            );
        }
        equal == 0xffff
    }

    impl State {
        pub(super) fn read() -> Self {
            let (mut mxcsr, mut x87) = (0_u32, 0_u16);
            // SAFETY: stores the register to four bytes of this function.
            unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack, preserves_flags)) };
            // SAFETY: stores the register to two bytes of this function.
            unsafe { asm!("fnstcw [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags)) };
            Self { mxcsr, x87 }
        }

        pub(super) fn to_default(self) -> Self {
            Self { mxcsr: self.mxcsr & !MXCSR, x87: self.x87 & !X87.0 | X87.1 }
        }

        /// Returns the saved environment with the exception flags that are set now.
        pub(super) fn back_to(self, kept: &Self) -> Self {
            Self { mxcsr: kept.mxcsr | self.mxcsr & FLAGS, x87: kept.x87 }
        }

        pub(super) fn write(self) {
            let Self { mxcsr, x87 } = self;
            // SAFETY: a previous value of the register, or its default; the code of this crate relies only on the default.
            unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack, preserves_flags)) };
            // SAFETY: as above.
            unsafe { asm!("fldcw [{}]", in(reg) &raw const x87, options(nostack, preserves_flags)) };
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod registers {
    #[cfg(feature = "watch")]
    use super::OtherFloats;
    use std::arch::asm;

    /// FPCR. The exception flags are in another register.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct State(u64);

    #[cfg(feature = "watch")]
    pub(super) const OTHERS: &[OtherFloats] =
        &[OtherFloats::Upward, OtherFloats::Downward, OtherFloats::TowardsZero, OtherFloats::Flushing];

    #[cfg(feature = "watch")]
    pub(super) const fn other(which: OtherFloats) -> State {
        match which {
            OtherFloats::Upward => State(1 << 22),
            OtherFloats::Downward => State(2 << 22),
            OtherFloats::TowardsZero => State(3 << 22),
            // One bit covers both.
            OtherFloats::FlushesResults | OtherFloats::FlushesOperands => State(1 << 24),
        }
    }

    /// The bits for alternative handling and half precision, default NaNs, flushing, and the rounding direction. The
    /// remaining bits are traps.
    const FPCR: u64 = 0x07c8_0007;

    #[inline(always)]
    pub(super) fn is_default() -> bool {
        State::read().0 & FPCR == 0
    }

    impl State {
        #[inline(always)]
        pub(super) fn read() -> Self {
            let fpcr: u64;
            // SAFETY: reads a register that every program may read.
            unsafe { asm!("mrs {}, fpcr", out(reg) fpcr, options(nostack, preserves_flags)) };
            Self(fpcr)
        }

        pub(super) fn to_default(self) -> Self {
            Self(self.0 & !FPCR)
        }

        pub(super) fn back_to(self, kept: &Self) -> Self {
            *kept
        }

        pub(super) fn write(self) {
            // SAFETY: a previous value of the register, or its default; the code of this crate relies only on the default.
            unsafe { asm!("msr fpcr, {}", in(reg) self.0, options(nostack, preserves_flags)) };
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod registers {
    #[cfg(feature = "watch")]
    use super::OtherFloats;

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct State;

    #[cfg(feature = "watch")]
    pub(super) const OTHERS: &[OtherFloats] = &[];

    #[cfg(feature = "watch")]
    pub(super) const fn other(_which: OtherFloats) -> State {
        State
    }

    pub(super) fn is_default() -> bool {
        true
    }

    impl State {
        pub(super) fn read() -> Self {
            Self
        }

        pub(super) fn to_default(self) -> Self {
            self
        }

        pub(super) fn back_to(self, _kept: &Self) -> Self {
            self
        }

        pub(super) fn write(self) {}
    }
}

use registers::{State, is_default};

/// An environment that a caller may have set. For tests of hosts.
#[cfg(feature = "watch")]
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherFloats {
    /// Rounds upwards.
    Upward,
    /// Rounds downwards.
    Downward,
    /// Rounds towards zero.
    TowardsZero,
    /// Returns zero instead of subnormal results.
    FlushesResults,
    /// Treats subnormal operands as zero.
    FlushesOperands,
}

#[cfg(feature = "watch")]
impl OtherFloats {
    /// All environments that this CPU supports.
    pub const ALL: &[Self] = registers::OTHERS;

    /// Runs `work` in this environment. Only calls of precast may compute with floats in `work`.
    pub fn during<T>(self, work: impl FnOnce() -> T) -> T {
        /// Restores the previous environment, even if `work` panics.
        struct Back(State);
        impl Drop for Back {
            fn drop(&mut self) {
                self.0.write();
            }
        }
        let _back = Back(State::read());
        registers::other(self).write();
        work()
    }
}

#[cfg(all(test, feature = "watch"))]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn guard_sets_the_default_environment() {
        for other in OtherFloats::ALL {
            other.during(|| {
                assert!(!is_default(), "{other:?}");
                {
                    let _floats = DefaultFloats::set();
                    assert!(is_default(), "{other:?}");
                    assert_eq!(black_box(1.0) + black_box(1e-20), 1.0);
                    assert_eq!(black_box(-1.0) - black_box(1e-20), -1.0);
                    assert!(black_box(5e-324) * black_box(1.0) > 0.0);
                    let _again = DefaultFloats::set();
                }
                let now = State::read();
                assert_eq!(now, now.back_to(&registers::other(*other)), "{other:?}");
            });
            assert!(is_default());
        }
    }

    #[test]
    fn panic_restores_the_environment() {
        for other in OtherFloats::ALL {
            other.during(|| {
                let work = || {
                    let _floats = DefaultFloats::set();
                    panic!("an example");
                };
                assert!(catch_unwind(AssertUnwindSafe(work)).is_err());
                assert!(!is_default());
            });
        }
    }
}
