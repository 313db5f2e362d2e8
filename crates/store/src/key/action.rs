//! The inputs of an [`ActionKey`]: everything that can change a byte of the machine code.

use super::{ActionKey, ActionKind, Canonical, ToolchainId, context};

/// The version of the archive layout: increased with each change of the manifest's content or the set of files. One
/// action has one result, so this number is part of each [`ActionKey`]. It is also the `format` of each
/// `manifest.json`, so the two always change together.
pub const ARCHIVE_EPOCH: u64 = 2;

/// All inputs that can change the output of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionInputs {
    /// The kind of action.
    pub kind: ActionKind,
    /// The BuildKeys of a unit, or the Digests of the linked archives; the order matters.
    pub inputs: Vec<[u8; 32]>,
    /// The target triple, such as `x86_64-unknown-linux-gnu`.
    pub target: String,
    /// The ISA level, such as `x86-64-v3`.
    pub isa: String,
    /// The full compiler flags, without absolute paths; the order matters.
    pub flags: Vec<String>,
    /// The toolchain, if the action uses one.
    pub toolchain: Option<ToolchainId>,
    /// Name and content of each linked system library, for modules with system libraries; the order matters.
    pub linked: Vec<(String, [u8; 32])>,
}

impl ActionInputs {
    /// Computes the action's key.
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
