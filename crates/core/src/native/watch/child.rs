//! Work in a child process, so that a crash of the code under check is a report and not the end of the program.
//!
//! The child is a fork: it has the loaded modules and the arrays already, and needs no command line, so tests and programs
//! can check as the command does. It shares one page with its parent, for where it is and what the signal handler saw; all
//! else it has to tell goes through a file. It never returns to the code that forked it.

use super::fault::{self, Fault};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering::Relaxed};

/// The page that parent and child share. Zeroed at first.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Mailbox {
    /// How far the child has come.
    case: AtomicU32,
    trial: AtomicU32,
    done: AtomicU32,
    /// What the signal handler saw.
    pub(super) signal: AtomicI32,
    pub(super) role: AtomicU32,
    pub(super) side: AtomicU32,
    pub(super) distance: AtomicUsize,
}

/// What a child tells while it works.
#[derive(Debug)]
pub struct Progress<'a>(&'a Mailbox);

impl Progress<'_> {
    /// Says what comes next; it may take [`SECONDS`].
    pub fn begin(&self, case: usize, trial: usize) {
        self.0.case.store(case as u32, Relaxed);
        self.0.trial.store(trial as u32, Relaxed);
        // SAFETY: sets a timer whose signal the child handles.
        unsafe { libc::alarm(SECONDS) };
    }
}

/// Seconds that one trial may take. Not a measure of anything: a loop without end has to end.
const SECONDS: u32 = 120;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Its work is done.
    Done,
    /// It did not get further than this case and trial.
    Fault {
        /// As [`Progress::begin`] was told.
        case: usize,
        /// As [`Progress::begin`] was told.
        trial: usize,
        /// Why.
        fault: Fault,
    },
}

/// A mapped mailbox.
struct Shared(*mut Mailbox);

impl Shared {
    fn new() -> io::Result<Self> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice overlaps nothing.
        let page = unsafe { libc::mmap(ptr::null_mut(), size_of::<Mailbox>(), protection, flags, -1, 0) };
        if page == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self(page.cast())) }
    }

    fn mailbox(&self) -> &Mailbox {
        // SAFETY: the mapping is large enough, aligned to a page, zeroed, and holds atomics only.
        unsafe { &*self.0 }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this size; nobody refers to it any more.
        unsafe { libc::munmap(self.0.cast(), size_of::<Mailbox>()) };
    }
}

/// Runs `work` in a child process and waits for it. Nothing that it changes in memory is seen here.
pub fn in_child(work: impl FnOnce(&Progress<'_>)) -> io::Result<Ended> {
    let shared = Shared::new()?;
    // SAFETY: what C has buffered is written before the fork, not once by each process.
    unsafe { libc::fflush(ptr::null_mut()) };
    // SAFETY: the child runs `work` and ends; it takes no lock that another thread of the parent may hold but the
    // allocator's, which the C library hands over in order.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => child(&shared, work),
        pid => {
            // SAFETY: the child does the same; whoever comes second finds it done.
            unsafe { libc::setpgid(pid, pid) };
            let status = wait(pid)?;
            let mailbox = shared.mailbox();
            if mailbox.done.load(Relaxed) == 1 {
                return Ok(Ended::Done);
            }
            let fault = fault::read(mailbox).unwrap_or(Fault::Exit(status));
            let place = |number: &AtomicU32| number.load(Relaxed) as usize;
            Ok(Ended::Fault { case: place(&mailbox.case), trial: place(&mailbox.trial), fault })
        }
    }
}

fn child(shared: &Shared, work: impl FnOnce(&Progress<'_>)) -> ! {
    // A group of its own, so that processes which the op starts end with it; and it ends with its parent.
    // SAFETY: changes this process only.
    unsafe { libc::setpgid(0, 0) };
    // SAFETY: as above.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    // SAFETY: the child never unmaps the page.
    let ready = unsafe { fault::report_to(shared.0) };
    if ready.is_ok() && catch_unwind(AssertUnwindSafe(|| work(&Progress(shared.mailbox())))).is_ok() {
        shared.mailbox().done.store(1, Relaxed);
    }
    // SAFETY: what the op printed is written.
    unsafe { libc::fflush(ptr::null_mut()) };
    // SAFETY: ends the process without what the parent registered for its own end.
    unsafe { libc::_exit(2) }
}

/// Ends this process unless it is the one of that number: a copy that an op made of it by `fork` would check all that
/// follows once more, and each further call would double their number.
pub(super) fn end_copies(pid: u32) {
    if std::process::id() != pid {
        // SAFETY: ends the process without what it inherited for its end.
        unsafe { libc::_exit(0) };
    }
}

/// Waits for the child, and ends what is left of its group while its number is still its own.
fn wait(pid: libc::pid_t) -> io::Result<i32> {
    let mut status = 0;
    // SAFETY: zeroes are a valid value of this plain struct.
    let mut ended: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOWAIT;
    // SAFETY: the struct is ours; an interrupted wait is taken up again.
    while unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, &raw mut ended, options) } != 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: the group is that of our child.
    unsafe { libc::kill(-pid, libc::SIGKILL) };
    loop {
        // SAFETY: the pid is that of our child, which nobody else waits for.
        if unsafe { libc::waitpid(pid, &raw mut status, 0) } == pid {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ended, in_child};
    use crate::native::watch::fault::{Fault, Side};
    use crate::native::watch::region::{Flush, Region, Role};

    /// How a child ends that reads a byte so far from the first of 24 bytes.
    fn ended(flush: Flush, distance: isize, close: bool) -> Ended {
        in_child(|progress| {
            progress.begin(3, 4);
            let mut region = Region::new(Role::Input(1), 24, 8, flush, 0xa5).unwrap();
            if close {
                region.close();
            }
            let place = region.data().wrapping_offset(distance);
            // SAFETY: whether this is an access out of bounds is what the test is about; the child alone dies of it.
            let byte = unsafe { place.read_volatile() };
            assert_eq!(byte, 0xa5);
        })
        .unwrap()
    }

    #[test]
    fn one_byte_too_far_is_a_fault_that_says_whose_and_how_far() {
        let fault = |fault| Ended::Fault { case: 3, trial: 4, fault };
        let outside = |side| fault(Fault::Outside(Role::Input(1), side));
        assert_eq!(ended(Flush::End, 23, false), Ended::Done);
        assert_eq!(ended(Flush::End, 24, false), outside(Side::After(0)));
        assert_eq!(ended(Flush::End, 31, false), outside(Side::After(7)));
        assert_eq!(ended(Flush::Start, -1, false), outside(Side::Before(1)));
        assert_eq!(ended(Flush::Start, 0, true), fault(Fault::Freed(Role::Input(1))));
    }

    #[test]
    fn processes_that_an_op_starts_end_with_the_child() {
        let (reader, writer) = std::io::pipe().unwrap();
        let ended = in_child(|_| {
            let own = std::process::id();
            // SAFETY: the copy does nothing but wait, holding the pipe open.
            if unsafe { libc::fork() } == 0 {
                // SAFETY: as above.
                unsafe { libc::sleep(600) };
            }
            super::end_copies(own);
        });
        assert_eq!(ended.unwrap(), Ended::Done);
        drop(writer);
        // The end of the pipe: nobody holds it any more.
        assert_eq!(std::io::Read::bytes(reader).count(), 0);
    }

    #[test]
    fn other_ends_of_a_child_are_told_apart() {
        let signal = |signal| {
            let ended = in_child(|_| {
                // SAFETY: the signal ends the child.
                unsafe { libc::raise(signal) };
            });
            match ended.unwrap() {
                Ended::Fault { fault, .. } => fault,
                Ended::Done => panic!("done"),
            }
        };
        assert_eq!(signal(libc::SIGFPE), Fault::Signal("SIGFPE"));
        assert_eq!(signal(libc::SIGALRM), Fault::TimeOut);
        assert!(matches!(signal(libc::SIGKILL), Fault::Exit(_)));
    }
}
