// Discs mixed into an image by hand: hundreds of thousands in a few milliseconds.

// How much of each pixel a disc covers, in 256ths.
export function disc(radius) {
  const half = Math.max(1, Math.ceil(radius - 0.5));
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

// The same, for one strength: whole numbers, which are mixed fastest.
export const inked = ({ cover }, alpha) => Uint16Array.from(cover, (share) => Math.round(256 * share * alpha));

// A rectangle of the screen, as pixels to be written.
export class Tile {
  constructor(context, left, top, width, height) {
    Object.assign(this, { left, top, width, height });
    this.image = context.createImageData(width, height);
    this.bytes = new Uint8Array(this.image.data.buffer);
  }

  fill([red, green, blue]) {
    new Uint32Array(this.bytes.buffer).fill((255 << 24) | (blue << 16) | (green << 8) | red);
  }

  // A disc whose upper left corner is at a pixel of the screen.
  mix(x, y, size, ink, red, green, blue) {
    const { width, height, bytes } = this;
    const left = x - this.left;
    const top = y - this.top;
    const first = left < 0 ? -left : 0;
    const last = left + size > width ? width - left : size;
    const bottom = top + size > height ? height - top : size;
    for (let row = top < 0 ? -top : 0; row < bottom; row++) {
      let place = ((top + row) * width + left + first) << 2;
      let cell = row * size + first;
      for (let column = first; column < last; column++, place += 4, cell++) {
        const share = ink[cell];
        bytes[place] += ((red - bytes[place]) * share) >> 8;
        bytes[place + 1] += ((green - bytes[place + 1]) * share) >> 8;
        bytes[place + 2] += ((blue - bytes[place + 2]) * share) >> 8;
      }
    }
  }
}
