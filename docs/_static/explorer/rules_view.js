// Each rule's acceptance and what it leaves, as a table with bars.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { make, part } = explorer.dom;
  const { percent, points } = explorer.words;

  /** A bar of the acceptance on a track as long as 1, with a mark at the optimum. */
  function bar(name, acceptance, optimum) {
    const track = make("span", { class: "ot-track", "aria-hidden": "true" });
    const { style } = name === "optimum" ? { style: "" } : explorer.looks.look(name);
    const color = name === "optimum" ? "ot-track-optimum" : "ot-track-rule";
    track.append(make("span", { class: color, style: `${style};width:${100 * acceptance}%` }));
    if (optimum !== null) {
      track.append(make("span", { class: "ot-track-gap", style: `left:${100 * acceptance}%;width:${100 * Math.max(0, optimum - acceptance)}%` }));
    }
    return track;
  }

  function refusal({ onlyK, why }) {
    return onlyK ? `only for k = ${onlyK}` : why;
  }

  function row(name, title, acceptance, optimum, why = "") {
    const head = make("th", { scope: "row" }, explorer.looks.badge(name), title);
    const line = make("tr", { "data-rule": name }, head);
    if (acceptance === null) {
      line.append(make("td", { class: "ot-none", colspan: 3 }, why));
      return line;
    }
    line.dataset.value = acceptance;
    const gap = optimum === null ? "" : points(optimum - acceptance);
    line.append(
      make("td", { class: "ot-number" }, percent(acceptance)),
      make("td", { class: "ot-bar-cell" }, bar(name, acceptance, optimum)),
      make("td", { class: "ot-number" }, optimum !== null && optimum - acceptance < 1e-9 ? "nothing" : gap),
    );
    return line;
  }

  function show(results) {
    const optimum = row("optimum", "optimum", results.acceptance, null);
    const rules = results.rules.map((rule) => row(rule.name, rule.title, rule.acceptance, results.acceptance, refusal(rule)));
    part("rules-left-out").hidden = results.law !== "iid";
    part("rules-body").replaceChildren(optimum, ...rules);
  }

  explorer.rulesView = { show };
})();
