//! Code for state that outlives a call (slots, temporaries, the ops' struct members), and code that runs once at load.

use super::exceptions::caught;
use super::variables::{Outline, Step};
use crate::object::CLinkerObject;
use crate::template::render;
use precast_store::key::Language;

/// The code around the body of every function of a module. With compat headers, whose functions have no context
/// argument, it sets the current context. With author-written C, it preserves the floating-point state.
pub(super) struct Context {
    pub(super) enter: String,
    pub(super) leave: &'static str,
    /// The code after a sync: it detects errors that code reported without failing.
    pub(super) synced: &'static str,
    language: Language,
}

impl Context {
    pub(super) fn new(is_compat: bool, is_foreign: bool, language: Language) -> Self {
        let keep = if is_foreign { "PC_KEEP_FLOAT_STATE\n" } else { "" };
        match is_compat {
            true => Self {
                enter: format!("{keep}pc_context *const pc_previous = pc_compat_enter(ctx);\n"),
                leave: "pc_compat_leave(pc_previous);\n",
                synced: include_str!("../../c/synced.c.in"),
                language,
            },
            false => Self { enter: keep.to_owned(), leave: "", synced: "", language },
        }
    }

    /// Wraps an op's code, which may throw in C++; if it does, `then` is executed.
    pub(super) fn caught(&self, code: String, then: &str) -> String {
        if code.is_empty() {
            return code;
        }
        let [front, behind] = self.catches(then);
        front + &code + &behind
    }

    /// Returns the text before and after such code.
    pub(super) fn catches(&self, then: &str) -> [String; 2] {
        caught(self.language, then)
    }
}

/// Renders the members that ops declare, and their params.
pub(super) fn members(outline: &Outline<'_>) -> String {
    let one = |step: &Step<'_>| {
        let own = line(step.own(step.op.c_support_code_struct(&step.node, &step.name)));
        step.params.member(&step.name) + &own
    };
    outline.steps().map(one).collect()
}

/// Renders the body of `init`: slots, params, then each op's members. On failure it releases the initialized state in
/// reverse order.
pub(super) fn init(outline: &Outline<'_>, n_constants: usize, context: &Context) -> String {
    let (mut code, mut unwind) = (String::new(), String::new());
    for step in outline.steps() {
        let init = step.op.c_init_code_struct(&step.node, &step.name, &step.sub(step.struct_task));
        if !init.is_empty() {
            let task = step.struct_task;
            let thrown = format!("failure = {task}; goto label_{task};");
            let init = context.caught(step.own(init), &thrown);
            let cleanup = step.own(step.op.c_cleanup_code_struct(&step.node, &step.name));
            let cleanup = line(context.caught(cleanup, ""));
            code.push_str(&format!("{{\n{init}\n}}\n"));
            unwind = format!("label_{task}: ;\n{{\n{cleanup}}}\n{unwind}");
        }
    }
    let n_slots = n_constants + outline.n_params;
    let take = each(n_slots, "self->pc_slots[pc_i] = pc_values[pc_i];\npc_incref(pc_values[pc_i]);");
    let give = each(n_slots, "pc_xdecref(self->pc_slots[pc_i]);");
    let params = params(outline, n_constants);
    let Context { enter, leave, .. } = context;
    let head = format!("{enter}(void)self;\n(void)ctx;\n(void)pc_values;\n");
    if unwind.is_empty() && params.is_empty() {
        return format!("{head}{take}{leave}return 0;\n");
    }
    let refused = if params.is_empty() { "" } else { "label_params: ;\n" };
    let done = format!("{take}{params}{code}{leave}return 0;\n");
    format!("int failure = 0;\n{head}{done}{unwind}{refused}{give}{leave}return failure;\n")
}

/// Renders the code that fills the params of every Apply from their slots, before any op's own code can see them.
fn params(outline: &Outline<'_>, n_constants: usize) -> String {
    let fill = |step: &Step<'_>| {
        let fail = format!("{{ failure = {}; goto label_params; }}", step.struct_task);
        step.params.extract(&step.name, n_constants + step.first_param, &fail)
    };
    outline.steps().map(fill).collect()
}

/// Renders the body of `cleanup`: the ops' members, temporaries, slots.
pub(super) fn cleanup(outline: &Outline<'_>, n_slots: usize, context: &Context) -> String {
    let mut text = format!("{}(void)self;\n(void)ctx;\n", context.enter);
    for step in outline.steps().rev() {
        let code = step.own(step.op.c_cleanup_code_struct(&step.node, &step.name));
        let code = context.caught(code, "");
        if !code.is_empty() {
            text.push_str(&format!("{{\n{code}\n}}\n"));
        }
    }
    text + &each(outline.n_temps, "pc_xdecref(self->pc_temps[pc_i]);")
        + &each(n_slots, "pc_xdecref(self->pc_slots[pc_i]);")
        + context.leave
}

/// Renders statements for each of `n` cells, with the index `pc_i`. A loop compiles equally fast for one cell and for a
/// thousand.
fn each(n: usize, statements: &str) -> String {
    match n {
        0 => String::new(),
        _ => {
            let values = [("N", &*n.to_string()), ("STATEMENTS", statements)];
            render(include_str!("../../c/each.c.in"), &values)
        }
    }
}

/// Returns the function that runs once after loading, and its name; `0` if all snippets are empty.
pub(super) fn load(outline: &Outline<'_>, context: &Context) -> (String, &'static str) {
    let mut snippets: Vec<String> = Vec::new();
    let types = outline.vars().flat_map(|var| var.ctype.c_init_code());
    let params = outline.steps().flat_map(|step| step.params.c_init_code());
    let shared = |step: &'_ Step<'_>| -> Vec<String> {
        step.op.c_init_code().into_iter().map(|code| step.shared(code)).collect()
    };
    let ops = outline.steps().flat_map(shared);
    let applies = outline.steps().map(|step| step.own(step.op.c_init_code_apply(&step.node, &step.name)));
    for snippet in types.chain(params).chain(ops).chain(applies) {
        if !snippet.is_empty() && !snippets.contains(&snippet) {
            snippets.push(snippet);
        }
    }
    if snippets.is_empty() {
        return (String::new(), "0");
    }
    let code = context.caught(snippets.join("\n"), "");
    let values = [("CODE", &*code), ("ENTER", &*context.enter), ("LEAVE", context.leave)];
    (render(include_str!("../../c/load.c.in"), &values), "@M@_load")
}

fn line(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
