//! Tests that blocks are reused, stay within the limit, and keep their contents.

use super::KeepLarge;
use std::alloc::{GlobalAlloc as _, Layout};

const MIB: usize = 1 << 20;

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 8).unwrap()
}

fn alloc(memory: &KeepLarge, bytes: usize) -> *mut u8 {
    // SAFETY: the size is positive.
    let data = unsafe { memory.alloc(layout(bytes)) };
    assert!(!data.is_null() && (bytes < MIB || data.addr().is_multiple_of(64)));
    // SAFETY: the block has this size.
    unsafe { data.write_bytes(7, bytes) };
    data
}

fn free(memory: &KeepLarge, data: *mut u8, bytes: usize) {
    // SAFETY: the block was allocated with this layout, and is not used again.
    unsafe { memory.dealloc(data, layout(bytes)) };
}

#[test]
fn large_block_is_reused_for_similar_sizes() {
    let memory = KeepLarge::new(64 * MIB);
    let first = alloc(&memory, 8 * MIB);
    free(&memory, first, 8 * MIB);
    assert_eq!(memory.kept_bytes(), 8 * MIB);
    assert_eq!(alloc(&memory, 8 * MIB - 1000), first);
    assert_eq!(memory.kept_bytes(), 0);
    free(&memory, first, 8 * MIB - 1000);
    let other = alloc(&memory, 9 * MIB);
    assert_ne!(other, first);
    free(&memory, other, 9 * MIB);
    assert_eq!(memory.kept_bytes(), 17 * MIB);
    memory.give_back();
    assert_eq!(memory.kept_bytes(), 0);
}

#[test]
fn last_freed_block_is_reused_first() {
    let memory = KeepLarge::new(64 * MIB);
    let blocks = [8, 8, 8].map(|mib| alloc(&memory, mib * MIB));
    blocks.iter().for_each(|data| free(&memory, *data, 8 * MIB));
    assert_eq!(blocks.map(|_| alloc(&memory, 8 * MIB)), [blocks[2], blocks[1], blocks[0]]);
    blocks.iter().for_each(|data| free(&memory, *data, 8 * MIB));
    memory.give_back();
}

#[test]
fn small_and_wide_aligned_blocks_are_not_kept() {
    let memory = KeepLarge::new(64 * MIB);
    let small = alloc(&memory, MIB - 1);
    free(&memory, small, MIB - 1);
    let wide = Layout::from_size_align(8 * MIB, 128).unwrap();
    // SAFETY: the size is positive.
    let data = unsafe { memory.alloc(wide) };
    assert!(data.addr().is_multiple_of(128));
    // SAFETY: it was allocated with this layout.
    unsafe { memory.dealloc(data, wide) };
    assert_eq!(memory.kept_bytes(), 0);
}

#[test]
fn oldest_blocks_are_released_beyond_the_limit() {
    let memory = KeepLarge::new(20 * MIB);
    let blocks = [5, 6, 7, 8].map(|mib| (alloc(&memory, mib * MIB), mib * MIB));
    for (data, bytes) in blocks {
        free(&memory, data, bytes);
    }
    assert_eq!(memory.kept_bytes(), 15 * MIB);
    assert_eq!([7, 8].map(|mib| alloc(&memory, mib * MIB)), [blocks[2].0, blocks[3].0]);
    free(&memory, blocks[2].0, 7 * MIB);
    free(&memory, blocks[3].0, 8 * MIB);
    let huge = alloc(&memory, 24 * MIB);
    free(&memory, huge, 24 * MIB);
    assert_eq!(memory.kept_bytes(), 15 * MIB);
    for _ in 0..100 {
        let many: Vec<_> = (0..5).map(|_| alloc(&memory, 4 * MIB)).collect();
        many.into_iter().for_each(|data| free(&memory, data, 4 * MIB));
        assert_eq!(memory.kept_bytes(), 20 * MIB);
    }
    memory.give_back();
}

#[test]
fn realloc_keeps_the_content() {
    let memory = KeepLarge::new(64 * MIB);
    let mut bytes = MIB / 2;
    let mut data = alloc(&memory, bytes);
    for size in [MIB - 5, MIB, MIB + 7, 9 * MIB, 30 * MIB, 5 * MIB, MIB, MIB / 2] {
        // SAFETY: the block has this layout, and the size is positive.
        data = unsafe { memory.realloc(data, layout(bytes), size) };
        // SAFETY: the block has at least `size` bytes, all written.
        let content = unsafe { std::slice::from_raw_parts_mut(data, size) };
        assert!(content[..bytes.min(size)].iter().all(|x| *x == 7), "{bytes} to {size}");
        content.fill(7);
        bytes = size;
    }
    free(&memory, data, bytes);
    memory.give_back();
}

#[test]
fn zeroed_memory_is_zero() {
    let memory = KeepLarge::new(64 * MIB);
    for bytes in [8 * MIB, 8 * MIB - 100, 5 * MIB] {
        for _ in 0..2 {
            // SAFETY: the size is positive.
            let data = unsafe { memory.alloc_zeroed(layout(bytes)) };
            // SAFETY: the block has `bytes` bytes, all written.
            let content = unsafe { std::slice::from_raw_parts_mut(data, bytes) };
            assert!(content.iter().all(|x| *x == 0));
            content.fill(1);
            free(&memory, data, bytes);
        }
    }
    memory.give_back();
}

#[test]
fn threads_share_kept_blocks() {
    let memory = KeepLarge::new(32 * MIB);
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let memory = &memory;
            scope.spawn(move || {
                for round in 0..50 {
                    let bytes = (4 + round % 5) * MIB;
                    // SAFETY: the size is positive.
                    let data = unsafe { memory.alloc(layout(bytes)) };
                    // SAFETY: the block has this size, and only this thread uses it.
                    unsafe { data.write(thread) };
                    std::thread::yield_now();
                    // SAFETY: as above.
                    assert_eq!(unsafe { data.read() }, thread);
                    free(memory, data, bytes);
                }
            });
        }
    });
    assert!(memory.kept_bytes() <= 32 * MIB);
    memory.give_back();
}
