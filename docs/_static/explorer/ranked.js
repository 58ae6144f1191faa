// A long draft and target as ranked bars: the heaviest tokens, and all others together.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { rect, text, scale, line, picture, titled, make, widest } = explorer.svg;
  const SHOWN = 15;
  const ROW = 26;
  const SPACE = 8; // between a bar and its words

  function summed(masses, tokens) {
    return tokens.reduce((sum, token) => sum + masses[token], 0);
  }

  /** Return the rows: the heaviest tokens by the larger of their masses, and the rest as one. */
  function rows(results) {
    const { draft, target } = results;
    const cut = new Set(results.cut);
    const weight = (token) => Math.max(draft[token], target[token]);
    const order = draft.map((_mass, token) => token).sort((i, j) => weight(j) - weight(i) || i - j);
    const found = order.slice(0, SHOWN).map((token) => ({
      name: `token ${token}${cut.has(token) ? " · A" : ""}`,
      draft: draft[token],
      target: target[token],
      inside: cut.has(token),
    }));
    const rest = order.slice(SHOWN);
    if (rest.length) {
      found.push({
        name: `${rest.length.toLocaleString("en")} others`,
        draft: summed(draft, rest),
        target: summed(target, rest),
        inside: false,
      });
    }
    return found;
  }

  function numbers(row) {
    return `${explorer.words.number(row.draft, 3)} | ${explorer.words.number(row.target, 3)}`;
  }

  function pair(row, i, x, width) {
    const left = x(0);
    const top = i * ROW + 4;
    const bars = ["draft", "target"].map((side, j) => titled(
      rect(left, top + 10 * j, x(row[side]) - left, 9, { class: `ot-fill-${side}` }),
      `${row.name}, ${side}: ${explorer.words.percent(row[side], 3)}`,
    ));
    const band = row.inside ? rect(0, top - 3, width, ROW - 1, { class: "ot-in-cut", rx: 4 }) : null;
    const name = text(left - SPACE, top + 14, row.name, { class: "ot-token", "text-anchor": "end" });
    const value = text(x(Math.max(row.draft, row.target)) + SPACE, top + 14, numbers(row), { class: "ot-tick" });
    return make("g", {}, ...(band ? [band] : []), ...bars, name, value);
  }

  /** Draw the ranked bars. */
  function draw(container, results) {
    const found = rows(results);
    const most = Math.max(...found.flatMap((row) => [row.draft, row.target]));
    const label = "The heaviest tokens of draft and target, and all others together";
    const left = widest(container, found.map((row) => row.name), { class: "ot-token" }) + 2 * SPACE;
    const right = widest(container, found.map(numbers), { class: "ot-tick" }) + 2 * SPACE;
    picture(container, found.length * ROW + 8, label, (width, height) => {
      const x = scale(0, most || 1, left, width - right);
      return [line(left, 0, left, height, { class: "ot-axis" }), ...found.map((row, i) => pair(row, i, x, width))];
    });
  }

  explorer.ranked = { draw, rows };
})();
