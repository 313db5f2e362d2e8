//! The texts that an op's combinations are.
//!
//! | op | inputs of each listed dtype and rank | besides |
//! |---|---|---|
//! | elementwise | all of one dtype and rank; `switch` has a condition of bool | `cast` goes to every other listed dtype |
//! | reductions, `argmax`, `cumsum` and the like | one | over all axes, and over each single axis |
//! | `sort`, `argsort` | one | along each axis |
//! | `searchsorted` | one, in a vector | |
//! | `boolean_index` | one, with a mask of each of its first dimensions | |
//! | `transpose`, `flatten`, `shape`, `view`, `deep_copy` | one | |
//! | `dot`, `batched_dot`, `matmul` | every pair of the listed ranks | |
//! | `join` | two | along each axis |
//! | `take` | one, with a vector of i64 | along each axis |
//! | `subtensor`, `set_subtensor`, `inc_subtensor` | one, and what is written | `x[i]`, `x[i:]`, `x[:j]`, `x[i:j]` and `x[v]` of the first axis |
//! | `reshape` | one, with its new extents | to each listed rank |
//! | `alloc` | a number, with the extents | |
//! | `arange`, `eye` | three numbers | once: of the ranks they have |
//! | an op of one's own | as many as it takes, all of one dtype and rank | |

use crate::registry::Ops;
use crate::rows::{self, Gives, Row};
use precast_graph::{DType, MakeNodeError, Props, Type};

/// Most inputs of an own op that are tried.
const MOST_INPUTS: usize = 16;

/// One text and its inputs.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub inputs: Vec<(String, Type)>,
    pub text: String,
}

/// A dtype and rank of a declared op, and all that are listed.
pub(crate) struct At<'a> {
    op: &'a str,
    row: &'static Row,
    dtype: DType,
    rank: usize,
    dtypes: &'a [DType],
    ranks: &'a [usize],
}

/// The cases of one dtype and rank.
pub(crate) type Combine = fn(&At<'_>) -> Vec<Case>;

/// The cases of one dtype and rank; `None` for an op that is not given by them.
pub(super) fn cases(
    op: &str,
    dtype: DType,
    rank: usize,
    dtypes: &[DType],
    ranks: &[usize],
    ops: &Ops,
) -> Option<Vec<Case>> {
    match rows::find(op).filter(|_| !ops.prefers(op)) {
        Some(row) => Some(row.combinations?(&At { op, row, dtype, rank, dtypes, ranks })),
        None => own(op, &Type::tensor(dtype, rank), ops),
    }
}

/// The case of an own op: as many inputs of one type as it takes at least; `None` if props must be given.
fn own(op: &str, ty: &Type, ops: &Ops) -> Option<Vec<Case>> {
    let made = ops.own_op(op, &Props::new())?.ok()?;
    let takes = |count: &usize| {
        let found = made.make_node(&vec![ty.clone(); *count]);
        !matches!(found, Err(MakeNodeError::Arity { .. }))
    };
    let inputs = vec![ty.clone(); (1..=MOST_INPUTS).find(takes)?];
    let names: Vec<String> = (0..inputs.len()).map(|i| format!("x{i}")).collect();
    Some(vec![case(&inputs, format!("{op}({})", names.join(", ")))])
}

/// The type of an index or extent.
fn number() -> Type {
    Type::tensor(DType::I64, 0)
}

/// A text over inputs `x0`, `x1`, ….
fn case(inputs: &[Type], text: String) -> Case {
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

    /// A call of the op.
    fn of(&self, inputs: &[Type], arguments: &str) -> Case {
        case(inputs, format!("{}({arguments})", self.op))
    }

    /// A call whose result has one rank: once, whatever ranks are listed.
    fn once(&self, inputs: &[Type], arguments: &str) -> Vec<Case> {
        let first = self.ranks.first() == Some(&self.rank);
        first.then(|| self.of(inputs, arguments)).into_iter().collect()
    }

    /// All of one dtype and rank, but for a condition.
    pub(crate) fn elementwise(&self) -> Vec<Case> {
        let arity = self.row.arguments.len();
        let mut inputs = vec![self.own(); arity];
        if self.row.scalar.as_ref().is_some_and(|scalar| scalar.gives == Gives::Choice) {
            inputs[0] = Type::tensor(DType::Bool, self.rank);
        }
        let arguments: Vec<String> = (0..arity).map(|i| format!("x{i}")).collect();
        vec![self.of(&inputs, &arguments.join(", "))]
    }

    pub(crate) fn unary(&self) -> Vec<Case> {
        vec![self.of(&[self.own()], "x0")]
    }

    /// To every other dtype.
    pub(crate) fn casts(&self) -> Vec<Case> {
        let others = self.dtypes.iter().filter(|other| **other != self.dtype);
        others.map(|to| self.of(&[self.own()], &format!("x0, dtype={to}"))).collect()
    }

    /// Along each axis.
    pub(crate) fn along_each(&self) -> Vec<Case> {
        (0..self.rank.max(1)).map(|axis| self.of(&[self.own()], &format!("x0, axis={axis}"))).collect()
    }

    /// Of every rank, in a vector.
    pub(crate) fn searches(&self) -> Vec<Case> {
        vec![self.of(&[self.ranked(1), self.own()], "x0, x1")]
    }

    /// By a mask of its first dimensions.
    pub(crate) fn masks(&self) -> Vec<Case> {
        let mask = |rank: usize| self.of(&[self.own(), Type::tensor(DType::Bool, rank)], "x0, x1");
        (1..=self.rank).map(mask).collect()
    }

    /// With every rank.
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

    /// Over all axes; where there are several, over each.
    pub(crate) fn over_axes(&self) -> Vec<Case> {
        let axes = if self.rank > 1 { 0..self.rank } else { 0..0 };
        let all = std::iter::once(self.of(&[self.own()], "x0"));
        all.chain(axes.map(|axis| self.of(&[self.own()], &format!("x0, axis={axis}")))).collect()
    }

    /// Along each axis, with one more input; without axes, what the op says to that.
    fn along(&self, arguments: &str, other: &Type) -> Vec<Case> {
        let axes = 0..self.rank.max(1);
        axes.map(|axis| self.of(&[self.own(), other.clone()], &format!("{arguments}, axis={axis}"))).collect()
    }

    /// Indices of the first axis: the inputs behind `x` and the text.
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

    /// What is written has the rank of the part, or is a number.
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
