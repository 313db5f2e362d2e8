//! `precast completions` and `precast man`: files that a package of this command installs with it.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  precast completions bash > ~/.local/share/bash-completion/completions/precast
  precast completions zsh > \"${fpath[1]}/_precast\"
  precast completions fish > ~/.config/fish/completions/precast.fish";

/// Print the completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
    pub(crate) shell: Shell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  precast man --dir ~/.local/share/man/man1    write one page per command
  precast man | man -l -                       show the main page";

/// Write the manual pages of this command
#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// Directory for the pages (created if missing) [default: print the main page to standard output]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Print one page in Markdown, for the documentation site
    #[arg(long, hide = true, conflicts_with = "dir")]
    pub(crate) markdown: bool,
}
