//! A loaded shared object: verified bytes that were sealed, opened, and checked by the handshake.

use super::error::{LoadLibraryError, is_limit};
use super::profiling::{self, Label};
use super::stage::{Staged, check_size};
use crate::event::chain;
use crate::native::host;
use crate::native::host::DefaultFloats;
use crate::native::kernels::{Captured, Captures, capture};
use crate::{Array, BuildKey, DType};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use precast_abi::context::Host;
use precast_abi::module::{MAGIC, Module, ModuleEntry, SYMBOL};
use std::io;
use std::mem::offset_of;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A loaded shared object. Its code stays mapped as long as anything refers to it.
#[derive(Debug)]
pub struct LoadedLibrary {
    entries: Vec<TableRow>,
    // Dropped last, because everything else points into it. `None` if the module is linked into the program.
    _library: Option<Library>,
}

/// An entry of a module table, in the memory of its shared object.
#[derive(Debug)]
struct TableRow {
    entry: *const ModuleEntry,
    /// The result of `load`, if it ran.
    loaded: OnceLock<Result<(), String>>,
    /// The captured driver calls of the module.
    captures: Captures,
}

// SAFETY: entries are read-only data; `loaded` is synchronised.
unsafe impl Send for TableRow {}
// SAFETY: as above.
unsafe impl Sync for TableRow {}

/// One callable graph of a loaded shared object.
#[derive(Debug, Clone)]
pub struct LoadedModule {
    library: Arc<LoadedLibrary>,
    slot: usize,
}

impl LoadedLibrary {
    /// Loads `bytes`, which the caller has verified. If `profiling` is set, loads them from a file in that directory.
    ///
    /// # Errors
    /// No file can be created, the dynamic linker rejects it, or the module table does not match this host.
    pub fn load(
        bytes: &[u8],
        label: &Label<'_>,
        profiling: Option<&Path>,
    ) -> Result<Arc<Self>, LoadLibraryError> {
        let library = match profiling {
            Some(directory) => open_named(bytes, label, directory)?,
            None => open_bytes(bytes, label)?,
        };
        // SAFETY: the symbol is the module table of the contract; its fields are checked before use.
        let symbol = unsafe { library.get::<*const Module>(SYMBOL) }.map_err(LoadLibraryError::Open)?;
        let module = symbol.into_raw().cast_const().cast::<Module>();
        // SAFETY: `handshake` reads no further than the fields it has checked.
        let entries = unsafe { handshake(module)? };
        Ok(Arc::new(Self { entries, _library: Some(library) }))
    }

    /// Wraps a module table that is part of the program.
    ///
    /// # Safety
    /// `module` is the table of a module that is never moved or unloaded.
    pub(super) unsafe fn linked(module: *const Module) -> Result<Arc<Self>, LoadLibraryError> {
        // SAFETY: as above; `handshake` reads no further than the fields it has checked.
        let entries = unsafe { handshake(module)? };
        Ok(Arc::new(Self { entries, _library: None }))
    }

    /// Returns the entry in `slot` if it has this key, and runs its module's initialisation on first use.
    ///
    /// # Errors
    /// The slot has another key, or the initialisation failed.
    pub fn module(self: &Arc<Self>, slot: u32, key: &BuildKey) -> Result<LoadedModule, LoadLibraryError> {
        let out_of_range = || LoadLibraryError::Handshake {
            what: "the number of entries",
            found: self.entries.len().to_string(),
            expected: format!("more than {slot}"),
        };
        let slot = slot as usize;
        let entry = self.entries.get(slot).ok_or_else(out_of_range)?;
        // SAFETY: the handshake found a non-NULL pointer into the mapped object.
        let data = unsafe { &*entry.entry };
        if &data.key != key.as_bytes() {
            return Err(LoadLibraryError::Handshake {
                what: "the key of the slot",
                found: BuildKey::from_bytes(data.key).to_string(),
                expected: key.to_string(),
            });
        }
        let loaded = entry.loaded.get_or_init(|| initialise(data));
        loaded.clone().map_err(|message| LoadLibraryError::Init { message })?;
        Ok(LoadedModule { library: Arc::clone(self), slot })
    }
}

impl LoadedModule {
    /// Creates a module without an entry, for tests that have their own kernels.
    #[cfg(test)]
    pub(crate) fn of_this_program() -> Self {
        let library = LoadedLibrary { entries: Vec::new(), _library: None };
        Self { library: Arc::new(library), slot: 0 }
    }

    /// Returns the module's table entry.
    pub(crate) fn row(&self) -> &ModuleEntry {
        // SAFETY: the handshake found a non-NULL pointer into the object, which stays mapped while `self.library` lives.
        unsafe { &*self.library.entries[self.slot].entry }
    }

    /// Returns the driver calls of the module with these slots and inputs; see `capture`.
    pub fn captured(&self, slots: &[Array], inputs: &[(DType, usize)]) -> Option<Arc<Captured>> {
        self.library.entries[self.slot].captures.get(slots, inputs, || capture(self, slots, inputs))
    }

    /// Returns the task for a failure id of this entry.
    pub(crate) fn task(&self, id: i32) -> Option<precast_abi::module::Task> {
        let entry = self.row();
        let id = u32::try_from(id).ok().filter(|id| *id < entry.n_tasks)?;
        // SAFETY: the header promises `n_tasks` tasks.
        let tasks = unsafe { std::slice::from_raw_parts(entry.tasks, entry.n_tasks as usize) };
        tasks.get(id as usize).copied()
    }
}

/// Opens a shared object from memory, or from a private file if that is not possible.
fn open_bytes(bytes: &[u8], label: &Label<'_>) -> Result<Library, LoadLibraryError> {
    check_size(bytes)?;
    let memory = match Staged::in_memory(bytes, &label.memory()) {
        Err(memory) => memory,
        Ok(staged) => match open(staged.path()) {
            // The linker opens the file a second time. A private file is not kept open, so it needs one descriptor less.
            Err(LoadLibraryError::Open(error)) if is_limit(&error) || !staged.can_be_executed() => {
                io::Error::other(chain(&error))
            }
            opened => return opened,
        },
    };
    let staged = Staged::private(bytes, memory)?;
    match open(staged.path()) {
        Err(LoadLibraryError::Open(source)) if !staged.can_be_executed() => {
            Err(LoadLibraryError::NotExecutable { directory: std::env::temp_dir(), source })
        }
        opened => opened,
    }
}

/// Opens a shared object from a file that profilers can read.
fn open_named(bytes: &[u8], label: &Label<'_>, directory: &Path) -> Result<Library, LoadLibraryError> {
    check_size(bytes)?;
    let path = profiling::write(directory, bytes, label)
        .map_err(|source| LoadLibraryError::Profiling { directory: directory.to_owned(), source })?;
    open(&path)
}

fn open(path: &Path) -> Result<Library, LoadLibraryError> {
    // SAFETY: the caller verified the bytes, and other users cannot write to the file; modules have no static initialisers.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(LoadLibraryError::Open)
}

/// Checks the module table field by field, before anything beyond it is read.
///
/// # Safety
/// `module` is the symbol of a mapped object.
unsafe fn handshake(module: *const Module) -> Result<Vec<TableRow>, LoadLibraryError> {
    // SAFETY: the object is mapped; a symbol with this name begins with these two words in every version of the table.
    let [magic, version] = unsafe { module.cast::<[u32; 2]>().read() };
    check("magic", magic, MAGIC)?;
    check("the ABI's major version", version >> 16, precast_abi::ABI_VERSION >> 16)?;
    if !(precast_abi::ABI_OLDEST..=precast_abi::ABI_VERSION).contains(&version) {
        let expected = format!("{:#x} to {:#x}", precast_abi::ABI_OLDEST, precast_abi::ABI_VERSION);
        return Err(LoadLibraryError::Handshake {
            what: "the ABI version",
            found: format!("{version:#x}"),
            expected,
        });
    }
    // SAFETY: the version is one whose table has these fields.
    let module = unsafe { &*module };
    check("sizeof(pc_module)", module.module_bytes, size_of::<Module>() as u32)?;
    check("sizeof(pc_entry)", module.entry_bytes, size_of::<ModuleEntry>() as u32)?;
    check("sizeof(pc_tensor)", module.tensor_bytes, size_of::<precast_abi::tensor::Tensor>() as u32)?;
    check("sizeof(pc_host)", module.host_bytes, host_bytes(version))?;
    check("sizeof(pc_context)", module.context_bytes, size_of::<precast_abi::context::Context>() as u32)?;
    // SAFETY: the table declares `n_entries` pointers in `entries`.
    let entries = unsafe { std::slice::from_raw_parts(module.entries, module.n_entries as usize) };
    entries.iter().map(|entry| complete(*entry)).collect()
}

/// Returns the size of `pc_host` in a version: fields are only ever appended.
const fn host_bytes(version: u32) -> u32 {
    let size = if version < 0x0001_0006 { offset_of!(Host, cancelled) } else { size_of::<Host>() };
    size as u32
}

/// Checks that an entry has the functions that every entry must have.
fn complete(entry: *const ModuleEntry) -> Result<TableRow, LoadLibraryError> {
    // SAFETY: `as_ref` excludes NULL; otherwise the table points to an entry of this version.
    let whole = unsafe { entry.as_ref() }
        .is_some_and(|e| e.init.is_some() && e.run.is_some() && e.cleanup.is_some() && !e.native.is_null());
    if whole {
        return Ok(TableRow { entry, loaded: OnceLock::new(), captures: Captures::default() });
    }
    let (found, expected) = ("incomplete".to_owned(), "init, run and cleanup".to_owned());
    Err(LoadLibraryError::Handshake { what: "an entry", found, expected })
}

fn check(what: &'static str, found: u32, expected: u32) -> Result<(), LoadLibraryError> {
    if found == expected {
        return Ok(());
    }
    Err(LoadLibraryError::Handshake {
        what,
        found: format!("{found:#x}"),
        expected: format!("{expected:#x}"),
    })
}

/// Runs the module's initialisation.
fn initialise(entry: &ModuleEntry) -> Result<(), String> {
    let Some(load) = entry.load else { return Ok(()) };
    let _floats = DefaultFloats::set();
    let mut ctx = host::context();
    // SAFETY: the handshake established the version of this function's contract.
    let failure = unsafe { load(&raw mut ctx) };
    if failure == 0 { Ok(()) } else { Err(ctx.error.message()) }
}
