//! A selection of passes by name.

use super::{PASSES, Pass};
use std::str::FromStr;

/// A subset of [`PASSES`], in their order. Parsed from `all`, `none`, names (`order,fuse`), or exclusions
/// (`all,-fuse`).
///
/// # Examples
/// ```
/// use precast_ops::rewrite::{Passes, run};
///
/// let passes: Passes = "all,-fuse,-inplace".parse().unwrap();
/// assert!(passes.iter().all(|pass| pass.name != "fuse"));
/// assert_eq!(
///     "order,fusion".parse::<Passes>().unwrap_err().to_string(),
///     "unknown pass `fusion`, expected one of simplify, merge, constant_fold, copy_outputs, copy_overwritten, order, small_graphs, fuse, row_programs, normalise, inplace"
/// );
/// ```
#[derive(Debug, Clone)]
pub struct Passes(Vec<Pass>);

impl Passes {
    /// Returns the passes with these names, in the order of [`PASSES`].
    ///
    /// # Errors
    /// An unknown name.
    pub fn named(names: &[&str]) -> Result<Self, UnknownPass> {
        names.iter().try_for_each(|name| known(name))?;
        Ok(Self(PASSES.iter().copied().filter(|pass| names.contains(&pass.name)).collect()))
    }

    /// Returns these passes together with the passes that modules rely on.
    #[must_use]
    pub fn with_needed(&self) -> Self {
        let chosen = |pass: &Pass| pass.needed || self.iter().any(|mine| mine.name == pass.name);
        Self(PASSES.iter().copied().filter(chosen).collect())
    }
}

impl Passes {
    /// Returns all of these passes except one.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        Self(self.iter().copied().filter(|pass| pass.name != name).collect())
    }
}

impl Default for Passes {
    fn default() -> Self {
        Self(PASSES.to_vec())
    }
}

impl std::ops::Deref for Passes {
    type Target = [Pass];

    fn deref(&self) -> &[Pass] {
        &self.0
    }
}

impl FromStr for Passes {
    type Err = UnknownPass;

    fn from_str(text: &str) -> Result<Self, UnknownPass> {
        let mut names: Vec<&str> = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match (word, word.strip_prefix('-')) {
                ("all", _) => names.extend(PASSES.iter().map(|pass| pass.name)),
                ("none", _) => names.clear(),
                (_, Some(without)) => {
                    known(without)?;
                    names.retain(|name| *name != without);
                }
                (name, None) => names.push(name),
            }
        }
        Self::named(&names)
    }
}

fn known(name: &str) -> Result<(), UnknownPass> {
    let all = || PASSES.iter().map(|pass| pass.name);
    if all().any(|known| known == name) {
        return Ok(());
    }
    Err(UnknownPass { name: name.to_owned(), known: all().collect::<Vec<_>>().join(", ") })
}

/// Unknown pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown pass `{name}`, expected one of {known}")]
pub struct UnknownPass {
    /// The name.
    pub name: String,
    /// The known names.
    pub known: String,
}
