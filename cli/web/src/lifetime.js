// Listeners on the window live as long as the page's parts: a live page makes its parts anew with each
// look, and those of the look before must not listen on.

let lifetime = new AbortController();

export const listen = (type, listener, options = {}, target = window) =>
  target.addEventListener(type, listener, {...options, signal: lifetime.signal});

export function endLifetime() {
  lifetime.abort();
  lifetime = new AbortController();
}
