//! A signal, and what it says about memory.
//!
//! Regions are known in a table that a signal handler may read: rows of atomics, no lock, no allocation.

use super::child::Mailbox;
use super::region::Role;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering::Relaxed};

/// On which side of its memory an access was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// So many bytes before its first byte.
    Before(usize),
    /// So many bytes after its last byte; 0 is the first that is not its own.
    After(usize),
}

/// Why a child ended before its work was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An access beside somebody's memory.
    Outside(Role, Side),
    /// An access of memory that was given back.
    Freed(Role),
    /// A signal, by its name in C, that says nothing about known memory.
    Signal(&'static str),
    /// It took too long.
    TimeOut,
    /// It took too long, and did not hear its alarm.
    Stuck,
    /// It ended by itself, with this status.
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

/// Where the handler leaves what it found.
static MAILBOX: AtomicPtr<Mailbox> = AtomicPtr::new(ptr::null_mut());

/// Enters a region; `None` if the table is full, and faults in it are faults at an unknown address.
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

/// Says that the memory of a row was given back.
pub(super) fn freed(row: Option<usize>) {
    if let Some(row) = row {
        WATCHED[row].freed.store(1, Relaxed);
    }
}

/// Takes a region out.
pub(super) fn forget(row: Option<usize>) {
    if let Some(row) = row {
        WATCHED[row].map_bytes.store(0, Relaxed);
    }
}

/// The signals that are reported, with their names in C.
const SIGNALS: [(libc::c_int, &str); 6] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGALRM, "SIGALRM"),
];

/// Bytes of the handler's stack: a fault may be an overflow of the usual one.
const STACK_BYTES: usize = 64 * 1024;

/// Reports every later signal of this process in `mailbox`, and ends the process.
///
/// # Safety
/// `mailbox` lives as long as the process.
pub(super) unsafe fn report_to(mailbox: *mut Mailbox) -> io::Result<()> {
    MAILBOX.store(mailbox, Relaxed);
    let memory = Box::leak(vec![0_u8; STACK_BYTES].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
    // SAFETY: the stack is memory of the stated size that is never given back.
    if unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    for (signal, _) in SIGNALS {
        // SAFETY: all bits zero are a valid `sigaction`: no handler, no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        // SAFETY: the handler has the signature that SA_SIGINFO asks for, and calls async-signal-safe functions only.
        if unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Says what happened, and ends the process. Atomics and `_exit` only.
unsafe extern "C" fn handler(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: `report_to` stored a mailbox that lives as long as the process.
    if let Some(mailbox) = unsafe { MAILBOX.load(Relaxed).as_ref() } {
        mailbox.signal.store(signal, Relaxed);
        if signal == libc::SIGSEGV || signal == libc::SIGBUS {
            // SAFETY: the kernel passes a valid `siginfo_t` to a handler with SA_SIGINFO.
            let info = unsafe { &*info };
            // SAFETY: of these signals the address is set.
            let address = unsafe { info.si_addr() }.addr();
            locate(mailbox, address);
        }
    }
    // SAFETY: ends the process.
    unsafe { libc::_exit(1) };
}

const BEFORE: u32 = 1;
const AFTER: u32 = 2;
const FREED: u32 = 3;

/// Looks for the region around an address.
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

/// What the handler left, if it ran.
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

/// A role as a number that is not 0.
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
