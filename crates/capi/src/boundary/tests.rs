//! Compares the structs of the header with their mirrors, and tests the boundary itself.

use super::guard;
use super::managed::Managed;
use crate::array::Described;
use crate::dlpack::Tensor;
use crate::failure::{ArgumentError, Failure, Status, last_message, last_status};
use crate::handle::PortView;
use precast_core::{DType, MAX_NDIM};
use std::ffi::CStr;
use std::fmt::Write as _;
use std::mem::offset_of;
use std::process::Command;

/// Returns the message of this thread's last failure.
fn message() -> String {
    // SAFETY: the text belongs to this thread, which has no other failure in the meantime.
    unsafe { CStr::from_ptr(last_message()) }.to_str().unwrap().to_owned()
}

#[test]
fn a_panic_becomes_a_status() {
    let status = guard(|| panic!("an example of {}", 1));
    assert_eq!((status, last_status()), (Status::Internal, Status::Internal));
    assert_eq!(message(), "internal error: an example of 1\nhint: please report it");
}

#[test]
fn each_thread_has_its_last_failure() {
    let fail = |name| guard(|| Err(Failure::from(ArgumentError::Null(name))));
    assert_eq!(fail("here"), Status::Argument);
    std::thread::spawn(move || {
        assert_eq!((last_status(), message()), (Status::Ok, String::new()));
        fail("there");
        assert_eq!(message(), "`there` is NULL");
    })
    .join()
    .unwrap();
    assert_eq!(message(), "`here` is NULL");
    assert_eq!(guard(|| Ok(())), Status::Ok);
    assert_eq!(message(), "`here` is NULL", "a success does not clear it");
}

/// Returns the size of a field in bytes.
fn bytes<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Writes C checks of structs: their sizes, and the offsets and sizes of their fields.
macro_rules! layout {
    ($text:ident: $($c:literal $rust:ty { $($c_field:literal $field:ident $(. $inner:ident)?),* $(,)? })*) => {$(
        writeln!($text, "CHECK(sizeof({}) == {});", $c, size_of::<$rust>()).unwrap();
        $(
            let (at, size) = (offset_of!($rust, $field $(. $inner)?), bytes(|of: &$rust| &of.$field $(. $inner)?));
            writeln!($text, "CHECK(offsetof({}, {}) == {at});", $c, $c_field).unwrap();
            writeln!($text, "CHECK(sizeof((({} *)0)->{}) == {size});", $c, $c_field).unwrap();
        )*
    )*};
}

#[test]
fn header_matches_structs_and_numbers() {
    let mut text = String::from("#include <precast.h>\n#define CHECK(fact_) _Static_assert(fact_, #fact_)\n");
    layout! { text:
        "precast_port" PortView { "name" name, "type" ty, "shape" shape, "ndim" ndim, "dtype" dtype }
        "precast_array" Described {
            "data" data, "shape" shape, "strides" strides, "ndim" ndim, "dtype" dtype, "flags" flags
        }
        "DLTensor" Tensor {
            "data" data, "device.device_type" device.device_type, "device.device_id" device.device_id, "ndim" ndim,
            "dtype.code" dtype.code, "dtype.bits" dtype.bits, "dtype.lanes" dtype.lanes, "shape" shape,
            "strides" strides, "byte_offset" byte_offset
        }
        "struct DLManagedTensorVersioned" Managed {
            "version.major" version.major, "version.minor" version.minor, "manager_ctx" manager_ctx,
            "deleter" deleter, "flags" flags, "dl_tensor" dl_tensor
        }
    }
    writeln!(text, "CHECK(PRECAST_ABI_VERSION == {});", env!("PRECAST_ABI_VERSION")).unwrap();
    writeln!(text, "CHECK(PRECAST_MAX_NDIM == {MAX_NDIM});").unwrap();
    writeln!(text, "CHECK(PRECAST_READ_ONLY == {});", crate::array::READ_ONLY).unwrap();
    writeln!(text, "CHECK(sizeof(precast_status) == {});", size_of::<Status>()).unwrap();
    for dtype in DType::ALL {
        writeln!(text, "CHECK(PRECAST_{} == {});", dtype.name().to_uppercase(), dtype.typenum()).unwrap();
    }
    for (number, name) in
        (0..).map(|n| (n, Status::name(n))).take_while(|(_, name)| !name.to_bytes().contains(&b' '))
    {
        writeln!(text, "CHECK({} == {number});", name.to_str().unwrap()).unwrap();
    }
    check(&text);
}

/// Compiles a text with the C compiler.
fn check(text: &str) {
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("check.c");
    fs_err::write(&source, text).unwrap();
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/include");
    let ended = Command::new(compiler)
        .args(["-std=c11", "-fsyntax-only", "-I", include])
        .arg(&source)
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

/// The C types of Rust types in the header.
const TYPES: [(&str, &str); 15] = [
    ("u32", "uint32_t"),
    ("u64", "uint64_t"),
    ("usize", "size_t"),
    ("c_char", "char"),
    ("c_void", "void"),
    ("Status", "precast_status"),
    ("StatusNumber", "precast_status"),
    ("BundleHandle", "precast_bundle"),
    ("FunctionHandle", "precast_function"),
    ("PortView", "precast_port"),
    ("Described", "precast_array"),
    ("Tensor", "DLTensor"),
    ("Managed", "struct DLManagedTensorVersioned"),
    ("Native", "precast_native"),
    ("Host", "struct pc_host"),
];

/// Translates a Rust type to C: `*mut *mut BundleHandle` is `precast_bundle **`.
fn in_c(rust: &str) -> String {
    let rust = rust.trim();
    if let Some(to) = rust.strip_prefix("*mut ") {
        return format!("{} *", in_c(to));
    }
    if let Some(to) = rust.strip_prefix("*const ") {
        return format!("{} const *", in_c(to));
    }
    let known = TYPES.iter().find(|(name, _)| *name == rust);
    known.unwrap_or_else(|| panic!("a type without a mirror: `{rust}`")).1.to_owned()
}

/// Returns the name and the C declaration of each function of the boundary, from its Rust source.
fn declarations() -> Vec<(String, String)> {
    const FILES: [&str; 4] = [
        include_str!("bundle.rs"),
        include_str!("call.rs"),
        include_str!("error.rs"),
        include_str!("function.rs"),
    ];
    let functions = FILES.iter().flat_map(|file| file.split("extern \"C\" fn ").skip(1));
    let declared = functions.map(|function| {
        let (head, _) = function.split_once(" {\n").unwrap();
        let (name, rest) = head.split_once('(').unwrap();
        let (arguments, gives) = rest.rsplit_once(')').unwrap();
        let gives = gives.trim().strip_prefix("->").map_or_else(|| "void".to_owned(), in_c);
        let takes = arguments.split(',').filter_map(|argument| argument.split_once(':'));
        let takes: Vec<String> = takes.map(|(_, ty)| in_c(ty)).collect();
        let takes = if takes.is_empty() { "void".to_owned() } else { takes.join(", ") };
        (name.to_owned(), format!("{gives} {name}({takes});"))
    });
    declared.collect()
}

/// A declaration that contradicts an earlier one is a C error.
#[test]
fn header_matches_function_signatures() {
    let declared = declarations();
    let mut names: Vec<&str> = declared.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, include_str!("../../symbols.txt").lines().collect::<Vec<_>>());
    let lines: Vec<&str> = declared.iter().map(|(_, declaration)| declaration.as_str()).collect();
    check(&format!("#include <precast.h>\n{}\n", lines.join("\n")));
}
