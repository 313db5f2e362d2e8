//! Exports the spans of a runtime to OpenTelemetry and its counters to Prometheus: `telemetry STORE`.
//!
//! The span exporter here keeps spans in memory. A service would use an exporter of the
//! crate `opentelemetry-otlp` instead.
#![allow(clippy::print_stdout, reason = "a program that shows what it exports")]

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use precast::{ArrayRef, Policy, Runtime, Stats, build::Graph};
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{IntCounter, Registry, TextEncoder};
use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;

/// Returns a subscriber that exports precast's spans. A program makes it its default:
/// `tracing::subscriber::set_global_default`.
fn subscriber(provider: &SdkTracerProvider) -> impl tracing::Subscriber + Send + Sync + use<> {
    let spans = Targets::new().with_target("precast", LevelFilter::DEBUG);
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("precast"));
    tracing_subscriber::registry().with(layer.with_filter(spans))
}

/// A counter's name, its help text, and its value in [`Stats`].
type Row = (&'static str, &'static str, fn(&Stats) -> u64);

const ROWS: [Row; 4] = [
    ("precast_hits_total", "Modules served by a layer", |stats| stats.hits),
    ("precast_misses_total", "Graphs that no layer could serve", |stats| stats.misses),
    ("precast_compiled_total", "Modules compiled", |stats| stats.compiled),
    ("precast_damaged_total", "Damaged objects", |stats| stats.damaged),
];

/// A Prometheus collector that reads the counters of a runtime.
struct Counters {
    runtime: Arc<Runtime>,
    counters: Mutex<Vec<IntCounter>>,
    descriptions: Vec<Desc>,
}

impl Counters {
    fn new(runtime: Arc<Runtime>) -> prometheus::Result<Self> {
        let counters = ROWS.iter().map(|(name, help, _)| IntCounter::new(*name, *help));
        let counters = counters.collect::<prometheus::Result<Vec<_>>>()?;
        let descriptions = counters.iter().flat_map(Collector::desc).cloned().collect();
        Ok(Self { runtime, counters: Mutex::new(counters), descriptions })
    }
}

impl Collector for Counters {
    fn desc(&self) -> Vec<&Desc> {
        self.descriptions.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let stats = self.runtime.stats();
        for (counter, (_, _, value)) in counters.iter().zip(ROWS) {
            counter.inc_by(value(&stats).saturating_sub(counter.get()));
        }
        counters.iter().flat_map(Collector::collect).collect()
    }
}

/// Compiles a graph into a store and calls it. Returns the names of the exported spans and the text for Prometheus.
pub(crate) fn run(store: &Path) -> Result<(Vec<String>, String), Box<dyn Error>> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let runtime = Arc::new(Runtime::builder().policy(Policy::Jit).writable(store).build()?);
    let registry = Registry::new();
    registry.register(Box::new(Counters::new(runtime.clone())?))?;

    tracing::subscriber::with_default(subscriber(&provider), || -> Result<(), Box<dyn Error>> {
        let graph = Graph::new();
        let x = graph.input("x", "f64[?]");
        graph.output("out", &x.exp());
        let x = ndarray::array![0.0, 1.0];
        runtime.function(&graph.finish()?)?.call(&[ArrayRef::from(x.view())])?;
        Ok(())
    })?;

    provider.force_flush()?;
    let spans = exporter.get_finished_spans()?;
    let names = spans.into_iter().map(|span| span.name.into_owned()).collect();
    Ok((names, TextEncoder::new().encode_to_string(&registry.gather())?))
}

#[allow(dead_code, reason = "a test calls `run`")]
fn main() -> Result<(), Box<dyn Error>> {
    let store = std::env::args().nth(1).ok_or("usage: telemetry STORE")?;
    let (spans, counters) = run(Path::new(&store))?;
    println!("{}\n{counters}", spans.join(" "));
    Ok(())
}
