//! Where a helper begins: elsewhere than on the processor of who calls, if it may.
//!
//! Linux can put a thread that is woken onto the processor of who wakes it, and leave it there for milliseconds while another is idle:
//! in a virtual machine an idle processor is one that the host has put to sleep, and looks taken. So the caller's is left out of a
//! helper's mask when it is woken, and the helper gives itself its mask back before it does anything: from then on it runs where the
//! system wants it. (To the system it is a thread that was given a mask: processors that are added later are none of it.)

#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// The processors of a thread.
#[derive(Default)]
pub(super) struct Place {
    /// The thread's number in the system, when it has begun.
    #[cfg(target_os = "linux")]
    id: Option<Pid>,
    /// Its own processors, while it is kept from one of them.
    #[cfg(target_os = "linux")]
    own: Option<CpuSet>,
}

/// The processor of this thread.
#[cfg(target_os = "linux")]
pub(super) fn here() -> usize {
    sched_getcpu()
}

#[cfg(target_os = "linux")]
impl Place {
    /// Says that it is this thread's.
    pub(super) fn enter(&mut self) {
        self.id = Some(gettid());
    }

    /// Keeps the thread from a processor until it begins, if it may use others. Where a system does not allow that, it begins where
    /// the system wants it.
    pub(super) fn keep_from(&mut self, processor: usize) {
        let Some(id) = self.id.filter(|_| processor < CpuSet::MAX_CPU) else { return };
        // A thread that has not begun since it was last called is kept from another one still.
        let Some(own) = self.own.or_else(|| sched_getaffinity(Some(id)).ok()) else { return };
        let mut others = own;
        others.unset(processor);
        if others.count() > 0 && sched_setaffinity(Some(id), &others).is_ok() {
            self.own = Some(own);
        }
    }

    /// Gives this thread, whose place it is, its processors back.
    pub(super) fn begin(&mut self) {
        if let Some(own) = self.own.take() {
            let _ = sched_setaffinity(None, &own);
        }
    }
}

/// Other systems place their threads themselves.
#[cfg(not(target_os = "linux"))]
pub(super) fn here() -> usize {
    0
}

#[cfg(not(target_os = "linux"))]
impl Place {
    pub(super) fn enter(&mut self) {}

    pub(super) fn keep_from(&mut self, _processor: usize) {}

    pub(super) fn begin(&mut self) {}
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;

    /// A thread that tells its number, then begins a place that it is sent and sends it back, with the mask that it has then.
    fn sleeper() -> (Place, Sender<Place>, Receiver<(Place, CpuSet)>) {
        let ((tell, told), (send, sent), (back, came)) = (channel(), channel::<Place>(), channel());
        thread::spawn(move || {
            let mut place = Place::default();
            place.enter();
            tell.send(place).unwrap();
            for mut place in sent {
                place.begin();
                back.send((place, sched_getaffinity(None).unwrap())).unwrap();
            }
        });
        (told.recv().unwrap(), send, came)
    }

    fn mask(place: &Place) -> CpuSet {
        sched_getaffinity(place.id).unwrap()
    }

    /// Whoever calls it, and however often before it begins: it has its own processors when it does.
    #[test]
    fn a_thread_is_kept_from_a_processor_until_it_begins() {
        let all = sched_getaffinity(None).unwrap();
        let mut processors = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu));
        let (mut place, send, came) = sleeper();
        assert!(mask(&place) == all);
        let (Some(one), Some(other)) = (processors.next(), processors.next()) else { return };
        for calls in [&[one][..], &[other], &[one, other], &[one, one, other, one]] {
            for from in calls {
                place.keep_from(*from);
                let mut others = all;
                others.unset(*from);
                assert!(mask(&place) == others, "kept from {from}");
            }
            send.send(place).unwrap();
            let begun;
            (place, begun) = came.recv().unwrap();
            assert!(begun == all && place.own.is_none());
        }
    }

    #[test]
    fn a_thread_of_one_processor_stays_there() {
        let all = sched_getaffinity(None).unwrap();
        let one = (0..CpuSet::MAX_CPU).find(|cpu| all.is_set(*cpu)).unwrap();
        let mut only = CpuSet::new();
        only.set(one);
        let (mut place, send, came) = sleeper();
        sched_setaffinity(place.id, &only).unwrap();
        place.keep_from(one);
        assert!(mask(&place) == only && place.own.is_none());
        send.send(place).unwrap();
        assert!(came.recv().unwrap().1 == only);
    }

    /// A mask that is none of ours, and one of a thread that is gone.
    #[test]
    fn what_cannot_be_moved_is_left() {
        let mut nobody = Place::default();
        nobody.keep_from(0);
        nobody.begin();
        assert!(nobody.own.is_none());
        let (mut place, send, came) = sleeper();
        drop(send);
        // It hangs up when it ends.
        assert!(came.recv().is_err());
        while sched_getaffinity(place.id).is_ok() {
            thread::yield_now();
        }
        place.keep_from(here());
        assert!(place.own.is_none());
    }
}
