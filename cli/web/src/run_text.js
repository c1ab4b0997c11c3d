// What ran and how it ended, in words.

import {duration, moment} from './model/format.js';

// Quoted for a shell, so that an empty argument is visible.
const quoted = (argument) => /^[\w@%+=:,./-]+$/.test(argument) ? argument
    : `'${argument.replaceAll("'", "'\\''")}'`;
export const quotedCommand = (command) => command.map(quoted).join(' ');

export function endText({kind, code, signal}) {
  switch (kind) {
    case 'exit': return `exited with ${code}`;
    case 'signal': return `was ended by ${signal} (${code})`;
    case 'exec': return 'executed another program';
    case 'ended': return 'ended, exit status not known';
    case 'cut': return 'had not ended at its last checkpoint';
    default: return 'was still running';
  }
}

// A capture that has lost its section of the run has none of these; the warnings say so.
export const runText = ({pid, start_ms: start, duration_ms: length, end}) => pid === 0 ? ''
    : [`pid ${pid}`, moment(start), `${duration(length)}, ${endText(end)}`].filter(Boolean).join(' · ');
