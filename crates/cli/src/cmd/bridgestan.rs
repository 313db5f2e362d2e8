//! `precast bridgestan`: a model package behind the library that opens it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use precast_store::Bundle;
use precast_store::whole::Whole;

use crate::args::BridgestanArgs;
use crate::error::{Exit, Failure};
use crate::term;

/// The name of the library.
const LIBRARY: &str = "libprecast_bridgestan.so";

/// The key of the metadata that makes a bundle a model package.
const MODEL: &str = "precast.model";

/// The last bytes of a library with a package; `bridgestan/src/package.rs` reads them.
const MAGIC: &[u8; 16] = b"precast-package1";

/// Runs the command.
pub(super) fn run(args: &BridgestanArgs) -> Result<Exit, Failure> {
    let bundle = Bundle::open(&args.package)?;
    if !bundle.metadata("")?.json.contains_key(MODEL) {
        let text = format!("`{}` is not a model package", args.package.display());
        return Err(Failure::new(text).hint("`precast.pymc.export` writes one"));
    }
    let path = args.library.clone().map_or_else(library, Ok)?;
    let mut bytes = fs_err::read(&path)?;
    if !bytes.starts_with(b"\x7fELF") || bytes.ends_with(MAGIC) {
        let text = format!("`{}` is not {LIBRARY} as Cargo built it", path.display());
        return Err(Failure::new(text));
    }
    let package = bundle.bytes();
    bytes.extend_from_slice(package);
    bytes.extend((package.len() as u64).to_le_bytes());
    bytes.extend(MAGIC);
    let out = args.out.clone().unwrap_or_else(|| args.package.with_extension("so"));
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut file = Whole::with_mode(folder, 0o755)?;
        file.write_all(&bytes)?;
        file.rename(&out)
    };
    write().map_err(|error| Failure::new(format!("cannot write `{}`: {error}", out.display())))?;
    term::note(&format!("wrote {} ({} bytes)", out.display(), bytes.len()));
    Ok(Exit::Ok)
}

/// Finds the library beside this program.
fn library() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    let folder = program.parent().unwrap_or(Path::new("."));
    let places = [folder.join(LIBRARY), folder.join("../lib").join(LIBRARY)];
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| {
        Failure::new(format!("cannot find {LIBRARY} beside `{}`", program.display())).hint(
            "build it with `cargo build --release -p precast-bridgestan`, and name it with `--library FILE`",
        )
    })
}
