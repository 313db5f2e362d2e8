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
    /// Sign with this program, e.g. for a hardware token: it is started with a file and a trusted comment, and prints
    /// minisign's signature of them
    #[arg(long, value_name = "PROGRAM", conflicts_with = "key", requires = "public")]
    pub(crate) signer: Option<PathBuf>,
    /// Public key of --signer
    #[arg(long, value_name = "FILE", requires = "signer", conflicts_with = "key")]
    pub(crate) public: Option<PathBuf>,
    /// First day on which the signature does not count [default: it does not expire]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) expires: Option<Date>,
    #[command(flatten)]
    pub(crate) password: PasswordArgs,
}

const SIGN_EXAMPLES: &str = "\
Examples:
  precast sign model.precast --key alice.key     write model.precast.minisig, or add to it
  precast sign --store artifacts --key ci.key    sign every record and entry of a store
  precast sign precast.keyring --key alice.key   sign a keyring that will replace another
  precast sign --dsse model.precast.provenance.json --key alice.key   sign provenance
  precast sign model.precast --key ci.key --expires 2027-01-31        until that day
  precast sign model.precast --key - < /run/secrets/key      a key from standard input
  precast sign model.precast --signer ./token --public token.pub   another program signs
  minisign -V -p alice.pub -m model.precast      check a signature with minisign";

/// Sign files, or the records and entries of a store; a new signature replaces the earlier one of its key
#[derive(Debug, Args)]
#[command(after_help = SIGN_EXAMPLES)]
#[command(group = clap::ArgGroup::new("by").args(["key", "signer"]).required(true))]
pub(crate) struct SignArgs {
    /// Bundles, exports, keyrings and other files to sign
    #[arg(value_name = "FILE", required_unless_present = "store")]
    pub(crate) files: Vec<PathBuf>,
    /// Sign the records and entries of this store (repeatable)
    #[arg(long, value_name = "DIR", value_parser = super::local())]
    pub(crate) store: Vec<PathBuf>,
    /// Name that the signature states, e.g. `model@1.4`, for `precast verify --name`: letters, digits, `.`, `-`, `_`, `@`
    /// and `+` [default: the name of the file]
    #[arg(long, value_name = "NAME", value_parser = name, conflicts_with_all = ["store", "dsse"])]
    pub(crate) name: Option<String>,
    /// Sign in-toto statements as DSSE envelopes: FILE.intoto.jsonl instead of .minisig. A --signer must sign the bytes
    /// of its file themselves, as `minisign -S -l` does
    #[arg(long, conflicts_with_all = ["store", "expires"])]
    pub(crate) dsse: bool,
    #[command(flatten)]
    pub(crate) signer: SignerArgs,
}

/// Parses a name for the trusted comment.
fn name(text: &str) -> Result<String, &'static str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || ".-_@+".contains(c);
    match !text.is_empty() && text.chars().all(is_part) {
        true => Ok(text.to_owned()),
        false => Err("expected letters, digits, `.`, `-`, `_`, `@` and `+`"),
    }
}

const TRUST_EXAMPLES: &str = "\
Examples:
  precast trust new --threshold 2 --expires 2027-11-22 alice.pub bob.pub carol.pub
  precast run --keyring precast.keyring --bundle model.precast --entry score …
  precast trust new --expires 2027-11-22 --release-key ci.pub --keyring-key root.pub
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

/// Public keys and the files that they may sign.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct PublicArgs {
    /// Public keys, each named after its file, that sign releases and keyrings
    #[arg(value_name = "KEY")]
    pub(crate) keys: Vec<PathBuf>,
    /// Public key that signs releases only (repeatable)
    #[arg(long, value_name = "KEY")]
    pub(crate) release_key: Vec<PathBuf>,
    /// Public key that signs keyrings only (repeatable)
    #[arg(long, value_name = "KEY")]
    pub(crate) keyring_key: Vec<PathBuf>,
}

/// An operation on a keyring.
#[derive(Debug, Subcommand)]
pub(crate) enum TrustAction {
    /// Create a keyring
    New {
        #[command(flatten)]
        keys: PublicArgs,
        /// Number of keys that must sign a release
        #[arg(long, value_name = "N", default_value_t = 1)]
        threshold: usize,
        /// Number of keys that must sign the next keyring [default: as --threshold]
        #[arg(long, value_name = "N")]
        keyring_threshold: Option<usize>,
        /// Count signatures of releases only if they have a day of expiry
        #[arg(long)]
        require_expiry: bool,
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
        #[command(flatten)]
        keys: PublicArgs,
    },
    /// Stop trusting keys, including signatures that they have already made
    Revoke {
        /// Public keys, or their names in the keyring
        #[arg(value_name = "KEY|NAME", required = true)]
        keys: Vec<String>,
    },
    /// Change the expiry date, how many keys must sign, or whether signatures must expire
    #[command(group = clap::ArgGroup::new("change").required(true).multiple(true).args([
        "threshold", "keyring_threshold", "require_expiry", "expires",
    ]))]
    Set {
        /// Number of keys that must sign a release
        #[arg(long, value_name = "N")]
        threshold: Option<usize>,
        /// Number of keys that must sign the next keyring
        #[arg(long, value_name = "N")]
        keyring_threshold: Option<usize>,
        /// Whether signatures of releases count only if they have a day of expiry
        #[arg(long, value_name = "true|false")]
        require_expiry: Option<bool>,
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
