//! Kills processes with their child processes.

/// Kills a process that has not been waited for, and its child processes: a killed driver would leave its `cc1`
/// running.
pub(crate) fn end_tree(pid: u32) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Pid, Signal, kill_process};
        let Some(process) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
        // A stopped process starts no further children. It may already have exited.
        let _ = kill_process(process, Signal::STOP);
        children(pid).into_iter().for_each(end_tree);
        let _ = kill_process(process, Signal::KILL);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = pid;
}

#[cfg(target_os = "linux")]
fn children(pid: u32) -> Vec<u32> {
    let list = fs_err::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}
