//! The op library: names of ops for JSON, functions for text, and the C side of both.
//!
//! ```text
//! text  add(x, y), x + y, sum(x, axis=0)  ── call ──▶ promotion, casts, constants ──▶ applies of the ops below
//! JSON  "elemwise" {scalar: "add"}        ── op ────▶ Elemwise, Reduce, DimShuffle, Dot by their props
//! ```
//! Functions choose dtypes as NumPy does; ops themselves never promote. A custom library starts from
//! [`Ops::standard`] and adds ops with [`Ops::with`]. Added ops are called by name like any other op.

mod array;
mod axes;
mod banded;
mod bind;
mod cast;
mod compare;
mod compose;
mod composed;
mod contract;
pub(crate) mod control;
mod decompositions;
mod diagonal;
mod edit;
mod elementwise;
mod expm;
mod factors;
mod fft;
mod fill;
mod gather;
mod gradient;
mod grid;
mod index;
mod linalg;
mod literals;
mod lu;
mod mask;
mod members;
mod nan;
mod operand;
mod order;
mod own;
mod parts;
mod places;
mod products;
mod quantile;
mod random;
mod reduce;
mod reference;
mod round;
mod samples;
mod schur;
mod sequence;
mod sets;
mod settings;
mod shape;
mod soft;
mod structural;
mod structured;
mod sylvester;
mod totals;
mod variables;
mod windows;

use crate::generator::GENERATOR;
use crate::rewrite::{Form, Passes};
use crate::rows::{self, Function, Row};
use crate::shape::{EinsumOperand, ScalarFromTensor};
use crate::{Elemwise, RowProgram, SmallGraph};
use cast::cast_to;
pub(crate) use composed::COMPOSED;
pub(crate) use operand::Operands;
pub use own::AddOpError;
use precast_codegen::external::ExternalCOp;
use precast_codegen::{CType, Library, TypeOps};
use precast_core::native::DefaultFloats;
use precast_graph::literal::Kind;
use precast_graph::{
    BuildError, DType, FunctionGraph, Keywords, MakeNodeError, Op, OpLibrary, Operand, Props,
};
use precast_store::key::Profile;
pub(crate) use reference::library as library_of_reference;
pub use reference::{RunC, perform, reference, run_by_reference};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
pub(crate) use structural::STRUCTURAL;

/// A library of ops: their names in text and JSON, and the Rust types that emit their C code.
#[derive(Debug, Clone)]
pub struct Ops {
    c: Library,
    /// External ops, by name.
    externals: BTreeMap<String, Arc<ExternalCOp>>,
    /// Names of external ops that take precedence over functions of the library.
    preferred: BTreeSet<String>,
    passes: Passes,
}

impl Default for Ops {
    fn default() -> Self {
        Self::standard()
    }
}

impl Ops {
    /// Returns the library with the ops of this crate.
    #[must_use]
    pub fn standard() -> Self {
        let c = Library::new()
            .with_c::<Elemwise>()
            .with_name("elemwise", Elemwise::from_props)
            .with_c::<RowProgram>()
            .with_name("row_program", RowProgram::from_props)
            .with_c::<SmallGraph>()
            .with_name("small_graph", SmallGraph::from_props)
            .with_c::<ScalarFromTensor>()
            .with_name(ScalarFromTensor::NAME, |_| Ok(Arc::new(ScalarFromTensor)))
            .with_c::<EinsumOperand>()
            .with_name(EinsumOperand::NAME, EinsumOperand::from_props)
            .with_c::<ExternalCOp>()
            .with_name("external", |props| {
                Ok(Arc::new(ExternalCOp::from_props(props)?.with_evaluate(reference::evaluate)))
            });
        Self {
            c: rows::all().fold(c, |c, row| (row.register)(c)),
            externals: BTreeMap::new(),
            preferred: BTreeSet::new(),
            passes: Passes::default(),
        }
    }

    /// Returns the rows of all named functions. Custom ops, and casts named by a dtype, have no row.
    pub fn rows() -> impl Iterator<Item = &'static Row> {
        rows::all()
    }

    /// Returns the row of a name or an alias.
    #[must_use]
    pub fn row(name: &str) -> Option<&'static Row> {
        rows::find(name)
    }

    /// Returns the C side.
    #[must_use]
    pub fn c(&self) -> &Library {
        &self.c
    }

    /// Adds the C side of the user type `name`.
    #[must_use]
    pub fn with_type(self, name: &str, ctype: Arc<dyn CType>) -> Self {
        Self { c: self.c.with_type(name, ctype), ..self }
    }

    /// Registers the C code of `deep_copy`, `view`, `shape` and `shape_i` for the user type `name`; see
    /// [`precast_codegen::Library::with_type_ops`].
    #[must_use]
    pub fn with_type_ops(self, name: &str, ops: TypeOps) -> Self {
        Self { c: self.c.with_type_ops(name, ops), ..self }
    }

    /// Generates modules for another profile than release; see [`precast_codegen::Library::with_profile`].
    #[must_use]
    pub fn with_profile(self, profile: Profile) -> Self {
        Self { c: self.c.with_profile(profile), ..self }
    }

    /// Limits the rewrites to these passes and the passes that modules rely on. The build and the lookup of a graph
    /// must use the same passes, because a graph that is rewritten differently has another key.
    #[must_use]
    pub fn with_passes(self, passes: Passes) -> Self {
        Self { passes, ..self }
    }

    /// Returns the recipe that turns graphs into programs. Libraries with the same ops and recipe make the same
    /// program from the same graph.
    #[must_use]
    pub fn recipe(&self) -> String {
        let passes: Vec<&str> = self.passes.with_needed().iter().map(|pass| pass.name).collect();
        format!("{GENERATOR} {} {}", self.c.profile(), passes.join(","))
    }

    /// Returns this library with the profile and passes of a recipe; `None` for a recipe of another generator.
    #[must_use]
    pub fn with_recipe(self, recipe: &str) -> Option<Self> {
        let (profile, passes) = recipe.strip_prefix(GENERATOR)?.strip_prefix(' ')?.split_once(' ')?;
        Some(self.with_profile(profile.parse().ok()?).with_passes(passes.parse().ok()?))
    }

    /// Rewrites a graph for module generation, with the passes of this library.
    ///
    /// # Errors
    /// As [`Form::of`].
    pub fn lower(&self, graph: &FunctionGraph, form: Form) -> Result<FunctionGraph, BuildError> {
        form.of(graph, &self.passes)
    }
}

impl OpLibrary for Ops {
    fn call(
        &self,
        graph: &mut FunctionGraph,
        name: &str,
        args: &[Operand],
        keywords: &Keywords,
    ) -> Option<Result<Operand, BuildError>> {
        let _floats = DefaultFloats::set();
        let row = rows::find(name);
        if row.is_none() && name.parse::<DType>().is_err() && !self.has_own(name) {
            return None;
        }
        let bound = row.map_or_else(
            || bind::bind_own(name, args, keywords),
            |row| bind::bind(name, row, args, keywords),
        );
        let (args, props) = match &bound {
            Ok((args, props)) => (args.as_slice(), props),
            Err(error) => return Some(Err(error.clone().into())),
        };
        let function = row.filter(|row| row.scalar.is_some());
        if let (Some(function), Some(literals)) = (function, literals::all(args)) {
            return Some(literals::call(self, function, name, &literals, props).map(Operand::Literal));
        }
        let mut operands = Operands { graph, library: self, function: name, args };
        let result = match row.and_then(|row| Some((row, function_of(row)?))) {
            Some((row, apply)) => apply(&mut operands, row, props),
            None if name.parse::<DType>().is_ok() => cast_to(&mut operands, name, props).map(Operand::Var),
            None => {
                operands.function = row.map_or(name, |row| row.name);
                self.own(&mut operands, props)?.map(Operand::Var)
            }
        };
        let result = match result {
            Ok(Operand::Var(result)) => result,
            other => return Some(other),
        };
        Some(match function {
            // If all arguments are Python numbers, the result is too, in the dtype of its kind.
            Some(_) if args.iter().all(|arg| matches!(arg, Operand::Weak(_) | Operand::Literal(_))) => {
                let dtype = Kind::of(operands.graph.ty(result).dtype()).dtype();
                operands.cast(result, dtype).map(Operand::Weak)
            }
            None if operands.is_extent(result) => Ok(Operand::Weak(result)),
            _ => Ok(Operand::Var(result)),
        })
    }

    fn call_by_name(
        &self,
        graph: &mut FunctionGraph,
        name: &str,
        args: &[Operand],
        keywords: &Keywords,
    ) -> Option<Result<Operand, BuildError>> {
        if !self.preferred.contains(name) {
            return self.call(graph, name, args, keywords);
        }
        let called =
            bind::bind_own(name, args, keywords).map_err(BuildError::from).and_then(|(args, props)| {
                let mut operands = Operands { graph, library: self, function: name, args: &args };
                self.own(&mut operands, &props).transpose()
            });
        called.map(|result| result.map(Operand::Var)).transpose()
    }

    fn method(&self, name: &str) -> Option<String> {
        members::method(name)
    }

    fn attribute(
        &self,
        graph: &mut FunctionGraph,
        name: &str,
        value: &Operand,
    ) -> Option<Result<Operand, BuildError>> {
        members::attribute(self, graph, name, value)
    }

    fn members(&self) -> Vec<String> {
        members::names()
    }

    fn signature(&self, name: &str) -> Option<String> {
        rows::find(name).map(|row| row.signature_as(name)).or_else(|| self.signature_by_name(name))
    }

    fn signature_by_name(&self, name: &str) -> Option<String> {
        let row = rows::find(name).filter(|_| !self.prefers(name));
        row.map(|row| row.signature_as(name)).or_else(|| self.external(name).map(|op| own::signature(op)))
    }

    fn op(&self, name: &str, props: &Props) -> Option<Result<Arc<dyn Op>, MakeNodeError>> {
        Some(self.c.factory(name)?(props))
    }

    fn names(&self) -> Vec<String> {
        let dtypes = DType::ALL.into_iter().map(DType::name);
        let rows = rows::all().flat_map(|row| row.aliases.iter().copied().chain([row.name]));
        let mut names: Vec<String> = rows.chain(dtypes).map(str::to_owned).collect();
        names.extend(self.externals.keys().cloned());
        let unnamed = ["elemwise", "row_program", "small_graph", ScalarFromTensor::NAME, EinsumOperand::NAME];
        names.extend(self.c.names().into_iter().filter(|name| !unnamed.contains(&name.as_str())));
        names.sort();
        names.dedup();
        names
    }
}

/// Returns the function that builds a call of a row.
fn function_of(row: &Row) -> Option<Function> {
    let each: Function = |operands, row, props| elementwise::apply(operands, row, props).map(Operand::Var);
    if row.scalar.is_some() { Some(each) } else { row.apply }
}
