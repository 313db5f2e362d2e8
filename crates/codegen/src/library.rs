//! Maps names and Rust types to ops: an explicit list, without link-time registration.

use crate::cop::COp;
use crate::ctype::{CScalar, CTensor, CType};
use crate::error::LinkError;
use crate::extension::Host;
use crate::types::{TypeOps, UserTypes};
use precast_graph::{MakeNodeError, Op, Props, Type};
use precast_store::key::Profile;
use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Creates an op from its declared props.
pub type OpFactory = Arc<dyn Fn(&Props) -> Result<Arc<dyn Op>, MakeNodeError> + Send + Sync>;

type AsCOp = fn(&dyn Op) -> Option<&dyn COp>;

/// The names of ops and the C side of their Rust types, ordered by name. Immutable once built.
#[derive(Clone)]
pub struct Library {
    factories: BTreeMap<String, OpFactory>,
    c_ops: Vec<(TypeId, AsCOp)>,
    types: UserTypes,
    profile: Profile,
    host: Host,
}

impl Default for Library {
    fn default() -> Self {
        Self::new()
    }
}

impl Library {
    /// Creates an empty library for the release profile.
    #[must_use]
    pub fn new() -> Self {
        let (factories, types) = (BTreeMap::new(), UserTypes::default());
        Self { factories, c_ops: Vec::new(), types, profile: Profile::Release, host: Host::Native }
    }

    /// Adds the C side of the Rust type `O`, so that ops of that type can be linked.
    #[must_use]
    pub fn with_c<O: COp>(mut self) -> Self {
        if self.c_ops.iter().all(|(id, _)| *id != TypeId::of::<O>()) {
            self.c_ops.push((TypeId::of::<O>(), |op| {
                let any: &dyn Any = op;
                any.downcast_ref::<O>().map(|op| op as &dyn COp)
            }));
        }
        self
    }

    /// Adds a name that JSON can refer to. It replaces an earlier entry with the same name.
    #[must_use]
    pub fn with_name<F>(mut self, name: &str, factory: F) -> Self
    where
        F: Fn(&Props) -> Result<Arc<dyn Op>, MakeNodeError> + Send + Sync + 'static,
    {
        self.factories.insert(name.to_owned(), Arc::new(factory));
        self
    }

    /// Adds the C side of the user type `name`. It replaces an earlier entry with the same name.
    #[must_use]
    pub fn with_type(mut self, name: &str, ctype: Arc<dyn CType>) -> Self {
        self.types.insert(name, ctype);
        self
    }

    /// Registers the C code of `deep_copy`, `view`, `shape` and `shape_i` for the user type `name`. It affects only
    /// modules that use these ops on this type.
    #[must_use]
    pub fn with_type_ops(mut self, name: &str, ops: TypeOps) -> Self {
        self.types.register(name, ops);
        self
    }

    /// Returns the user types.
    #[must_use]
    pub fn types(&self) -> &UserTypes {
        &self.types
    }

    /// Sets a profile other than release: `Debug` for debuggers, `Asan` to find invalid memory accesses. The profile is
    /// part of every key.
    #[must_use]
    pub fn with_profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Sets a host other than the precast runtime: CPython, for extension modules of graphs that contain only authors'
    /// ops.
    #[must_use]
    pub fn with_host(self, host: Host) -> Self {
        Self { host, ..self }
    }

    /// Returns the process that loads and calls the modules.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the profile of the modules.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Returns the C side of an op; `None` if its Rust type was not added.
    #[must_use]
    pub fn c_op<'op>(&self, op: &'op dyn Op) -> Option<&'op dyn COp> {
        let any: &dyn Any = op;
        let id = any.type_id();
        let (_, as_c) = self.c_ops.iter().find(|(known, _)| *known == id)?;
        as_c(op)
    }

    /// Returns the factory of a name.
    #[must_use]
    pub fn factory(&self, name: &str) -> Option<&OpFactory> {
        self.factories.get(name)
    }

    /// Returns all names, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.factories.keys().cloned().collect()
    }
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (names, types) = (self.names(), &self.types);
        f.debug_struct("Library").field("names", &names).field("types", types).finish_non_exhaustive()
    }
}

/// Returns the C side of a type; for a user type, the one that `library` has under its name.
///
/// # Errors
/// Returns [`LinkError::NoType`] for a user type that the library does not contain.
pub fn c_type(ty: &Type, library: &Library) -> Result<Arc<dyn CType>, LinkError> {
    match ty {
        Type::Scalar(dtype) => Ok(Arc::new(CScalar(*dtype))),
        Type::User(user) => library
            .types()
            .find(user.name())
            .cloned()
            .ok_or_else(|| LinkError::NoType { ty: ty.to_string(), name: user.name().to_owned() }),
        other => Ok(Arc::new(CTensor(other.dtype()))),
    }
}
