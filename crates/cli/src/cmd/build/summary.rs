//! The summary that a build prints at its end.

use std::fmt::Write as _;
use std::path::PathBuf;

use precast_build::{Executed, Plan};
use precast_compile::Variant;
use serde_json::json;

use crate::error::Failure;
use crate::{print, term, why};

/// The summary of a build.
pub(super) struct Summary {
    pub(super) manifest: PathBuf,
    pub(super) plan: Plan,
    pub(super) executed: Executed,
    pub(super) target: String,
    pub(super) variants: Vec<Variant>,
    /// `None` if pinned archives were used, whatever compiler is installed.
    pub(super) compiler: Option<String>,
    pub(super) store: PathBuf,
    pub(super) bundle: Option<(PathBuf, usize)>,
    pub(super) seconds: f64,
    /// Whether `--why` was given.
    pub(super) why: bool,
}

impl Summary {
    fn levels(&self) -> Vec<&'static str> {
        self.variants.iter().map(|variant| variant.isa.name()).collect()
    }

    fn entries(&self) -> Vec<&str> {
        self.executed.entries.iter().map(|entry| entry.name.as_str()).collect()
    }

    /// Renders the summary as text.
    pub(super) fn text(&self) -> String {
        let Self { manifest, plan, executed, target, compiler, store, bundle, seconds, .. } = self;
        let (levels, entries) = (self.levels().join(", "), self.entries().join(", "));
        let healed = match executed.healed {
            0 => String::new(),
            count => format!(" ({count} repaired)"),
        };
        let fetched = match executed.fetched {
            0 => String::new(),
            count => format!(", {count} from the cache"),
        };
        let mut text = match compiler {
            Some(compiler) => {
                format!("built `{}` for {target} ({levels}) with {compiler}\n", manifest.display())
            }
            None => format!("used pinned artifacts of `{}` for {target} ({levels})\n", manifest.display()),
        };
        let _ = writeln!(text, "  combinations  {}", plan.combinations);
        let _ = writeln!(text, "  modules       {} distinct", plan.modules());
        let _ = writeln!(text, "  entries       {}", if entries.is_empty() { "none" } else { &entries });
        let _ = writeln!(
            text,
            "  artifacts     {}: {} found{healed}{fetched}, {} compiled",
            executed.artifacts.len(),
            executed.hits,
            executed.compiled
        );
        let _ = writeln!(
            text,
            "  time          {}",
            print::duration(std::time::Duration::from_secs_f64(*seconds))
        );
        let _ = writeln!(text, "  store         {}", store.display());
        if let Some((path, bytes)) = bundle {
            let _ = writeln!(text, "  bundle        {}, {}", path.display(), print::size(*bytes as u64));
        }
        if self.why && !executed.compilations.is_empty() {
            text = format!("{text}\n{}", why::text(&executed.compilations));
        }
        text
    }

    /// Prints the summary as JSON.
    pub(super) fn print_json(&self) -> Result<(), Failure> {
        let bundle =
            self.bundle.as_ref().map(|(path, bytes)| json!({"path": path.to_string_lossy(), "bytes": bytes}));
        term::print_json(&json!({
            "manifest": self.manifest.to_string_lossy(),
            "target": self.target,
            "isa": self.levels(),
            "compiler": self.compiler,
            "combinations": self.plan.combinations,
            "modules": self.plan.modules(),
            "entries": self.entries(),
            "artifacts": self.executed.artifacts.len(),
            "hits": self.executed.hits,
            "healed": self.executed.healed,
            "fetched": self.executed.fetched,
            "compiled": self.executed.compiled,
            "why": why::json(&self.executed.compilations),
            "hermetic": self.executed.is_hermetic,
            "stale": self.executed.stale,
            "seconds": self.seconds,
            "store": self.store.to_string_lossy(),
            "bundle": bundle,
        }))
    }
}
