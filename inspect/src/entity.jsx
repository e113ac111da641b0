import { useEffect, useRef, useState } from 'preact/hooks';
import { control, get, post } from './api.js';
import { Icon, brief, colorOf, isColor, label, shownOf, tickOf, useAnswer } from './parts.jsx';

// An input that shows the live value until it is edited, and sends it with Enter or when it loses the focus.
function Live({ value, send, type = 'text', name, ...more }) {
  const [draft, setDraft] = useState(null);
  const input = useRef();
  const commit = () => {
    if (draft !== null && draft !== String(value)) send(draft);
    setDraft(null);
  };
  return (
    <input
      ref={input} type={type} aria-label={name} value={draft ?? value} {...more}
      onInput={(event) => setDraft(event.currentTarget.value)} onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === 'Enter') input.current.blur();
        if (event.key === 'Escape') {
          setDraft(null);
          event.stopPropagation();
        }
      }}
    />
  );
}

const integers = ['i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64'];
export const handleOf = (text) => {
  const found = /^#(\d+):(\d+)$/.exec(text ?? '');
  return found ? String((BigInt(found[2]) << 32n) | BigInt(found[1])) : null;
};

function Scalar({ field, value, send, name, locked, open }) {
  const constants = field.type?.constants ?? [];
  if (field.kind === 'bool') return <input type="checkbox" aria-label={name} checked={value} disabled={locked} onChange={(event) => send(event.currentTarget.checked)} />;
  if (field.kind === 'enum')
    return (
      <select aria-label={name} value={value} disabled={locked} onChange={(event) => send(event.currentTarget.value)}>
        {constants.map((one) => <option key={one}>{one}</option>)}
        {!constants.includes(value) && <option>{value}</option>}
      </select>
    );
  if (field.kind === 'flags')
    return (
      <span class="flags">
        {constants.map((one) => (
          <label key={one} class="check"><input type="checkbox" disabled={locked} checked={Array.isArray(value) && value.includes(one)} onChange={(event) => send(event.currentTarget.checked ? [...value, one] : value.filter((other) => other !== one))} />{one}</label>
        ))}
      </span>
    );
  if (field.kind === 'entity')
    return (
      <span class="row">
        <Live name={name} value={value ?? ''} disabled={locked} placeholder="none" send={(text) => send(text === '' ? null : text)} />
        {value && <button class="small" aria-label={`Open ${value}`} onClick={() => open(value)}>open</button>}
      </span>
    );
  if (field.kind === 'f32' || field.kind === 'f64' || integers.includes(field.kind)) {
    const hasRange = Number.isFinite(field.minimum) && Number.isFinite(field.maximum);
    const parse = (text) => (text.trim() !== '' && Number.isFinite(Number(text)) && field.kind !== 'i64' && field.kind !== 'u64' ? Number(text) : text);
    return (
      <span class="row">
        {isColor(field, value) && <input type="color" aria-label={`${name} as a colour`} disabled={locked} value={colorOf(value)} onChange={(event) => send(parseInt(event.currentTarget.value.slice(1), 16))} />}
        <Live name={name} value={value} disabled={locked} inputMode="decimal" class="number" send={(text) => send(parse(text))} />
        {hasRange && <input type="range" tabIndex={-1} aria-label={`${name} as a slider`} min={field.minimum} max={field.maximum} step="any" disabled={locked} value={value} onChange={(event) => send(Number(event.currentTarget.value))} />}
        {field.unit && <span class="quiet">{field.unit}</span>}
      </span>
    );
  }
  if (field.kind === 'text' || field.kind === 'char') return <Live name={name} value={value} disabled={locked} class="wide" send={send} />;
  return <Live name={name} value={JSON.stringify(value)} disabled={locked} class="wide" send={(text) => send(JSON.parse(text))} />;
}

function Field({ field, value, path, send, locked, open, history }) {
  const isStruct = field.kind === 'struct' && field.count === 1 && value && typeof value === 'object' && !Array.isArray(value);
  if (isStruct)
    return (
      <div class="nested"><span class="name">{field.name}</span>
        {field.type.fields.map((one) => <Field key={one.name} field={one} value={value[one.name]} path={`${path}.${one.name}`} locked={locked} open={open} history={history} send={(part) => send({ [one.name]: part })} />)}
      </div>
    );
  const isArray = field.kind === 'list' || (field.count > 1 && field.kind !== 'char') || field.kind === 'struct';
  return (
    <div class="field" title={field.note}>
      <button class="name" title={`${field.note ? `${field.note}\n` : ''}When did it change?`} onClick={() => history(path)}>{field.name}</button>
      <Scalar field={isArray ? { ...field, kind: 'json' } : field} value={value} name={path} locked={locked} open={open} send={send} />
    </div>
  );
}

const place = (system) => `${system.file?.split('/').pop()}:${system.line}`;

// What changed a value in a frame. The program runs that frame again to find out.
function Writers({ source, id, component, field, frame, first }) {
  const [asked, setAsked] = useState(first);
  const { value, error } = useAnswer(() => (asked ? get('wrote', { source, entity: id, component, field, frame }) : Promise.resolve(null)), [asked, id, component, field, frame]);
  if (!asked) return <button class="small" onClick={() => setAsked(true)}>who?</button>;
  if (error) return <span class="quiet">{error.message}</span>;
  if (!value) return <span class="quiet">…</span>;
  if (!value.changes.length) return <span class="quiet">not found again</span>;
  return value.changes.map((change, i) => (
    <div key={i}>
      {change.kind === 'program' ? <span class="quiet">the program or an edit, between frames</span>
        : change.kind === 'flush' ? <>recorded by {change.systems.map((system) => <span key={system.system} title={`${system.file}:${system.line}`}><b>{system.system}</b> </span>)}</>
        : change.systems.map((system) => <span key={system.system} title={`${system.file}:${system.line}`}><b>{system.system}</b> <span class="quiet">{place(system)}</span></span>)}
      {value.changes.length > 1 && <span class="value quiet"> {brief(change.before)} → {brief(change.after)}</span>}
    </div>
  ));
}

function History({ source, id, component, field, close, status, goto }) {
  const { value } = useAnswer(() => get('changes', { source, entity: id, component, field }), [id, component, field, status.live ? 0 : status.frame]);
  const { value: stats } = useAnswer(() => get('stats', { source }), [source]);
  const writers = stats?.systems?.filter((system) => system.accesses.some((access) => access.name === component && access.write)) ?? [];
  const isAnswered = status.recording || (status.program && status.connected && !status.read_only);
  const watch = () => post('watch', { source, do: 'add', entity: id, component, field }).then(() => goto('watch'), () => {});
  return (
    <div class="card" role="dialog" aria-label={`Changes of ${component}.${field}`}>
      <header class="bar"><h3>{component}.{field}</h3><span class="grow" /><button class="small" onClick={watch}>Plot</button><button class="icon" aria-label="Close" onClick={close}><Icon name="close" /></button></header>
      <p class="quiet">{value ? `${value.changes.length} changes from frame ${value.first} on` : '…'}</p>
      <table class="grid tight wrap"><tbody>{value?.changes.slice(0, 8).map((change, i) => (
        <>
          <tr key={change.frame}><td class="quiet">{change.frame}</td><td class="value">{brief(change.before)} → {brief(change.after)}</td></tr>
          {isAnswered && <tr key={`${change.frame} who`} class="who"><td /><td><Writers {...{ source, id, component, field }} frame={change.frame} first={i < 2} /></td></tr>}
        </>))}</tbody></table>
      <p class="quiet">Systems that may write it:</p>
      <ul class="plainlist">{writers.map((system) => <li key={system.name}><b>{system.name}</b> <span class="quiet">{place(system)}</span></li>)}{writers.length === 0 && <li class="quiet">none declares it</li>}</ul>
    </div>
  );
}

// Relates the entity to another one, or moves it to a parent.
function Links({ id, components, locked, ask, find }) {
  const relations = components.filter((one) => one.relation);
  const [kind, setKind] = useState('parent');
  const [target, setTarget] = useState('');
  const apply = async (event) => {
    event.preventDefault();
    const other = await find(target.trim());
    if (other) (ask(...(kind === 'parent' ? [`parent ${id} ${other}`] : [`relate ${id} ${other} on`, kind])), setTarget(''));
  };
  return (
    <form class="row actions" onSubmit={apply}>
      <select aria-label="Kind of link" value={kind} disabled={locked} onChange={(event) => setKind(event.currentTarget.value)}>
        <option value="parent">Parent</option>{relations.map((one) => <option key={one.name}>{one.name}</option>)}
      </select>
      <input type="text" aria-label="Other entity" placeholder="path or #index:generation" value={target} disabled={locked} onInput={(event) => setTarget(event.currentTarget.value)} />
      <button type="submit" disabled={locked || !target.trim()}>Link</button>
    </form>
  );
}

function Card({ component, value, locked, edit, open, history, isDisabled, toggle }) {
  const fields = (component?.type.fields ?? []).filter((field) => !component.relation);
  const many = Array.isArray(value);
  const name = component?.name;
  return (
    <article class="card" aria-label={name}>
      <header class="bar">
        <h3>{name}</h3>
        <span class="quiet">{component?.storage}{component?.bytes ? `, ${component.bytes} B` : ''}</span>
        <span class="grow" />
        {component?.toggle && <label class="check"><input type="checkbox" checked={!isDisabled} disabled={locked} onChange={toggle} />enabled</label>}
        {!component?.relation && <button class="icon" disabled={locked} aria-label={`Remove ${name}`} title="Remove" onClick={() => edit({ components: { [name]: null } })}><Icon name="close" size={14} /></button>}
      </header>
      {!many && fields.map((field) => (
        <Field key={field.name} field={field} value={value?.[field.name]} path={field.name} locked={locked} open={open} history={(path) => history(name, path)} send={(part) => edit({ components: { [name]: { [field.name]: part } } })} />
      ))}
      {many && value.map((one, i) => <div class="value" key={i}>{brief(one)}</div>)}
    </article>
  );
}

export function Entity({ source, status, components, id, select, goto }) {
  const { value: entity } = useAnswer(() => get('entity', { source, id, maybe: 1 }), [source, id, shownOf(status)], { tick: tickOf(status) });
  const [problem, setProblem] = useState('');
  const [past, setPast] = useState(null);
  useEffect(() => {
    setPast(null);
    setProblem('');
  }, [id]);
  const locked = status.read_only || !status.live || !status.connected;
  const ask = async (request, body) => {
    try {
      setProblem('');
      return await control(source, request, body);
    } catch (failure) {
      setProblem(failure.message);
    }
  };
  const find = async (reference) => handleOf(reference) ?? (await get('entity', { source, path: reference }).catch((failure) => setProblem(failure.message)))?.id;
  const open = async (reference) => {
    const found = await find(reference);
    if (found) select(found);
  };
  const edit = (patch) => ask(`entity ${id}`, JSON.stringify(patch));
  const byName = Object.fromEntries(components.map((one) => [one.name, one]));
  const values = entity?.value.components ?? {};
  const disabled = entity?.value.disabled ?? [];
  const missing = components.filter((one) => !(one.name in values) && one.storage !== 'singleton' && !one.relation);
  const isGone = entity === null;
  return (
    <aside class="entity" aria-label="Entity">
      <header class="bar">
        <div class="grow">
          <Live name="Name" class="title" value={entity?.name ?? ''} placeholder={`#${BigInt(id) & 0xffffffffn}`} disabled={locked} send={(text) => ask(`name ${id}`, text)} />
          <div class="quiet">#{entity?.index}:{entity?.generation}{entity?.parent && <> in <button class="link" onClick={() => select(entity.parent.id)}>{label(entity.parent)}</button></>}</div>
        </div>
        <button class="icon" aria-label="Close entity" onClick={() => select(null)}><Icon name="close" /></button>
      </header>
      <div class="scroller pad">
        {isGone && <p class="problem" role="alert">It does not exist in this frame.</p>}
        {problem && <p class="problem" role="alert">{problem}</p>}
        {past && <History source={source} id={id} status={status} goto={goto} component={past.component} field={past.field} close={() => setPast(null)} />}
        {!isGone && Object.entries(values).filter(([name]) => !byName[name]?.relation).map(([name, value]) => (
          <Card key={name} component={byName[name]} value={value} isDisabled={disabled.includes(name)} {...{ locked, edit, open }} history={(component, field) => setPast({ component, field })}
            toggle={() => edit({ disabled: disabled.includes(name) ? disabled.filter((one) => one !== name) : [...disabled, name] })} />
        ))}
        {entity?.relations.length > 0 && (
          <article class="card"><header class="bar"><h3>Relations</h3></header>
            {entity.relations.map((edge, i) => (
              <div class="field" key={i}><span class="name">{edge.direction === 'to' ? edge.relation : `← ${edge.relation}`}</span>
                <span class="row"><button class="link" onClick={() => select(edge.entity)}>{edge.name ?? `#${BigInt(edge.entity) & 0xffffffffn}`}</button>{edge.direction === 'to' && <button class="icon" disabled={locked} aria-label={`End ${edge.relation}`} title="End this relation" onClick={() => ask(`relate ${id} ${edge.entity} off`, edge.relation)}><Icon name="close" size={12} /></button>}</span></div>
            ))}
          </article>
        )}
        {entity?.children.length > 0 && (
          <article class="card"><header class="bar"><h3>Children</h3><span class="quiet">{entity.child_count}</span></header>
            <div class="chips">{entity.children.map((child) => <button class="chip link" key={child.id} onClick={() => select(child.id)}>{label(child)}</button>)}</div></article>
        )}
        {!isGone && <Links {...{ id, components, locked, ask, find }} />}
        {!isGone && <div class="row actions">
          <select aria-label="Add a component" disabled={locked || !missing.length} value="" onChange={(event) => edit({ components: { [event.currentTarget.value]: {} } })}>
            <option value="">Add component…</option>
            {missing.map((one) => <option key={one.name}>{one.name}</option>)}
          </select>
          <button disabled={locked} onClick={() => ask(`clone ${id}`)}>Clone</button>
          {entity?.parent && <button disabled={locked} onClick={() => ask(`parent ${id} 0`)}>Detach</button>}
          <button class="danger" disabled={locked} onClick={() => ask(`destroy ${id}`)}>Destroy</button>
        </div>}
      </div>
    </aside>
  );
}
