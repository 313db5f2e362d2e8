//! The eigenvalues that come first in a Schur form.

use super::reflections::length;
use crate::declared::Declared;
use precast_graph::{Complex, MakeNodeError};

/// The eigenvalues that come first in a Schur form. Those on the imaginary axis belong to the right half of the plane, and
/// those on the unit circle to its inside, but of a pair of matrices to neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EigenvalueSort {
    /// Eigenvalues in the left half of the plane.
    Left,
    /// Eigenvalues in the right half of the plane.
    Right,
    /// Eigenvalues inside the unit circle.
    Inside,
    /// Eigenvalues outside the unit circle.
    Outside,
}

impl EigenvalueSort {
    pub(crate) const ALL: [Self; 4] = [Self::Left, Self::Right, Self::Inside, Self::Outside];

    /// Returns SciPy's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Left => "lhp",
            Self::Right => "rhp",
            Self::Inside => "iuc",
            Self::Outside => "ouc",
        }
    }

    /// Returns the prop of this name; `None` if it is missing.
    pub(crate) fn declared(declared: &Declared<'_>) -> Result<Option<Self>, MakeNodeError> {
        if !declared.has("sort") {
            return Ok(None);
        }
        let name =
            declared.text("sort").map_err(|_| declared.wrong("sort", "`lhp`, `rhp`, `iuc` or `ouc`"))?;
        match Self::ALL.into_iter().find(|sort| sort.name() == name) {
            Some(sort) => Ok(Some(sort)),
            None => Err(declared.wrong("sort", "`lhp`, `rhp`, `iuc` or `ouc`")),
        }
    }

    /// Returns the number of the order in C.
    pub(super) fn number(sort: Option<Self>) -> i64 {
        match sort {
            None => 0,
            Some(Self::Left) => 1,
            Some(Self::Right) => 2,
            Some(Self::Inside) => 3,
            Some(Self::Outside) => 4,
        }
    }

    /// Returns whether the eigenvalue `alpha / beta`, of a matrix or of a pair, comes first.
    pub(super) fn is_first(self, of_pair: bool, alpha: Complex<f64>, beta: f64) -> bool {
        if beta == 0.0 {
            return self == Self::Outside && (alpha.re != 0.0 || alpha.im != 0.0);
        }
        let re = alpha.re / beta;
        let size = length(re, alpha.im / beta);
        match self {
            Self::Left => re < 0.0,
            Self::Right => re > 0.0 || !of_pair && re == 0.0,
            Self::Inside => size < 1.0 || !of_pair && size == 1.0,
            Self::Outside => size > 1.0,
        }
    }
}
