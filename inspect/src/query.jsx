import { useRef, useState } from 'preact/hooks';
import { get, post } from './api.js';
import { brief, count, label } from './parts.jsx';

const csv = (columns, rows) => [columns, ...rows].map((row) => row.map((cell) => {
  const text = cell === null || cell === undefined ? '' : typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}).join(',')).join('\n');

function download(name, text) {
  const link = document.createElement('a');
  link.href = `data:text/csv;charset=utf-8,${encodeURIComponent(text)}`;
  link.download = name;
  link.click();
}

const words = { query: ['write', 'has', 'changed', 'added', 'disabled', '$this'], sql: ['select', 'from', 'where', 'group by', 'order by', 'limit', 'count(*)', 'join', 'entities'] };

// The part of a word before the caret, and what it may become.
function completions(mode, text, caret, components) {
  const part = /[\w.:]+$/.exec(text.slice(0, caret))?.[0] ?? '';
  if (!part) return { part, list: [] };
  const fields = mode === 'sql' ? components.flatMap((one) => one.type.fields.map((field) => field.name)) : [];
  const all = [...new Set([...components.map((one) => one.name), ...fields, ...words[mode]])];
  return { part, list: all.filter((one) => one.toLowerCase().startsWith(part.toLowerCase()) && one !== part).slice(0, 8) };
}

// The terms of a query as C.
function code(text) {
  const kinds = { write: 'MICA_WRITE', has: 'MICA_HAS', changed: 'MICA_CHANGED', added: 'MICA_ADDED' };
  const terms = text.split(',').map((one) => one.trim()).filter(Boolean);
  const simple = terms.every((one) => /^(!|\?)?(write |has |changed |added )?\w+$/.test(one));
  if (!simple) return `mica_query *query = mica_query_text(world, ${JSON.stringify(text.trim())}, &error);`;
  const list = terms.map((one) => {
    const [, sign, word, name] = /^(!|\?)?(?:(\w+) )?(\w+)$/.exec(one);
    return sign === '!' ? `MICA_WITHOUT(${name})` : sign === '?' ? `${word === 'write' ? 'MICA_MAYBE_WRITE' : 'MICA_MAYBE_READ'}(${name})` : `${kinds[word] ?? 'MICA_READ'}(${name})`;
  });
  return `mica_query *query = mica_query_create(world, MICA_QUERY(${list.join(', ')}));\nfor (mica_view view = mica_query_begin(query); mica_view_next(&view);)\n    for (uint32_t i = 0; i < view.count; ++i)\n        ...`;
}

const starts = { query: 'Place, Soldier', sql: 'select entity, name, components\nfrom entities\nwhere name is not null' };

export function Query({ source, components, select, show }) {
  const [mode, setMode] = useState('query');
  const [texts, setTexts] = useState(() => ({ ...starts, query: components.slice(0, 2).map((one) => one.name).join(', ') || '' }));
  const [result, setResult] = useState(null);
  const area = useRef();
  const [caret, setCaret] = useState(-1);
  const [showCode, setShowCode] = useState(false);
  const text = texts[mode];
  const offer = caret >= 0 ? completions(mode, text, caret, components) : { part: '', list: [] };
  const complete = (word) => {
    const begin = caret - offer.part.length, next = text.slice(0, begin) + word + text.slice(caret);
    setText(next);
    setCaret(-1);
    setTimeout(() => (area.current.focus(), area.current.setSelectionRange(begin + word.length, begin + word.length)));
  };
  const setText = (value) => setTexts({ ...texts, [mode]: value });
  const run = async () => {
    const begin = performance.now();
    try {
      if (mode === 'query') {
        const [plan, found] = await Promise.all([get('query', { source, query: text }), get('entities', { source, query: text, limit: 1000 })]);
        setResult({ columns: ['entity', ...found.columns], rows: found.rows.map((row) => [label(row), ...row.cells]), ids: found.rows.map((row) => row.id), total: found.total, plan: plan.plan, ms: performance.now() - begin });
      } else {
        const found = await post('sql', { source }, text);
        const entity = found.columns.indexOf('entity');
        setResult({ columns: found.columns, rows: found.rows, ids: entity >= 0 ? found.rows.map((row) => String(row[entity])) : null, total: found.rows.length, cut: found.cut, ms: performance.now() - begin });
      }
    } catch (error) {
      setResult({ error: error.message, position: error.position });
    }
  };
  const insert = (name) => setText(mode === 'query' ? (text.trim() ? `${text.replace(/[\s,]+$/, '')}, ${name}` : name) : `${text} ${name}`);
  return (
    <div class="page">
      <header class="bar">
        <div role="tablist" aria-label="Language" class="tabs">
          <button role="tab" aria-selected={mode === 'query'} onClick={() => (setMode('query'), setResult(null))}>Query</button>
          <button role="tab" aria-selected={mode === 'sql'} onClick={() => (setMode('sql'), setResult(null))}>SQL</button>
        </div>
        <span class="grow" />
        {mode === 'query' && <button aria-pressed={showCode} onClick={() => setShowCode(!showCode)}>C</button>}
        {result?.rows && <button onClick={() => download(`${mode}.csv`, csv(result.columns, result.rows))}>CSV</button>}
        <button class="primary" onClick={run}>Run <kbd>Ctrl Enter</kbd></button>
      </header>
      <textarea ref={area} class="code" rows={4} spellcheck={false} aria-label={mode === 'query' ? 'Query text' : 'SQL statement'} value={text} onInput={(event) => (setText(event.currentTarget.value), setCaret(event.currentTarget.selectionStart))} onBlur={() => setTimeout(() => setCaret(-1), 200)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) (event.preventDefault(), setCaret(-1), run());
          else if (event.key === 'Tab' && offer.list.length) (event.preventDefault(), complete(offer.list[0]));
          else if (event.key === 'Escape') setCaret(-1);
        }} />
      {offer.list.length > 0 && <div class="offers" aria-label="Completions"><kbd>Tab</kbd>{offer.list.map((one) => <button class="small" key={one} onClick={() => complete(one)}>{one}</button>)}</div>}
      {showCode && mode === 'query' && <pre class="code panel">{code(text)}</pre>}
      <div class="chips" aria-label="Components">{components.map((one) => <button class="chip link" key={one.name} onClick={() => insert(one.name)}>{one.name}</button>)}</div>
      {result?.error && <div class="problem" role="alert">{result.error}{result.position !== undefined && <pre>{text.split('\n')[0]}{'\n'}{' '.repeat(result.position)}^</pre>}</div>}
      {result?.rows && (
        <>
          <p class="quiet">{count(result.total)} {mode === 'query' ? 'entities' : 'rows'}{result.cut ? ' and more' : ''} in {result.ms.toFixed(0)} ms{result.plan && `, ${result.plan.split('\n')[0]}`}</p>
          {result.plan && <details><summary>Plan</summary><pre class="code">{result.plan}</pre></details>}
          <div class="scroller"><table class="grid"><thead><tr>{result.columns.map((name) => <th scope="col" key={name}>{name}</th>)}</tr></thead>
            <tbody>{result.rows.slice(0, 500).map((row, i) => <tr key={i}>{row.map((cell, j) => <td key={j} class="value">{result.ids && ((mode === 'query' && j === 0) || result.columns[j] === 'entity') ? <button class="link" onClick={() => (select(result.ids[i]), show('entities'))}>{brief(cell)}</button> : brief(cell)}</td>)}</tr>)}</tbody></table></div>
        </>
      )}
    </div>
  );
}
