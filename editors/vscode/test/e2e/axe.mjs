// axe-core inside the frame of the panel.
/* global document, window */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Returns the violations in the panel as it is shown now, each as one line. */
export async function violations(editor) {
  const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const main = await editor.chat.locator('main.page').elementHandle();
  const frame = await main.ownerFrame();
  await frame.evaluate(`if (!window.axe) { ${source}; } 0`);
  return frame.evaluate(async (wanted) => {
    // The page is transparent: the side bar behind it is in another frame.
    document.documentElement.style.background = 'var(--vscode-sideBar-background)';
    const found = await window.axe.run(document.querySelector('main.page'), {
      runOnly: { type: 'tag', values: wanted },
      rules: { 'target-size': { enabled: true } },
      iframes: false,
      preload: false,
    });
    return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id} ${n.target.join(' ')}: ${n.failureSummary}`));
  }, tags);
}
