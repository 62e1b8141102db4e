// Pointer, wheel and fingers on the map: move, zoom, touch, choose, and draw around points.

const STILL = 5; // pixels that a click may move

export function listen(map, canvas) {
  const fingers = new Map();
  let moved = 0;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, at(event));
    moved = 0;
    if ((event.shiftKey || map.drawing) && fingers.size === 1) map.lasso.begin(...at(event));
  });

  canvas.addEventListener("pointermove", (event) => {
    const now = at(event);
    const before = fingers.get(event.pointerId);
    if (!before) return map.touch(...now);
    fingers.set(event.pointerId, now);
    moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    const others = [...fingers].filter(([id]) => id !== event.pointerId);
    if (map.lasso.path) map.lasso.go(...now);
    else if (others.length === 1) pinch(map, others[0][1], before, now);
    else map.move(now[0] - before[0], now[1] - before[1]);
  });

  canvas.addEventListener("pointerup", (event) => {
    const known = fingers.delete(event.pointerId);
    if (map.lasso.path) return map.lasso.end();
    if (known && moved < STILL) map.choose(...at(event));
  });
  canvas.addEventListener("pointercancel", (event) => {
    fingers.delete(event.pointerId);
    map.lasso.drop();
  });
  canvas.addEventListener("pointerleave", () => map.touch(NaN, NaN));

  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      map.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...at(event));
    },
    { passive: false },
  );
}

function pinch(map, still, before, now) {
  const apart = (place) => Math.hypot(place[0] - still[0], place[1] - still[1]) || 1;
  map.zoom(apart(now) / apart(before), ...still);
}
