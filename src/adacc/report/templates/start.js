// Sets up the controls; text and tables are complete without them.
function switchTheme() {
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const label = () => { button.textContent = dark() ? "Light colours" : "Dark colours"; };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try {
      localStorage.setItem("adacc-theme", root.dataset.theme);
    } catch {
      // Without storage the choice is lost when the page is closed.
    }
    label();
  });
  system.addEventListener("change", label);
  label();
  button.hidden = false;
}

// Collapsed sections are opened for printing and closed again.
function unfoldForPrint() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((each) => { each.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((each) => { each.open = false; }));
}

async function start() {
  switchTheme();
  unfoldForPrint();
  document.querySelectorAll("table[data-sorting]").forEach(makeSortable);
  const desk = document.getElementById("desk");
  const decide = page.methods?.length > 0;
  if (decide) desk.hidden = false; // before drawing, since a hidden chart has no width
  await drawAll();
  if (views.intervals) chooseMeasure();
  if (views.roc) chooseCurves();
  if (decide) chooseThreshold();
  document.documentElement.dataset.drawn = "yes";
}

start();
