//! Tests of texts of several lines, and of the lines that errors name.

use super::{declare, refusal};

#[test]
fn outputs_can_be_a_single_text_of_several_lines() {
    let manifest = |text: &str| {
        format!("[[graph]]\nname = \"g\"\ninputs = [\"x: f64[n]\", \"y: f64[n]\"]\noutputs = {text}\n")
    };
    let text = "\"\"\"\nh = x + y\nout: f64[n] = exp(h)\n\"\"\"";
    for text in
        [text, &format!("[{text}]"), &text.replace("\"\"\"", "'''"), "\"h = x + y; out: f64[n] = exp(h)\""]
    {
        let declared = declare(&manifest(text)).unwrap();
        let graph = &declared.graphs()["g"].graph;
        assert_eq!(graph.declared_input_type(0).to_string(), "f64[n]");
        assert_eq!(
            (graph.declared_output_type(0).to_string(), graph.outputs().len()),
            ("f64[n]".to_owned(), 1)
        );
    }
    for (text, line) in [
        ("\"\"\"\nh = x + y\nout = expp(h)\n\"\"\"", 6),
        ("'''\r\nh = x + y\r\nout = expp(h)\r\n'''", 6),
        ("\"\"\"h = x + y\nout = expp(h)\"\"\"", 5),
        ("[\"x\", '''\nh = x + y\nout: f32[n] = exp(h)''']", 6),
        ("[\n\"x\",\n\"h = x + y; expp(h)\"]", 6),
        ("\"h = x + y; out = expp(h)\"", 4),
        // An escape can add lines to the text.
        ("\"\"\"h = x + y\\nout = expp(h)\"\"\"", 4),
    ] {
        let message = refusal(&manifest(text));
        assert!(message.contains(&format!("precast.toml:{line}")), "{text}: {message}");
    }
    for text in ["3", "true", "{}", "[[\"x\"]]", "[3]"] {
        assert!(declare(&manifest(text)).is_err(), "{text}");
    }
}
