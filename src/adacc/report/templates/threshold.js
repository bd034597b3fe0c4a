// Confusion counts and costs at a threshold. The counts are stored for every threshold.
function chooseThreshold() {
  const find = (id) => document.getElementById(id);
  const [select, slider] = [find("threshold-method"), find("threshold")];
  const inputs = { false_negatives: find("cost-missed"), false_positives: find("cost-alarm") };
  const method = () => page.methods[select.value];

  const update = () => {
    const costs = readCosts(inputs);
    const chosen = method();
    const now = countsAt(chosen, Number(slider.value));
    find("counts-method").textContent = chosen.label;
    showCounts("now", now, costs);
    showCounts("own", chosen.default, costs);
    const at = exactNumber(chosen.thresholds.at[slider.value]);
    find("threshold-value").textContent = at;
    slider.setAttribute("aria-valuetext", `${at}: ${count(now.true_positives)} true positives, ${count(now.false_positives)} false positives`);
    find("verdict").textContent = verdict(chosen, costs);
    find("cheapest").disabled = costs === null;
    feedCosts(chosen, costs, Number(slider.value));
  };
  const start = () => {
    slider.max = method().thresholds.at.length - 1;
    slider.value = method().thresholds.default;
    update();
  };
  select.addEventListener("change", start);
  for (const input of [slider, ...Object.values(inputs)]) input.addEventListener("input", update);
  find("cheapest").addEventListener("click", () => {
    slider.value = cheapest(method(), readCosts(inputs));
    update();
  });
  inputs.false_negatives.value = Number(Math.max(1, method().negatives / method().positives).toPrecision(2));
  start();
}

function countsAt(method, index) {
  const [tp, fp] = [method.thresholds.true_positives[index], method.thresholds.false_positives[index]];
  return {
    true_positives: tp,
    false_negatives: method.positives - tp,
    false_positives: fp,
    true_negatives: method.negatives - fp,
  };
}

// The costs of both errors, or null while one of them is invalid.
function readCosts(inputs) {
  const costs = {};
  for (const [kind, input] of Object.entries(inputs)) {
    const valid = input.value !== "" && input.valueAsNumber >= 0;
    input.setAttribute("aria-invalid", String(!valid));
    costs[kind] = valid ? input.valueAsNumber : NaN;
  }
  return Object.values(costs).some(Number.isNaN) ? null : costs;
}

function total(counts, costs) {
  return counts.false_negatives * costs.false_negatives + counts.false_positives * costs.false_positives;
}

// The cheapest threshold; ties go to the one with most true positives.
function cheapest(method, costs) {
  const all = method.thresholds.at.map((_, index) => total(countsAt(method, index), costs));
  return all.indexOf(Math.min(...all));
}

function showCounts(column, counts, costs) {
  for (const name of ["true_positives", "false_negatives", "false_positives", "true_negatives"]) {
    document.getElementById(`${column}-${name}`).textContent = count(counts[name]);
  }
  document.getElementById(`${column}-cost`).textContent = costs ? money(total(counts, costs)) : "–";
}

function verdict(method, costs) {
  if (!costs) return "Costs must be numbers of at least 0.";
  const index = cheapest(method, costs);
  const least = total(countsAt(method, index), costs);
  return `The cheapest threshold on these rows is ${exactNumber(method.thresholds.at[index])}, at a cost of ${money(least)}.${tested(method, costs)}`;
}

// What a threshold saves on other rows than those it is chosen on: each half of the folds chooses for the other.
function tested(method, costs) {
  const own = total(method.default, costs);
  if (!method.thresholds.half || !own) return "";
  const halves = halvesOf(method);
  const cost = total(countsAt(halves[1], cheapest(halves[0], costs)), costs) + total(countsAt(halves[0], cheapest(halves[1], costs)), costs);
  const saved = Math.round(100 * (own - cost) / own);
  const than = saved ? `${Math.abs(saved)}% ${saved > 0 ? "less" : "more"} than` : "about as much as";
  return ` Chosen on half of the folds and measured on the other half, it costs ${than} the default threshold.`;
}

// Half of the folds, and the other half, as methods.
function halvesOf(method) {
  const { half } = method.thresholds;
  const first = { ...half, positives: half.default.true_positives + half.default.false_negatives, negatives: half.default.false_positives + half.default.true_negatives };
  const rest = (name) => method.thresholds[name].map((all, index) => all - half[name][index]);
  const second = { true_positives: rest("true_positives"), false_positives: rest("false_positives"), positives: method.positives - first.positives, negatives: method.negatives - first.negatives };
  return [first, second].map(({ positives, negatives, ...counts }) => ({ positives, negatives, thresholds: { at: method.thresholds.at, ...counts } }));
}

function feedCosts(method, costs, index) {
  const row = (at, index) => ({ at, cost: total(countsAt(method, index), costs) });
  const rows = costs ? method.thresholds.at.map(row) : [];
  feed("cost", { cost: rows, here: costs ? [rows[index]] : [] });
}

function money(number) {
  return number.toLocaleString("en-US", { maximumFractionDigits: 2 });
}

// All digits: a rounded threshold would select other rows.
function exactNumber(number) {
  return String(number);
}
