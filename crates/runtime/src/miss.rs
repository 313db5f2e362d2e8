//! A miss: what was wanted, what is nearest, and what differs.
//!
//! `inventory` fills it. A new reason is a field here, its words in `Display`, and what sets it there.

use precast_ops::OtherVersion;
use precast_store::key::{Diff, StaleVersion};
use precast_store::{BuildKey, Unmet};
use std::fmt;

/// What no layer has.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    /// Printable signature of the module.
    pub signature: String,
    /// Its key.
    pub key: BuildKey,
    /// The nearest module in any layer, with what differs; `None` when none is near.
    pub nearest: Option<(String, Diff)>,
    /// The layer whose module is the nearest, and the other version of precast that made it, where that may be all that differs.
    pub other_version: Option<(String, OtherVersion)>,
    /// How many modules the layers hold.
    pub known: usize,
    /// Variants of this very module that this host cannot run: ISA level, and what is missing.
    pub inadmissible: Vec<(String, Unmet)>,
    /// What kept a module that is there from being used: damage, or a refusal of the dynamic linker.
    pub unusable: Option<String>,
    /// Ops whose C changed while their version did not: what layers have of them is not used.
    pub stale: Vec<StaleVersion>,
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "miss: `{}`", self.signature)?;
        for (isa, unmet) in &self.inadmissible {
            write!(f, "; the `{isa}` variant {unmet}")?;
        }
        if let Some(reason) = &self.unusable {
            write!(f, "; a layer has it, but {reason}")?;
        }
        match self.version() {
            Some((layer, version)) => {
                // Of other text alone the version may not be the reason.
                if self.nearest.as_ref().is_none_or(|(_, diff)| diff.of_version() != Some(true)) {
                    self.nearest_of(f)?;
                }
                write!(f, "; what {layer} has was made by {version}\n{}", OtherVersion::HINT)?;
            }
            None => self.nearest_of(f)?,
        }
        self.stale.iter().try_for_each(|stale| write!(f, "\n{stale}"))
    }
}

impl Miss {
    /// The other version of precast that is to blame, with its layer; none where something else kept the module from being used.
    #[must_use]
    pub fn version(&self) -> Option<&(String, OtherVersion)> {
        self.other_version.as_ref().filter(|_| self.unusable.is_none() && self.inadmissible.is_empty())
    }

    fn nearest_of(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.nearest {
            _ if self.unusable.is_some() => Ok(()),
            _ if !self.inadmissible.is_empty() => Ok(()),
            None if self.known == 0 => f.write_str("; the layers hold no module at all"),
            None => write!(f, "; none of the {} modules that the layers hold is near", self.known),
            Some((signature, diff)) if diff.differences.is_empty() => write!(f, "; nearest `{signature}`"),
            Some((signature, diff)) => {
                let diff = diff.to_string();
                // A difference in an op names it already.
                if diff.starts_with(&format!("`{signature}`")) {
                    write!(f, "; nearest {diff}")
                } else {
                    write!(f, "; nearest `{signature}`: {diff}")
                }
            }
        }
    }
}
