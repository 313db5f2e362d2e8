//! Calls an entry of a bundle with a vector, or with a key and a vector, and prints each result in a line:
//! `call BUNDLE ENTRY [key=SEED] NUMBER…`.
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use precast::{Array, ArrayRef, Loader};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let (Some(bundle), Some(entry)) = (arguments.next(), arguments.next()) else {
        return Err("usage: call BUNDLE ENTRY [key=SEED] NUMBER…".into());
    };
    let mut inputs = Vec::new();
    if let Some(seed) = arguments.peek().and_then(|argument| argument.strip_prefix("key=")) {
        let seed: u64 = seed.parse()?;
        let halves = [(seed >> 32) as u32, seed as u32];
        inputs.push(Array::from(ndarray::arr1(&halves).into_dyn()));
        arguments.next();
    }
    let numbers = arguments.map(|number| number.parse()).collect::<Result<Vec<f64>, _>>()?;
    let function = Loader::open(bundle)?.entry(&entry)?;
    inputs.push(Array::from(ndarray::Array1::from_vec(numbers).into_dyn()));
    let inputs: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
    for result in function.call(&inputs)? {
        let Array::F64(result) = result else {
            return Err(format!("a result is {}, expected f64", result.dtype()).into());
        };
        let row: Vec<String> = result.iter().map(f64::to_string).collect();
        println!("{}", row.join(" "));
    }
    Ok(())
}
