//! Mirrors `precast/module.h`. The header documents the fields.
#![allow(missing_docs, reason = "the header documents the fields; they are repeated here one to one")]

use crate::context::Context;
use crate::tensor::{Instance, Object};
use std::ffi::{c_char, c_int};

/// The first word of every module table (`PC_MODULE_MAGIC`).
pub const MAGIC: u32 = 0x3154_4343;

/// The only symbol that a shared object exports, NUL-terminated.
pub const SYMBOL: &[u8] = b"precast_module_v1\0";

/// `pc_task_kind`: the step of a run that a failure ID belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskKind {
    /// Extracting or initializing a variable.
    Extract,
    /// Running the code of an Apply.
    Code,
    /// Syncing a variable.
    Sync,
    /// Initializing the state of an Apply.
    Struct,
}

impl TaskKind {
    /// Returns the name of the enumerator in `module.h`.
    #[must_use]
    pub const fn c_name(self) -> &'static str {
        match self {
            Self::Extract => "PC_TASK_EXTRACT",
            Self::Code => "PC_TASK_CODE",
            Self::Sync => "PC_TASK_SYNC",
            Self::Struct => "PC_TASK_STRUCT",
        }
    }

    /// Returns the kind for a value of the C enum.
    #[must_use]
    pub const fn from_code(code: i32) -> Option<Self> {
        match code {
            1 => Some(Self::Extract),
            2 => Some(Self::Code),
            3 => Some(Self::Sync),
            4 => Some(Self::Struct),
            _ => None,
        }
    }
}

/// `pc_task`: the meaning of one failure ID.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Task {
    pub kind: i32,
    pub apply: i32,
    pub variable: i32,
}

/// `pc_entry.load`.
pub type LoadFn = unsafe extern "C" fn(*mut Context) -> c_int;
/// `pc_entry.init`.
pub type InitFn = unsafe extern "C" fn(*mut Instance, *mut Context, *const *mut Object) -> c_int;
/// `pc_entry.run`.
pub type RunFn = unsafe extern "C" fn(*mut Instance, *mut Context, *mut *mut Object) -> c_int;
/// `pc_entry.cleanup`.
pub type CleanupFn = unsafe extern "C" fn(*mut Instance, *mut Context);

/// `pc_entry.function`, whose actual signature is `pc_entry.native`.
pub type NativeFn = unsafe extern "C" fn();

/// `pc_entry`: one callable graph.
#[repr(C)]
#[derive(Debug)]
pub struct ModuleEntry {
    pub key: [u8; 32],
    pub signature: *const c_char,
    pub native: *const c_char,
    pub instance_bytes: u32,
    pub n_inputs: u32,
    pub n_outputs: u32,
    pub n_slots: u32,
    pub n_tasks: u32,
    pub reserved: u32,
    pub tasks: *const Task,
    pub load: Option<LoadFn>,
    pub init: Option<InitFn>,
    pub run: Option<RunFn>,
    pub cleanup: Option<CleanupFn>,
    pub function: Option<NativeFn>,
}

/// `pc_module`: the exported table of a shared object.
#[repr(C)]
#[derive(Debug)]
pub struct Module {
    pub magic: u32,
    pub abi_version: u32,
    pub module_bytes: u32,
    pub entry_bytes: u32,
    pub tensor_bytes: u32,
    pub host_bytes: u32,
    pub context_bytes: u32,
    pub n_entries: u32,
    pub entries: *const *const ModuleEntry,
}

/// `pc_linked`: one artifact of a statically linked program, from `precast/linked.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Linked {
    pub digest: [u8; 32],
    pub module: *const Module,
}
