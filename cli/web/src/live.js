// The live page: follows the server that it came from. The server tells of each look by an event; the
// page then fetches the look's data, unless it is paused, hidden, or the reader is in the middle of
// something.

import {byId} from './element.js';

const BETWEEN_FETCHES_MS = 2000;
const RETRY_MS = 2000;
const BUSY = 'input:not([type=checkbox]):not([type=range]), select, textarea';

// `show(text)` shows other data.
export function createLive(show) {
  const bar = byId('live'), said = byId('live-state'), pause = byId('live-pause');
  let paused = false, connected = false, ended = false, trouble = '';
  let offered = 0, shown = 0, fetching = false, earliest = 0, buttons = 0;

  bar.hidden = false;
  pause.addEventListener('click', () => { paused = !paused; say(); follow(); });
  addEventListener('pointerdown', () => { buttons = 1; });
  for (const type of ['pointerup', 'pointercancel']) addEventListener(type, () => { buttons = 0; });
  document.addEventListener('visibilitychange', () => follow());

  function say() {
    const [state, text] = !connected ? ['lost', 'Connection lost: these are the last figures'] :
        trouble ? ['lost', trouble] : ended ? ['ended', 'The program has ended: these are its last figures'] :
        paused ? ['paused', 'Paused'] : ['live', 'Live'];
    bar.dataset.state = state;
    said.textContent = text;
    pause.textContent = paused ? 'Go on' : 'Pause';
    pause.setAttribute('aria-pressed', String(paused));
  }

  const busy = () => document.hidden || buttons !== 0 || document.querySelector('dialog[open]') ||
      document.activeElement?.matches(BUSY);

  async function follow() {
    if (paused || fetching || offered === shown) return;
    const wait = earliest - performance.now();
    if (busy() || wait > 0) {
      setTimeout(follow, Math.max(wait, 300));
      return;
    }
    fetching = true;
    try {
      const wanted = offered;
      const answer = await fetch(`page-data${location.search}`, {cache: 'no-store'});
      trouble = answer.ok ? '' : (await answer.clone().text()).trim();
      if (answer.ok) {
        const text = await answer.text();
        if (!paused && !busy()) {
          show(text);
          shown = wanted;
        }
      }
    } catch {
      connected = false;  // the events say when there is a connection again
    }
    fetching = false;
    earliest = performance.now() + BETWEEN_FETCHES_MS;
    say();
  }

  function connect() {
    const events = new EventSource('events');
    events.addEventListener('open', () => {
      connected = true;
      offered = shown = 0;  // another server counts its own looks
      say();
    });
    events.addEventListener('look', (event) => {
      const {look, runs} = JSON.parse(event.data);
      connected = true;
      ended = runs.every((run) => run.ended);
      offered = look;
      say();
      follow();
    });
    events.addEventListener('error', () => {
      connected = false;
      say();
      if (events.readyState !== EventSource.CLOSED) return;  // it tries again by itself
      events.close();
      setTimeout(connect, RETRY_MS);
    });
  }
  connected = true;
  say();
  connect();
}
