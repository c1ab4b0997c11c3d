// Elements whose text is text: no string of a capture ever passes through an HTML parser.

export function element(tag, {className, title, ...attributes} = {}, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (title) made.title = title;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);
