//! Spans of what an answer takes, for programs that listen to the crate `tracing`. Without the feature of that name there is
//! nothing here.
//!
//! | span | what it spans | fields |
//! |---|---|---|
//! | `resolve` | a graph, or an entry of a bundle, becomes a function | `entry`, `outcome` |
//! | `rewrite`, `generate` | a graph becomes a lowered one, and C | |
//! | `lookup` | a layer is asked for a module | `key`, `layer`, `variant`, `outcome` |
//! | `verify` | an archive is read and hashed | `variant`, `bytes`, `outcome` |
//! | `load` | verified bytes become callable | `bytes`, `outcome` |
//! | `compile`, `publish` | a module that no layer has | `key`, `signature`, `variant`, `layer`, `outcome` |
//!
//! All are of the target `precast` and the level `DEBUG`, and have the field `ms`. Calls have none: they are too short.

#[cfg(feature = "tracing")]
pub use listened::Span;
#[cfg(feature = "tracing")]
#[doc(hidden)]
pub use tracing;

/// A span that was entered, until it is dropped.
#[cfg(not(feature = "tracing"))]
#[derive(Debug)]
pub struct Span;

#[cfg(not(feature = "tracing"))]
impl Span {
    /// Says what became known meanwhile.
    #[inline]
    pub fn record<T>(&self, _: &'static str, _: T) {}
}

#[cfg(feature = "tracing")]
mod listened {
    use std::time::Instant;
    use tracing::Value;
    use tracing::span::EnteredSpan;

    /// A span that was entered, until it is dropped.
    #[derive(Debug)]
    pub struct Span {
        span: EnteredSpan,
        begin: Option<Instant>,
    }

    impl Span {
        /// Enters a span.
        #[doc(hidden)]
        #[must_use]
        pub fn enter(span: tracing::Span) -> Self {
            let begin = (!span.is_disabled()).then(Instant::now);
            Self { span: span.entered(), begin }
        }

        /// Says what became known meanwhile.
        pub fn record(&self, field: &'static str, value: impl Value) {
            self.span.record(field, value);
        }
    }

    impl Drop for Span {
        fn drop(&mut self) {
            if let Some(begin) = self.begin {
                self.span.record("ms", begin.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
}

/// Enters a [`Span`]: `span!("lookup", key = text.as_str(); outcome)`, where `outcome` is recorded later. Values are computed
/// only where somebody listens.
#[cfg(feature = "tracing")]
#[doc(hidden)]
#[macro_export]
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)* $(; $($later:ident),+)?) => {
        $crate::trace::Span::enter($crate::trace::tracing::debug_span!(
            target: "precast",
            $name,
            $($field = $value,)*
            $($($later = $crate::trace::tracing::field::Empty,)+)?
            ms = $crate::trace::tracing::field::Empty
        ))
    };
}

/// Enters a [`Span`] that nobody can listen to.
#[cfg(not(feature = "tracing"))]
#[doc(hidden)]
#[macro_export]
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)* $(; $($later:ident),+)?) => {{
        if false {
            $(let _ = &$value;)*
        }
        $crate::trace::Span
    }};
}

/// The word for an outcome.
#[must_use]
pub fn outcome<T, E>(result: &Result<T, E>) -> &'static str {
    if result.is_ok() { "ok" } else { "failed" }
}
