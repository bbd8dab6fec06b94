// The sessions of a team, in a real PostgreSQL: nothing is sent before the user agrees to what would be sent; then a
// conversation is. The session of another user is in the list, is read along while it grows, and is resumed.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';
import { cloneOf, Machine, missing, Postgres } from '../postgres.mjs';

export { missing };

let cluster;

export const options = {
  settings: () => ({ 'xcshLs.team.service': 'xcsh', 'xcshLs.model': 'offline/demo' }),
  async begin(editor) {
    cluster = await new Postgres().start();
    writeFileSync(join(editor.home, '.pg_service.conf'), cluster.service('xcsh', 'ann'));
    cloneOf(editor.folder);
    editor.session('xcsh', 'An older plan', [['what was the plan?', `The key is ${'ghp_' + 'a1B2c3'.repeat(6)}.`]]);
  },
};

/** Makes the device of Kim the writer of her session until a time. Clients see it with the next change of the session. */
const kimWrites = (until) => `
  update xcsh.tip t set device = d.device, until = ${until} from xcsh.device d join xcsh.person p using (person_id)
   where p.display = 'Kim' and t.owner_id = p.person_id;
  update xcsh.session s set touched = pg_current_xact_id() from xcsh.person p where p.display = 'Kim' and s.owner_id = p.person_id`;

const rows = 'select count(*) from xcsh.session';

export default async function (editor) {
  try {
    await story(editor);
  } finally {
    await cluster.stop();
  }
}

async function story(editor) {
  const { page } = editor;
  const server = join(editor.extensionDir(), 'bin/xcsh-ls');
  cluster.team(server, { ann: 'Ann', kim: 'Kim' });
  const kim = new Machine(join(editor.root, 'kim'), server, cluster.address('kim'));
  kim.shares();
  kim.says('run', '--model', 'offline/demo', 'a question of Kim');
  kim.says('team', 'push'); // run sends for five seconds at most, which is too short on a busy machine

  // The section has the sessions of the other user, although nothing is shared from here.
  await editor.sessionsView();
  await editor.treeRow('Team').waitFor();
  await editor.treeRow('Kim').waitFor();
  const hers = editor.treeRow('a question of Kim');
  await hers.waitFor();
  await editor.shot('section');
  assert.equal(cluster.sql(rows), '1', 'nothing of Ann is sent');

  // The user sees what would be sent, and says no.
  await editor.palette('xcsh.team.share');
  await editor.dialog("Send this project's conversations");
  await editor.shot('consent');
  await editor.dialog("Send this project's conversations", 'Show What Is Replaced');
  await editor.dialog('•');
  await editor.shot('replaced');
  await editor.dialog("Send this project's conversations", 'Not Now');
  await editor.openChat();
  await editor.say('before the consent');
  await editor.turnEnds();
  assert.equal(cluster.sql(rows), '1', 'nothing is sent without consent');

  // The user agrees; the next conversation is sent.
  await editor.palette('xcsh.team.share');
  await editor.dialog("Send this project's conversations", 'From Now On');
  await page.locator('.statusbar-item', { hasText: 'Shared with the team' }).first().waitFor();
  assert.equal(cluster.sql(rows), '1', 'what existed before stays here');
  await editor.palette('xcsh.new');
  await editor.say('after the consent');
  await editor.turnEnds();
  await until('the conversation to be in the store', () => cluster.sql(rows) === '2');
  await until('Kim to see it', () => kim.says('team', 'list').includes('after the consent'));
  assert.doesNotMatch(kim.says('team', 'list'), /before the consent/);
  await editor.treeRow('Ann').waitFor();
  await editor.shot('sent');

  // While Kim writes, the line has a badge, and a click asks what to do. The session is read along while it grows.
  cluster.sql(kimWrites("now() + interval '1 hour'"));
  await page
    .locator('.pane .monaco-list-row[aria-label*="Being written on"]', { hasText: 'a question of Kim' })
    .waitFor();
  await editor.treeRow('a question of Kim').click();
  await editor.dialog('Kim writes in this session');
  await editor.shot('busy');
  await editor.dialog('Kim writes in this session', 'Read Along');
  await editor.said('a question of Kim').first().waitFor();
  await editor.chat.locator('.head.following', { hasText: 'Kim' }).waitFor();
  cluster.sql(kimWrites('now()'));
  assert.equal(await editor.chat.locator('#composer').count(), 0, 'it is read-only');
  kim.says('run', '--continue', '--model', 'offline/demo', 'one more of Kim');
  kim.says('team', 'push');
  await editor.said('one more of Kim').first().waitFor();
  await editor.shot('followed');

  // It is resumed, and becomes a file of this machine.
  const before = editor.sessionFiles().length;
  cluster.sql(kimWrites('now()')); // 30 seconds pass, in which only Kim may write
  await editor.chat.getByRole('button', { name: 'Continue Here' }).click();
  await editor.chat.locator('#composer').waitFor();
  await editor.said('one more of Kim').first().waitFor();
  assert.equal(editor.sessionFiles().length, before + 1);
  await editor.shot('resumed');

  // Without the store, the list shows what was seen last, and the status bar why.
  await cluster.halt();
  await editor.say('while the store is down');
  await editor.turnEnds();
  await page.locator('.statusbar-item', { hasText: 'team: offline' }).first().waitFor();
  await editor.treeRow('cannot be reached').waitFor();
  await editor.treeRow('after the consent').waitFor();
  await editor.shot('offline');
}
