//! The 129 example messages of 2026-07-28 (`test/fixtures/spec/examples`), folder by folder.
//!
//! What a client sends is accepted with the right outcome; what this server can send is reproduced as an equal JSON
//! value from host values. Set aside in the comparison, and nothing else:
//! * `_meta` with the server's identity, where an example leaves it out (META-10 asks for it),
//! * `isError: false`, which absence means too (TOOL-9),
//! * the wording of error messages, and `error.data` of -32601, which is free,
//! * the value of `nextCursor`, which is opaque,
//! * capabilities of features that are not served yet, and whether lists may change,
//! * the served versions: ours are more than the examples'.

mod changes;
mod client;
mod notices;
mod offers;
mod server;

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::Value;

/// What the examples of a folder are to this server.
enum Class {
    /// Checked by this function, which gets the file's name and the example.
    Checked(fn(&str, &Value)),
    /// Not received or sent before the feature named is served.
    Later(&'static str),
}

use Class::{Checked, Later};

const ELICITATION: Class = Later("elicitation");
const SAMPLING: Class = Later("sampling");
const ROOTS: Class = Later("roots");
const MRTR: Class = Later("input requests");

/// Every folder; a new one fails the test.
const FOLDERS: &[(&str, Class)] = &[
    ("AudioContent", Checked(server::content_block)),
    ("BlobResourceContents", Checked(server::embedded_resource)),
    ("BooleanSchema", ELICITATION),
    ("CallToolRequest", Checked(client::served_request)),
    ("CallToolRequestParams", Checked(client::call_params)),
    ("CallToolResult", Checked(server::call_tool_result)),
    (
        "CallToolResultResponse",
        Checked(server::call_tool_response),
    ),
    ("CancelledNotification", Checked(client::cancelled)),
    (
        "CancelledNotificationParams",
        Checked(client::cancelled_params),
    ),
    ("ClientCapabilities", Checked(client::capabilities)),
    ("CompleteRequest", Checked(client::served_request)),
    ("CompleteRequestParams", Checked(client::complete_params)),
    ("CompleteResult", Checked(offers::complete)),
    ("CompleteResultResponse", Checked(offers::complete)),
    ("CreateMessageRequest", SAMPLING),
    ("CreateMessageRequestParams", SAMPLING),
    ("CreateMessageResult", SAMPLING),
    ("DiscoverRequest", Checked(client::served_request)),
    ("DiscoverResult", Checked(server::discover_result)),
    ("DiscoverResultResponse", Checked(server::discover_response)),
    ("ElicitRequest", ELICITATION),
    ("ElicitRequestFormParams", ELICITATION),
    ("ElicitRequestURLParams", ELICITATION),
    ("ElicitResult", ELICITATION),
    ("EmbeddedResource", Checked(server::content_block)),
    ("GetPromptRequest", Checked(client::served_request)),
    ("GetPromptRequestParams", Checked(client::get_prompt_params)),
    ("GetPromptResult", Checked(offers::get_prompt)),
    ("GetPromptResultResponse", Checked(offers::get_prompt)),
    ("HeaderMismatchError", Checked(server::header_mismatch)),
    ("ImageContent", Checked(server::content_block)),
    ("InputRequests", MRTR),
    ("InputRequiredResult", MRTR),
    ("InputResponses", MRTR),
    ("InternalError", Checked(server::internal_error)),
    ("InvalidParamsError", Checked(server::invalid_params)),
    ("ListPromptsRequest", Checked(client::served_request)),
    ("ListPromptsResult", Checked(offers::list_prompts)),
    ("ListPromptsResultResponse", Checked(offers::list_prompts)),
    (
        "ListResourceTemplatesRequest",
        Checked(client::served_request),
    ),
    (
        "ListResourceTemplatesResult",
        Checked(offers::list_templates),
    ),
    (
        "ListResourceTemplatesResultResponse",
        Checked(offers::list_templates),
    ),
    ("ListResourcesRequest", Checked(client::served_request)),
    ("ListResourcesResult", Checked(offers::list_resources)),
    (
        "ListResourcesResultResponse",
        Checked(offers::list_resources),
    ),
    ("ListRootsRequest", ROOTS),
    ("ListRootsResult", ROOTS),
    ("ListToolsRequest", Checked(client::served_request)),
    ("ListToolsResult", Checked(server::list_tools_result)),
    (
        "ListToolsResultResponse",
        Checked(server::list_tools_response),
    ),
    ("LoggingMessageNotification", Checked(notices::log)),
    ("LoggingMessageNotificationParams", Checked(notices::log)),
    ("MethodNotFoundError", Checked(server::method_not_found)),
    ("MissingRequiredClientCapabilityError", ELICITATION),
    ("ModelPreferences", SAMPLING),
    ("NumberSchema", ELICITATION),
    ("PaginatedRequestParams", Checked(client::paginated_params)),
    ("ParseError", Checked(server::parse_error)),
    ("ProgressNotification", Checked(notices::progress)),
    ("ProgressNotificationParams", Checked(notices::progress)),
    ("PromptListChangedNotification", Checked(changes::change)),
    ("ReadResourceRequest", Checked(client::served_request)),
    ("ReadResourceResult", Checked(offers::read_resource)),
    ("ReadResourceResultResponse", Checked(offers::read_resource)),
    ("Resource", Checked(offers::resource)),
    ("ResourceLink", Checked(server::content_block)),
    ("ResourceListChangedNotification", Checked(changes::change)),
    ("ResourceUpdatedNotification", Checked(changes::change)),
    (
        "ResourceUpdatedNotificationParams",
        Checked(changes::updated_params),
    ),
    ("Root", ROOTS),
    ("SamplingMessage", SAMPLING),
    ("ServerCapabilities", Checked(server::capabilities)),
    ("StringSchema", ELICITATION),
    (
        "SubscriptionsAcknowledgedNotification",
        Checked(changes::acknowledged),
    ),
    (
        "SubscriptionsListenRequest",
        Checked(client::served_request),
    ),
    ("SubscriptionsListenResult", Checked(changes::listen_result)),
    (
        "SubscriptionsListenResultResponse",
        Checked(changes::listen_result),
    ),
    ("TextContent", Checked(server::content_block)),
    ("TextResourceContents", Checked(server::embedded_resource)),
    ("TitledMultiSelectEnumSchema", ELICITATION),
    ("TitledSingleSelectEnumSchema", ELICITATION),
    ("Tool", Checked(server::tool)),
    ("ToolListChangedNotification", Checked(changes::change)),
    ("ToolResultContent", SAMPLING),
    ("ToolUseContent", SAMPLING),
    (
        "UnsupportedProtocolVersionError",
        Checked(server::unsupported_version),
    ),
    ("UntitledMultiSelectEnumSchema", ELICITATION),
    ("UntitledSingleSelectEnumSchema", ELICITATION),
];

#[test]
fn every_example_has_a_class() {
    let found: Vec<String> = examples().into_keys().collect();
    let listed: Vec<&str> = FOLDERS.iter().map(|(folder, _)| *folder).collect();
    assert_eq!(found, listed);
    assert_eq!(examples().values().map(Vec::len).sum::<usize>(), 129);
}

#[test]
fn client_messages_are_accepted_and_server_messages_reproduced() {
    let examples = examples();
    for (folder, class) in FOLDERS {
        if let Checked(check) = class {
            for (file, example) in &examples[*folder] {
                check(file, example);
            }
        }
    }
}

/// How much each feature to come will have to add here.
#[test]
fn the_rest_belongs_to_features_to_come() {
    let mut missing = BTreeMap::new();
    for (folder, class) in FOLDERS {
        if let Later(feature) = class {
            *missing.entry(*feature).or_insert(0) += examples()[*folder].len();
        }
    }
    let expected = [
        ("elicitation", 15),
        ("input requests", 4),
        ("roots", 4),
        ("sampling", 12),
    ];
    assert_eq!(missing, BTreeMap::from(expected));
}

/// Every example by folder: file names without their ending, and values.
fn examples() -> BTreeMap<String, Vec<(String, Value)>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../test/fixtures/spec/examples/2026-07-28");
    let folders = fs::read_dir(root).expect("the examples are part of the repository");
    folders
        .map(|folder| {
            let folder = folder.unwrap();
            (
                folder.file_name().into_string().unwrap(),
                files(folder.path()),
            )
        })
        .collect()
}

fn files(folder: PathBuf) -> Vec<(String, Value)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (
                name,
                serde_json::from_slice(&fs::read(path).unwrap()).unwrap(),
            )
        })
        .collect();
    files.sort_by(|(left, _), (right, _)| left.cmp(right));
    files
}
