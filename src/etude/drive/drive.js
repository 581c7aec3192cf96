"use strict";
// Drive the robot: what is held down goes to the server, which keeps the time and tells every moment back.
const etudeDrive = (() => {
  const { element, told, goalItem, light, lookAround } = etudeLooking;
  const PERIOD = 50;                                 // ms between two moments
  const OFTEN = 50, AGAIN = 10;                      // ms between two looks at what is held; looks after which it is said again
  const DEAD = 0.12;                                 // of a stick's way: where it rests
  const MOVE = { KeyW: [0, 1, 0], KeyS: [0, -1, 0], KeyA: [-1, 0, 0], KeyD: [1, 0, 0], KeyR: [0, 0, 1], KeyF: [0, 0, -1],
                 ArrowUp: [0, 1, 0], ArrowDown: [0, -1, 0], ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], PageUp: [0, 0, 1], PageDown: [0, 0, -1] };
  const TURN = { KeyQ: [0, 0, 1], KeyE: [0, 0, -1], KeyI: [-1, 0, 0], KeyK: [1, 0, 0], KeyJ: [0, -1, 0], KeyL: [0, 1, 0] };
  const DEEDS = { Enter: "keep", NumpadEnter: "keep", Backspace: "again", KeyN: "next", KeyB: "previous", KeyP: "pause", KeyH: "help", Space: "hand" };
  const PAD = { 0: "hand", 9: "keep", 8: "again", 5: "next", 4: "previous", 2: "pause", 3: "help" };  // buttons of the standard gamepad

  const root = document.querySelector(".drive"), part = (name) => root.querySelector(name);
  const stage = part(".stage"), keys = part("dialog.keys"), where = root.dataset.where, failures = Boolean(root.dataset.failures);
  const held = new Set(), pads = new Map();
  const now = { state: "", start: 0, closed: false, moments: 0 };   // as the server told it last
  let socket = null, closed = false, said = "", silent = 0, finished = false;
  let canvas = null, scene = null, view = null, around = null, items = [], arrived = 0, tip = null, insets = true, seen = [], requested = 0, before = 0, viewpoints = [];

  // ---------------------------------------------------------------------------------------------- what is held down

  const sum = (table) => [...held].reduce((found, code) => (table[code] ? found.map((v, c) => v + table[code][c]) : found), [0, 0, 0]);
  const bent = (v) => (Math.abs(v) < DEAD ? 0 : (Math.sign(v) * (Math.abs(v) - DEAD)) / (1 - DEAD));
  const within = (v) => Math.min(1, Math.max(-1, v));

  // Sticks of all gamepads; a button does something when it goes down.
  function sticks() {
    const found = { move: [0, 0, 0], turn: [0, 0, 0], slow: false };
    for (const pad of navigator.getGamepads?.() ?? []) {
      if (!pad || pad.connected === false || pad.axes.length < 4) continue;
      const down = (k) => Boolean(pad.buttons[k]?.pressed), was = pads.get(pad.index) ?? {};
      for (const [k, deed] of Object.entries(PAD)) {
        if (down(k) && !was[k]) perform(deed);
        was[k] = down(k);
      }
      pads.set(pad.index, was);
      const [x, y, yaw, up] = pad.axes.map(bent);
      [x, -y, -up].forEach((v, c) => { found.move[c] += v; });
      [Number(down(13)) - Number(down(12)), Number(down(15)) - Number(down(14)), -yaw].forEach((v, c) => { found.turn[c] += v; });
      found.slow ||= down(6) || down(7);
    }
    return found;
  }

  function steer() {
    const pad = sticks();
    if (!around || !["ready", "driving"].includes(now.state) || keys.open) return;
    const move = sum(MOVE).map((v, c) => within(v + pad.move[c])), turn = sum(TURN).map((v, c) => within(v + pad.turn[c]));
    const slow = pad.slow || held.has("ShiftLeft") || held.has("ShiftRight");
    const text = JSON.stringify({ do: "steer", start: now.start, move, turn, heading: around.heading(), slow, closed });
    silent += 1;
    if (text === said && silent < AGAIN) return;
    send(text);
  }

  function send(text) {
    if (socket?.readyState !== WebSocket.OPEN) return;
    [said, silent] = [text, 0];
    socket.send(text);
  }
  const ask = (what) => send(JSON.stringify({ do: what }));

  function release() {
    held.clear();
    steer();
  }

  function perform(deed) {
    note("");
    if (deed === "hand") { if (["ready", "driving"].includes(now.state)) closed = !closed; }
    else if (deed === "help") { release(); if (keys.open) keys.close(); else { pause(); keys.showModal(); } }
    else if (deed === "pause") { if (now.state === "paused") ask("resume"); else pause(); }
    else if (deed === "finish") finish();
    else ask(deed);
  }

  function pause() {
    release();
    if (now.state === "driving") ask("pause");
  }

  function finish() {
    if (now.state === "success") note("keep this one, or throw it away, before you finish");
    else ask("finish");
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || finished) return;
    const camera = /^(?:Digit|Numpad)([0-9])$/.exec(event.code);
    if (keys.open && event.code !== "KeyH") return;  // the dialog has keys of its own
    if (MOVE[event.code] || TURN[event.code] || event.key === "Shift") held.add(event.code);
    else if (DEEDS[event.code]) { if (!event.repeat) perform(DEEDS[event.code]); }
    else if (camera) { if (around && Number(camera[1]) <= view.cameras.length) { around.look(Number(camera[1]) - 1); refresh(); } }
    else return;
    event.preventDefault();
    if (!event.repeat) steer();
  });
  addEventListener("keyup", (event) => { held.delete(event.code); steer(); });
  addEventListener("blur", pause);
  document.addEventListener("visibilitychange", () => { if (document.hidden) pause(); });
  for (const button of root.querySelectorAll("[data-do]")) button.addEventListener("click", () => { perform(button.dataset.do); button.blur(); });
  setInterval(steer, OFTEN);

  // ---------------------------------------------------------------------------------------------- what is told

  function note(text) { part(".note").textContent = text; }

  function connect() {
    socket = new WebSocket(`ws://${location.host}/socket`);
    let heard = Promise.resolve();                   // one after the other: a new scene takes a while
    socket.addEventListener("message", ({ data }) => { heard = heard.then(() => hear(JSON.parse(data))).catch((error) => note(`The scene cannot be shown: ${error.message}.`)); });
    socket.addEventListener("close", ({ code }) => {
      now.state = "";
      if (finished) return;
      status(code === 4000 ? "This is driven from another window now. Reload to drive here." : "The server is away: it was ended, or is being started again.", "failure");
      if (code !== 4000) setTimeout(connect, 1000);
    });
  }

  async function hear(message) {
    if (message.kind === "note") note(message.text);
    else if (message.kind === "recording") part(".kept").classList.toggle("recording", message.busy);
    else if (message.kind === "finished") end();
    else if (message.kind === "episode") await begin(message);
    else if (message.start === now.start) await happen(message);
  }

  function end() {
    finished = true;
    status(`Finished. What was kept is in ${where}; this page can be closed.`, "success");
    for (const button of root.querySelectorAll("button")) button.disabled = true;
  }

  async function begin(message) {
    const kind = (one) => one && [one.episode.split("/")[0], ...one.cameras.map((camera) => camera.name)].join(" ");
    const same = kind(view) === kind(message.view), place = same ? { ...around.orbit } : null, looking = same ? around.state().looking : -1;
    view = message.view;
    scene?.gl.getExtension("WEBGL_lose_context")?.loseContext();
    canvas?.remove();
    canvas = element("canvas", { tabindex: 0, "aria-label": `${view.episode} in three dimensions: drag to look around` });
    stage.prepend(canvas);
    scene = await sceneOf(canvas, view, view);
    const button = (text, pressed, action) => {
      const made = element("button", { type: "button", text, "aria-pressed": String(pressed) });
      made.addEventListener("click", () => { action(made); made.blur(); refresh(); });
      return made;
    };
    viewpoints = [button("Free", true, () => around.look(-1)), ...view.cameras.map((camera, k) => button(camera.name, false, () => around.look(k)))];
    const see = button("What cameras see", insets, (made) => { insets = !insets; made.setAttribute("aria-pressed", insets); });
    part(".viewpoints").replaceChildren(...viewpoints, see);
    around = lookAround(canvas, scene, view, {
      now: progressed, changed: refresh, looked: (k) => viewpoints.forEach((one, i) => one.setAttribute("aria-pressed", String(i === k + 1))),
    });
    if (same) { Object.assign(around.orbit, place); around.look(looking); }   // in the next episode one stays where one stood
    else around.zoom(0.8);
    items = view.goal.map(goalItem);
    part(".goal").replaceChildren(...items);
    part(".told").replaceChildren(told(view));
    part(".name").textContent = `${view.episode} (${message.number + 1} of ${message.of})`;
    part("[data-do='previous']").disabled = message.number === 0;
    part("[data-do='next']").disabled = message.number === message.of - 1;
    new ResizeObserver(refresh).observe(canvas);
    seen = view.cameras.filter((camera) => camera.name !== "render").sort((a, b) => Number(b.track !== null) - Number(a.track !== null));   // the hand's own first
    now.start = message.start;
    now.floor = message.floor;
    now.limit = message.left + message.steps * (PERIOD / 1000);
    closed = message.closed;
    held.clear();
    await happen(message);
  }

  const STATES = {
    ready: () => ["Press a key to begin.", ""],
    driving: () => ["", ""],
    paused: () => ["Paused: P goes on.", ""],
    success: () => ["Success! Enter keeps it, backspace throws it away.", "success"],
    failure: ({ left }) => [`${left > 0 ? "This can no longer succeed." : "Time is over."} ${failures ? "Enter keeps it all the same, backspace" : "Backspace"} begins again.`, "failure"],
  };

  async function happen(message) {
    const { surroundings } = message;
    if (surroundings) await scene.learn(surroundings, surroundings.visuals);
    scene.tell({ poses: message.poses, ...surroundings });
    arrived = performance.now();
    tip = message.tip;
    now.moments += 1;
    items.forEach((item, k) => light(item, message.flags[k], message.progress[k] / 255));
    if (message.state !== now.state) status(...STATES[message.state](message));
    now.state = message.state;
    now.closed = message.closed;
    if (message.state !== "driving" && message.state !== "ready") closed = message.closed;
    part(".clock output").textContent = `${message.left.toFixed(1)} s left`;
    part("progress").value = now.limit ? message.left / now.limit : 0;
    const hand = part(".hand");
    hand.textContent = message.closed ? (message.held ? `holds ${message.held}` : "hand closed") : "hand open";
    hand.classList.toggle("closed", message.closed);
    part("[data-do='keep']").disabled = !(message.state === "success" || (failures && message.steps > 0));
    part("[data-do='pause']").firstChild.textContent = message.state === "paused" ? "Go on" : "Pause";
    part(".kept").textContent = `${message.done} kept in ${where}${message.kept ? "; this one is among them" : ""}`;
    refresh();
  }

  function status(text, kind) {
    part(".status").textContent = text;
    part(".status").className = `status ${kind}`;
  }

  // ---------------------------------------------------------------------------------------------- drawing

  function progressed() { return Math.min(1, (performance.now() - arrived) / PERIOD); }

  function refresh() {
    if (!requested && around) requested = requestAnimationFrame(draw);
  }

  function draw(time) {
    requested = 0;
    if (before && now.state === "driving") around.adapt(time - before);
    before = now.state === "driving" ? time : 0;
    around.draw({ plumb: tip && { place: tip, length: Math.max(0, tip[2] - now.floor) } }, insets ? seen : [], part(".names"), now.state !== "driving");
    if (progressed() < 1 || now.state === "driving") refresh();
  }

  connect();
  if (!sessionStorage.getItem("etude drive")) keys.showModal();
  sessionStorage.setItem("etude drive", "seen");
  return { now, keys, state: () => ({ ...now, tip, closed, held: [...held], ...around?.state() }), around: () => around };
})();
