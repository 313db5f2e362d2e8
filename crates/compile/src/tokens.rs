//! The tokens of Cargo's (or make's) jobserver. The process owns one token from the start; each additional job takes a
//! token and returns it.
//!
//! The server is a pipe whose bytes are the tokens. The `jobserver` crate can adopt it only with `unsafe` code, because
//! it takes file descriptors by number. This module reopens the pipe through `/proc/self/fd` instead, which is safe. It
//! opens the pipe in non-blocking mode, so that no thread keeps waiting for a token after all jobs are done.

use std::fs::File;
use std::io::{Read as _, Write as _};

#[derive(Debug)]
pub(crate) struct Tokens {
    read: File,
    write: File,
}

/// A token, returned when dropped.
pub(crate) struct Token<'a> {
    tokens: &'a Tokens,
    byte: u8,
}

impl Drop for Token<'_> {
    fn drop(&mut self) {
        // If the server is gone, the token need not be returned.
        let _ = (&self.tokens.write).write_all(&[self.byte]);
    }
}

impl Tokens {
    /// Opens the jobserver named in the environment, if any.
    pub(crate) fn from_env() -> Option<Self> {
        let names = ["CARGO_MAKEFLAGS", "MAKEFLAGS", "MFLAGS"];
        names.iter().find_map(|name| Self::open(&std::env::var(name).ok()?))
    }

    /// Opens the jobserver named in make's flags: `--jobserver-auth=3,4` or `--jobserver-auth=fifo:PATH`.
    pub(crate) fn open(flags: &str) -> Option<Self> {
        let options = ["--jobserver-auth=", "--jobserver-fds="];
        let mut named = flags
            .split_whitespace()
            .filter_map(|flag| options.iter().find_map(|option| flag.strip_prefix(option)));
        let (read, write) = match named.next_back()? {
            fifo if fifo.starts_with("fifo:") => {
                (fifo["fifo:".len()..].to_owned(), fifo["fifo:".len()..].to_owned())
            }
            pair => {
                let (read, write) = pair.split_once(',')?;
                let path =
                    |number: &str| number.parse::<u32>().ok().map(|number| format!("/proc/self/fd/{number}"));
                (path(read)?, path(write)?)
            }
        };
        Some(Self { read: open(&read)?, write: open(&write)? })
    }

    /// Takes a token if one is available now.
    pub(crate) fn take(&self) -> Option<Token<'_>> {
        let mut byte = [0];
        match (&self.read).read(&mut byte) {
            Ok(1) => Some(Token { tokens: self, byte: byte[0] }),
            _ => None,
        }
    }
}

#[cfg(target_os = "linux")]
fn open(path: &str) -> Option<File> {
    use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
    // If the server was not passed on to this process, the number may refer to a different file by now.
    if !fs_err::metadata(path).ok()?.file_type().is_fifo() {
        return None;
    }
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).ok()?;
    // Opens for reading and writing, so that opening does not wait for the other end.
    let mut options = fs_err::OpenOptions::new();
    options.read(true).write(true);
    options.options_mut().custom_flags(flags);
    options.open(path).ok().map(|file| file.into_parts().0)
}

#[cfg(not(target_os = "linux"))]
fn open(_path: &str) -> Option<File> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd as _;

    #[test]
    fn jobserver_tokens_are_acquired_and_released() {
        let (read, mut write) = std::io::pipe().unwrap();
        write.write_all(b"+a").unwrap();
        let flags =
            format!("-j --jobserver-fds=98,99 --jobserver-auth={},{}", read.as_raw_fd(), write.as_raw_fd());
        let tokens = Tokens::open(&flags).unwrap();
        let (first, second) = (tokens.take().unwrap(), tokens.take().unwrap());
        assert_eq!((first.byte, second.byte), (b'+', b'a'));
        assert!(tokens.take().is_none());
        drop(second);
        assert_eq!(tokens.take().map(|token| token.byte), Some(b'a'));
    }

    #[test]
    fn non_pipe_is_not_a_jobserver() {
        assert!(Tokens::open("--jobserver-auth=9998,9999").is_none());
        assert!(Tokens::open("-j4").is_none());
    }
}
