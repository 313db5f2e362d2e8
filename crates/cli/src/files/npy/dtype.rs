//! NumPy's descriptors of dtypes: a byte order, a kind and a size.

use precast_graph::DType;

/// The dtypes by the kind and size of NumPy's descriptor.
const CODES: [(&str, DType); 15] = [
    ("b1", DType::Bool),
    ("i1", DType::I8),
    ("i2", DType::I16),
    ("i4", DType::I32),
    ("i8", DType::I64),
    ("u1", DType::U8),
    ("u2", DType::U16),
    ("u4", DType::U32),
    ("u8", DType::U64),
    ("f2", DType::F16),
    ("V2", DType::Bf16),
    ("f4", DType::F32),
    ("f8", DType::F64),
    ("c8", DType::C64),
    ("c16", DType::C128),
];

/// Splits a descriptor into its byte order (`=` by default) and its kind and size.
fn split(descriptor: &str) -> (char, &str) {
    let order = descriptor.chars().next().filter(|first| "<>=|".contains(*first));
    order.map_or(('=', descriptor), |order| (order, &descriptor[1..]))
}

/// Returns the dtype of a code.
fn of_code(code: &str) -> Option<DType> {
    CODES.iter().find(|(known, _)| *known == code).map(|(_, dtype)| *dtype)
}

/// Returns the dtype of a descriptor whose byte order matches the elements that are read.
pub(super) fn find(descriptor: &str) -> Option<DType> {
    let (order, code) = split(descriptor);
    let dtype = of_code(code)?;
    let is_little = match order {
        '<' => true,
        '>' => false,
        // Two bytes without a byte order are not a number.
        _ => cfg!(target_endian = "little") && dtype != DType::Bf16,
    };
    (is_little || dtype.itemsize_bytes() == 1).then_some(dtype)
}

/// Returns the descriptor of a dtype, as NumPy writes it.
pub(super) fn descriptor(dtype: DType) -> String {
    let code = CODES.iter().find(|(_, known)| *known == dtype).map_or("f8", |(code, _)| code);
    let order = if dtype.itemsize_bytes() == 1 { '|' } else { '<' };
    format!("{order}{code}")
}

/// Returns a hint for an unsupported descriptor.
pub(super) fn hint(descriptor: &str) -> String {
    let (order, code) = split(descriptor);
    match code.chars().next().unwrap_or_default() {
        _ if order == '>' && of_code(code).is_some() => {
            format!("convert to little-endian with `a.astype('<{code}')`")
        }
        '[' | '(' => "save each field of a structured array separately".to_owned(),
        'O' => "convert to numbers, for example with `a.astype('<f8')`; Python objects are not supported"
            .to_owned(),
        'M' | 'm' => "save integers with `a.astype('<i8')`".to_owned(),
        'S' | 'U' | 'a' => "convert numbers with `a.astype('<f8')`; strings are not supported".to_owned(),
        'V' => "save the bytes with `a.view('|u1')`".to_owned(),
        'c' => "convert with `a.astype('<c16')` before `np.save`".to_owned(),
        _ => "convert with `a.astype('<f8')` before `np.save`".to_owned(),
    }
}
