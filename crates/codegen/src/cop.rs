//! The `COp` trait: ops that emit C.

use crate::error::LinkError;
use crate::module::SourceSet;
use crate::object::{CLinkerObject, CacheVersion};
use crate::params::ParamsType;
use crate::sub::Sub;
use crate::types::UserTypes;
use precast_graph::{FunctionGraph, Op, Type};

/// The Apply that code is generated for; PyTensor calls it `node`.
#[derive(Debug, Clone)]
pub struct Node {
    /// The types of the inputs.
    pub inputs: Vec<Type>,
    /// The types of the outputs.
    pub outputs: Vec<Type>,
    /// The position of the Apply in the module's graph.
    pub position: usize,
    /// The user types of the library, with their registered C code.
    pub types: UserTypes,
}

/// An op that emits C. The returned C is inserted unchanged, so names that must be unique have to contain `name`.
///
/// In run code (`c_code`, `c_code_cleanup`), `ctx` is the call's `pc_context *`. On an error, set its error slot, then
/// insert `sub.fail`. Never `return`, and never jump out of your own loops.
pub trait COp: Op + CLinkerObject {
    /// Returns the C code that computes the outputs from the inputs. `inputs` and `outputs` are names of C variables,
    /// declared by their types: `pc_tensor *` for tensors, `double` for `f64`. An output may be NULL, have a different
    /// shape, or be reusable.
    ///
    /// # Errors
    /// Fails if the op has no C code for these types.
    fn c_code(
        &self,
        node: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError>;

    /// Returns code that runs after `c_code`, even if it failed.
    fn c_code_cleanup(
        &self,
        _node: &Node,
        _name: &str,
        _inputs: &[String],
        _outputs: &[String],
        _sub: &Sub,
    ) -> String {
        String::new()
    }

    /// Returns helper code at file scope for one Apply; its names contain `name`.
    ///
    /// # Errors
    /// Fails if the op has no C code for these types.
    fn c_support_code_apply(&self, _node: &Node, _name: &str) -> Result<String, LinkError> {
        Ok(String::new())
    }

    /// Returns definitions at file scope that several Applies of a module may share. Each text is emitted once, before
    /// the code of [`COp::c_support_code_apply`]. Names begin with `@M@_`, which stands for the module, and are the same
    /// in equal texts only.
    fn c_shared_code_apply(&self, _node: &Node) -> Vec<String> {
        Vec::new()
    }

    /// Returns the graphs that the C code calls, rewritten for compilation, without constants. The graph at position `i`
    /// is the function `int <name>_body<i>_run(void *pc_self, pc_context *ctx, pc_object **pc_args)`, with the contract of
    /// `pc_entry.run`; `self` is the instance to pass.
    fn bodies(&self) -> Vec<&FunctionGraph> {
        Vec::new()
    }

    /// Returns headers for the types of one Apply, in addition to [`CLinkerObject::c_headers`].
    fn c_headers_apply(&self, _node: &Node) -> Vec<String> {
        Vec::new()
    }

    /// Returns the op's own headers for the types of one Apply, in addition to [`CLinkerObject::c_sources`].
    fn c_sources_apply(&self, _node: &Node) -> SourceSet {
        SourceSet::new()
    }

    /// Returns statements that run once per Apply when the module is loaded.
    fn c_init_code_apply(&self, _node: &Node, _name: &str) -> String {
        String::new()
    }

    /// Returns member declarations of the instance. C code accesses them as `self->member`; C++ code may also use bare
    /// names.
    fn c_support_code_struct(&self, _node: &Node, _name: &str) -> String {
        String::new()
    }

    /// Returns code that initializes the members. `sub.fail` aborts the initialization.
    fn c_init_code_struct(&self, _node: &Node, _name: &str, _sub: &Sub) -> String {
        String::new()
    }

    /// Returns code that releases resources that `c_init_code_struct` or the run code stored in the members.
    fn c_cleanup_code_struct(&self, _node: &Node, _name: &str) -> String {
        String::new()
    }

    /// Returns the fields of the op's run-time params by name; `sub.params` is a pointer to the struct that holds them.
    ///
    /// By default, each prop that [`Op::params`] lists gets the type of its value. `Bool`, `Int`, `Float` and `DType`
    /// (its type number) become C scalars. `Array` and lists of integers become tensors. Override this method for
    /// enumerations and for types that must not depend on the value.
    ///
    /// # Errors
    /// Fails if a param has a kind without a corresponding type.
    fn params_type(&self) -> Result<ParamsType, LinkError> {
        ParamsType::derive(self.name(), &self.params(), &self.props())
    }

    /// Returns the version of one Apply's code: the op's own version unless it depends on the types.
    fn c_code_cache_version_apply(&self, _node: &Node) -> CacheVersion {
        self.c_code_cache_version()
    }

    /// Returns the author's C files by logical name. Reports about changed sources show these files, or the methods
    /// that return the C code if there are no files.
    fn c_files(&self) -> SourceSet {
        SourceSet::new()
    }

    /// Returns whether types validate the inputs and outputs of this op. Return `false` only if the op validates them
    /// itself.
    fn check_input(&self) -> bool {
        true
    }

    /// Returns whether the C code handles f16 and bf16 correctly. NumPy's headers represent them as `npy_half`, an
    /// integer, so C arithmetic silently gives wrong results. An op that uses those headers is rejected for such types
    /// unless it returns `true` here.
    ///
    /// # Source
    /// PyTensor, `CLinkerOp._f16_ok`.
    fn f16_ok(&self) -> bool {
        false
    }

    /// Returns whether inputs are broadcast against each other at run time, so that the module for higher ranks also
    /// serves inputs of lower rank. For example, one artifact of `mul(f64[..], f64[..])` also serves `2*x` when a graph
    /// runs op by op.
    fn broadcasts(&self) -> bool {
        false
    }

    /// Returns the names for breakpoints (`break precast_op_exp`) in modules built for debugging: the op's own name, or
    /// the names of the ops fused into it.
    fn debug_names(&self) -> Vec<String> {
        vec![self.name().to_owned()]
    }

    /// Returns an ID of all C code this op can emit, if only the generator's own sources determine that code. The ID
    /// allows computing a key without generating code. `None` means that the C code comes from other Rust code, so the
    /// module is generated before it is looked up.
    fn content_id(&self) -> Option<String> {
        None
    }
}
