// The text of a tool's result.

import { blocks, obj, str } from '../state/wire';

// Terminal sequences for colors, cursor movements and links.
export const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g;

/** Returns the text of a result, without terminal sequences. */
export function outputText(output: unknown): string {
  const texts = blocks(obj(output).content)
    .filter((b) => b.type === 'text')
    .map((b) => str(b.text));
  return texts.join('\n').replace(sequences, '');
}
