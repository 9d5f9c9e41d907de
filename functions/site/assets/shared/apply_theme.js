// Runs before the first paint, so that the page never flashes in the other colors.
try {
  document.documentElement.dataset.theme = localStorage.getItem("tnr-theme") ?? "system";
} catch {
  // The browser blocks storage, so the page follows the system.
}
