//! Tests of the copies of the drivers, `c/grid/`: all levels of this CPU against the definition, with operands and blocks
//! at the ends of mapped memory.

use crate::cpu;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
use std::ptr;

#[repr(C)]
struct Grid {
    at: *mut u8,
    rows: i64,
    columns: i64,
    row: i64,
    column: i64,
}

#[repr(C)]
struct Ways {
    copy: unsafe extern "C" fn(i32, *const Grid, *mut u8, i32),
    line: unsafe extern "C" fn(i32, i64, *mut u8, i64, *mut u8, i32),
    turn: unsafe extern "C" fn(i32, i64, i64, *mut u8, i64, *const u8, i64),
}

unsafe extern "C" {
    static pc_grid_all: Ways;
    #[cfg(target_arch = "x86_64")]
    static pc_grid_v3: Ways;
    #[cfg(target_arch = "x86_64")]
    static pc_grid_v4: Ways;
}

fn ways() -> Vec<&'static Ways> {
    // SAFETY: constants of C, which the build script compiles.
    #[cfg(target_arch = "x86_64")]
    let all = unsafe { [&pc_grid_all, &pc_grid_v3, &pc_grid_v4] };
    // SAFETY: as above.
    #[cfg(not(target_arch = "x86_64"))]
    let all = [unsafe { &pc_grid_all }];
    all.into_iter().take(usize::try_from(cpu::kernels()).unwrap() + 1).collect()
}

/// Memory between two pages that cannot be accessed; never unmapped.
fn fenced() -> &'static mut [u8] {
    const PAGE: usize = 65536; // a multiple of the page size of every supported CPU
    let flags = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping.
    let start = unsafe { mmap_anonymous(ptr::null_mut(), 3 * PAGE, flags, MapFlags::PRIVATE) }.unwrap();
    let start = start.cast::<u8>();
    for page in [start, start.wrapping_add(2 * PAGE)] {
        // SAFETY: a third of the mapping, which nothing refers to.
        unsafe { mprotect(page.cast(), PAGE, MprotectFlags::empty()) }.unwrap();
    }
    // SAFETY: the third in the middle remains accessible, and only the caller gets it.
    unsafe { std::slice::from_raw_parts_mut(start.wrapping_add(PAGE), PAGE) }
}

const EXTENTS: [i64; 10] = [1, 2, 3, 5, 7, 8, 9, 17, 33, 40];

/// The steps of rows and columns of grids, in bytes.
fn layouts(item: i64, rows: i64, columns: i64) -> Vec<(i64, i64)> {
    let apart = [item * columns, item * (columns + 1), item * (columns + 6), -item * (columns + 1)];
    let mut all: Vec<(i64, i64)> = apart.map(|row| (row, item)).to_vec();
    all.extend([(item * columns, -item), (item * (columns + 1), -item), (-item * columns, -item)]);
    all.extend([(item, item * rows), (item, item * (rows + 3)), (-item, item * rows)]);
    all.extend([(2 * item * columns, 2 * item), (3 * item * columns, 3 * item)]);
    all.extend([(item, 0), (3 * item, 0), (-item, 0), (0, item), (0, -2 * item), (0, 0)]);
    all
}

/// Returns where a grid begins that lies at the start of `n` bytes or, with `at_end`, at their end. `None` if it is longer.
fn begin(n: usize, item: i64, reach: [i64; 2], at_end: bool) -> Option<usize> {
    let low: i64 = reach.iter().map(|&by| by.min(0)).sum();
    let high: i64 = reach.iter().map(|&by| by.max(0)).sum::<i64>() + item;
    let n = i64::try_from(n).unwrap();
    (high - low <= n).then(|| usize::try_from(if at_end { n - high } else { -low }).unwrap())
}

/// Calls `case` for all sizes, extents and layouts, at both ends of the memory of the operand.
fn each(mut case: impl FnMut(i64, [i64; 2], (i64, i64), bool)) {
    for item in [1, 2, 4, 8, 16] {
        for rows in EXTENTS {
            for columns in EXTENTS {
                for steps in layouts(item, rows, columns) {
                    case(item, [rows, columns], steps, false);
                    case(item, [rows, columns], steps, true);
                }
            }
        }
    }
}

fn offset(at: usize, by: i64) -> usize {
    usize::try_from(i64::try_from(at).unwrap() + by).unwrap()
}

#[test]
fn grids_and_lines_are_gathered_at_every_level() {
    let (memory, blocks) = (fenced(), fenced());
    let clean = vec![0x55; blocks.len()];
    memory.iter_mut().enumerate().for_each(|(i, byte)| *byte = (i * 7 + i / 251) as u8);
    each(|item, [rows, columns], (row, column), at_end| {
        let Some(at) = begin(memory.len(), item, [(rows - 1) * row, (columns - 1) * column], at_end) else {
            return;
        };
        let (size, bytes) = (usize::try_from(item).unwrap(), usize::try_from(rows * columns * item).unwrap());
        let mut expected = Vec::with_capacity(bytes);
        for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            let from = offset(at, i * row + j * column);
            expected.extend_from_slice(&memory[from..from + size]);
        }
        let start = if at_end { blocks.len() - bytes } else { 0 };
        for (level, ways) in ways().into_iter().enumerate() {
            let case = format!("{item} bytes, {rows}x{columns}, steps {row}, {column}, level {level}");
            blocks.fill(0x55);
            let grid = Grid { at: memory[at..].as_mut_ptr(), rows, columns, row, column };
            // SAFETY: the grid is within `memory`, and the block within `blocks`.
            unsafe { (ways.copy)(item as i32, &raw const grid, blocks[start..].as_mut_ptr(), 0) };
            assert!(blocks[start..start + bytes] == expected, "{case}");
            assert!(blocks[..start] == clean[..start], "{case}: bytes before");
            assert!(blocks[start + bytes..] == clean[start + bytes..], "{case}: bytes behind");
            let line = bytes / usize::try_from(rows).unwrap();
            blocks.fill(0);
            // SAFETY: as above, of the first row.
            unsafe { (ways.line)(item as i32, columns, grid.at, column, blocks[start..].as_mut_ptr(), 0) };
            assert!(blocks[start..start + line] == expected[..line], "a line: {case}");
        }
    });
}

#[test]
fn grids_and_lines_are_scattered_at_every_level() {
    let (memory, block) = (fenced(), fenced());
    block.iter_mut().enumerate().for_each(|(i, byte)| *byte = (i * 7 + i / 251) as u8);
    each(|item, [rows, columns], (row, column), at_end| {
        let overlaps = row.abs() < item || column.abs() < item;
        let Some(at) = begin(memory.len(), item, [(rows - 1) * row, (columns - 1) * column], at_end) else {
            return;
        };
        if overlaps {
            return;
        }
        let size = usize::try_from(item).unwrap();
        let mut expected = vec![0x55; memory.len()];
        for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            let (to, from) =
                (offset(at, i * row + j * column), usize::try_from((i * columns + j) * item).unwrap());
            expected[to..to + size].copy_from_slice(&block[from..from + size]);
        }
        for (level, ways) in ways().into_iter().enumerate() {
            let case = format!("{item} bytes, {rows}x{columns}, steps {row}, {column}, level {level}");
            memory.fill(0x55);
            let grid = Grid { at: memory[at..].as_mut_ptr(), rows, columns, row, column };
            // SAFETY: the grid is within `memory`, and the block within `block`.
            unsafe { (ways.copy)(item as i32, &raw const grid, block.as_mut_ptr(), 1) };
            assert!(*memory == *expected, "{case}");
            for i in 0..rows {
                let (to, from) = (offset(at, i * row), usize::try_from(i * columns * item).unwrap());
                memory[to..to + size].fill(0);
                // SAFETY: as above, of one row.
                unsafe {
                    (ways.line)(
                        item as i32,
                        columns,
                        memory[to..].as_mut_ptr(),
                        column,
                        block[from..].as_mut_ptr(),
                        1,
                    );
                };
            }
            assert!(*memory == *expected, "lines: {case}");
        }
    });
}

#[test]
fn rows_become_columns_at_every_level() {
    let (memory, blocks) = (fenced(), fenced());
    memory.iter_mut().enumerate().for_each(|(i, byte)| *byte = (i * 7 + i / 251) as u8);
    let extents = EXTENTS.iter().flat_map(|&rows| EXTENTS.map(|columns| (rows, columns)));
    for ((rows, columns), item, apart) in extents
        .flat_map(|of| [4, 8].into_iter().flat_map(move |item| [0, 1, 9].map(|apart| (of, item, apart))))
    {
        let (step, pitch) = (item * (columns + apart), item * (rows + apart));
        let size = usize::try_from(item).unwrap();
        let from = memory.len() - usize::try_from((rows - 1) * step + columns * item).unwrap();
        let to = blocks.len() - usize::try_from((columns - 1) * pitch + rows * item).unwrap();
        let mut expected = vec![0x55; blocks.len()];
        for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            let (at, of) = (offset(to, j * pitch + i * item), offset(from, i * step + j * item));
            expected[at..at + size].copy_from_slice(&memory[of..of + size]);
        }
        for (level, ways) in ways().into_iter().enumerate() {
            blocks.fill(0x55);
            let (to, from) = (blocks[to..].as_mut_ptr(), memory[from..].as_ptr());
            // SAFETY: both are within the mapped memory.
            unsafe { (ways.turn)(item as i32, rows, columns, to, pitch, from, step) };
            assert!(*blocks == *expected, "{item} bytes, {rows}x{columns}, {apart} apart, level {level}");
        }
    }
}
