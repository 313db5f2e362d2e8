//! Printable signatures of Applies as expressions.
//!
//! ```text
//! sum{of=composite{v2=neg(v0); v3=mul(v2,v0); v4=exp(v3); v5=mul(v4,v1); v5}}(f64[..], f64[..]) -> f64[]
//! sum(exp(neg(x) * x) * y)
//! ```

/// The maximum length of an expression, in characters.
const MAX: usize = 200;

/// Returns the expression of a module with one Apply, from its printable signature. `names` are the names of its
/// inputs; inputs without a name are called `x0`, `x1`, …. Returns `None` for a signature of another form.
#[must_use]
pub fn of_signature(signature: &str, names: &[String]) -> Option<String> {
    let (call, _) = signature.rsplit_once(") -> ")?;
    let (label, inputs) = call.rsplit_once('(')?;
    let count = if inputs.is_empty() { 0 } else { inputs.split(", ").count() };
    let name = |i: usize| names.get(i).cloned().unwrap_or_else(|| format!("x{i}"));
    Some(tuple(of_label(label, &(0..count).map(name).collect::<Vec<_>>())))
}

/// Joins several expressions into one, shortened to `MAX` characters.
#[must_use]
pub fn tuple(mut outputs: Vec<String>) -> String {
    if outputs.len() == 1 { outputs.remove(0) } else { shortened(&outputs.join(", ")) }
}

/// Returns the expressions of an op's outputs, from its label. Outputs that the label does not
/// distinguish share one expression.
#[must_use]
pub fn of_label(label: &str, arguments: &[String]) -> Vec<String> {
    let (name, props) = match label.split_once('{') {
        Some((name, props)) if props.ends_with('}') => (name, &props[..props.len() - 1]),
        _ => (label, ""),
    };
    if name == "composite"
        && let Some(outputs) = composite(props, arguments)
    {
        return outputs;
    }
    let infix = match (name, arguments) {
        ("add", [_, _]) => " + ",
        ("sub", [_, _]) => " - ",
        ("mul", [_, _]) => " * ",
        ("div", [_, _]) => " / ",
        _ => return vec![call(name, props, arguments)],
    };
    let operands: Vec<String> = arguments.iter().map(|argument| operand(argument)).collect();
    vec![shortened(&operands.join(infix))]
}

/// Formats a call. An op that is applied to the elements first, `of=…`, becomes an argument.
fn call(name: &str, props: &str, arguments: &[String]) -> String {
    let (of, others): (Vec<&str>, Vec<&str>) =
        split(props, ',').into_iter().partition(|p| p.starts_with("of="));
    let mut arguments = match of[..] {
        [of] => of_label(&of[3..], arguments),
        _ => arguments.to_vec(),
    };
    arguments.extend(others.into_iter().map(str::to_owned));
    shortened(&format!("{name}({})", arguments.join(", ")))
}

/// Returns the outputs of a composite such as `v2=neg(v0); v3=mul(v2,v0); v3`, with each
/// value replaced by its expression.
fn composite(body: &str, arguments: &[String]) -> Option<Vec<String>> {
    let mut values = arguments.to_vec();
    let mut statements = split(body, ';');
    let last = statements.pop()?;
    let value = |values: &[String], name: &str| {
        values.get(name.trim().strip_prefix('v')?.parse::<usize>().ok()?).cloned()
    };
    let all = |values: &[String], names: &str| names.split(',').map(|name| value(values, name)).collect();
    for statement in statements {
        let (label, names) = statement.split_once('=')?.1.strip_suffix(')')?.rsplit_once('(')?;
        let arguments: Vec<String> = all(&values, names)?;
        values.push(tuple(of_label(label, &arguments)));
    }
    all(&values, last)
}

/// Splits a text at separators outside of brackets and trims the parts. An empty text has no parts.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut depth = 0_i32;
    let parts = text.split(move |c: char| {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        depth == 0 && c == separator
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Formats an operand of an infix operator, in parentheses where needed.
fn operand(text: &str) -> String {
    let mut depth = 0_i32;
    let is_infix = text.chars().any(|c| {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        depth == 0 && c == ' '
    });
    if is_infix { format!("({text})") } else { text.to_owned() }
}

/// Cuts a text to [`MAX`] characters, so that an expression built from short texts stays short.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression(signature: &str) -> String {
        of_signature(signature, &["x".to_owned(), "y".to_owned()]).unwrap()
    }

    #[test]
    fn fused_ops_render_as_an_expression() {
        let body = "composite{v2=neg(v0); v3=mul(v2,v0); v4=exp(v3); v5=mul(v4,v1); v5}";
        let types = "(f64[..], f64[..]) -> f64[..]";
        assert_eq!(expression(&format!("{body}{types}")), "exp(neg(x) * x) * y");
        assert_eq!(expression(&format!("sum{{of={body}}}{types}")), "sum(exp(neg(x) * x) * y)");
        let axes = format!("sum{{axes=[0,1],of={body}}}{types}");
        assert_eq!(expression(&axes), "sum(exp(neg(x) * x) * y, axes=[0,1])");
        let two = "composite{v2=add(v0,v1); v3=div(v2,v0); v2,v3}";
        assert_eq!(expression(&format!("{two}{types}")), "x + y, (x + y) / x");
    }

    #[test]
    fn ops_without_input_names_render_as_calls() {
        assert_eq!(of_signature("pow(f64[..], f64[]) -> f64[..]", &[]).unwrap(), "pow(x0, x1)");
        assert_eq!(of_signature("own{k=2}(f64[..]) -> f64[..]", &[]).unwrap(), "own(x0, k=2)");
        assert_eq!(of_signature("none() -> f64[]", &[]).unwrap(), "none()");
        assert_eq!(of_signature("no signature", &[]), None);
    }

    #[test]
    fn expressions_with_shared_values_stay_short() {
        let steps: String = (1..60).map(|k| format!("v{k}=mul(v{0},v{0}); ", k - 1)).collect();
        let long = expression(&format!("composite{{{steps}v59}}(f64[..]) -> f64[..]"));
        assert!(long.chars().count() == MAX + 1 && long.ends_with('…'), "{long}");
        let odd = ["composite{v9=neg(v8); v9}", "composite{", "composite{}", "sum{of=}", "composite{;=(;v}"];
        for label in odd {
            assert!(of_signature(&format!("{label}(f64[..]) -> f64[..]"), &[]).is_some(), "{label}");
        }
    }
}
