//! Adds the ops that a reference calls, if they are ops of the same manifest, to the op with that reference.

use precast_codegen::external::Declaration;

/// Returns the declaration with the ops that its reference calls, directly or indirectly.
///
/// # Errors
/// Fails, with a message, if a reference depends on itself.
pub(super) fn attach(declaration: Declaration, all: &[Declaration]) -> Result<Declaration, String> {
    attached(declaration, all, &mut Vec::new())
}

fn attached(
    mut declaration: Declaration,
    all: &[Declaration],
    open: &mut Vec<String>,
) -> Result<Declaration, String> {
    if open.contains(&declaration.name) {
        open.push(declaration.name);
        let own = open.last().map_or("", String::as_str);
        let path = open.join("` calls `");
        return Err(format!(
            "calls itself: `{path}`\nhint: use `np.{own}(…)` for a library function of this name"
        ));
    }
    open.push(declaration.name.clone());
    let known: Vec<String> = declaration.reference_ops.iter().map(|op| op.name.clone()).collect();
    let is_called = |name: &String| !known.contains(name) && is_called(name, &declaration.reference);
    let called: Vec<&Declaration> = all.iter().filter(|other| is_called(&other.name)).collect();
    for other in called {
        let other = attached(other.clone(), all, open)?;
        declaration.reference_ops.push(other);
    }
    open.pop();
    Ok(declaration)
}

/// Returns whether one of the expressions contains a call of the name.
fn is_called(name: &str, expressions: &[String]) -> bool {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let calls = |text: &String| {
        text.match_indices(name).any(|(at, _)| {
            let (before, behind) = (&text[..at], &text[at + name.len()..]);
            !before.ends_with(|c| is_word(c) || c == '.') && behind.trim_start().starts_with('(')
        })
    };
    expressions.iter().any(calls)
}
