//! The kinds of reductions and their arithmetic; `c/precast/ops/monoid.h` has the same definitions in C.

use crate::scalar::{ComplexNumber as _, maximum, minimum};
use precast_graph::{Complex, DType};

/// The operation of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ReduceKind {
    /// The sum; 0 if empty. Integers wrap.
    Sum,
    /// The sum divided by the count; NaN if empty.
    Mean,
    /// The product; 1 if empty. Integers wrap.
    Prod,
    /// The largest element; NaN if any element is NaN; an error if empty.
    Max,
    /// The smallest element; NaN if any element is NaN; an error if empty.
    Min,
    /// Whether any element is true; false if empty.
    Any,
    /// Whether all elements are true; true if empty.
    All,
}

/// The dtypes with a native order; 16-bit floats are compared in f32.
const ORDERED: [DType; 11] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F32,
    DType::F64,
];

impl ReduceKind {
    /// All kinds of reductions.
    pub const LIST: [Self; 7] =
        [Self::All, Self::Any, Self::Max, Self::Mean, Self::Min, Self::Prod, Self::Sum];

    /// Returns the name, which is also the name of the op.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Prod => "prod",
            Self::Max => "max",
            Self::Min => "min",
            Self::Any => "any",
            Self::All => "all",
        }
    }

    /// Returns the reduction with this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::LIST.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the dtypes that the reduction supports.
    #[must_use]
    pub const fn dtypes(self) -> &'static [DType] {
        match self {
            Self::Sum | Self::Prod => {
                &[DType::I64, DType::U64, DType::F32, DType::F64, DType::C64, DType::C128]
            }
            Self::Mean => &[DType::F32, DType::F64, DType::C64, DType::C128],
            Self::Max | Self::Min => &ORDERED,
            Self::Any | Self::All => &[DType::Bool],
        }
    }

    /// Returns why an empty reduction is an error, in NumPy's words; `None` if it has a value.
    #[must_use]
    pub const fn refuses_empty(self) -> Option<&'static str> {
        match self {
            Self::Max => Some("zero-size array to reduction operation maximum which has no identity"),
            Self::Min => Some("zero-size array to reduction operation minimum which has no identity"),
            _ => None,
        }
    }
}

/// The arithmetic of an element type: `LANES`, identity and addition of `monoid.h`, and the total over blocks.
pub(super) trait Fold: Copy {
    /// The type of the totals over blocks.
    type Total: Copy;
    fn lanes(kind: ReduceKind) -> usize;
    fn identity(kind: ReduceKind) -> Self;
    fn add(kind: ReduceKind, a: Self, b: Self) -> Self;
    fn total(self) -> Self::Total;
    fn add_total(kind: ReduceKind, a: Self::Total, b: Self::Total) -> Self::Total;
    fn finish(kind: ReduceKind, total: Self::Total, count: usize) -> Self;
}

macro_rules! float {
    ($t:ident, $sum_lanes:literal, $order_lanes:literal) => {
        impl Fold for $t {
            type Total = f64;

            fn lanes(kind: ReduceKind) -> usize {
                if matches!(kind, ReduceKind::Max | ReduceKind::Min) { $order_lanes } else { $sum_lanes }
            }

            fn identity(kind: ReduceKind) -> Self {
                match kind {
                    ReduceKind::Prod => 1.0,
                    ReduceKind::Max => -$t::INFINITY,
                    ReduceKind::Min => $t::INFINITY,
                    _ => 0.0,
                }
            }

            fn add(kind: ReduceKind, a: Self, b: Self) -> Self {
                match kind {
                    ReduceKind::Prod => a * b,
                    ReduceKind::Max => maximum!(a, b),
                    ReduceKind::Min => minimum!(a, b),
                    _ => a + b,
                }
            }

            fn total(self) -> f64 {
                f64::from(self)
            }

            fn add_total(kind: ReduceKind, a: f64, b: f64) -> f64 {
                <f64 as Fold>::add(kind, a, b)
            }

            fn finish(kind: ReduceKind, total: f64, count: usize) -> Self {
                (if kind == ReduceKind::Mean { total / count as f64 } else { total }) as $t
            }
        }
    };
}
float!(f32, 32, 64);
float!(f64, 16, 32);

macro_rules! complex {
    ($t:ident, $lanes:literal) => {
        impl Fold for Complex<$t> {
            type Total = Complex<f64>;

            fn lanes(_kind: ReduceKind) -> usize {
                $lanes
            }

            fn identity(kind: ReduceKind) -> Self {
                Self::new(if kind == ReduceKind::Prod { 1.0 } else { 0.0 }, 0.0)
            }

            fn add(kind: ReduceKind, a: Self, b: Self) -> Self {
                if kind == ReduceKind::Prod { a.times(b) } else { a.plus(b) }
            }

            fn total(self) -> Complex<f64> {
                Complex::new(self.re.into(), self.im.into())
            }

            fn add_total(kind: ReduceKind, a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
                <Complex<f64> as Fold>::add(kind, a, b)
            }

            fn finish(kind: ReduceKind, total: Complex<f64>, count: usize) -> Self {
                let by = if kind == ReduceKind::Mean { count as f64 } else { 1.0 };
                Self::new((total.re / by) as $t, (total.im / by) as $t)
            }
        }
    };
}
complex!(f32, 16);
complex!(f64, 8);

macro_rules! integers {
    ($($t:ident),*) => {$(
        impl Fold for $t {
            type Total = Self;

            // The result has the same bits for any number of lanes.
            fn lanes(_kind: ReduceKind) -> usize {
                16
            }

            fn identity(kind: ReduceKind) -> Self {
                match kind {
                    ReduceKind::Prod => 1,
                    ReduceKind::Max => Self::MIN,
                    ReduceKind::Min => Self::MAX,
                    _ => 0,
                }
            }

            fn add(kind: ReduceKind, a: Self, b: Self) -> Self {
                match kind {
                    ReduceKind::Prod => a.wrapping_mul(b),
                    ReduceKind::Max => a.max(b),
                    ReduceKind::Min => a.min(b),
                    _ => a.wrapping_add(b),
                }
            }

            fn total(self) -> Self {
                self
            }

            fn add_total(kind: ReduceKind, a: Self, b: Self) -> Self {
                Self::add(kind, a, b)
            }

            fn finish(_kind: ReduceKind, total: Self, _count: usize) -> Self {
                total
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

impl Fold for bool {
    type Total = Self;

    fn lanes(_kind: ReduceKind) -> usize {
        64
    }

    fn identity(kind: ReduceKind) -> Self {
        matches!(kind, ReduceKind::Min | ReduceKind::All)
    }

    fn add(kind: ReduceKind, a: Self, b: Self) -> Self {
        if matches!(kind, ReduceKind::Min | ReduceKind::All) { a & b } else { a | b }
    }

    fn total(self) -> Self {
        self
    }

    fn add_total(kind: ReduceKind, a: Self, b: Self) -> Self {
        Self::add(kind, a, b)
    }

    fn finish(_kind: ReduceKind, total: Self, _count: usize) -> Self {
        total
    }
}
