//! The macros that parse the braces of a row: an expression, or a call of its C code, for each kind of dtypes.

/// Creates the [`Arms`](super::table::Arms) of a row.
macro_rules! arms {
    ($name:ident $x:tt any = $function:expr;) => {
        Arms { takes: ALL, headers: [&[], &[]], regions: [&[], &[]], evaluate: $function }
    };
    ($name:ident ($word:ident $(, $x:ident)*) word $header:literal;) => {
        Arms {
            takes: INT,
            headers: [&[concat!("precast/ops/", $header)], &[]],
            regions: [&[], &[]],
            evaluate: |v| match v {
                &[Value::U64($word) $(, Value::U64($x))*] => {
                    Some(Value::U64(math::call!($name, word: u64, $word $(, $x)*)))
                }
                _ => None,
            },
        }
    };
    ($name:ident ($word:ident $(, $x:ident)*) draw $header:literal;) => {
        Arms {
            takes: FLOAT,
            headers: [&[concat!("precast/ops/", $header)], &[]],
            regions: [&[], &[]],
            evaluate: |v| match v {
                &[Value::U64($word) $(, Value::F64($x))*] => {
                    let bits = math::call!($name, draw: u64, $word $(, $x.to_bits())*);
                    Some(Value::F64(f64::from_bits(bits)))
                }
                _ => None,
            },
        }
    };
    ($name:ident $x:tt $(bool = $bool:expr;)? $(int = $int:expr;)? $(float $($fh:literal)? $(f32 [$($r32:ident)*])? $(f64 [$($r64:ident)*])? $(= $float:expr)?;)?
     $(complex $($ch:literal)? $(= $complex:expr)?;)?) => {{
        #[allow(unused_variables, reason = "as in `isnan` of integers")]
        fn evaluate(v: &[Value]) -> Option<Value> {
            match v {
                $(arm!($x Bool) => Some(Value::from($bool)),)?
                $(arm!($x I8) => Some(Value::from($int)),
                arm!($x I16) => Some(Value::from($int)),
                arm!($x I32) => Some(Value::from($int)),
                arm!($x I64) => Some(Value::from($int)),
                arm!($x U8) => Some(Value::from($int)),
                arm!($x U16) => Some(Value::from($int)),
                arm!($x U32) => Some(Value::from($int)),
                arm!($x U64) => Some(Value::from($int)),)?
                $(arm!($x F32) => Some(Value::from(arm!($name f32: f32, $x $($fh)? $(= $float)?))),
                arm!($x F64) => Some(Value::from(arm!($name f64: f64, $x $($fh)? $(= $float)?))),)?
                $(arm!($x C64) => Some(Value::from(arm!($name c64: Complex<f32>, $x $($ch)? $(= $complex)?))),
                arm!($x C128) => Some(Value::from(arm!($name c128: Complex<f64>, $x $($ch)? $(= $complex)?))),)?
                _ => None,
            }
        }
        Arms {
            takes: 0 $(| arm!(BOOL: $bool))? $(| arm!(INT: $int))? $(| arm!(FLOAT: $($fh)? $($float)?))?
                $(| arm!(COMPLEX: $($ch)? $($complex)?))?,
            headers: [
                &[$($(concat!("precast/ops/", $fh))?)?],
                &[$($(concat!("precast/ops/", $ch))?)?],
            ],
            regions: [&[$($($(stringify!($r32)),*)?)?], &[$($($(stringify!($r64)),*)?)?]],
            evaluate,
        }
    }};
}

/// Creates an item for one kind: the pattern of a dtype, its value (from C if the row has no Rust value), and the
/// bit.
macro_rules! arm {
    (($($x:ident),+) $variant:ident) => { &[$(Value::$variant($x)),+] };
    ($name:ident $d:ident: $t:ty, $x:tt $($header:literal)? = $value:expr) => { $value };
    ($name:ident $d:ident: $t:ty, ($($x:ident),+) $header:literal) => { math::call!($name, $d: $t, $($x),+) };
    ($bit:ident: $($given:tt)*) => { $bit };
}

pub(super) use {arm, arms};
