// What a term matches: plain text, ignoring case, or /a regular expression/, in a frame's function,
// file or module.

const PATTERN = /^\/(.+)\/$/;

export function makeMatcher(term) {
  const text = term.trim();
  if (text === '') return null;
  const pattern = PATTERN.exec(text);
  if (pattern) {
    if (searchError(text) !== '') return () => false;
    const expression = new RegExp(pattern[1], 'i');
    return (value) => expression.test(value);
  }
  const lower = text.toLowerCase();
  return (value) => value.toLowerCase().includes(lower);
}

// Why nothing can match; empty: the term is well formed.
export function searchError(term) {
  const pattern = PATTERN.exec(term.trim());
  if (!pattern) return '';
  try {
    new RegExp(pattern[1], 'i');
    return '';
  } catch {
    return 'no regular expression yet';
  }
}

// A test of frames {function, file, module}; null without a term.
export function makeFrameMatcher(term) {
  const matches = makeMatcher(term);
  return matches && (({function: name, file, module}) =>
      matches(name) || matches(file) || matches(module));
}
