import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';

import { toPage } from '../../src/chat/messages';
import { setTexts, t } from '../src/l10n';
import { describe, ruleText } from '../src/view/describe';
import { misused, untranslated } from './texts';

afterEach(() => setTexts({}));

test('a text without a translation is shown unchanged, with its values', () => {
  assert.equal(t('Copy'), 'Copy');
  assert.equal(t('Branch {0} of {1}', 2, 3), 'Branch 2 of 3');
  assert.equal(t('constructor'), 'constructor');
});

test('a translation can reorder and repeat values', () => {
  setTexts({ 'Branch {0} of {1}': '{1} Zweige, dieser ist {0} ({0}/{1})', Copy: 'Kopieren' });
  assert.equal(t('Branch {0} of {1}', 2, 3), '3 Zweige, dieser ist 2 (2/3)');
  assert.equal(t('Copy'), 'Kopieren');
  assert.equal(t('Stop'), 'Stop');
});

test('braces and dollar signs in values are unchanged', () => {
  assert.equal(t('Remove {0} of {1}', '{1}', '$&{0}'), 'Remove {1} of $&{0}');
  assert.equal(t('{0} and {1} and {name}', 'a'), 'a and {1} and {name}');
  assert.equal(t('[{0}]', ''), '[]');
});

test('calls and rules are described in the display language', () => {
  const call = { type: 'toolCall', name: 'grep', arguments: { pattern: 'x', path: '/w/src' } };
  assert.equal(describe(call, '/w').verb, 'Search');
  setTexts({ Search: 'Suchen', '{0} in {1}': '{1}: {0}', 'the {0} tool': 'Werkzeug {0}' });
  assert.deepEqual([describe(call, '/w').verb, describe(call, '/w').what], ['Suchen', 'src: x']);
  assert.equal(ruleText({ tool: 'fetch' }), 'Werkzeug fetch');
});

test('translations that are not strings are rejected', () => {
  const init = {
    kind: 'init',
    server: 'running',
    folders: [],
    cwd: null,
    commands: [],
    trusted: true,
    kept: null,
    now: 0,
  };
  assert.ok(toPage({ ...init, texts: {} }));
  assert.ok(toPage({ ...init, texts: { Copy: 'Kopieren' } }));
  for (const texts of [undefined, null, 'Kopieren', ['Kopieren'], { Copy: 1 }, { Copy: { message: 'Kopieren' } }])
    assert.equal(toPage({ ...init, texts }), undefined, JSON.stringify(texts));
});

const dir = 'webview/src';
const sources = readdirSync(dir, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file): [string, string] => [file, readFileSync(path.join(dir, file), 'utf8')]);

/** A unit that is the same in every language, and the name of a key. */
const exceptions = ['M', 'Alt+'];

test('every text of the page can be translated', () => {
  const found = sources.flatMap(([name, source]) => untranslated(name, source));
  assert.deepEqual(
    found.filter((text) => !exceptions.some((e) => text.endsWith(`: ${e}`))),
    [],
  );
  assert.equal(found.length, exceptions.length, 'an exception that is none any more');
});

test('an untranslated text is found wherever it is rendered', () => {
  const drawn = [
    '<p>Stop</p>',
    '<p>{on ? "on" : t("off")}</p>',
    '<p>{`${n} lines`}</p>',
    '<Button label="stop" />',
    '<a title={name || "nothing"} />',
    'page.speak("Stopped")',
    'page.speak(`done with ${name}`)',
    'const words = { done: "it is done" }',
  ];
  for (const source of drawn) assert.equal(untranslated('a.tsx', source).length, 1, source);
  const quiet = [
    '<p class="a b">{t("Stop")} 1/2 {name === "of you" && t("off")}</p>',
    '<Icon name="close" onClick={() => send({ kind: "stop" })} />',
    'import a from "./A of B"; if (e.key === "Escape") throw new Error("no way");',
    'const words = { "a b": t("it is done") }; let a: "A" | "B"; switch (a) { case "A": break; }',
  ];
  for (const source of quiet) assert.deepEqual(untranslated('a.tsx', source), [], source);
});

test('every text is translated during rendering, with its values', () => {
  assert.deepEqual(
    sources.flatMap(([name, source]) => misused(name, source)),
    [],
  );
  const wrong = ['f(() => t(text))', 'f(() => t(`a`))', 'f(() => t("{0}"))', 'f(() => t("a", 1))', 'const a = t("a");'];
  for (const source of wrong) assert.equal(misused('a.ts', source).length, 1, source);
  assert.deepEqual(misused('a.ts', 'const a = () => t("{1} {0} {1}", b, c);'), []);
});
