"use strict";
// Views of episodes in three dimensions: geometry once, poses for every moment. The world's z is up; metres; quaternions are wxyz.
const sceneOf = (() => {
  const NEWTON = 20, METRE = 1000, FINEST = 65535;   // as in evaluation/view.py and render/compact.py
  const SHADOW = 1024;                               // texels along a side of the shadow map
  const SMALL = 0.012;                               // m: the radius of things whose shadows nobody misses
  const ARROW = 0.03, LONGEST = 0.4;                 // m for a newton, and at most

  // ---------------------------------------------------------------------------------------------- unpacking

  async function unpacked(text) {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  }

  function columns(shares, count, [low, high]) {     // shares of an extent, column by column, as numbers row by row
    const width = low.length, found = new Float32Array(count * width);
    for (let c = 0; c < width; c++) {
      const scale = (high[c] - low[c]) / FINEST;
      for (let i = 0; i < count; i++) found[i * width + c] = low[c] + shares[c * count + i] * scale;
    }
    return found;
  }

  async function meshOf(data) {
    const n = data.vertices, m = data.faces, buffer = await unpacked(data.data);
    const uvAt = 6 * n, facesAt = uvAt + 4 * n, size = data.wide ? 4 : 2, normalsAt = facesAt + 3 * m * size;
    const places = columns(new Uint16Array(buffer, 0, 3 * n), n, data.box);
    const uv = columns(new Uint16Array(buffer, uvAt, 2 * n), n, data.sheet);
    const Index = data.wide ? Uint32Array : Uint16Array;
    const raw = new Index(buffer.slice(facesAt, normalsAt)), normals = new Int8Array(buffer, normalsAt, 3 * n);
    const faces = new Index(3 * m), vertices = new Float32Array(8 * n);
    for (let i = 0; i < m; i++) for (let c = 0; c < 3; c++) faces[3 * i + c] = raw[c * m + i];
    for (let i = 0; i < n; i++) {
      for (let c = 0; c < 3; c++) {
        vertices[8 * i + c] = places[3 * i + c];
        vertices[8 * i + 3 + c] = normals[c * n + i] / 127;
      }
      vertices[8 * i + 6] = uv[2 * i];
      vertices[8 * i + 7] = uv[2 * i + 1];
    }
    const centre = [0, 1, 2].map((c) => (data.box[0][c] + data.box[1][c]) / 2);
    let radius = 0, widest = 0;
    for (let i = 0; i < n; i++) radius = Math.max(radius, Math.hypot(...centre.map((v, c) => places[3 * i + c] - v)));
    for (let c = 0; c < 3; c++) widest = Math.max(widest, data.box[1][c] - data.box[0][c]);
    return { vertices, faces, centre, radius, widest };
  }

  async function momentsOf(view) {
    const buffer = await unpacked(view.data), parts = {};
    let at = 0;
    for (const [name, length] of Object.entries(view.parts)) {
      parts[name] = buffer.slice(at, at + length);
      at += length;
    }
    const T = view.moments, K = view.tracks, steps = new Uint8Array(parts.motion), half = steps.length / 2;
    const tracks = new Float32Array(T * K * 7), [low, high] = view.box;
    for (let k = 0; k < K; k++) {
      for (let c = 0; c < 7; c++) {
        let value = 0;
        for (let t = 0; t < T; t++) {
          const i = (k * 7 + c) * T + t;
          value = (value + steps[i] + 256 * steps[half + i]) & FINEST;
          tracks[(t * K + k) * 7 + c] = c < 3 ? low[c] + (value / FINEST) * (high[c] - low[c]) : (2 * value) / FINEST - 1;
        }
      }
    }
    const touching = new Uint16Array(parts.touching), starts = [0];
    for (const count of touching) starts.push(starts[starts.length - 1] + count);
    const total = starts[T], forces = new Int16Array(parts.forces), places = new Int16Array(parts.places);
    const touched = new Uint16Array(parts.touched);
    const touches = (t) => {
      const found = [];
      for (let i = starts[t]; i < starts[t + 1]; i++) {
        const row = (values, scale) => [0, 1, 2].map((c) => values[c * total + i] / scale);
        found.push({ pair: view.pairs[touched[i]], force: row(forces, NEWTON), place: row(places, METRE) });
      }
      return found;
    };
    return { tracks, progress: new Uint8Array(parts.progress), flags: new Uint8Array(parts.flags), steps: new Uint16Array(parts.steps), touches };
  }

  // ---------------------------------------------------------------------------------------------- small mathematics (column-major 4×4)

  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => { const n = Math.hypot(...a) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };

  function placed([x, y, z, w, i, j, k]) {
    return [
      1 - 2 * (j * j + k * k), 2 * (i * j + w * k), 2 * (i * k - w * j), 0, 2 * (i * j - w * k), 1 - 2 * (i * i + k * k), 2 * (j * k + w * i), 0,
      2 * (i * k + w * j), 2 * (j * k - w * i), 1 - 2 * (i * i + j * j), 0, x, y, z, 1,
    ];
  }

  function times(a, b) {
    const out = new Array(16);
    for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) {
      out[4 * c + r] = a[r] * b[4 * c] + a[4 + r] * b[4 * c + 1] + a[8 + r] * b[4 * c + 2] + a[12 + r] * b[4 * c + 3];
    }
    return out;
  }

  const moved = (m, p) => [0, 1, 2].map((r) => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);

  // From the world to an eye with these axes (OpenGL's: x right, y up, z backwards).
  function seenFrom(eye, right, up, back) {
    return [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0, -dot(right, eye), -dot(up, eye), -dot(back, eye), 1];
  }

  const perspective = (x, y, near, far) =>
    [x, 0, 0, 0, 0, y, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
  const parallel = (x, y, near, far) => [x, 0, 0, 0, 0, y, 0, 0, 0, 0, 2 / (near - far), 0, 0, 0, (far + near) / (near - far), 1];

  // ---------------------------------------------------------------------------------------------- drawing

  // Light is added up in squares and its root is shown, as etude's own renderer does it. What casts no shadow is worked out at the corners.
  const VERTEX = `#version 300 es
    precision highp float;
    layout(location=0) in vec3 place; layout(location=1) in vec3 normal; layout(location=2) in vec2 sheet;
    uniform mat4 model, eye, sun; uniform vec3 ambient; uniform vec3 towards[4]; uniform vec3 colours[4]; uniform float span;
    out vec3 soft, n, world; out vec2 uv; out vec3 shade;
    void main() {
      vec4 p = model * vec4(place, 1.0);
      n = mat3(model) * normal;
      soft = ambient * (0.85 + 0.15 * n.z);
      for (int k = 1; k < 4; k++) soft += colours[k] * max(dot(towards[k], n), 0.0);
      world = p.xyz; uv = vec2(sheet.x, -sheet.y) / span;
      shade = (sun * vec4(p.xyz + 0.002 * n, 1.0)).xyz * 0.5 + 0.5;
      gl_Position = eye * p;
    }`;
  const FRAGMENT = `#version 300 es
    precision highp float; precision highp sampler2DShadow;
    in vec3 soft, n, world; in vec2 uv; in vec3 shade;
    uniform sampler2D surface; uniform sampler2DShadow depths; uniform vec3 key, keyColour, from, straight; uniform float gloss, alpha, shadows;
    uniform vec3 plain; uniform bool textured, far;
    out vec4 colour;
    void main() {
      vec3 m = normalize(n), a = textured ? texture(surface, uv).rgb : plain;
      float c = max(dot(key, m), 0.0), lit = 1.0;
      if (shadows > 0.0 && c > 0.0 && all(greaterThan(shade, vec3(0.0))) && all(lessThan(shade, vec3(1.0))))
        lit = texture(depths, vec3(shade.xy, shade.z - 0.0003));
      vec3 light = a * a * (soft + keyColour * c * lit);
      if (gloss > 0.0 && c > 0.0) {
        vec3 d = far ? straight : normalize(world - from);
        float s = max(dot(key, d) - 2.0 * c * dot(m, d), 0.0);
        s *= s; s *= s; s *= s; s *= s;
        light += s * gloss * lit * keyColour;
      }
      colour = vec4(min(sqrt(light), 1.0), alpha);
    }`;
  const DEPTH_VERTEX = `#version 300 es
    layout(location=0) in vec3 place; uniform mat4 model, sun;
    void main() { gl_Position = sun * model * vec4(place, 1.0); }`;
  const DEPTH_FRAGMENT = `#version 300 es
    precision mediump float; void main() {}`;
  const MARK_VERTEX = `#version 300 es
    layout(location=0) in vec3 place; uniform mat4 model, eye; void main() { gl_Position = eye * model * vec4(place, 1.0); }`;
  const MARK_FRAGMENT = `#version 300 es
    precision mediump float; uniform vec4 paint; out vec4 colour; void main() { colour = paint; }`;

  function program(gl, vertex, fragment) {
    const made = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text.replace(/^\s+/, ""));
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
    const at = {};
    for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
      const name = gl.getActiveUniform(made, i).name.replace("[0]", "");
      at[name] = gl.getUniformLocation(made, name);
    }
    return { made, at };
  }

  function uploaded(gl, mesh) {
    const vao = gl.createVertexArray();
    gl.bindVertexArray(vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, mesh.vertices, gl.STATIC_DRAW);
    for (const [index, size, offset] of [[0, 3, 0], [1, 3, 12], [2, 2, 24]]) {
      gl.enableVertexAttribArray(index);
      gl.vertexAttribPointer(index, size, gl.FLOAT, false, 32, offset);
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mesh.faces, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return { vao, count: mesh.faces.length, kind: mesh.faces instanceof Uint32Array ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT };
  }

  function painted(gl, address) {
    if (address.startsWith("#")) return { plain: [1, 3, 5].map((i) => parseInt(address.slice(i, i + 2), 16) / 255) };
    return new Promise((done, failed) => {
      const image = new Image();
      image.onload = () => {
        const texture = gl.createTexture();
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB, gl.RGB, gl.UNSIGNED_BYTE, image);
        gl.generateMipmap(gl.TEXTURE_2D);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
        done({ texture });
      };
      image.onerror = () => failed(new Error("a texture cannot be read"));
      image.src = address;
    });
  }

  // A spike of unit length along z and unit width, for forces; it is stretched to a bead for the places where they act.
  const SPIKE = { vertices: new Float32Array([1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -0.15].flatMap((v, i, all) => i % 3 ? [] : [...all.slice(i, i + 3), 0, 0, 1, 0, 0])),
                  faces: new Uint16Array([0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5]) };

  // Is everything drawn by the processor, for want of a graphics card? Smooth edges would cost it as much as all the rest.
  function software() {
    const gl = document.createElement("canvas").getContext("webgl2"), info = gl?.getExtension("WEBGL_debug_renderer_info");
    const found = /swiftshader|llvmpipe|software/i.test(info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "");
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    return found;
  }

  async function sceneOf(canvas, library, view) {
    const gl = canvas.getContext("webgl2", { antialias: !software(), powerPreference: "high-performance" });
    if (!gl) throw new Error("this browser has no WebGL 2, which the view needs");
    const moments = await momentsOf(view), meshes = {}, surfaces = {}, buffers = {};
    let own = [];
    await learn(library, view.visuals);
    const spike = uploaded(gl, SPIKE);
    const lit = program(gl, VERTEX, FRAGMENT), deep = program(gl, DEPTH_VERTEX, DEPTH_FRAGMENT), mark = program(gl, MARK_VERTEX, MARK_FRAGMENT);
    const depths = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, depths);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW, SHADOW);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    gl.bindTexture(gl.TEXTURE_2D, null);
    const white = gl.createTexture();                // stands where a plain colour needs no texture: a sampler has to have one
    gl.bindTexture(gl.TEXTURE_2D, white);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB, 1, 1, 0, gl.RGB, gl.UNSIGNED_BYTE, new Uint8Array([255, 255, 255]));
    const room = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, room);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, depths, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    let models = [], shown = [], sun = null, light = null, drawnAt = -1, hurried = false;

    // Take in what is to be seen: geometry and surfaces that are new, and where each thing is on its track.
    async function learn(more, visuals) {
      const unknown = (name, known) => [...new Set(visuals.map((v) => v[name]))].filter((key) => !(key in known));
      await Promise.all([
        ...unknown("mesh", meshes).map(async (key) => { const mesh = await meshOf(more.meshes[key]); meshes[key] = mesh; buffers[key] = uploaded(gl, mesh); }),
        ...unknown("texture", surfaces).map(async (name) => { surfaces[name] = await painted(gl, more.textures[name]); }),
      ]);
      own = visuals.map((v) => placed(v.pose));
      view.visuals = visuals;
    }

    // A scene that is shown while it happens has two moments, the latest and the one before, and time goes from 0 to 1 between them.
    function tell({ poses, looks, light, covered }) {
      const size = poses.length * 7, before = moments.tracks.slice(-size), now = Float32Array.from(poses.flat()), both = new Float32Array(2 * size);
      const known = before.length === size && view.tracks === poses.length;
      for (let k = 0; k < size; k += 7) {            // a quaternion and its opposite are the same turn
        let along = 0;
        for (let c = 3; c < 7; c++) along += known ? before[k + c] * now[k + c] : 1;
        if (along < 0) for (let c = 3; c < 7; c++) now[k + c] *= -1;
      }
      both.set(known ? before : now);
      both.set(now, size);
      moments.tracks = both;
      Object.assign(view, { moments: 2, tracks: poses.length });
      if (looks) Object.assign(view, { looks: [[0, looks]], lights: [[0, light]], covered: [[0, covered]] });
      drawnAt = -1;
    }

    const since = (list, t) => list.reduce((found, one) => (one[0] <= t ? one : found), list[0])[1];

    function poseAt(track, time) {
      const T = view.moments, K = view.tracks, i = Math.min(T - 1, Math.floor(time)), j = Math.min(T - 1, i + 1), f = time - i;
      const a = (i * K + track) * 7, b = (j * K + track) * 7, found = new Array(7);
      for (let c = 0; c < 7; c++) found[c] = moments.tracks[a + c] * (1 - f) + moments.tracks[b + c] * f;
      const norm = Math.hypot(found[3], found[4], found[5], found[6]) || 1;
      for (let c = 3; c < 7; c++) found[c] /= norm;
      return found;
    }

    function arrange(time) {
      if (time === drawnAt) return;
      drawnAt = time;
      const moment = Math.min(view.moments - 1, Math.round(time));
      light = since(view.lights, moment);
      shown = since(view.looks, moment);
      const tracks = Array.from({ length: view.tracks }, (_, k) => placed(poseAt(k, time)));
      models = view.visuals.map((v, i) => (v.track === null ? own[i] : times(tracks[v.track], own[i])));
      // wide things receive shadows and cast none, as in etude's renderer; in a hurry, drops and crumbs cast none either
      const casts = ({ widest, radius }) => widest <= 4 && !(hurried && radius < SMALL);
      const casters = shown.filter((i) => view.visuals[i].shadow && view.visuals[i].alpha === 1 && casts(meshes[view.visuals[i].mesh]));
      const axes = [null, null, unit(light.lamps[0][0].map((v) => -v))];
      axes[0] = unit(cross(Math.abs(axes[2][2]) > 0.99 ? [1, 0, 0] : [0, 0, 1], axes[2]));
      axes[1] = cross(axes[2], axes[0]);
      const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
      for (const i of casters) {
        const { centre, radius } = meshes[view.visuals[i].mesh], p = moved(models[i], centre);
        for (let c = 0; c < 3; c++) {
          low[c] = Math.min(low[c], dot(axes[c], p) - radius);
          high[c] = Math.max(high[c], dot(axes[c], p) + radius);
        }
      }
      sun = null;
      if (!light.shadows || !casters.length) return;
      const middle = [0, 1, 2].map((c) => (low[c] + high[c]) / 2), eye = [0, 1, 2].map((r) => axes[0][r] * middle[0] + axes[1][r] * middle[1] + axes[2][r] * high[2]);
      const reach = high[2] - low[2] + 3;            // what is below the things receives their shadows
      sun = times(parallel(2 / (high[0] - low[0]), 2 / (high[1] - low[1]), -0.01, reach), seenFrom(eye, ...axes));
      gl.bindFramebuffer(gl.FRAMEBUFFER, room);
      gl.viewport(0, 0, SHADOW, SHADOW);
      gl.clear(gl.DEPTH_BUFFER_BIT);
      gl.enable(gl.POLYGON_OFFSET_FILL);             // or surfaces would shade themselves
      gl.polygonOffset(2, 4);
      gl.useProgram(deep.made);
      gl.uniformMatrix4fv(deep.at.sun, false, sun);
      for (const i of casters) {
        const b = buffers[view.visuals[i].mesh];
        gl.uniformMatrix4fv(deep.at.model, false, models[i]);
        gl.bindVertexArray(b.vao);
        gl.drawElements(gl.TRIANGLES, b.count, b.kind, 0);
      }
      gl.disable(gl.POLYGON_OFFSET_FILL);
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    }

    // ``eye``: how a camera sees; ``box``: x, y, width, height in pixels of the canvas; ``hides``: things that are not seen.
    function draw(time, eye, box, hides, marks) {
      arrange(time);
      gl.viewport(...box);
      gl.scissor(...box);
      gl.enable(gl.SCISSOR_TEST);
      gl.clearColor(...light.background, 1);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      gl.useProgram(lit.made);
      const towards = new Float32Array(12), colours = new Float32Array(12);
      light.lamps.slice(0, 4).forEach(([direction, colour], k) => { towards.set(unit(direction.map((v) => -v)), 3 * k); colours.set(colour, 3 * k); });
      gl.uniform3fv(lit.at.towards, towards);
      gl.uniform3fv(lit.at.colours, colours);
      gl.uniform3fv(lit.at.ambient, light.ambient);
      gl.uniform3fv(lit.at.key, towards.subarray(0, 3));
      gl.uniform3fv(lit.at.keyColour, colours.subarray(0, 3));
      gl.uniformMatrix4fv(lit.at.eye, false, eye.clip);
      gl.uniformMatrix4fv(lit.at.sun, false, sun ?? placed([0, 0, 0, 1, 0, 0, 0]));
      gl.uniform1f(lit.at.shadows, sun ? 1 : 0);
      gl.uniform3fv(lit.at.from, eye.from);
      gl.uniform3fv(lit.at.straight, eye.straight);
      gl.uniform1i(lit.at.far, eye.parallel ? 1 : 0);
      gl.activeTexture(gl.TEXTURE1);
      gl.bindTexture(gl.TEXTURE_2D, depths);
      gl.uniform1i(lit.at.depths, 1);
      gl.activeTexture(gl.TEXTURE0);
      gl.uniform1i(lit.at.surface, 0);
      const visible = shown.filter((i) => !hides.has(view.visuals[i].thing));
      // near things hide parts of large ones, which then cost nothing; what is translucent comes last
      const size = (i) => (view.visuals[i].alpha < 1 ? 100 : meshes[view.visuals[i].mesh].radius);
      for (const i of visible.sort((a, b) => size(a) - size(b))) {
        const v = view.visuals[i], b = buffers[v.mesh], surface = surfaces[v.texture];
        if (v.alpha <= 0) continue;
        if (v.alpha < 1) { gl.enable(gl.BLEND); gl.depthMask(false); }
        gl.uniformMatrix4fv(lit.at.model, false, models[i]);
        gl.uniform1f(lit.at.span, v.span);
        gl.uniform1f(lit.at.gloss, v.gloss);
        gl.uniform1f(lit.at.alpha, v.alpha);
        gl.uniform1i(lit.at.textured, surface.texture ? 1 : 0);
        gl.bindTexture(gl.TEXTURE_2D, surface.texture ?? white);
        if (!surface.texture) gl.uniform3fv(lit.at.plain, surface.plain);
        gl.bindVertexArray(b.vao);
        gl.drawElements(gl.TRIANGLES, b.count, b.kind, 0);
      }
      gl.disable(gl.BLEND);
      gl.depthMask(true);
      if (marks?.plumb) drawPlumb(eye, marks.plumb);
      if (marks?.contacts || marks?.forces) drawMarks(time, eye, marks);
      gl.disable(gl.SCISSOR_TEST);
    }

    function blacken(box) {
      gl.scissor(...box);
      gl.enable(gl.SCISSOR_TEST);
      gl.clearColor(0, 0, 0, 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.disable(gl.SCISSOR_TEST);
    }

    // A thread so long that hangs down from a place, until it meets something: how high a hand is, and over what.
    function drawPlumb(eye, { place, length }) {
      gl.useProgram(mark.made);
      gl.uniformMatrix4fv(mark.at.eye, false, eye.clip);
      gl.uniform4f(mark.at.paint, 0.85, 0.2, 0.1, 1);
      gl.bindVertexArray(spike.vao);
      gl.disable(gl.CULL_FACE);
      const s = 0.002;
      gl.uniformMatrix4fv(mark.at.model, false, [s, 0, 0, 0, 0, s, 0, 0, 0, 0, -1.2 * length, 0, ...place, 1]);
      gl.drawElements(gl.TRIANGLES, 12, spike.kind, 0);   // without its blunt end
      gl.enable(gl.CULL_FACE);
    }

    function drawMarks(time, eye, marks) {
      gl.useProgram(mark.made);
      gl.uniformMatrix4fv(mark.at.eye, false, eye.clip);
      gl.bindVertexArray(spike.vao);
      gl.disable(gl.DEPTH_TEST);                     // they would be inside of things
      gl.disable(gl.CULL_FACE);
      for (const { place, force } of moments.touches(Math.min(view.moments - 1, Math.round(time)))) {
        const strength = Math.hypot(...force);
        if (marks.forces && strength > 0) {
          const z = unit(force), x = unit(cross(Math.abs(z[2]) > 0.9 ? [1, 0, 0] : [0, 0, 1], z)), y = cross(z, x);
          const length = Math.min(LONGEST, ARROW * strength), wide = 0.005;
          gl.uniform4f(mark.at.paint, 0.85, 0.2, 0.1, 1);
          gl.uniformMatrix4fv(mark.at.model, false, [...x.map((v) => v * wide), 0, ...y.map((v) => v * wide), 0, ...z.map((v) => v * length), 0, ...place, 1]);
          gl.drawElements(gl.TRIANGLES, spike.count, spike.kind, 0);
        }
        if (marks.contacts) {
          const s = 0.006;
          gl.uniform4f(mark.at.paint, 0.1, 0.35, 0.9, 1);
          gl.uniformMatrix4fv(mark.at.model, false, [s, 0, 0, 0, 0, s, 0, 0, 0, 0, s, 0, ...place, 1]);
          gl.drawElements(gl.TRIANGLES, spike.count, spike.kind, 0);
        }
      }
      gl.enable(gl.DEPTH_TEST);
      gl.enable(gl.CULL_FACE);
    }

    // How a camera sees that stands at ``from`` with these axes (OpenCV's: right, down, forward). All of its own picture is in the box.
    function eyeOf({ from, right, down, forward, fov, extent, aspect, near, far }, width, height) {
      const see = seenFrom(from, right, down.map((v) => -v), forward.map((v) => -v)), fits = Math.min(height, width / aspect);
      const flat = extent !== undefined, f = flat ? (2 * fits) / extent : fits / Math.tan((fov * Math.PI) / 360);
      return { clip: times((flat ? parallel : perspective)(f / width, f / height, near, far), see), from, right, straight: forward, parallel: flat };
    }

    // Draw less well, and faster: textures and shadows without blending.
    function hurry() {
      hurried = true;
      for (const { texture } of Object.values(surfaces).filter((s) => s.texture)) {
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_NEAREST);
      }
      gl.bindTexture(gl.TEXTURE_2D, depths);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
      gl.bindTexture(gl.TEXTURE_2D, white);
    }

    function throughCamera(camera, time, width, height) {
      const pose = placed(camera.track === null ? camera.pose : poseAt(camera.track, time));
      const axes = { right: pose.slice(0, 3), down: pose.slice(4, 7), forward: pose.slice(8, 11), from: pose.slice(12, 15) };
      return eyeOf({ ...camera, ...axes }, width, height);
    }

    // What loose things and the robot fill at the start: where a visitor looks first.
    function middle() {
      arrange(0);
      const found = [0, 0, 0];
      const loose = shown.filter((i) => view.visuals[i].track !== null && !["robot", "hand"].includes(view.things[view.visuals[i].thing]));
      for (const i of loose) moved(models[i], meshes[view.visuals[i].mesh].centre).forEach((v, c) => { found[c] += v / loose.length; });
      return found;
    }

    return { gl, moments, learn, tell, draw, blacken, hurry, eyeOf, throughCamera, middle };
  }

  return sceneOf;
})();
