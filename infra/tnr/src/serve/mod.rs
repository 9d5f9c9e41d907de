//! Serves the whole API on one port.

pub mod args;
mod connections;
mod greeting;
mod operations_port;
pub mod preparation;
mod unread_bodies;

use std::{env, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
};
use logging::with_causes;
use shared::{app, auth::ApiKey, export::Exporter, gateway::with_base_path, state::App};
use store::{CurrentDataset, Store};
use tokio::{
    net::TcpListener,
    sync::oneshot,
    time::{sleep, timeout},
};

use self::{
    args::ServeArgs, connections::LimitedListener, greeting::print_banner,
    operations_port::ServerState,
};
use crate::{
    CliError,
    database::Database,
    error::Context,
    routes,
    stop_signals::{StopSignal, StopSignals},
    terminal::init_human_logs,
};

/// The interval between checks for newer data. They read the manifest at most once a minute, or every
/// few seconds until data is loaded.
const DATA_POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The timeout for the last export, and for closing the embedded database, which loses no data if it expires.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

pub async fn serve(args: ServeArgs) -> Result<(), CliError> {
    init_human_logs();
    let config = args.config()?;
    let address = SocketAddr::new(args.address.host, args.address.port);
    let listener = listen(address, "--host or --port").await?;
    let operations = match args.ops_address {
        Some(address) => Some(listen(address, "--ops-address").await?),
        None => None,
    };
    let mut signals = StopSignals::listen()?;
    let prepared = async {
        let prepare = async |store: &Store| prepare(store, &args).await;
        let (database, key) = Database::open_for_server(&args.database, prepare).await?;
        print_banner(&listener, operations.as_ref(), &args, key.as_ref(), &database).await?;
        Ok::<_, CliError>(database)
    };
    let database = tokio::select! {
        database = prepared => database?,
        // Nothing is being served yet. The next start resumes the setup.
        _ = signals.next() => return Ok(()),
    };

    let mut app = App::new(database.serving_store().await, config);
    app.exporter = Arc::new(Exporter::new(None, |name| env::var(name).ok()));
    let exporter = Arc::clone(&app.exporter);
    tokio::spawn(async move { exporter.run().await });
    let state = ServerState::new(app.clone());
    app.observer = Some(state.observer());
    let loader = tokio::spawn(keep_data_loaded(Arc::clone(&app.dataset)));
    if let Some(operations) = operations {
        // It runs until the process exits, so that it outlives the API.
        let address = operations.local_addr().context("cannot listen")?.ip();
        let router = operations_port::router(Arc::clone(&state), address);
        tokio::spawn(axum::serve(operations, router).into_future());
    }
    let service = app::service(routes(), app)
        .layer(from_fn_with_state(Arc::clone(&state), operations_port::observe));
    let service = match args.address.base_path {
        Some(base_path) => with_base_path(base_path, service),
        None => service,
    };
    let service = service.layer(from_fn(unread_bodies::discard));
    let listener = LimitedListener::new(listener, args.connections);
    let times = (args.drain, args.grace);
    let result = run(listener, service, &state, database, times, signals).await;
    loader.abort();
    result
}

/// Serves until the first signal. After SIGTERM, continues to serve for a while, so that load
/// balancers notice that the server is not ready. Then finishes in-flight requests within the
/// grace period, and writes the last quota counts.
async fn run(
    listener: LimitedListener,
    service: Router,
    state: &ServerState,
    database: Database,
    (drain, grace): (Duration, Duration),
    mut signals: StopSignals,
) -> Result<(), CliError> {
    let (stop, stop_requested) = oneshot::channel::<()>();
    let stop_requested = async { _ = stop_requested.await };
    let serving = axum::serve(listener, service).with_graceful_shutdown(stop_requested);
    let mut serving = Box::pin(serving.into_future());
    notify_service_manager("READY=1");
    let signal = tokio::select! {
        result = &mut serving => return result.context("the server stopped"),
        signal = signals.next() => signal,
    };
    state.stop();
    notify_service_manager("STOPPING=1");
    let finish = async {
        if signal == StopSignal::Terminate {
            _ = timeout(drain, &mut serving).await;
        }
        drop(stop);
        _ = timeout(grace, serving).await;
        let lost = state.app.quotas.write_remaining().await;
        if lost > 0 {
            tracing::error!(quotas = lost, "cannot write the last quota counts");
        }
        _ = timeout(CLOSE_TIMEOUT, state.app.exporter.flush()).await;
        _ = timeout(CLOSE_TIMEOUT, database.close()).await;
    };
    tokio::select! {
        () = pin!(finish) => Ok(()),
        _ = signals.next() => Err(CliError::failed(
            "stopped by a second signal; the last quota counts may be lost",
        )),
    }
}

/// Notifies systemd or another service manager that sets `NOTIFY_SOCKET`.
#[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix has service managers"))]
fn notify_service_manager(state: &str) {
    #[cfg(unix)]
    if let Err(error) = sd_notify::notify(&[sd_notify::NotifyState::Custom(state)]) {
        tracing::warn!(%error, "cannot notify the service manager");
    }
}

/// Loads the data before the first request, and loads newer data even without requests.
async fn keep_data_loaded(dataset: Arc<CurrentDataset>) {
    let mut is_logged = false;
    loop {
        if let Err(error) = dataset.get().await
            && !is_logged
        {
            tracing::warn!(error = with_causes(&error), "serving without data; retrying");
            is_logged = true;
        }
        sleep(DATA_POLL_INTERVAL).await;
    }
}

/// For a trial, imports the sample and creates a key. Otherwise only registers the given key, if any.
/// Returns the key.
async fn prepare(store: &Store, args: &ServeArgs) -> Result<Option<ApiKey>, CliError> {
    let given = args.key.given.as_deref();
    if args.is_trial() {
        let data_dir = args.database.folder()?;
        preparation::with_sample_and_key(store, given, &data_dir).await.map(Some)
    } else {
        preparation::register_given(store, given).await
    }
}

async fn listen(address: SocketAddr, options: &str) -> Result<TcpListener, CliError> {
    let failed = format!("cannot listen on {address}; choose another with {options}");
    TcpListener::bind(address).await.context(failed)
}
