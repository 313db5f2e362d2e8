//! Calendar dates in keyrings.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

/// A date in UTC, such as `2027-11-22`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Returns the current date of the system clock.
    #[must_use]
    pub fn today() -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Self::of_days(seconds / 86400)
    }

    /// Returns the date `days` days after 1970-01-01.
    #[must_use]
    pub fn of_days(days: u64) -> Self {
        let (mut left, mut year) = (days, 1970_u16);
        while left >= days_of(year) {
            left -= days_of(year);
            year += 1;
        }
        let mut month = 1;
        while left >= u64::from(length(year, month)) {
            left -= u64::from(length(year, month));
            month += 1;
        }
        Self { year, month, day: u8::try_from(left).unwrap_or(0) + 1 }
    }
}

fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of(year: u16) -> u64 {
    365 + u64::from(is_leap(year))
}

fn length(year: u16, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u8::from(is_leap(year)),
        _ => 31,
    }
}

/// An invalid date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid date `{found}`: expected one like `2027-11-22`")]
pub struct ParseDateError {
    found: String,
}

impl FromStr for Date {
    type Err = ParseDateError;

    fn from_str(text: &str) -> Result<Self, ParseDateError> {
        let wrong = || ParseDateError { found: text.to_owned() };
        let parts: Vec<&str> = text.split('-').collect();
        let [year, month, day] = parts[..] else { return Err(wrong()) };
        let is_number =
            |part: &str, len: usize| part.len() == len && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(year, 4) || !is_number(month, 2) || !is_number(day, 2) {
            return Err(wrong());
        }
        let number = |part: &str| part.parse::<u16>().map_err(|_| wrong());
        let (year, month, day) = (number(year)?, number(month)? as u8, number(day)? as u8);
        let exists = year >= 1970 && (1..=12).contains(&month) && (1..=length(year, month)).contains(&day);
        exists.then_some(Self { year, month, day }).ok_or_else(wrong)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_days_parse_for_centuries() {
        assert_eq!(Date::of_days(0).to_string(), "1970-01-01");
        assert_eq!(Date::of_days(11_016).to_string(), "2000-02-29");
        assert_eq!(Date::of_days(20_779).to_string(), "2026-11-22");
        let mut last = Date::of_days(0);
        for day in 1..150_000 {
            let date = Date::of_days(day);
            assert!(last < date && date.to_string().parse() == Ok(date), "{date}");
            last = date;
        }
    }

    #[test]
    fn invalid_days_are_rejected() {
        for wrong in [
            "",
            "2027",
            "2027-13-01",
            "2027-02-29",
            "2027-00-10",
            "2027-1-1",
            "+027-01-01",
            "2027-01-01-01",
            "1969-12-31",
        ] {
            assert!(wrong.parse::<Date>().is_err(), "{wrong}");
        }
    }
}
