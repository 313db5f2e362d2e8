//! Tests that stacks can be unwound through a module, and that hosts with shadow stacks load it.

use crate::modules::{kernel, single, toolchain, variant};
use object::{Object as _, ObjectSection as _};
use precast_compile::compile;

/// Returns the shared object of a release build.
fn shared_object() -> Vec<u8> {
    let compiled = compile(&single(kernel(3)), toolchain(), &variant()).expect("a module");
    compiled.archive.get("unit.so").expect("a shared object").to_vec()
}

#[test]
fn every_module_has_unwind_tables() {
    let bytes = shared_object();
    let file = object::File::parse(&*bytes).unwrap();
    let section = |name: &str| file.section_by_name(name).unwrap().data().unwrap().to_vec();
    assert!(section(".eh_frame").len() > 64, "one entry for each function");
    // The number of functions in the sorted table that unwinders search.
    let header = section(".eh_frame_hdr");
    let count = u32::from_ne_bytes(header[8..12].try_into().unwrap());
    assert!(count >= 3, "init, run and cleanup: {count}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn modules_are_marked_for_shadow_stacks() {
    let bytes = shared_object();
    let file = object::File::parse(&*bytes).unwrap();
    let note = file.section_by_name(".note.gnu.property").unwrap().data().unwrap().to_vec();
    let words: Vec<u32> = note.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect();
    // GNU_PROPERTY_X86_FEATURE_1_AND, its size, and its bits, of which SHSTK is the second.
    let found = words.windows(3).find(|words| words[0] == 0xc000_0002).unwrap();
    assert_eq!((found[1], found[2] & 2), (4, 2), "{words:x?}");
}
