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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closure_has_all_and_only_included_headers() {
        let dot = closure(&["precast/ops/dot.h"]);
        assert!(dot.contains_key("precast/output.h") && dot.contains_key("precast/context.h"));
        assert!(!dot.contains_key("precast/ops/math/exp.h"));
    }

    #[test]
    fn arithmetic_includes_no_math_headers() {
        let scalar = closure(&["precast/ops/scalar.h"]);
        assert!(scalar.keys().all(|name| !name.starts_with("precast/ops/math")), "{:?}", scalar.keys());
    }
}
