"use strict";
// What pages with a view share: elements, the instruction, sub-goals that light up, and a canvas in which one walks around.
const etudeLooking = (() => {
  const SATISFIED = 1, VIOLATED = 2, NEXT = 4;       // as in evaluation/view.py
  const SLOW = 30, QUICK = 15;                       // ms for a frame while it moves: above, fewer pixels are drawn; below, more
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

  // Sub-goals as items of a list, and how they light up.
  const goalItem = (node) => element("li", { style: `--depth: ${node.path.split(".").length - 1}` }, element("span", { text: node.words }));
  function light(item, flags, progress) {
    item.className = flags & VIOLATED ? "violated" : flags & SATISFIED ? "satisfied" : flags & NEXT ? "next" : "";
    item.style.setProperty("--progress", progress);
  }

  // Walk around in a scene. ``now`` gives the time that is shown, ``changed`` is called when it is seen from elsewhere, ``looked`` with the
  // number of the camera one looks through, −1 for none.
  function lookAround(canvas, scene, view, { now, changed, looked }) {
    const orbit = { target: scene.middle(), distance: 1.4, yaw: -0.9, pitch: 0.6, fov: 40 };
    let looking = -1, pixels = 1, drawn = [], hurried = false;

    function look(k) {
      looking = k;
      looked(k);
    }

    // Stand where a camera stands, as far as a head that is held upright can.
    function leave(camera) {
      const { from, straight } = scene.throughCamera(camera, now(), canvas.width, canvas.height);
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

    function step() {                                // out of the camera one looks through
      if (looking < 0) return;
      leave(view.cameras[looking]);
      look(-1);
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
      step();
      const dx = event.clientX - old.x, dy = event.clientY - old.y, two = pointers.size > 1, apart = two ? spread() : 0;
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (two) zoom(apart / spread());
      if (two || event.shiftKey || event.buttons & 2) pan(dx / pointers.size, dy / pointers.size);
      else {
        orbit.yaw -= dx * 0.008;
        orbit.pitch = Math.min(STEEPEST, Math.max(-STEEPEST, orbit.pitch + dy * 0.008));
      }
      changed();
    });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      step();
      zoom(Math.exp(event.deltaY * 0.001));
      changed();
    }, { passive: false });

    function zoom(factor) { orbit.distance = Math.min(12, Math.max(0.08, orbit.distance * factor)); }

    function pan(dx, dy) {
      const scale = (2 * orbit.distance * Math.tan((orbit.fov * Math.PI) / 360)) / canvas.clientHeight, { yaw, pitch } = orbit;
      const right = [-Math.sin(yaw), Math.cos(yaw), 0], up = [-Math.cos(yaw) * Math.sin(pitch), -Math.sin(yaw) * Math.sin(pitch), Math.cos(pitch)];
      orbit.target = orbit.target.map((v, c) => v + scale * (up[c] * dy - right[c] * dx));
    }

    // So many ms have passed since the frame before: where that is long, fewer pixels are drawn.
    function adapt(passed) {
      drawn.push(passed);
      if (drawn.length < WINDOW) return;
      const mean = drawn.reduce((sum, v) => sum + v, 0) / drawn.length;
      drawn = [];
      if (mean > SLOW && !hurried) { hurried = true; scene.hurry(); }
      else if (mean > SLOW) pixels = Math.max(COARSEST, pixels * 0.8);
      else if (mean < QUICK && pixels < 1) pixels = Math.min(1, pixels * 1.1);
    }

    // Draw what is seen now, and in ``insets`` what these cameras see; ``names`` is where they are named. ``fine``: with all pixels.
    function draw(marks, insets, names, fine = false) {
      const ratio = Math.min(2, window.devicePixelRatio || 1) * (fine ? 1 : pixels), time = now();
      const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
      if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
      const moment = Math.min(view.moments - 1, Math.round(time));
      const covered = view.covered.reduce((found, [from, cameras]) => (from <= moment ? cameras : found), []);
      const through = (camera, box) => {
        if (covered.includes(camera.name)) scene.blacken(box);
        else scene.draw(time, scene.throughCamera(camera, time, box[2], box[3]), box, new Set([...camera.hides, ...view.robot]), null);
      };
      if (looking >= 0) through(view.cameras[looking], [0, 0, width, height]);
      else scene.draw(time, freeEye(width, height), [0, 0, width, height], new Set(), marks);
      const shown = [];
      let left = 0;
      for (const camera of insets) {
        const w = Math.round(INSET * width), h = Math.round(w / camera.aspect);
        if (left + w > width) break;
        through(camera, [left, 0, w, h]);
        shown.push(element("span", { text: camera.name, style: `left: ${(100 * left) / width}%; bottom: ${(100 * h) / height}%` }));
        left += w + Math.round(0.01 * width);
      }
      names.replaceChildren(...shown);
    }

    // Where "away" is for whoever looks on: rad from x towards y. Right is level for all who stand upright, also for who looks straight down.
    function heading() {
      const { right } = looking < 0 ? freeEye(1, 1) : scene.throughCamera(view.cameras[looking], now(), 1, 1);
      return Math.atan2(right[0], -right[1]);
    }

    return { orbit, look, zoom, adapt, draw, heading, state: () => ({ looking, pixels }) };
  }

  return { SATISFIED, element, told, goalItem, light, lookAround };
})();
