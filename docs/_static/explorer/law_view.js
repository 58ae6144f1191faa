// The law of the selected draft over the target, token by token: what both share is accepted.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { levels, line, make, picture, rect, scale, text, ticks, titled } = explorer.svg;
  const { dom, words } = explorer;
  const HEIGHT = 270;
  const BASE = HEIGHT - 24;
  const LEFT = 40;

  function column(results, token, x, wide, y) {
    const selected = results.selection.tokens[token].selected;
    const target = results.target[token];
    const both = Math.min(selected, target);
    const says = `token ${token}: selected ${words.percent(selected)}, wanted ${words.percent(target)}, accepted ${words.percent(both)}`;
    return titled(make("g", { "data-token": token, "data-value": selected },
      rect(x, y(selected), wide, BASE - y(selected), { class: "ot-selected-over" }),
      rect(x, y(both), wide, BASE - y(both), { class: "ot-fill-selected" }),
      rect(x - 2, y(target), wide + 4, BASE - y(target), { class: "ot-target-frame" }),
      text(x + wide / 2, BASE + 17, String(token), { class: "ot-token", "text-anchor": "middle" })), says);
  }

  function drawn(results, width) {
    const n = results.draft.length;
    const most = Math.max(...results.selection.tokens.map((token) => token.selected), ...results.target);
    const y = scale(0, most * 1.05, BASE, 8);
    const group = (width - LEFT) / n;
    const wide = Math.min(44, group * 0.6);
    return [
      ...levels(ticks(0, most * 1.05, 4), y, LEFT, width),
      ...results.draft.map((_, i) => column(results, i, LEFT + group * (i + 0.5) - wide / 2, wide, y)),
      line(LEFT, BASE, width, BASE, { class: "ot-axis" }),
    ];
  }

  function tokens(results) {
    const rows = results.selection.tokens.map((token, i) => [String(i),
      ...["draft", "target", "selected", "accepted"].map((key) => words.number(token[key], 6))]);
    return dom.table("Tokens", ["token", "draft p", "target q", "selected b", "accepted min(b, q)"], rows);
  }

  /** Draw the bars of few tokens; many are not drawn one by one. */
  function show(results) {
    const few = results.draft.length <= explorer.state.MOST_TOKENS;
    dom.part("law").hidden = !few;
    if (!few) return;
    const label = "The law of the selected draft over the target, token by token; the table below has the numbers";
    picture(dom.part("law-chart"), HEIGHT, label, (width) => drawn(results, width));
    dom.unfold("law-table", () => tokens(results));
  }

  explorer.lawView = { show };
})();
