// What the reader has chosen, in another look at the same program: numbers of nodes, functions, threads
// and processes differ from look to look, what they stand for doesn't.

// The changes of `state` (view_state.js) that make it mean in `to` what it means in `from`. What isn't
// there any more is no longer chosen.
export function carriedOver(state, from, to) {
  return {
    thread: state.thread === '' ? '' : indexText(to.threads, from.threads[Number(state.thread)]),
    process: carriedProcess(state.process, from, to),
    fn: state.fn === '' ? '' : carriedFunction(Number(state.fn), from, to),
    zoom: carriedZoom(state.zoom, from, to),
  };
}

function indexText(all, value) {
  const index = value === undefined ? -1 : all.indexOf(value);
  return index < 0 ? '' : String(index);
}

function carriedProcess(process, from, to) {
  const pid = process === '' ? undefined : from.processes?.listed[Number(process)]?.pid;
  return indexText(to.processes?.listed.map((each) => each.pid) ?? [], pid);
}

const keyOfFunction = ({functions}, fn) => {
  const frame = functions.frame[fn];
  return frame && [frame.function, frame.file, frame.module].join('\n');
};

function carriedFunction(fn, from, to) {
  const key = keyOfFunction(from, fn);
  for (let i = 0; key !== undefined && i < to.functions.count; ++i) {
    if (keyOfFunction(to, i) === key) return String(i);
  }
  return '';
}

function carriedZoom(zoom, from, to) {
  if (zoom.startsWith('f')) {
    const fn = carriedFunction(Number(zoom.slice(1)), from, to);
    return fn === '' ? '' : `f${fn}`;
  }
  // A caller's place in a stack: the stack's leaf, and how far out.
  const [node, ...place] = zoom.split('-');
  if (!/^\d+$/.test(node)) return '';
  const found = nodeAt(to, pathOf(from, Number(node)));
  return found === 0 ? '' : [found, ...place].join('-');
}

const keyOfFrame = (capture, index) => {
  // Without lines: a look may know more of them.
  const {function: name, file, module} = capture.frame(index);
  return [name, file, module].join('\n');
};

// From the root inwards.
function pathOf(capture, node) {
  const path = [], {parent, frame} = capture.nodes;
  for (let at = node; at > 0 && at < parent.length; at = parent[at]) {
    path.push(keyOfFrame(capture, frame[at]));
  }
  return path.reverse();
}

// 0: there is no such path.
function nodeAt(capture, path) {
  const {parent, frame} = capture.nodes;
  let at = 0;
  for (const key of path) {
    let next = 0;
    // Parents come before their children.
    for (let node = at + 1; node < parent.length && next === 0; ++node) {
      if (parent[node] === at && keyOfFrame(capture, frame[node]) === key) next = node;
    }
    if (next === 0) return 0;
    at = next;
  }
  return at;
}
