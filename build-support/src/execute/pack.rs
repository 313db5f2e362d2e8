//! Packs: the artifacts of a variant, joined into a few shared objects of limited size.
//!
//! The grouping depends only on the artifacts, in the order of units. An artifact that needs a system library stays
//! separate, because the library may be missing at run time. A corrupt or rejected pack makes all of its modules
//! unavailable, so packs are small.

use super::{Artifact, ExecuteError, Library};
use precast_compile::{Compiled, Part, Toolchain, can_be_joined, join, static_library};
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use std::collections::BTreeSet;

/// The machine code that is read, hashed and loaded at once, in bytes; it takes a quarter of a millisecond.
pub(super) const LIMIT: usize = 1 << 20;

/// Joins artifacts, which needs a compiler; artifacts that cannot be joined, or are alone, are returned unchanged.
pub(super) fn packs(
    artifacts: &[Artifact],
    toolchain: Option<&Toolchain>,
) -> Result<Vec<Artifact>, ExecuteError> {
    let mut packs = Vec::new();
    let mut open: Vec<Vec<&Artifact>> = Vec::new();
    for artifact in artifacts {
        if !can_be_joined(&artifact.record) {
            packs.push(artifact.clone());
            continue;
        }
        match open.iter_mut().find(|pack| is_alike(pack[0], artifact)) {
            Some(pack) if size(pack) + artifact.object.len() <= LIMIT => pack.push(artifact),
            Some(pack) => packs.push(close(&std::mem::replace(pack, vec![artifact]), toolchain)?),
            None => open.push(vec![artifact]),
        }
    }
    for pack in open {
        packs.push(close(&pack, toolchain)?);
    }
    Ok(packs)
}

fn is_alike(a: &Artifact, b: &Artifact) -> bool {
    a.variant == b.variant && a.record.language == b.record.language
}

fn size(pack: &[&Artifact]) -> usize {
    pack.iter().map(|artifact| artifact.object.len()).sum()
}

fn close(pack: &[&Artifact], toolchain: Option<&Toolchain>) -> Result<Artifact, ExecuteError> {
    if let [alone] = pack {
        return Ok((*alone).clone());
    }
    let toolchain = toolchain.ok_or(ExecuteError::NoLinker { units: pack.len() })?;
    let parts: Vec<Part<'_>> =
        pack.iter().map(|Artifact { record, object, .. }| Part { record, object }).collect();
    let variant = &pack[0].variant;
    let Compiled { mut archive, record } =
        join(&parts, toolchain, variant).map_err(|source| ExecuteError::Join { isa: variant.isa, source })?;
    let mut file = |name| archive.members.remove(name).unwrap_or_default();
    Ok(Artifact {
        record,
        variant: variant.clone(),
        object: file(OBJECT),
        shared_object: file(SHARED_OBJECT),
    })
}

/// Builds a static library of all packs, for a static program.
pub(super) fn library(packs: &[Artifact], toolchain: &Toolchain) -> Result<Library, ExecuteError> {
    let mut system_libraries = BTreeSet::new();
    for pack in packs {
        system_libraries.extend(system(pack)?);
    }
    let Some(first) = packs.first() else { return Ok(Library::default()) };
    let objects: Vec<_> = packs.iter().map(|pack| (pack.record.digest, &*pack.object)).collect();
    let refused = |source| ExecuteError::Join { isa: first.variant.isa, source };
    let bytes = static_library(&objects, toolchain, &first.variant).map_err(refused)?;
    Ok(Library { bytes, system_libraries: system_libraries.into_iter().collect() })
}

/// Returns the linker names of the system libraries that an artifact needs.
fn system(pack: &Artifact) -> Result<Vec<&'static str>, ExecuteError> {
    let record = &pack.record;
    let mut names = Vec::new();
    for soname in &record.requires.needed {
        match soname.split(".so").next().unwrap_or_default() {
            // Every program links these.
            "libc" | "libm" | "libgcc_s" | "ld-linux-x86-64" | "ld-linux-aarch64" => {}
            "libstdc++" => names.push("stdc++"),
            _ => {
                let signature = record.members.first().map(|member| member.signature.clone());
                let signature = signature.unwrap_or_default();
                return Err(ExecuteError::Static { signature, library: soname.clone() });
            }
        }
    }
    Ok(names)
}
