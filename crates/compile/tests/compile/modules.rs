//! Handwritten modules with the headers of `precast_abi` as their sources.

use std::sync::{Arc, OnceLock};

use precast_codegen::{Host, Module, Unit};
use precast_compile::{Isa, Toolchain, Variant, host_target};
use precast_store::key::{Language, Profile};

/// Returns the compiler of this machine, found once.
pub(crate) fn toolchain() -> &'static Toolchain {
    static FOUND: OnceLock<Toolchain> = OnceLock::new();
    FOUND.get_or_init(|| Toolchain::find(None).expect("these tests need a C compiler"))
}

/// Returns the lowest default level of this machine.
pub(crate) fn isa() -> Isa {
    Isa::defaults(&host_target())[0]
}

pub(crate) fn variant() -> Variant {
    Variant { target: host_target(), isa: isa(), profile: Profile::Release }
}

/// Creates a module whose `run` is `code`, preceded by `support`.
pub(crate) fn module(op: &str, support: &str, code: &str) -> Module {
    let body = format!(
        "{support}
static void @M@_cleanup(void *self, pc_context *ctx) {{ (void)self; (void)ctx; }}
static int @M@_init(void *self, pc_context *ctx, pc_object *const *slots) {{
  (void)self; (void)ctx; (void)slots;
  return 0;
}}
static int @M@_run(void *self, pc_context *ctx, pc_object **args) {{
  (void)self; (void)ctx; (void)args;
  {{
@APPLY0@{code}@APPLY@
  }}
  return 0;
}}
static const pc_task @M@_tasks[] = {{{{PC_TASK_NONE, -1, -1}}}};
PC_EXTERN_C const pc_entry @M@_entry;
const pc_entry @M@_entry = {{{{@KEY@}}, \"{op}\", \"#d)#d\", 0, 1, 1, 0, 1, 0, @M@_tasks, NULL,
                           @M@_init, @M@_run, @M@_cleanup}};
"
    );
    let sources = precast_abi::HEADERS.iter().map(|(name, text)| ((*name).to_owned(), Arc::from(*text)));
    Module {
        signature: format!("graph of {op}"),
        ops: vec![op.to_owned()],
        includes: vec!["precast/module.h".to_owned()],
        body,
        language: Language::C,
        host: Host::Native,
        sources: sources.collect(),
        flags: Vec::new(),
        removed_flags: Vec::new(),
        header_dirs: Vec::new(),
        libraries: Vec::new(),
        lib_dirs: Vec::new(),
        profile: Profile::Release,
        unpublished: false,
        is_alone: false,
        versions: Vec::new(),
        native: Err(precast_core::NoNative::State),
    }
}

/// Creates the kernel `(x + factor) * x` over contiguous f64; `factor` makes modules different.
pub(crate) fn kernel(factor: u32) -> Module {
    module(
        &format!("kernel{factor}(f64[..]) -> f64[..]"),
        "",
        &format!(
            "    const pc_tensor *x = (const pc_tensor *)args[0];
    pc_tensor *out = (pc_tensor *)args[1];
    const double *a = (const double *)x->data;
    double *to = (double *)out->data;
    for (int64_t i = 0; i < pc_tensor_size(x); i++) to[i] = (a[i] + {factor}.0) * a[i];"
        ),
    )
}

pub(crate) fn single(module: Module) -> Unit {
    Unit::single(Arc::new(module))
}
