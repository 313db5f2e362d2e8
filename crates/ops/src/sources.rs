//! The C headers of this crate as text, because a JIT needs them without a source tree.

use precast_codegen::SourceSet;

/// The logical name and content of every header below `c/precast`; `build.rs` generates the list.
const HEADERS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/headers.rs"));

/// Returns the named headers and all headers that they include, directly or indirectly, from this crate and from the
/// ABI.
pub(crate) fn closure<S: AsRef<str>>(names: &[S]) -> SourceSet {
    let mut set = SourceSet::new();
    let mut open: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
    while let Some(name) = open.pop() {
        let own = HEADERS
            .iter()
            .chain(precast_abi::HEADERS)
            .chain(precast_abi::KERNEL_HEADERS)
            .find(|(known, _)| *known == name);
        let Some((_, text)) = own.filter(|_| !set.contains_key(&name)) else { continue };
        let includes = text.lines().filter_map(|line| line.strip_prefix("#include <")?.strip_suffix('>'));
        open.extend(includes.map(str::to_owned));
        set.insert(name, (*text).into());
    }
    set
}
