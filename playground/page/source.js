// Shows C source with colours.

const TOKEN = /(\/\*[^]*?\*\/|\/\/[^\n]*)|("(?:\\.|[^"\\])*"|<[\w/.]+>(?=\n))|(^[ \t]*#[ \t]*\w+)|\b(auto|bool|break|case|char|const|continue|default|do|double|else|enum|extern|false|float|for|if|int|int32_t|long|return|signed|size_t|sizeof|static|struct|switch|true|typedef|uint32_t|uint64_t|union|unsigned|void|while|NULL)\b|\b(mica_\w+|MICA_\w+)\b|\b(\d[\w.]*)/gm;
const KINDS = ['comment', 'text', 'directive', 'keyword', 'mica', 'number'];

export function showSource(element, text) {
  element.textContent = '';
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const part = document.createElement('span');
    part.className = KINDS[match.slice(1).findIndex((found) => found !== undefined)];
    part.textContent = match[0];
    element.append(text.slice(end, match.index), part);
    end = match.index + match[0].length;
  }
  element.append(text.slice(end));
}
