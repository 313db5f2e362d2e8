//! The only source of randomness: numbers from a seed, or from a tape that proptest can shorten.
//!
//! At its end a tape returns zeros, and 0 is always the smallest choice: a shorter tape is a smaller example.

/// A sequence of choices.
///
/// # Examples
/// ```
/// use precast_testkit::Choices;
///
/// let (mut a, mut b) = (Choices::seeded(7), Choices::seeded(7));
/// assert_eq!(a.below(1000), b.below(1000));
/// assert_eq!(Choices::tape(vec![]).below(1000), 0);
/// ```
#[derive(Debug, Clone)]
pub struct Choices {
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Seed(u64),
    Tape(std::vec::IntoIter<u32>),
}

impl Choices {
    /// Creates an endless sequence of choices from the seed alone.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { source: Source::Seed(seed) }
    }

    /// Creates a sequence of the choices of a tape, then zeros.
    #[must_use]
    pub fn tape(tape: Vec<u32>) -> Self {
        Self { source: Source::Tape(tape.into_iter()) }
    }

    /// Returns 32 random bits.
    pub fn bits(&mut self) -> u32 {
        match &mut self.source {
            Source::Tape(tape) => tape.next().unwrap_or(0),
            Source::Seed(state) => (split_mix(state) >> 32) as u32,
        }
    }

    /// Returns a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        // The remainder is slightly uneven, which is fine for tests.
        (self.bits() as usize).checked_rem(n).unwrap_or(0)
    }

    /// Returns a number in a range.
    pub fn within(&mut self, range: &std::ops::RangeInclusive<usize>) -> usize {
        range.start() + self.below(range.end().saturating_sub(*range.start()) + 1)
    }

    /// Returns `true` once in `n` times; `false` on an empty tape.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n.saturating_sub(1)
    }

    /// Returns one of several items; `None` if the slice is empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Returns a number from 0 up to 1, with 32 random bits.
    pub fn unit(&mut self) -> f64 {
        f64::from(self.bits()) / 4_294_967_296.0
    }
}

/// # Source
/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014; the public-domain C of Vigna.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{Choices, split_mix};

    #[test]
    fn split_mix_matches_the_published_numbers() {
        let mut state = 1_234_567;
        assert_eq!(split_mix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(split_mix(&mut state), 3_203_168_211_198_807_973);
    }

    #[test]
    fn an_empty_tape_makes_the_smallest_choices() {
        let mut choices = Choices::tape(vec![]);
        assert_eq!(choices.within(&(3..=9)), 3);
        assert!(!choices.one_in(4));
        assert_eq!(choices.unit().to_bits(), 0);
        assert_eq!(choices.pick(&[5, 6]), Some(&5));
    }
}
