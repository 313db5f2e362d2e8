//! The texts for the combinations of an op.
//!
//! | op | inputs for each listed dtype and rank | details |
//! |---|---|---|
//! | elementwise | all of one dtype and rank; `switch` has a condition of bool | `cast` goes to every other listed dtype |
//! | reductions, `argmax`, `cumsum` and the like | one | over all axes, and over each single axis |
//! | `sort`, `argsort` | one | along each axis |
//! | `searchsorted` | one, in a vector | |
//! | `boolean_index` | one, with a mask of each of its first dimensions | |
//! | `transpose`, `flatten`, `shape`, `view`, `deep_copy` | one | |
//! | `cholesky`, `lu_factor`, `inv`, `det`, `qr`, `eigh`, `svd` and the like | one | |
//! | `dot`, `batched_dot`, `matmul`, `solve`, `solve_triangular`, `cho_solve` | every pair of the listed ranks | |
//! | `join` | two | along each axis |
//! | `take` | one, with a vector of i64 | along each axis |
//! | `subtensor`, `set_subtensor`, `inc_subtensor` | one, and values | `x[i]`, `x[i:]`, `x[:j]`, `x[i:j]`, `x[v]` of axis 0 |
//! | `reshape` | one, with its new extents | to each listed rank |
//! | `alloc` | a number, with the extents | |
//! | `arange`, `eye` | three numbers | once, for the rank of the result |
//! | a custom op | as many as it takes, all of one dtype and rank | |

use precast_graph::{DType, Type};

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub inputs: Vec<(String, Type)>,
    pub text: String,
}

/// A dtype and rank of a declared op, with the full lists of dtypes and ranks.
pub(crate) struct At<'a> {
    pub(super) op: &'a str,
    pub(super) arity: usize,
    /// Whether the first operand is a condition.
    pub(super) chooses: bool,
    pub(super) dtype: DType,
    pub(super) rank: usize,
    pub(super) dtypes: &'a [DType],
    pub(super) ranks: &'a [usize],
}

/// A function that returns the cases of one dtype and rank.
pub(crate) type Combine = fn(&At<'_>) -> Vec<Case>;

/// Returns the type of an index or extent.
fn number() -> Type {
    Type::tensor(DType::I64, 0)
}

/// Creates a text over inputs `x0`, `x1`, ….
pub(super) fn case(inputs: &[Type], text: String) -> Case {
    let inputs = inputs.iter().enumerate().map(|(i, ty)| (format!("x{i}"), ty.clone())).collect();
    Case { inputs, text }
}

impl At<'_> {
    fn own(&self) -> Type {
        self.ranked(self.rank)
    }

    fn ranked(&self, rank: usize) -> Type {
        Type::tensor(self.dtype, rank)
    }

    /// Creates a call of the op.
    fn of(&self, inputs: &[Type], arguments: &str) -> Case {
        case(inputs, format!("{}({arguments})", self.op))
    }

    /// Creates a call whose result has a fixed rank: only once, for the first listed rank.
    fn once(&self, inputs: &[Type], arguments: &str) -> Vec<Case> {
        let first = self.ranks.first() == Some(&self.rank);
        first.then(|| self.of(inputs, arguments)).into_iter().collect()
    }

    /// Returns the case with all inputs of this dtype and rank, except for a condition.
    pub(crate) fn elementwise(&self) -> Vec<Case> {
        let mut inputs = vec![self.own(); self.arity];
        if self.chooses {
            inputs[0] = Type::tensor(DType::Bool, self.rank);
        }
        let arguments: Vec<String> = (0..self.arity).map(|i| format!("x{i}")).collect();
        vec![self.of(&inputs, &arguments.join(", "))]
    }

    pub(crate) fn unary(&self) -> Vec<Case> {
        vec![self.of(&[self.own()], "x0")]
    }

    /// Returns the casts to every other listed dtype.
    pub(crate) fn casts(&self) -> Vec<Case> {
        let others = self.dtypes.iter().filter(|other| **other != self.dtype);
        others.map(|to| self.of(&[self.own()], &format!("x0, dtype={to}"))).collect()
    }

    /// Returns one case along each axis.
    pub(crate) fn along_each(&self) -> Vec<Case> {
        (0..self.rank.max(1)).map(|axis| self.of(&[self.own()], &format!("x0, axis={axis}"))).collect()
    }

    /// Returns a search for values of this rank in a sorted vector.
    pub(crate) fn searches(&self) -> Vec<Case> {
        vec![self.of(&[self.ranked(1), self.own()], "x0, x1")]
    }

    /// Returns one case for each mask of the first dimensions.
    pub(crate) fn masks(&self) -> Vec<Case> {
        let mask = |rank: usize| self.of(&[self.own(), Type::tensor(DType::Bool, rank)], "x0, x1");
        (1..=self.rank).map(mask).collect()
    }

    /// Returns a pair with an input of every listed rank.
    pub(crate) fn pairs(&self) -> Vec<Case> {
        self.ranks.iter().map(|other| self.of(&[self.own(), self.ranked(*other)], "x0, x1")).collect()
    }

    pub(crate) fn joins(&self) -> Vec<Case> {
        self.along("x0, x1", &self.own())
    }

    pub(crate) fn takes(&self) -> Vec<Case> {
        self.along("x0, x1", &Type::tensor(DType::I64, 1))
    }

    pub(crate) fn numbers(&self) -> Vec<Case> {
        self.once(&vec![self.ranked(0); 3], "x0, x1, x2")
    }

    pub(crate) fn extents(&self) -> Vec<Case> {
        self.once(&vec![number(); 3], &format!("x0, x1, x2, dtype={}", self.dtype))
    }

    /// Returns a reduction over all axes, and over each single axis if there is more than one.
    pub(crate) fn over_axes(&self) -> Vec<Case> {
        let axes = if self.rank > 1 { 0..self.rank } else { 0..0 };
        let all = std::iter::once(self.of(&[self.own()], "x0"));
        all.chain(axes.map(|axis| self.of(&[self.own()], &format!("x0, axis={axis}")))).collect()
    }

    /// Returns one case along each axis, with one more input. Without axes, axis 0 is used, so that the op reports its own
    /// error.
    fn along(&self, arguments: &str, other: &Type) -> Vec<Case> {
        let axes = 0..self.rank.max(1);
        axes.map(|axis| self.of(&[self.own(), other.clone()], &format!("{arguments}, axis={axis}"))).collect()
    }

    /// Returns indices of the first axis: the types of the inputs after `x0`, and the text.
    fn indices() -> [(Vec<Type>, &'static str); 5] {
        [
            (vec![number()], "x0[x1]"),
            (vec![number()], "x0[x1:]"),
            (vec![number()], "x0[:x1]"),
            (vec![number(), number()], "x0[x1:x2]"),
            (vec![Type::tensor(DType::I64, 1)], "x0[x1]"),
        ]
    }

    pub(crate) fn parts(&self) -> Vec<Case> {
        let part =
            |(numbers, text): (Vec<Type>, &str)| case(&[vec![self.own()], numbers].concat(), text.to_owned());
        Self::indices().into_iter().map(part).collect()
    }

    /// Returns writes to parts. The written values have the rank of the part, or are a number.
    pub(crate) fn writes(&self) -> Vec<Case> {
        let mut writes = Vec::new();
        for (numbers, text) in Self::indices() {
            let single = text == "x0[x1]" && numbers[0].ndim() == 0;
            let mut ranks = vec![self.rank.saturating_sub(usize::from(single)), 0];
            ranks.dedup();
            for rank in ranks {
                let inputs = [vec![self.own()], numbers.clone(), vec![self.ranked(rank)]].concat();
                writes.push(case(&inputs, format!("{}({text}, x{})", self.op, numbers.len() + 1)));
            }
        }
        writes
    }

    pub(crate) fn reshapes(&self) -> Vec<Case> {
        let extents = Type::tensor(DType::I64, 1);
        let to = |rank: &usize| self.of(&[self.own(), extents.clone()], &format!("x0, x1, ndim={rank}"));
        self.ranks.iter().map(to).collect()
    }

    pub(crate) fn filled(&self) -> Vec<Case> {
        let inputs = [vec![self.ranked(0)], vec![number(); self.rank]].concat();
        let arguments: Vec<String> = (0..=self.rank).map(|i| format!("x{i}")).collect();
        vec![self.of(&inputs, &arguments.join(", "))]
    }
}
