// How rules look: the colors and markers that they have in every picture of otspec.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { marker, make, titled } = explorer.svg;

  const LOOKS = {
    "k-sequential": { color: "#0072B2", marker: "s" },
    "recursive-rejection": { color: "#D55E00", marker: "^" },
    "importance-sampling": { color: "#AA4499", marker: "X" },
    "maximal-coupling": { color: "#999999", marker: "v" },
    "naive-sampling": { color: "#56B4E9", marker: "o" },
    "recursive-rejection-without-replacement": { color: "#009E73", marker: "D" },
    spechub: { color: "#E69F00", marker: "P" },
    "pooled-selection": { color: "#CC79A7", marker: "h" },
    "pooled-selection-without-replacement": { color: "#6650C8", marker: "p" },
    "drawn-draft": { color: "#B0306A", marker: "d" },
    "gumbel-coupling": { color: "#8C510A", marker: ">" },
    "gumbel-lists": { color: "#BF812D", marker: "<" },
    "target-only": { color: "#117733", marker: "*" },
  };
  const ON_DARK = { "#6650C8": "#9d90ff", "#B0306A": "#dd7aa9", "#117733": "#58c27a", "#0072B2": "#7b93ff", "#8C510A": "#c98a3d" };

  function look(rule) {
    const { color, marker: kind } = LOOKS[rule] ?? { color: "#999999", marker: "o" };
    // Style sheets choose between the two, by the page's colors.
    return { style: `--light:${color};--dark:${ON_DARK[color] ?? color}`, marker: kind };
  }

  /** Draw a rule's marker, explained on hover. */
  function point(rule, x, y, words, data = {}) {
    const { style, marker: kind } = look(rule);
    const shape = marker(kind, x, y, 4.2, { class: "ot-rule-fill", style, ...data });
    return words ? titled(shape, words) : shape;
  }

  /** Make a small picture of a rule's marker, for tables and legends. */
  function badge(rule) {
    const svg = make("svg", { width: 16, height: 16, viewBox: "0 0 16 16", class: "ot-badge", "aria-hidden": "true" });
    svg.append(rule === "optimum" ? marker("o", 8, 8, 4.5, { class: "ot-optimum-fill" }) : point(rule, 8, 8));
    return svg;
  }

  explorer.looks = { LOOKS, badge, look, point };
})();
