// The figures by function of a page's data, summed the plain way over its nodes, which must be whole.
// The models' tests make captures with it.

const KEPT = '[runtime, kept by design]', NO_PROGRAM = '[system frames]';
const SYSTEM = 1, ROW = 2, INTERPRETER = 3;

export function naiveFunctions(data) {
  const {strings, frames, nodes, own} = data;
  const names = [];  // [function, file, module, kind]
  const indexOf = (name) => {
    const at = names.findIndex((other) => other.join('/') === name.join('/'));
    return at >= 0 ? at : names.push(name) - 1;
  };
  const stringOf = (text) => strings.includes(text) ? strings.indexOf(text) : strings.push(text) - 1;
  const of = (node) => {
    const i = nodes.frame[node];
    return [frames.function[i], frames.file[i], frames.module[i], frames.kind[i]];
  };
  const columns = Object.keys(own).filter((name) => /_(bytes|allocations)$/.test(name));
  const tables = Object.fromEntries(['self', 'located', 'inclusive'].map((name) => [name, new Map()]));
  const add = (table, name, row) => {
    const fn = indexOf(name), thread = own.thread?.[row] ?? 0;
    const at = `${fn}/${thread}`;
    const sums = tables[table].get(at) ?? {fn, thread, columns: {}, variances: {}};
    tables[table].set(at, sums);
    for (const column of columns) {
      sums.columns[column] = (sums.columns[column] ?? 0) + own[column][row];
      sums.variances[column] =
          (sums.variances[column] ?? 0) + (data.sampled?.variances[column]?.[row] ?? 0);
    }
  };
  own.node.forEach((leaf, row) => {
    if (!columns.some((column) => own[column][row] > 0)) return;
    const stack = [];
    for (let node = leaf; node !== 0; node = nodes.parent[node]) stack.push(of(node));
    const outermost = stack.at(-1);
    const kept = outermost?.[3] === ROW && strings[outermost[0]] === KEPT ? outermost : null;
    const none = [stringOf(NO_PROGRAM), 0, 0, ROW];
    const location = stack.find(([, , , kind]) => kind !== SYSTEM && kind !== INTERPRETER) ?? none;
    add('self', kept ?? stack[0] ?? none, row);
    add('located', kept ?? location, row);
    const distinct = new Map(stack.map((name) => [name.join('/'), name]));
    for (const name of distinct.values()) add('inclusive', name, row);
  });
  const table = (rows) => {
    const all = [...rows.values()];
    const table = {of: all.map(({fn}) => fn), variances: {}};
    if (own.thread) table.thread = all.map(({thread}) => thread);
    for (const column of columns) {
      table[column] = all.map((row) => row.columns[column]);
      table.variances[column] = all.map((row) => row.variances[column]);
    }
    return table;
  };
  const [self, located, inclusive] = Object.values(tables).map(table);
  return {function: names.map(([name]) => name), file: names.map(([, file]) => file),
    module: names.map(([, , module]) => module), kind: names.map(([, , , kind]) => kind), others: 0,
    self, located, inclusive};
}
