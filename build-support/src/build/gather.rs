//! Collects the declarations of the script, the package and its dependencies.

use super::environment::Environment;
use super::{Build, BuildError};
use crate::declared::{Declared, Owner, matrix};
use crate::dependencies::{self, Dependencies, DependenciesError, Query};
use crate::manifest::Manifest;
use crate::place::SourceLocation;
use crate::problem::{DeclareError, Problem};
use precast_compile::{ChooseIsaError, Isa, Variant};
use precast_graph::json;
use precast_store::key::{Canonical, Profile};
use std::path::PathBuf;

/// The default manifest.
const MANIFEST: &str = "precast.toml";

/// All declarations, read but not resolved: their content no longer changes and can be hashed.
pub(super) struct Gathered<'b> {
    build: &'b Build,
    /// The package's own manifests.
    own: Vec<Manifest>,
    /// The manifests of dependencies.
    others: Vec<Manifest>,
    pub(super) dependencies: Dependencies,
    pub(super) warnings: Vec<String>,
}

/// Reads all declarations.
pub(super) fn gather<'b>(build: &'b Build, environment: &Environment) -> Result<Gathered<'b>, BuildError> {
    let mut warnings = Vec::new();
    let dependencies = dependencies(environment, &mut warnings)?;
    let mut problems = Vec::new();
    let mut own = Vec::new();
    let file = environment.manifest_dir.join(build.manifest.clone().unwrap_or_else(|| MANIFEST.into()));
    if build.manifest.is_some() || file.is_file() {
        collect(Manifest::read(&file).map(Some), &mut own, &mut problems);
    }
    collect(Manifest::read_metadata(&environment.manifest_dir.join("Cargo.toml")), &mut own, &mut problems);
    let mut others = Vec::new();
    for manifest in &dependencies.declaring {
        collect(Manifest::read_metadata(manifest), &mut others, &mut problems);
    }
    DeclareError::check(problems)?;
    for manifest in others.iter().filter(|manifest| manifest.document().isa.is_some()) {
        warnings.push(format!(
            "{}: `isa` of a dependency is ignored; only the built package sets it",
            manifest.path().display()
        ));
    }
    Ok(Gathered { build, own, others, dependencies, warnings })
}

fn collect(
    read: Result<Option<Manifest>, DeclareError>,
    list: &mut Vec<Manifest>,
    problems: &mut Vec<Problem>,
) {
    match read {
        Ok(manifest) => list.extend(manifest),
        Err(error) => problems.extend(error.problems),
    }
}

/// Queries Cargo for the dependencies. On failure, returns an error if the build is locked; otherwise warns and
/// continues without dependencies.
fn dependencies(environment: &Environment, warnings: &mut Vec<String>) -> Result<Dependencies, BuildError> {
    let query = Query {
        cargo: environment.cargo.clone(),
        manifest_dir: environment.manifest_dir.clone(),
        target: environment.target.clone(),
        features: environment.features.clone(),
        memo: environment.out_dir.join("precast/dependencies.json"),
    };
    match dependencies::collect(&query) {
        Ok(found) if found.unseen.is_empty() => Ok(found),
        Ok(found) if environment.is_locked => Err(BuildError::Unseen { packages: found.unseen }),
        Ok(found) => {
            warnings.push(format!(
                "cannot read the declarations of these dependencies: `{}`\nhint: run `cargo fetch` once",
                found.unseen.join("`, `")
            ));
            Ok(found)
        }
        Err(error @ DependenciesError::Workspace { .. }) => Err(BuildError::Workspace(error)),
        Err(error) if environment.is_locked => Err(BuildError::Dependencies(error)),
        Err(error) => {
            warnings.push(format!(
                "cannot read the declarations of dependencies, building only those of this package: {error}\nhint: \
                 run `cargo fetch` once"
            ));
            let inputs = vec![query.manifest_dir.join("Cargo.toml")];
            Ok(Dependencies { declaring: Vec::new(), inputs, store: None, unseen: Vec::new() })
        }
    }
}

impl Gathered<'_> {
    fn manifests(&self) -> impl Iterator<Item = &Manifest> {
        self.own.iter().chain(&self.others)
    }

    /// Returns whether there are no declarations.
    pub(super) fn is_empty(&self) -> bool {
        let empty = |manifest: &Manifest| {
            let document = manifest.document();
            // A misspelled table counts as a declaration.
            manifest.check_keys().is_ok()
                && document.op.is_empty()
                && document.graph.is_empty()
                && document.external.is_empty()
        };
        let build = self.build;
        let none = build.matrices.is_empty() && build.graphs.is_empty() && build.externals.is_empty();
        none && self.manifests().all(empty)
    }

    /// Appends everything that affects the declarations.
    pub(super) fn hash(&self, encoder: Canonical) -> Canonical {
        let mut encoder = encoder.list(self.build.matrices.len());
        for (name, dtypes, ndim) in &self.build.matrices {
            encoder = encoder.str(name).strs(dtypes).list(ndim.len());
            encoder = ndim.iter().fold(encoder, |encoder, rank| encoder.u64(*rank as u64));
        }
        encoder = encoder.list(self.build.graphs.len());
        for (name, graph, serve) in &self.build.graphs {
            let serve: Vec<String> = serve.iter().map(|serve| serve.name().to_owned()).collect();
            encoder = encoder.str(name).str(&json::render(graph)).strs(&serve);
        }
        encoder = encoder.list(self.build.externals.len());
        for external in &self.build.externals {
            // All fields by name and value; the generator, which is hashed too, interprets them.
            encoder = encoder.str(&format!("{external:?}"));
        }
        encoder = encoder.list(self.manifests().count());
        self.manifests().fold(encoder, |encoder, manifest| manifest.hash(encoder))
    }

    /// Resolves all valid declarations, and returns the problems of the rest.
    pub(super) fn declare(&self) -> (Declared, Vec<Problem>) {
        let (mut declared, mut problems) = (Declared::new(self.build.ops.clone()), Vec::new());
        let externals = self.build.externals.iter();
        let script: Vec<String> = externals.map(|external| external.declaration.name.clone()).collect();
        for (name, dtypes, ndim) in &self.build.matrices {
            let place = SourceLocation::in_build("op", name);
            let dtypes: Vec<(&str, SourceLocation)> =
                dtypes.iter().map(|dtype| (dtype.as_str(), place.key("dtypes"))).collect();
            let ndim: Vec<(usize, SourceLocation)> =
                ndim.iter().map(|rank| (*rank, place.key("ndim"))).collect();
            let (mut matrix, found) = matrix(name, &dtypes, &ndim, place);
            matrix.is_own = script.contains(name);
            declared.op(matrix);
            problems.extend(found);
        }
        for (name, graph, serve) in &self.build.graphs {
            let place = SourceLocation::in_build("graph", name);
            problems.extend(declared.graph_served(name, graph.clone(), serve, place).err());
        }
        for external in &self.build.externals {
            problems.extend(external.declare(&mut declared));
        }
        // Declares the ops of all manifests before the graphs that may call them.
        let owned = [(Owner::Package, &self.own), (Owner::Dependency, &self.others)];
        for (owner, manifests) in owned {
            declared.set_owner(owner);
            manifests.iter().for_each(|manifest| problems.extend(manifest.declare_ops(&mut declared)));
        }
        for (owner, manifests) in owned {
            declared.set_owner(owner);
            let script = if owner == Owner::Package { script.as_slice() } else { &[] };
            manifests
                .iter()
                .for_each(|manifest| problems.extend(manifest.declare_uses(&mut declared, script)));
        }
        (declared, problems)
    }

    /// Returns the variants to compile for. The ISA levels come from `PRECAST_ISA`, else from the script, else from
    /// the package's manifests, else from the target's defaults.
    pub(super) fn variants(&self, environment: &Environment) -> Result<Vec<Variant>, BuildError> {
        let parse = |place: &str, names: &[&str]| -> Result<Vec<Isa>, BuildError> {
            let refused = |error: precast_compile::ParseIsaError| BuildError::Isa {
                place: place.to_owned(),
                message: error.to_string(),
            };
            names.iter().map(|name| name.trim().parse().map_err(refused)).collect()
        };
        let (place, levels) = if let Some(text) = &environment.isa {
            ("`PRECAST_ISA`", parse("`PRECAST_ISA`", &text.split(',').collect::<Vec<_>>())?)
        } else if let Some(names) = &self.build.isa {
            ("`Build::isa`", parse("`Build::isa`", &names.iter().map(String::as_str).collect::<Vec<_>>())?)
        } else {
            let stated = self.own.iter().map(Manifest::isa).find_map(Result::transpose).transpose()?;
            ("`isa` of the manifest", stated.unwrap_or_default())
        };
        let refused =
            |error: ChooseIsaError| BuildError::Isa { place: place.to_owned(), message: error.to_string() };
        Variant::choose(levels, &environment.target, Profile::Release).map_err(refused)
    }

    /// Returns the lowest version of glibc, from the package's manifests.
    pub(super) fn glibc(&self) -> Option<&str> {
        self.own.iter().find_map(Manifest::glibc)
    }

    /// Returns the files that were read.
    pub(super) fn inputs(&self) -> Vec<PathBuf> {
        let mut inputs = self.dependencies.inputs.clone();
        inputs.extend(self.manifests().flat_map(Manifest::inputs));
        inputs.sort();
        inputs.dedup();
        inputs
    }
}
