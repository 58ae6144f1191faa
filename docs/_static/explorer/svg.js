// Small makers of SVG: elements, scales, axes and markers.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const SPACE = "http://www.w3.org/2000/svg";

  /** Make an element; children are elements or texts, those that are null are left out. */
  function make(name, attributes = {}, ...children) {
    const element = document.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children.filter((child) => child !== null));
    return element;
  }

  /** Explain an element on hover. */
  function titled(element, words) {
    element.append(make("title", {}, words));
    return element;
  }

  function text(x, y, words, attributes = {}) {
    return make("text", { x, y, ...attributes }, words);
  }

  function line(x1, y1, x2, y2, attributes = {}) {
    return make("line", { x1, y1, x2, y2, ...attributes });
  }

  function rect(x, y, width, height, attributes = {}) {
    return make("rect", { x, y, width: Math.max(0, width), height: Math.max(0, height), ...attributes });
  }

  function path(points, attributes = {}) {
    const d = points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)},${y.toFixed(2)}`).join("");
    return make("path", { d, fill: "none", ...attributes });
  }

  /** Return the linear function that takes from → start and to → end. */
  function scale(from, to, start, end) {
    return (value) => start + ((value - from) / (to - from)) * (end - start);
  }

  /** Return numbers from 0 up in steps that are round and at most so many. */
  function ticks(low, high, most = 5) {
    const steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5];
    const step = steps.find((width) => (high - low) / width <= most) ?? 1;
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9; i += 1) {
      found.push(Number((i * step).toFixed(4)));
    }
    return found;
  }

  /** Draw horizontal lines with their numbers. */
  function levels(values, y, left, right) {
    return values.flatMap((value) => [
      line(left, y(value), right, y(value), { class: "ot-grid" }),
      text(left - 6, y(value) + 4, String(value), { class: "ot-tick", "text-anchor": "end" }),
    ]);
  }

  function around(corners, turn, radius) {
    return Array.from({ length: corners }, (_, i) => {
      const angle = ((turn + (360 * i) / corners) * Math.PI) / 180;
      return [radius(i) * Math.sin(angle), -radius(i) * Math.cos(angle)];
    });
  }

  const PLUS = [[-1, -3], [1, -3], [1, -1], [3, -1], [3, 1], [1, 1], [1, 3], [-1, 3], [-1, 1],
    [-3, 1], [-3, -1], [-1, -1]];
  const CROSS = PLUS.map(([x, y]) => [(x - y) * 0.7071, (x + y) * 0.7071]);
  const OUTLINES = {
    o: (r) => around(20, 0, () => r),
    s: (r) => around(4, 45, () => 1.25 * r),
    D: (r) => around(4, 0, () => 1.25 * r),
    d: (r) => around(4, 0, (i) => (i % 2 ? 0.75 : 1.35) * r),
    "^": (r) => around(3, 0, () => 1.25 * r),
    v: (r) => around(3, 180, () => 1.25 * r),
    ">": (r) => around(3, 90, () => 1.25 * r),
    "<": (r) => around(3, 270, () => 1.25 * r),
    p: (r) => around(5, 0, () => 1.15 * r),
    h: (r) => around(6, 0, () => 1.15 * r),
    "*": (r) => around(10, 0, (i) => (i % 2 ? 0.6 : 1.4) * r),
    P: (r) => PLUS.map(([x, y]) => [(x * r) / 2.6, (y * r) / 2.6]),
    X: (r) => CROSS.map(([x, y]) => [(x * r) / 2.6, (y * r) / 2.6]),
  };

  /** Draw a marker, named as in the pictures of the gallery. */
  function marker(kind, x, y, radius, attributes = {}) {
    const points = (OUTLINES[kind] ?? OUTLINES.o)(radius);
    const shape = points.map(([a, b]) => `${(x + a).toFixed(2)},${(y + b).toFixed(2)}`).join(" ");
    return make("polygon", { points: shape, ...attributes });
  }

  /** Keep the page from moving under a finger that holds something; touch-action is not heeded inside SVG. */
  function holdPage(element, holds) {
    element.addEventListener("touchstart", (event) => { if (holds()) event.preventDefault(); }, { passive: false });
  }

  const widths = new WeakMap();

  /** Remember how wide containers are, before anything is drawn: asked later the page is laid out anew. */
  function measure(containers) {
    for (const container of containers) widths.set(container, container.clientWidth);
  }

  /** Say whether a container is no longer as wide as was remembered. */
  function resized(container) {
    return widths.get(container) !== container.clientWidth;
  }

  function widthOf(container) {
    if (!widths.get(container)) widths.set(container, container.clientWidth); // it was hidden
    return Math.max(240, widths.get(container));
  }

  /** Return how wide the widest of some words is, drawn in a container with these attributes. */
  function widest(container, words, attributes) {
    const probe = make("svg", { width: 0, height: 0, "aria-hidden": "true" }, ...words.map((each) => text(0, 0, each, attributes)));
    container.append(probe);
    const found = Math.max(...[...probe.children].map((child) => child.getComputedTextLength()));
    probe.remove();
    return Math.ceil(found);
  }

  /** Replace what a container holds by a picture as wide as it is, whatever that is. */
  function picture(container, height, label, draw) {
    const width = widthOf(container);
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
    svg.append(...draw(width, height));
    container.replaceChildren(svg);
    return svg;
  }

  explorer.svg = { holdPage, levels, line, make, marker, measure, path, picture, rect, resized, scale, text, ticks, titled, widest, widthOf };
})();
