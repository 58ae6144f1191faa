// Small makers of HTML.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};

  /** Make an element; children are elements or texts. */
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  /** Make a table; cells are texts or elements, the first of a row names it. */
  function table(caption, heads, rows) {
    const head = make("tr", {}, ...heads.map((name) => make("th", { scope: "col" }, name)));
    const body = rows.map(([name, ...cells]) => make("tr", {},
      make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", {}, cell))));
    return make("table", { class: "ot-table" },
      make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...body));
  }

  /** Make a button that calls a function. */
  function button(words, pressed) {
    const element = make("button", { type: "button", class: "ot-button" }, words);
    element.addEventListener("click", pressed);
    return element;
  }

  /** Fill a part that is folded away once it is opened, and at once if it is open. */
  function unfold(name, made) {
    const details = part(name).closest("details");
    details.ontoggle = () => { if (details.open) part(name).replaceChildren(made()); };
    details.ontoggle();
  }

  /** Find a part of the page by the end of its identifier. */
  function part(name) {
    return document.getElementById(`ot-${name}`);
  }

  explorer.dom = { button, make, part, table, unfold };
})();
