//! `precast completions` and `precast man`: what a package of this command installs beside it.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  precast completions bash > ~/.local/share/bash-completion/completions/precast
  precast completions zsh > \"${fpath[1]}/_precast\"
  precast completions fish > ~/.config/fish/completions/precast.fish";

/// Prints the script that completes this command in a shell.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: Shell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  precast man --dir ~/.local/share/man/man1    a page for each command
  precast man | man -l -                       the first page";

/// Writes the manual pages of this command.
#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// The directory for the pages; made where there is none. [default: the main page, to the standard output]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
