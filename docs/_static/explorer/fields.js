// The two fields in which draft and target are pasted, and what is said about them.
"use strict";

(function () {
  const explorer = (globalThis.otspec ??= {}).explorer ??= {};
  const { button, part } = explorer.dom;
  const SIDES = ["draft", "target"];
  const OFFERS = {
    normalize: { words: "Scale it to sum 1", repair: (text) => explorer.pair.normalized(text) },
    softmax: { words: "These are logits: take the softmax", repair: (text) => explorer.pair.softmax(text) },
  };

  /** Make the fields; `change` is called with texts of masses that are fine. */
  function fields(change) {
    const inputs = Object.fromEntries(SIDES.map((side) => [side, part(`${side}-text`)]));

    let known = {}; // the masses that the fields were made from, or that were read from them

    function repair(offer, side) {
      inputs[side].value = OFFERS[offer].repair(inputs[side].value);
      inputs[side].focus();
      read();
    }

    /** Mark all that is of the numbers before: the bars, the results, the code. */
    function stale(is) {
      part("explorer").classList.toggle("ot-stale", is);
      part("stale").hidden = !is;
    }

    function complain({ side, words, offer }) {
      const note = part("problem");
      note.replaceChildren(words);
      if (offer) note.append(" ", button(OFFERS[offer].words, () => repair(offer, side)));
      note.hidden = false;
      for (const name of SIDES) inputs[name].setAttribute("aria-invalid", String(side === null || side === name));
      stale(true);
    }

    function fine() {
      part("problem").hidden = true;
      part("problem").replaceChildren();
      for (const name of SIDES) inputs[name].removeAttribute("aria-invalid");
      stale(false);
    }

    function read() {
      const found = explorer.pair.read(inputs.draft.value, inputs.target.value);
      if (found.problem) return complain(found.problem);
      fine();
      known = found;
      return change(found);
    }

    for (const side of SIDES) {
      inputs[side].addEventListener("input", read);
      // What is pasted shall replace what is there; a press would take the selection back.
      let entered = false;
      inputs[side].addEventListener("focus", () => { inputs[side].select(); entered = true; });
      inputs[side].addEventListener("click", () => { if (entered) inputs[side].select(); entered = false; });
    }

    /** Show the masses of a state; a field in which one types stays as it is, unless others were chosen. */
    function update(state) {
      const typing = SIDES.some((side) => inputs[side] === document.activeElement);
      if (typing && SIDES.every((side) => state[side] === known[side])) return;
      known = state;
      for (const side of SIDES) inputs[side].value = state[side].join(", ");
      fine();
    }

    return { update };
  }

  explorer.fields = { fields };
})();
