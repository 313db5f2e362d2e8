//! Parts of signatures that are composed at compile time.

use super::grammar::MAX_BYTES;

/// The code of a field, or a whole signature, in a `const`.
///
/// Text that is too long or invalid causes an error when the signature is used: the grammar checks all keys.
#[derive(Clone, Copy)]
pub struct Code {
    bytes: [u8; MAX_BYTES],
    len: usize,
}

impl Code {
    /// Creates a code from its text.
    ///
    /// # Panics
    /// Panics if the text is longer than a signature may be.
    #[must_use]
    pub const fn new(code: &str) -> Self {
        Self { bytes: [0; MAX_BYTES], len: 0 }.text(code)
    }

    /// Appends another code.
    ///
    /// # Panics
    /// Panics if the result is longer than a signature may be.
    #[must_use]
    pub const fn then(self, next: &Self) -> Self {
        self.text(next.as_str())
    }

    /// Returns `&`, a pointer to the type with this code.
    #[must_use]
    pub const fn pointer(to: Self) -> Self {
        Self::new("&").then(&to)
    }

    /// Returns `T{…}`, a C struct of these fields.
    #[must_use]
    pub const fn structure(fields: &[Self]) -> Self {
        let (mut code, mut position) = (Self::new("T{"), 0);
        while position < fields.len() {
            code = code.then(&fields[position]);
            position += 1;
        }
        code.text("}")
    }

    /// Returns `X{…}`, a pointer to a function of a signature.
    #[must_use]
    pub const fn function(signature: &Self) -> Self {
        Self::new("X{").then(signature).text("}")
    }

    /// Returns `#`, a `pc_tensor *` with this element type, of a given rank or of any rank.
    #[must_use]
    pub const fn tensor(rank: Option<u8>, element: Self) -> Self {
        let code = Self::new("#");
        let code = match rank {
            None => code,
            Some(rank) if rank < 10 => code.digit(rank),
            Some(rank) => code.digit(rank / 10).digit(rank % 10),
        };
        code.then(&element)
    }

    /// Returns the text.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }

    const fn digit(mut self, digit: u8) -> Self {
        assert!(self.len < MAX_BYTES, "a signature longer than its limit");
        self.bytes[self.len] = b'0' + digit;
        self.len += 1;
        self
    }

    const fn text(mut self, text: &str) -> Self {
        assert!(self.len + text.len() <= MAX_BYTES, "a signature longer than its limit");
        let mut at = 0;
        while at < text.len() {
            self.bytes[self.len + at] = text.as_bytes()[at];
            at += 1;
        }
        self.len += text.len();
        self
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
