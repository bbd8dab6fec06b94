// Accessibility of the page: axe finds nothing in any state and theme, controls are large enough, and nothing moves for
// users who do not want that.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import type { Page } from 'playwright-core';

import { load, small, violations } from './axe';
import { find, inScene, stop, until } from './tab';
import type { Tab } from './tab';

after(stop);

const composer = '#composer';

/** Opens all folds. */
async function openAll(page: Page): Promise<void> {
  await page.evaluate("for (const b of document.querySelectorAll('.fold-head[aria-expanded=false]')) b.click()");
  await until(page, "!document.querySelector('.fold-head[aria-expanded=false]')");
}

interface Step {
  name: string;
  shows: string; // the element to wait for
  within?: string; // the part that is new; without it, the whole page
  prepare?: (page: Page) => Promise<unknown>;
}

/** A scene and its states, one after the other in the same page. */
interface Scene {
  scene: string;
  more?: string;
  steps: Step[];
}

const emit = (page: Page, events: string) =>
  page.evaluate(`for (const e of [${events}]) window.harness.session.emit(e)`);

const type = (text: string) => async (page: Page) => {
  await page.fill(composer, '');
  await page.focus(composer);
  await page.keyboard.type(text);
};

/** A prompt that is refused because no model is ready. */
async function refused(page: Page): Promise<void> {
  await page.evaluate(`window.harness.failing['xcsh.prompt'] = {
    message: 'Choose a model to start.', kind: 'provider', data: { reason: 'noModel' } }`);
  await type('Fix the parser')(page);
  await page.keyboard.press('Enter');
}

async function edit(page: Page): Promise<void> {
  await page.press('.find input', 'Escape');
  await page.evaluate("document.querySelector('.scroll').scrollTop = 0");
  await page.hover('.message.user .bubble');
  await page.click(".message.user button[aria-label='Edit and resend']");
}

async function cancelEdit(page: Page): Promise<void> {
  await page.press(composer, 'Escape');
  await page.waitForSelector('.editing-note', { state: 'detached' });
}

const scrolledUp = (page: Page) => page.evaluate("document.querySelector('.scroll').scrollTop = 1500");

const stopServer = (page: Page) =>
  page.evaluate("window.harness.post({ kind: 'server', state: 'stopped', message: 'It ended five times.' })");

const dock = '.dock';

async function openChanges(page: Page): Promise<void> {
  await page.waitForSelector('.turn-card');
  await openAll(page);
  await page.evaluate('window.harness.changes.interrupted = true');
  await emit(page, "{ type: 'changes_changed', totals: {}, paths: [] }");
  await page.waitForSelector('.changes-bar [role=status]');
}

async function rewindHere(page: Page): Promise<void> {
  await page.evaluate("[...document.querySelectorAll('.message.user button[aria-label^=Rewind]')].at(-1).click()");
}

const leaveOut = (page: Page) => page.click('.rewind .why > .button');

/** Confirms a plan that is not up to date any more. */
async function confirmStale(page: Page): Promise<void> {
  await page.evaluate('window.harness.changes.touch()');
  await confirmRewind(page);
}

async function confirmRewind(page: Page): Promise<void> {
  await page.evaluate('Date.now = ((now) => () => now() + 1000)(Date.now)'); // it is no double press
  await page.click('.rewind footer .button:last-child');
}

/** Replaces the question by another one. */
const ask = (question: string) => (page: Page) =>
  emit(
    page,
    `{ type: 'question_gone', id: 'q1' }, { type: 'question_gone', id: 'q2' }, { ${question}, type: 'question_asked' }`,
  );

const only = (scene: string, shows: string, more: Partial<Step> = {}): Scene => ({
  scene,
  steps: [{ name: scene, shows, within: dock, ...more }],
});

const scenes: Scene[] = [
  { scene: 'empty', steps: [{ name: 'empty', shows: '.hints' }] },
  { scene: 'empty', more: '&trusted=no', steps: [{ name: 'restricted', shows: '.welcome p' }] },
  {
    scene: 'conversation',
    steps: [
      { name: 'conversation', shows: '.fold.open', prepare: openAll },
      { name: 'find', shows: '[data-found]', within: '.find, [data-found]', prepare: (page) => find(page, 'parser') },
      { name: 'edit', shows: '.editing-note', within: '.message.user, .dock', prepare: edit },
      {
        name: 'files',
        shows: '.suggestions li.chosen',
        within: dock,
        prepare: async (page) => {
          await cancelEdit(page);
          await type('see @pars')(page);
        },
      },
      { name: 'no server', shows: '.note.error', within: dock, prepare: stopServer },
    ],
  },
  {
    scene: 'changesConflict',
    steps: [
      {
        name: 'changes',
        shows: '.changes-bar .changed-files',
        within: '.turn-card, .changes-bar',
        prepare: openChanges,
      },
      { name: 'rewind', shows: '.rewind .why', within: '.rewind', prepare: rewindHere },
      { name: 'left out', shows: '.left-out', within: '.rewind', prepare: leaveOut },
      { name: 'stale', shows: '.renewed', within: '.rewind', prepare: confirmStale },
      { name: 'rewound', shows: '.note .link', within: dock, prepare: confirmRewind },
    ],
  },
  only('pictures', '.ended', { within: '.inner', prepare: openAll }),
  only('branches', '.branches', { within: '.message.user' }),
  only('streaming', '.queue', { within: '.message.assistant:last-child, .dock', prepare: type('and this') }),
  only('tool', '.todos', { within: '.message:last-child, .dock', prepare: openAll }),
  only('approval', '.approval .diff'),
  only('command', '.approval .warning'),
  only('failure', '.failure button', { within: '.message:last-child' }),
  only('retry', '.note.warning'),
  only('foreign', '.note.foreign'),
  only('background', '.queue'),
  only('engine', '.engine-texts', { within: '.head, .dock', prepare: type('/') }),
  only('engineStarting', '.head .state', { within: '.head' }),
  only('engineLimited', '.head .state'),
  {
    scene: 'questions',
    steps: [
      { name: 'options', shows: '.question .options', within: dock },
      {
        name: 'confirm',
        shows: '.question .left',
        within: dock,
        prepare: ask(
          "id: 'q3', method: 'confirm', title: 'Delete it?', message: 'It is old.', until: Date.now() + 1e6",
        ),
      },
      {
        name: 'input',
        shows: '.question input',
        within: dock,
        prepare: async (page) => {
          await emit(page, "{ type: 'question_gone', id: 'q3' }");
          await ask("id: 'q4', method: 'input', title: 'Name of the release', placeholder: 'v1.2.3'")(page);
        },
      },
      {
        name: 'editor',
        shows: '.question textarea',
        within: dock,
        prepare: async (page) => {
          await emit(page, "{ type: 'question_gone', id: 'q4' }");
          await ask("id: 'q5', method: 'editor', title: 'Edit the message', prefill: 'parser: close groups'")(page);
        },
      },
    ],
  },
  only('questionOptions', '.question .filter'),
  only('crash', '.crash pre', { within: '.head, .dock', prepare: (page) => page.click('.crash .fold-head') }),
  {
    scene: 'ways',
    steps: [
      { name: 'ways', shows: '.way' },
      { name: 'waiting', shows: '.waiting', within: dock, prepare: refused },
    ],
  },
  { scene: 'long', steps: [{ name: 'long', shows: '.to-end', within: '.more, .to-end', prepare: scrolledUp }] },
  {
    scene: 'conversation',
    more: '&reading=free&place=tab',
    steps: [{ name: 'reading', shows: '.reading .ways button' }],
  },
  {
    scene: 'conversation',
    more: '&reading=locked',
    steps: [{ name: 'locked', shows: '.reading .ways button', within: dock }],
  },
];

const themes = ['dark', 'light', 'hc', 'hc-light'];

test('axe finds nothing in any state and theme, and every control is at least 24 px large', async () => {
  const found: string[] = [];
  for (const { scene, more = '', steps } of scenes) {
    const audit = async ({ page }: Tab) => {
      await load(page);
      for (const { name, shows, within = '.page', prepare } of steps) {
        await prepare?.(page);
        await page.waitForSelector(shows, { state: 'attached' });
        for (const theme of themes) {
          await page.evaluate(`window.harness.setTheme('${theme}')`);
          const lines = await violations(page, within, theme !== themes[0]);
          found.push(...lines.map((line) => `${name}, ${theme}: ${line}`));
        }
        found.push(...(await small(page)).map((line) => `${name}: ${line}`));
      }
    };
    await inScene(scene, audit, { more });
  }
  assert.deepEqual(found, []);
});

test('axe and the check of sizes find bad elements', () =>
  inScene('empty', async ({ page }) => {
    await load(page);
    await page.evaluate(`{
      const bad = document.createElement('div');
      bad.innerHTML = '<button></button><p>pale</p>';
      bad.className = 'bad';
      bad.firstChild.style.minWidth = bad.firstChild.style.minHeight = '20px';
      bad.lastChild.style.color = '#555';
      document.querySelector('main').append(bad);
    }`);
    const lines = (await violations(page, '.bad')).map((line) => line.split(' ')[0]);
    assert.deepEqual(lines.toSorted(), ['button-name', 'color-contrast']);
    assert.equal((await small(page)).length, 1);
  }));

test('nothing moves for users who do not want that', async () => {
  const moving = (page: Page) =>
    page.evaluate<string[]>(`[
      ...document.getAnimations().map((a) => a.animationName ?? a.transitionProperty),
      ...[...document.querySelectorAll('*')].filter((e) => getComputedStyle(e).scrollBehavior === 'smooth'),
    ].map(String)`);
  for (const [scene, part] of [
    ['tool', '.codicon-modifier-spin'],
    ['retry', '.shimmer'],
  ] as const) {
    await inScene(scene, async ({ page }) => {
      if (scene === 'retry') await emit(page, "{ type: 'auto_retry_end' }, { type: 'turn_start' }");
      await page.waitForSelector(part);
      await until(page, 'document.getAnimations().length > 0');
      await page.emulateMedia({ reducedMotion: 'reduce' });
      assert.deepEqual(await moving(page), [], `${scene}, the system's setting`);
      await page.emulateMedia({ reducedMotion: 'no-preference' });
      await until(page, 'document.getAnimations().length > 0');
      await page.evaluate("document.body.classList.add('vscode-reduce-motion')");
      assert.deepEqual(await moving(page), [], `${scene}, the editor's setting`);
      const unseen = await page.evaluate(
        "[...document.querySelectorAll('.shimmer')].filter((e) => getComputedStyle(e).webkitTextFillColor === 'rgba(0, 0, 0, 0)').length",
      );
      assert.equal(unseen, 0, 'the text is visible');
    });
  }
});
