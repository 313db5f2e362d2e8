//! The walk backwards through a graph, with the gradients that are not finished yet.

use super::extents::{Dim, Extents};
use super::own;
use crate::Elemwise;
use crate::control::CustomGradient;
use crate::shape::{Alloc, ScalarFromTensor, ShapeI};
use precast_codegen::external::ExternalCOp;
use precast_graph::{
    Apply, Array, BuildError, DType, FunctionGraph, MakeNodeError, Number, Op, OpLibrary, Operand, Prop,
    Pullback, Type, VarId,
};
use std::any::Any;
use std::collections::BTreeMap;

/// A walk backwards through a graph.
pub(super) struct Walk<'a> {
    graph: &'a mut FunctionGraph,
    library: &'a dyn OpLibrary,
    /// The variables of interest.
    kept: &'a [VarId],
    extents: Extents,
    /// The parts of the gradient by each variable, which add up to it.
    pending: BTreeMap<VarId, Vec<VarId>>,
}

impl<'a> Walk<'a> {
    /// Begins at results, each with its gradient.
    pub(super) fn from(
        graph: &'a mut FunctionGraph,
        library: &'a dyn OpLibrary,
        seeds: &[(VarId, VarId)],
        kept: &'a [VarId],
    ) -> Self {
        let mut pending: BTreeMap<VarId, Vec<VarId>> = BTreeMap::new();
        for (y, seed) in seeds {
            pending.entry(*y).or_default().push(*seed);
        }
        Self { graph, library, kept, extents: Extents::default(), pending }
    }

    /// Takes the gradients by the outputs of an Apply, if it is on the path, and adds those by its inputs to the pending
    /// ones.
    pub(super) fn apply(&mut self, position: usize, on_path: &[bool]) -> Result<(), BuildError> {
        let apply: Apply = self.graph.applies()[position].clone();
        if !apply.outputs.iter().any(|output| on_path[output.index()]) {
            return Ok(());
        }
        let wanted: Vec<bool> = apply.inputs.iter().map(|input| on_path[input.index()]).collect();
        if !wanted.contains(&true) {
            return Ok(());
        }
        let elementwise = (&*apply.op as &dyn Any).downcast_ref::<Elemwise>();
        let mut gradients = Vec::new();
        for output in &apply.outputs {
            let gradient = self.sum(*output)?;
            if let Some(gradient) = gradient.filter(|_| self.kept.contains(output)) {
                self.pending.insert(*output, vec![gradient]);
            }
            gradients.push(match (gradient, elementwise) {
                (Some(gradient), None) => Some(self.fitted(gradient, *output)?),
                (gradient, _) => gradient,
            });
        }
        if gradients.iter().all(Option::is_none) {
            return Ok(());
        }
        // A rule of the user has gradients by floats only; it may use complex numbers.
        let is_custom = (&*apply.op as &dyn Any).is::<CustomGradient>();
        let complex = apply.inputs.iter().chain(&apply.outputs).find(|v| self.is_complex(**v));
        if let Some(complex) = complex.filter(|_| !is_custom) {
            let (op, found) = ("grad".to_owned(), self.graph.ty(*complex).dtype());
            return Err(MakeNodeError::DType { op, input: 0, found, expected: "floats".to_owned() }.into());
        }
        let (inputs, outputs) = (&apply.inputs, &apply.outputs);
        let mut at = Pullback {
            graph: &mut *self.graph,
            library: self.library,
            inputs,
            outputs,
            gradients: &gradients,
            wanted: &wanted,
        };
        let results = match (&*apply.op as &dyn Any).downcast_ref::<ExternalCOp>() {
            Some(op) => own::external(op, &mut at),
            None => apply.op.pullback(&mut at),
        };
        let none = || Err(Pullback::error(format!("`{}` has no derivative", self.graph.signature(&apply))));
        let results = results.unwrap_or_else(none)?;
        let wanted = inputs.iter().zip(results).enumerate().filter(|(position, _)| wanted[*position]);
        for (position, (input, result)) in wanted {
            let Some(mut result) = result else { continue };
            if is_custom {
                result = self.checked(result, *input, position)?;
            }
            let result = if elementwise.is_some() {
                self.settled(result, *input, outputs[0])?
            } else {
                let (whole, found) = (self.dims(*input), self.dims(result));
                let stated = found
                    .iter()
                    .zip(&whole)
                    .map(|(found, dim)| if *found == Dim::ONE { Dim::ONE } else { dim.clone() });
                self.extents.state(result, stated.collect());
                result
            };
            self.pending.entry(*input).or_default().push(result);
        }
        Ok(())
    }

    /// Checks at run time that the result of a rule has the extents of its input, unless this is certain.
    fn checked(&mut self, gradient: VarId, input: VarId, position: usize) -> Result<VarId, BuildError> {
        let (found, own) = (self.dims(gradient), self.dims(input));
        let mut args = vec![Operand::Var(gradient)];
        for d in (0..own.len()).filter(|d| found[*d] != own[*d]) {
            let extents = [self.extent(gradient, d)?, self.extent(input, d)?];
            args.push(self.call("eq", &extents, &[])?.into());
        }
        if args.len() == 1 {
            return Ok(gradient);
        }
        let message = format!(
            "custom_gradient: the gradient by input {} has another shape than the input",
            position - 1
        );
        let checked = self.call("assert", &args, &[("message", Prop::Str(message).into())])?;
        self.dims(checked);
        self.extents.state(checked, own);
        Ok(checked)
    }

    fn is_complex(&self, variable: VarId) -> bool {
        self.graph.ty(variable).dtype().is_complex()
    }

    fn dims(&mut self, variable: VarId) -> Vec<Dim> {
        self.extents.of(self.graph, variable).to_vec()
    }

    /// Sums an elementwise gradient over the dimensions to which `input` was broadcast, as far as they are known. The
    /// gradient has, in each dimension, an extent of 1 or one that covers that of `input`, unless an operand alone gave
    /// it its extent.
    fn settled(&mut self, gradient: VarId, input: VarId, output: VarId) -> Result<VarId, BuildError> {
        let (whole, own) = (self.dims(output), aligned(self.dims(input), self.dims(output).len()));
        let mut gradient = gradient;
        let found = aligned(self.dims(gradient), whole.len());
        let unsure = |d: usize| {
            found[d] != Dim::ONE
                && !found[d].covers(&whole[d])
                && !found[d].broadcast(&own[d]).covers(&whole[d])
        };
        if (0..whole.len()).any(unsure) {
            gradient = self.stretched(gradient, output, &unsure)?;
        }
        // Where all elements are equal, their sum is a product with the number of copies.
        for d in (0..whole.len()).filter(|d| found[*d] == Dim::ONE && own[*d] != whole[*d]) {
            let mut copies = self.extent(output, d)?;
            if own[d] != Dim::ONE {
                let extent = self.extent(input, d + self.graph.ty(input).ndim() - whole.len())?;
                let extent = self.weak("maximum", &[extent, 1_i64.into()])?;
                copies = self.weak("floor_div", &[copies, extent])?;
            }
            // The number of copies may exceed the range of 16-bit floats.
            let dtype = self.graph.ty(gradient).dtype();
            let is_half = matches!(dtype, DType::F16 | DType::Bf16);
            let wide = if is_half { DType::F32 } else { dtype };
            let wide = self.call(wide.name(), &[gradient.into()], &[])?;
            let sum = self.call("mul", &[wide.into(), copies], &[])?;
            gradient = self.call(dtype.name(), &[sum.into()], &[])?;
        }
        let ndim = self.graph.ty(input).ndim();
        let extra = self.dims(gradient).len().saturating_sub(ndim);
        if extra > 0 {
            let axes = (0..extra).map(|d| Prop::Int(d as i64)).collect();
            gradient = self.total(gradient, axes, false)?;
        }
        let (found, own) = (self.dims(gradient), self.dims(input));
        let shift = own.len() - found.len();
        let axes: Vec<Prop> = (0..found.len())
            .filter(|d| own[d + shift] == Dim::ONE && found[*d] != Dim::ONE)
            .map(|d| Prop::Int(d as i64))
            .collect();
        if axes.is_empty() { Ok(gradient) } else { self.total(gradient, axes, true) }
    }

    /// Applies a function to extents.
    fn weak(&mut self, function: &str, args: &[Operand]) -> Result<Operand, BuildError> {
        self.call(function, args, &[]).map(Operand::Weak)
    }

    /// Sums over axes, in the gradient's dtype.
    fn total(&mut self, gradient: VarId, axes: Vec<Prop>, keepdims: bool) -> Result<VarId, BuildError> {
        let named = [("axis", Prop::List(axes).into()), ("keepdims", keepdims.into())];
        self.call("sum", &[gradient.into()], &named)
    }

    /// Returns the sum of the pending gradients by a variable, which may still be narrow, or wide.
    fn sum(&mut self, variable: VarId) -> Result<Option<VarId>, BuildError> {
        let Some(parts) = self.pending.remove(&variable) else { return Ok(None) };
        let whole = self.dims(variable);
        let (mut others, mut fit): (Vec<(Vec<Dim>, VarId)>, Option<VarId>) = (Vec::new(), None);
        for part in parts {
            let dims = self.dims(part);
            if !is_other(&dims, &whole) {
                fit = Some(self.added(fit, part)?);
            } else if let Some((_, sum)) = others.iter_mut().find(|(found, _)| *found == dims) {
                *sum = self.call("add", &[(*sum).into(), part.into()], &[])?;
            } else {
                others.push((dims, part));
            }
        }
        if let ([(dims, only)], None) = (others.as_slice(), fit)
            && dims.iter().zip(&whole[whole.len() - dims.len()..]).all(|(dim, own)| dim.covers(own))
        {
            return Ok(Some(*only));
        }
        for (_, part) in others {
            let part = self.narrowed(part, variable)?;
            fit = Some(self.added(fit, part)?);
        }
        Ok(fit)
    }

    fn added(&mut self, sum: Option<VarId>, part: VarId) -> Result<VarId, BuildError> {
        sum.map_or(Ok(part), |sum| self.call("add", &[sum.into(), part.into()], &[]))
    }

    /// Returns the gradient by a variable of interest, with its shape.
    pub(super) fn finished(&mut self, variable: VarId) -> Result<VarId, BuildError> {
        let gradient = match self.sum(variable)? {
            Some(gradient) => gradient,
            None => {
                let dtype = self.graph.ty(variable).dtype();
                self.graph.constant(Array::of(Number::Float(0.0), dtype))
            }
        };
        let fitted = self.fitted(gradient, variable)?;
        self.pending.insert(variable, vec![fitted]);
        Ok(fitted)
    }

    /// Returns a gradient with the shape of its variable.
    fn fitted(&mut self, gradient: VarId, variable: VarId) -> Result<VarId, BuildError> {
        let gradient = self.narrowed(gradient, variable)?;
        let whole = self.dims(variable);
        let found = aligned(self.dims(gradient), whole.len());
        let narrow = |d: usize| found[d] != whole[d];
        let is_short = self.graph.ty(gradient).ndim() < whole.len();
        if is_short || (0..whole.len()).any(narrow) {
            return self.stretched(gradient, variable, &narrow);
        }
        let is_scalar = |ty: &Type| matches!(ty, Type::Scalar(_));
        match (is_scalar(self.graph.ty(gradient)), is_scalar(self.graph.ty(variable))) {
            (true, false) => self.result(Alloc, &[gradient]),
            (false, true) => self.result(ScalarFromTensor, &[gradient]),
            _ => Ok(gradient),
        }
    }

    /// Sums a gradient to the shape of its variable, except where its extent is 1.
    fn narrowed(&mut self, gradient: VarId, variable: VarId) -> Result<VarId, BuildError> {
        let (found, whole) = (self.dims(gradient), self.dims(variable));
        if !is_other(&found, &whole) {
            return Ok(gradient);
        }
        let shift = whole.len() - found.len();
        let (mut args, mut unsure) = (vec![Operand::Var(gradient)], Vec::new());
        for (d, dim) in found.iter().enumerate() {
            let own = &whole[d + shift];
            args.push(if *dim == Dim::ONE {
                1_i64.into()
            } else if dim.covers(own) {
                self.extent(variable, d + shift)?
            } else {
                // Either extent may be the one that is 1 at run time.
                unsure.push(d);
                let (found, own) = (self.extent(gradient, d)?, self.extent(variable, d + shift)?);
                let same = self.call("eq", &[found, own.clone()], &[])?;
                self.weak("where", &[same.into(), own, 1_i64.into()])?
            });
        }
        let summed = self.call("sum_to", &args, &[])?;
        self.dims(summed);
        let dims = found.iter().zip(&whole[shift..]);
        let dims = dims.map(|(found, own)| if *found == Dim::ONE { Dim::ONE } else { own.clone() }).collect();
        if unsure.is_empty() {
            self.extents.state(summed, dims);
            return Ok(summed);
        }
        let summed = self.stretched(summed, variable, &|d| unsure.contains(&(d.wrapping_sub(shift))))?;
        self.dims(summed);
        Ok(summed)
    }

    /// Broadcasts a gradient to the shape of `like`, in the selected dimensions.
    fn stretched(
        &mut self,
        gradient: VarId,
        like: VarId,
        selected: &dyn Fn(usize) -> bool,
    ) -> Result<VarId, BuildError> {
        let ndim = self.dims(like).len();
        let found = aligned(self.dims(gradient), ndim);
        let missing = ndim - self.dims(gradient).len();
        let mut inputs = vec![gradient];
        for (d, dim) in found.iter().enumerate() {
            let extent = if selected(d) {
                self.extent(like, d)?
            } else if *dim == Dim::ONE {
                1_i64.into()
            } else {
                self.extent(gradient, d - missing)?
            };
            inputs.push(extent.variable(self.graph)?);
        }
        self.result(Alloc, &inputs)
    }

    /// Returns an extent of a variable, which promotes like a Python integer.
    fn extent(&mut self, variable: VarId, axis: usize) -> Result<Operand, BuildError> {
        let source = match &self.dims(variable)[axis] {
            Dim::Fixed(n) => return Ok(i64::try_from(*n).unwrap_or(i64::MAX).into()),
            Dim::Open(sources) => sources.first().copied().filter(|_| sources.len() == 1),
        };
        let (variable, axis) = source.unwrap_or((variable, axis));
        Ok(Operand::Weak(self.result(ShapeI { axis }, &[variable])?))
    }

    /// Applies an op with one output.
    fn result(&mut self, op: impl Op, inputs: &[VarId]) -> Result<VarId, BuildError> {
        self.functions().apply(op, inputs)
    }

    fn call(
        &mut self,
        function: &str,
        args: &[Operand],
        named: &[(&str, Operand)],
    ) -> Result<VarId, BuildError> {
        self.functions().call_with(function, args, named)
    }

    /// Returns access to the functions of the library.
    fn functions(&mut self) -> Pullback<'_> {
        let (graph, library) = (&mut *self.graph, self.library);
        Pullback { graph, library, inputs: &[], outputs: &[], gradients: &[], wanted: &[] }
    }
}

/// Returns extents with extents of 1 in front, for as many dimensions as asked for.
fn aligned(dims: Vec<Dim>, ndim: usize) -> Vec<Dim> {
    let missing = ndim.saturating_sub(dims.len());
    std::iter::repeat_n(Dim::ONE, missing).chain(dims).collect()
}

/// Returns whether a gradient has an extent that is neither 1 nor that of its variable.
fn is_other(found: &[Dim], whole: &[Dim]) -> bool {
    let shift = whole.len() - found.len();
    found.iter().enumerate().any(|(d, dim)| *dim != Dim::ONE && *dim != whole[d + shift])
}
