//! Checks that a release can be served: readers find each entry and module, signed by enough keys if they have a
//! keyring.

use precast_core::program::Step;

use super::deployed::Served;
use super::signatures::Signed;
use super::{DeployError, FindError, Store};
use crate::event::Observer;
use crate::export::Release;
use crate::keyring::{Date, Unsigned, last_day};
use crate::record::{Entry, Record};

/// An entry of a release, and its modules with the records that have them.
type Part = (Signed, Vec<(Step, Vec<Record>)>);

impl Store {
    /// Checks that readers will find every entry and every module of a release.
    pub(super) fn check_complete(&self, release: &Release, served: &Served) -> Result<(), DeployError> {
        for (entry, steps) in self.parts(release, served)? {
            self.check_signed(release, &entry)?;
            for (step, records) in steps {
                self.check_module(release, &step, &records)?;
            }
        }
        Ok(())
    }

    /// Returns the entries of a release, and the modules of each with the records that have them, whoever signed them.
    fn parts(&self, release: &Release, served: &Served) -> Result<Vec<Part>, DeployError> {
        let all = Self { keyring: None, ..self.clone() };
        let incomplete = |what: String| DeployError::Incomplete { release: release.clone(), what };
        let mut parts = Vec::new();
        for (name, id) in served {
            let entry: Entry = all
                .entry_of(name, id)?
                .ok_or_else(|| incomplete(format!("entry `{name}` is missing or damaged")))?;
            let mut steps = Vec::new();
            for step in &entry.program.steps {
                let records = all.held(step)?;
                if records.is_empty() {
                    let module = step.signatures.join("; ");
                    return Err(incomplete(format!("module `{module}` of entry `{name}` is missing")));
                }
                steps.push((step.clone(), records));
            }
            parts.push((all.signed_entry(&entry)?, steps));
        }
        Ok(parts)
    }

    /// Returns the records of a module that have their archives.
    fn held(&self, step: &Step) -> Result<Vec<Record>, FindError> {
        let mut held = Vec::new();
        for record in self.find(&step.key)? {
            if self.holds(&record)? {
                held.push(record);
            }
        }
        Ok(held)
    }

    /// Checks that enough keys have signed a record of a module. The records of other compilers may have no signatures.
    fn check_module(&self, release: &Release, step: &Step, records: &[Record]) -> Result<(), DeployError> {
        // The reason is in the error.
        let quiet = Self { observer: Observer::default(), ..self.clone() };
        if !quiet.held(step)?.is_empty() {
            return Ok(());
        }
        records.iter().try_for_each(|record| self.check_signed(release, &self.signed_of(record)?))
    }

    fn check_signed(&self, release: &Release, signed: &Signed) -> Result<(), DeployError> {
        match self.unsigned(signed) {
            None => Ok(()),
            Some(unsigned) => {
                Err(DeployError::Unsigned { release: release.clone(), what: signed.name.clone(), unsigned })
            }
        }
    }

    /// Returns the signatures that a record or an entry lacks under the keyring of the store.
    pub(super) fn unsigned(&self, signed: &Signed) -> Option<Box<Unsigned>> {
        self.keyring.as_ref()?.check(&signed.bytes, &signed.signatures).err()
    }

    /// Returns an entry or module of a release whose signatures have all expired, whoever signed, and the last day
    /// that they name. A store without a keyring serves it, and readers with a keyring do not use it.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or the release is incomplete.
    pub fn expired(&self, release: &Release) -> Result<Option<(String, Date)>, DeployError> {
        let served = self.entries_of(release)?.unwrap_or_default();
        let past = |signed: &Signed| {
            let day = last_day(&signed.signatures).filter(|day| *day <= Date::today())?;
            Some((signed.name.clone(), day))
        };
        for (entry, steps) in self.parts(release, &served)? {
            if let Some(found) = past(&entry) {
                return Ok(Some(found));
            }
            for (_, records) in steps {
                let signed =
                    records.iter().map(|record| self.signed_of(record)).collect::<Result<Vec<_>, _>>()?;
                let mut days = signed.iter().map(past).collect::<Option<Vec<_>>>().unwrap_or_default();
                if let Some(found) = days.pop() {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }
}
