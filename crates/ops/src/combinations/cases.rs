//! The texts that an op's combinations are.
//!
//! | op | inputs of each listed dtype and rank | besides |
//! |---|---|---|
//! | elementwise | all of one dtype and rank; `switch` has a condition of bool | `cast` goes to every other listed dtype |
//! | reductions, `argmax`, `cumsum` and their kin | one | over all axes, and over each single axis |
//! | `transpose`, `flatten`, `shape`, `view`, `deep_copy` | one | |
//! | `dot`, `batched_dot`, `matmul` | every pair of the listed ranks | |
//! | `join` | two | along each axis |
//! | `take` | one, with a vector of i64 | along each axis |
//! | `subtensor`, `set_subtensor`, `inc_subtensor` | one, and what is written | `x[i]`, `x[i:]`, `x[:j]`, `x[i:j]` and `x[v]` of the first axis |
//! | `reshape` | one, with its new extents | to each listed rank |
//! | `alloc` | a number, with the extents | |
//! | `arange`, `eye` | three numbers | once: of the ranks they have |

use precast_graph::{DType, Type};

/// One text and its inputs.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub inputs: Vec<(String, Type)>,
    pub text: String,
}

/// A dtype and rank of a declared op, and all ranks that are listed.
struct At<'a> {
    op: &'a str,
    dtype: DType,
    rank: usize,
    ranks: &'a [usize],
}

/// The cases of one dtype and rank; `None` for an op that is not given by them.
pub(super) fn cases(
    op: &str,
    dtype: DType,
    rank: usize,
    dtypes: &[DType],
    ranks: &[usize],
) -> Option<Vec<Case>> {
    let at = At { op, dtype, rank, ranks };
    Some(match op {
        "sum" | "prod" | "mean" | "var" | "std" | "max" | "min" | "any" | "all" | "argmax" | "argmin"
        | "cumsum" | "cumprod" => at.over_axes(),
        "dot" | "batched_dot" | "matmul" => {
            ranks.iter().map(|other| at.of(&[at.own(), at.ranked(*other)], "x0, x1")).collect()
        }
        "cast" => {
            let others = dtypes.iter().filter(|other| **other != dtype);
            others.map(|to| at.of(&[at.own()], &format!("x0, dtype=\"{to}\""))).collect()
        }
        "switch" | "where" => {
            vec![at.of(&[Type::tensor(DType::Bool, rank), at.own(), at.own()], "x0, x1, x2")]
        }
        "transpose" | "flatten" | "shape" | "view" | "deep_copy" => vec![at.of(&[at.own()], "x0")],
        "join" => at.along("x0, x1", &at.own()),
        "take" => at.along("x0, x1", &Type::tensor(DType::I64, 1)),
        "subtensor" => at.parts(),
        "set_subtensor" | "inc_subtensor" => at.writes(),
        "reshape" => at.reshapes(),
        "alloc" => vec![at.filled()],
        "arange" => at.once(&vec![at.ranked(0); 3], "x0, x1, x2"),
        "eye" => at.once(&vec![number(); 3], &format!("x0, x1, x2, dtype=\"{dtype}\"")),
        _ => {
            let arity = crate::rows::find(op)?.arguments.len();
            let arguments: Vec<String> = (0..arity).map(|i| format!("x{i}")).collect();
            vec![at.of(&vec![at.own(); arity], &arguments.join(", "))]
        }
    })
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

    /// Over all axes; where there are several, over each.
    fn over_axes(&self) -> Vec<Case> {
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

    fn parts(&self) -> Vec<Case> {
        let part =
            |(numbers, text): (Vec<Type>, &str)| case(&[vec![self.own()], numbers].concat(), text.to_owned());
        Self::indices().into_iter().map(part).collect()
    }

    /// What is written has the rank of the part, or is a number.
    fn writes(&self) -> Vec<Case> {
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

    fn reshapes(&self) -> Vec<Case> {
        let extents = Type::tensor(DType::I64, 1);
        let to = |rank: &usize| self.of(&[self.own(), extents.clone()], &format!("x0, x1, ndim={rank}"));
        self.ranks.iter().map(to).collect()
    }

    fn filled(&self) -> Case {
        let inputs = [vec![self.ranked(0)], vec![number(); self.rank]].concat();
        let arguments: Vec<String> = (0..=self.rank).map(|i| format!("x{i}")).collect();
        self.of(&inputs, &arguments.join(", "))
    }
}
