// Runs before anything is shown, so that the page does not flash in the other colours.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const kept = localStorage.getItem("adacc-theme");
    if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  } catch {
    // A page opened from a file may have no storage; it follows the system then.
  }
})();
