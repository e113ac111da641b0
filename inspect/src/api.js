// Requests to mica inspect. The token is in the address that the tool printed.
const token = new URLSearchParams(location.search).get('token') ?? '';

export class ApiError extends Error {
  constructor(status, value) {
    super(value?.error ?? `status ${status}`);
    this.position = value?.position;
    this.status = status;
  }
}

async function call(method, name, parameters, body) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null));
  const answer = await fetch(`/api/${name}?${query}`, { method, body, headers: { Authorization: `Bearer ${token}` } });
  const value = await answer.json();
  if (!answer.ok) throw new ApiError(answer.status, value);
  return value;
}

export const get = (name, parameters = {}) => call('GET', name, parameters);
export const post = (name, parameters = {}, body = '') => call('POST', name, parameters, body);
export const control = (source, request, body = '') => post('control', { source, do: request }, body);

// Calls `receive` with each message of the tool; connects again when the tool was restarted.
export function listen(receive, changed) {
  let socket, timer;
  const open = () => {
    socket = new WebSocket(`ws://${location.host}/live?token=${encodeURIComponent(token)}`);
    socket.onopen = () => changed(true);
    socket.onmessage = (event) => receive(JSON.parse(event.data));
    socket.onclose = () => {
      changed(false);
      setTimeout(open, 1000);
    };
  };
  open();
  timer = setInterval(() => socket.readyState === 1 && socket.send('alive'), 5000);
  return () => {
    clearInterval(timer);
    socket.onclose = null;
    socket.close();
  };
}
