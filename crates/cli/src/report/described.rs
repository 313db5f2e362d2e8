//! Metadata as JSON and as text.

use precast_core::metadata::{Callee, Described, Initial, Metadata, Plan, PlanPort, PlanStep, State};
use precast_core::names::{one_line, visible};
use precast_core::with_array;
use serde_json::{Map, Value, json};

/// The most elements of an initial value that are printed.
const SHOWN: usize = 16;

/// Renders metadata as JSON. Empty parts are omitted.
pub(crate) fn json(metadata: &Metadata) -> Value {
    let Metadata { documentation, inputs, outputs, state, plan, json, unknown } = metadata;
    let mut all = Map::new();
    let mut put = |name: &str, is_empty: bool, value: Value| {
        if !is_empty {
            all.insert(name.to_owned(), value);
        }
    };
    put("documentation", documentation.is_empty(), json!(documentation));
    put("inputs", inputs.is_empty(), inputs.iter().map(described).collect());
    put("outputs", outputs.is_empty(), outputs.iter().map(described).collect());
    put("state", state.is_empty(), state.iter().map(stateful).collect());
    put("plan", plan.is_none(), plan.as_ref().map(planned).unwrap_or_default());
    let texts: Map<String, Value> = json.iter().map(|(key, text)| (key.clone(), parsed(text))).collect();
    put("json", json.is_empty(), Value::Object(texts));
    put("unknown", unknown.is_empty(), unknown.keys().copied().collect());
    Value::Object(all)
}

/// Renders metadata as lines of a report: `(heading, text)`.
pub(crate) fn lines(metadata: &Metadata) -> Vec<(&'static str, String)> {
    let Metadata { documentation, inputs, outputs, state, plan, json, unknown } = metadata;
    let mut lines: Vec<(&'static str, String)> =
        documentation.lines().map(|line| ("about", visible(line).into_owned())).collect();
    lines.extend(inputs.iter().map(|each| ("input", port_line(each))));
    lines.extend(outputs.iter().map(|each| ("output", port_line(each))));
    lines.extend(state.iter().map(|State { input, update, initial }| {
        let of = match initial {
            Initial::Array(array) => array.ty().to_string(),
            Initial::Json(_) => "json".to_owned(),
        };
        let update =
            update.as_deref().map_or_else(|| "constant".to_owned(), |output| format!("updated by {output}"));
        ("state", format!("{input}: {of}, {update}"))
    }));
    lines.extend(plan.iter().flat_map(|plan| &plan.steps).map(|step| ("step", step_line(step))));
    lines.extend(json.iter().map(|(key, text)| ("json", format!("{key}, {} bytes", text.len()))));
    lines.extend(
        unknown.iter().map(|(kind, bytes)| ("unknown", format!("kind {kind}, {} bytes", bytes.len()))),
    );
    lines
}

fn port_line(Described { name, dims, documentation }: &Described) -> String {
    let dims = if dims.is_empty() { String::new() } else { format!("[{}]", dims.join(", ")) };
    let colon = if documentation.is_empty() { "" } else { ": " };
    one_line(&format!("{name}{dims}{colon}{documentation}")).into_owned()
}

fn step_line(PlanStep { callee, takes, gives, .. }: &PlanStep) -> String {
    let callee = match callee {
        Callee::Entry(name) | Callee::Host(name) => name.clone(),
        Callee::Module { key, .. } => key.short(),
    };
    let takes: Vec<&str> = takes.iter().map(|name| name.as_deref().unwrap_or("None")).collect();
    one_line(&format!("{} = {callee}({})", gives.join(", "), takes.join(", "))).into_owned()
}

fn described(Described { name, dims, documentation }: &Described) -> Value {
    json!({"name": name, "dims": dims, "documentation": documentation})
}

fn stateful(State { input, update, initial }: &State) -> Value {
    let initial = match initial {
        Initial::Array(array) => {
            let values: Vec<String> =
                with_array!(array, a => a.iter().take(SHOWN).map(ToString::to_string).collect());
            json!({"type": array.ty().to_string(), "first": values})
        }
        Initial::Json(text) => json!({"json": parsed(text)}),
    };
    json!({"input": input, "update": update, "initial": initial})
}

fn planned(Plan { inputs, outputs, known, steps, results }: &Plan) -> Value {
    let ports = |ports: &[PlanPort]| -> Value {
        ports.iter().map(|port| json!({"name": port.name, "type": port.ty})).collect()
    };
    let known: Map<String, Value> = known.iter().map(|(name, text)| (name.clone(), parsed(text))).collect();
    let step = |PlanStep { callee, takes, gives, settings }: &PlanStep| {
        let callee = match callee {
            Callee::Entry(name) => json!({"entry": name}),
            Callee::Module { key, host } => json!({"module": key, "host": host}),
            Callee::Host(name) => json!({"function": name}),
        };
        json!({"calls": callee, "takes": takes, "gives": gives, "settings": parsed(settings)})
    };
    json!({
        "inputs": ports(inputs), "outputs": ports(outputs), "known": known,
        "steps": steps.iter().map(step).collect::<Value>(), "results": results,
    })
}

/// Returns JSON as a value. The text is untrusted: if it is not JSON, it is returned as it is.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| if text.is_empty() { Value::Null } else { json!(text) })
}
