import { useEffect, useRef, useState } from 'preact/hooks';
import { get } from './api.js';
import { count } from './parts.jsx';

const kinds = ['added', 'removed', 'destroyed', 'enabled', 'disabled', 'stream', 'message', 'request', 'event', 'observer'];

// What is searched by the filter.
const words = (one) => `${one.component} ${one.name} ${one.what} ${one.value} ${one.event ?? ''}`.toLowerCase();
const title = (one) => one.kind === 'event' ? `event ${one.event}` : one.kind === 'observer' ? `${one.what}, told ${typeof one.event === 'number' ? `event ${one.event}` : one.event}` : one.kind === 'request' ? `${one.what}, key ${one.key}` : one.what;

// What happened to components and entities, and what passed through the program, newest first. The tool keeps the last 4096.
export function Events({ source, status, select, goto }) {
  const [list, setList] = useState([]);
  const [off, setOff] = useState([]);
  const [text, setText] = useState('');
  const [held, setHeld] = useState(false);
  const last = useRef(0), busy = useRef(false);
  useEffect(() => {
    last.current = 0;
    setList([]);
  }, [source]);
  useEffect(() => {
    if (held || busy.current) return;
    busy.current = true;
    get('events', { source, after: last.current }).then((value) => {
      if (value.total < last.current) setList([]);
      last.current = value.total;
      if (value.events.length) setList((before) => [...value.events.reverse(), ...before].slice(0, 2000));
    }, () => {}).finally(() => setTimeout(() => (busy.current = false), 250));
  }, [source, status.change, held]);
  const wanted = text.trim().toLowerCase();
  const shown = list.filter((one) => !off.includes(one.kind) && (!wanted || words(one).includes(wanted)));
  return (
    <div class="page">
      <header class="bar">
        <h2>Events</h2>
        <input type="text" aria-label="Filter events by component, name or value" placeholder="component, name or value" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <span class="grow" />
        <span class="quiet">{count(shown.length)} of {count(list.length)}</span>
        <button aria-pressed={held} onClick={() => setHeld(!held)}>{held ? 'Follow' : 'Hold'}</button>
        <button onClick={() => setList([])}>Clear</button>
      </header>
      <div class="bar" role="group" aria-label="Kinds of events">
        {kinds.map((kind) => <label key={kind} class="check"><input type="checkbox" checked={!off.includes(kind)} onChange={() => setOff(off.includes(kind) ? off.filter((one) => one !== kind) : [...off, kind])} />{kind}</label>)}
      </div>
      <div class="scroller" tabIndex={0} role="region" aria-label="Events">
        <table class="grid"><thead><tr><th scope="col">frame</th><th scope="col">what</th><th scope="col">which</th><th scope="col">component</th><th scope="col">entity</th><th scope="col">number</th><th scope="col" class="wide">value</th></tr></thead>
          <tbody>{shown.slice(0, 120).map((one) => (
            <tr key={one.number}><td class="value">{one.frame}</td><td><span class={`tag ${one.kind.replace(' ', '-')}`}>{one.kind}</span></td><td>{title(one)}</td><td>{one.component && <span class="chip">{one.component}</span>}</td>
              <td>{one.entity !== '0' && <button class="link" onClick={() => (select(one.entity), goto('entities'))}>{one.name || `#${BigInt(one.entity) & 0xffffffffn}`}</button>}</td><td class="value">{one.count > 1 ? count(one.count) : ''}</td><td class="value" title={one.value}>{one.value}</td></tr>))}</tbody></table>
        {!shown.length && <p class="quiet pad">{status.program || status.recording ? 'Nothing has happened since the page was opened.' : 'A file does not change.'}</p>}
      </div>
    </div>
  );
}
