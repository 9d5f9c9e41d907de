//! A span for each DynamoDB call in a request, and headers that continue the request's trace.

use std::error::Error;

use aws_sdk_dynamodb::{
    config::{
        ConfigBag, Intercept, RuntimeComponents,
        interceptors::{BeforeTransmitInterceptorContextMut, FinalizerInterceptorContextRef},
    },
    operation::{
        batch_get_item::BatchGetItemInput, get_item::GetItemInput, query::QueryInput,
        update_item::UpdateItemInput,
    },
};
use aws_smithy_runtime_api::client::interceptors::{
    context::{BeforeSerializationInterceptorContextRef, Input},
    dyn_dispatch_hint,
};
use aws_smithy_types::config_bag::{Storable, StoreReplace};
use otlp::{Span, SpanKind};

/// Records calls following the [semantic conventions for DynamoDB], and sends `traceparent` and `tracestate`. Outside a
/// trace, does nothing.
///
/// [semantic conventions for DynamoDB]: https://opentelemetry.io/docs/specs/semconv/database/dynamodb/
#[derive(Debug)]
pub(crate) struct CallSpans;

#[derive(Debug)]
struct CallSpan(Span);

impl Storable for CallSpan {
    type Storer = StoreReplace<Self>;
}

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

#[dyn_dispatch_hint]
impl Intercept for CallSpans {
    fn name(&self) -> &'static str {
        "CallSpans"
    }

    fn read_before_execution(
        &self,
        context: &BeforeSerializationInterceptorContextRef<'_>,
        config: &mut ConfigBag,
    ) -> Outcome {
        if let Some(mut span) = otlp::current().and_then(|it| it.start_span(SpanKind::Client)) {
            describe(&mut span, context.input());
            config.interceptor_state().store_put(CallSpan(span));
        }
        Ok(())
    }

    /// Adds the headers after signing, so that a proxy may replace them.
    fn modify_before_transmit(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Outcome {
        let Some(trace) = otlp::current() else { return Ok(()) };
        let span = config.load::<CallSpan>().map(|CallSpan(span)| span.context());
        let headers = context.request_mut().headers_mut();
        headers.insert("traceparent", span.unwrap_or(trace.context).to_string());
        if let Some(state) = &trace.state {
            headers.try_insert("tracestate", state.clone())?;
        }
        Ok(())
    }

    fn read_after_execution(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Outcome {
        if let Some(CallSpan(span)) = config.get_mut_from_interceptor_state::<CallSpan>() {
            span.error = match (context.output_or_error(), context.response()) {
                (Some(Ok(_)), _) => None,
                (_, Some(response)) => Some(response.status().as_u16().to_string()),
                (Some(Err(error)), _) if error.is_timeout_error() => Some("timeout".to_owned()),
                _ => Some("connection".to_owned()),
            };
        }
        Ok(())
    }
}

/// Names the span after the operation and its table.
fn describe(span: &mut Span, input: &Input) {
    let (operation, table) = if let Some(input) = input.downcast_ref::<GetItemInput>() {
        ("GetItem", input.table_name())
    } else if let Some(input) = input.downcast_ref::<QueryInput>() {
        ("Query", input.table_name())
    } else if let Some(input) = input.downcast_ref::<UpdateItemInput>() {
        ("UpdateItem", input.table_name())
    } else if let Some(input) = input.downcast_ref::<BatchGetItemInput>() {
        let tables = input.request_items().into_iter().flat_map(|items| items.keys());
        ("BatchGetItem", tables.map(String::as_str).next())
    } else {
        ("call", None)
    };
    span.name = operation.to_owned();
    span.set("db.system.name", "aws.dynamodb");
    span.set("db.operation.name", operation);
    if let Some(table) = table {
        span.name = format!("{operation} {table}");
        span.set("db.collection.name", table);
    }
    // A request that no longer waits for the call drops the span, which then has this error.
    span.error = Some("timeout".to_owned());
}
