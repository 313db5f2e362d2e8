//! The examples of the language reference page: the same bits as a whole, in groups, op by op and interpreted. CI cuts
//! each example in one of these ways, `cargo xtask all-cases` in all of them.

use crate::compiled::Granularity;
use crate::fuzz::agreement::{Form, Subject, calls, wrong};
use precast_graph::text::parse;
use precast_graph::{DType, Type};
use precast_ops::Ops;
use precast_store::key::Profile;
use precast_testkit::{Choices, is_in_share, page};

const PAGE: &str = include_str!("../../crates/ops/LANGUAGE.md");

#[test]
fn examples_match_perform_when_cut() {
    let examples = [page::examples(PAGE, "python"), page::examples(PAGE, "text")].concat();
    let dtypes: Vec<DType> = DType::ALL.into();
    let mut subjects = Vec::new();
    let mut texts = Vec::new();
    for (seed, text) in examples.iter().enumerate() {
        let drawn = (0..50).find_map(|draw| {
            let mut choices = Choices::seeded(50 * seed as u64 + draw);
            let inputs = page::inputs(&mut choices, &dtypes, text);
            let types =
                inputs.iter().map(|(name, a)| (name.clone(), Type::tensor(a.dtype(), a.shape().len())));
            let graph = parse(&[text], &types.collect::<Vec<_>>(), &Ops::standard()).ok()?;
            let values: Vec<_> = inputs.into_iter().map(|(_, array)| array).collect();
            let calls = calls(&graph, &values, &mut choices);
            // Examples that reject the values, or have nothing to compute, are skipped.
            (!calls.is_empty() && !graph.applies().is_empty()).then_some(Subject { graph, calls })
        });
        texts.extend(drawn.is_some().then_some(text));
        subjects.extend(drawn);
    }
    assert!(subjects.len() > 100, "{} examples", subjects.len());
    let granularities = [Granularity::Whole, Granularity::Groups, Granularity::OpByOp];
    for (way, granularity) in granularities.into_iter().enumerate() {
        let form = Form { profile: Profile::Debug, ..Form::release(granularity) };
        let is_cut = |at: &usize| is_in_share((at + way) as u64, granularities.len() as u64);
        let (texts, subjects): (Vec<&String>, Vec<Subject>) =
            (0..subjects.len()).filter(is_cut).map(|at| (texts[at], subjects[at].clone())).unzip();
        let wrong: Vec<String> =
            wrong(&subjects, form).into_iter().map(|(at, what)| format!("{}: {what}", texts[at])).collect();
        assert!(wrong.is_empty(), "{granularity:?}: {}", wrong.join("\n"));
    }
}
