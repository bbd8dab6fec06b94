// Two turns that changed files: all changes in one editor, and the confirmation of a rewind.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { fix, model, project } from '../project.mjs';
import { service } from '../service.mjs';

export const options = {
  folders: ['ratelimit'],
  settings: () => ({ 'xcshLs.model': `local/${model}`, 'xcshLs.approval': 'auto-edit' }),
  sessions: project,
};

const more = {
  id: 'call-name',
  name: 'edit',
  args: {
    path: 'limiter.go',
    edits: [
      {
        oldText: '\tif l.tokens == 0 {\n\t\treturn false\n\t}\n\tl.tokens--\n\treturn true\n',
        newText: '\treturn l.take()\n',
      },
      {
        oldText: '// refill adds',
        newText:
          '// take takes a token, and reports whether there was one. The caller holds the lock.\nfunc (l *Limiter) take() bool {\n\tif l.tokens == 0 {\n\t\treturn false\n\t}\n\tl.tokens--\n\treturn true\n}\n\n// refill adds',
      },
    ],
  },
};

const readme = {
  id: 'call-readme',
  name: 'write',
  args: {
    path: 'README.md',
    content:
      '# ratelimit\n\nA token bucket: one token per interval, up to a burst.\nThe fraction of an interval counts for the next token.\n',
  },
};

export default async function (editor) {
  const { page, chat } = editor;
  const served = await service(
    editor,
    [
      { text: 'The time of the newest token moves by whole intervals, so a part of one is lost.', calls: [fix] },
      { text: 'Fixed: the fraction of an interval is kept in `last`, and counts for the next token.' },
      { text: 'I move it into a function of its own.', calls: [more, readme] },
      { text: 'Taking a token is now in `take`, and the new **README.md** says how the bucket works.' },
    ],
    model,
  );
  await page.setViewportSize({ width: 1280, height: 860 });
  await editor.openChat();
  await page.locator('.pane-header[aria-label^="Sessions"]').click();
  await editor.widen(560);
  await editor.say('TestPolling fails: find the bug and fix it.');
  await editor.said('counts for the next token').waitFor();
  await editor.turnEnds();
  await editor.say('Give taking a token a function of its own, and write a README.');
  await editor.said('says how the bucket works').waitFor();
  await editor.turnEnds();
  await chat.locator('.turn-card').last().locator('.fold-head').click();
  await chat.locator('.turn-card').last().getByRole('button', { name: 'Review' }).click();
  await page.locator('.multiDiffEntry').nth(1).waitFor();
  const toEnd = chat.locator('.to-end');
  if (await toEnd.isVisible()) await toEnd.click();
  await page.mouse.move(900, 845);
  await editor.shot('changes');

  // The user edited one of the lines.
  const limiter = join(editor.folder, 'limiter.go');
  writeFileSync(limiter, editor.read(limiter).replace('\treturn l.take()\n', '\treturn l.closed || l.take()\n'));
  const prompt = chat.locator('.message.user').last();
  await prompt.hover();
  await prompt.getByRole('button', { name: 'Rewind to here…' }).click();
  await chat.locator('dialog.rewind li.conflict').waitFor();
  await page.mouse.move(900, 845);
  await editor.shot('rewind');
  served.close();
}
