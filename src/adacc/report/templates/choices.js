// The chosen measure of the chart of intervals, and the chosen methods of the curves.
function chooseMeasure() {
  const select = document.getElementById("metric");
  select.addEventListener("change", () => {
    const { about, unit } = select.selectedOptions[0].dataset;
    document.getElementById("metric-about").textContent = about;
    views.intervals.signal("metric", select.value).signal("unit", unit).runAsync();
  });
}

function chooseCurves() {
  const boxes = [...document.querySelectorAll("input[name=drawn]")];
  const update = () => {
    const names = boxes.filter((box) => box.checked).map((box) => box.value);
    drawCurves(page.methods.filter((method) => names.includes(method.name)));
    const kept = boxes.filter((box) => box.checked).map((box) => box.closest("label").cloneNode(true));
    kept.forEach((label) => label.querySelector("input").remove());
    document.getElementById("legend").replaceChildren(...kept);
  };
  boxes.forEach((box) => box.addEventListener("change", update));
  update();
}

function drawCurves(methods) {
  const line = (method, xs, ys) => xs
    .map((x, order) => ({ name: method.name, label: method.label, x, y: ys[order], order }))
    .filter((row) => row.x !== null && row.y !== null);
  feed("roc", {
    roc: methods.flatMap((method) => line(method, method.roc.fpr, method.roc.tpr)),
    roc_points: methods.flatMap((method) => ownDecisions(method, (rates) => [rates.fpr, rates.tpr])),
  });
  feed("pr", {
    pr: methods.flatMap((method) => line(method, method.pr.recall, method.pr.precision)),
    pr_points: methods.flatMap((method) => ownDecisions(method, (rates) => [rates.tpr, rates.precision])),
  });
  feed("calibration", {
    calibration: methods.flatMap((method) => method.calibration.map((bin, order) => (
      { name: method.name, label: method.label, x: bin.predicted, y: bin.observed, rows: bin.rows, order }
    ))),
  });
}

// The point of a method's default threshold on a curve; none if it is undefined.
function ownDecisions(method, place) {
  const { true_positives: tp, false_negatives: fn, false_positives: fp, true_negatives: tn } = method.default;
  const rates = { tpr: tp / (tp + fn), fpr: fp / (fp + tn), precision: tp / (tp + fp) };
  const [x, y] = place(rates);
  const at = `${count(tp)} true positives, ${count(fp)} false positives`;
  return Number.isFinite(x) && Number.isFinite(y) ? [{ name: method.name, label: method.label, x, y, at }] : [];
}

function count(number) {
  return number.toLocaleString("en-US");
}
