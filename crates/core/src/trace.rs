//! Spans of the crate `tracing` for the steps of resolving and loading. Without the feature `tracing` they do nothing.
//!
//! | span | step | fields |
//! |---|---|---|
//! | `resolve` | a graph, or an entry of a bundle, becomes a function | `entry`, `outcome` |
//! | `rewrite`, `generate` | a graph is lowered, and C is generated | |
//! | `lookup` | a module is looked up in a layer | `key`, `layer`, `variant`, `outcome` |
//! | `verify` | an archive is read and hashed | `variant`, `bytes`, `outcome` |
//! | `load` | verified bytes become callable | `bytes`, `outcome` |
//! | `compile`, `publish` | a missing module is compiled | `key`, `signature`, `variant`, `layer`, `outcome` |
//!
//! All have the target `precast`, the level `DEBUG` and the field `ms`. Calls have no span, because they are too short.

#[cfg(feature = "tracing")]
pub use listened::Span;
#[cfg(feature = "tracing")]
#[doc(hidden)]
pub use tracing;

/// An entered span, which is exited on drop.
#[cfg(not(feature = "tracing"))]
#[derive(Debug)]
pub struct Span;

#[cfg(not(feature = "tracing"))]
impl Span {
    /// Records a field that was unknown when the span was entered.
    #[inline]
    pub fn record<T>(&self, _: &'static str, _: T) {}
}

#[cfg(feature = "tracing")]
mod listened {
    use std::time::Instant;
    use tracing::Value;
    use tracing::span::EnteredSpan;

    /// An entered span, which is exited on drop.
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

        /// Records a field that was unknown when the span was entered.
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

/// Enters a [`Span`]: `span!("lookup", key = text.as_str(); outcome)`, where `outcome` is recorded later. Values are
/// computed only if the span has a subscriber.
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

/// Returns an empty [`Span`]. The fields are only type-checked.
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

/// Returns the name of an outcome.
#[must_use]
pub fn outcome<T, E>(result: &Result<T, E>) -> &'static str {
    if result.is_ok() { "ok" } else { "failed" }
}
