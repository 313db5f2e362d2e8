//! Cuts a file into layers at places that depend on its content, so that an insertion leaves the layers before and
//! after it unchanged.

use std::ops::Range;
use std::sync::LazyLock;

use precast_core::key::ContentId;

/// The minimum size of a layer in bytes, except for the last one.
const LEAST: usize = 32 << 10;

/// The maximum size of a layer in bytes.
const MOST: usize = 512 << 10;

/// The average distance between cuts beyond the minimum size.
const MEAN: u64 = 128 << 10;

/// A number for each byte (Xia et al., "FastCDC", USENIX ATC 2016).
static GEAR: LazyLock<[u64; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let id = ContentId::of([u8::try_from(byte).unwrap_or_default()]);
        let mut first = [0; 8];
        first.copy_from_slice(&id.as_bytes()[..8]);
        u64::from_le_bytes(first)
    })
});

/// Returns the layers of a file, in order; at least one.
pub(super) fn cut(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut layers = Vec::new();
    let mut start = 0;
    while bytes.len() - start > LEAST {
        let end = start + length(&bytes[start..]);
        layers.push(start..end);
        start = end;
    }
    if start < bytes.len() || layers.is_empty() {
        layers.push(start..bytes.len());
    }
    layers
}

fn length(bytes: &[u8]) -> usize {
    let (gear, mut hash, most) = (&*GEAR, 0_u64, bytes.len().min(MOST));
    // The high bits depend on up to the last 64 bytes.
    let mask = (MEAN - 1) << 47;
    for (at, byte) in bytes[..most].iter().enumerate() {
        hash = (hash << 1).wrapping_add(gear[usize::from(*byte)]);
        if at + 1 >= LEAST && hash & mask == 0 {
            return at + 1;
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(count: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn insertion_changes_few_layers() {
        let bytes = noise(4 << 20);
        let layers = cut(&bytes);
        assert_eq!(layers.iter().flat_map(|layer| bytes[layer.clone()].to_vec()).collect::<Vec<_>>(), bytes);
        assert!(layers.len() > 10 && layers.iter().all(|layer| layer.len() <= MOST), "{}", layers.len());
        let mut longer = bytes.clone();
        longer.splice(1_000_000..1_000_000, [7; 100]);
        let known: std::collections::BTreeSet<_> =
            layers.iter().map(|layer| bytes[layer.clone()].to_vec()).collect();
        let fresh = cut(&longer).into_iter().filter(|layer| !known.contains(&longer[layer.clone()])).count();
        assert!((1..=2).contains(&fresh), "{fresh}");
        let lengths = |bytes: &[u8]| cut(bytes).iter().map(ExactSizeIterator::len).collect::<Vec<_>>();
        assert_eq!((lengths(b""), lengths(b"abc")), (vec![0], vec![3]));
    }
}
