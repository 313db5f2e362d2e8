//! Spans: the events that a deployed program and a runtime emit for subscribers.

use crate::compiled::{Granularity, bundle, levels};
use crate::graphs::{product, values};
use crate::policy;
use precast::{ArrayRef, Function, Loader, Runtime};
use precast_graph::interpret;
use std::fmt::Debug;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// The emitted events, one per line: `+name` for the start of a span, `-` for the end of one, `field=value`.
#[derive(Debug, Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn say(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    /// Returns all lines except keys and times.
    fn told(&self) -> Vec<String> {
        let all = std::mem::take(&mut *self.0.lock().unwrap());
        let timed = all.iter().filter(|line| line.starts_with("ms=")).count();
        assert_eq!(
            timed,
            all.iter().filter(|line| line.starts_with('+')).count(),
            "each span says how long it took"
        );
        all.into_iter().filter(|line| !line.starts_with("ms=") && !line.starts_with("key=")).collect()
    }
}

impl Visit for Lines {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.say(format!("{}={value}", field.name()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.say(format!("{}={value:?}", field.name()));
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "precast"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        self.say(format!("+{}", attributes.metadata().name()));
        attributes.record(&mut self.clone());
        Id::from_non_zero_u64(NonZeroU64::MIN)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {
        self.say("-".to_owned());
    }
}

fn call(function: &Function) {
    let inputs = values(3, 5);
    let found = function.call(&inputs.iter().map(ArrayRef::from).collect::<Vec<_>>()).unwrap();
    assert_eq!(found, interpret(&product(), &inputs).unwrap());
}

#[test]
fn deployed_program_traces_loading_but_not_calls() {
    let place = tempfile::tempdir().unwrap();
    policy::declare(place.path());
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || {
        let loader = Loader::open(place.path().join("bundle")).unwrap();
        let function = loader.entry("product").unwrap();
        let told = lines.told();
        let isa = levels().last().unwrap().name();
        let variant = format!("variant={isa}");
        let layer = format!("layer={}", loader.bundle().name());
        let bytes = told.iter().find(|line| line.starts_with("bytes=")).unwrap().clone();
        let expected = [
            "+resolve",
            "entry=product",
            "+lookup",
            &layer,
            "+verify",
            &variant,
            &bytes,
            "outcome=ok",
            "-",
            "+load",
            &bytes,
            "outcome=ok",
            "-",
            &variant,
            "outcome=hit",
            "-",
            "outcome=ok",
            "-",
        ];
        assert_eq!(told, expected);
        call(&function);
        loader.entry("product").unwrap();
        assert_eq!(lines.told(), [] as [String; 0]);
        assert!(loader.entry("nothing").is_err());
        assert_eq!(lines.told(), ["+resolve", "entry=nothing", "outcome=failed", "-"]);
    });
}

#[test]
fn runtime_traces_each_searched_layer() {
    let place = tempfile::tempdir().unwrap();
    let of = |name: &str, graph| {
        let path = place.path().join(name);
        fs_err::write(&path, bundle(&[graph], Granularity::Whole, *levels().last().unwrap())).unwrap();
        path
    };
    let (other, wanted) = (of("other", crate::graphs::score()), of("wanted", product()));
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || {
        let runtime = Runtime::builder().bundle_file(&other).bundle_file(&wanted).build().unwrap();
        call(&runtime.function(&product()).unwrap());
    });
    let told = lines.told();
    let outcomes: Vec<&str> = told.iter().filter_map(|line| line.strip_prefix("outcome=")).collect();
    assert_eq!(outcomes, ["miss", "ok", "ok", "hit", "hit"], "{told:?}");
    let layers: Vec<&String> = told.iter().filter(|line| line.starts_with("layer=")).collect();
    assert!(layers[0].contains("other") && layers[1].contains("wanted"), "{told:?}");
}
