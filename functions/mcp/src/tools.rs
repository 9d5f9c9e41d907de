//! The tools: their descriptions for agents, and the routes they call.

/// A tool that calls one route. Takes the route's query parameters.
#[derive(Debug, PartialEq, Eq)]
pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// The path of the route.
    pub path: &'static str,
    /// True if it takes [`NUMBERS`], sent to the route in a body.
    pub takes_numbers: bool,
}

/// The argument that holds many phone numbers.
pub const NUMBERS: &str = "numbers";
/// Maximum numbers per call. Each costs a model a few hundred tokens; larger batches are for programs.
pub const MAX_NUMBERS: usize = 25;

impl Tool {
    /// The tool of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }
}

/// Every tool, in the order agents see them.
pub const TOOLS: [Tool; 7] = [
    Tool {
        name: "format_number",
        title: "Format a phone number",
        description: "What a phone number of any country is: whether it is valid, its country, its \
                      E.164, national and international formats and its type (such as mobile or \
                      toll-free); of a North American number also the place and the carrier that its \
                      block is assigned to. Takes any notation. The number may have been ported to \
                      another carrier since.",
        path: "/v1/format",
        takes_numbers: false,
    },
    Tool {
        name: "format_numbers",
        title: "Format several phone numbers",
        description: "The same as format_number for up to 25 numbers, in the order in which they are sent. A \
                      number that is wrong has an error in its place, and the others have their results. \
                      It counts as so many requests against the quota of the API key.",
        path: "/v1/format",
        takes_numbers: true,
    },
    Tool {
        name: "lookup_block",
        title: "Look up the block of a number",
        description: "Who holds the block of numbers that a North American number is in, as assigned, \
                      the status of its exchange, and its rate center and state. Also for numbers that \
                      are not valid. It knows no toll-free numbers and none of the Caribbean. The number \
                      may have been ported to another carrier since.",
        path: "/v1/lookup",
        takes_numbers: false,
    },
    Tool {
        name: "get_area_code",
        title: "Look up an area code",
        description: "An area code (NPA) of the US or Canada: its state, how many exchanges it has, and a \
                      page of these with the holder, rate center and status of each. With nxx, only \
                      that exchange (NPA-NXX).",
        path: "/v1/npa",
        takes_numbers: false,
    },
    Tool {
        name: "get_carrier",
        title: "Look up a carrier",
        description: "A carrier by its Operating Company Number (OCN): its names, type and state, and how \
                      many exchanges it holds in each state. list_carriers finds the OCN of a name.",
        path: "/v1/carrier",
        takes_numbers: false,
    },
    Tool {
        name: "list_carriers",
        title: "List carriers",
        description: "A page of the carriers that meet all given filters, of all carriers without one. \
                      With q, the names most like it come first, and among equals the carriers with most \
                      exchanges.",
        path: "/v1/carriers",
        takes_numbers: false,
    },
    Tool {
        name: "search_exchanges",
        title: "Search exchanges",
        description: "A page of the exchanges (NPA-NXX) that meet all given filters, at least one, with \
                      the holder, rate center, state and status of each, in the order of their codes. \
                      pagination.total counts all matches.",
        path: "/v1/search",
        takes_numbers: false,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_numbers_description_states_its_maximum() {
        let description = Tool::named("format_numbers").unwrap().description;
        assert!(description.contains(&format!(" up to {MAX_NUMBERS} numbers")), "{description}");
    }
}
