//! A static program, which cannot load code: its graphs are linked into it.

mod model {
    precast::include_model!();
}

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let [x, y, z] = [0.5, 1.0, 2.0].map(|value| ndarray::Array1::<f64>::from_elem(3, value));
    println!("{:.6}", model::score(&x, &y, &z)?);
    println!("{}", model::larger(&x.mapv(|value| value as f32), 0.25)?);
    Ok(())
}
