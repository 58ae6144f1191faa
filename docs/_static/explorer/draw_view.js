// One draw of pooled selection, step by step, and shared noise beside it.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { arithmetic } = globalThis.otspec;
  const { line, make, picture, rect, scale, text, titled } = explorer.svg;
  const { dom, words } = explorer;
  const HEIGHT = 176;
  const SIDE = 14;
  const ROW = { first: 26, above: 84, top: 108, base: 138 };
  const RADIUS = 11;
  const NAMED = 15; // pixels that a token's number takes
  const STEPS = 5;

  let uniforms = null;
  let step = 1;
  let shown = null;

  /** Draw uniform numbers for up to 16 drafts and tokens. */
  function drawn() {
    const some = () => Array.from({ length: explorer.state.MOST_DRAFTS }, Math.random);
    const [w, member, keep, correction] = some();
    return { drafts: some(), noise: some(), w, member, keep, correction };
  }

  /** Return where each token lies over the draft mass: its pool, and in it its part. */
  function placesOf(found) {
    const places = new Map();
    found.pools.forEach((pool, j) => {
      let from = found.knots[j].mass;
      for (const token of pool.tokens) {
        const to = from + found.tokens[token].draft;
        places.set(token, { pool: j, from, to });
        from = to;
      }
    });
    return places;
  }

  function strip(found, draw, places, x) {
    const knots = found.knots.map((knot) => x(knot.mass));
    const grouped = step >= 3;
    const groupOf = (j) => draw.groups.findIndex((group) => group.from <= j && j < group.to);
    const pools = found.pools.map((_, j) => rect(knots[j], ROW.top, knots[j + 1] - knots[j], ROW.base - ROW.top,
      { class: grouped ? `ot-group-${groupOf(j) % 2} ot-pool` : "ot-pool" }));
    const names = [...places].filter(([, { from, to }]) => x(to) - x(from) >= NAMED).map(([token, { from, to }]) =>
      text(x((from + to) / 2), (ROW.top + ROW.base) / 2 + 4, String(token), { class: "ot-token", "text-anchor": "middle" }));
    return [...pools, ...names];
  }

  function barriers(draw, found, x) {
    if (step < 3) return [];
    const inner = draw.groups.slice(1).map((group) => x(found.knots[group.from].mass));
    const names = draw.groups.map((group, i) => {
      const [left, right] = [x(found.knots[group.from].mass), x(found.knots[group.to].mass)];
      return text((left + right) / 2, ROW.base + 18, `group ${i + 1}`, { class: "ot-tick", "text-anchor": "middle" });
    }).filter((_, i) => x(found.knots[draw.groups[i].to].mass) - x(found.knots[draw.groups[i].from].mass) > 50);
    return [...inner.map((at) => line(at, ROW.top - 8, at, ROW.base + 8, { class: "ot-barrier" })), ...names];
  }

  function taken(draw, found, x) {
    if (step < 4) return [];
    const group = draw.groups[draw.taken];
    const [left, right] = [x(found.knots[group.from].mass), x(found.knots[group.to].mass)];
    return [rect(left, ROW.top, right - left, ROW.base - ROW.top, { class: "ot-taken" })];
  }

  /** Return the drafts as numbered balls: in a row, then above their tokens, those of a token stacked. */
  function balls(draw, places, x, width) {
    const stacked = new Map();
    return draw.drafts.map((token, i) => {
      const { from, to } = places.get(token);
      const height = stacked.get(token) ?? 0;
      stacked.set(token, height + 1);
      const falls = step >= 2;
      const across = falls ? x((from + to) / 2) : x(0) + ((i + 0.5) / draw.drafts.length) * (width - 2 * SIDE);
      const down = falls ? ROW.above - height * 5 : ROW.first;
      const chosen = step >= 4 && i === draw.selected;
      const state = !chosen ? "" : step < STEPS ? "ot-chosen" : draw.kept ? "ot-chosen" : "ot-replaced";
      return titled(make("g", { "data-draft": i, "data-token": token },
        make("circle", { cx: across, cy: down, r: RADIUS, class: `ot-ball ${state}` }),
        text(across, down + 4, String(token), { class: "ot-tick", "text-anchor": "middle" })),
      `draft ${i + 1}: token ${token}`);
    });
  }

  function sentences(draw, places, law) {
    const { drafts, groups, candidates, selected, chance, kept, output } = draw;
    const pools = [...new Set(drafts.map((token) => places.get(token).pool + 1))].sort((a, b) => a - b);
    const token = drafts[selected];
    const many = candidates.length;
    return [
      `${words.count(drafts.length, "draft")}: ${drafts.map((each) => `token ${each}`).join(", ")}.`,
      `They fall into ${pools.length > 1 ? "pools" : "pool"} ${pools.join(", ")}. Pools are ordered by target/draft.`,
      `The uniform number is w = ${words.number(uniforms.w)}. Knots that live longer are barriers: ${words.count(groups.length, "group")}.`,
      `Group ${draw.taken + 1} is the highest that holds a draft. ${many > 1 ? `${explorer.selectionView.choice(law, many)} is selected` : "Its only draft is selected"}: token ${token}.`,
      kept ? `Token ${token} is kept: it is kept with probability ${words.number(chance)}.`
        : `Token ${token} is replaced: it is kept with probability ${words.number(chance)} only. The residual distribution gives token ${output}.`,
    ];
  }

  function showPooled(results) {
    const found = results.selection;
    const draw = arithmetic.pooledDraw(found, { ...uniforms, drafts: uniforms.drafts.slice(0, results.k) });
    const places = placesOf(found);
    const said = sentences(draw, places, results.law).slice(0, step);
    picture(dom.part("draw-chart"), HEIGHT, `One draw of pooled selection, step ${step} of ${STEPS}: ${said.at(-1)}`, (width) => {
      const x = scale(0, 1, SIDE, width - SIDE);
      return [...strip(found, draw, places, x), ...barriers(draw, found, x), ...taken(draw, found, x), ...balls(draw, places, x, width)];
    });
    dom.part("draw-steps").replaceChildren(...said.map((each) => dom.make("li", {}, each)));
    dom.part("draw-next").disabled = step >= STEPS;
  }

  function showNoise(results) {
    const { draft, target, k } = results;
    const race = arithmetic.sharedDraw(draft, target, k, uniforms.noise.slice(0, draft.length));
    const time = (value) => (value === Infinity ? "never" : words.number(value, 3));
    const rows = draft.map((_, i) => {
      const place = race.drafts.indexOf(i);
      return [String(i), time(race.noise[i]), time(race.ofDraft[i]), time(race.ofTarget[i]),
        [place >= 0 ? `draft ${place + 1}` : "", i === race.output ? "output" : ""].filter(Boolean).join(", ")];
    });
    dom.part("draw-noise").replaceChildren(dom.table("Arrivals: noise over probability", ["token", "noise", "draft", "target", ""], rows));
    dom.part("draw-noise-words").textContent = `The target arrives first at token ${race.output}, which is ${
      race.kept ? "a draft: it is accepted." : "no draft: all drafts are rejected."} The drafts do not change the output.`;
  }

  /** Show the draw that is there with these numbers; of many tokens there is none. */
  function show(results) {
    const few = results.draft.length <= explorer.state.MOST_TOKENS;
    dom.part("draw").hidden = !few;
    if (!few) return;
    shown = results;
    uniforms ??= drawn();
    showPooled(results);
    showNoise(results);
  }

  /** Begin a draw, with numbers that are given or random ones. */
  function begin(given = drawn()) {
    [uniforms, step] = [given, 1];
    show(shown);
  }

  function next() {
    step = Math.min(STEPS, step + 1);
    show(shown);
  }

  dom.part("draw-next").addEventListener("click", next);
  dom.part("draw-anew").addEventListener("click", () => begin());
  explorer.drawView = { begin, next, show };
})();
