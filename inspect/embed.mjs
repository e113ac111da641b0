// Puts the script and the style into index.html, which the tool contains as one file, and allows only this script to run.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';

const read = (name) => readFileSync(`dist/${name}`, 'utf8');
let page = read('index.html');
const assets = readdirSync('dist/assets');
const script = assets.filter((name) => name.endsWith('.js')).map((name) => read(`assets/${name}`)).join('\n').replaceAll('</script', '<\\/script');
const style = assets.filter((name) => name.endsWith('.css')).map((name) => read(`assets/${name}`)).join('\n');
const hash = createHash('sha256').update(script).digest('base64');
const policy = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'`;
page = page.replace(/<script[^>]*src=[^>]*><\/script>/g, '').replace(/<link[^>]*stylesheet[^>]*>/g, '');
page = page.replace('<head>', () => `<head>\n<meta http-equiv="Content-Security-Policy" content="${policy}">`);
page = page.replace('</head>', () => `<style>${style}</style></head>`);
page = page.replace('</body>', () => `<script type="module">${script}</script></body>`);
writeFileSync('dist/index.html', page);
rmSync('dist/assets', { recursive: true });
console.log(`dist/index.html: ${(page.length / 1024).toFixed(0)} KiB`);
