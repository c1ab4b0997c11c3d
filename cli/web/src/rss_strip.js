// The strip that says where the resident memory was when it was highest of the moments at which its
// parts were measured.

import {byId, element} from './element.js';
import {bytes, duration, plural} from './model/format.js';

// Short names of the parts of core/snapshot/memory_record.h; the title has the full meaning.
const NAMES = {live: 'live heap', rounding: 'rounding', thread_caches: 'thread caches', free: 'free blocks',
  metadata: "allocator's tables", not_resident: 'of it not resident',
  allocator_other: 'kept by the allocator', mapped: 'mapped', mapped_files: 'mapped files',
  files: 'program and libraries', stacks: 'stacks', tracker: 'memprof', unexplained: 'unexplained'};
const HUES = {live: 28, rounding: 40, thread_caches: 52, free: 64, metadata: 76, allocator_other: 46,
  mapped: 200, mapped_files: 180, files: 260, stacks: 320, tracker: 110, unexplained: 0};

// The strip's segments, [part, width] with widths below 1 that sum to 1. A negative part, bytes that
// were requested but aren't resident, shortens the parts before it and has no segment.
export function segmentsOf(parts) {
  const widths = parts.map(({bytes: size}) => Math.max(0, size));
  parts.forEach(({bytes: size}, i) => {
    let missing = Math.max(0, -size);
    for (let before = i - 1; before >= 0 && missing > 0; --before) {
      const taken = Math.min(widths[before], missing);
      widths[before] -= taken;
      missing -= taken;
    }
  });
  const whole = widths.reduce((sum, width) => sum + width, 0);
  return parts.flatMap((part, i) => widths[i] > 0 ? [[part, widths[i] / whole]] : []);
}

export function showRss({rss, program}) {
  const section = byId('rss');
  section.hidden = !rss;
  if (!rss) return;
  const color = ({name}) => `hsl(${HUES[name] ?? 0} 55% 58%)`;
  const colored = (made, part) => { made.style.background = color(part); return made; };
  const strip = element('div', {className: 'rss-strip'}, ...segmentsOf(rss.parts).map(([part, width]) => {
    const segment = colored(element('i', {title: `${bytes(part.bytes)}: ${part.meaning}`}), part);
    segment.style.width = `${100 * width}%`;
    return segment;
  }));
  const signed = (size) => size < 0 ? `−${bytes(-size)}` : bytes(size);
  const legend = rss.parts.map((part) => element('span', {title: `${part.meaning}: ` +
      (part.bytes < 0 ? '−' : '') + plural(Math.abs(part.bytes), 'byte', 'bytes')},
  part.bytes > 0 ? colored(element('i', {}), part) : null,
  `${NAMES[part.name] ?? part.name} ${signed(part.bytes)}`));
  const higher = program.rss_peak_bytes > rss.bytes ? `RSS was ${bytes(program.rss_peak_bytes)} at its ` +
      'highest, by the kernel\'s own count, at a moment when its parts were not measured' : '';
  section.replaceChildren(strip, element('p', {},
      element('strong', {title: higher}, `RSS ${bytes(rss.bytes)} at ${duration(rss.time_ms)}`), ...legend));
}
