//! Builds a row of a non-elementwise table from the columns that all such tables have.
//!
//! ```text
//! name(arguments; repeated argument) [aliases] {settings, also by position; settings by name; arguments by name}
//! ```
//! The build script does not read this file.

macro_rules! row {
    ($help:literal $name:ident ($($x:ident),* $(; $more:ident $(of $rows:ident)?)?) [$($alias:ident)*]
     {$($keyword:ident = $default:expr),* $(; $($named:ident = $else:expr),* $(; $($argument:ident),+)?)?}
     $apply:expr, $register:expr, $combinations:expr) => {
        $crate::rows::Row {
            name: stringify!($name),
            aliases: &[$(stringify!($alias)),*],
            arguments: &[$(stringify!($x),)* $(concat!(stringify!($more), "…"))?],
            keywords: &[
                $($crate::rows::Keyword::setting(stringify!($keyword), stringify!($default), true),)*
                $($($crate::rows::Keyword::setting(stringify!($named), stringify!($else), false),)*
                $($($crate::rows::Keyword::argument(stringify!($argument)),)+)?)?
            ],
            help: $help.trim_ascii(),
            apply: $apply,
            takes_rows: $crate::rows::is_there(&[$($(stringify!($rows))?)?]),
            register: $register,
            combinations: $combinations,
            scalar: None,
        }
    };
}
pub(crate) use row;

/// Returns whether a column has an entry.
pub(crate) const fn is_there(column: &[&str]) -> bool {
    !column.is_empty()
}
