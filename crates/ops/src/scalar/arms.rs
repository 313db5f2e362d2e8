//! Macros that make the function of a row: an expression for each kind of dtype that the op exists for.
//!
//! `bool`, `int` (all eight), `float` (f32 and f64) and `complex` come in this order, each at most once; where the two floats
//! need functions of two names, `f32 …, f64 …` stands for `float …`. There are no 16-bit floats: they are widened before.

/// A function of one value.
macro_rules! unary {
    ($x:ident; $(bool $bool:expr;)? $(int $int:expr;)? $(float $float:expr;)? $(f32 $f32:expr, f64 $f64:expr;)?
     $(complex $complex:expr;)? $(c64 $c64:expr, c128 $c128:expr;)?) => {
        |v: &[Value]| match v {
            $([Value::Bool($x)] => { let $x = *$x; Some(Value::from($bool)) })?
            $([Value::I8($x)] => { let $x = *$x; Some(Value::from($int)) }
              [Value::I16($x)] => { let $x = *$x; Some(Value::from($int)) }
              [Value::I32($x)] => { let $x = *$x; Some(Value::from($int)) }
              [Value::I64($x)] => { let $x = *$x; Some(Value::from($int)) }
              [Value::U8($x)] => { let $x = *$x; Some(Value::from($int)) }
              [Value::U16($x)] => { let $x = *$x; Some(Value::from($int)) }
              [Value::U32($x)] => { let $x = *$x; Some(Value::from($int)) }
              [Value::U64($x)] => { let $x = *$x; Some(Value::from($int)) })?
            $([Value::F32($x)] => { let $x = *$x; Some(Value::from($float)) }
              [Value::F64($x)] => { let $x = *$x; Some(Value::from($float)) })?
            $([Value::F32($x)] => { let $x = *$x; Some(Value::from($f32)) }
              [Value::F64($x)] => { let $x = *$x; Some(Value::from($f64)) })?
            $([Value::C64($x)] => { let $x = *$x; Some(Value::from($complex)) }
              [Value::C128($x)] => { let $x = *$x; Some(Value::from($complex)) })?
            $([Value::C64($x)] => { let $x = *$x; Some(Value::from($c64)) }
              [Value::C128($x)] => { let $x = *$x; Some(Value::from($c128)) })?
            _ => None,
        }
    };
}

/// A function of two values of one dtype.
macro_rules! binary {
    ($x:ident, $y:ident; $(bool $bool:expr;)? $(int $int:expr;)? $(float $float:expr;)? $(f32 $f32:expr, f64 $f64:expr;)?
     $(complex $complex:expr;)? $(c64 $c64:expr, c128 $c128:expr;)?) => {
        |v: &[Value]| match v {
            $([Value::Bool($x), Value::Bool($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($bool)) })?
            $([Value::I8($x), Value::I8($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($int)) }
              [Value::I16($x), Value::I16($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($int)) }
              [Value::I32($x), Value::I32($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($int)) }
              [Value::I64($x), Value::I64($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($int)) }
              [Value::U8($x), Value::U8($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($int)) }
              [Value::U16($x), Value::U16($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($int)) }
              [Value::U32($x), Value::U32($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($int)) }
              [Value::U64($x), Value::U64($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($int)) })?
            $([Value::F32($x), Value::F32($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($float)) }
              [Value::F64($x), Value::F64($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($float)) })?
            $([Value::F32($x), Value::F32($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($f32)) }
              [Value::F64($x), Value::F64($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($f64)) })?
            $([Value::C64($x), Value::C64($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($complex)) }
              [Value::C128($x), Value::C128($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($complex)) })?
            $([Value::C64($x), Value::C64($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($c64)) }
              [Value::C128($x), Value::C128($y)] => { let ($x, $y) = (*$x, *$y); Some(Value::from($c128)) })?
            _ => None,
        }
    };
}

pub(super) use {binary, unary};
