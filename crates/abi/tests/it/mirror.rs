//! The C compiler compares every size and offset of the headers with the Rust mirror.

use precast_abi::nativecall::{self, registry};
use precast_abi::{HEADERS, HOST_HEADERS, NATIVECALL_HEADERS, context, driver, module, tensor};
use std::fmt::Write as _;
use std::mem::{offset_of, size_of};
use std::process::Command;

macro_rules! mirror {
    ($text:ident, $c:literal, $rust:ident, $($field:ident $(= $c_field:literal)?),+ $(,)?) => {
        // Destructured without `..`, so that a field missing from the list is a compile error.
        const _: fn(&$rust) = |value| { let $rust { $($field: _),+ } = value; };
        writeln!($text, "_Static_assert(sizeof({}) == {}, \"size of {}\");", $c, size_of::<$rust>(), $c).unwrap();
        $(
            let field = [$($c_field,)? stringify!($field)][0];
            writeln!($text, "_Static_assert(offsetof({}, {field}) == {}, \"{}.{field}\");", $c, offset_of!($rust, $field), $c).unwrap();
        )+
    };
}

#[expect(clippy::too_many_lines, reason = "one line a struct, stamped by the macro")]
fn assertions() -> String {
    use context::{Context, Error, Host};
    use driver::{Elemwise, Monoid, Reduce, Rows, RowsStep};
    use module::{Module, ModuleEntry, Task};
    use registry::Registry;
    use tensor::{Object, Tensor, Type};
    let headers = ["module", "driver", "nativecall"].map(|name| format!("#include <precast/{name}.h>\n"));
    let mut c = headers.concat();
    mirror!(c, "pc_type", Type, name, dealloc);
    mirror!(c, "pc_object", Object, refcount, ty = "type");
    mirror!(
        c,
        "pc_tensor",
        Tensor,
        object,
        data,
        dtype,
        ndim,
        shape,
        strides,
        flags,
        reserved,
        owner,
        capacity_bytes
    );
    mirror!(c, "pc_error", Error, kind, reserved, message);
    mirror!(
        c,
        "pc_host",
        Host,
        abi_version,
        struct_bytes,
        tensor_new,
        tensor_view,
        alloc,
        release,
        format,
        gemm,
        elemwise,
        reduce,
        rows,
        error_format,
        parallel,
        gemms,
        frame,
        cancelled
    );
    mirror!(c, "pc_context", Context, host, error);
    mirror!(c, "pc_elemwise", Elemwise, n_in, flags, n_out, scalar, dtypes, names, kernel);
    mirror!(
        c,
        "pc_monoid",
        Monoid,
        lanes,
        item,
        no_empty,
        clear,
        fold,
        step,
        close,
        finish,
        steps,
        few,
        few_columns
    );
    mirror!(c, "pc_reduce", Reduce, n_in, flags, axes, dtype, scalar, names, map, monoid);
    mirror!(c, "pc_rows_step", RowsStep, kernel, monoid, values, n_in, n_out, pass, once);
    mirror!(
        c, "pc_rows", Rows, n_in, flags, n_full, n_single, n_values, n_steps, n_passes, axes, kept, scalar,
        dtypes, outputs, steps
    );
    mirror!(c, "pc_task", Task, kind, apply, variable);
    mirror!(
        c,
        "pc_entry",
        ModuleEntry,
        key,
        signature,
        native,
        instance_bytes,
        n_inputs,
        n_outputs,
        n_slots,
        n_tasks,
        reserved,
        tasks,
        load,
        init,
        run,
        cleanup,
        function
    );
    mirror!(
        c,
        "pc_module",
        Module,
        magic,
        abi_version,
        module_bytes,
        entry_bytes,
        tensor_bytes,
        host_bytes,
        context_bytes,
        n_entries,
        entries
    );
    mirror!(c, "pc_native_registry", Registry, version, struct_bytes, intern, release, id, text);
    // On the Rust side a table is a sequence of words: 16 bytes per entry, 24 with a number.
    for (name, words) in [("pc_native_entry", 2), ("pc_native_slot", 1), ("pc_native_id_entry", 3)] {
        writeln!(c, "_Static_assert(sizeof({name}) == {}, \"size of {name}\");", 8 * words).unwrap();
    }
    let constants = [
        ("PC_REDUCE_ALL", i64::from(driver::REDUCE_ALL)),
        ("PC_REDUCE_BLOCK", driver::REDUCE_BLOCK as i64),
        ("PC_NATIVE_MAX_BYTES", nativecall::MAX_BYTES as i64),
        ("PC_NATIVE_MAX_DEPTH", nativecall::MAX_DEPTH as i64),
        ("PC_NATIVE_MAX_RANK", tensor::MAX_NDIM as i64),
        ("PC_NATIVE_REGISTRY_VERSION", i64::from(registry::VERSION)),
        ("PC_MODULE_MAGIC", i64::from(module::MAGIC)),
        ("PC_ABI_VERSION", i64::from(precast_abi::ABI_VERSION)),
        ("PC_MAX_NDIM", tensor::MAX_NDIM as i64),
        ("PC_LOOP_OPERANDS", driver::LOOP_OPERANDS as i64),
        ("PC_ERROR_BYTES", context::ERROR_BYTES as i64),
        ("PC_ERROR_ASSERT", i64::from(context::ErrorKind::Assert.code())),
        ("PC_ERROR_CANCELLED", i64::from(context::ErrorKind::Cancelled.code())),
        ("PC_TASK_STRUCT", 4),
        ("PC_FLAG_READONLY", i64::from(tensor::FLAG_READONLY)),
    ];
    for (name, value) in constants {
        writeln!(c, "_Static_assert({name} == {value}, \"{name}\");").unwrap();
    }
    c
}

fn compile(language: &str, text: &str) -> std::process::Output {
    let scratch = tempfile::tempdir().unwrap();
    for (name, header) in HEADERS.iter().chain(HOST_HEADERS).chain(NATIVECALL_HEADERS) {
        let path = scratch.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, header).unwrap();
    }
    fs_err::write(scratch.path().join("t.c"), text).unwrap();
    let standard = if language == "c" { "-std=c11" } else { "-std=c++17" };
    let compiler = cc::Build::new()
        .cpp(language == "c++")
        .target("x86_64-unknown-linux-gnu")
        .host("x86_64-unknown-linux-gnu")
        .opt_level(0)
        .cargo_metadata(false)
        .get_compiler();
    Command::new(compiler.path())
        .current_dir(scratch.path())
        .args([
            "-x",
            language,
            standard,
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-I.",
            "-fsyntax-only",
            "t.c",
        ])
        .output()
        .unwrap()
}

#[test]
fn rust_mirrors_the_headers() {
    let output = compile("c", &assertions());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn wrong_offset_fails_to_compile() {
    let wrong = assertions().replacen("== 0, \"pc_tensor.object\"", "== 8, \"pc_tensor.object\"", 1);
    assert!(!compile("c", &wrong).status.success());
}

#[test]
fn each_header_compiles_alone_in_c_and_cxx() {
    for (name, _) in HEADERS.iter().chain(HOST_HEADERS) {
        for language in ["c", "c++"] {
            let output = compile(language, &format!("#include <{name}>\n"));
            assert!(
                output.status.success(),
                "{name} as {language}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

#[test]
fn table_macro_is_valid_c_and_cxx() {
    let text = "#include <precast/module.h>\nPC_EXTERN_C const pc_entry e;\nconst pc_entry e = {{0}, \"a\", \"b\", 0, 0, 0, 0, 0, 0, \
                NULL, NULL, NULL, NULL, NULL, NULL};\nstatic const pc_entry *const t[] = {&e};\nPC_MODULE(t)\n";
    for language in ["c", "c++"] {
        let output = compile(language, text);
        assert!(output.status.success(), "{language}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
