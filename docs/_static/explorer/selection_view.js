// Pooled selection: the law of the selected draft between its bounds, and the barriers.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { levels, line, make, marker, path, picture, rect, scale, text, titled } = explorer.svg;
  const { dom, words } = explorer;
  const HEIGHT = 500;
  const LEFT = 40;
  const RIGHT = 12;
  const LAW = { top: 12, base: 268 };
  const LIVES = { top: 322, base: 460 };
  const MARKED = 60; // knots that have markers
  const MOST_STEMS = 1000; // that are drawn even where they hide each other
  const ROWS = 40; // of the table
  const HIGHEST = 1.04; // of the lifted curve that is drawn

  const CURVES = [
    { key: "target", class: "ot-line-target", marker: "^", name: "Q, target mass below" },
    { key: "inside", class: "ot-line-draft", marker: "s", name: "G, chance that all drafts are below" },
    { key: "selected", class: "ot-line-selected", marker: "o", name: "B, chance that the selected draft is" },
  ];

  function curve(kind, data, x, y) {
    const points = data.knots.map((knot) => [x(knot.mass), y(knot[kind.key])]);
    const marks = points.length > MARKED ? [] : points.map(([a, b], j) => titled(
      marker(kind.marker, a, b, 4, { class: `${kind.class} ot-mark` }),
      `knot ${j} at u = ${words.number(data.knots[j].mass)}: ${kind.name}: ${words.number(data.knots[j][kind.key])}`));
    return [path(points, { class: kind.class }), ...marks];
  }

  /** G between the knots is a power of u for independent drafts, and not known here for others. */
  function smoothBound(results, x, y) {
    if (results.law !== "iid") return [];
    const steps = Array.from({ length: 101 }, (_, i) => i / 100);
    return [path(steps.map((u) => [x(u), y(u ** results.k)]), { class: "ot-line-draft ot-thin" })];
  }

  function lifted(data, x, y) {
    if (data.rejected <= 0) return [];
    const points = data.knots.filter((knot) => knot.lifted <= HIGHEST).map((knot) => [x(knot.mass), y(knot.lifted)]);
    return [titled(path(points, { class: "ot-line-lifted" }), "the target's curve, lifted until it is nowhere below G")];
  }

  function lawPanel(results, data, width) {
    const x = scale(0, 1, LEFT, width - RIGHT);
    const y = scale(0, 1, LAW.base, LAW.top);
    const s = x(data.knots[data.cut].mass);
    return [
      ...levels([0, 0.25, 0.5, 0.75, 1], y, LEFT, width - RIGHT),
      line(s, LAW.top, s, LAW.base, { class: "ot-cut-line" }),
      text(s + (s > width / 2 ? -5 : 5), LAW.base - 6, "cut", { class: "ot-tick", "text-anchor": s > width / 2 ? "end" : "start" }),
      ...lifted(data, x, y),
      ...smoothBound(results, x, y),
      ...CURVES.flatMap((kind) => curve(kind, data, x, y)),
    ];
  }

  function barriers(data, uniform) {
    return data.knots.map((_, j) => j).filter((j) => data.knots[j].lifetime > uniform);
  }

  function group(start, end, i, data, x) {
    const [left, right] = [x(data.knots[start].mass), x(data.knots[end].mass)];
    const words_ = `group ${i + 1}: pools ${start + 1} to ${end} compete as one at this w`;
    const parts = [rect(left, LIVES.top, right - left, LIVES.base - LIVES.top, { class: `ot-group-${i % 2}` })];
    if (right - left > 16) {
      parts.push(text((left + right) / 2, LIVES.top - 6, String(i + 1), { class: "ot-tick", "text-anchor": "middle" }));
    }
    return titled(make("g", {}, ...parts), words_);
  }

  function stem(j, data, uniform, x, y) {
    const { mass, lifetime: life } = data.knots[j];
    const u = x(mass);
    const forEver = life === Infinity;
    const end = y(forEver ? 1 : life);
    const alive = life > uniform;
    const kind = `ot-stem ${alive ? "ot-alive" : "ot-dead"}`;
    const says = forEver ? "always a barrier" : `a barrier while w is below ${words.number(life)}`;
    const shape = marker(forEver ? "^" : alive ? "o" : "D", u, end, 4, { class: kind });
    const data_ = { "data-knot": j, "data-mass": mass, "data-lifetime": life };
    return titled(make("g", data_, line(u, LIVES.base, u, end, { class: kind }), shape),
      `knot ${j} at u = ${words.number(mass)}: ${says}`);
  }

  /** Return the knots that get a stem: of very many the longest in each pixel. */
  function stems(data, x) {
    const all = data.knots.map((_, j) => j).filter((j) => data.knots[j].lifetime > 0 || data.knots.length <= MARKED);
    if (all.length <= MOST_STEMS) return all;
    const longest = new Map();
    for (const j of all) {
      const pixel = Math.round(x(data.knots[j].mass));
      const other = longest.get(pixel);
      if (other === undefined || data.knots[j].lifetime > data.knots[other].lifetime) longest.set(pixel, j);
    }
    return [...longest.values()];
  }

  function livesPanel(data, uniform, width) {
    const x = scale(0, 1, LEFT, width - RIGHT);
    const y = scale(0, 1, LIVES.base, LIVES.top);
    const alive = barriers(data, uniform);
    const groups = alive.slice(1).map((end, i) => [alive[i], end, i]);
    const wide = groups.length <= MOST_STEMS ? groups : groups.filter(([start, end]) => x(data.knots[end].mass) - x(data.knots[start].mass) > 0.5);
    const middle = { "text-anchor": "middle" };
    return [
      ...wide.map(([start, end, i]) => group(start, end, i, data, x)),
      ...levels([0, 0.5, 1], y, LEFT, width - RIGHT),
      ...stems(data, x).map((j) => stem(j, data, uniform, x, y)),
      line(LEFT, y(uniform), width - RIGHT, y(uniform), { class: "ot-uniform" }),
      text(0, LIVES.top - 22, "Lifetimes of knots, and groups at w", { class: "ot-panel-name" }),
      ...[0, 0.25, 0.5, 0.75, 1].map((u) => text(x(u), LIVES.base + 16, String(u), { class: "ot-tick", ...middle })),
      text((LEFT + width) / 2, HEIGHT - 4, "draft mass below, u", { class: "ot-axis-name", ...middle }),
    ];
  }

  /** Say which draft of a group is selected (Pooled, prop. 4; Beyond, prop. 3). */
  function choice(law, many) {
    if (law === "iid") return `One of its${many ? ` ${many}` : ""} drafts, uniformly at random,`;
    return "One of its drafts, the first or one in proportion to the draft distribution,";
  }

  function knotTable(data) {
    const all = data.knots.map((_, j) => j);
    const shown = all.length <= ROWS ? all : all.filter((j) => data.knots[j].lifetime > 0).slice(0, ROWS);
    const rest = all.length - shown.length;
    const caption = rest ? `Knots (${words.count(rest, "other")} left out)` : "Knots";
    const life = (value) => (value === Infinity ? "∞" : words.number(value, 6));
    const rows = shown.map((j) => [String(j),
      ...["mass", "target", "inside", "selected"].map((key) => words.number(data.knots[j][key], 6)),
      life(data.knots[j].lifetime)]);
    return dom.table(caption, ["knot", "u", "Q", "G", "B", "lifetime"], rows);
  }

  function legend() {
    return CURVES.map((kind) => {
      const svg = make("svg", { width: 26, height: 14, viewBox: "0 0 26 14", "aria-hidden": "true" });
      svg.append(line(1, 7, 25, 7, { class: kind.class }), marker(kind.marker, 13, 7, 4, { class: `${kind.class} ot-mark` }));
      return dom.make("li", {}, svg, kind.name);
    });
  }

  /** Draw the law and its barriers, or say why there are none. */
  function show(results) {
    const data = results.selection;
    dom.part("selection").hidden = !data;
    dom.part("selection-none").hidden = Boolean(data);
    if (!data) return;
    const { uniform } = results;
    const label = "The law of the selected draft between its bounds, and the lifetimes of the knots; the table below has the numbers";
    picture(dom.part("selection-chart"), HEIGHT, label, (width) =>
      [...lawPanel(results, data, width), ...livesPanel(data, uniform, width)]);
    dom.part("selection-legend").replaceChildren(...legend());
    dom.unfold("selection-table", () => knotTable(data));
    const groups = barriers(data, uniform).length - 1;
    dom.part("groups").textContent = `At w = ${uniform} there ${groups === 1 ? "is 1 group" : `are ${groups} groups`}. ` +
`The highest group that holds a draft is taken. ${choice(results.law)} is selected.`;
    explorer.lawView.show(results);
    explorer.drawView.show(results);
  }

  explorer.selectionView = { barriers, choice, show };
})();
