import { useEffect, useState } from 'preact/hooks';
import { control, get } from './api.js';
import { Entity, handleOf } from './entity.jsx';
import { Cell, Icon, VirtualTable, count, label, shownOf, tickOf, useAnswer } from './parts.jsx';

function Branch({ row, source, tick, shown, depth, selected, select }) {
  const [open, setOpen] = useState(depth === 0 && row.children > 0 && row.children < 20);
  const answer = useAnswer(() => (open ? get('tree', { source, parent: row.id }) : Promise.resolve({ rows: [] })), [open, shown, row.id], { tick, minimum: 500 });
  return (
    <li role="treeitem" aria-expanded={row.children ? open : undefined} aria-selected={selected === row.id}>
      <div class={`branch ${selected === row.id ? 'selected' : ''}`} style={{ paddingLeft: `${depth * 16 + 4}px` }}>
        <button class="twist" disabled={!row.children} aria-label={open ? `Close ${label(row)}` : `Open ${label(row)}`} onClick={() => setOpen(!open)}>
          <span class={open ? 'turned' : ''}>{row.children > 0 && <Icon name="chevron" size={12} />}</span>
        </button>
        <button class="plain grow" onClick={() => select(row.id)}>{label(row)}</button>
        {row.children > 0 && <span class="badge">{row.children}</span>}
      </div>
      {open && answer.value && (
        <ul role="group">{answer.value.rows.map((child) => <Branch key={child.id} row={child} {...{ source, tick, shown, selected, select }} depth={depth + 1} />)}</ul>
      )}
    </li>
  );
}

function Tree({ source, tick, shown, selected, select }) {
  const [all, setAll] = useState(false);
  const [limit, setLimit] = useState(200);
  const { value } = useAnswer(() => get('tree', { source, limit, linked: all ? 0 : 1 }), [source, shown, all, limit], { tick, minimum: 500 });
  return (
    <section class="tree" aria-label="Tree of entities">
      <header class="bar">
        <h2>Hierarchy</h2>
        <label class="check"><input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />all roots</label>
      </header>
      <div class="scroller">
        <ul role="tree" aria-label="Entities">
          {value?.rows.map((row) => <Branch key={row.id} row={row} depth={0} {...{ source, tick, shown, selected, select }} />)}
        </ul>
        {value && value.rows.length === 0 && <p class="quiet pad">No entity has a name or children.</p>}
        {value && value.total > value.rows.length && limit < 1000 && <button class="more" onClick={() => setLimit(1000)}>{count(value.total - value.rows.length)} more</button>}
      </div>
    </section>
  );
}

export function Entities({ source, status, components, selected, select, goto }) {
  const [text, setText] = useState('');
  const [query, setQuery] = useState('');
  const [window_, setWindow] = useState({ offset: 0, limit: 60 });
  const tick = tickOf(status), shown = shownOf(status);
  useEffect(() => {
    const timer = setTimeout(() => setQuery(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  const offset = Math.max(0, window_.offset - 20);
  const { value, error } = useAnswer(() => get('entities', { source, query, offset, limit: window_.limit + 40 }), [source, query, offset, window_.limit, shown], { tick });
  const [hidden, setHidden] = useState([]);
  const names = value?.columns ?? [];
  const kept = names.map((_, i) => i).filter((i) => !hidden.includes(names[i]));
  const hasChips = !hidden.includes('Components');
  const columns = ['Entity', ...kept.map((i) => names[i]), ...(hasChips ? ['Components'] : [])];
  const locked = status.read_only || !status.live || !status.connected;
  const rows = value?.rows ?? [];
  const types = Object.fromEntries(components.map((one) => [one.name, one.type]));
  const open = async (reference) => {
    const found = handleOf(reference) ?? (await get('entity', { source, path: reference }).catch(() => null))?.id;
    if (found) select(found);
  };
  const move = (by) => {
    const at = rows.findIndex((row) => row.id === selected);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next) select(next.id);
  };
  return (
    <div class="columns">
      <Tree {...{ source, tick, shown, selected, select }} />
      <section class="fill" aria-label="Table of entities">
        <header class="bar">
          <div class={`search ${error ? 'wrong' : ''}`}>
            <Icon name="query" />
            <input id="filter" type="text" spellcheck={false} autocomplete="off" list="component-names" aria-label="Filter entities with a query" aria-invalid={!!error} placeholder="Filter: Place, Soldier, !Spark" value={text} onInput={(event) => setText(event.currentTarget.value)} />
            <kbd>/</kbd>
          </div>
          <datalist id="component-names">{components.map((one) => <option key={one.name} value={one.name} />)}</datalist>
          <span class="quiet">{value ? `${count(value.total)} entities` : ''}</span>
          <details class="menu"><summary>Columns</summary><div>{[...names, 'Components'].map((name) => <label key={name} class="check"><input type="checkbox" checked={!hidden.includes(name)} onChange={() => setHidden(hidden.includes(name) ? hidden.filter((one) => one !== name) : [...hidden, name])} />{name}</label>)}</div></details>
          <button disabled={locked} onClick={() => control(source, 'create').then((answer) => select(answer.text), () => {})}>Create</button>
        </header>
        {error && <p class="problem" role="alert">{error.position !== undefined ? `At ${error.position}: ` : ''}{error.message}</p>}
        <VirtualTable
          name="Entities" total={value?.total ?? 0} columns={columns} rows={rows} offset={value?.offset ?? 0} onMove={move}
          onWindow={(first, limit) => setWindow({ offset: first, limit })}
          renderRow={(row) => (
            <tr key={row.id} class={row.id === selected ? 'selected' : ''} aria-selected={row.id === selected} onClick={() => select(row.id)}>
              <td><button class="plain" onClick={() => select(row.id)}>{label(row)}</button></td>
              {kept.map((i) => <td key={i} class="value" title={JSON.stringify(row.cells[i])}><Cell type={types[names[i]]} value={row.cells[i]} open={open} /></td>)}
              {hasChips && <td>{row.components.map((name) => <span key={name} class="chip">{name}</span>)}</td>}
            </tr>
          )}
        />
      </section>
      {selected && <Entity {...{ source, status, components, select, goto }} id={selected} />}
    </div>
  );
}
