//! Calls an entry of a bundle with a vector, and prints each result in a line: `call BUNDLE ENTRY NUMBER…`.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use precast::{Array, ArrayRef, Loader};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(bundle), Some(entry)) = (arguments.next(), arguments.next()) else {
        return Err("usage: call BUNDLE ENTRY NUMBER…".into());
    };
    let numbers = arguments.map(|number| number.parse()).collect::<Result<Vec<f64>, _>>()?;
    let function = Loader::open(bundle)?.entry(&entry)?;
    let vector = Array::from(ndarray::Array1::from_vec(numbers).into_dyn());
    for result in function.call(&[ArrayRef::from(&vector)])? {
        let Array::F64(result) = result else {
            return Err(format!("a result is {}, expected f64", result.dtype()).into());
        };
        let row: Vec<String> = result.iter().map(f64::to_string).collect();
        println!("{}", row.join(" "));
    }
    Ok(())
}
