"use strict";
// Sorting: a press on a header sorts by its column, another one turns the order round. What has no value stays last.
for (const header of document.querySelectorAll("th[data-sort]")) {
  header.querySelector("button").addEventListener("click", () => {
    const table = header.closest("table"), body = table.tBodies[0], column = header.cellIndex;
    const numeric = header.dataset.sort === "number";
    const now = header.getAttribute("aria-sort");
    // numbers are most often looked at from the top, words from the beginning
    const descending = now === "none" ? numeric : now === "ascending";
    const value = (row) => {
      const cell = row.cells[column];
      const text = cell.dataset.value ?? (numeric ? "" : cell.textContent.trim());
      return text === "" ? null : numeric ? Number(text) : text;
    };
    const rows = [...body.rows].map((row) => [value(row), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      const order = numeric ? a - b : a.localeCompare(b, "en", { numeric: true });
      return descending ? -order : order;
    });
    for (const other of table.querySelectorAll("th[data-sort]")) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    body.append(...rows.map(([, row]) => row));
  });
}

// Filters: every word of the search must be in the row, and each list must hold the value that was chosen.
for (const form of document.querySelectorAll("form.filters")) {
  const rows = [...document.getElementById(form.dataset.for).tBodies[0].rows];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const apply = () => {
    const words = form.querySelector("input").value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = [...form.querySelectorAll("select")].filter((list) => list.value);
    let shown = 0;
    for (const row of rows) {
      const fits = words.every((word) => texts.get(row).includes(word))
        && chosen.every((list) => (row.dataset[list.dataset.key] ?? "").split("|").includes(list.value));
      row.hidden = !fits;
      shown += fits;
    }
    const all = rows.length.toLocaleString("en");
    form.querySelector("output").value = shown === rows.length ? `${all} rows` : `${shown.toLocaleString("en")} of ${all} rows`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
}

// The legend: a press hides a policy everywhere, another one brings it back.
for (const chip of document.querySelectorAll(".chip")) {
  chip.addEventListener("click", () => {
    const hidden = document.body.classList.toggle(`hide-${chip.dataset.arm}`);
    chip.setAttribute("aria-pressed", String(!hidden));
  });
}

// Commands can be copied where the browser allows it.
if (navigator.clipboard) {
  for (const button of document.querySelectorAll(".command button")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
      button.textContent = "copied";
    });
  }
}

// On paper all is unfolded, also in browsers whose style sheets cannot do it; afterwards all is as it was.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details:not([open])")) folded.dataset.folded = folded.open = true;
});
addEventListener("afterprint", () => {
  for (const folded of document.querySelectorAll("details[data-folded]")) {
    folded.open = false;
    delete folded.dataset.folded;
  }
});
