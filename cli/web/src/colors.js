// A frame's colour tells where its code is: warm for the program itself, yellow for Python functions,
// cool by module for its libraries, grey violet for a Python interpreter, grey for system frames, pale
// for rows that are no code, magenta for matches of the search.

import {KIND_INTERPRETER, KIND_ROW, KIND_SYSTEM} from './model/capture.js';
import {baseName} from './model/format.js';

const THEMES = {
  light: {python: [72, 68], program: [64, 70], library: [40, 76], interpreter: [22, 80], system: [12, 82], row: [18, 90], match: [72, 74]},
  dark: {python: [54, 31], program: [52, 33], library: [30, 32], interpreter: [14, 32], system: [8, 29], row: [10, 22], match: [60, 44]},
};

function hash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length && i < 256; ++i) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return h >>> 0;
}

// The executable may have another name than the program (python3 is python3.11), but it has no
// ".so" in it, and libraries do.
export function originOf(frame) {
  if (frame.kind === KIND_ROW) return 'row';
  if (frame.kind === KIND_SYSTEM) return 'system';
  if (frame.kind === KIND_INTERPRETER) return 'interpreter';
  if (/\.py$|^</.test(frame.module)) return 'python';
  if (/^(lib)?python(\d|\.so|$)/.test(baseName(frame.module))) return 'interpreter';
  return /\.so(\.|$)/.test(baseName(frame.module)) ? 'library' : 'program';
}

export function colorOf(node, theme) {
  const origin = node.match ? 'match' : originOf(node.frame);
  const [saturation, lightness] = THEMES[theme][origin];
  const spread = hash(node.name);
  const nuance = (spread >>> 8) % 7 - 3;
  const hue = {
    python: () => 44 + spread % 12,
    program: () => 14 + spread % 28,
    interpreter: () => 270 + spread % 12,
    library: () => 165 + hash(baseName(node.frame.module)) % 100 + (spread >>> 16) % 17,
    system: () => 220,
    row: () => 220,
    match: () => 305,
  }[origin]();
  return `hsl(${hue} ${saturation}% ${lightness + (origin === 'row' ? 0 : nuance)}%)`;
}

export const sampleOf = (origin, theme) => {
  const [saturation, lightness] = THEMES[theme][origin];
  const hue = {python: 50, program: 28, interpreter: 276, library: 195, system: 220, row: 220, match: 305}[origin];
  return `hsl(${hue} ${saturation}% ${lightness}%)`;
};
