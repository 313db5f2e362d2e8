//! Tables for the terminal and for the committed page, with a column for each peer of a section.

use super::{Figure, Line, Report, Section, Target, three_digits, time};
use std::fmt::Write as _;

impl Report {
    /// Returns the tables for the terminal.
    pub(crate) fn table(&self) -> String {
        let mut text = format!("{}\n", self.machine.facts());
        for section in &self.sections {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n{}: {}", section.case, section.title);
            aligned(&mut text, &section.cells());
            section.facts.iter().for_each(|fact| text += &format!("  {fact}\n"));
            section.skipped.iter().for_each(|what| text += &format!("  skipped: {what}\n"));
        }
        self.skipped.iter().for_each(|what| text += &format!("\nskipped: {what}\n"));
        text
    }
}

impl Section {
    /// Returns the names of all peers, in order of appearance.
    fn peers(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.lines.iter().flat_map(|line| &line.peers) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the rows of the table, its head first; empty for a section without lines.
    pub(super) fn cells(&self) -> Vec<Vec<String>> {
        if self.lines.is_empty() {
            return Vec::new();
        }
        let peers = self.peers();
        let has_targets = self.lines.iter().any(|line| line.target.is_some());
        let mut head = vec!["what".to_owned(), "precast".to_owned()];
        head.extend(has_targets.then(|| "target".to_owned()));
        head.extend(peers.iter().map(|name| (*name).to_owned()));
        let has_notes = self.lines.iter().any(|line| line.note.is_some());
        head.extend(has_notes.then(|| "worst ratio, notes".to_owned()));
        let mut cells = vec![head];
        for line in &self.lines {
            let mut row = vec![line.what.clone(), figure(&line.ours)];
            row.extend(has_targets.then(|| target(line)));
            for name in &peers {
                let found = line.peers.iter().find(|(peer, _)| peer == name);
                row.push(found.map_or_else(|| "–".to_owned(), |(_, theirs)| peer(&line.ours, theirs)));
            }
            row.extend(has_notes.then(|| line.note.clone().unwrap_or_else(|| "–".to_owned())));
            cells.push(row);
        }
        cells
    }
}

fn figure(figure: &Figure) -> String {
    format!("{} ±{:.0} %", time(figure.median_ns), figure.spread * 100.0)
}

fn peer(ours: &Figure, theirs: &Figure) -> String {
    format!("{} ×{}", figure(theirs), three_digits(theirs.median_ns / ours.median_ns))
}

fn target(line: &Line) -> String {
    let first = line.peers.first().map_or("peer", |(name, _)| name.as_str());
    let wanted = match line.target {
        None => return "–".to_owned(),
        Some(Target::Below(ns)) => format!("≤ {}", time(ns)),
        Some(Target::BelowPeerPlus(ns)) => format!("≤ {first} + {}", time(ns)),
        Some(Target::TimesPeer(times)) => format!("≤ {first} × {times}"),
    };
    let verdict = match line.is_met() {
        Some(true) => "met",
        Some(false) => "MISSED",
        None => "not judged",
    };
    format!("{wanted} {verdict}")
}

fn aligned(text: &mut String, cells: &[Vec<String>]) {
    let columns = cells.first().map_or(0, Vec::len);
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in cells {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let _ = writeln!(text, "  {}", padded.collect::<Vec<_>>().join("  ").trim_end());
    }
}
