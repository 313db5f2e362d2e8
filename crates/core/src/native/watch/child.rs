//! Runs work in a child process, so that a crash of the checked code becomes a report and does not end the program.
//!
//! The child is a fork. It already has the loaded modules and the arrays, and needs no command line, so tests and programs
//! can run checks too. It shares one page with its parent, for its progress and the signal handler's findings. All other
//! results go through a file. It never returns to the code that forked it.
//!
//! A trial has a time limit, which is enforced twice. The child sets an alarm and reports the timeout itself. If an op
//! stops the process or ignores the alarm, the parent kills the child and all processes that it started.

use super::fault::{self, Fault};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, ptr, thread};

/// The page that parent and child share. Initially zero.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Mailbox {
    /// The number of trials begun.
    begun: AtomicU32,
    /// The child's progress.
    case: AtomicU32,
    trial: AtomicU32,
    done: AtomicU32,
    /// The findings of the signal handler.
    pub(super) signal: AtomicI32,
    pub(super) role: AtomicU32,
    pub(super) side: AtomicU32,
    pub(super) distance: AtomicUsize,
}

/// The progress reports of a child.
#[derive(Debug)]
pub struct Progress<'a> {
    mailbox: &'a Mailbox,
    limit: Duration,
}

impl Progress<'_> {
    /// Records the start of a trial, which may take as long as the limit.
    pub fn begin(&self, case: usize, trial: usize) {
        self.mailbox.case.store(case as u32, Relaxed);
        self.mailbox.trial.store(trial as u32, Relaxed);
        self.mailbox.begun.fetch_add(1, Relaxed);
        let seconds = u32::try_from(self.limit.as_secs()).unwrap_or(u32::MAX).max(1);
        // SAFETY: sets a timer whose signal the child handles.
        unsafe { libc::alarm(seconds) };
    }
}

/// How much longer than the limit the parent waits for a trial, so that the child's alarm comes first.
const GRACE: Duration = Duration::from_secs(2);

/// The longest pause between two checks of the child.
const PAUSE: Duration = Duration::from_millis(10);

/// The process groups of running children, by their leaders. `None` after all were cancelled.
static GROUPS: Mutex<Option<BTreeSet<libc::pid_t>>> = Mutex::new(Some(BTreeSet::new()));

/// Passes the groups to `work`. Fails if everything was cancelled.
fn groups<T>(work: impl FnOnce(&mut BTreeSet<libc::pid_t>) -> T) -> io::Result<T> {
    let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
    groups.as_mut().map(work).ok_or_else(|| io::Error::new(io::ErrorKind::Interrupted, "cancelled"))
}

/// Kills every child with all processes that it started, and prevents new ones. For a program that is asked to exit.
pub fn end_children() {
    let groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner).take();
    for group in groups.into_iter().flatten() {
        // SAFETY: the group belongs to a child that was not waited for, so its number was not reused.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}

/// The end of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The work is done.
    Done,
    /// The child did not get beyond this case and trial.
    Fault {
        /// As passed to [`Progress::begin`].
        case: usize,
        /// As passed to [`Progress::begin`].
        trial: usize,
        /// The reason.
        fault: Fault,
    },
}

/// A mapped mailbox.
struct Shared(*mut Mailbox);

impl Shared {
    fn new() -> io::Result<Self> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh anonymous mapping at an address that the kernel chooses overlaps nothing.
        let page = unsafe { libc::mmap(ptr::null_mut(), size_of::<Mailbox>(), protection, flags, -1, 0) };
        if page == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self(page.cast())) }
    }

    fn mailbox(&self) -> &Mailbox {
        // SAFETY: the mapping is large enough, aligned to a page, zeroed, and contains only atomics.
        unsafe { &*self.0 }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this size; there are no references to it.
        unsafe { libc::munmap(self.0.cast(), size_of::<Mailbox>()) };
    }
}

/// Runs `work` in a child process and waits for it, at most `limit` for each trial. Its changes to memory are not visible
/// here.
///
/// # Errors
/// The child cannot be created or waited for.
pub fn in_child(limit: Duration, work: impl FnOnce(&Progress<'_>)) -> io::Result<Ended> {
    let shared = Shared::new()?;
    groups(|_| ())?;
    // SAFETY: flushes C's buffers before the fork, so that their contents are not written by each process.
    unsafe { libc::fflush(ptr::null_mut()) };
    // SAFETY: the child runs `work` and exits. The only lock it takes that another thread of the parent may hold is the
    // allocator's, which the C library keeps consistent across a fork.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => child(&shared, limit, work),
        pid => {
            // SAFETY: the child does the same; the second call has no effect.
            unsafe { libc::setpgid(pid, pid) };
            let mailbox = shared.mailbox();
            let status = wait(pid, mailbox, limit.saturating_add(GRACE))?;
            if mailbox.done.load(Relaxed) == 1 {
                return Ok(Ended::Done);
            }
            let ended = || status.map_or(Fault::Stuck, Fault::Exit);
            let fault = fault::read(mailbox).unwrap_or_else(ended);
            let place = |number: &AtomicU32| number.load(Relaxed) as usize;
            Ok(Ended::Fault { case: place(&mailbox.case), trial: place(&mailbox.trial), fault })
        }
    }
}

fn child(shared: &Shared, limit: Duration, work: impl FnOnce(&Progress<'_>)) -> ! {
    // A separate group, so that processes started by the op are killed with it. The child also ends with its parent.
    // SAFETY: changes only this process.
    unsafe { libc::setpgid(0, 0) };
    // SAFETY: as above.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // The program's handlers must not run in the child.
        // SAFETY: sets the default action.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: the child never unmaps the page.
    let ready = unsafe { fault::report_to(shared.0) };
    let progress = Progress { mailbox: shared.mailbox(), limit };
    if ready.is_ok() && catch_unwind(AssertUnwindSafe(|| work(&progress))).is_ok() {
        shared.mailbox().done.store(1, Relaxed);
    }
    // SAFETY: flushes the op's output.
    unsafe { libc::fflush(ptr::null_mut()) };
    // SAFETY: exits without running the parent's exit handlers.
    unsafe { libc::_exit(2) }
}

/// Exits unless this is the process with that id. If an op forks, the copy would repeat all following checks, and each
/// further call would double the number of copies.
pub(super) fn end_copies(pid: u32) {
    if std::process::id() != pid {
        // SAFETY: exits without running inherited exit handlers.
        unsafe { libc::_exit(0) };
    }
}

/// Waits for the child, at most `limit` for each trial, and kills the rest of its group before its number can be reused.
/// Returns its status, or `None` if it had to be killed.
fn wait(pid: libc::pid_t, mailbox: &Mailbox, limit: Duration) -> io::Result<Option<i32>> {
    let known = groups(|groups| groups.insert(pid));
    let (mut trial, mut since, mut pause) = (0, Instant::now(), Duration::from_micros(100));
    let has_ended = loop {
        match known.as_ref().map_or(Ok(true), |_| has_ended(pid)) {
            Ok(false) => {}
            ended => break ended,
        }
        let begun = mailbox.begun.load(Relaxed);
        if begun != trial {
            (trial, since) = (begun, Instant::now());
        } else if since.elapsed() > limit {
            break Ok(false);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSE);
    };
    let kept = groups(|groups| groups.remove(&pid));
    // SAFETY: the group belongs to our child.
    unsafe { libc::kill(-pid, libc::SIGKILL) };
    let mut status = 0;
    loop {
        // SAFETY: the pid is that of our child, and no other code waits for it.
        if unsafe { libc::waitpid(pid, &raw mut status, 0) } == pid {
            // The status of a cancelled child means nothing.
            return kept.and(has_ended).map(|ended| ended.then_some(status));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Returns whether the child has ended, without reaping it.
fn has_ended(pid: libc::pid_t) -> io::Result<bool> {
    // SAFETY: zeroes are a valid value of this plain struct.
    let mut ended: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
    // SAFETY: the struct is local.
    if unsafe { libc::waitid(libc::P_PID, pid as libc::id_t, &raw mut ended, options) } != 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) };
    }
    // SAFETY: `waitid` sets the field, or leaves it zero if the child has not ended.
    Ok(unsafe { ended.si_pid() } == pid)
}

#[cfg(test)]
mod tests {
    use super::{Ended, Progress};
    use crate::native::watch::fault::{Fault, Side};
    use crate::native::watch::region::{Flush, Region, Role};

    use std::time::Duration;

    fn in_child(work: impl FnOnce(&Progress<'_>)) -> std::io::Result<Ended> {
        super::in_child(Duration::from_secs(120), work)
    }

    /// Returns how a child ends that reads the byte at `distance` from the first of 24 bytes.
    fn ended(flush: Flush, distance: isize, close: bool) -> Ended {
        in_child(|progress| {
            progress.begin(3, 4);
            let mut region = Region::new(Role::Input(1), 24, 8, flush, 0xa5).unwrap();
            if close {
                region.close();
            }
            let place = region.data().wrapping_offset(distance);
            // SAFETY: the test checks whether this is an access out of bounds; only the child can crash.
            let byte = unsafe { place.read_volatile() };
            assert_eq!(byte, 0xa5);
        })
        .unwrap()
    }

    #[test]
    fn one_byte_overrun_is_a_located_fault() {
        let fault = |fault| Ended::Fault { case: 3, trial: 4, fault };
        let outside = |side| fault(Fault::Outside(Role::Input(1), side));
        assert_eq!(ended(Flush::End, 23, false), Ended::Done);
        assert_eq!(ended(Flush::End, 24, false), outside(Side::After(0)));
        assert_eq!(ended(Flush::End, 31, false), outside(Side::After(7)));
        assert_eq!(ended(Flush::Start, -1, false), outside(Side::Before(1)));
        assert_eq!(ended(Flush::Start, 0, true), fault(Fault::Freed(Role::Input(1))));
    }

    #[test]
    fn op_processes_end_with_the_child() {
        let (reader, writer) = std::io::pipe().unwrap();
        let ended = in_child(|_| {
            let own = std::process::id();
            // SAFETY: the copy only waits and keeps the pipe open.
            if unsafe { libc::fork() } == 0 {
                // SAFETY: as above.
                unsafe { libc::sleep(600) };
            }
            super::end_copies(own);
        });
        assert_eq!(ended.unwrap(), Ended::Done);
        drop(writer);
        // The pipe has ended, so no process keeps it open.
        assert_eq!(std::io::Read::bytes(reader).count(), 0);
    }

    #[test]
    fn parent_ends_a_stuck_child_and_its_processes() {
        let (reader, writer) = std::io::pipe().unwrap();
        let ended = super::in_child(Duration::ZERO, |progress| {
            // SAFETY: the copy only waits and keeps the pipe open.
            unsafe { libc::fork() };
            progress.begin(1, 2);
            // SAFETY: disables the child's alarm.
            unsafe { libc::signal(libc::SIGALRM, libc::SIG_IGN) };
            // SAFETY: stops the child.
            unsafe { libc::raise(libc::SIGSTOP) };
        });
        assert_eq!(ended.unwrap(), Ended::Fault { case: 1, trial: 2, fault: Fault::Stuck });
        drop(writer);
        assert_eq!(std::io::Read::bytes(reader).count(), 0);
    }

    #[test]
    fn child_exit_kinds_are_distinguished() {
        let signal = |signal| {
            let ended = in_child(|_| {
                // SAFETY: the signal kills the child.
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
