//! Ops of one's own: added to a library by value, called by name wherever a function of the library is.
//!
//! ```text
//! Ops::with("limit", Limit::from_props)        limit(x, low=0.5)      the op of these props, applied to the arguments as they are
//! Ops::with_external(op)                       clip(x, high=2.0)      the op with these params
//! ```
//! Variables are taken as they are: an own op promotes nothing. One without dimensions is a C scalar, or a tensor, where the op wants that. A
//! literal takes the form, tensor or C scalar, and the dtype in which the op admits it: those of what it meets if it can. An op
//! with several outputs gives its first; `output=1` its second.

use super::reference::evaluate;
use super::variables::first;
use super::{Operands, Ops};
use crate::rows;
use crate::shape::{Alloc, EinsumOperand, ScalarFromTensor};
use precast_codegen::COp;
use precast_codegen::external::ExternalCOp;
use precast_graph::literal::Kind;
use precast_graph::{
    BuildError, DType, FunctionGraph, Literal, MakeNodeError, Op, OpLibrary as _, Operand, Prop, Props, Type,
    VarId, nearest,
};
use std::any::Any;
use std::sync::Arc;

/// The keyword argument that chooses among several outputs.
const OUTPUT: &str = "output";

/// Names of factories that no call means: elementwise ops go by the names of their scalar ops, external ones by their own, and
/// a scalar is made of a tensor where an op wants one, and `einsum` fits its operands.
const NOT_CALLED: [&str; 5] =
    ["elemwise", "external", "row_program", ScalarFromTensor::NAME, EinsumOperand::NAME];

/// Words of the text form.
const WORDS: [&str; 3] = ["True", "False", "None"];

/// Why an op cannot be added to a library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddOpError {
    /// A name that no expression can say.
    #[error("`{name}` cannot name an op: expected letters, digits and `_`, a letter first")]
    Name {
        /// The name.
        name: String,
    },
    /// A name that stands for something else.
    #[error(
        "`{name}` is in the library of ops already\nhint: give the op a name of its own, such as `my_{name}`"
    )]
    Taken {
        /// The name.
        name: String,
    },
    /// A name that another own op has.
    #[error("two ops are called `{name}`")]
    Twice {
        /// The name.
        name: String,
    },
}

impl Ops {
    /// Adds the op `name`, which `make` makes of the keyword arguments that it is called with. In text, in JSON (where
    /// [`Op::name`] says the same name), in the builder and in matrices it is then called as the library's own ops are.
    ///
    /// # Errors
    /// A name that cannot be said, or that the library has.
    ///
    /// # Examples
    /// ```text
    /// let ops = Ops::standard().with("limit", Limit::from_props)?;
    /// ```
    pub fn with<O: COp>(
        self,
        name: &str,
        make: impl Fn(&Props) -> Result<O, MakeNodeError> + Send + Sync + 'static,
    ) -> Result<Self, AddOpError> {
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        let valid = name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit());
        let name_of = || name.to_owned();
        if !valid || WORDS.contains(&name) {
            return Err(AddOpError::Name { name: name_of() });
        }
        if NOT_CALLED.contains(&name) || self.names().iter().any(|known| known == name) {
            return Err(AddOpError::Taken { name: name_of() });
        }
        let called = name_of();
        let factory = move |props: &Props| -> Result<Arc<dyn Op>, MakeNodeError> {
            let op = make(props)?;
            check_known(&called, props, &op)?;
            Ok(Arc::new(op))
        };
        Ok(Self { c: self.c.with_c::<O>().with_name(name, factory), ..self })
    }

    /// Adds an external op by its own name; keyword arguments are its params. One that is there already counts once. A function
    /// of the library that has the name is still what the name means, see [`Ops::preferring`].
    ///
    /// # Errors
    /// A name that another own op has, or that means no function.
    pub fn with_external(mut self, op: ExternalCOp) -> Result<Self, AddOpError> {
        let name = op.declaration().name.clone();
        let is_word = NOT_CALLED.contains(&name.as_str()) || name.parse::<DType>().is_ok();
        let is_own = rows::find(&name).is_none() && self.c.factory(&name).is_some();
        let op = Arc::new(op.with_evaluate(evaluate));
        let (known, new): (Option<&dyn Op>, &dyn Op) =
            (self.externals.get(&name).map(|op| -> &dyn Op { &**op }), &*op);
        match known {
            Some(known) if known == new => return Ok(self),
            Some(_) => return Err(AddOpError::Twice { name }),
            None if is_own && !is_word => return Err(AddOpError::Twice { name }),
            None if is_word => return Err(AddOpError::Taken { name }),
            None => {}
        }
        self.externals.insert(name, op);
        Ok(self)
    }

    /// The library in whose texts these names mean external ops, also where a function has such a name: `np.sum(x)`, `x.sum()`
    /// and operators mean the library's. So what was written for a smaller library keeps its meaning.
    #[must_use]
    pub fn preferring(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.preferred = names.into_iter().filter(|name| self.externals.contains_key(name)).collect();
        self
    }

    /// The external op of a name.
    #[must_use]
    pub fn external(&self, name: &str) -> Option<&Arc<ExternalCOp>> {
        self.externals.get(name)
    }

    /// The external ops, by name.
    pub fn externals(&self) -> impl Iterator<Item = &ExternalCOp> {
        self.externals.values().map(|op| &**op)
    }

    /// Whether the name means an external op where a text calls it.
    #[must_use]
    pub fn prefers(&self, name: &str) -> bool {
        self.preferred.contains(name)
    }

    /// Whether there is an op of one's own of this name.
    pub(super) fn has_own(&self, name: &str) -> bool {
        self.externals.contains_key(name) || self.c.factory(name).is_some()
    }

    /// The own op of a name with these props.
    pub(crate) fn own_op(&self, name: &str, props: &Props) -> Option<Result<Arc<dyn Op>, MakeNodeError>> {
        let Some(external) = self.externals.get(name) else {
            return Some(self.c.factory(name).filter(|_| !NOT_CALLED.contains(&name))?(props));
        };
        let made = external.with_params(props).and_then(|op| check_known(name, props, &op).map(|()| op));
        Some(made.map(|op| -> Arc<dyn Op> { Arc::new(op) }))
    }

    /// Adds the external op that an entry `name` was made of, `<op>` or `<op>.<what the combination chose>`, with the params that
    /// it was declared with; nothing if the entry is another graph, or the library has the name.
    #[must_use]
    pub fn with_combination(self, name: &str, graph: &FunctionGraph) -> Self {
        let [apply] = graph.applies() else { return self };
        let op: &dyn Any = &*apply.op;
        let Some(op) = op.downcast_ref::<ExternalCOp>() else { return self };
        let rest = name.strip_prefix(op.declaration().name.as_str());
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
            return self.clone().with_external(op.clone()).unwrap_or(self);
        }
        self
    }

    /// Applies an op that has no row: an own one.
    pub(super) fn own(
        &self,
        operands: &mut Operands<'_>,
        props: &Props,
    ) -> Option<Result<VarId, BuildError>> {
        let name = operands.function;
        if !self.has_own(name) || NOT_CALLED.contains(&name) {
            return None;
        }
        let call = |operands: &mut Operands<'_>| {
            let (wanted, props) = without_output(name, props)?;
            let none = || MakeNodeError::prop(name, "op", "is not there");
            let op = self.own_op(name, &props).ok_or_else(none)??;
            let inputs = arguments(&*op, operands)?;
            let outputs = operands.graph.apply(op, &inputs)?;
            match (wanted, outputs.len()) {
                (None, _) => first(outputs, name),
                (Some(_), 1) => {
                    Err(MakeNodeError::prop(name, OUTPUT, "is not known: there is one output").into())
                }
                (Some(wanted), count) => outputs.get(wanted).copied().ok_or_else(|| {
                    let problem = format!("is {wanted}, expected a number below {count}");
                    MakeNodeError::prop(name, OUTPUT, problem).into()
                }),
            }
        };
        Some(call(operands))
    }
}

/// How an external op is called: `within(x0, *, high=1.0, low=0.0)`.
pub(super) fn signature(op: &ExternalCOp) -> String {
    let declaration = op.declaration();
    let mut arguments: Vec<String> = Vec::new();
    for (position, pattern) in declaration.inputs.iter().enumerate() {
        arguments.push(match pattern.trim_end().chars().last() {
            Some('*') => format!("*x{position}"),
            Some('?') => format!("x{position}=None"),
            _ => format!("x{position}"),
        });
    }
    let many = arguments.iter().any(|argument| argument.starts_with('*'));
    if !declaration.params.is_empty() && !many {
        arguments.push("*".to_owned());
    }
    arguments.extend(declaration.params.iter().map(|(name, value)| format!("{name}={value}")));
    format!("{}({})", declaration.name, arguments.join(", "))
}

/// Refuses keyword arguments that are no props of the op.
fn check_known(name: &str, props: &Props, op: &dyn Op) -> Result<(), MakeNodeError> {
    let known = op.props();
    let Some(prop) = props.keys().find(|prop| !known.contains_key(*prop)) else { return Ok(()) };
    let near = nearest(prop, known.keys().map(String::as_str));
    let near = near.map_or_else(String::new, |near| format!("; nearest `{near}`"));
    Err(MakeNodeError::prop(name, prop, format!("is not known{near}")))
}

/// Which output a call asks for, and the other keyword arguments.
fn without_output(name: &str, props: &Props) -> Result<(Option<usize>, Props), MakeNodeError> {
    let mut rest = props.clone();
    let Some(output) = rest.remove(OUTPUT) else { return Ok((None, rest)) };
    let wanted = if let Prop::Int(n) = output { usize::try_from(n).ok() } else { None };
    let wrong =
        || MakeNodeError::prop(name, OUTPUT, format!("is `{output}`, expected the number of an output"));
    Ok((Some(wanted.ok_or_else(wrong)?), rest))
}

/// An argument of an own op.
enum Argument {
    Variable(VarId),
    Literal(Literal),
}

/// The arguments as variables, each literal in the first of its forms that the op admits.
fn arguments(op: &dyn Op, operands: &mut Operands<'_>) -> Result<Vec<VarId>, BuildError> {
    let mut arguments = Vec::with_capacity(operands.args.len());
    for position in 0..operands.args.len() {
        arguments.push(match &operands.args[position] {
            Operand::Literal(literal) => Argument::Literal(literal.clone()),
            // A list is an array; what is no array is refused here.
            _ => Argument::Variable(operands.variable(position)?),
        });
    }
    let forms: Vec<Vec<Type>> = arguments.iter().map(|one| forms(one, &arguments, operands)).collect();
    let mut inputs = Vec::with_capacity(forms.len());
    for (position, (argument, ty)) in arguments.iter().zip(admitted(op, &forms)?).enumerate() {
        inputs.push(match argument {
            Argument::Variable(variable) if operands.graph.ty(*variable) == ty => *variable,
            Argument::Variable(variable) => {
                let to_tensor = matches!(ty, Type::Tensor(_));
                let op: Arc<dyn Op> = if to_tensor { Arc::new(Alloc) } else { Arc::new(ScalarFromTensor) };
                first(operands.graph.apply(op, &[*variable])?, operands.function)?
            }
            Argument::Literal(literal) => {
                let value = literal.value(ty.dtype()).ok_or_else(|| operands.misfit(position, ty.dtype()))?;
                operands.graph.constant_of(value, ty.clone())
            }
        });
    }
    Ok(inputs)
}

/// The first of each argument's forms with which the op admits them all; else what it says of the very first.
fn admitted<'f>(op: &dyn Op, forms: &'f [Vec<Type>]) -> Result<Vec<&'f Type>, MakeNodeError> {
    let mut chosen = vec![0; forms.len()];
    let mut refused = None;
    loop {
        let types: Vec<&Type> = forms.iter().zip(&chosen).map(|(forms, at)| &forms[*at]).collect();
        let owned: Vec<Type> = types.iter().map(|ty| (*ty).clone()).collect();
        let Err(error) = op.make_node(&owned) else { return Ok(types) };
        let input = match &error {
            MakeNodeError::Input { input, .. } | MakeNodeError::DType { input, .. } => Some(*input),
            _ => None,
        };
        let next =
            input.filter(|input| forms.get(*input).is_some_and(|forms| chosen[*input] + 1 < forms.len()));
        let error = refused.get_or_insert(error);
        match next {
            Some(input) => chosen[input] += 1,
            None => return Err(error.clone()),
        }
    }
}

/// The types that an argument may have: a variable its own, without dimensions as a C scalar or as a tensor too; a literal those of the
/// dtypes that hold its kind, the one that it meets first, then its own.
fn forms(argument: &Argument, all: &[Argument], operands: &Operands<'_>) -> Vec<Type> {
    let literal = match argument {
        Argument::Variable(variable) => {
            let ty = operands.graph.ty(*variable);
            let other = match ty {
                Type::Scalar(dtype) => Some(Type::tensor(*dtype, 0)),
                Type::Tensor(tensor) if tensor.shape.is_empty() => Some(Type::Scalar(tensor.dtype)),
                _ => None,
            };
            return std::iter::once(ty.clone()).chain(other).collect();
        }
        Argument::Literal(literal) => literal,
    };
    let meets = operands.common();
    let mut dtypes = vec![meets, literal.dtype(), DType::F64];
    dtypes.extend(DType::ALL);
    let variables = all.iter().filter_map(|one| match one {
        Argument::Variable(variable) => Some(operands.graph.ty(*variable)),
        Argument::Literal(_) => None,
    });
    let variables: Vec<&Type> = variables.collect();
    let scalars = !variables.is_empty() && variables.iter().all(|ty| matches!(ty, Type::Scalar(_)));
    let mut forms: Vec<Type> = Vec::new();
    for dtype in dtypes.into_iter().filter(|dtype| *dtype == meets || holds(*dtype, literal)) {
        let both = [Type::tensor(dtype, 0), Type::Scalar(dtype)];
        let new = both.into_iter().filter(|ty| !forms.contains(ty));
        let mut new: Vec<Type> = new.collect();
        if scalars {
            new.reverse();
        }
        forms.extend(new);
    }
    forms
}

/// Whether a dtype holds a literal of its kind.
fn holds(dtype: DType, literal: &Literal) -> bool {
    literal.kind() <= Kind::of(dtype) && literal.value(dtype).is_some()
}
