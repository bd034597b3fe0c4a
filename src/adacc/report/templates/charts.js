// Draws all charts; later changes reach a chart as data or as a parameter.
const page = JSON.parse(document.getElementById("page-data").textContent);
const views = {};

async function drawAll() {
  const config = { ...page.config, font: getComputedStyle(document.body).fontFamily };
  const options = {
    actions: false,
    ast: true, // expressions are interpreted, so the page works without unsafe-eval
    config,
    defaultStyle: false,
    logLevel: 1, // errors only: no warning about a chart without data yet
    renderer: "svg",
    tooltip: { disableDefaultStyle: true },
  };
  const holders = [...document.querySelectorAll("[data-chart]")];
  await Promise.all(holders.map(async (holder) => {
    const name = holder.dataset.chart;
    views[name] = (await vegaEmbed(holder, page.charts[name], options)).view;
  }));
}

// Replace the named data of a chart.
function feed(chart, tables) {
  const view = views[chart];
  for (const [name, rows] of Object.entries(tables)) view.data(name, rows);
  return view.runAsync();
}
