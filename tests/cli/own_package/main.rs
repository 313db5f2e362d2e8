//! The program: it calls the compiled graph, without ops or a compiler.

use ndarray::{ArrayD, array};
use precast::{ArrayRef, Loader};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let loader = Loader::embedded(precast::include_bundle!())?;
    let model = loader.entry("model")?;
    let (x, a) = (array![-1.0, 0.5, 2.0], ndarray::arr0(200.0));
    let mut results = model.call(&[ArrayRef::from(x.view()), ArrayRef::from(a.view())])?;
    let heading: ArrayD<f64> = results.remove(1).try_into()?;
    let total: ArrayD<f64> = results.remove(0).try_into()?;
    println!("{total}, {heading}");
    // The program has no types, so the C of the type rejects invalid values.
    let refused = model.call(&[ArrayRef::from(x.view()), ArrayRef::from(ndarray::arr0(400.0).view())]);
    println!("{}", refused.unwrap_err());
    Ok(())
}
