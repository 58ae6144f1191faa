// Acceptance against the number of drafts: the optimum and the rules.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { levels, line, marker, path, picture, rect, scale, text, ticks, titled } = explorer.svg;
  const { dom, looks, words } = explorer;
  const HEIGHT = 300;
  const LEFT = 44;
  const RIGHT = 10;
  const MOST = explorer.state.MOST_DRAFTS;
  const BASE = HEIGHT - 38;

  function values(results) {
    return [results.optima, ...Object.values(results.lines)].flat().filter((value) => value !== null);
  }

  function lineOf(points, attributes) {
    return points.length > 1 ? [path(points, attributes)] : [];
  }

  function known(found, x, y) {
    return found.flatMap((value, i) => (value === null ? [] : [[x(i + 1), y(value), i + 1, value]]));
  }

  function data(rule, k, value) {
    return { "data-rule": rule, "data-k": k, "data-value": value };
  }

  function optimum(results, x, y) {
    const points = known(results.optima, x, y);
    const marks = points.map(([a, b, k, value]) => titled(
      marker("o", a, b, 4, { class: "ot-optimum-fill", ...data("optimum", k, value) }),
      `optimum, k = ${k}: ${words.percent(value)}`));
    return [...lineOf(points, { class: "ot-optimum-line" }), ...marks];
  }

  function rule(results, found, x, y) {
    const points = known(results.lines[found.name], x, y);
    const { style } = looks.look(found.name);
    const broad = found.name.startsWith("pooled");
    const kind = broad ? "ot-rule-line ot-broad" : "ot-rule-line";
    const marks = points.map(([a, b, k, value]) =>
      looks.point(found.name, a, b, `${found.title}, k = ${k}: ${words.percent(value)}`, data(found.name, k, value)));
    return [...lineOf(points, { class: kind, style }), ...(broad ? [] : marks)];
  }

  function axes(x, y, low, right) {
    const steps = x(2) - x(1) < 26 ? 5 : 1;
    const numbers = Array.from({ length: MOST }, (_, i) => i + 1).filter((k) => k === 1 || k % steps === 0);
    return [
      ...levels(ticks(low, 1), y, LEFT, right),
      ...numbers.map((k) => text(x(k), BASE + 17, String(k), { class: "ot-tick", "text-anchor": "middle" })),
      text((LEFT + right) / 2, HEIGHT - 5, "number of drafts k", { class: "ot-axis-name", "text-anchor": "middle" }),
    ];
  }

  function legend(results) {
    const drawn_ = results.rules.filter(({ name }) => results.lines[name].some((value) => value !== null));
    const names = [["optimum", "optimum"], ...drawn_.map((found) => [found.name, found.title])];
    return names.map(([name, title]) => dom.make("li", {}, looks.badge(name), title));
  }

  function numbers(results) {
    const columns = [["optimum", results.optima], ...results.rules.map((found) => [found.title, results.lines[found.name]])];
    const rows = results.optima.map((_, i) => [String(i + 1),
      ...columns.map(([, found]) => (found[i] === null ? "–" : words.number(found[i], 6)))]);
    return dom.table("Acceptance against k", ["k", ...columns.map(([title]) => title)], rows);
  }

  function drawn(results, width) {
    const low = Math.min(0.9, Math.floor(Math.min(...values(results)) * 10) / 10);
    const x = across(width);
    const y = scale(low, 1, BASE, 12);
    return [
      rect(x(results.k) - 10, 6, 20, BASE - 6, { class: "ot-now", rx: 4 }),
      ...axes(x, y, low, width - RIGHT),
      line(LEFT, BASE, width - RIGHT, BASE, { class: "ot-axis" }),
      ...results.rules.toReversed().flatMap((found) => rule(results, found, x, y)),
      ...optimum(results, x, y),
    ];
  }

  function across(width) {
    return scale(1, MOST, LEFT + 14, width - RIGHT - 14);
  }

  /** Draw the chart; a press on it chooses k. */
  function show(results, choose) {
    const label = "Acceptance against the number of drafts; the table below has the numbers";
    const svg = picture(dom.part("k-chart"), HEIGHT, label, (width) => drawn(results, width));
    svg.addEventListener("click", (event) => {
      const x = across(svg.getBoundingClientRect().width);
      const k = 1 + (event.offsetX - x(1)) / (x(2) - x(1));
      choose(Math.min(MOST, Math.max(1, Math.round(k))));
    });
    dom.part("k-legend").replaceChildren(...legend(results));
    dom.unfold("k-table", () => numbers(results));
  }

  explorer.kChart = { show };
})();
