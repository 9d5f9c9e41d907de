//! The MCP server: instructions, tool list and tool calls.

use std::borrow::Cow;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
        Implementation, InitializeRequestParams, InitializeResult, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
        Tool as ToolDescription,
    },
    service::RequestContext,
};
use shared::errors::quote;
use tokio::sync::mpsc;

use crate::{
    call::ToolCall,
    tools::{TOOLS, Tool},
};

pub(crate) const INSTRUCTIONS: &str = "\
Reference data for telephone numbers: numbering rules worldwide, and the area codes, exchanges and carriers \
that NANPA and CNAC publish for the US and Canada.

Start with format_number for phone numbers, get_carriers for a company name or OCN, get_area_codes for an area \
code, list_holders for who holds the most in a place, list_changes for what changed, and search_exchanges for \
anything else. Errors state the rule that a value breaks.

A number's carrier is the company that its block is assigned to. Say 'assigned to', not 'served by': the \
number may have been ported to another carrier. The data does not show porting, the caller's name, whether a \
number is in use, SIM swaps or spam reports. No tool calls or texts a number.

Lists return pages of 20, or up to 100 if you set limit. pagination.total counts all matches. A result ends with \
the offset and version for the next page. A result from made-up sample data says so.";

/// Supported protocol revisions, oldest first. 2025-03-26 is missing because it requires batches.
const REVISIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// An MCP server that passes tool calls on to its caller, which runs them in its own task.
#[derive(Debug, Clone)]
pub struct ToolServer {
    calls: mpsc::Sender<ToolCall>,
}

impl ToolServer {
    pub fn new() -> (Self, mpsc::Receiver<ToolCall>) {
        let (calls, receiver) = mpsc::channel(1);
        (Self { calls }, receiver)
    }
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        let name = Implementation::new("telephone-number-reference", env!("CARGO_PKG_VERSION"))
            .with_title("Telephone Number Reference Service");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(name)
            .with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&REVISIONS)
    }

    /// Negotiates the newest revision up to the requested one, since clients rarely support newer revisions.
    fn negotiate_initialize(
        &self,
        request: &InitializeRequestParams,
    ) -> Result<InitializeResult, ErrorData> {
        let is_known = |revision: &&ProtocolVersion| {
            revision.has_initialize() && revision.as_str() <= request.protocol_version.as_str()
        };
        let info = self.get_info();
        Ok(match REVISIONS.iter().rfind(is_known) {
            Some(revision) => info.with_protocol_version(revision.clone()),
            None => info,
        })
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = TOOLS.iter().map(|tool| tool.description.clone());
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    fn get_tool(&self, name: &str) -> Option<ToolDescription> {
        Tool::named(name).map(|tool| tool.description.clone())
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = Tool::named(&params.name).ok_or_else(|| unknown_tool(&params.name))?;
        let (call, result) = ToolCall::new(tool, params.arguments);
        self.calls.send(call).await.map_err(|_| stopping_error())?;
        result.await.map(CallToolResponse::from).map_err(|_| stopping_error())
    }

    /// Rejects methods and parameters that are not in the protocol.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = quote(&request.method);
        Err(if KNOWN_METHODS.contains(&&*method) {
            ErrorData::invalid_params(format!("Invalid parameters for '{method}'"), None)
        } else {
            let message = format!("Unknown method '{method}'; use tools/list or tools/call");
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
        })
    }
}

/// The methods that the SDK reports as unknown if their parameters are invalid.
const KNOWN_METHODS: [&str; 3] = ["initialize", "tools/list", "tools/call"];

fn unknown_tool(name: &str) -> ErrorData {
    let known = TOOLS.iter().map(Tool::name).collect::<Vec<_>>().join(", ");
    let message = format!("Unknown tool '{}'; the tools are {known}", quote(name));
    ErrorData::invalid_params(message, None)
}

fn stopping_error() -> ErrorData {
    ErrorData::internal_error("The server is stopping", None)
}

#[cfg(test)]
mod tests {
    use shared::pagination::MAX_LIMIT;

    use super::*;
    use crate::tools::{DEFAULT_LIMIT, MAX_NUMBERS};

    #[test]
    fn agent_instructions_state_the_page_size_and_the_maximum_batch_size() {
        let rule = format!("pages of {DEFAULT_LIMIT}, or up to {MAX_LIMIT} if you set limit.");
        assert!(INSTRUCTIONS.contains(&rule), "{INSTRUCTIONS}");
        let tool = Tool::named("format_number").unwrap();
        let description = tool.description.description.as_deref().unwrap();
        assert!(description.contains(&format!(" up to {MAX_NUMBERS} numbers")), "{description}");
    }
}
