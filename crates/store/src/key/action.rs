//! The inputs of an [`ActionKey`]: everything that can change a byte of the machine code.

use super::{ActionKey, ActionKind, Canonical, ToolchainId, context};

/// Counts up with every change of how an archive is put together: what its manifest says, which files are in it. One action has one
/// result, so this is part of each [`ActionKey`]; it is the `format` of each `manifest.json` too, so that none is without the other.
pub const ARCHIVE_EPOCH: u64 = 2;

/// Everything that can change what comes out of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionInputs {
    /// What is done.
    pub kind: ActionKind,
    /// The BuildKeys of a unit, or the Digests that are linked; their order counts.
    pub inputs: Vec<[u8; 32]>,
    /// The target triple, such as `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// The ISA level, such as `x86-64-v3`.
    pub isa: String,
    /// The full flags that the compiler sees, without absolute paths; their order counts.
    pub flags: Vec<String>,
    /// The toolchain, where one is used.
    pub toolchain: Option<ToolchainId>,
    /// Name → content of what comes from the system, for modules with system libraries; link order counts.
    pub linked: Vec<(String, [u8; 32])>,
}

impl ActionInputs {
    /// Computes how it is made.
    #[must_use]
    pub fn key(&self) -> ActionKey {
        let Self { kind, inputs, target, isa, flags, toolchain, linked } = self;
        let mut encoder =
            Canonical::new(context::ACTION_KEY).u64(ARCHIVE_EPOCH).str(kind.name()).list(inputs.len());
        for input in inputs {
            encoder = encoder.bytes(input);
        }
        encoder = encoder.str(target).str(isa).strs(flags).list(usize::from(toolchain.is_some()));
        if let Some(toolchain) = toolchain {
            encoder = encoder.bytes(toolchain.as_bytes());
        }
        encoder = encoder.list(linked.len());
        for (name, content) in linked {
            encoder = encoder.str(name).bytes(content);
        }
        ActionKey::from_bytes(encoder.finish())
    }
}
