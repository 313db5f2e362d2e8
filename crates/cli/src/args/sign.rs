//! `precast keygen`, `sign` and `trust`: keys, signatures and keyrings.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use precast_store::keyring::Date;

const KEYGEN_EXAMPLES: &str = "\
Examples:
  precast keygen alice.key                       ask for a password, write alice.key and alice.pub
  precast keygen ci.key --no-password            a key without a password, for CI

Keys and signatures have the format of minisign; both programs can use them.";

/// Create a signing key: a secret file that only this user can read, and a public one next to it
#[derive(Debug, Args)]
#[command(after_help = KEYGEN_EXAMPLES)]
pub(crate) struct KeygenArgs {
    /// Secret key to write, with the public key next to it as `.pub`; fails if either file exists
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) password: PasswordArgs,
}

/// The source of a key's password. It is never the command line, which other users can read.
#[derive(Debug, Args)]
pub(crate) struct PasswordArgs {
    /// Use a key without a password
    #[arg(long, conflicts_with = "password_file")]
    pub(crate) no_password: bool,
    /// Read the password from the first line of this file, or of standard input for `-` [default: prompt for it]
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
}

/// The source of signatures.
#[derive(Debug, Args)]
pub(crate) struct SignerArgs {
    /// Secret key from `precast keygen` or `minisign -G`; `-` for standard input, /dev/fd/N for an open descriptor
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Sign with this program, e.g. for a hardware token: it is started with a file, and prints minisign's signature of
    /// it
    #[arg(long, value_name = "PROGRAM", conflicts_with = "key", requires = "public")]
    pub(crate) signer: Option<PathBuf>,
    /// Public key of --signer
    #[arg(long, value_name = "FILE", requires = "signer")]
    pub(crate) public: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) password: PasswordArgs,
}

const SIGN_EXAMPLES: &str = "\
Examples:
  precast sign model.precast --key alice.key     write model.precast.minisig, or add to it
  precast sign --store artifacts --key ci.key    sign every record and entry of a store
  precast sign precast.keyring --key alice.key   sign a keyring that will replace another
  precast sign --dsse model.precast.provenance.json --key alice.key   sign provenance
  precast sign model.precast --key - < /run/secrets/key      a key from standard input
  precast sign model.precast --signer ./token --public token.pub   another program signs
  minisign -V -p alice.pub -m model.precast      check a signature with minisign";

/// Sign files, or the records and entries of a store; existing signatures of this key are kept
#[derive(Debug, Args)]
#[command(after_help = SIGN_EXAMPLES)]
#[command(group = clap::ArgGroup::new("by").args(["key", "signer"]).required(true))]
pub(crate) struct SignArgs {
    /// Bundles, exports or keyrings to sign
    #[arg(value_name = "FILE", required_unless_present = "store")]
    pub(crate) files: Vec<PathBuf>,
    /// Sign the records and entries of this store (repeatable)
    #[arg(long, value_name = "DIR", value_parser = super::local())]
    pub(crate) store: Vec<PathBuf>,
    /// Sign in-toto statements as DSSE envelopes: FILE.intoto.jsonl instead of .minisig
    #[arg(long, conflicts_with_all = ["store", "signer"])]
    pub(crate) dsse: bool,
    #[command(flatten)]
    pub(crate) signer: SignerArgs,
}

const TRUST_EXAMPLES: &str = "\
Examples:
  precast trust new --threshold 2 --expires 2027-11-22 alice.pub bob.pub carol.pub
  precast run --keyring precast.keyring --bundle model.precast --entry score …
  precast trust revoke carol.pub                       then sign the keyring again
  precast trust update /mnt/release/precast.keyring    replace the keyring by a newer one";

/// Manage a keyring: trusted keys and how many must sign
#[derive(Debug, Args)]
#[command(after_help = TRUST_EXAMPLES)]
pub(crate) struct TrustArgs {
    /// Keyring file
    #[arg(long, value_name = "FILE", default_value = "precast.keyring", global = true)]
    pub(crate) keyring: PathBuf,
    #[command(subcommand)]
    pub(crate) action: TrustAction,
}

/// An operation on a keyring.
#[derive(Debug, Subcommand)]
pub(crate) enum TrustAction {
    /// Create a keyring
    New {
        /// Public keys, each named after its file
        #[arg(value_name = "KEY", required = true)]
        keys: Vec<PathBuf>,
        /// Number of keys that must sign
        #[arg(long, value_name = "N", default_value_t = 1)]
        threshold: usize,
        /// Day from which the keyring is invalid
        #[arg(long, value_name = "YYYY-MM-DD")]
        expires: Date,
    },
    /// Show the trusted keys
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Trust additional keys
    Add {
        /// Public keys to add
        #[arg(value_name = "KEY", required = true)]
        keys: Vec<PathBuf>,
    },
    /// Stop trusting keys, including signatures that they have already made
    Revoke {
        /// Public keys, or their names in the keyring
        #[arg(value_name = "KEY|NAME", required = true)]
        keys: Vec<String>,
    },
    /// Change the expiry date, or how many keys must sign
    Set {
        /// Number of keys that must sign
        #[arg(long, value_name = "N")]
        threshold: Option<usize>,
        /// Day from which the keyring is invalid
        #[arg(long, value_name = "YYYY-MM-DD")]
        expires: Option<Date>,
    },
    /// Replace the keyring with a later one, if enough keys of the current one have signed it in `<FILE>.minisig`
    Update {
        /// Later keyring
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}
