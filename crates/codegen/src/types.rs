//! The user types of a library: their C side, and the C of the ops that work on values of any type.
//!
//! `deep_copy`, `view`, `shape` and `shape_i` know tensors; of a user type they ask the library. What is registered for one
//! type enters only the modules that use such an op on that type, so it cannot change the key of any other.

use crate::ctype::CType;
use crate::error::LinkError;
use crate::object::CacheVersion;
use crate::sub::Sub;
use precast_graph::Type;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An op that works on values of any type, given its C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TypeOp {
    /// A copy that shares nothing with the input.
    DeepCopy,
    /// The same value under another variable.
    View,
    /// The extents, an `i64[?]`.
    Shape,
    /// One extent, an `i64[]`; the C of its check comes first.
    ShapeI,
}

/// C of one op for one type.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Snippet {
    code: String,
    version: CacheVersion,
}

/// The C of the ops on one user type: what `register_deep_copy_op_c_code` and the like took.
///
/// In the C, `@INAME@` is the variable of the input, `@ONAME@` that of the output, `@FAIL@` what to insert on an error;
/// in that of `shape_i`, `@I@` is the number of the dimension. An empty version keeps modules in the process.
///
/// # Examples
/// ```
/// use precast_codegen::{Library, TypeOps};
///
/// let ops = TypeOps::new().deep_copy("@ONAME@ = @INAME@;", &[1]).view("@ONAME@ = @INAME@;", &[1]);
/// let library = Library::new().with_type_ops("double", ops);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeOps(BTreeMap<TypeOp, Snippet>);

impl TypeOps {
    /// No C for any op.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The C of `deep_copy`.
    #[must_use]
    pub fn deep_copy(self, code: &str, version: &[u32]) -> Self {
        self.with(TypeOp::DeepCopy, code.to_owned(), version)
    }

    /// The C of `view`.
    #[must_use]
    pub fn view(self, code: &str, version: &[u32]) -> Self {
        self.with(TypeOp::View, code.to_owned(), version)
    }

    /// The C of `shape`.
    #[must_use]
    pub fn shape(self, code: &str, version: &[u32]) -> Self {
        self.with(TypeOp::Shape, code.to_owned(), version)
    }

    /// The C of `shape_i`; `check_input` must check that the input has the dimension `@I@`, and comes before the rest.
    #[must_use]
    pub fn shape_i(self, code: &str, check_input: &str, version: &[u32]) -> Self {
        self.with(TypeOp::ShapeI, format!("{check_input}\n{code}"), version)
    }

    fn with(mut self, op: TypeOp, code: String, version: &[u32]) -> Self {
        let version = match version {
            [] => CacheVersion::Never,
            version => CacheVersion::Version(version.to_vec()),
        };
        self.0.insert(op, Snippet { code, version });
        self
    }
}

/// One user type of a library.
#[derive(Clone, Default)]
struct Registration {
    ctype: Option<Arc<dyn CType>>,
    ops: TypeOps,
}

/// The user types of a library. Cheap to clone.
#[derive(Clone, Default)]
pub struct UserTypes(Arc<BTreeMap<String, Registration>>);

impl UserTypes {
    pub(crate) fn insert(&mut self, name: &str, ctype: Arc<dyn CType>) {
        self.registration(name).ctype = Some(ctype);
    }

    pub(crate) fn register(&mut self, name: &str, ops: TypeOps) {
        self.registration(name).ops.0.extend(ops.0);
    }

    fn registration(&mut self, name: &str) -> &mut Registration {
        Arc::make_mut(&mut self.0).entry(name.to_owned()).or_default()
    }

    /// The C side of the type `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<dyn CType>> {
        self.0.get(name)?.ctype.as_ref()
    }

    /// The names of all types that have a C side, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let known = self.0.iter().filter(|(_, entry)| entry.ctype.is_some());
        known.map(|(name, _)| name.clone()).collect()
    }

    /// The C of `op` on a value of type `ty` from the variable `input` into `output`; `None` for a built-in type, of which
    /// the op knows itself. `dimension` is that of `shape_i`.
    ///
    /// # Errors
    /// [`LinkError::Unsupported`] when nothing is registered for this op on the user type.
    pub fn code(
        &self,
        op: TypeOp,
        ty: &Type,
        (input, output): (&str, &str),
        dimension: Option<usize>,
        sub: &Sub,
    ) -> Result<Option<String>, LinkError> {
        let Some(snippet) = self.snippet(op, ty)? else { return Ok(None) };
        let dimension = dimension.map_or_else(String::new, |i| i.to_string());
        let values = [("@INAME@", input), ("@ONAME@", output), ("@I@", &*dimension), ("@FAIL@", &sub.fail)];
        // Not a template of ours: a mark that is none is left for the compiler to find.
        Ok(Some(values.iter().fold(snippet.code.clone(), |code, (mark, value)| code.replace(mark, value))))
    }

    /// The version that was registered with the C of `op` on `ty`; `None` for a built-in type and where there is none.
    #[must_use]
    pub fn version(&self, op: TypeOp, ty: &Type) -> Option<CacheVersion> {
        self.snippet(op, ty).ok().flatten().map(|snippet| snippet.version.clone())
    }

    fn snippet(&self, op: TypeOp, ty: &Type) -> Result<Option<&Snippet>, LinkError> {
        let Some(user) = ty.as_user() else { return Ok(None) };
        let found = self.0.get(user.name()).and_then(|entry| entry.ops.0.get(&op));
        let missing = || LinkError::Unsupported {
            signature: format!("{}({ty})", op.name()),
            problem: format!(
                "nothing is registered for the type `{}`; see `Library::with_type_ops`",
                user.name()
            ),
        };
        found.map(Some).ok_or_else(missing)
    }
}

impl TypeOp {
    /// The name of the op.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DeepCopy => "deep_copy",
            Self::View => "view",
            Self::Shape => "shape",
            Self::ShapeI => "shape_i",
        }
    }
}

impl std::fmt::Debug for UserTypes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
