//! `precast keygen`, `sign` and `trust`: whose word counts.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use precast_store::keyring::Date;

const KEYGEN_EXAMPLES: &str = "\
Examples:
  precast keygen alice.key                       asks for a password; writes alice.key and alice.pub
  precast keygen ci.key --no-password            for a machine that keeps it elsewhere safe

Keys and signatures are those of the program `minisign`, which can use them, and the reverse.";

/// Makes a key to sign with: a secret file, which only this user can read, and a public one beside it.
#[derive(Debug, Args)]
#[command(after_help = KEYGEN_EXAMPLES)]
pub(crate) struct KeygenArgs {
    /// The secret key; the public one is called alike, with the ending `.pub`. Neither may be there.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) password: PasswordArgs,
}

/// Where the password of a key comes from. Never the command line: others can read that.
#[derive(Debug, Args)]
pub(crate) struct PasswordArgs {
    /// The key has no password.
    #[arg(long, conflicts_with = "password_file")]
    pub(crate) no_password: bool,
    /// Reads the password from the first line of this file. [default: asks for it]
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
}

const SIGN_EXAMPLES: &str = "\
Examples:
  precast sign model.precast --key alice.key     writes model.precast.minisig, or adds to it
  precast sign --store artifacts --key ci.key    every record and entry of a store
  precast sign precast.keyring --key alice.key   a keyring that shall take the place of another
  minisign -V -p alice.pub -m model.precast      the same, checked by another program";

/// Signs files, or the records and entries of a store. What is signed already by this key stays as it is.
#[derive(Debug, Args)]
#[command(after_help = SIGN_EXAMPLES)]
pub(crate) struct SignArgs {
    /// Bundles, exports, keyrings.
    #[arg(value_name = "FILE", required_unless_present = "store")]
    pub(crate) files: Vec<PathBuf>,
    /// A store whose records and entries are signed; repeated.
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Vec<PathBuf>,
    /// The secret key, of `precast keygen` or `minisign -G`.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    #[command(flatten)]
    pub(crate) password: PasswordArgs,
}

const TRUST_EXAMPLES: &str = "\
Examples:
  precast trust new --threshold 2 --expires 2027-11-22 alice.pub bob.pub carol.pub
  precast run --keyring precast.keyring --bundle model.precast --entry score …
  precast trust revoke carol.pub                       and sign the keyring again
  precast trust update /mnt/release/precast.keyring    takes a later one, if enough keys of this one signed it";

/// Makes and changes a keyring: the keys of which some have to have signed what is believed.
#[derive(Debug, Args)]
#[command(after_help = TRUST_EXAMPLES)]
pub(crate) struct TrustArgs {
    /// The keyring.
    #[arg(long, value_name = "FILE", default_value = "precast.keyring", global = true)]
    pub(crate) keyring: PathBuf,
    #[command(subcommand)]
    pub(crate) action: TrustAction,
}

/// What is done to a keyring.
#[derive(Debug, Subcommand)]
pub(crate) enum TrustAction {
    /// Makes one.
    New {
        /// The public keys; each is called as its file.
        #[arg(value_name = "KEY", required = true)]
        keys: Vec<PathBuf>,
        /// How many of them have to have signed.
        #[arg(long, value_name = "N", default_value_t = 1)]
        threshold: usize,
        /// The day from which on nothing is believed any more.
        #[arg(long, value_name = "YYYY-MM-DD")]
        expires: Date,
    },
    /// Says who may sign.
    Show {
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Lets further keys sign.
    Add {
        /// The public keys.
        #[arg(value_name = "KEY", required = true)]
        keys: Vec<PathBuf>,
    },
    /// Lets keys sign no more; what they signed does not count any more either.
    Revoke {
        /// The public keys, or their names in the keyring.
        #[arg(value_name = "KEY|NAME", required = true)]
        keys: Vec<String>,
    },
    /// Moves the day on which it expires, or how many keys have to have signed.
    Set {
        /// How many keys have to have signed.
        #[arg(long, value_name = "N")]
        threshold: Option<usize>,
        /// The day from which on nothing is believed any more.
        #[arg(long, value_name = "YYYY-MM-DD")]
        expires: Option<Date>,
    },
    /// Takes a later one in its place, if enough keys of the present one have signed it in `<FILE>.minisig`.
    Update {
        /// The later one.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}
