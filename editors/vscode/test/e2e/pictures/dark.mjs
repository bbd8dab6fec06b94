import { service } from '../service.mjs';
import { call, project } from '../project.mjs';

export const options = {
  folders: ['parser'],
  settings: () => ({ 'xcshLs.model': 'local/local-model' }),
  sessions: project,
};

const answer = `The loop never moves past a space: \`continue\` skips the end of the body, where nothing moves the cursor either.

| Text | Before | After |
|---|---|---|
| \`a b\` | hangs | two tokens |
| \`a\` | one token | one token |

A test that would have found it:

\`\`\`go
func TestSpaces(t *testing.T) {
	p := New("a b")
	if p.Next() != A || p.Next() != B {
		t.Fatal("spaces are not skipped")
	}
}
\`\`\`

I can add it beside the others. It fails before the change and passes after it, and it takes no time at all to run, so that nothing speaks against it.`;

export default async function (editor) {
  const { page, chat } = editor;
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const answers = [
    { text: 'The cursor has to move past the space before the loop goes on.', calls: [call] },
    { text: 'The parser gets past spaces now.' },
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
  await editor.said('gets past spaces now').waitFor();
  await editor.turnEnds();
  await page.locator('.pane-header[aria-label^="Sessions"]').click();
  await editor.say('Why did no test find it?');
  await chat.locator('.conversation table').getByText('two tokens').waitFor();
  await editor.shot('streaming');
  release();
  model.close();
}
