//! The functions of the interface. Each turns pointers into references, calls safe code, and writes results.
//!
//! # Safety
//! Handles come from the constructors here and were not destructed. Arrays have the sizes that `bs_param_num` and
//! `bs_param_unc_num` return, texts end with a NUL, and `error_msg` is NULL or points to a pointer. A function that fails
//! returns -1 or NULL, and writes a text that `bs_free_error_msg` frees. No panic crosses the boundary.
#![allow(unsafe_code, reason = "pointers of C; their contract is stated above")]
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "they have the same reason")]
#![allow(clippy::missing_safety_doc, reason = "stated above, once for all functions")]
#![allow(non_upper_case_globals, reason = "names of the interface")]

mod place;

pub(crate) use place::library;

use crate::error::Error;
use crate::model::{Generator, Model};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// The version of the interface.
#[unsafe(no_mangle)]
pub(crate) static bs_major_version: c_int = 2;
/// The second part of the version.
#[unsafe(no_mangle)]
pub(crate) static bs_minor_version: c_int = 9;
/// The third part of the version.
#[unsafe(no_mangle)]
pub(crate) static bs_patch_version: c_int = 0;

/// Runs the work of a function. Returns `None` after a failure, whose text is written to `message`.
unsafe fn guard<T>(message: *mut *mut c_char, work: impl FnOnce() -> Result<T, Error>) -> Option<T> {
    // A panic leaves no broken state behind: models do not change.
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panic");
        Err(Error::Panic(text.to_owned()))
    });
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            let text = CString::new(error.to_string().replace('\0', " ")).unwrap_or_default();
            if !message.is_null() {
                // SAFETY: not NULL, so it points to a pointer of the caller.
                unsafe { message.write(text.into_raw()) };
            }
            None
        }
    }
}

/// Runs the work of a function on a model. Returns 0, or -1 after a failure.
unsafe fn on_model(
    model: *const Model,
    message: *mut *mut c_char,
    work: impl FnOnce(&Model) -> Result<(), Error>,
) -> c_int {
    // SAFETY: guaranteed by the caller of the interface.
    let model = unsafe { model.as_ref() };
    // SAFETY: as above.
    let done = unsafe { guard(message, || work(model.ok_or(Error::Null("model"))?)) };
    if done.is_some() { 0 } else { -1 }
}

/// Returns a text; NULL is an empty one.
unsafe fn text<'a>(pointer: *const c_char, name: &'static str) -> Result<&'a str, Error> {
    if pointer.is_null() {
        return Ok("");
    }
    // SAFETY: guaranteed by the caller of the interface.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| Error::Text(name))
}

/// Returns numbers of the caller.
unsafe fn read<'a>(pointer: *const f64, count: usize, name: &'static str) -> Result<&'a [f64], Error> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Error::Null(name)),
        // SAFETY: guaranteed by the caller of the interface.
        (false, _) => Ok(unsafe { from_raw_parts(pointer, count) }),
    }
}

/// Returns memory of the caller for numbers.
unsafe fn write<'a>(pointer: *mut f64, count: usize, name: &'static str) -> Result<&'a mut [f64], Error> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Error::Null(name)),
        // SAFETY: guaranteed by the caller of the interface.
        (false, _) => Ok(unsafe { from_raw_parts_mut(pointer, count) }),
    }
}

/// Opens the model with the data, a JSON object. It replaces data of the model; `precast.package` names a package.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_model_construct(
    data: *const c_char,
    _seed: c_uint,
    error_msg: *mut *mut c_char,
) -> *mut Model {
    // SAFETY: the contract of this module.
    let made = unsafe { guard(error_msg, || Model::open(text(data, "data")?)) };
    made.map_or(ptr::null_mut(), |model| Box::into_raw(Box::new(model)))
}

/// Frees a model. NULL is allowed.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_model_destruct(model: *mut Model) {
    if !model.is_null() {
        // SAFETY: the contract of this module.
        drop(unsafe { Box::from_raw(model) });
    }
}

/// Frees the text of an error. NULL is allowed.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_free_error_msg(error_msg: *mut c_char) {
    if !error_msg.is_null() {
        // SAFETY: the contract of this module.
        drop(unsafe { CString::from_raw(error_msg) });
    }
}

/// Does nothing: models print nothing.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_set_print_callback(_: *const c_void, _: *mut *mut c_char) -> c_int {
    0
}

/// Returns the name of the model.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_name(model: *const Model) -> *const c_char {
    // SAFETY: the contract of this module.
    unsafe { model.as_ref() }.map_or(c"".as_ptr(), |model| model.name.as_ptr())
}

/// Returns versions.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_model_info(model: *const Model) -> *const c_char {
    // SAFETY: the contract of this module.
    unsafe { model.as_ref() }.map_or(c"".as_ptr(), |model| model.info.as_ptr())
}

/// Returns the names of parameters, transformed parameters and generated quantities, separated by commas.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_param_names(
    model: *const Model,
    include_tp: bool,
    include_gq: bool,
) -> *const c_char {
    let part = Model::part(include_tp, include_gq);
    // SAFETY: the contract of this module.
    unsafe { model.as_ref() }.map_or(c"".as_ptr(), |model| model.names[part].as_ptr())
}

/// Returns the names of the unconstrained values, separated by commas.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_param_unc_names(model: *const Model) -> *const c_char {
    // SAFETY: the contract of this module.
    unsafe { model.as_ref() }.map_or(c"".as_ptr(), |model| model.unconstrained_names.as_ptr())
}

/// Returns the number of parameters, transformed parameters and generated quantities.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_param_num(
    model: *const Model,
    include_tp: bool,
    include_gq: bool,
) -> c_int {
    // SAFETY: the contract of this module.
    let count = unsafe { model.as_ref() }.map_or(0, |model| model.count(include_tp, include_gq));
    c_int::try_from(count).unwrap_or(c_int::MAX)
}

/// Returns the number of unconstrained values.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_param_unc_num(model: *const Model) -> c_int {
    // SAFETY: the contract of this module.
    let count = unsafe { model.as_ref() }.map_or(0, Model::dim);
    c_int::try_from(count).unwrap_or(c_int::MAX)
}

/// Writes parameters, and where asked for transformed parameters and generated quantities, which need a generator.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_param_constrain(
    model: *const Model,
    include_tp: bool,
    include_gq: bool,
    theta_unc: *const f64,
    theta: *mut f64,
    rng: *const Generator,
    error_msg: *mut *mut c_char,
) -> c_int {
    let work = |model: &Model| {
        // SAFETY: the contract of this module.
        let generator = unsafe { rng.as_ref() };
        if include_gq && generator.is_none() {
            return Err(Error::NoGenerator);
        }
        // SAFETY: as above.
        let q = unsafe { read(theta_unc, model.dim(), "theta_unc")? };
        // SAFETY: as above.
        let target = unsafe { write(theta, model.count(include_tp, include_gq), "theta")? };
        model.constrain(q, include_tp, generator.filter(|_| include_gq), target)
    };
    // SAFETY: as above.
    unsafe { on_model(model, error_msg, work) }
}

/// Writes the unconstrained values of parameters.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_param_unconstrain(
    model: *const Model,
    theta: *const f64,
    theta_unc: *mut f64,
    error_msg: *mut *mut c_char,
) -> c_int {
    let work = |model: &Model| {
        // SAFETY: the contract of this module.
        let theta = unsafe { read(theta, model.count(false, false), "theta")? };
        // SAFETY: as above.
        model.unconstrain(theta, unsafe { write(theta_unc, model.dim(), "theta_unc")? })
    };
    // SAFETY: as above.
    unsafe { on_model(model, error_msg, work) }
}

/// Writes the unconstrained values of parameters in JSON.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_param_unconstrain_json(
    model: *const Model,
    json: *const c_char,
    theta_unc: *mut f64,
    error_msg: *mut *mut c_char,
) -> c_int {
    let work = |model: &Model| {
        // SAFETY: the contract of this module.
        let json = unsafe { text(json, "json")? };
        // SAFETY: as above.
        model.unconstrain_json(json, unsafe { write(theta_unc, model.dim(), "theta_unc")? })
    };
    // SAFETY: as above.
    unsafe { on_model(model, error_msg, work) }
}

/// Writes an initial point of finite density: parameters in JSON, and others at random.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_param_initialize(
    model: *const Model,
    json: *const c_char,
    rng: *const Generator,
    init_radius: f64,
    max_tries: c_int,
    jacobian: bool,
    theta_unc: *mut f64,
    error_msg: *mut *mut c_char,
) -> c_int {
    let work = |model: &Model| {
        // SAFETY: the contract of this module.
        let (json, generator) = unsafe { (text(json, "json")?, rng.as_ref().ok_or(Error::NoGenerator)?) };
        // SAFETY: as above.
        let q = unsafe { write(theta_unc, model.dim(), "theta_unc")? };
        model.initialize(json, generator, init_radius, max_tries, jacobian, q)
    };
    // SAFETY: as above.
    unsafe { on_model(model, error_msg, work) }
}

/// Writes the log density.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_log_density(
    model: *const Model,
    _propto: bool,
    jacobian: bool,
    theta_unc: *const f64,
    lp: *mut f64,
    error_msg: *mut *mut c_char,
) -> c_int {
    let work = |model: &Model| {
        // SAFETY: the contract of this module.
        let (q, lp) = unsafe { (read(theta_unc, model.dim(), "theta_unc")?, write(lp, 1, "lp")?) };
        lp[0] = model.density(jacobian).logp(q)?;
        Ok(())
    };
    // SAFETY: as above.
    unsafe { on_model(model, error_msg, work) }
}

/// Writes the log density and its gradient.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_log_density_gradient(
    model: *const Model,
    _propto: bool,
    jacobian: bool,
    theta_unc: *const f64,
    val: *mut f64,
    grad: *mut f64,
    error_msg: *mut *mut c_char,
) -> c_int {
    let work = |model: &Model| {
        let dim = model.dim();
        // SAFETY: the contract of this module.
        let (q, val) = unsafe { (read(theta_unc, dim, "theta_unc")?, write(val, 1, "val")?) };
        // SAFETY: as above.
        val[0] = model.density(jacobian).logp_and_grad(q, unsafe { write(grad, dim, "grad")? })?;
        Ok(())
    };
    // SAFETY: as above.
    unsafe { on_model(model, error_msg, work) }
}

/// Writes the log density, its gradient and its Hessian.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_log_density_hessian(
    model: *const Model,
    _propto: bool,
    jacobian: bool,
    theta_unc: *const f64,
    val: *mut f64,
    grad: *mut f64,
    hessian: *mut f64,
    error_msg: *mut *mut c_char,
) -> c_int {
    let work = |model: &Model| {
        let dim = model.dim();
        // SAFETY: the contract of this module.
        let (q, val) = unsafe { (read(theta_unc, dim, "theta_unc")?, write(val, 1, "val")?) };
        // SAFETY: as above.
        let (grad, hessian) = unsafe { (write(grad, dim, "grad")?, write(hessian, dim * dim, "hessian")?) };
        val[0] = model.density(jacobian).hessian(q, grad, hessian)?;
        Ok(())
    };
    // SAFETY: as above.
    unsafe { on_model(model, error_msg, work) }
}

/// Writes the log density, and the product of its Hessian and a vector.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_log_density_hessian_vector_product(
    model: *const Model,
    _propto: bool,
    jacobian: bool,
    theta_unc: *const f64,
    vector: *const f64,
    val: *mut f64,
    hvp: *mut f64,
    error_msg: *mut *mut c_char,
) -> c_int {
    let work = |model: &Model| {
        let dim = model.dim();
        // SAFETY: the contract of this module.
        let (q, val) = unsafe { (read(theta_unc, dim, "theta_unc")?, write(val, 1, "val")?) };
        // SAFETY: as above.
        let (vector, hvp) = unsafe { (read(vector, dim, "vector")?, write(hvp, dim, "hvp")?) };
        val[0] = model.density(jacobian).hessian_product(q, vector, hvp)?;
        Ok(())
    };
    // SAFETY: as above.
    unsafe { on_model(model, error_msg, work) }
}

/// Creates a generator. Equal seeds give equal draws on every host.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_rng_construct(
    seed: c_uint,
    _error_msg: *mut *mut c_char,
) -> *mut Generator {
    Box::into_raw(Box::new(Generator::new(seed)))
}

/// Frees a generator. NULL is allowed.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn bs_rng_destruct(rng: *mut Generator) {
    if !rng.is_null() {
        // SAFETY: the contract of this module.
        drop(unsafe { Box::from_raw(rng) });
    }
}
