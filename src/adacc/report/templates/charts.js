// Drawing: every holder gets its chart; later changes reach a chart as data or as a parameter.
const page = JSON.parse(document.getElementById("page-data").textContent);
const views = {};

async function drawAll() {
  const config = { ...page.config, font: getComputedStyle(document.body).fontFamily };
  const options = {
    actions: false,
    ast: true, // expressions are interpreted, so that the page needs no right to evaluate text
    config,
    defaultStyle: false,
    logLevel: 1, // errors only: a chart without rows yet is nothing to warn of
    renderer: "svg",
    tooltip: { disableDefaultStyle: true },
  };
  const holders = [...document.querySelectorAll("[data-chart]")];
  await Promise.all(holders.map(async (holder) => {
    const name = holder.dataset.chart;
    views[name] = (await vegaEmbed(holder, page.charts[name], options)).view;
  }));
}

// Give a chart new rows, by the name of its data.
function feed(chart, tables) {
  const view = views[chart];
  for (const [name, rows] of Object.entries(tables)) view.data(name, rows);
  return view.runAsync();
}
