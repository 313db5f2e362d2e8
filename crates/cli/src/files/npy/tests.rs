//! Tests of reading and writing `.npy` files.

use super::*;
use ndarray::array;

fn npy(descriptor: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descriptor}, 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn refusal(bytes: &[u8]) -> String {
    parse(Path::new("x.npy"), bytes).unwrap_err().to_string()
}

#[test]
fn arrays_survive_a_round_trip() {
    let directory = tempfile::tempdir().unwrap();
    let fortran = ArrayD::from_shape_vec(IxDyn(&[2, 3]).f(), vec![1.0_f32, 2., 3., 4., 5., 6.]).unwrap();
    let arrays = [
        Array::from(array![[true, false]].into_dyn()),
        Array::from(array![i64::MIN, 0, i64::MAX].into_dyn()),
        Array::from(fortran),
        Array::from(array![f64::NAN, -0.0, f64::INFINITY].into_dyn()),
        Array::from(2.5_f64),
        Array::zeros(DType::F64, &[0, 3]),
    ];
    let every = DType::ALL.map(precast_testkit::arrays::specials);
    let arrays: Vec<Array> = arrays.into_iter().chain(every).collect();
    for (number, array) in arrays.iter().enumerate() {
        let path = directory.path().join(format!("{number}.npy"));
        write(&path, array).unwrap().commit().unwrap();
        assert_eq!(&read(&path).unwrap(), array);
    }
    assert_eq!(directory.path().read_dir().unwrap().count(), arrays.len());
}

#[test]
fn unsupported_dtypes_are_rejected_by_name() {
    for (descriptor, shown) in [("'>f8'", ">f8"), ("'|O'", "|O"), ("'<m8'", "<m8"), ("[('a', '<f8')]", "'a'")]
    {
        let message = refusal(&npy(descriptor, "(1,)", &[0; 16]));
        assert!(message.contains("`x.npy`") && message.contains(shown), "{message}");
        assert!(message.contains("<f8` (f64)") && message.contains("hint: "), "{message}");
    }
}

#[test]
fn cut_and_overlong_files_are_rejected() {
    let whole = npy("'<f8'", "(2,)", &[0; 16]);
    assert!(parse(Path::new("x.npy"), &whole).is_ok());
    for cut in 0..whole.len() {
        assert!(refusal(&whole[..cut]).contains("`x.npy`"), "cut at {cut}");
    }
    assert!(refusal(&whole[..whole.len() - 1]).contains("truncated: found 15 bytes of data, expected 16"));
    let mut longer = whole;
    longer.push(0);
    assert!(refusal(&longer).contains("1 extra bytes after its array"));
}

#[test]
fn hostile_headers_are_rejected_early() {
    assert!(refusal(&npy("'<f8'", "(18446744073709551615, 2)", &[])).contains("exceeds the address space"));
    assert!(refusal(&npy("'<f8'", "(4611686018427387904,)", &[])).contains("exceeds the address space"));
    assert!(refusal(&npy("'<f8'", "(1099511627776,)", &[])).contains("truncated"));
    assert!(refusal(&npy("'<f8'", "(-1,)", &[])).contains("shape"));
    assert!(refusal(&npy("'<f8'", &format!("({})", "1,".repeat(33)), &[0; 8])).contains("33 dimensions"));
    assert!(refusal(&npy(&"(".repeat(5000), "()", &[])).contains("levels of brackets"));
    assert!(refusal(b"\x93NUMPY\x02\x00\xff\xff\xff\xff").contains("4294967295 bytes"));
    assert!(refusal(b"\x93NUMPY\x09\x00").contains("version 9"));
    assert!(refusal(b"PK\x03\x04....").contains("npz"));
    assert!(refusal(b"").contains("not an npy file"));
    assert!(refusal(&npy("'|b1'", "(1,)", &[7])).contains("invalid bool 7"));
}

#[test]
fn headers_parse_in_every_spelling() {
    let path = Path::new("x.npy");
    let data = 2.5_f64.to_le_bytes();
    for descriptor in ["'<f8'", "u'<f8'", "\"<f8\"", "'=f8'", "'f8'", "'|f8'"] {
        for shape in ["(1,)", "(1L,)", "( 1 , )"] {
            let array = parse(path, &npy(descriptor, shape, &data)).unwrap();
            assert_eq!(array, Array::from(array![2.5].into_dyn()), "{descriptor} {shape}");
        }
    }
    for descriptor in ["'<i1'", "'>i1'", "'=i1'", "'|i1'", "'i1'"] {
        assert_eq!(parse(path, &npy(descriptor, "(1L, 1)", &[7])).unwrap(), Array::from(array![[7_i8]]));
    }
    let lines = "'<f8',\n 'x'".replace(",\n 'x'", "");
    assert!(parse(path, &npy(&format!("\n{lines}\r\n"), "(\n1,\n)", &data)).is_ok());
    for shape in ["(1)", "[1,]", "1", "(1 1)", "(,)", "(1,"] {
        assert!(refusal(&npy("'<f8'", shape, &data)).contains("header"), "{shape}");
    }
}

#[test]
fn hints_fit_the_dtype() {
    for (descriptor, remedy) in
        [("'>c16'", "'<c16'"), ("'<m8[s]'", "'<i8'"), ("'<U3'", "strings"), ("'|V8'", "view")]
    {
        assert!(refusal(&npy(descriptor, "(1,)", &[0; 16])).contains(remedy), "{descriptor}");
    }
}
