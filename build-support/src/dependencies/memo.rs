//! Caches the answer as long as the content of every file that affects it is unchanged.
//!
//! ```text
//! {"question": hash of target, features, cargo and package, "inputs": [[path, hash of content]…], "answer": …}
//! ```
//! Modification times are not used, since they can be wrong in both directions. Reading a few dozen manifests takes a
//! millisecond, `cargo metadata` takes a hundred. A memo that cannot be read or written only costs that time.

use super::{Dependencies, Query};
use precast_store::key::{Canonical, ContentId};
use precast_store::whole::write_if_changed;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::SystemTime;

#[derive(Serialize, Deserialize)]
struct Memo {
    question: ContentId,
    inputs: Vec<(PathBuf, ContentId)>,
    answer: Dependencies,
}

pub(super) fn get(query: &Query) -> Option<Dependencies> {
    let memo: Memo = serde_json::from_slice(&fs_err::read(&query.memo).ok()?).ok()?;
    let unchanged =
        |(path, hash): &(PathBuf, ContentId)| ContentId::of_file(path).is_ok_and(|found| found == *hash);
    let known = memo.question == question(query) && memo.inputs.iter().all(unchanged);
    // A registry's directory may have been moved or emptied.
    (known && memo.answer.declaring.iter().all(|manifest| manifest.is_file())).then_some(memo.answer)
}

pub(super) fn put(query: &Query, answer: &Dependencies, started: SystemTime) {
    let settled =
        |path: &PathBuf| fs_err::metadata(path).and_then(|found| found.modified()).ok() < Some(started);
    // A file that was written while Cargo ran may differ from the version that Cargo read.
    if !answer.inputs.iter().all(settled) {
        return;
    }
    let inputs: Option<Vec<(PathBuf, ContentId)>> =
        answer.inputs.iter().map(|path| Some((path.clone(), ContentId::of_file(path).ok()?))).collect();
    let Some(inputs) = inputs else { return };
    let memo = Memo { question: question(query), inputs, answer: answer.clone() };
    if let Ok(bytes) = serde_json::to_vec(&memo) {
        let _ = write_if_changed(&query.memo, &bytes);
    }
}

fn question(query: &Query) -> ContentId {
    let Query { cargo, manifest_dir, target, features, memo: _ } = query;
    let encoder = Canonical::new("precast v1 dependencies memo").str(env!("CARGO_PKG_VERSION")).str(target);
    let encoder = encoder
        .str(&format!("{features:?}"))
        .str(&cargo.to_string_lossy())
        .str(&manifest_dir.to_string_lossy());
    ContentId::from_bytes(encoder.finish())
}
