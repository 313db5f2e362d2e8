//! Verifies exports, for `import` and `verify`.

use precast_store::{Export, ImportError, Imported, Stated};

use crate::provenance;

/// Verifies everything in an export, and writes nothing.
pub(crate) fn verify(export: &Export) -> Result<Imported, ImportError> {
    let found = export.verify()?;
    check_statements(export)?;
    Ok(found)
}

/// Checks that statements about records match their records. Once a statement is stored next to a record, readers
/// assume that it is about this record.
fn check_statements(export: &Export) -> Result<(), ImportError> {
    for stated in export.statements() {
        let Stated { member, record, archive, statement } = stated?;
        let statement = serde_json::from_slice(statement);
        if !statement.is_ok_and(|statement| provenance::is_about(&statement, &record, &archive)) {
            return Err(ImportError::Member { member, why: "not a statement about its record" });
        }
    }
    Ok(())
}
