//! The header of an `.npy` file: a Python dictionary with three keys, in the spellings that NumPy reads.
//!
//! ```text
//! {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//! ```
//! Python 2 wrote `u'<f8'` and `4L`. Other writers use double quotes, line breaks, and another order of the keys.

/// The largest header in bytes; NumPy has the same limit.
const LIMIT: usize = 10_000;

/// The deepest nesting of brackets in a header; our own headers have three levels.
const NESTING_LIMIT: usize = 8;

pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// The alignment of a file's header and array, in bytes.
const ALIGNMENT: usize = 64;

/// The number of digits that NumPy reserves for the first extent, so that an array can grow in place.
const GROWTH_DIGITS: usize = 21;

/// The contents of a header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The descriptor of the dtype; for a structure, its text.
    pub(super) descriptor: String,
    pub(super) is_fortran: bool,
    pub(super) shape: Vec<usize>,
}

/// Splits the bytes of a file into its header and its data. Returns `Err(None)` if it is not an npy file.
pub(super) fn read(bytes: &[u8]) -> Result<(Header, &[u8]), Option<String>> {
    if !bytes.starts_with(MAGIC) {
        return Err(None);
    }
    let cut = || Some("truncated".to_owned());
    let field = |range: std::ops::Range<usize>| bytes.get(range).ok_or_else(cut);
    let version = field(6..8)?[0];
    let (start, len) = match version {
        1 => (10, field(8..10)?.iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte))),
        2 | 3 => (12, field(8..12)?.iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte))),
        major => return Err(Some(format!("found format version {major}, expected 1 to 3"))),
    };
    if len > LIMIT {
        return Err(Some(format!("found {len} bytes, expected at most {LIMIT}")));
    }
    let text = field(start..start + len)?;
    check_nesting(text)?;
    // Text is Latin-1 before version 3.
    let text = match version {
        3 => str::from_utf8(text).map_err(|_| Some("not UTF-8".to_owned()))?.to_owned(),
        _ => text.iter().map(|byte| char::from(*byte)).collect(),
    };
    let header = parse(&text).map_err(Some)?;
    Ok((header, &bytes[start + len..]))
}

fn check_nesting(text: &[u8]) -> Result<(), Option<String>> {
    let mut depth = 0_usize;
    for byte in text {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > NESTING_LIMIT {
            return Err(Some(format!("more than {NESTING_LIMIT} levels of brackets")));
        }
    }
    Ok(())
}

/// Parses the dictionary. The error describes the mistake in words.
fn parse(text: &str) -> Result<Header, String> {
    let not = || "not a Python dictionary".to_owned();
    let mut cursor = Cursor(text);
    let (mut descriptor, mut is_fortran, mut shape) = (None, None, None);
    cursor.take("{").ok_or_else(not)?;
    while cursor.take("}").is_none() {
        let key = cursor.quoted().ok_or_else(not)?;
        cursor.take(":").ok_or_else(not)?;
        let wrong = || format!("invalid `{key}`");
        match key {
            "descr" => descriptor = Some(cursor.descriptor().ok_or_else(wrong)?),
            "fortran_order" => is_fortran = Some(cursor.truth().ok_or_else(wrong)?),
            "shape" => shape = Some(cursor.shape().ok_or_else(wrong)?),
            _ => return Err(format!("unknown key `{}`", key.escape_debug())),
        }
        if cursor.take(",").is_none() {
            cursor.take("}").ok_or_else(not)?;
            break;
        }
    }
    if !cursor.0.trim().is_empty() {
        return Err(not());
    }
    let missing = |key: &str| format!("missing `{key}`");
    Ok(Header {
        descriptor: descriptor.ok_or_else(|| missing("descr"))?,
        is_fortran: is_fortran.ok_or_else(|| missing("fortran_order"))?,
        shape: shape.ok_or_else(|| missing("shape"))?,
    })
}

/// The unread rest of a text.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    /// Consumes a token, if it comes next.
    fn take(&mut self, token: &str) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(token)?;
        Some(())
    }

    /// Consumes at least one letter that `of` accepts, after spaces.
    fn while_of(&mut self, of: impl Fn(char) -> bool) -> Option<&'a str> {
        let rest = self.0.trim_start();
        let (found, rest) = rest.split_at(rest.find(|letter| !of(letter)).unwrap_or(rest.len()));
        self.0 = rest;
        Some(found).filter(|found| !found.is_empty())
    }

    /// Consumes a text in quotes: `'x'`, `"x"`, `u'x'`. Escapes are not supported.
    fn quoted(&mut self) -> Option<&'a str> {
        let rest = self.0.trim_start();
        let rest = rest.strip_prefix(['u', 'U']).unwrap_or(rest);
        let quote = rest.chars().next().filter(|first| ['\'', '"'].contains(first))?;
        let (text, rest) = rest[1..].split_once(quote)?;
        self.0 = rest;
        Some(text).filter(|text| !text.contains(['\\', '\n']))
    }

    fn truth(&mut self) -> Option<bool> {
        match self.while_of(|letter| letter.is_ascii_alphanumeric())? {
            "True" => Some(true),
            "False" => Some(false),
            _ => None,
        }
    }

    /// Consumes a tuple of extents: `()`, `(3,)`, `(3L, 4L)`.
    fn shape(&mut self) -> Option<Vec<usize>> {
        let mut extents = Vec::new();
        self.take("(")?;
        while self.take(")").is_none() {
            extents.push(self.while_of(|letter| letter.is_ascii_digit())?.parse().ok()?);
            // Suffix of Python 2.
            self.0 = self.0.strip_prefix(['L', 'l']).unwrap_or(self.0);
            let is_more = self.take(",").is_some();
            // `(3)` is a number.
            if !is_more && (extents.len() == 1 || !self.0.trim_start().starts_with(')')) {
                return None;
            }
        }
        Some(extents)
    }

    /// Consumes a descriptor: a text, or the list of a structure, which is returned as text.
    fn descriptor(&mut self) -> Option<String> {
        let rest = self.0.trim_start();
        if !rest.starts_with(['[', '(']) {
            return self.quoted().map(str::to_owned);
        }
        let mut depth = 0_usize;
        let mut quote = None;
        for (at, letter) in rest.char_indices() {
            match (quote, letter) {
                (Some(open), _) if open == letter => quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"') => quote = Some(letter),
                (None, '[' | '(') => depth += 1,
                (None, ']' | ')') => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                let (text, rest) = rest.split_at(at + letter.len_utf8());
                self.0 = rest;
                return Some(text.to_owned());
            }
        }
        None
    }
}

/// Returns the header of an array in C order, as NumPy writes it.
pub(super) fn render(descriptor: String, shape: &[usize]) -> Vec<u8> {
    let extents: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let growth = extents.first().map_or(0, |first| GROWTH_DIGITS.saturating_sub(first.len()));
    let text = format!(
        "{{'descr': '{descriptor}', 'fortran_order': False, 'shape': ({}{comma}), }}{}",
        extents.join(", "),
        " ".repeat(growth)
    );
    // 32 extents stay far below the 65 535 bytes of version 1.
    let before = MAGIC.len() + 4;
    let len = (before + text.len() + 1).next_multiple_of(ALIGNMENT) - before;
    let mut bytes = [MAGIC, &[1, 0], &(len as u16).to_le_bytes(), text.as_bytes()].concat();
    bytes.resize(before + len - 1, b' ');
    bytes.push(b'\n');
    bytes
}
