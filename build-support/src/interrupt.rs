//! What a build does when it is told to end by SIGINT, SIGTERM or SIGHUP.
//!
//! A terminal sends its signal to compilers too; `kill` does not, and nobody sends anything to scratch directories. So
//! compilers are ended, which makes the build fail and clean up after itself. What does not come to an end soon (an op that
//! computes) is cut off. A program that has more to end, or hands a signal on to a program that it runs, says so when it asks
//! for this.
//!
//! Only programs of which we are the main part ask: the command, and build scripts. A library installs no handlers.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use precast_compile::cancel;
use precast_store::{file, scratch};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// The signal that ends this process; 0 while there was none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// How long the build has to clean up after itself.
const GRACE: Duration = Duration::from_secs(2);

/// Ends this process in good order when it is told to end: compilers, then scratch directories. `first` hears of a signal
/// before that, and tells whether it has taken it: then nothing ends. Signals that the process was started with as ignored
/// (`nohup`) stay so.
///
/// Where signals cannot be had, they do what they do without this. Only the first call counts.
pub fn watch(first: fn(i32) -> bool) {
    static WATCHED: OnceLock<()> = OnceLock::new();
    WATCHED.get_or_init(|| {
        // A write beyond RLIMIT_FSIZE is then an error with a path, in place of the end of the process. Compilers do not inherit it.
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
        // Signals are taken only if there is a thread that hears them: without one they do what they do.
        if watching.is_ok()
            && let Ok(signals) = Signals::new(wanted)
        {
            let _ = give.send(signals);
        }
    });
}

/// Gives the exit code of a process that a signal ends, once one has come: 130, 143 or 129.
#[must_use]
pub fn exit_code() -> Option<u8> {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => None,
        signal => u8::try_from(128 + signal).ok(),
    }
}

fn end(signal: i32) {
    // Who insists does not want to wait.
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

/// The signals that this process ignores, as a mask; none where the system does not say.
fn ignored() -> u64 {
    let status = file::read_text("/proc/self/status".as_ref()).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
