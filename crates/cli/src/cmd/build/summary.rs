//! The summary that a build prints at its end.

use std::fmt::Write as _;
use std::path::PathBuf;

use precast_build::Executed;
use precast_compile::Toolchain;
use serde_json::json;

use super::Planned;
use crate::error::Failure;
use crate::{print, term, why};

/// The summary of a build.
pub(super) struct Summary<'a> {
    pub(super) planned: Planned<'a>,
    pub(super) executed: Executed,
    /// The files that the build read.
    pub(super) inputs: Vec<PathBuf>,
    pub(super) store: PathBuf,
    pub(super) bundle: Option<(PathBuf, usize)>,
    pub(super) seconds: f64,
}

impl Summary<'_> {
    /// Prints the summary, as JSON if `--json` was given.
    pub(super) fn print(&self) -> Result<(), Failure> {
        if self.planned.args.json { self.print_json() } else { term::print(&self.text()) }
    }

    /// Returns the compiler; `None` if pinned archives were used.
    fn compiler(&self) -> Option<&str> {
        self.planned.toolchain.as_ref().map(Toolchain::description)
    }

    fn levels(&self) -> Vec<&'static str> {
        self.planned.variants.iter().map(|variant| variant.isa.name()).collect()
    }

    fn entries(&self) -> Vec<&str> {
        self.executed.entries.iter().map(|entry| entry.name.as_str()).collect()
    }

    /// Renders the summary as text.
    fn text(&self) -> String {
        let Self { planned: Planned { args, plan, target, .. }, executed, store, bundle, seconds, .. } = self;
        let (levels, entries) = (self.levels().join(", "), self.entries().join(", "));
        let healed = match executed.healed {
            0 => String::new(),
            count => format!(" ({count} repaired)"),
        };
        let fetched = match executed.fetched {
            0 => String::new(),
            count => format!(", {count} from the cache"),
        };
        let manifest = &args.manifest;
        let mut text = match self.compiler() {
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
            "  artifacts     {} for {}: {} found{healed}{fetched}, {} compiled",
            executed.artifacts.len(),
            print::count(self.levels().len(), "ISA level", "ISA levels"),
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
        if args.why && !executed.compilations.is_empty() {
            text = format!("{text}\n{}", why::text(&executed.compilations));
        }
        text
    }

    fn print_json(&self) -> Result<(), Failure> {
        let bundle =
            self.bundle.as_ref().map(|(path, bytes)| json!({"path": path.to_string_lossy(), "bytes": bytes}));
        term::print_json(&json!({
            "manifest": self.planned.args.manifest.to_string_lossy(),
            "inputs": self.inputs.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
            "target": self.planned.target,
            "isa": self.levels(),
            "compiler": self.compiler(),
            "combinations": self.planned.plan.combinations,
            "modules": self.planned.plan.modules(),
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
