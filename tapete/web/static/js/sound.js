/** Small sounds, made here: a card on felt, chips, dice, a disc, and how a game ended. None before somebody has clicked. */

import { settings } from "./settings.js";

let audio = null;

/** Browsers let nobody make a sound before the person has done something. */
function wake() {
  const { AudioContext } = globalThis;
  if (!audio && settings.sound === "on" && AudioContext) audio = new AudioContext();
  audio?.resume?.();
}
document.addEventListener("pointerdown", wake);
document.addEventListener("keydown", wake);

/** A tone that dies away. */
function tone(at, frequency, length, { volume = 0.08, type = "sine" } = {}) {
  const source = audio.createOscillator();
  source.type = type;
  source.frequency.value = frequency;
  play(source, at, length, volume);
}

/** A breath of noise around a pitch: things that touch. */
function brush(at, pitch, length, volume = 0.2) {
  const samples = audio.createBuffer(1, Math.ceil(audio.sampleRate * length), audio.sampleRate);
  const data = samples.getChannelData(0);
  for (let i = 0; i < data.length; i++) data[i] = 2 * Math.random() - 1;
  const source = audio.createBufferSource();
  source.buffer = samples;
  const filter = audio.createBiquadFilter();
  filter.type = "bandpass";
  filter.frequency.value = pitch;
  source.connect(filter);
  play(source, at, length, volume, filter);
}

function play(source, at, length, volume, last = source) {
  const gain = audio.createGain();
  const from = audio.currentTime + at;
  gain.gain.setValueAtTime(volume, from);
  gain.gain.exponentialRampToValueAtTime(0.0001, from + length);
  last.connect(gain);
  gain.connect(audio.destination);
  source.start(from);
  source.stop(from + length);
}

const SOUNDS = {
  card: () => brush(0, 2600, 0.09),
  tile: () => [brush(0, 1500, 0.05, 0.4), tone(0, 420, 0.06)],
  disc: () => [brush(0, 900, 0.06, 0.4), tone(0, 240, 0.08)],
  chips: () => [0, 0.05, 0.09].map((at, i) => tone(at, 2300 + 400 * i, 0.07, { volume: 0.04, type: "triangle" })),
  dice: () => [0, 0.06, 0.11, 0.18].map((at) => brush(at, 1900, 0.04, 0.35)),
  call: () => tone(0, 520, 0.12, { volume: 0.05 }),
  turn: () => [tone(0, 660, 0.14, { volume: 0.04 }), tone(0.09, 880, 0.16, { volume: 0.04 })],
  won: () => [523, 659, 784, 1047].map((pitch, i) => tone(0.1 * i, pitch, 0.3)),
  lost: () => [392, 330, 262].map((pitch, i) => tone(0.14 * i, pitch, 0.3)),
  draw: () => [440, 440].map((pitch, i) => tone(0.16 * i, pitch, 0.2)),
};

/** Makes a sound, unless they are off. @param {keyof SOUNDS} name */
export function sound(name) {
  if (audio && settings.sound === "on") SOUNDS[name]();
}

/** What a move sounds like: by what is on the table, and what was done. */
export function soundOf(kind, text) {
  if (/^(bet|raise|call)/.test(text ?? "")) return "chips";
  if (kind === "die") return "dice";
  if (!/\d|^[3-9TJQKA2BR]+$/.test(text ?? "")) return "call";
  return { domino: "tile", disc: "disc" }[kind] ?? "card";
}
