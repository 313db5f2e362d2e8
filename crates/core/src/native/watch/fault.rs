//! Catches signals and finds the memory that they concern.
//!
//! Regions are listed in a table that a signal handler can read: rows of atomics, without locks or allocation.

use super::child::Mailbox;
use super::region::Role;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering::Relaxed};

/// The side of its memory that an access was on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The number of bytes before the first byte.
    Before(usize),
    /// The number of bytes after the last byte; 0 for the first byte outside.
    After(usize),
}

/// The reason why a child ended before its work was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An access next to known memory.
    Outside(Role, Side),
    /// An access to freed memory.
    Freed(Role),
    /// A signal without a known address, by its name in C.
    Signal(&'static str),
    /// The trial exceeded the time limit.
    TimeOut,
    /// The trial exceeded the time limit and ignored its alarm.
    Stuck,
    /// The process exited with this status.
    Exit(i32),
}

/// A region, as the handler sees it. `map_bytes` is 0 in a free row.
struct Row {
    map: AtomicUsize,
    map_bytes: AtomicUsize,
    data: AtomicUsize,
    data_bytes: AtomicUsize,
    role: AtomicU32,
    freed: AtomicU32,
}

const ROWS: usize = 1024;

static WATCHED: [Row; ROWS] = [const {
    Row {
        map: AtomicUsize::new(0),
        map_bytes: AtomicUsize::new(0),
        data: AtomicUsize::new(0),
        data_bytes: AtomicUsize::new(0),
        role: AtomicU32::new(0),
        freed: AtomicU32::new(0),
    }
}; ROWS];

/// The mailbox for the findings of the handler.
static MAILBOX: AtomicPtr<Mailbox> = AtomicPtr::new(ptr::null_mut());

/// Adds a region. Returns `None` if the table is full; faults in the region then have an unknown address.
pub(super) fn watch(
    role: Role,
    map: usize,
    map_bytes: usize,
    data: usize,
    data_bytes: usize,
) -> Option<usize> {
    let free = |row: &Row| row.map_bytes.compare_exchange(0, map_bytes, Relaxed, Relaxed).is_ok();
    let at = WATCHED.iter().position(free)?;
    let row = &WATCHED[at];
    row.map.store(map, Relaxed);
    row.data.store(data, Relaxed);
    row.data_bytes.store(data_bytes, Relaxed);
    row.role.store(code(role), Relaxed);
    row.freed.store(0, Relaxed);
    Some(at)
}

/// Marks the memory of a row as freed.
pub(super) fn freed(row: Option<usize>) {
    if let Some(row) = row {
        WATCHED[row].freed.store(1, Relaxed);
    }
}

/// Removes a region.
pub(super) fn forget(row: Option<usize>) {
    if let Some(row) = row {
        WATCHED[row].map_bytes.store(0, Relaxed);
    }
}

/// The reported signals, with their names in C.
const SIGNALS: [(libc::c_int, &str); 6] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGALRM, "SIGALRM"),
];

/// Size of the handler's stack, in bytes. The usual stack may have overflowed.
const STACK_BYTES: usize = 64 * 1024;

/// Reports the next signal of this process in `mailbox`, and exits.
///
/// # Safety
/// `mailbox` lives as long as the process.
pub(super) unsafe fn report_to(mailbox: *mut Mailbox) -> io::Result<()> {
    MAILBOX.store(mailbox, Relaxed);
    let memory = Box::leak(vec![0_u8; STACK_BYTES].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
    // SAFETY: the stack is memory of the stated size that is never freed.
    if unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    for (signal, _) in SIGNALS {
        // SAFETY: all bits zero are a valid `sigaction`: no handler, no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        // SAFETY: the handler has the signature that SA_SIGINFO requires, and calls only async-signal-safe functions.
        if unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Records the signal and exits. Uses only atomics and `_exit`.
unsafe extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: `report_to` stored a mailbox that lives as long as the process.
    if let Some(mailbox) = unsafe { MAILBOX.load(Relaxed).as_ref() } {
        mailbox.signal.store(signal, Relaxed);
        if signal == libc::SIGSEGV || signal == libc::SIGBUS {
            // SAFETY: the kernel passes a valid `siginfo_t` to a handler with SA_SIGINFO.
            let info = unsafe { &*info };
            // SAFETY: these signals set the address.
            let address = unsafe { info.si_addr() }.addr();
            locate(mailbox, address);
        }
    }
    // SAFETY: exits the process.
    unsafe { libc::_exit(1) };
}

const BEFORE: u32 = 1;
const AFTER: u32 = 2;
const FREED: u32 = 3;

/// Records the region that contains an address.
fn locate(mailbox: &Mailbox, address: usize) {
    for row in &WATCHED {
        let (map, bytes) = (row.map.load(Relaxed), row.map_bytes.load(Relaxed));
        if bytes == 0 || address < map || address - map >= bytes {
            continue;
        }
        let (data, end) = (row.data.load(Relaxed), row.data.load(Relaxed) + row.data_bytes.load(Relaxed));
        let (side, distance) = match address {
            _ if row.freed.load(Relaxed) != 0 => (FREED, 0),
            _ if address < data => (BEFORE, data - address),
            _ => (AFTER, address.saturating_sub(end)),
        };
        mailbox.role.store(row.role.load(Relaxed), Relaxed);
        mailbox.side.store(side, Relaxed);
        mailbox.distance.store(distance, Relaxed);
        return;
    }
}

/// Returns the fault that the handler recorded, if it ran.
pub(super) fn read(mailbox: &Mailbox) -> Option<Fault> {
    let signal = mailbox.signal.load(Relaxed);
    let (_, name) = SIGNALS.iter().find(|(known, _)| *known == signal)?;
    let distance = mailbox.distance.load(Relaxed);
    let role = role(mailbox.role.load(Relaxed));
    Some(match (signal, role, mailbox.side.load(Relaxed)) {
        (libc::SIGALRM, _, _) => Fault::TimeOut,
        (_, Some(role), BEFORE) => Fault::Outside(role, Side::Before(distance)),
        (_, Some(role), AFTER) => Fault::Outside(role, Side::After(distance)),
        (_, Some(role), FREED) => Fault::Freed(role),
        _ => Fault::Signal(name),
    })
}

/// Encodes a role as a number that is not 0.
fn code(role: Role) -> u32 {
    let (kind, index) = match role {
        Role::Input(index) => (1, index),
        Role::Room(index) => (2, index),
        Role::New(index) => (3, index),
        Role::Block(index) => (4, index),
    };
    kind << 24 | (index as u32 & 0xff_ffff)
}

fn role(code: u32) -> Option<Role> {
    let index = (code & 0xff_ffff) as usize;
    match code >> 24 {
        1 => Some(Role::Input(index)),
        2 => Some(Role::Room(index)),
        3 => Some(Role::New(index)),
        4 => Some(Role::Block(index)),
        _ => None,
    }
}
