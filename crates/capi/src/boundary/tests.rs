//! The structs of the header against their mirrors; the boundary itself.

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

/// The words of this thread's last failure.
fn message() -> String {
    // SAFETY: it is a text of this thread, which has no other failure meanwhile.
    unsafe { CStr::from_ptr(last_message()) }.to_str().unwrap().to_owned()
}

#[test]
fn a_panic_becomes_a_status() {
    let status = guard(|| panic!("an example of {}", 1));
    assert_eq!((status, last_status()), (Status::Internal, Status::Internal));
    assert_eq!(message(), "a defect of precast: an example of 1\nhint: please report it");
}

#[test]
fn each_thread_has_a_last_failure_of_its_own() {
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

/// The bytes of a field.
fn bytes<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Facts of C about structs: their sizes, where their fields are, and how large those are.
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
fn the_header_has_the_structs_and_numbers_of_the_library() {
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
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("layout.c");
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
