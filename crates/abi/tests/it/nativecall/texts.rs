//! Texts for the tests: signatures of every form, and texts that are almost signatures.

use proptest::prelude::*;

/// Signatures around the boundaries of chunks (7, 8, 9, 15, 22, 23 bytes) and of every construct.
pub(super) const SIGNATURES: [&str; 30] = [
    ")",
    "df)i",
    "dddddd)",
    "dddddd)d",
    "dddddd)dd",
    "ddddddd)",
    "dddddddd)",
    "dddddddd)d~",
    "iiiidddiiidddd)",
    "iiiidddiiidddd)d",
    "iiiidddiiidddd)dd",
    "iiiiddddiiiddddiiidddd)",
    "iiiiddddiiiddddiiidddd)d",
    "iiiiddddiiiddddiiidddd)dd",
    "?bBhHiIqQeEfdgZfZdZgPO)",
    "d)~",
    "dd)d!c~",
    "dd)dd!s",
    "O)O!p",
    "T{dT{i&f}b}&T{q})T{dd}",
    "X{dd)d~}PX{)}&X{P)i!p})X{)}",
    "#f#0d#1f#2d#10Zd#32?)#f",
    "#1f#1f)#1f~",
    "#1f#1f)#11f~",
    "#d&#1d)#E",
    "&&&&&&&&d)",
    "T{T{T{T{T{T{T{T{d}}}}}}}})",
    "Zfd)Zf",
    "0d",
    "11)",
];

/// Returns the valid signatures; the last entries of [`SIGNATURES`] are not canonical.
pub(super) fn signatures() -> &'static [&'static str] {
    &SIGNATURES[..28]
}

/// Generates a field, nested up to `depth` levels.
fn field(depth: u32) -> BoxedStrategy<String> {
    let number = prop::sample::select(vec![
        "?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "E", "f", "d", "Zf", "Zd",
    ]);
    let leaf = prop_oneof![
        4 => number.clone().prop_map(str::to_owned),
        1 => prop::sample::select(vec!["g", "Zg", "P", "O"]).prop_map(str::to_owned),
        1 => number.clone().prop_map(|n| format!("#{n}")),
        1 => (0..=32_u8, number).prop_map(|(rank, n)| format!("#{rank}{n}")),
    ];
    leaf.prop_recursive(depth, 16, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|to| format!("&{to}")),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|fields| format!("T{{{}}}", fields.concat())),
            function(inner).prop_map(|text| format!("X{{{text}}}")),
        ]
    })
    .boxed()
}

fn function(field: impl Strategy<Value = String> + Clone) -> impl Strategy<Value = String> {
    let annotations =
        (prop::sample::select(vec!["", "", "!c", "!s", "!p"]), prop::sample::select(vec!["", "~"]));
    let fields = |most| prop::collection::vec(field.clone(), 0..most).prop_map(|fields| fields.concat());
    (fields(8), fields(3), annotations)
        .prop_map(|(inputs, outputs, (errors, nogil))| format!("{inputs}){outputs}{errors}{nogil}"))
}

/// Generates a canonical signature.
pub(super) fn canonical() -> impl Strategy<Value = String> {
    function(field(3)).prop_filter("a signature has a limit", |text| text.len() <= 255)
}

/// Generates any text: canonical, with one byte changed, removed, inserted or doubled, a sequence of the grammar's
/// characters, or random bytes.
pub(super) fn anything() -> impl Strategy<Value = Vec<u8>> {
    let letters = b"?bBhHiIqQeEfdgZPO&TX{}#)0123!csp~-:l \x00".to_vec();
    let edited =
        (canonical(), any::<prop::sample::Index>(), 0..4, any::<u8>()).prop_map(|(text, at, how, byte)| {
            let mut text = text.into_bytes();
            let at = at.index(text.len());
            match how {
                0 => text[at] = byte,
                1 => drop(text.remove(at)),
                2 => text.insert(at, text[at]),
                _ => text.insert(at, byte),
            }
            text
        });
    prop_oneof![
        2 => canonical().prop_map(String::into_bytes),
        4 => edited,
        4 => prop::collection::vec(prop::sample::select(letters), 0..40),
        1 => prop::collection::vec(any::<u8>(), 0..300),
    ]
}
