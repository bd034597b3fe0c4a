// Sortable tables: the head of a column becomes a button. Empty cells stay last in both orders.
function makeSortable(table) {
  const heads = [...table.querySelectorAll("th[data-sortable]")];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("number");
      const before = head.getAttribute("aria-sort");
      const rising = before ? before === "descending" : !numeric;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      sortRows(table, column, numeric, rising);
    });
  });
}

function sortRows(table, column, numeric, rising) {
  const body = table.tBodies[0];
  const key = (row) => row.cells[column].dataset.sort;
  const compare = (a, b) => numeric ? Number(a) - Number(b) : a.localeCompare(b);
  const ordered = [...body.rows].sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    if (a === "" || b === "") return (a === "") - (b === "");
    return rising ? compare(a, b) : compare(b, a);
  });
  body.append(...ordered);
}
