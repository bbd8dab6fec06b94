// node picture.mjs SCREEN.ansi OUT.png: converts a screen from "tmux capture-pane -e" to an image.
// Chromium draws it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [from, to] = process.argv.slice(2);
if (!from || !to) {
  console.error('usage: picture.mjs SCREEN.ansi OUT.png');
  process.exit(2);
}
const cell = { width: 8.4, height: 18 }; // pixels, of the font below
const ground = '#14161b'; // of Neovim's own colours
const ink = '#e0e2ea';

/** The style after a sequence of SGR numbers. */
function styled(style, numbers) {
  const next = { ...style };
  for (let i = 0; i < numbers.length; i++) {
    const n = numbers[i];
    if (n === 0) for (const key of Object.keys(next)) delete next[key];
    else if (n === 1) next.bold = true;
    else if (n === 3) next.italic = true;
    else if (n === 4) next.underline = true;
    else if (n === 7) next.reverse = true;
    else if (n === 22) delete next.bold;
    else if (n === 23) delete next.italic;
    else if (n === 24) delete next.underline;
    else if (n === 27) delete next.reverse;
    else if (n === 39) delete next.ink;
    else if (n === 49) delete next.ground;
    else if ((n === 38 || n === 48) && numbers[i + 1] === 2) {
      next[n === 38 ? 'ink' : 'ground'] = `rgb(${numbers.slice(i + 2, i + 5).join(',')})`;
      i += 4;
    }
  }
  return next;
}

function css(style) {
  let [front, back] = [style.ink ?? ink, style.ground ?? ground];
  if (style.reverse) [front, back] = [back, front];
  return [
    `color:${front};background:${back}`,
    style.bold ? 'font-weight:bold' : '',
    style.italic ? 'font-style:italic' : '',
    style.underline ? 'text-decoration:underline' : '',
  ].join(';');
}

const safe = (text) => text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);

function html(lines) {
  let style = {};
  return lines.map((line) =>
    line
      .split(/(\x1b\[[\d;:]*m)/)
      .map((part) => {
        const sgr = /^\x1b\[([\d;:]*)m$/.exec(part);
        if (!sgr) return part === '' ? '' : `<span style="${css(style)}">${safe(part)}</span>`;
        // 4:3 is a kind of underline; the colons of colors separate like semicolons.
        const numbers = sgr[1]
          .replace(/\b4:\d/g, '4')
          .split(/[;:]/)
          .map(Number);
        style = styled(style, numbers);
        return '';
      })
      .join(''),
  );
}

const lines = readFileSync(from, 'utf8').replace(/\n$/, '').split('\n');
const width = Math.max(...lines.map((l) => [...l.replace(/\x1b\[[\d;:]*m|[\x0e\x0f]/g, '')].length));
const page = `<!doctype html><meta charset="utf-8"><style>
body { margin: 12px; background: ${ground} }
pre { margin: 0; font: 14px/${cell.height}px "DejaVu Sans Mono", monospace }
span { display: inline-block; height: ${cell.height}px; vertical-align: top }
</style><pre>${html(lines).join('\n')}</pre>`;

const dir = mkdtempSync(join(tmpdir(), 'screen-'));
try {
  const file = join(dir, 'screen.html');
  writeFileSync(file, page);
  const size = `${Math.ceil(width * cell.width) + 24},${lines.length * cell.height + 24}`;
  const look = ['--headless', '--no-sandbox', '--hide-scrollbars', `--window-size=${size}`];
  execFileSync('chromium', [...look, `--screenshot=${resolve(to)}`, `file://${file}`], { stdio: 'ignore' });
} finally {
  rmSync(dir, { recursive: true, force: true });
}
