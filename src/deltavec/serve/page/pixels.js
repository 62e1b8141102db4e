// Discs mixed into an image by hand: tens of thousands in a few milliseconds.

// How much of each pixel a disc covers.
export function disc(radius) {
  const half = Math.ceil(radius + 0.5);
  const size = 2 * half + 1;
  const cover = new Float32Array(size * size);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const distance = Math.hypot(x - half, y - half);
      cover[y * size + x] = Math.min(1, Math.max(0, radius + 0.5 - distance));
    }
  }
  return { half, size, cover };
}

export function fill(image, [red, green, blue]) {
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill((255 << 24) | (blue << 16) | (green << 8) | red);
}

export function blend({ data, width, height }, left, top, mask, [red, green, blue], alpha) {
  const { size, cover } = mask;
  const first = Math.max(0, -left);
  const last = Math.min(size, width - left);
  const bottom = Math.min(size, height - top);
  for (let y = Math.max(0, -top); y < bottom; y++) {
    let place = ((top + y) * width + left + first) * 4;
    for (let x = first; x < last; x++, place += 4) {
      const share = cover[y * size + x] * alpha;
      if (share === 0) continue;
      data[place] += (red - data[place]) * share;
      data[place + 1] += (green - data[place + 1]) * share;
      data[place + 2] += (blue - data[place + 2]) * share;
    }
  }
}
