//! Statuses, and the last failure of each thread.

use crate::array::ArrayError;
use crate::dlpack::TensorError;
use precast_core::event::chain;
use precast_core::{CallError, LoadEntryError, OpenBundleError};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString};

macro_rules! statuses {
    ($($status:ident = $number:literal $name:literal,)*) => {
        /// `precast_status`: the kind of failure, for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(C)]
        pub(crate) enum Status {
            $($status = $number,)*
        }

        impl Status {
            /// Returns the C name of a status by its number.
            pub(crate) fn name(number: i32) -> &'static CStr {
                match number {
                    $($number => $name,)*
                    _ => c"unknown precast_status",
                }
            }
        }
    };
}

statuses! {
    Ok = 0 c"PRECAST_OK",
    Argument = 1 c"PRECAST_ERROR_ARGUMENT",
    Bundle = 2 c"PRECAST_ERROR_BUNDLE",
    Entry = 3 c"PRECAST_ERROR_ENTRY",
    Load = 4 c"PRECAST_ERROR_LOAD",
    Array = 5 c"PRECAST_ERROR_ARRAY",
    Mismatch = 6 c"PRECAST_ERROR_MISMATCH",
    Op = 7 c"PRECAST_ERROR_OP",
    Signature = 8 c"PRECAST_ERROR_SIGNATURE",
    Internal = 9 c"PRECAST_ERROR_INTERNAL",
}

/// A failure: its status and its message.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    message: String,
}

/// The reason why an argument is rejected before the work starts.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArgumentError {
    /// NULL in place of data to read or write.
    #[error("`{0}` is NULL")]
    Null(&'static str),
    /// Bytes that are not UTF-8 text.
    #[error("`{0}` is not UTF-8")]
    Text(&'static str),
    /// An index out of range.
    #[error("invalid {what} {index}: the function has {count}")]
    Index {
        /// `input` or `output`.
        what: &'static str,
        /// The requested index.
        index: usize,
        /// The number of inputs or outputs.
        count: usize,
    },
    /// More elements than memory can hold.
    #[error("`{0}` exceeds the address space")]
    Count(&'static str),
}

/// The reason why a caller cannot get a plain C function.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SignatureError {
    /// The graph has no plain C function.
    #[error("no plain C function: {0}\nhint: call it with arrays, using `precast_call`")]
    None(precast_core::NoNative),
    /// The function has another signature.
    #[error("the plain C function has signature `{found}`, expected `{asked}`{}", hint(found, asked))]
    Other {
        /// The function's signature.
        found: String,
        /// The caller's signature.
        asked: String,
    },
}

/// Returns a hint if only the kind of failure in the signature differs.
fn hint(found: &str, asked: &str) -> &'static str {
    if found.strip_suffix("!c~") == Some(asked.trim_end_matches('~')) {
        "\nhint: call it with a pc_context, because an op may fail; see precast/context.h"
    } else {
        ""
    }
}

macro_rules! failures {
    ($($error:ty => $status:expr,)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let status: fn(&$error) -> Status = $status;
                Self { status: status(&error), message: chain(&error) }
            }
        }
    )*};
}

failures! {
    ArgumentError => |_| Status::Argument,
    ArrayError => |_| Status::Array,
    TensorError => |_| Status::Array,
    OpenBundleError => |_| Status::Bundle,
    LoadEntryError => |error| match error {
        LoadEntryError::Unknown { .. } => Status::Entry,
        _ => Status::Load,
    },
    CallError => |error| match error {
        CallError::Inputs { .. } | CallError::Outputs { .. } => Status::Mismatch,
        CallError::Input { .. } | CallError::Filter { .. } | CallError::Output { .. } => Status::Mismatch,
        CallError::Extent { .. } | CallError::Result { .. } => Status::Mismatch,
        _ => Status::Op,
    },
    SignatureError => |_| Status::Signature,
}

impl Failure {
    /// Creates a failure from a panic.
    pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let message = format!("internal error: {text}\nhint: please report it");
        Self { status: Status::Internal, message }
    }
}

thread_local! {
    static LAST: RefCell<(Status, CString)> = RefCell::new((Status::Ok, CString::default()));
}

/// Stores a failure as the last one of this thread; returns its status.
pub(crate) fn remember(failure: Failure) -> Status {
    let Failure { status, message } = failure;
    let message = text(message);
    // A thread that is exiting no longer stores a failure, because no code of it can read one.
    let _ = LAST.try_with(|last| last.replace((status, message)));
    status
}

/// Returns the status of this thread's last failure.
pub(crate) fn last_status() -> Status {
    LAST.try_with(|last| last.borrow().0).unwrap_or(Status::Ok)
}

/// Returns the message of this thread's last failure; it is valid until the next failure.
pub(crate) fn last_message() -> *const std::ffi::c_char {
    LAST.try_with(|last| last.borrow().1.as_ptr()).unwrap_or(c"".as_ptr())
}

/// Converts a text for C. A NUL, which a name in a corrupt bundle may contain, is shown as `\0`.
pub(crate) fn text(text: impl Into<String>) -> CString {
    let text: String = text.into();
    CString::new(text.replace('\0', "\\0")).unwrap_or_default()
}
