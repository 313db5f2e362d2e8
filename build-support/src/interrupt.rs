//! Handling of SIGINT, SIGTERM and SIGHUP during a build.
//!
//! A terminal sends its signals to the compilers too, but `kill` does not, and nothing removes scratch directories.
//! The handler therefore terminates the compilers, so the build fails and cleans up. Work that does not stop soon (an
//! op that is computing) is cut off. A program that must stop more, or that forwards signals to a child, passes a
//! callback.
//!
//! Only main programs install the handler: the command and build scripts. A library installs no signal handlers.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use precast_compile::cancel;
use precast_store::{file, scratch};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// The signal that ends this process; 0 if none has arrived.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// The time that the build has to clean up.
const GRACE: Duration = Duration::from_secs(2);

/// Ends this process in order when a signal arrives: compilers first, then scratch directories. The callback `first`
/// runs before that; if it returns true, it has handled the signal and nothing ends. Signals that were ignored at
/// process start (`nohup`) stay ignored.
///
/// If handlers cannot be installed, signals keep their default action. Only the first call has an effect.
pub fn watch(first: fn(i32) -> bool) {
    static WATCHED: OnceLock<()> = OnceLock::new();
    WATCHED.get_or_init(|| {
        // With a handler, a write beyond RLIMIT_FSIZE fails with an error that has a path instead of killing the
        // process. Compilers do not inherit the handler.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        let ignored = ignored();
        let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
        let (give, take) = mpsc::channel::<Signals>();
        let watcher = thread::Builder::new().name("precast-signals".to_owned());
        let watching = watcher.spawn(move || {
            let Ok(mut signals) = take.recv() else { return };
            for signal in signals.forever().filter(|signal| !first(*signal)) {
                end(signal);
            }
        });
        // Handlers are installed only if the watcher thread exists; otherwise signals keep their default action.
        if watching.is_ok()
            && let Ok(signals) = Signals::new(wanted)
        {
            let _ = give.send(signals);
        }
    });
}

/// Returns the exit code for the signal received, if any: 130, 143 or 129.
#[must_use]
pub fn exit_code() -> Option<u8> {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => None,
        signal => u8::try_from(128 + signal).ok(),
    }
}

fn end(signal: i32) {
    // A second signal ends the process without waiting.
    let insists = SIGNAL.swap(signal, Ordering::SeqCst) != 0;
    cancel();
    let cut = move || {
        scratch::remove_all();
        #[allow(clippy::exit, reason = "the process was told to end, and does not come to an end by itself")]
        std::process::exit(128 + signal);
    };
    if insists {
        cut();
    }
    let grace = thread::Builder::new().name("precast-grace".to_owned());
    let waiting = grace.spawn(move || {
        thread::sleep(GRACE);
        cut();
    });
    if waiting.is_err() {
        cut();
    }
}

/// Returns the signals that this process ignores, as a mask; 0 if the system does not report them.
fn ignored() -> u64 {
    let status = file::read_text("/proc/self/status".as_ref()).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
