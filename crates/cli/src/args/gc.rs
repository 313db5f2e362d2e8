//! `precast gc`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  precast gc --dry-run precast.toml             list everything not declared in this manifest
  precast gc precast.toml model/precast.toml    keep the declarations of two manifests
  precast gc release-1/precast.lock precast.toml   also keep a release with its pins
  precast gc --cache --max-age 90d              collect the store that all build scripts share
  precast gc --store cache --max-size 2GiB      delete the longest unused artifacts first

Artifacts that were built or used in the last hour (--grace) are always kept, and so are files of a
newer precast. Programs and builds may run at the same time.";

/// Delete unused artifacts from a store
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GcArgs {
    /// Keep only artifacts that these manifests declare and these lock files pin [default: delete only items that the
    /// limits below select]
    #[arg(value_name = "FILE")]
    pub(crate) declared: Vec<PathBuf>,
    /// Store directory [default: $PRECAST_STORE, else ./artifacts]
    #[arg(long, value_name = "DIR", value_parser = super::local())]
    pub(crate) store: Option<PathBuf>,
    /// Use the store in the user's cache directory, which build scripts, the runtime and Python share
    #[arg(long, conflicts_with = "store")]
    pub(crate) cache: bool,
    /// Delete artifacts that no build has made or used for this long, e.g. `90d`, `12h`, including entries and
    /// modules that only those entries call
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) max_age: Option<Duration>,
    /// Delete modules that no entry calls, least recently used first, until the store fits into this size, e.g.
    /// `500MiB`, `2GiB`
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_size: Option<u64>,
    /// Keep this number of last releases of each name (`precast release`), the served one and the one that a rollback
    /// would serve, with their entries and modules, whatever is declared and whatever their age
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    pub(crate) keep_releases: usize,
    /// Keep anything younger than this
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "1h")]
    pub(crate) grace: Duration,
    /// Allow --max-age to delete everything; without this option, a wrong clock cannot empty a store
    #[arg(long)]
    pub(crate) empty: bool,
    /// Show what would be deleted, and delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses `90d`, `12h`, `30m`, `45s` or `0`.
fn duration(text: &str) -> Result<Duration, String> {
    let units = [("d", 24 * 3600), ("h", 3600), ("m", 60), ("s", 1)];
    scaled(text, &units).map(Duration::from_secs).ok_or_else(|| {
        format!(
            "invalid duration `{text}`: expected a whole number of days, hours, minutes or seconds, such as \
                 `90d`, `12h`, `30m`, `45s`"
        )
    })
}

/// Parses `500MiB`, `2GiB`, `2GB`, `100KiB`, `512B` or `0`.
fn size(text: &str) -> Result<u64, String> {
    let units = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("KB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("B", 1),
    ];
    scaled(text, &units).ok_or_else(|| {
        format!("invalid size `{text}`: expected a whole number and its unit, such as `500MiB`, `2GiB`")
    })
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    if text == "0" {
        return Some(0);
    }
    let (digits, factor) =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
    digits.parse::<u64>().ok()?.checked_mul(*factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(duration("90d").unwrap(), Duration::from_secs(90 * 86400));
        assert_eq!([duration("0").unwrap(), duration("45s").unwrap()], [0, 45].map(Duration::from_secs));
        assert_eq!([size("2GiB"), size("5KB"), size("7B")], [Ok(2 << 30), Ok(5000), Ok(7)]);
        for wrong in
            ["", "1", "d", "-1d", "+1d", "1.5h", "1 d", "99999999999999999999d", "1w", "99999999999999999d"]
        {
            assert!(duration(wrong).is_err(), "{wrong}");
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert!(size("20000000TiB").is_err());
    }
}
