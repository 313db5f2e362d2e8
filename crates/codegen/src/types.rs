//! The user types of a library: their C side, and the C code of the ops that work on values of any type.
//!
//! `deep_copy`, `view`, `shape` and `shape_i` support tensors; for a user type they look up C code in the library. The
//! code registered for a type affects only modules that use such an op on that type, so it cannot change any other key.

use crate::ctype::CType;
use crate::error::LinkError;
use crate::object::CacheVersion;
use crate::sub::Sub;
use precast_graph::Type;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An op that works on values of any type, for which C code can be registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TypeOp {
    /// A copy that shares no memory with the input.
    DeepCopy,
    /// The same value under another variable.
    View,
    /// The extents, an `i64[?]`.
    Shape,
    /// One extent, an `i64[]`; its code starts with a check of the input.
    ShapeI,
}

/// The C code of one op for one type.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Snippet {
    code: String,
    version: CacheVersion,
}

/// The C code of the ops on one user type, like PyTensor's `register_deep_copy_op_c_code` and similar functions.
///
/// In the C code, `@INAME@` is the input variable, `@ONAME@` is the output variable, and `@FAIL@` is the code to insert
/// on an error. In the code of `shape_i`, `@I@` is the number of the dimension. With an empty version, modules are not
/// shared between processes.
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
    /// Creates an empty set, without C code for any op.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the C code of `deep_copy`.
    #[must_use]
    pub fn deep_copy(self, code: &str, version: &[u32]) -> Self {
        self.with(TypeOp::DeepCopy, code.to_owned(), version)
    }

    /// Sets the C code of `view`.
    #[must_use]
    pub fn view(self, code: &str, version: &[u32]) -> Self {
        self.with(TypeOp::View, code.to_owned(), version)
    }

    /// Sets the C code of `shape`.
    #[must_use]
    pub fn shape(self, code: &str, version: &[u32]) -> Self {
        self.with(TypeOp::Shape, code.to_owned(), version)
    }

    /// Sets the C code of `shape_i`. `check_input` must check that the input has the dimension `@I@`; it comes before
    /// `code`.
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

    /// Returns the C side of the type `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<dyn CType>> {
        self.0.get(name)?.ctype.as_ref()
    }

    /// Returns the sorted names of all types that have a C side.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let known = self.0.iter().filter(|(_, entry)| entry.ctype.is_some());
        known.map(|(name, _)| name.clone()).collect()
    }

    /// Returns the C code of `op` on a value of type `ty`, from the variable `input` into `output`. Returns `None` for
    /// a built-in type, which the op handles itself. `dimension` is the dimension of `shape_i`.
    ///
    /// # Errors
    /// Returns [`LinkError::Unsupported`] if no code is registered for this op on the user type.
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
        // This is not one of our templates, so unknown marks are left for the compiler to report.
        Ok(Some(values.iter().fold(snippet.code.clone(), |code, (mark, value)| code.replace(mark, value))))
    }

    /// Returns the version registered with the C code of `op` on `ty`; `None` for a built-in type or if no code is
    /// registered.
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
                "no ops are registered for type `{}`; see `Library::with_type_ops`",
                user.name()
            ),
        };
        found.map(Some).ok_or_else(missing)
    }
}

impl TypeOp {
    /// Returns the name of the op.
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
