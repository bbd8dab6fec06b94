import { service } from '../service.mjs';
import { call, project } from '../project.mjs';

export const options = {
  folders: ['parser'],
  settings: () => ({ 'xcshLs.model': 'local/local-model' }),
  sessions: project,
};

const answer = `The loop never moved past a space: \`continue\` started the next iteration with the cursor unchanged.

| Text | Before | After |
|---|---|---|
| \`a b\` | hangs | two tokens |
| \`a\` | one token | one token |

This test would have found it:

\`\`\`go
func TestSpaces(t *testing.T) {
	p := New("a b")
	if p.Next() != A || p.Next() != B {
		t.Fatal("spaces are not skipped")
	}
}
\`\`\`

I can add it next to the other tests. It fails without the change and passes with it. A second case for tabs and line breaks would be useful, too: the same loop skips them, and the grammar allows both between tokens. Should I also check the callers that read two tokens at a time?`;

export default async function (editor) {
  const { page, chat } = editor;
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const answers = [
    { text: 'The cursor must move past the space before the loop continues.', calls: [call] },
    { text: 'The parser now skips spaces.' },
    { text: answer, held },
  ];
  const model = await service(editor, answers, 'local-model');
  await editor.openFile('parser.go');
  await editor.openChat();
  await editor.widen(560);
  await editor.treeRow('Without a clock').waitFor();
  await editor.say('The parser hangs on spaces. Fix it.');
  await chat.locator('.approval .diff .added', { hasText: 'p.at++' }).waitFor();
  await editor.shot('chat');

  await chat.locator('.approval').getByRole('button', { name: 'Allow', exact: true }).click();
  await editor.said('now skips spaces').waitFor();
  await editor.turnEnds();
  await page.locator('.pane-header[aria-label^="Sessions"]').click();
  await editor.say('Why did no test find it?');
  await chat.locator('.conversation table').getByText('two tokens').waitFor();
  await editor.shot('streaming');
  release();
  model.close();
}
