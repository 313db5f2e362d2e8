//! The page of all commands and options for the documentation site, generated from their declarations.

use super::Cli;
use clap::{Arg, Command};

/// Returns a section in Markdown for each command.
pub(crate) fn page() -> String {
    let mut cli = Cli::whole();
    cli.build();
    let mut page = String::new();
    cli.get_subcommands_mut().for_each(|command| section(&mut page, command, "##"));
    page
}

/// Adds a command and its subcommands.
fn section(page: &mut String, command: &mut Command, heading: &str) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let name = command.get_bin_name().unwrap_or_default();
    *page += &format!("\n{heading} `{name}`\n{about}\n\n```text\n{usage}\n```\n");
    let mut rows: Vec<String> = command.get_arguments().filter_map(row).collect();
    rows.sort();
    if !rows.is_empty() {
        *page += &format!("\n| | |\n|---|---|\n{}", rows.concat());
    }
    if let Some(examples) = command.get_after_long_help().or(command.get_after_help()) {
        *page += &format!("\n```text\n{examples}\n```\n");
    }
    command.get_subcommands_mut().for_each(|command| section(page, command, &format!("{heading}#")));
}

/// Returns the row of an argument, unless it is hidden or common to all commands.
fn row(argument: &Arg) -> Option<String> {
    if argument.is_hide_set() || ["help", "version"].contains(&argument.get_id().as_str()) {
        return None;
    }
    let short = argument.get_short().map_or_else(String::new, |short| format!("-{short}, "));
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let names = |values: Vec<&str>, label: &str| {
        if values.is_empty() { String::new() } else { format!(" [{label}: {}]", values.join(", ")) }
    };
    let values = argument.get_possible_values();
    let is_shown = argument.get_action().takes_values() && !argument.is_hide_possible_values_set();
    let values = values.iter().filter(|value| is_shown && !value.is_hide_set()).map(|value| value.get_name());
    let defaults = argument.get_default_values().iter().filter_map(|value| value.to_str());
    let is_shown = argument.get_action().takes_values() && !argument.is_hide_default_value_set();
    let defaults = defaults.filter(|_| is_shown).collect();
    let help = format!("{help}{}{}", names(values.collect(), "possible values"), names(defaults, "default"));
    let help = help.replace("\n\n", "<br>").replace('\n', " ").replace('|', "\\|");
    Some(format!("| `{short}{argument}` | {help} |\n"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn page_has_every_command_with_options_and_examples() {
        let page = super::page();
        for part in
            ["## `precast build`\n", "\n| `--bundle <FILE>` | ", "\nExamples:\n", "### `precast trust "]
        {
            assert!(page.contains(part), "no {part:?} in:\n{page}");
        }
        assert!(!page.contains("`precast help`"), "{page}");
    }
}
