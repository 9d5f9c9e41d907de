//! The MCP server: its description, tools and calls.

use std::borrow::Cow;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
        Implementation, InitializeRequestParams, InitializeResult, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
        Tool as DescribedTool,
    },
    service::RequestContext,
};
use shared::errors::quote;
use tokio::sync::mpsc;

use crate::{
    call::ToolCall,
    schema::DESCRIBED_TOOLS,
    tools::{TOOLS, Tool},
};

/// The instructions sent to every agent on initialization.
const INSTRUCTIONS: &str = "\
Reference data of telephone numbers: the rules of the numbers of every country, and for the North \
American Numbering Plan (US and Canada) the area codes, exchanges and carriers that NANPA and CNAC publish.

Start with format_number for a phone number, list_carriers for the name of a company, get_area_code for an \
area code and search_exchanges for anything else. Errors say which rule a value breaks.

The carrier of a number is the one that its block of numbers is assigned to. Say 'assigned to', and not \
'served by': the number may have been ported to another carrier. This data cannot tell whether it was, nor who \
has a number (caller name), whether it is in use, whether its SIM was swapped, nor whether it is known for \
spam. No tool calls or texts a number.

Lists come in pages of 20, or of limit up to 100. pagination.total counts all matches; the end of a \
result names the offset and version of the next page.";

/// Protocol revisions, oldest first. 2025-03-26 is left out, since only it has batches.
const REVISIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// A server of the tools. The caller answers the tool calls in its own task.
#[derive(Debug, Clone)]
pub struct ToolServer {
    calls: mpsc::Sender<ToolCall>,
}

impl ToolServer {
    /// A server, and the calls agents make.
    pub fn new() -> (Self, mpsc::Receiver<ToolCall>) {
        let (calls, called) = mpsc::channel(1);
        (Self { calls }, called)
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

    /// Negotiates the newest revision up to the requested one; clients support older revisions rather than newer ones.
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
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if page.is_some_and(|page| page.cursor.is_some()) {
            return Err(ErrorData::invalid_params(
                "cursor must be absent: the tools are one page",
                None,
            ));
        }
        Ok(ListToolsResult::with_all_items(DESCRIBED_TOOLS.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<DescribedTool> {
        DESCRIBED_TOOLS.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        called: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = Tool::named(&called.name).ok_or_else(|| unknown_tool(&called.name))?;
        let (call, answered) = ToolCall::new(tool, called.arguments);
        self.calls.send(call).await.map_err(|_| stopping())?;
        answered.await.map(CallToolResponse::from).map_err(|_| stopping())
    }

    /// Handles methods or parameters that are not in the protocol.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = quote(&request.method);
        Err(if KNOWN_METHODS.contains(&&*method) {
            ErrorData::invalid_params(format!("Invalid parameters for '{method}'"), None)
        } else {
            let message =
                format!("Method '{method}' is unknown; this server has tools/list and tools/call");
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
        })
    }
}

/// Methods whose invalid parameters the SDK reports as an unknown method.
const KNOWN_METHODS: [&str; 3] = ["initialize", "tools/list", "tools/call"];

fn unknown_tool(name: &str) -> ErrorData {
    let known = TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
    let message = format!("Unknown tool '{}'; the tools are {known}", quote(name));
    ErrorData::invalid_params(message, None)
}

fn stopping() -> ErrorData {
    ErrorData::internal_error("The server is stopping", None)
}

#[cfg(test)]
mod tests {
    use shared::pagination::MAX_LIMIT;

    use super::*;
    use crate::schema::DEFAULT_LIMIT;

    #[test]
    fn instructions_state_the_page_size() {
        let rule = format!("pages of {DEFAULT_LIMIT}, or of limit up to {MAX_LIMIT}.");
        assert!(INSTRUCTIONS.contains(&rule), "{INSTRUCTIONS}");
    }
}
