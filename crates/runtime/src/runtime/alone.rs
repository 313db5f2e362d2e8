//! Looks up the module of a single Apply, for debug mode.

use super::Runtime;
use crate::error::FunctionError;
#[cfg(feature = "jit")]
use crate::policy::Policy;
use crate::resolve::Names;
use precast_codegen::{Module, link};
use precast_core::native::LoadedModule;
use precast_graph::FunctionGraph;
use std::sync::Arc;

impl Runtime {
    /// Returns the module of a graph of one Apply: from a layer, or compiled if the policy compiles.
    pub(crate) fn module_of(&self, alone: &FunctionGraph) -> Result<Option<LoadedModule>, FunctionError> {
        let generate = || Ok(link(alone, self.ops.c())?);
        let (key, module) = self.resolver.key(alone, &self.ops, generate)?;
        let again = &mut || module.clone().or_else(|| link(alone, self.ops.c()).ok()).map(Arc::new);
        if let Some((module, _)) = self.resolver.resolve(&key, Names::default(), again)? {
            return Ok(Some(module));
        }
        self.compile_alone(alone, module)
    }

    #[cfg(feature = "jit")]
    fn compile_alone(
        &self,
        alone: &FunctionGraph,
        module: Option<Module>,
    ) -> Result<Option<LoadedModule>, FunctionError> {
        let compiles = match self.policy {
            Policy::Auto => crate::jit::no_compiler().is_none(),
            policy => policy.compiles(),
        };
        if !compiles {
            return Ok(None);
        }
        let module = module.map_or_else(|| link(alone, self.ops.c()), Ok)?;
        let fingerprint = precast_ops::fingerprint(alone, &self.ops);
        Ok(Some(
            crate::jit::make(&self.engine, &Arc::new(module), fingerprint, &self.resolver, Names::default())?
                .0,
        ))
    }

    #[cfg(not(feature = "jit"))]
    fn compile_alone(
        &self,
        _alone: &FunctionGraph,
        _module: Option<Module>,
    ) -> Result<Option<LoadedModule>, FunctionError> {
        Ok(None)
    }
}
