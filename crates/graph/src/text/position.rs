//! A position in a text, for readers: output, line, column, and the line with a caret under it.

use std::fmt;

/// The maximum number of characters shown on either side of the caret.
const WINDOW: usize = 60;

/// A position in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The index of the text, counted from 0; `None` if there is only one text.
    pub output: Option<usize>,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    snippet: String,
    caret: usize,
}

impl Position {
    /// Computes the position of the byte `offset` of `text`.
    pub(super) fn new(output: Option<usize>, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[start..].chars().count();
        let skipped = column.saturating_sub(WINDOW);
        let rest = text[start..].lines().next().unwrap_or_default();
        // Each character takes one column, also tabs and control characters.
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let snippet = rest.chars().skip(skipped).take(2 * WINDOW).map(plain).collect();
        let line = before.matches('\n').count() + 1;
        Self { output, line, column: column + 1, snippet, caret: column - skipped }
    }

    /// Returns the line of the position with a caret below it, starting with a line break.
    #[must_use]
    pub fn caret(&self) -> String {
        format!("\n    {}\n    {:caret$}^", self.snippet, "", caret = self.caret)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(output) = self.output {
            write!(f, "outputs[{output}], ")?;
        }
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::Position;

    #[test]
    fn caret_points_at_the_column() {
        let text = "t = ä*x\nout = t +";
        let position = Position::new(None, text, text.len());
        assert_eq!((position.line, position.column), (2, 10));
        assert_eq!(position.caret(), "\n    out = t +\n             ^");
        assert_eq!(Position::new(None, text, text.find('*').unwrap()).column, 6);
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let text = "x".repeat(100_000);
        let caret = Position::new(Some(1), &text, 50_000).caret();
        assert!(caret.len() < 250, "{caret}");
        assert!(caret.ends_with(&format!("\n    {:60}^", "")));
    }
}
