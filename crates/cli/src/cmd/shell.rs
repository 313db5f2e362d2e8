//! `precast completions` and `precast man`: generated from the same declarations as the help texts.

use clap::CommandFactory as _;

use crate::args::{Cli, CompletionsArgs, ManArgs, page};
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::{term, whole};

/// Prints a completion script.
pub(super) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "precast", &mut script);
    term::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}

/// Writes manual pages.
pub(super) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    if args.markdown {
        term::print(&page())?;
        return Ok(Exit::Ok);
    }
    let mut command = Cli::command();
    command.build();
    let Some(directory) = &args.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        term::print(&String::from_utf8_lossy(&page))?;
        return Ok(Exit::Ok);
    };
    fs_err::create_dir_all(directory)?;
    let mut pages = vec![command.clone()];
    pages.extend(command.get_subcommands().cloned());
    let count = pages.len();
    for page in pages {
        let man = clap_mangen::Man::new(page);
        let file = directory.join(man.get_filename());
        whole::write(&file, Kind::Text, |mut out| man.render(&mut out))?.commit()?;
    }
    term::note(&format!("{count} pages in `{}`", directory.display()));
    Ok(Exit::Ok)
}
