"use strict";
// A view with its controls: orbit, scrub, look through cameras; the goal lights up as it is reached. Each view has one element of the page.
const etudeViewer = (() => {
  const { SATISFIED, element, told, goalItem, light, lookAround } = etudeLooking;

  async function mount(root, library, view) {
    const canvas = element("canvas", { tabindex: 0, "aria-label": `${view.episode} in three dimensions: drag to look around, space to play` });
    const scene = await sceneOf(canvas, library, view);
    const last = view.moments - 1, nodes = view.goal.length;
    const flagsAt = (k, t) => scene.moments.flags[k * view.moments + t], progressAt = (k, t) => scene.moments.progress[k * view.moments + t] / 255;
    let time = 0, playing = false, marks = { contacts: false, forces: false }, insets = false;
    let requested = 0, before = 0, closed = false;

    // ------------------------------------------------------------------------------------------ the page

    const button = (text, pressed, action) => {
      const made = element("button", { type: "button", text, ...(pressed === undefined ? {} : { "aria-pressed": pressed }) });
      made.addEventListener("click", () => { action(made); refresh(); });
      return made;
    };
    const toggle = (text, action) => button(text, "false", (made) => {
      const on = made.getAttribute("aria-pressed") === "false";
      made.setAttribute("aria-pressed", on);
      action(on);
    });
    const range = element("input", { type: "range", min: 0, max: last, step: "any", value: 0, "aria-label": "Time" });
    const clock = element("output");
    const play = button("Play", undefined, () => { if (time >= last) time = 0; playing = !playing; });
    const speed = element("select", { "aria-label": "Speed" }, ...["0.25", "0.5", "1", "2", "4"].map((s) => element("option", { value: s, text: `${s}×`, ...(s === "1" ? { selected: "" } : {}) })));
    const viewpoints = [button("Free", "true", () => around.look(-1)), ...view.cameras.map((camera, k) => button(camera.name, "false", () => around.look(k)))];
    const ticks = element("div", { class: "ticks", "aria-hidden": "true" });
    const items = view.goal.map((node, k) => {
      const reached = Array.from({ length: view.moments }, (_, t) => t).find((t) => flagsAt(k, t) & SATISFIED);
      if (reached > 0) ticks.append(element("i", { style: `left: ${(100 * reached) / last}%`, title: node.words }));
      const item = goalItem(node);
      if (reached !== undefined) {
        const jump = element("button", { type: "button", class: "when", text: `${(reached * view.period).toFixed(1)} s`, title: "go to the moment at which it was reached" });
        jump.addEventListener("click", () => seek(reached));
        item.append(jump);
      }
      return item;
    });
    const doing = element("dl", { class: "doing" }), touching = element("ul", { class: "touching" });
    const names = element("div", { class: "names" });
    const stage = element("div", { class: "stage" }, canvas, names);
    const outcome = element("p", { class: `outcome ${view.outcome}`, text: [view.policy, view.outcome].filter(Boolean).join(": ") });
    root.replaceChildren(
      stage,
      element("div", { class: "time" }, play, element("div", { class: "scrub" }, ticks, range), clock, speed),
      element("div", { class: "viewpoints", role: "group", "aria-label": "Look from" }, ...viewpoints,
        toggle("What cameras see", (on) => { insets = on; }), toggle("Contacts", (on) => { marks.contacts = on; }), toggle("Forces", (on) => { marks.forces = on; })),
      element("aside", {}, element("p", { class: "name", text: view.episode }), outcome, told(view), doing, element("ol", { class: "goal" }, ...items), touching),
    );
    root.classList.add("mounted");
    range.addEventListener("input", () => { playing = false; seek(Number(range.value)); });

    // ------------------------------------------------------------------------------------------ looking around

    const around = lookAround(canvas, scene, view, {
      now: () => time,
      changed: refresh,
      looked: (k) => viewpoints.forEach((one, i) => one.setAttribute("aria-pressed", String(i === k + 1))),
    });
    canvas.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1 };
      if (event.key === " ") play.click();
      else if (steps[event.key]) { playing = false; seek(Math.round(time) + steps[event.key]); }
      else if (event.key === "+" || event.key === "-") around.zoom(event.key === "+" ? 0.9 : 1.1);
      else return;
      event.preventDefault();
      refresh();
    });

    // ------------------------------------------------------------------------------------------ time

    function seek(moment) {
      time = Math.min(last, Math.max(0, moment));
      refresh();
    }

    function refresh() {
      if (!requested && !closed) requested = requestAnimationFrame(tick);
    }

    function tick(now) {
      requested = 0;
      if (playing) {
        const passed = before ? now - before : 0;
        time = Math.min(last, time + ((passed / 1000) * Number(speed.value)) / view.period);
        if (passed) around.adapt(passed);
        if (time >= last) playing = false;
      }
      before = playing ? now : 0;
      show();
      if (playing) refresh();
    }

    function show() {
      around.draw(marks, insets ? view.cameras : [], names);
      tell(Math.min(last, Math.round(time)));
    }

    function tell(moment) {
      range.value = time;
      play.textContent = playing ? "Pause" : "Play";
      clock.value = `${(time * view.period).toFixed(1)} s · step ${scene.moments.steps[moment]}`;
      items.forEach((item, k) => light(item, flagsAt(k, moment), progressAt(k, moment)));
      const [, subtask, step] = view.words.reduce((found, one) => (one[0] <= moment ? one : found), [0, "", ""]);
      doing.replaceChildren(...[["Sub-task", subtask], ["Step", step]].filter(([, words]) => words).flatMap(([title, words]) => [element("dt", { text: title }), element("dd", { text: words })]));
      const listed = marks.contacts || marks.forces ? scene.moments.touches(moment) : [];
      touching.replaceChildren(...listed.map(({ pair, force }) => element("li", { text: `${pair.join(" – ")}: ${Math.hypot(...force).toFixed(1)} N` })));
    }

    new ResizeObserver(refresh).observe(canvas);
    around.look(-1);
    show();
    const close = () => {
      closed = true;
      cancelAnimationFrame(requested);
      scene.gl.getExtension("WEBGL_lose_context")?.loseContext();
      root.replaceChildren();
      root.classList.remove("mounted");
    };
    return { canvas, gl: scene.gl, seek, show, look: around.look, orbit: around.orbit, close, play: () => play.click(), state: () => ({ time, playing, last, ...around.state() }) };
  }

  // ---------------------------------------------------------------------------------------------- of a page

  // One view is alive at a time: browsers allow few of them.
  function start() {
    const library = JSON.parse(document.getElementById("views").textContent), state = { viewer: null, root: null, still: null };
    function close() {
      if (!state.viewer) return;
      state.viewer.close();
      state.root.replaceChildren(...state.still);
      state.viewer = null;
    }
    async function open(root) {
      close();
      Object.assign(state, { root, still: [...root.childNodes] });
      try {
        state.viewer = await mount(root, library, library.views[Number(root.dataset.view)]);
        if (!root.classList.contains("alone")) {
          const leave = element("button", { type: "button", class: "close", text: "Close" });
          leave.addEventListener("click", close);
          root.append(leave);
        }
      } catch (error) {
        root.replaceChildren(...state.still, element("p", { class: "bad", text: `The view cannot be shown: ${error.message}.` }));
      }
      return state.viewer;
    }
    for (const root of document.querySelectorAll(".view")) root.querySelector("button")?.addEventListener("click", () => open(root));
    document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !state.root?.classList.contains("alone")) close(); });
    const chosen = document.getElementById("view-choice");
    if (chosen) {
      const root = document.querySelector(".view");
      const change = () => { root.dataset.view = chosen.value; return open(root); };
      chosen.addEventListener("change", change);
      state.opened = change();
    }
    return state;
  }

  return document.getElementById("views") ? start() : null;
})();
