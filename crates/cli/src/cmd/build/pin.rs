//! Pins the archives of a build in the lock file.

use precast_build::lock::Pin;
use precast_build::{Executed, Lock};

use super::Planned;
use crate::error::Failure;

impl Planned<'_> {
    /// Writes the archives of the build into the lock file.
    pub(super) fn pin(&mut self, executed: &Executed) -> Result<(), Failure> {
        let mut pinned = Lock::of(&self.plan).pinning(executed.records());
        // Pins of other targets stay: all of them if the plan is the same, else those whose modules are still in the
        // plan.
        if let Some(present) = self.lock.take() {
            let is_same = present.check(&self.plan, &self.lock_path).is_ok();
            let stay: Vec<Pin> = match is_same {
                true => present.pins.into_iter().collect(),
                false => present.pins_of(&self.plan).cloned().collect(),
            };
            pinned.pins.extend(stay.into_iter().filter(|pin| pin.target != self.target));
        }
        pinned.write(&self.lock_path)?;
        Ok(())
    }
}
