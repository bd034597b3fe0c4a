// Runs before the page is shown, to avoid a flash of the other theme.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const kept = localStorage.getItem("adacc-theme");
    if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  } catch {
    // Pages opened from a file may have no storage; then the system theme is used.
  }
})();
