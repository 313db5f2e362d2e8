//! Whether an export is whole: what `import` and `verify` ask.

use precast_store::{Export, ImportError, Imported, Stated};

use crate::provenance;

/// Verifies everything in an export, and writes nothing.
pub(crate) fn verify(export: &Export) -> Result<Imported, ImportError> {
    let found = export.verify()?;
    check_statements(export)?;
    Ok(found)
}

/// Checks that what is stated of records is about them: once it stands beside a record, people read it as said of that one.
fn check_statements(export: &Export) -> Result<(), ImportError> {
    for stated in export.statements() {
        let Stated { member, record, archive, statement } = stated?;
        let statement = serde_json::from_slice(statement);
        if !statement.is_ok_and(|statement| provenance::is_about(&statement, &record, &archive)) {
            return Err(ImportError::Member { member, why: "it is no statement about its record" });
        }
    }
    Ok(())
}
