//! A place with results: a store, a bundle, or an export, which is unpacked to a temporary store.
//!
//! A bundle has the shared object of an archive, and not its other files.

use std::path::Path;

use precast_core::key::ContentId;
use precast_store::archive::SHARED_OBJECT;
use precast_store::event::{self, Event};
use precast_store::{Bundle, Export, Record, Store, Verification, file, lacking};
use tempfile::TempDir;

use crate::difference::Files;
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::{health, layers, print};

/// An open place, all of whose files were read and verified.
pub(super) struct Place {
    content: Content,
    /// The damaged and missing parts.
    pub(super) lost: Vec<String>,
    /// The directory of an unpacked export.
    _unpacked: Option<TempDir>,
}

enum Content {
    Store(Store),
    Bundle(Box<Bundle>),
}

impl Place {
    /// Opens a place and verifies its files. A damaged bundle or export is an error.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let damaged = |failure: Failure| {
            failure.within(format!("`{}` is damaged", path.display())).exiting(Exit::Damaged)
        };
        if !path.try_exists()? {
            return Err(Failure::new(format!("`{}` does not exist", path.display()))
                .hint("name a store, a bundle or an export"));
        }
        if !path.is_file() {
            return Self::of_store(Store::open(path)?, None);
        }
        match Kind::at(path)? {
            Kind::Bundle => {
                let bundle = layers::open_bundle(path)?;
                if let Some(event) = bundle.verify().first() {
                    return Err(damaged(Failure::new(event.to_string())));
                }
                let entries = bundle.entries();
                let lacking = lacking(&entries, |key| !bundle.find(key).is_empty());
                let lost = health::lost(&entries, &lacking).into_iter().map(ToString::to_string).collect();
                Ok(Self { content: Content::Bundle(Box::new(bundle)), lost, _unpacked: None })
            }
            Kind::Export => {
                let bytes = file::read(path, u64::MAX)?;
                Export::check(&bytes).map_err(|error| damaged(error.into()))?;
                let export = Export::open(&bytes).map_err(|error| damaged(error.into()))?;
                export.verify().map_err(|error| damaged(error.into()))?;
                let directory = tempfile::tempdir()?;
                let store = Store::create(directory.path())?;
                export.import(&store)?;
                Self::of_store(store, Some(directory))
            }
            kind => {
                let what = format!("`{}` is {kind}, expected a store, a bundle or an export", path.display());
                Err(Failure::new(what).hint("create them with `precast build` and `precast export`"))
            }
        }
    }

    fn of_store(store: Store, unpacked: Option<TempDir>) -> Result<Self, Failure> {
        let Verification { events, missing, undocumented, lacking, .. } = store.verify()?;
        let mut lost = event::lines(events.iter().filter(|event| !Event::is_repair(event)));
        lost.extend(missing.iter().map(|digest| format!("archive `{}` is missing", digest.short())));
        if undocumented > 0 {
            lost.push(format!(
                "documents of {} are missing",
                print::count(undocumented, "record", "records")
            ));
        }
        let entries = store.entries()?;
        lost.extend(health::lost(&entries, &lacking).into_iter().map(ToString::to_string));
        Ok(Self { content: Content::Store(store), lost, _unpacked: unpacked })
    }

    /// Returns whether the place has only the shared object of each archive.
    pub(super) fn is_bundle(&self) -> bool {
        matches!(self.content, Content::Bundle(_))
    }

    pub(super) fn records(&self) -> Result<Vec<Record>, Failure> {
        match &self.content {
            Content::Store(store) => Ok(store.records().collect::<Result<_, _>>()?),
            Content::Bundle(bundle) => Ok(bundle.records()),
        }
    }

    /// Loads the files of an archive that the place has. The error is a message.
    pub(super) fn files(&self, record: &Record) -> Result<Files, String> {
        match &self.content {
            Content::Store(store) => {
                store.load(record).map(|archive| archive.members).map_err(|error| error.to_string())
            }
            Content::Bundle(bundle) => {
                let code = bundle.load(record).map_err(|error| error.to_string())?;
                Ok([(SHARED_OBJECT.to_owned(), code.to_vec())].into())
            }
        }
    }

    /// Returns the hash of a shared object, if the place has it.
    pub(super) fn code(&self, record: &Record) -> Option<ContentId> {
        self.files(record).ok()?.get(SHARED_OBJECT).map(ContentId::of)
    }
}
