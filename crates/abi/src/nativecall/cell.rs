//! Publishes the current table of a callable and adds entries to it.

use super::encoding::{Encoding, Key, NOWHERE, Text};
use super::table::Table;
use super::words::{AtomicPtr, Mutex, Ordering, Word};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::PoisonError;

/// The number of words in the first allocation: enough for a few short signatures and the terminator.
const FIRST: usize = 8;

/// The current table of a callable (`pc_native_cell`). Readers take no lock.
///
/// # Examples
/// ```
/// use precast_abi::nativecall::{Key, TableCell, Text};
/// const WANTED: Key<Text> = Key::<Text>::literal("dd)d~");
/// let cell = TableCell::<Text>::new();
/// cell.add(Key::<Text>::literal("dd)d~"), 7);
/// assert_eq!(cell.table().find(&WANTED), Some(7));
/// ```
#[repr(C)]
pub struct TableCell<E: Encoding = Text> {
    current: AtomicPtr<Word>,
    writing: Mutex<Writing<E>>,
}

/// The state of writers, guarded by their lock.
struct Writing<E: Encoding> {
    /// All allocations, the current one last. The published pointer may point anywhere into the current one.
    memories: Vec<Memory>,
    /// The number of free words at the start of the current allocation.
    free: usize,
    /// Values that keep the words of keys valid.
    held: Vec<E::Held>,
}

// SAFETY: words are written under the lock and before they are published; the held values are only stored.
unsafe impl<E: Encoding> Send for TableCell<E> {}
// SAFETY: as for `Send`.
unsafe impl<E: Encoding> Sync for TableCell<E> {}

impl<E: Encoding> TableCell<E> {
    /// Creates a cell with an empty table.
    #[must_use]
    pub fn new() -> Self {
        let memory = Memory::new(FIRST);
        // Reserves two words for the terminator, so that entries start at multiples of 16 bytes.
        let free = FIRST - 2;
        let current = AtomicPtr::new(memory.words()[free..].as_ptr().cast_mut());
        Self { current, writing: Mutex::new(Writing { memories: vec![memory], free, held: Vec::new() }) }
    }

    /// Returns the current table.
    #[must_use]
    #[inline]
    pub fn table(&self) -> Table<'_, E> {
        // Pairs with the store in `add`: a reader that sees the new start also sees the words after it.
        Table { start: self.current.load(Ordering::Acquire), of: PhantomData }
    }

    /// Adds an entry, which takes precedence over older entries of the same signature. A key that the registry rejected
    /// is ignored.
    pub fn add(&self, key: Key<E>, payload: u64) {
        if key.words()[0] == NOWHERE {
            return;
        }
        let label = E::label(&key);
        let (needle, held) = key.into_parts();
        let entry = needle.words().iter().copied().chain(label).chain([payload]);
        let len = needle.words().len() + usize::from(label.is_some()) + 1;
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if writing.free < len {
            writing.grow(len);
        }
        writing.held.push(held);
        writing.free -= len;
        let Some(memory) = writing.memories.last() else { return };
        let place = &memory.words()[writing.free..];
        for (word, value) in place.iter().zip(entry) {
            // SAFETY: these words precede every table start published in this allocation, and the lock excludes other
            // writers. Readers reach them only through the store below.
            unsafe { word.set(value) };
        }
        self.current.store(place.as_ptr().cast_mut(), Ordering::Release);
    }

    /// Returns the bytes of the current allocation, and of the old allocations kept for slow readers.
    #[must_use]
    pub fn memory_bytes(&self) -> (usize, usize) {
        let writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let sizes = || writing.memories.iter().map(|memory| size_of_val(memory.words()));
        let used = sizes().next_back().unwrap_or(0);
        (used, sizes().sum::<usize>() - used)
    }
}

impl<E: Encoding> Writing<E> {
    /// Moves the entries to the end of a new allocation that is at least twice as large and has room for `more` words.
    fn grow(&mut self, more: usize) {
        let Some(old) = self.memories.last().map(Memory::words) else { return };
        let used = old.len() - self.free;
        let new = Memory::new((2 * old.len()).max(used + more));
        let free = new.words().len() - used;
        for (from, to) in old[self.free..].iter().zip(&new.words()[free..]) {
            // SAFETY: the words of a table are never written after publication.
            let value = unsafe { Word::get(from) };
            // SAFETY: the new allocation is not yet shared with other threads.
            unsafe { to.set(value) };
        }
        self.memories.push(new);
        self.free = free;
    }
}

/// Words whose address does not change when this value is moved, since readers hold pointers to them.
struct Memory(NonNull<[Word]>);

impl Memory {
    /// Allocates zeroed words.
    fn new(words: usize) -> Self {
        let words: Box<[Word]> = (0..words).map(|_| Word::default()).collect();
        Self(NonNull::from(Box::leak(words)))
    }

    fn words(&self) -> &[Word] {
        // SAFETY: `new` leaked a box at this address, which is freed only when this value is dropped.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: as in `words`. Readers borrow the cell that owns this memory, so none are left.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl<E: Encoding> Default for TableCell<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Encoding> std::fmt::Debug for TableCell<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableCell").field("memory_bytes", &self.memory_bytes()).finish()
    }
}
