//! The examination of a running service by its address.

use std::time::Duration;

use super::{
    endpoints::{self, Answer, Target},
    finding::Group,
    look::{Look, group, within},
};
use crate::LocalError;

/// Asks every endpoint.
pub async fn look(target: &Target, limit: Duration) -> Result<Look<Vec<Answer>>, LocalError> {
    let client = endpoints::client().map_err(LocalError::io("no HTTPS client can be made"))?;
    Ok(within(limit, async { Ok(endpoints::look(&client, target).await) }).await)
}

/// What is to be said of the answers.
pub fn of_answers(answers: &Look<Vec<Answer>>, target: &Target) -> Group {
    group("endpoints", answers, |answers| endpoints::findings(answers, target))
}

/// Examines a running service.
pub async fn examine_service(target: &Target, limit: Duration) -> Result<Group, LocalError> {
    Ok(of_answers(&look(target, limit).await?, target))
}
