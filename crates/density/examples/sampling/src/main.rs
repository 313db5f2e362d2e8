//! Samples a model package with NUTS and writes the draws to a Zarr directory that ArviZ opens. No Python is involved.
//!
//! ```text
//! precast-sampling model.precast draws.zarr --chains 4 --draws 1000
//! python -c 'import arviz; print(arviz.summary(arviz.from_zarr("draws.zarr")))'
//! ```
//! `posterior.rs` adapts a [`Density`] to the sampler, nuts-rs.

mod posterior;

use anyhow::{Context, Result, bail};
use clap::Parser;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use nuts_rs::{ChainProgress, DiagNutsSettings, ProgressCallback, Sampler, SamplerWaitResult, ZarrConfig};
use posterior::Posterior;
use precast::density::Density;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarrs::filesystem::FilesystemStore;

/// The number of draws in a chunk of the Zarr arrays: a file for each variable and chunk.
const CHUNK: u64 = 1000;

/// Sample a model package with NUTS and write the draws to a Zarr directory
#[derive(Debug, Parser)]
struct Args {
    /// Model package that `precast.pymc.export` wrote
    package: PathBuf,
    /// Directory to write; it must not exist
    out: PathBuf,
    /// Number of chains
    #[arg(long, default_value_t = 4)]
    chains: usize,
    /// Number of draws of each chain after tuning
    #[arg(long, default_value_t = 1000)]
    draws: u64,
    /// Number of draws of each chain for tuning
    #[arg(long, default_value_t = 1000)]
    tune: u64,
    /// Seed: equal seeds give equal draws
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of threads
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    threads: usize,
}

fn main() -> Result<()> {
    let args = Args::parse();
    if args.out.exists() {
        bail!("`{}` exists", args.out.display());
    }
    let begin = Instant::now();
    let density = Density::open(&args.package)
        .with_context(|| format!("cannot open `{}`", args.package.display()))?;
    let description = density.description();
    println!(
        "{}: {} parameters, {} unconstrained values, opened in {:.1?}",
        description.name,
        description.parameters.len(),
        density.dim(),
        begin.elapsed()
    );
    let settings = DiagNutsSettings {
        num_chains: args.chains,
        num_draws: args.draws,
        num_tune: args.tune,
        seed: args.seed,
        ..DiagNutsSettings::default()
    };
    let store = Arc::new(FilesystemStore::new(&args.out)?);
    let begin = Instant::now();
    let divergences = sample(Posterior::new(density), settings, store, args.threads)?;
    let seconds = begin.elapsed().as_secs_f64();
    let count = args.chains as u64 * (args.tune + args.draws);
    println!(
        "{count} draws in {seconds:.2} s, {:.0} a second, {divergences} divergences",
        count as f64 / seconds
    );
    println!("wrote `{}`", args.out.display());
    Ok(())
}

/// Samples all chains and returns the number of divergences.
fn sample(
    model: Posterior,
    settings: DiagNutsSettings,
    store: Arc<FilesystemStore>,
    threads: usize,
) -> Result<usize> {
    let total = settings.num_tune + settings.num_draws;
    let bars = MultiProgress::new();
    let style = ProgressStyle::with_template("chain {prefix} {bar:40} {pos}/{len} {msg}")?;
    let bars: Vec<ProgressBar> = (0..settings.num_chains)
        .map(|chain| {
            let bar = bars.add(ProgressBar::new(total)).with_style(style.clone());
            bar.with_prefix(chain.to_string())
        })
        .collect();
    let diverged = Arc::new(std::sync::Mutex::new(vec![0; bars.len()]));
    let counts = Arc::clone(&diverged);
    let show = move |_: Duration, chains: Box<[ChainProgress]>| {
        for (position, (bar, chain)) in bars.iter().zip(&chains).enumerate() {
            bar.set_position(chain.finished_draws as u64);
            bar.set_message(format!("step {:.3}, {} divergences", chain.step_size, chain.divergences));
            if let Ok(mut counts) = counts.lock() {
                counts[position] = chain.divergences;
            }
        }
    };
    let progress = ProgressCallback { callback: Box::new(show), rate: Duration::from_millis(100) };
    let mut sampler = Sampler::new(model, settings, ZarrConfig::new(store).with_chunk_size(CHUNK), threads, Some(progress))?;
    loop {
        match sampler.wait_timeout(Duration::from_secs(3600)) {
            SamplerWaitResult::Trace(_) => break,
            SamplerWaitResult::Timeout(running) => sampler = running,
            SamplerWaitResult::Err(error, _) => return Err(error),
        }
    }
    Ok(diverged.lock().map(|counts| counts.iter().sum()).unwrap_or_default())
}
