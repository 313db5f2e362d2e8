//! The example of the page on production: a model that is replaced while threads call it.

#[path = "../../crates/precast/examples/reload.rs"]
mod example;

use example::Model;
use precast_build::Build;

#[test]
fn threads_call_a_model_while_it_is_reloaded() {
    let directory = tempfile::tempdir().unwrap();
    let bundles = [1, 2].map(|multiple| {
        let place = directory.path().join(multiple.to_string());
        fs_err::create_dir(&place).unwrap();
        let terms = vec!["sum(x)"; multiple].join(" + ");
        let graph =
            format!("[[graph]]\nname = \"score\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"out = {terms}\"]\n");
        fs_err::write(place.join("precast.toml"), graph).unwrap();
        let built = Build::new()
            .manifest(place.join("precast.toml"))
            .try_run_in(env!("CARGO_MANIFEST_DIR"), &place)
            .unwrap();
        built.bundle.to_str().unwrap().to_owned()
    });
    let model = Model::open(&bundles[0]).unwrap();
    std::thread::scope(|scope| {
        for first in 0..4 {
            let (model, bundles) = (&model, &bundles);
            scope.spawn(move || example::work(model, bundles, first, 20).unwrap());
        }
    });
}
