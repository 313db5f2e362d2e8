//! Actions for a worker, in the form of the API.
//!
//! # Layout
//!
//! ```text
//! input root   unit.c, include/… (the SourceSet), own/… (the compiler's own headers); or unit.i, which includes the system's headers
//! Command      the arguments and the environment of the local compiler; output_paths: raw.o, assembler.d, and headers.d of a unit.c
//! platform     precast-toolchain=<ToolchainId>, and the configured properties
//! ```
//! An action contains no salt and no path of this machine, so users who compile the same unit share its result.

use std::time::Duration;

use precast_store::ToolchainId;
use prost::Message as _;

use super::api::command::EnvironmentVariable;
use super::api::{Action, Command, Platform, platform};
use super::digest::Name;
use super::tree::{Blobs, Tree, put};

/// The property that names the toolchain.
pub(super) const TOOLCHAIN: &str = "precast-toolchain";

/// A compiler run to execute.
pub(super) struct Job<'a> {
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(&'a str, String)>,
    pub(super) inputs: Tree,
    pub(super) outputs: Vec<String>,
    pub(super) toolchain: ToolchainId,
    pub(super) limit: Duration,
    /// Whether to ignore earlier results.
    pub(super) anew: bool,
}

/// The result of a job.
pub(super) struct Done {
    pub(super) exit_code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) worker: String,
}

impl Job<'_> {
    /// Renders the action, for workers that also have these properties.
    pub(super) fn action(&self, properties: &[(String, String)]) -> (Blobs, Name) {
        let mut blobs = self.inputs.blobs.clone();
        let mut properties = properties.to_vec();
        properties.push((TOOLCHAIN.to_owned(), self.toolchain.to_string()));
        properties.sort();
        let property = |(name, value)| platform::Property { name, value };
        let platform = Platform { properties: properties.into_iter().map(property).collect() };
        let mut output_paths = self.outputs.clone();
        output_paths.sort();
        let variables = self.environment.iter();
        let mut environment_variables: Vec<EnvironmentVariable> = variables
            .map(|(name, value)| EnvironmentVariable { name: (*name).to_owned(), value: value.clone() })
            .collect();
        environment_variables.sort_by(|a, b| a.name.cmp(&b.name));
        #[allow(deprecated, reason = "servers of versions before 2.2 look for properties here")]
        let command = Command {
            arguments: self.arguments.clone(),
            environment_variables,
            output_paths,
            platform: Some(platform.clone()),
            ..Command::default()
        };
        let seconds = i64::try_from(self.limit.as_secs()).unwrap_or(i64::MAX);
        let action = Action {
            command_digest: Some(put(&mut blobs, command.encode_to_vec()).digest()),
            input_root_digest: Some(self.inputs.root.digest()),
            timeout: Some(bazel_remote_apis::google::protobuf::Duration { seconds, nanos: 0 }),
            do_not_cache: self.anew,
            platform: Some(platform),
            ..Action::default()
        };
        let action = put(&mut blobs, action.encode_to_vec());
        (blobs, action)
    }
}
