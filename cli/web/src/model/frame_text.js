// A drawn node in words: its place and its stack.

import {KIND_ROW} from './capture.js';
import {stackOf} from './call_tree.js';
import {bytes, exact} from './format.js';

// The place of its code. Merging may have joined nodes of several lines.
export function whereOf(capture, node) {
  const frames = node.parent === null || node.frame.kind === KIND_ROW ? [node.frame]
      : node.places.map((place) => capture.frame(capture.nodes.frame[place]));
  const lines = [...new Set(frames.flatMap((frame) => frame.lines ? [frame.lines] : []))];
  const {file, module} = node.frame;
  return {
    place: placeText(file, lines.length > 4 ? [...lines.slice(0, 4), '…'].join(', ')
        : lines.join(', ')),
    module,
    // The text of its lines, two at most.
    source: [...new Set(frames.flatMap((frame) => frame.source ? [frame.source] : []))].slice(0, 2),
    inlined: frames.length > 0 && frames.every((frame) => frame.inlined),
  };
}

export const placeText = (file, lines) => file ? file + (lines ? `:${lines}` : '') : '';

// In a debugger's format, innermost first.
export const stackText = (frames) => frames.map(({name, place, module}, i) =>
    `#${i} ${name}` + (place ? ` at ${place}` : module ? ` in ${module}` : '')).join('\n');

export const drawnStackText = (capture, node, direction) => stackText(
    stackOf(node, direction).map((frame) => ({name: frame.name, ...whereOf(capture, frame)})));

// "+1.5 MiB", "−12 B", "±0 B".
export const signed = (value, by) => (value > 0 ? '+' : value < 0 ? '−' : '±') +
    (by === 'bytes' ? bytes(Math.abs(value)) : exact(Math.abs(value)));
