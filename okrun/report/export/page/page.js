"use strict";

// All of this rearranges what the page says already; without it the page says no less.

const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

// A button for the other of light and dark. Nothing outside the page remembers it.
function theme() {
  const root = document.documentElement;
  const dark = () =>
    (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "")) === "dark";
  const button = make("button", { type: "button", id: "theme" });
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();
  document.querySelector("header").append(button);
}

// What a row is sorted by in a column: a number where the cell has one, else its text.
function key(row, column) {
  const cell = row.cells[column];
  const value = cell.dataset.v;
  return value === undefined ? cell.textContent : value === "" ? -Infinity : Number(value);
}

function compare(a, b) {
  return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
}

// A table that is sorted by its headings, searched, and not longer than data-cap until it is asked to be.
class Table {
  constructor(table) {
    this.body = table.tBodies[0];
    this.rows = [...this.body.rows];
    this.cap = Number(table.dataset.cap ?? Infinity);
    this.wanted = "";
    this.all = make("button", { type: "button" });
    this.all.addEventListener("click", () => { this.cap = Infinity; this.show(); });
    for (const [column, heading] of [...table.tHead.rows[0].cells].entries()) {
      if (!this.rows[0].cells[column].querySelector("svg")) this.sortable(heading, column);
    }
    if (table.dataset.search) this.searchable(table);
    table.parentElement.after(this.all);
    this.show();
  }

  sortable(heading, column) {
    const button = make("button", { type: "button", textContent: heading.textContent });
    const number = heading.className === "n";
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const was = heading.ariaSort;
      for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
      const down = was ? was === "ascending" : number;
      heading.ariaSort = down ? "descending" : "ascending";
      const sign = down ? -1 : 1;
      this.rows.sort((a, b) => sign * compare(key(a, column), key(b, column)));
      this.show();
    });
  }

  searchable(table) {
    const find = make("div", { className: "find" });
    const label = `Search ${table.dataset.search}`;
    const input = make("input", { type: "search", placeholder: label, ariaLabel: label });
    this.found = make("output");
    input.addEventListener("input", () => { this.wanted = input.value.toLowerCase(); this.show(); });
    find.append(input, this.found);
    table.parentElement.before(find);
  }

  show() {
    const found = this.rows.filter((row) => row.cells[0].textContent.toLowerCase().includes(this.wanted));
    this.body.replaceChildren(...found.slice(0, this.cap));
    this.all.hidden = found.length <= this.cap;
    this.all.textContent = `Show all ${found.length.toLocaleString("en")}`;
    if (this.found) this.found.textContent = this.wanted ? `${found.length} of ${this.rows.length}` : "";
  }
}

// A lane is one stop of the Tab key; the arrows go from phase to phase. What one is, a line below says.
function lanes() {
  const hint = "Point at a phase, or reach one by Tab and the arrow keys.";
  const said = make("output", { id: "said", textContent: hint });
  document.querySelector(".scale").after(said);
  for (const lane of document.querySelectorAll("svg.lane")) {
    const phases = [...lane.querySelectorAll("[role=img]")];
    const say = (event) => { said.textContent = event.target.querySelector("title").textContent; };
    for (const phase of phases) {
      phase.setAttribute("tabindex", "-1");
      phase.addEventListener("pointerenter", say);
      phase.addEventListener("focus", say);
    }
    phases[0].setAttribute("tabindex", "0");
    lane.addEventListener("keydown", (event) => {
      const at = phases.indexOf(event.target);
      const last = phases.length - 1;
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      phases[at].setAttribute("tabindex", "-1");
      const next = phases[Math.min(last, Math.max(0, to))];
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  }
}

theme();
for (const table of document.querySelectorAll(".scroll > table")) new Table(table);
if (document.querySelector(".scale")) lanes();
