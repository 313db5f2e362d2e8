//! Tests of a report's format. They also check that the committed report has that format and the known cases.

use super::machine::Machine;
use super::{Figure, Line, Report, Section, Target, time};
use crate::cases::CASES;
use crate::measure::{Runner, Sample, race};
use std::collections::BTreeMap;

const COMMITTED: &str = include_str!("../../RESULTS.md");

/// Returns a line of one sample for us and for each peer.
pub(super) fn line(what: &str, ours: f64, peers: &[(&str, f64)]) -> Line {
    let sample = |ns: f64| {
        let mut sample = Sample::default();
        sample.push(ns);
        sample
    };
    let samples: Vec<(&str, Sample)> = peers.iter().map(|(name, ns)| (*name, sample(*ns))).collect();
    let peers: Vec<(&str, &Sample)> = samples.iter().map(|(name, sample)| (*name, sample)).collect();
    Line::new(what, &sample(ours), &peers)
}

/// Returns the committed picture, if the committed table shows one.
fn committed_picture() -> Option<String> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/results.svg");
    COMMITTED.contains("results.svg").then(|| fs_err::read_to_string(file).unwrap())
}

fn sample(ns: &[f64]) -> Sample {
    let mut sample = Sample::default();
    ns.iter().for_each(|ns| sample.push(*ns));
    sample
}

pub(super) fn report() -> Report {
    let (ours, numpy) = (sample(&[90.0, 100.0, 110.0, 100.0]), sample(&[400.0; 4]));
    let first = Line::new("a < b", &ours, &[("NumPy", &numpy), ("numba", &sample(&[50.0]))]);
    let second = Line::new("bytes & bits", &sample(&[2e6]), &[("numba", &sample(&[3.5e9]))]);
    let machine = Machine {
        cpu: "a CPU".to_owned(),
        processors: 2,
        isa: "v4".to_owned(),
        kernel: "Linux".to_owned(),
        rustc: "rustc 1".to_owned(),
        compiler: "gcc 12".to_owned(),
        peers: BTreeMap::from([("NumPy".to_owned(), "2".to_owned())]),
        load_before: "0.1".to_owned(),
        load_after: "0.2".to_owned(),
    };
    let section = Section {
        case: "call",
        title: "Calls",
        lines: vec![
            first.pictured().target(Target::TimesPeer(1.0)),
            second.pictured().target(Target::Below(1e6)),
        ],
        facts: vec!["Two builds are equal.".to_owned()],
        skipped: vec!["PyTensor: no compiler".to_owned()],
    };
    Report { machine, sections: vec![section], skipped: vec!["numba: not there".to_owned()] }
}

#[test]
fn the_terminal_gets_aligned_columns() {
    let table = report().table();
    let columns: Vec<_> = table.lines().filter_map(|line| line.find("ns ±").or(line.find("ms ±"))).collect();
    assert!(table.contains("  skipped: PyTensor: no compiler\n"), "{table}");
    assert_eq!(columns.len(), 2, "{table}");
}

#[test]
fn target_needs_its_peer() {
    let alone = Line::new("x", &sample(&[1.0]), &[]);
    assert_eq!(alone.target(Target::TimesPeer(1.0)).is_met(), None);
    let beside = Line::new("x", &sample(&[3.0]), &[("NumPy", &sample(&[2.0]))]);
    assert_eq!(beside.target(Target::TimesPeer(1.0)).is_met(), Some(false));
}

#[test]
fn figure_has_median_and_quartiles() {
    let figure = Figure::from(&sample(&[8.0, 1.0, 2.0, 4.0, 3.0, 5.0, 6.0, 7.0]));
    assert_eq!((figure.min_ns, figure.median_ns, figure.rounds), (1.0, 5.0, 8));
    assert_eq!(figure.spread, (7.0 - 3.0) / 2.0 / 5.0);
}

#[test]
fn race_alternates_and_drops_the_first_round() {
    let order = std::cell::RefCell::new(String::new());
    let runner = |name: &'static str| {
        let order = &order;
        let round = Box::new(move || {
            order.borrow_mut().push_str(name);
            Ok(1.0)
        });
        Runner { name: name.to_owned(), round }
    };
    let samples = race(2, &mut [runner("a"), runner("b")]).unwrap();
    assert_eq!(order.borrow().as_str(), "ababab");
    assert_eq!(samples.iter().map(Sample::len).collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn durations_keep_three_digits() {
    let texts = [0.5, 9.999, 70.25, 999.9, 12_345.0, 8.04e6, 3.5e9].map(time);
    assert_eq!(texts, ["0.50 ns", "10.0 ns", "70.2 ns", "1000 ns", "12.3 µs", "8.04 ms", "3.50 s"]);
}

#[test]
fn picture_is_well_formed_and_complete() {
    let picture = report().picture().unwrap();
    well_formed(&picture);
    for text in
        ["a &lt; b", "bytes &amp; bits", "100 ns", "2.00 ms", "numba: ×1750", ">NumPy</text>", "Calls"]
    {
        assert!(picture.contains(text), "{text} is not in {picture}");
    }
    assert_eq!(picture, report().picture().unwrap());
    let nothing = Report { sections: Vec::new(), ..report() };
    assert_eq!(nothing.picture(), None);
}

#[test]
fn picture_elements_stay_within_its_bounds() {
    for picture in report().picture().into_iter().chain(committed_picture()) {
        let picture = picture.as_str();
        let attribute = |text: &str, name: &str| -> Option<f64> {
            text.split(&format!(" {name}=\"")).nth(1)?.split('"').next()?.parse().ok()
        };
        let width = attribute(picture, "width").unwrap();
        let height = attribute(picture, "height").unwrap();
        for element in picture.split('<').skip(2) {
            for (name, most) in
                [("x", width), ("x1", width), ("x2", width), ("cx", width), ("y", height), ("cy", height)]
            {
                let at = attribute(element, name).unwrap_or(0.0);
                assert!((0.0..=most).contains(&at), "{element}");
            }
        }
    }
}

#[test]
fn marks_of_fourteen_peers_differ() {
    let names: Vec<String> = (0..14).map(|n| format!("peer {n}")).collect();
    let one = sample(&[1.0]);
    let peers: Vec<(&str, &Sample)> = names.iter().map(|name| (name.as_str(), &one)).collect();
    let line = Line::new("x", &one, &peers).pictured();
    let mut report = report();
    report.sections[0].lines = vec![line];
    let picture = report.picture().unwrap();
    // Colour and shape: the element's name with its paint. Each occurs twice, once in the legend and once in the
    // line.
    let marks = picture.lines().filter(|line| line.contains("<title>"));
    let kind = |mark: &str| {
        let (shape, paint) = mark.split_once(" fill=").unwrap();
        let turns: String = shape.chars().filter(char::is_ascii_alphabetic).collect();
        (turns, paint.split('>').next().unwrap().to_owned())
    };
    let mut kinds: Vec<_> = marks.map(kind).collect();
    assert_eq!(kinds.len(), 28);
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds.len(), 14);
}

/// Checks that every opened element is closed, in order.
fn well_formed(xml: &str) {
    let mut open = Vec::new();
    for element in xml.split('<').skip(1) {
        let (tag, _) = element.split_once('>').unwrap();
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name)),
            (false, false) => open.push(name),
            (false, true) => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn committed_results_follow_the_case_order() {
    let sections: Vec<&str> = COMMITTED.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    // A new case has no section until the next full run.
    let known = CASES.iter().map(|case| case.name).filter(|name| sections.contains(name));
    assert_eq!(sections, known.collect::<Vec<_>>());
    committed_picture().iter().for_each(|picture| well_formed(picture));
}

#[test]
fn committed_rows_match_their_headings() {
    let mut length = None;
    for line in COMMITTED.lines() {
        let cells = line.starts_with('|').then(|| line.matches('|').count());
        assert!(length.is_none() || cells.is_none() || length == cells, "{line}");
        length = cells;
    }
}
