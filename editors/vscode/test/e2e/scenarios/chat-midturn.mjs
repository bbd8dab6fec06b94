// While an answer is being streamed: the page is hidden and comes back with the full text, messages steer the turn, and
// can be changed until they are sent, Stop stops it, and a server that exits loses no earlier messages. A prompt refers to
// files and to what the editor knows. The folder's set-up is used when the user says so, with a skill as a slash command;
// the model asks a question, and keeps a plan.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';
import { service } from '../service.mjs';

export const options = {
  settings: () => ({
    'xcshLs.model': 'local/m',
    'terminal.integrated.gpuAcceleration': 'off', // with it, the lines are an image
  }),
  sessions(editor) {
    mkdirSync(join(editor.folder, 'notes'));
    writeFileSync(join(editor.folder, 'notes/plan.txt'), 'the plan\n');
    writeFileSync(join(editor.folder, 'my notes.txt'), 'content with spaces\n');
    writeFileSync(join(editor.folder, 'broken.json'), '{\n  "broken": \n}\n');
  },
};

/** Sends a prompt that refers to everything, and checks what the model gets. */
async function refers(editor, model) {
  const { chat, page } = editor;
  await editor.openFile('broken.json');
  await page.locator('.squiggly-error').first().waitFor();
  await page.locator('.view-line', { hasText: 'broken' }).click();
  await page.keyboard.press('Control+a');
  await editor.palette('Terminal: Create New Terminal');
  await page.locator('.xterm.focus').waitFor();
  await page.locator('.xterm-rows').getByText(/[$#]/).first().waitFor();
  await page.keyboard.type('echo marker-$((6*7))\n');
  await page.locator('.xterm-rows').getByText('marker-42').first().waitFor();
  await page.locator('.terminal-command-decoration').first().waitFor();
  await editor.openChat();
  const composer = chat.locator('#composer');
  await composer.fill('see @not');
  await chat.locator('.suggestions li', { hasText: 'notes/' }).click();
  await composer.press('End');
  await composer.pressSequentially(' and #sel');
  await chat.locator('.suggestions li.chosen', { hasText: '#selection' }).waitFor();
  await composer.press('Tab');
  await composer.pressSequentially('@"my notes.txt" @problems @terminal @nobody now');
  assert.equal(
    await composer.inputValue(),
    'see @notes/ and #selection @"my notes.txt" @problems @terminal @nobody now',
  );
  await until('the marks', async () => (await chat.locator('.highlights mark').count()) === 5);
  await editor.shot('references');
  assert.equal(await chat.locator('.composer .chip:not(.offered)').count(), 0, 'references are only text');
  model.answers.push({ text: 'I have seen it.' });
  await composer.press('Enter');
  await editor.said('I have seen it.').waitFor();
  const sent = JSON.stringify(model.requests.at(-1).messages.at(-1));
  for (const part of ['plan.txt', 'content with spaces', 'broken.json:', 'error: ', '$ echo marker-', '\\"broken\\"']) {
    assert.ok(sent.includes(part), `${part} is missing in ${sent}`);
  }
  assert.ok(!sent.includes('the plan'), 'of a folder only the names are sent');
  await chat.locator('.bubble .chip', { hasText: 'Problems' }).waitFor();
  await editor.shot('referred');
}

/** Lets the folder bring a set-up: asks about it, and sends its skill with a slash command. */
async function brings(editor, model) {
  const { chat } = editor;
  const composer = chat.locator('#composer');
  const skill = join(editor.folder, '.xcsh/skills/greet');
  mkdirSync(skill, { recursive: true });
  writeFileSync(
    join(skill, 'SKILL.md'),
    '---\nname: greet\ndescription: Greets somebody.\n---\nSay the word salutations.\n',
  );
  const servers = { mcpServers: { docs: { command: 'docs-server', args: ['--fast'] } } };
  writeFileSync(join(editor.folder, '.xcsh/mcp.json'), JSON.stringify(servers));

  // The prompt waits for the answer, and the question names what would be started.
  model.answers.push({ text: 'Good to know.' });
  await editor.say('look around');
  await editor.notified('docs: docs-server --fast');
  await editor.shot('trust');
  await editor.notified('brings its own set-up', 'Use without servers');
  await editor.said('Good to know.').waitFor();

  await composer.pressSequentially('/skill:gr');
  await chat.locator('.suggestions li', { hasText: '/skill:greet' }).waitFor();
  await editor.shot('skill-suggested');
  await composer.fill('/skill:greet Ada');
  model.answers.push({ text: 'Salutations, Ada.' });
  await composer.press('Enter');
  await editor.said('Salutations, Ada.').waitFor();
  assert.ok(JSON.stringify(model.requests.at(-1).messages).includes('Say the word salutations.'));
  await chat.locator('.message', { hasText: '/skill:greet Ada' }).first().waitFor();
  await editor.shot('skill-sent');
}

/** Answers a question of the model, which keeps a plan. */
async function asksAndPlans(editor, model) {
  const { chat } = editor;
  const question = {
    id: 'colour',
    question: 'Which colour?',
    options: [{ label: 'Red', description: 'Like a rose' }, { label: 'Blue' }],
    recommended: 1,
  };
  const tasks = [{ content: 'Mix the paint', status: 'in_progress' }, { content: 'Paint the door' }];
  const plan = { ops: [{ op: 'replace', phases: [{ name: 'Door', tasks }] }] };
  model.answers.push(
    { calls: [{ id: 'call-ask', name: 'ask', args: { questions: [question] } }] },
    { calls: [{ id: 'call-plan', name: 'todo_write', args: plan }] },
    { text: 'The door gets its colour.' },
  );
  await editor.say('paint the door');
  const card = chat.locator('.question');
  await card.getByText('Which colour?').waitFor();
  await card.getByText('Like a rose').waitFor();
  await editor.shot('question');
  await card.getByRole('button', { name: 'Blue' }).click();
  await editor.said('The door gets its colour.').waitFor();
  await card.waitFor({ state: 'detached' });
  const results = model.requests.at(-1).messages.filter((m) => m.role === 'tool');
  const answer = JSON.stringify(results.find((m) => m.tool_call_id === 'call-ask'));
  assert.ok(answer.includes('Blue') && !answer.includes('Red'), answer);
  const todos = chat.locator('.todos');
  await todos.getByText('Plan 0/2').click();
  await todos.locator('li.in_progress', { hasText: 'Mix the paint' }).waitFor();
  await todos.locator('li.pending', { hasText: 'Paint the door' }).waitFor();
  await editor.shot('plan');
  await editor.turnEnds();
}

export default async function (editor) {
  let release;
  const held = () => new Promise((resolve) => (release = resolve));
  const text = 'One two three four **five** six seven eight nine ten';
  const answers = [{ text, held: held() }];
  const model = await service(editor, answers);
  const { chat } = editor;
  const said = chat.locator('.conversation');
  const composer = chat.locator('#composer');

  await editor.openChat();
  await editor.say('begin');
  await said.getByText('One two three').waitFor();
  await said.locator('article[aria-busy=true]').waitFor();

  // Hidden during the turn, and shown again.
  await editor.hideChat();
  await editor.openChat();
  await said.getByText('One two three').waitFor();
  await editor.shot('middle');

  // A steering and a follow-up message; both are sent to the model.
  answers.push({ text: 'As you say.' }, { text: 'And that too.' });
  await editor.say('rather so');
  await editor.say('then this', 'Alt+Enter');
  await chat.locator('.queue li').nth(1).waitFor();
  await editor.shot('queue');

  // One is changed in its place, and another one removed.
  await editor.say('not this', 'Alt+Enter');
  await chat.locator('.queue li').nth(2).waitFor();
  await chat.locator('.queue li').nth(1).getByRole('button', { name: 'Edit queued message' }).click();
  await chat.locator('.queue textarea').fill('then that');
  await editor.shot('queue-edited');
  await chat.locator('.queue textarea').press('Enter');
  await chat.locator('.queue li', { hasText: 'then that' }).waitFor();
  await chat.locator('.queue li').nth(2).getByRole('button', { name: 'Remove queued message' }).click();
  await until('one message less', async () => (await chat.locator('.queue li').count()) === 2);
  await until('the focus', () => composer.evaluate((el) => el.ownerDocument.activeElement === el));
  release();
  await said.getByText('And that too.').waitFor();
  await said.getByText('nine ten').waitFor();
  assert.deepEqual(await said.locator('.said').allInnerTexts(), ['begin', 'rather so', 'then that']);
  await chat.locator('.stop').waitFor({ state: 'detached' });

  await refers(editor, model);
  await brings(editor, model);
  await asksAndPlans(editor, model);

  // Stopped; queued messages are put back into the composer.
  answers.push({ text, held: held() });
  await editor.say('again');
  await said.locator('article[aria-busy=true]').getByText('One two').waitFor();
  await editor.say('never said');
  await chat.locator('.queue li').waitFor();
  await composer.press('Escape');
  await said.getByText('Stopped').waitFor();
  await until('what waited', async () => (await composer.inputValue()) === 'never said');
  release();
  await composer.fill('');

  // The server exits during the turn: earlier messages are still there, and the prompt comes back.
  answers.push({ text, held: held() });
  await editor.say('a third time');
  await said.locator('article[aria-busy=true]').getByText('One two').waitFor();
  const [pid] = editor.serverPids();
  process.kill(pid, 'SIGKILL');
  await until('another server', () => editor.serverPids().some((p) => p !== pid));
  await said.getByText('And that too.').waitFor();
  await until(
    'the third prompt, said or given back',
    async () =>
      (await said.locator('.said').allInnerTexts()).includes('a third time') ||
      (await composer.inputValue()) === 'a third time',
  );
  release();
  answers.splice(0, Infinity, { text: 'It goes on.' });
  await until('a live page', async () => (await chat.locator('.note').count()) === 0);
  await editor.say('and now?');
  await said.getByText('It goes on.').waitFor();
  await editor.shot('end');
  assert.equal(editor.sessionFiles().length, 1);
  model.close();
}
