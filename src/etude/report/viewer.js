"use strict";
// A view with its controls: orbit, scrub, look through cameras; the goal lights up as it is reached. Each view has one element of the page.
const etudeViewer = (() => {
  const SATISFIED = 1, VIOLATED = 2, NEXT = 4;       // as in evaluation/view.py
  const SLOW = 30, QUICK = 15;                       // ms for a frame while it plays: above, fewer pixels are drawn; below, more
  const COARSEST = 0.4, WINDOW = 10;                 // of the pixels along a side; frames between two looks at the clock
  const INSET = 0.2;                                 // of the width: what one of the scene's cameras sees
  const STEEPEST = 1.55;                             // rad: nobody looks straight down, where left and right are lost

  function element(kind, { text, ...attributes } = {}, ...children) {
    const made = document.createElement(kind);
    for (const [name, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    made.append(...children);
    return made;
  }

  function told(view) {
    const line = element("p", { class: "told" });
    for (const part of view.told) line.append(part.picture ? element("img", { src: part.picture, alt: part.words, title: part.words }) : part.words);
    return line;
  }

  async function mount(root, library, view) {
    const canvas = element("canvas", { tabindex: 0, "aria-label": `${view.episode} in three dimensions: drag to look around, space to play` });
    const scene = await sceneOf(canvas, library, view);
    const last = view.moments - 1, nodes = view.goal.length;
    const flagsAt = (k, t) => scene.moments.flags[k * view.moments + t], progressAt = (k, t) => scene.moments.progress[k * view.moments + t] / 255;
    let time = 0, playing = false, looking = -1, marks = { contacts: false, forces: false }, insets = false;
    let pixels = 1, requested = 0, before = 0, drawn = [], hurried = false, closed = false;

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
    const eyes = [button("Free", "true", () => look(-1)), ...view.cameras.map((camera, k) => button(camera.name, "false", () => look(k)))];
    const ticks = element("div", { class: "ticks", "aria-hidden": "true" });
    const items = view.goal.map((node, k) => {
      const depth = node.path.split(".").length - 1;
      const reached = Array.from({ length: view.moments }, (_, t) => t).find((t) => flagsAt(k, t) & SATISFIED);
      if (reached > 0) ticks.append(element("i", { style: `left: ${(100 * reached) / last}%`, title: node.words }));
      const item = element("li", { style: `--depth: ${depth}` }, element("span", { text: node.words }));
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
      element("div", { class: "eyes", role: "group", "aria-label": "Look from" }, ...eyes,
        toggle("What cameras see", (on) => { insets = on; }), toggle("Contacts", (on) => { marks.contacts = on; }), toggle("Forces", (on) => { marks.forces = on; })),
      element("aside", {}, element("p", { class: "name", text: view.episode }), outcome, told(view), doing, element("ol", { class: "goal" }, ...items), touching),
    );
    root.classList.add("mounted");
    range.addEventListener("input", () => { playing = false; seek(Number(range.value)); });

    // ------------------------------------------------------------------------------------------ looking around

    const orbit = { target: scene.middle(), distance: 1.4, yaw: -0.9, pitch: 0.6, fov: 40 };

    function look(k) {
      looking = k;
      eyes.forEach((one, i) => one.setAttribute("aria-pressed", String(i === k + 1)));
    }

    // Stand where a camera stands, as far as a head that is held upright can.
    function leave(camera) {
      const { from, straight } = scene.throughCamera(camera, time, canvas.width, canvas.height);
      orbit.distance = Math.max(0.3, Math.hypot(...orbit.target.map((v, c) => v - from[c])));
      orbit.target = from.map((v, c) => v + straight[c] * orbit.distance);
      orbit.yaw = Math.atan2(-straight[1], -straight[0]);
      orbit.pitch = Math.min(STEEPEST, Math.max(-STEEPEST, Math.asin(-straight[2])));
      if (camera.fov !== undefined) orbit.fov = camera.fov;
    }
    const first = view.cameras.find((c) => c.name === "render" && c.fov) ?? view.cameras.find((c) => c.fov && c.track === null);
    if (first) leave(first);

    function freeEye(width, height) {
      const { yaw, pitch, distance, target } = orbit;
      const back = [Math.cos(yaw) * Math.cos(pitch), Math.sin(yaw) * Math.cos(pitch), Math.sin(pitch)];
      const right = [-Math.sin(yaw), Math.cos(yaw), 0], up = [-Math.cos(yaw) * Math.sin(pitch), -Math.sin(yaw) * Math.sin(pitch), Math.cos(pitch)];
      const from = target.map((v, c) => v + back[c] * distance), down = up.map((v) => -v), forward = back.map((v) => -v);
      return scene.eyeOf({ from, right, down, forward, fov: orbit.fov, aspect: width / height, near: Math.min(0.05, distance / 10), far: 40 }, width, height);
    }

    const pointers = new Map();
    const spread = () => { const [a, b] = [...pointers.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (event) => pointers.delete(event.pointerId));
    canvas.addEventListener("pointermove", (event) => {
      const old = pointers.get(event.pointerId);
      if (!old) return;
      if (looking >= 0) { leave(view.cameras[looking]); look(-1); }
      const dx = event.clientX - old.x, dy = event.clientY - old.y, two = pointers.size > 1, apart = two ? spread() : 0;
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (two) zoom(apart / spread());
      if (two || event.shiftKey || event.buttons & 2) pan(dx / pointers.size, dy / pointers.size);
      else {
        orbit.yaw -= dx * 0.008;
        orbit.pitch = Math.min(STEEPEST, Math.max(-STEEPEST, orbit.pitch + dy * 0.008));
      }
      refresh();
    });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (looking >= 0) { leave(view.cameras[looking]); look(-1); }
      zoom(Math.exp(event.deltaY * 0.001));
      refresh();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1 };
      if (event.key === " ") play.click();
      else if (steps[event.key]) { playing = false; seek(Math.round(time) + steps[event.key]); }
      else if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 0.9 : 1.1);
      else return;
      event.preventDefault();
      refresh();
    });

    function zoom(factor) { orbit.distance = Math.min(12, Math.max(0.08, orbit.distance * factor)); }

    function pan(dx, dy) {
      const scale = (2 * orbit.distance * Math.tan((orbit.fov * Math.PI) / 360)) / canvas.clientHeight, { yaw, pitch } = orbit;
      const right = [-Math.sin(yaw), Math.cos(yaw), 0], up = [-Math.cos(yaw) * Math.sin(pitch), -Math.sin(yaw) * Math.sin(pitch), Math.cos(pitch)];
      orbit.target = orbit.target.map((v, c) => v + scale * (up[c] * dy - right[c] * dx));
    }

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
        if (passed) adapt(passed);
        if (time >= last) playing = false;
      }
      before = playing ? now : 0;
      show();
      if (playing) refresh();
    }

    function adapt(passed) {
      drawn.push(passed);
      if (drawn.length < WINDOW) return;
      const mean = drawn.reduce((sum, v) => sum + v, 0) / drawn.length;
      drawn = [];
      if (mean > SLOW && !hurried) { hurried = true; scene.hurry(); }
      else if (mean > SLOW) pixels = Math.max(COARSEST, pixels * 0.8);
      else if (mean < QUICK && pixels < 1) pixels = Math.min(1, pixels * 1.1);
    }

    function show() {
      const ratio = Math.min(2, window.devicePixelRatio || 1) * pixels;
      const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
      if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
      const moment = Math.min(last, Math.round(time));
      const covered = view.covered.reduce((found, [from, cameras]) => (from <= moment ? cameras : found), []);
      const through = (camera, box) => {
        if (covered.includes(camera.name)) scene.blacken(box);
        else scene.draw(time, scene.throughCamera(camera, time, box[2], box[3]), box, new Set([...camera.hides, ...view.robot]), null);
      };
      if (looking >= 0) through(view.cameras[looking], [0, 0, width, height]);
      else scene.draw(time, freeEye(width, height), [0, 0, width, height], new Set(), marks);
      names.replaceChildren();
      if (insets) {
        let left = 0;
        for (const camera of view.cameras) {
          const w = Math.round(INSET * width), h = Math.round(w / camera.aspect);
          if (left + w > width) break;
          through(camera, [left, 0, w, h]);
          names.append(element("span", { text: camera.name, style: `left: ${(100 * left) / width}%; bottom: ${(100 * h) / height}%` }));
          left += w + Math.round(0.01 * width);
        }
      }
      tell(moment);
    }

    function tell(moment) {
      range.value = time;
      play.textContent = playing ? "Pause" : "Play";
      clock.value = `${(time * view.period).toFixed(1)} s · step ${scene.moments.steps[moment]}`;
      items.forEach((item, k) => {
        const flags = flagsAt(k, moment);
        item.className = flags & VIOLATED ? "violated" : flags & SATISFIED ? "satisfied" : flags & NEXT ? "next" : "";
        item.style.setProperty("--progress", progressAt(k, moment));
      });
      const [, subtask, step] = view.words.reduce((found, one) => (one[0] <= moment ? one : found), [0, "", ""]);
      doing.replaceChildren(...[["Sub-task", subtask], ["Step", step]].filter(([, words]) => words).flatMap(([title, words]) => [element("dt", { text: title }), element("dd", { text: words })]));
      const listed = marks.contacts || marks.forces ? scene.moments.touches(moment) : [];
      touching.replaceChildren(...listed.map(({ pair, force }) => element("li", { text: `${pair.join(" – ")}: ${Math.hypot(...force).toFixed(1)} N` })));
    }

    new ResizeObserver(refresh).observe(canvas);
    look(-1);
    show();
    const close = () => {
      closed = true;
      cancelAnimationFrame(requested);
      scene.gl.getExtension("WEBGL_lose_context")?.loseContext();
      root.replaceChildren();
      root.classList.remove("mounted");
    };
    return { canvas, gl: scene.gl, seek, show, look, orbit, close, play: () => play.click(), state: () => ({ time, playing, looking, pixels, last }) };
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
