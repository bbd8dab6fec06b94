// A link resumes a session or shows a transcript, after a confirmation; a link to a missing session
// is rejected.
import assert from 'node:assert/strict';

const id = '01a19656-0000-7000-8000-00000000bbbb';
let session;

export const options = {
  sessions(editor) {
    session = editor.session('pi', 'Linked', [['hello', 'You followed a link.']], { id });
  },
};

export default async function (editor) {
  const before = editor.read(session);
  const follow = async (path) => {
    await editor.palette('Developer: Open URL');
    await editor.answer(`vscode://xcsh-ls.xcsh-ls/${path}`);
    // VS Code first asks whether the extension may open the link.
    await editor.dialog('to open this URI', 'Open');
  };

  await follow(`resume?id=${id}`);
  await editor.dialog('A link requested this', 'Cancel');
  assert.deepEqual(editor.serverPids(), [], 'nothing happens before the answer');
  await follow(`resume?id=${id}`);
  await editor.shot('question');
  await editor.dialog('A link requested this', 'Resume');
  await editor.status('Linked');
  assert.equal(editor.read(session), before);

  await follow(`open?path=${encodeURIComponent(session)}`);
  await editor.dialog('Open the transcript of this session?', 'Open Transcript');
  await editor.report.getByText(/Session:.*0000bbbb/).waitFor();

  await follow('format?disk=c');
  await editor.notified('This link does not identify a session');
}
