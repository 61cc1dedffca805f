/** QR codes (ISO/IEC 18004) of short texts: bytes, level M, versions 1 to 10. Made here; no service is asked. */

// Of each version: codewords in all, those that correct in each block, blocks; and where the small squares lie.
const VERSIONS = [
  [26, 10, 1, []],
  [44, 16, 1, [6, 18]],
  [70, 26, 1, [6, 22]],
  [100, 18, 2, [6, 26]],
  [134, 24, 2, [6, 30]],
  [172, 16, 4, [6, 34]],
  [196, 18, 4, [6, 22, 38]],
  [242, 22, 4, [6, 24, 42]],
  [292, 22, 5, [6, 26, 46]],
  [346, 26, 5, [6, 28, 50]],
];
const MASKS = [
  (x, y) => (x + y) % 2,
  (x, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

/**
 * The code of a text, rows of dark (1) and light (0) squares.
 * @param {string} text
 * @returns {{version: number, mask: number, rows: number[][]} | null} null where it is too long
 */
export function qrCode(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const version = 1 + VERSIONS.findIndex((_, i) => bytes.length + (i < 9 ? 2 : 3) <= dataWords(i + 1));
  if (!version) return null;
  const { rows, isFixed } = frame(version);
  place(rows, isFixed, corrected(codewords(bytes, version), version));
  const masked = MASKS.map((_, mask) => finish(rows, isFixed, version, mask));
  const worth = masked.map(penalty);
  const mask = worth.indexOf(Math.min(...worth));
  return { version, mask, rows: masked[mask] };
}

function dataWords(version) {
  const [all, each, blocks] = VERSIONS[version - 1];
  return all - each * blocks;
}

/** The text as codewords: mode, length, bytes, end, and padding. */
function codewords(bytes, version) {
  const length = version < 10 ? 8 : 16;
  const bits = [...toBits(4, 4), ...toBits(bytes.length, length), ...bytes.flatMap((byte) => toBits(byte, 8)), 0, 0, 0, 0];
  const words = [];
  for (let i = 0; i + 8 <= bits.length; i += 8) words.push(parseInt(bits.slice(i, i + 8).join(""), 2));
  for (let pad = 0xec; words.length < dataWords(version); pad ^= 0xec ^ 0x11) words.push(pad);
  return words;
}

const toBits = (value, count) => Array.from({ length: count }, (_, i) => (value >> (count - 1 - i)) & 1);

/** Blocks with what corrects them, one codeword of each in turn. */
function corrected(words, version) {
  const [, each, count] = VERSIONS[version - 1];
  const short = Math.floor(words.length / count);
  const blocks = [];
  for (let i = 0, at = 0; i < count; i++) {
    const length = short + (i < count - (words.length % count) ? 0 : 1);
    blocks.push(words.slice(at, at + length));
    at += length;
  }
  const ends = blocks.map((block) => remainder(block, generator(each)));
  const across = (lists) =>
    Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, i) =>
      lists.map((list) => list[i]).filter((word) => word !== undefined),
    ).flat();
  return [...across(blocks), ...across(ends)];
}

/** The product of two bytes in the field of Reed and Solomon. */
function times(a, b) {
  let product = 0;
  for (; b; b >>= 1, a = (a << 1) ^ (a & 0x80 ? 0x11d : 0)) if (b & 1) product ^= a;
  return product;
}

function generator(degree) {
  let result = [1];
  for (let i = 0, root = 1; i < degree; i++, root = times(root, 2))
    result = [...result, 0].map((value, j) => value ^ (j ? times(result[j - 1], root) : 0));
  return result.slice(1);
}

function remainder(words, divisor) {
  const rest = new Array(divisor.length).fill(0);
  for (const word of words) {
    const factor = word ^ rest.shift();
    rest.push(0);
    divisor.forEach((value, i) => (rest[i] ^= times(value, factor)));
  }
  return rest;
}

/** What is the same for all texts: three eyes, small squares, dotted lines; and what is kept free. */
function frame(version) {
  const size = 17 + 4 * version;
  const rows = Array.from({ length: size }, () => new Array(size).fill(0));
  const isFixed = Array.from({ length: size }, () => new Array(size).fill(false));
  const set = (x, y, dark) => {
    if (x < 0 || y < 0 || x >= size || y >= size) return;
    rows[y][x] = dark ? 1 : 0;
    isFixed[y][x] = true;
  };
  const square = (x, y, radius, light) => {
    for (let dy = -radius; dy <= radius; dy++)
      for (let dx = -radius; dx <= radius; dx++)
        set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(x, y, 4, [2, 4]);
  const places = VERSIONS[version - 1][3];
  for (const x of places)
    for (const y of places) if (!(x === 6 && y === 6) && !(x === 6 && y === size - 7) && !(x === size - 7 && y === 6)) square(x, y, 2, [1]);
  writeFormat(set, size, 0);
  if (version >= 7) writeVersion(set, size, version);
  return { rows, isFixed };
}

/** Bits and what corrects them, by division of polynomials. */
function withCheck(value, divisor, degree) {
  let rest = value << degree;
  for (let bit = 1 << 30; bit >= 1 << degree; bit >>= 1) {
    const shift = Math.log2(bit) - degree;
    if (rest & bit) rest ^= divisor << shift;
  }
  return (value << degree) | rest;
}

function writeFormat(set, size, mask) {
  const bits = withCheck(mask, 0x537, 10) ^ 0x5412; // level M is 00
  const bit = (i) => (bits >> i) & 1;
  for (let i = 0; i < 15; i++) {
    set(8, i < 6 ? i : i < 8 ? i + 1 : size - 15 + i, bit(i));
    set(i < 8 ? size - 1 - i : i < 9 ? 7 : 14 - i, 8, bit(i));
  }
  set(8, size - 8, true);
}

function writeVersion(set, size, version) {
  const bits = withCheck(version, 0x1f25, 12);
  for (let i = 0; i < 18; i++) {
    const [a, b] = [size - 11 + (i % 3), Math.floor(i / 3)];
    set(a, b, (bits >> i) & 1);
    set(b, a, (bits >> i) & 1);
  }
}

/** Two columns at a time from the right, up and down in turn. */
function place(rows, isFixed, words) {
  const bits = words.flatMap((word) => toBits(word, 8));
  const size = rows.length;
  let next = 0;
  for (let right = size - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    if (right === 6) right = 5;
    for (let i = 0; i < size; i++)
      for (const x of [right, right - 1]) {
        const y = isUp ? size - 1 - i : i;
        if (!isFixed[y][x]) rows[y][x] = bits[next++] ?? 0;
      }
  }
}

function finish(rows, isFixed, version, mask) {
  const done = rows.map((row, y) => row.map((dark, x) => (isFixed[y][x] ? dark : dark ^ (MASKS[mask](x, y) === 0 ? 1 : 0))));
  writeFormat((x, y, dark) => (done[y][x] = dark ? 1 : 0), rows.length, mask);
  return done;
}

/** How hard a code is to read: long runs, blocks, what looks like an eye, too much of one colour. */
function penalty(rows) {
  const size = rows.length;
  const lines = [...rows, ...rows.map((_, x) => rows.map((row) => row[x]))].map((line) => line.join(""));
  let points = 0;
  for (const line of lines) {
    for (const run of line.match(/0{5,}|1{5,}/g) ?? []) points += run.length - 2;
    for (let i = 0; i + 11 <= size; i++)
      if (["10111010000", "00001011101"].includes(line.slice(i, i + 11))) points += 40;
  }
  for (let y = 1; y < size; y++)
    for (let x = 1; x < size; x++)
      if (new Set([rows[y][x], rows[y - 1][x], rows[y][x - 1], rows[y - 1][x - 1]]).size === 1) points += 3;
  const dark = rows.flat().filter(Boolean).length / size ** 2;
  return points + 10 * Math.floor(Math.abs(dark - 0.5) * 20);
}
