//! COp: an op that emits C.

use crate::error::LinkError;
use crate::module::SourceSet;
use crate::object::{CLinkerObject, CacheVersion};
use crate::params::ParamsType;
use crate::sub::Sub;
use crate::types::UserTypes;
use precast_graph::{Op, Type};

/// The Apply that code is generated for: what PyTensor calls `node`.
#[derive(Debug, Clone)]
pub struct Node {
    /// Types of the inputs.
    pub inputs: Vec<Type>,
    /// Types of the outputs.
    pub outputs: Vec<Type>,
    /// Position of the Apply in the module's graph.
    pub position: usize,
    /// The user types of the library, with the C that is registered for them.
    pub types: UserTypes,
}

/// An op that emits C. All C it returns is inserted as it is; names that must be unique carry `name`.
///
/// In run code (`c_code`, `c_code_cleanup`) `ctx` is the call's `pc_context *`; on an error set its slot, then insert
/// `sub.fail`. Never `return`, nor jump out of your own loops.
pub trait COp: Op + CLinkerObject {
    /// The C that computes the outputs from the inputs. `inputs` and `outputs` name C variables as the types declare
    /// them: `pc_tensor *` for tensors (outputs may be NULL, of another shape, or reusable), `double` for `f64`.
    ///
    /// # Errors
    /// Types that this op has no C for.
    fn c_code(
        &self,
        node: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError>;

    /// Runs after `c_code`, also when it failed.
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

    /// Helper code at file scope for one Apply; names carry `name`.
    ///
    /// # Errors
    /// Types that this op has no C for.
    fn c_support_code_apply(&self, _node: &Node, _name: &str) -> Result<String, LinkError> {
        Ok(String::new())
    }

    /// Headers for the types of one Apply, beside those of [`CLinkerObject::c_headers`].
    fn c_headers_apply(&self, _node: &Node) -> Vec<String> {
        Vec::new()
    }

    /// Own headers for the types of one Apply, beside those of [`CLinkerObject::c_sources`].
    fn c_sources_apply(&self, _node: &Node) -> SourceSet {
        SourceSet::new()
    }

    /// Statements run once when the module is loaded, for one Apply.
    fn c_init_code_apply(&self, _node: &Node, _name: &str) -> String {
        String::new()
    }

    /// Members of the instance; in C code they are `self->member`, in C++ code bare names work too.
    fn c_support_code_struct(&self, _node: &Node, _name: &str) -> String {
        String::new()
    }

    /// Initialises the members. `sub.fail` returns from the initialisation.
    fn c_init_code_struct(&self, _node: &Node, _name: &str, _sub: &Sub) -> String {
        String::new()
    }

    /// Gives back what `c_init_code_struct` or the run code left in the members.
    fn c_cleanup_code_struct(&self, _node: &Node, _name: &str) -> String {
        String::new()
    }

    /// The fields of the op's run-time params, by name; `sub.params` is a pointer to the struct that holds them.
    ///
    /// The default gives each prop that [`Op::params`] names the type of its value: `Bool`, `Int`, `Float`, `DType` (its
    /// type number) are C scalars, `Array` and a list of integers are tensors. Say more for enumerations and where the
    /// type must not follow the value.
    ///
    /// # Errors
    /// A param of a kind that has no such type.
    fn params_type(&self) -> Result<ParamsType, LinkError> {
        ParamsType::derive(self.name(), &self.params(), &self.props())
    }

    /// The version of one Apply's code; the op's own unless it depends on the types.
    fn c_code_cache_version_apply(&self, _node: &Node) -> CacheVersion {
        self.c_code_cache_version()
    }

    /// The author's files by logical name, where the C stands in some: what a report of a changed source names. Empty: it
    /// names the methods that give the C.
    fn c_files(&self) -> SourceSet {
        SourceSet::new()
    }

    /// Whether types validate the inputs and outputs of this op; `false` only where the op does so itself.
    fn check_input(&self) -> bool {
        true
    }

    /// Whether the C takes f16 and bf16 for what they are. NumPy's headers have `npy_half`, an integer, for them, with which
    /// C computes in silence; an op that uses those headers is refused for such types unless it says `true` here.
    ///
    /// # Source
    /// PyTensor, `CLinkerOp._f16_ok`.
    fn f16_ok(&self) -> bool {
        false
    }

    /// Whether inputs are broadcast against each other at run time, so that the module for higher ranks also serves
    /// inputs of lower rank. Lets one artifact of `mul(f64[..], f64[..])` serve `2*x` when a graph is served op by op.
    fn broadcasts(&self) -> bool {
        false
    }

    /// The names that a debugger stops at (`break precast_op_exp`) in modules made for debugging: the op's own, or those of
    /// the ops that were fused into it.
    fn debug_names(&self) -> Vec<String> {
        vec![self.name().to_owned()]
    }

    /// Names the content of all C this op can emit, if that is fixed by the generator's own sources: the fast path to a
    /// key. `None`: the C comes from hand-written Rust elsewhere, so the module is generated before it is looked up.
    fn content_id(&self) -> Option<String> {
        None
    }
}
