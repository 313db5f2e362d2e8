//! Formats sizes, times and counts with their units.

use std::time::Duration;

/// Renders a number of bytes: `812 B`, `3.4 KiB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", units[unit])
}

/// Renders a time: `340 µs`, `12.3 ms`, `2.1 s`.
#[must_use]
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 1.0 {
        format!("{seconds:.1} s")
    } else if seconds >= 1e-3 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{} µs", time.as_micros())
    }
}

/// Renders a time that may be as short as a single call: `85 ns`, `3.42 µs`, `12.3 ms`.
#[must_use]
pub fn short_time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} µs", s * 1e6),
        s => duration(Duration::from_secs_f64(s)),
    }
}

/// Renders `1 module`, `2 modules`.
#[must_use]
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!([size(812), size(3500), size(5 << 30)], ["812 B", "3.4 KiB", "5.0 GiB"]);
        assert_eq!(duration(Duration::from_micros(12_345)), "12.3 ms");
        assert_eq!([8.5e-8, 3.42e-6, 0.0123].map(short_time), ["85 ns", "3.42 µs", "12.3 ms"]);
    }
}
