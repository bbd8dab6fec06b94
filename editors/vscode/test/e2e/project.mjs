// A small project with some sessions, for screenshots.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const source = `package parse

// Next returns the token at the cursor.
func (p *Parser) Next() Token {
	for p.at < len(p.text) {
		r := p.text[p.at]
		if r == ' ' {
			continue
		}
		return p.token(r)
	}
	return End
}
`;

/** Writes the project, and returns the model's changes to it. */
export function project(editor) {
  writeFileSync(join(editor.folder, 'parser.go'), source);
  const age = (hours) => ({ age: hours });
  const first = { age: 5, id: '01a19656-0000-7000-8000-00000000aaaa' };
  editor.session(
    'xcsh',
    'Fix the flaky clock test',
    [['why does TestClock fail on Mondays?', 'The week begins on Sunday.']],
    first,
  );
  editor.session('xcsh', 'Without a clock', [['and without a clock?', 'Then it works.']], {
    age: 4,
    parentSession: first.id,
  });
  editor.session('pi', 'Describe the grammar', [['write the grammar down', 'Here it is.']], age(27));
  editor.session('omp', 'Faster tokens', [['profile the tokenizer', 'Most of it is allocation.']], age(52));
  const other = join(editor.root, 'work/website');
  editor.session('omp', 'Release notes', [['write the release notes', 'They are in NEWS.md.']], {
    age: 30,
    cwd: other,
  });
  editor.session('pi', 'Import the old corpus', [['import the corpus', 'Done.']], age(24 * 9));
}

export const call = {
  id: 'call-1',
  name: 'edit',
  args: { path: 'parser.go', edits: [{ oldText: '\t\t\tcontinue\n', newText: '\t\t\tp.at++\n\t\t\tcontinue\n' }] },
};
