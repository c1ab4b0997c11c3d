// Formats numbers and times for people, like core/units.h for the text reports. Every figure is
// also available exactly.

const count = new Intl.NumberFormat('en-US');
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

// Above 2^53 a page's numbers are no longer exact, and say so.
export function exact(value) {
  return (Number.isSafeInteger(value) ? '' : '≈ ') + count.format(value);
}

export function bytes(value) {
  let unit = 0, scaled = value;
  // 1023.95 and above would be shown as "1024.0".
  while ((unit === 0 ? scaled >= 1024 : scaled >= 1023.95) && unit < UNITS.length - 1) {
    scaled /= 1024;
    ++unit;
  }
  return unit === 0 ? `${value} B` : `${scaled.toFixed(1)} ${UNITS[unit]}`;
}

export const plural = (n, one, many) => `${exact(n)} ${n === 1 ? one : many}`;

// "12.3 ± 0.9 MiB", the error in the figure's own unit; without an error as bytes().
export function bytesWithError(value, error) {
  const text = bytes(value);
  if (!(error > 0)) return text;
  const [number, unit] = text.split(' ');
  const scaled = error / 1024 ** UNITS.indexOf(unit);
  return `${number} ± ${scaled.toFixed(unit === 'B' ? 0 : 1)} ${unit}`;
}

export const measureWithError = (value, error, by) => by === 'bytes' ? bytesWithError(value, error)
    : error > 0 ? `${exact(value)} ± ${exact(Math.round(error))}` : exact(value);

export const measure = (value, by) => by === 'bytes' ? bytes(value) : exact(value);
export const measureExact = (value, by) => by === 'bytes'
    ? plural(value, 'byte', 'bytes') : plural(value, 'allocation', 'allocations');

export function share(part, whole) {
  if (!(whole > 0)) return '-';
  const percent = 100 * part / whole;
  if (part > 0 && percent < 0.05) return '< 0.1%';
  if (part < whole && percent >= 99.95) return '> 99.9%';
  return `${percent.toFixed(1)}%`;
}

export function duration(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const total = Math.floor(ms / 1000);
  const [d, h, m, s] = [Math.floor(total / 86400), Math.floor(total / 3600) % 24,
    Math.floor(total / 60) % 60, total % 60];
  if (d > 0) return `${d} d ${h} h ${m} min`;
  if (h > 0) return `${h} h ${m} min`;
  return `${m} min ${s} s`;
}

export function moment(unixMs) {
  if (!unixMs) return '';
  const date = new Date(unixMs);
  return Number.isNaN(date.getTime()) ? ''
      : date.toISOString().replace('T', ' ').replace(/\.\d+Z$/, ' UTC');
}

export const baseName = (path) => path.slice(path.lastIndexOf('/') + 1);

export function shortened(text, limit) {
  return text.length <= limit ? text
      : `${text.slice(0, limit)}… (${count.format(text.length)} characters)`;
}
