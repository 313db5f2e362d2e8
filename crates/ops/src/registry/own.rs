//! Custom ops: added to a library by value, and called by name like the functions of the library.
//!
//! ```text
//! Ops::with("limit", Limit::from_props)        limit(x, low=0.5)      the op with these props, on the unchanged arguments
//! Ops::with_external(op)                       clip(x, high=2.0)      the op with these params
//! ```
//! Variables are passed unchanged: a custom op never promotes. A variable without dimensions is passed as a C scalar
//! or as a tensor, as the op requires. A literal takes the first form (tensor or C scalar) and dtype that the op
//! accepts, preferring those of the other arguments. A call of an op with several outputs returns the first output;
//! `output=1` selects the second.

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

/// The keyword argument that selects one of several outputs.
const OUTPUT: &str = "output";

/// Names of factories that cannot be called. Elementwise ops are called by the names of their scalar ops, and
/// external ops by their own. The library inserts the ops that convert a tensor to a scalar and that fit the operands
/// of `einsum`.
const NOT_CALLED: [&str; 6] =
    ["elemwise", "external", "row_program", "small_graph", ScalarFromTensor::NAME, EinsumOperand::NAME];

/// The keywords of the text form.
const WORDS: [&str; 3] = ["True", "False", "None"];

/// Why an op cannot be added to a library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddOpError {
    /// The name is not valid in an expression.
    #[error("invalid op name `{name}`: expected letters, digits and `_`, beginning with a letter")]
    Name {
        /// The name.
        name: String,
    },
    /// The name already has another meaning.
    #[error("`{name}` is already an op of the library\nhint: rename the op, for example to `my_{name}`")]
    Taken {
        /// The name.
        name: String,
    },
    /// Another custom op has the same name.
    #[error("two ops are named `{name}`")]
    Twice {
        /// The name.
        name: String,
    },
}

impl Ops {
    /// Adds the op `name`. `make` creates it from the keyword arguments of a call. It can then be used like the
    /// library's own ops: in text, in JSON (where [`Op::name`] must return the same name), in the builder and in
    /// matrices.
    ///
    /// # Errors
    /// A name that is invalid, or that the library already has.
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

    /// Adds an external op under its own name; keyword arguments are its params. Adding the same op twice has no
    /// effect. A library function with the same name takes precedence, unless [`Ops::preferring`] names the op.
    ///
    /// # Errors
    /// A name that another custom op has, or that cannot be the name of a function.
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

    /// Lets these names mean external ops in texts, even if a library function has the same name. `np.sum(x)`,
    /// `x.sum()` and operators still mean the library's functions. Texts written for a smaller library thus keep
    /// their meaning.
    #[must_use]
    pub fn preferring(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.preferred = names.into_iter().filter(|name| self.externals.contains_key(name)).collect();
        self
    }

    /// Returns the external op with this name.
    #[must_use]
    pub fn external(&self, name: &str) -> Option<&Arc<ExternalCOp>> {
        self.externals.get(name)
    }

    /// Returns the external ops, by name.
    pub fn externals(&self) -> impl Iterator<Item = &ExternalCOp> {
        self.externals.values().map(|op| &**op)
    }

    /// Returns whether a call in a text by this name means an external op.
    #[must_use]
    pub fn prefers(&self, name: &str) -> bool {
        self.preferred.contains(name)
    }

    /// Returns whether a custom op has this name.
    pub(super) fn has_own(&self, name: &str) -> bool {
        self.externals.contains_key(name) || self.c.factory(name).is_some()
    }

    /// Returns the custom op with this name and these props.
    pub(crate) fn own_op(&self, name: &str, props: &Props) -> Option<Result<Arc<dyn Op>, MakeNodeError>> {
        let Some(external) = self.externals.get(name) else {
            return Some(self.c.factory(name).filter(|_| !NOT_CALLED.contains(&name))?(props));
        };
        let made = external.with_params(props).and_then(|op| check_known(name, props, &op).map(|()| op));
        Some(made.map(|op| -> Arc<dyn Op> { Arc::new(op) }))
    }

    /// Adds the external op of the entry `name`, with the params it was declared with. The name is `<op>` or
    /// `<op>.<combination>`. Returns the library unchanged if the entry is another graph, or if the op cannot be added.
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

    /// Applies a custom op, which has no row.
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
            let none = || MakeNodeError::prop(name, "op", "is missing");
            let op = self.own_op(name, &props).ok_or_else(none)??;
            let inputs = arguments(&*op, operands)?;
            let outputs = operands.graph.apply(op, &inputs)?;
            match (wanted, outputs.len()) {
                (None, _) => first(outputs, name),
                (Some(_), 1) => {
                    Err(MakeNodeError::prop(name, OUTPUT, "is unknown: the op has one output").into())
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

/// Returns the call signature of an external op: `within(x0, *, high=1.0, low=0.0)`.
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

/// Rejects keyword arguments that are not props of the op.
fn check_known(name: &str, props: &Props, op: &dyn Op) -> Result<(), MakeNodeError> {
    let known = op.props();
    let Some(prop) = props.keys().find(|prop| !known.contains_key(*prop)) else { return Ok(()) };
    let near = nearest(prop, known.keys().map(String::as_str));
    let near = near.map_or_else(String::new, |near| format!("; nearest `{near}`"));
    Err(MakeNodeError::prop(name, prop, format!("is unknown{near}")))
}

/// Splits the keyword arguments into the selected output and the props.
fn without_output(name: &str, props: &Props) -> Result<(Option<usize>, Props), MakeNodeError> {
    let mut rest = props.clone();
    let Some(output) = rest.remove(OUTPUT) else { return Ok((None, rest)) };
    let wanted = if let Prop::Int(n) = output { usize::try_from(n).ok() } else { None };
    let wrong =
        || MakeNodeError::prop(name, OUTPUT, format!("is `{output}`, expected the number of an output"));
    Ok((Some(wanted.ok_or_else(wrong)?), rest))
}

/// An argument of a custom op.
enum Argument {
    Variable(VarId),
    Literal(Literal),
}

/// Returns the arguments as variables; each literal takes the first form that the op accepts.
fn arguments(op: &dyn Op, operands: &mut Operands<'_>) -> Result<Vec<VarId>, BuildError> {
    let mut arguments = Vec::with_capacity(operands.args.len());
    for position in 0..operands.args.len() {
        arguments.push(match &operands.args[position] {
            Operand::Literal(literal) => Argument::Literal(literal.clone()),
            // A list becomes an array; anything else that is not an array is rejected here.
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

/// Returns the first combination of forms that the op accepts; otherwise the op's error for the first combination.
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

/// Returns the types that an argument may take. A variable has its own type; without dimensions it may be a C scalar
/// or a tensor. A literal may take any dtype that can hold its kind: first the dtypes of the other arguments, then
/// its own.
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

/// Returns whether a dtype can hold a literal of its kind.
fn holds(dtype: DType, literal: &Literal) -> bool {
    literal.kind() <= Kind::of(dtype) && literal.value(dtype).is_some()
}
