//! The functions of the shared library.
#![allow(unsafe_code, reason = "a C interface is called")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "the contract of the interface is followed")]
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "as above")]

use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::ptr::null_mut;

type Text = *mut c_char;
type Density = unsafe extern "C" fn(*const c_void, bool, bool, *const f64, *mut f64, *mut Text) -> c_int;

/// A model of the library.
pub(crate) struct Model {
    library: Library,
    model: *mut c_void,
}

impl Model {
    pub(crate) fn open(path: &PathBuf, data: &str) -> Result<Self, String> {
        let library = unsafe { Library::new(path).unwrap() };
        let data = CString::new(data).unwrap();
        let mut text: Text = null_mut();
        let model = unsafe {
            let open = library.get::<unsafe extern "C" fn(*const c_char, c_uint, *mut Text) -> *mut c_void>(
                b"bs_model_construct",
            );
            open.unwrap()(data.as_ptr(), 1, &raw mut text)
        };
        if model.is_null() { Err(taken(&library, text)) } else { Ok(Self { library, model }) }
    }

    pub(crate) fn text(&self, name: &[u8]) -> String {
        unsafe {
            let call =
                self.library.get::<unsafe extern "C" fn(*const c_void) -> *const c_char>(name).unwrap();
            CStr::from_ptr(call(self.model)).to_str().unwrap().to_owned()
        }
    }

    pub(crate) fn names(&self, transformed: bool, generated: bool) -> Vec<String> {
        type Names = unsafe extern "C" fn(*const c_void, bool, bool) -> *const c_char;
        let text = unsafe {
            let call = self.library.get::<Names>(b"bs_param_names").unwrap();
            CStr::from_ptr(call(self.model, transformed, generated)).to_str().unwrap().to_owned()
        };
        text.split(',').map(str::to_owned).collect()
    }

    pub(crate) fn log_density(&self, jacobian: bool, q: *const f64) -> Result<f64, String> {
        let (mut value, mut text) = (0.0, null_mut());
        let status = unsafe {
            let call = self.library.get::<Density>(b"bs_log_density").unwrap();
            call(self.model, true, jacobian, q, &raw mut value, &raw mut text)
        };
        if status == 0 { Ok(value) } else { Err(taken(&self.library, text)) }
    }

    pub(crate) fn unconstrain_json(&self, json: &str) -> Result<[f64; 2], String> {
        type Unconstrain = unsafe extern "C" fn(*const c_void, *const c_char, *mut f64, *mut Text) -> c_int;
        let (mut q, mut text, json) = ([0.0; 2], null_mut(), CString::new(json).unwrap());
        let status = unsafe {
            let call = self.library.get::<Unconstrain>(b"bs_param_unconstrain_json").unwrap();
            call(self.model, json.as_ptr(), q.as_mut_ptr(), &raw mut text)
        };
        if status == 0 { Ok(q) } else { Err(taken(&self.library, text)) }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        unsafe {
            self.library.get::<unsafe extern "C" fn(*mut c_void)>(b"bs_model_destruct").unwrap()(self.model);
        }
    }
}

/// Returns the text of an error and frees it.
fn taken(library: &Library, text: Text) -> String {
    unsafe {
        let copied = CStr::from_ptr(text).to_str().unwrap().to_owned();
        library.get::<unsafe extern "C" fn(Text)>(b"bs_free_error_msg").unwrap()(text);
        copied
    }
}
