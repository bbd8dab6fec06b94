// The text of a tool's result.

import { blocks, obj, str } from '../state/wire';

// Colours, movements of the cursor and links of a terminal.
const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g;

/** The text of a result, without what is meant for a terminal. */
export function outputText(output: unknown): string {
  const texts = blocks(obj(output).content)
    .filter((b) => b.type === 'text')
    .map((b) => str(b.text));
  return texts.join('\n').replace(sequences, '');
}
