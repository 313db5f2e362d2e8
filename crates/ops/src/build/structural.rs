//! Shapes, parts, joins and positions of [`Var`]s. Names and arguments match NumPy.

use super::{Arg, Graph, Var};
use precast_graph::{DType, Prop, Props};
use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

/// An index for one dimension between the brackets of `x[…]`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Index {
    /// One position, which removes the dimension; or a vector of positions, if it is the only index.
    At(Arg),
    /// `start:stop:step`; each part is optional.
    Slice {
        /// The first position; negative numbers count from the end.
        start: Option<Arg>,
        /// The position after the last one.
        stop: Option<Arg>,
        /// The step between positions; may be negative, but not 0.
        step: Option<Arg>,
    },
    /// A new dimension of extent 1.
    NewAxis,
    /// All dimensions without an index of their own.
    Rest,
}

impl Index {
    /// Selects all positions with the given `step`; `::-1` reverses a dimension.
    #[must_use]
    pub fn step(step: impl Into<Arg>) -> Self {
        Self::Slice { start: None, stop: None, step: Some(step.into()) }
    }

    /// Returns the item text for the function `subtensor`, and the numbers of the item.
    fn parts(&self) -> (String, Vec<Arg>) {
        match self {
            Self::At(at) => ("i".to_owned(), vec![at.clone()]),
            Self::NewAxis => ("n".to_owned(), Vec::new()),
            Self::Rest => ("...".to_owned(), Vec::new()),
            Self::Slice { start, stop, step } => {
                let named = [("b", start), ("e", stop), ("s", step)];
                let given = named.into_iter().filter_map(|(name, arg)| Some((name, arg.clone()?)));
                let (names, numbers): (Vec<_>, Vec<_>) = given.unzip();
                (names.concat(), numbers)
            }
        }
    }
}

macro_rules! positions {
    ($($from:ty),*) => {$(
        impl From<$from> for Index {
            fn from(at: $from) -> Self {
                Self::At(at.into())
            }
        }
    )*};
}
positions!(i64, i32, Var, &Var);

macro_rules! ranges {
    ($($range:ident, $named:ident: $start:expr, $stop:expr;)*) => {$(
        impl<T: Into<Arg>> From<$range<T>> for Index {
            fn from($named: $range<T>) -> Self {
                Self::Slice { start: $start, stop: $stop, step: None }
            }
        }
    )*};
}
ranges! {
    Range, range: Some(range.start.into()), Some(range.end.into());
    RangeFrom, range: Some(range.start.into()), None;
    RangeTo, range: None, Some(range.end.into());
}

impl From<RangeFull> for Index {
    fn from(_: RangeFull) -> Self {
        Self::Slice { start: None, stop: None, step: None }
    }
}

/// Creates one keyword argument.
fn keyword(name: &str, value: Prop) -> Props {
    Props::from([(name.to_owned(), value)])
}

/// Creates a keyword argument from a list of integers.
fn integers(name: &str, list: &[i64]) -> Props {
    keyword(name, Prop::List(list.iter().map(|n| Prop::Int(*n)).collect()))
}

/// Creates the keyword argument `axis`, if an axis is given.
pub(super) fn axis(axis: Option<i64>) -> Props {
    axis.map(|axis| keyword("axis", Prop::Int(axis))).unwrap_or_default()
}

impl Var {
    /// Selects a part: `x.part(&[(1..3).into(), Index::step(-1)])` is `x[1:3, ::-1]`.
    #[must_use]
    pub fn part(&self, index: &[Index]) -> Self {
        let (items, numbers): (Vec<_>, Vec<_>) = index.iter().map(Index::parts).unzip();
        let items = Prop::List(items.into_iter().map(Prop::Str).collect());
        self.with("subtensor", &numbers.concat(), &keyword("index", items))
    }

    /// Returns the tensor of which this is a [`part`](Self::part), with the part set to `values`.
    #[must_use]
    pub fn set(&self, values: impl Into<Arg>) -> Self {
        self.call("set_subtensor", &[values.into()])
    }

    /// Returns the tensor of which this is a [`part`](Self::part), with `values` added to the part.
    #[must_use]
    pub fn inc(&self, values: impl Into<Arg>) -> Self {
        self.call("inc_subtensor", &[values.into()])
    }

    /// Selects the elements at the given positions (a vector of integers) along an axis.
    #[must_use]
    pub fn take(&self, positions: &Self, along: i64) -> Self {
        self.with("take", &[positions.into()], &axis(Some(along)))
    }

    /// Reshapes the elements; one extent may be -1 and follows from the rest.
    #[must_use]
    pub fn reshape(&self, shape: &[i64]) -> Self {
        self.with("reshape", &[], &integers("shape", shape))
    }

    /// Reorders the axes; -1 inserts a new axis of extent 1.
    #[must_use]
    pub fn dimshuffle(&self, order: &[i64]) -> Self {
        self.with("dimshuffle", &[], &integers("order", order))
    }

    /// Returns the variance of all elements, dividing by `count - ddof`.
    #[must_use]
    pub fn var(&self, ddof: i64) -> Self {
        self.with("var", &[], &keyword("ddof", Prop::Int(ddof)))
    }

    /// Returns the standard deviation of all elements, dividing by `count - ddof`.
    #[must_use]
    pub fn std(&self, ddof: i64) -> Self {
        self.with("std", &[], &keyword("ddof", Prop::Int(ddof)))
    }

    /// Sorts the elements along an axis in ascending order, NaN last. The sort is stable.
    #[must_use]
    pub fn sort(&self, along: i64) -> Self {
        self.with("sort", &[], &axis(Some(along)))
    }

    /// Returns the positions (i64) of the elements along an axis in the order of [`sort`](Self::sort).
    #[must_use]
    pub fn argsort(&self, along: i64) -> Self {
        self.with("argsort", &[], &axis(Some(along)))
    }

    /// Solves systems of linear equations with upper or lower triangular matrices.
    #[must_use]
    pub fn solve_triangular(&self, b: &Self, lower: bool) -> Self {
        self.with("solve_triangular", &[b.into()], &keyword("lower", Prop::Bool(lower)))
    }

    /// Returns the extent (i64) of one dimension.
    #[must_use]
    pub fn extent(&self, dimension: i64) -> Self {
        self.with("shape_i", &[], &keyword("i", Prop::Int(dimension)))
    }

    /// Returns this variable. Fails with this message at run time unless the condition is true everywhere.
    #[must_use]
    pub fn assert(&self, condition: &Self, message: &str) -> Self {
        self.with("assert", &[condition.into()], &keyword("message", Prop::Str(message.to_owned())))
    }

    /// Applies a function of the text form with this variable as the first argument, and with keyword arguments.
    pub(super) fn with(&self, function: &str, others: &[Arg], props: &Props) -> Self {
        let args: Vec<Arg> = std::iter::once(self.into()).chain(others.iter().cloned()).collect();
        self.graph.apply(function, &args, props)
    }
}

impl Graph {
    /// Concatenates tensors along an axis.
    #[must_use]
    pub fn join(&self, parts: &[Var], along: i64) -> Var {
        // A single tensor argument would be read as the sequence of its rows.
        if let [one] = parts {
            return one.with("view", &[], &Props::new());
        }
        self.of("join", parts, &axis(Some(along)))
    }

    /// Stacks tensors of equal shape along a new axis.
    #[must_use]
    pub fn stack(&self, parts: &[Var], along: i64) -> Var {
        if let [one] = parts {
            return one.with("expand_dims", &[], &axis(Some(along)));
        }
        self.of("stack", parts, &axis(Some(along)))
    }

    /// Creates a tensor filled with one value; the extents are integers or variables.
    #[must_use]
    pub fn alloc(&self, value: impl Into<Arg>, shape: &[Arg]) -> Var {
        let args: Vec<Arg> = std::iter::once(value.into()).chain(shape.iter().cloned()).collect();
        self.apply("alloc", &args, &Props::new())
    }

    /// Creates a tensor of zeros.
    #[must_use]
    pub fn zeros(&self, shape: &[Arg], dtype: DType) -> Var {
        self.apply("zeros", shape, &keyword("dtype", Prop::DType(dtype)))
    }

    /// Creates a tensor of ones.
    #[must_use]
    pub fn ones(&self, shape: &[Arg], dtype: DType) -> Var {
        self.apply("ones", shape, &keyword("dtype", Prop::DType(dtype)))
    }

    /// Creates the vector `start`, `start + step`, … up to but not including `stop`.
    #[must_use]
    pub fn arange(&self, start: impl Into<Arg>, stop: impl Into<Arg>, step: impl Into<Arg>) -> Var {
        self.apply("arange", &[start.into(), stop.into(), step.into()], &Props::new())
    }

    /// Creates a square matrix with ones on its diagonal.
    #[must_use]
    pub fn eye(&self, n: impl Into<Arg>, dtype: DType) -> Var {
        self.apply("eye", &[n.into()], &keyword("dtype", Prop::DType(dtype)))
    }

    /// Sums products over labelled axes: `g.einsum("ij,jk->ik", &[x, y])`.
    #[must_use]
    pub fn einsum(&self, subscripts: &str, tensors: &[Var]) -> Var {
        let args: Vec<Arg> =
            std::iter::once(subscripts.into()).chain(tensors.iter().map(Arg::from)).collect();
        self.apply("einsum", &args, &Props::new())
    }

    fn of(&self, function: &str, parts: &[Var], props: &Props) -> Var {
        let args: Vec<Arg> = parts.iter().map(Arg::from).collect();
        self.apply(function, &args, props)
    }
}
